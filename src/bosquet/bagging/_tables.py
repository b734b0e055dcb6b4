"""Validation of X for ensembles: data frames stay data frames, other tables become arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import narwhals.dependencies as libraries

from bosquet._sklearn import tags_of, validate_data
from bosquet.data import decode_dictionaries

if TYPE_CHECKING:
    from bosquet._sklearn import Tags
    from bosquet._types import Estimator, TableLike


def is_frame(X: TableLike) -> bool:
    return bool(libraries.is_pandas_dataframe(X) or libraries.is_polars_dataframe(X))


def validate_table(
    owner: Any, X: Any, learners: Sequence[Estimator], *, reset: bool, keep_frame: bool = True
) -> Any:
    """Return X, validated; with `reset`, store its columns in `owner`, otherwise compare them.

    A data frame is passed on unchanged: a learner may select columns by name or accept categories. An
    array must satisfy the input tags of the learners, so that an error does not depend on the rows that a
    learner happens to draw. The tags of meta-estimators are ignored: the tags of a pipeline do not state
    whether its first step accepts missing values or text.
    """
    if keep_frame and is_frame(X):
        validate_data(owner, X, reset=reset, skip_check_array=True)
        for count, what in zip(X.shape, ("sample", "feature"), strict=True):
            if count == 0:
                raise ValueError(
                    f"Found array with 0 {what}(s) (shape={X.shape}) while a minimum of 1 is required;"
                    f" pass at least one {what}"
                )
        return X
    tags = [tags_of(learner).input_tags for learner in learners if not _is_meta_estimator(learner)]
    return validate_data(
        owner,
        decode_dictionaries(X),
        reset=reset,
        dtype="numeric" if any(not tag.string for tag in tags) else None,
        accept_sparse=["csr"] if all(tag.sparse for tag in tags) else False,
        ensure_all_finite=any(not tag.allow_nan for tag in tags),
    )


def _is_meta_estimator(learner: Estimator) -> bool:
    return any(hasattr(value, "fit") for value in learner.get_params(deep=True).values())


def copy_input_tags(tags: Tags, learners: Sequence[Estimator]) -> None:
    """Set the input tags of an ensemble to those that all its learners have."""
    for name in ("allow_nan", "sparse", "categorical", "string"):
        in_all = all(getattr(tags_of(learner).input_tags, name) for learner in learners)
        setattr(tags.input_tags, name, in_all)
