"""X as the learners see it: frames stay frames, everything else becomes an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.dependencies as libraries

from bosquet._sklearn import tags_of, validate_data
from bosquet.data import decode_dictionaries


def is_frame(X: Any) -> bool:
    return bool(libraries.is_pandas_dataframe(X) or libraries.is_polars_dataframe(X))


def table_for(
    owner: Any, X: Any, learners: Sequence[Any], *, reset: bool, keep_frame: bool = True
) -> Any:
    """X, checked against what `owner` was fitted on, or (with `reset`) noted as that.

    A frame is handed on as it is: a learner may pick columns by name or take categories. An array
    is held to what the learners say they take, so that an error does not hang on which rows a
    learner happens to see. A learner made of others is left to check for itself: a pipeline says
    nothing of the missing values or the text that its first step takes.
    """
    if keep_frame and is_frame(X):
        validate_data(owner, X, reset=reset, skip_check_array=True)
        for count, what in zip(X.shape, ("sample", "feature"), strict=True):
            if count == 0:
                raise ValueError(
                    f"Found array with 0 {what}(s) (shape={X.shape}) while a minimum of 1 is required"
                )
        return X
    tags = [tags_of(learner).input_tags for learner in learners if not _is_made_of_others(learner)]
    return validate_data(
        owner,
        decode_dictionaries(X),
        reset=reset,
        dtype="numeric" if any(not tag.string for tag in tags) else None,
        accept_sparse=["csr"] if all(tag.sparse for tag in tags) else False,
        ensure_all_finite=any(not tag.allow_nan for tag in tags),
    )


def _is_made_of_others(learner: Any) -> bool:
    return any(hasattr(value, "fit") for value in learner.get_params(deep=True).values())


def copy_input_tags(tags: Any, learners: Sequence[Any]) -> None:
    """Say of an ensemble's X what all of its learners say of theirs."""
    for name in ("allow_nan", "sparse", "categorical", "string"):
        every = all(getattr(tags_of(learner).input_tags, name) for learner in learners)
        setattr(tags.input_tags, name, every)
