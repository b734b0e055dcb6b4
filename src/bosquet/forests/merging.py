"""Merging of forests that were fitted to different parts of the data, possibly on several machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bosquet._fitted import set_feature_attributes
from bosquet._sklearn import check_is_fitted, clone, seed_from
from bosquet._suggestions import with_article
from bosquet._targets import unique_classes
from bosquet._weights import check_sample_weight
from bosquet.data import TableEncoder, count_rows
from bosquet.forests._base import BaseForest
from bosquet.trees.copying import add_copy
from bosquet.trees.growing import empty_ensemble

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import RandomState, TableLike
    from bosquet.trees.class_targets import Classes


Forest = TypeVar("Forest", bound="BaseForest")


def merge_forests(forests: Iterable[Forest]) -> Forest:
    """Merge several forests into one that has all their trees.

    This is the *reduce* step of map and reduce: the forests may have been fitted to parts of a table or on
    several machines. With T_k trees in forest k, the merged forest predicts

    F(x) = Σ_k T_k F_k(x) / Σ_k T_k.

    It can be saved and explained like any other forest.

    Parameters
    ----------
    forests : iterable of fitted forests of the same class
        They must have the same columns, categories and classes. Forests that are fitted separately meet
        this condition if each part contains all categories and classes; `fit_in_parts` ensures it.

    Returns
    -------
    forest
        With the class and the parameters of the first forest. The bags of its trees belong to different
        tables, so methods that need the bags are not available: out-of-bag errors, jackknife standard
        errors and permutation importance.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bosquet import RandomForestClassifier
    >>> from bosquet.forests import merge_forests
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forests = [RandomForestClassifier(50, random_state=k).fit(X[k:400:4], y[k:400:4]) for k in range(4)]
    >>> merged = merge_forests(forests)
    >>> len(merged), bool(merged.score(X[400:], y[400:]) > 0.9)
    (200, True)

    References
    ----------
    Breiman, "Pasting small votes for classification in large databases and on-line", Machine Learning 1999.
    """
    to_merge = list(forests)
    if not to_merge:
        raise ValueError("forests is empty; pass at least one fitted forest")
    for number, forest in enumerate(to_merge):
        _check_compatible(to_merge[0], forest, number)
    first = to_merge[0]
    merged = clone(first).set_params(n_estimators=sum(len(forest) for forest in to_merge))
    set_feature_attributes(merged, first._encoder)
    for name in ("classes_", "n_classes_", "n_outputs_"):
        if hasattr(first, name):
            setattr(merged, name, getattr(first, name))
    merged._ensemble = first._ensemble.copy()
    for forest in to_merge[1:]:
        for tree in range(len(forest)):
            add_copy(merged._ensemble, forest._ensemble, tree)
    merged._keys = [key for forest in to_merge for key in forest._keys]
    merged._seed, merged._draws, merged._kept_rows = first._seed, first._draws, None
    merged.n_samples_fit_ = sum(forest.n_samples_fit_ for forest in to_merge)
    merged.merged_rows_ = [
        rows
        for forest in to_merge
        for rows in getattr(forest, "merged_rows_", [forest.n_samples_fit_])
    ]
    merged._hard_vote_ensemble = None
    if getattr(merged, "voting", "soft") == "hard":
        merged._hard_vote_ensemble = merged._with_hard_votes()
    return merged


def fit_in_parts(
    forest: BaseForest,
    parts: Iterable[Sequence[Any]],
    *,
    classes: ArrayLike | None = None,
    encoder: TableEncoder | None = None,
) -> Any:
    """Fit a forest to a table that does not fit into memory, part by part.

    The parts are read one after the other, and only one is in memory at a time. `n_estimators` trees are
    grown on each part, and all trees are merged into one forest. A tree is grown on the rows of one part
    only, so each part should be a random sample of the table. If the rows are ordered by time, each tree
    learns a single period, which may be desired for a stream with concept drift.

    Parameters
    ----------
    forest : forest
        Need not be fitted. Its parameters are used for all parts. If ``random_state`` is an integer, part
        k uses ``random_state`` + k.
    parts : iterable of (X, y) or (X, y, sample_weight)
        May be a generator.
    classes : array, optional
        All class labels. Default: the labels in the first part. Other labels raise an error.
    encoder : bosquet.data.TableEncoder, optional
        Names, types and categories of the columns. Default: those of the first part. Categories that are
        not in the encoder are treated as missing values.

    Returns
    -------
    forest
        A new forest, merged as by `merge_forests`.

    Examples
    --------
    >>> from bosquet import RandomForestClassifier
    >>> from bosquet.datasets import Twonorm
    >>> from bosquet.forests import fit_in_parts
    >>> stream = (Twonorm().sample(500, random_state=k) for k in range(10))
    >>> forest = fit_in_parts(RandomForestClassifier(10, random_state=0), stream)
    >>> X, y = Twonorm().sample(5000, random_state=99)
    >>> len(forest), bool(forest.score(X, y) > 0.96)
    (100, True)
    """
    if not isinstance(forest, BaseForest):
        raise TypeError(
            f"forest has the type {type(forest).__name__}; pass a random forest or extra trees of Bosquet"
        )
    for name in ("oob_score", "keep_rows"):
        if getattr(forest, name):
            raise ValueError(
                f"{name}=True is not supported when a forest is fitted in parts; set {name}=False"
            )
    if classes is not None:
        classes = unique_classes(np.asarray(classes))
    grown: list[Any] = []
    for number, part in enumerate(parts):
        if len(part) not in (2, 3):
            raise ValueError(
                f"part {number} has {len(part)} elements; pass (X, y) or (X, y, sample_weight)"
            )
        X, y, weight = (*part, None)[:3]
        if grown:
            encoder, classes = grown[0]._encoder, getattr(grown[0], "classes_", None)
        model = clone(forest)
        model.set_params(random_state=_seed_of_part(forest.random_state, number))
        if encoder is None and classes is None:
            model.fit(X, y, weight)
        else:
            _fit_with_encoder(model, X, y, weight, encoder, classes)
        grown.append(model)
    if not grown:
        raise ValueError("parts is empty; pass at least one (X, y)")
    return merge_forests(grown).set_params(
        warm_start=forest.warm_start, random_state=forest.random_state
    )


def _seed_of_part(random_state: RandomState, number: int) -> int:
    if isinstance(random_state, int | np.integer):
        return int(random_state) + number
    return seed_from(random_state)


def _fit_with_encoder(
    model: Any,
    X: TableLike,
    y: ArrayLike,
    weight: ArrayLike | None,
    encoder: TableEncoder | None,
    classes: Classes | None,
) -> None:
    """Fit a forest with a given encoder and given classes.

    The forest starts without trees but with encoder and classes, and a warm start adds the trees.
    """
    owner = type(model).__name__
    if encoder is None:
        encoder, columns = TableEncoder.fit_encode(
            X, categorical_features=model.categorical_features, owner=owner
        )
    else:
        columns = encoder.transform(X, owner=owner)
    model._encoder = encoder
    has_classes = classes is not None
    if has_classes:
        model.classes_ = classes
    n_rows = count_rows(columns)
    row_weight = check_sample_weight(weight, n_rows)
    target = model._check_target(y, n_rows, has_classes)
    model._ensemble, model._keys = empty_ensemble(encoder, target), []
    model._seed = seed_from(model.random_state)
    model.n_samples_fit_ = int(np.count_nonzero(row_weight)) if row_weight.size else n_rows
    model.set_params(warm_start=True).fit(X, y, weight)


def _check_compatible(first: Any, forest: BaseForest, number: int) -> None:
    if not isinstance(forest, BaseForest):
        raise TypeError(
            f"forests[{number}] has the type {type(forest).__name__}; pass random forests or extra trees of"
            " Bosquet"
        )
    check_is_fitted(forest, "_ensemble")
    if type(forest) is not type(first):
        raise ValueError(
            f"forests[{number}] is {with_article(type(forest).__name__)}, but forests[0] is"
            f" {with_article(type(first).__name__)}; all forests must be of the same class"
        )
    if forest._encoder.to_state() != first._encoder.to_state():
        raise ValueError(
            f"forests[{number}] was fitted to other columns or categories than forests[0]; use fit_in_parts,"
            " which uses the columns of the first part for all parts"
        )
    first_classes, classes = getattr(first, "classes_", None), getattr(forest, "classes_", None)
    if not _same_classes(first_classes, classes):
        raise ValueError(
            f"forests[{number}] has the classes {classes}, but forests[0] has {first_classes}; use"
            " fit_in_parts with classes="
        )
    if forest._ensemble.n_outputs != first._ensemble.n_outputs:
        raise ValueError(
            f"forests[{number}] has {forest._ensemble.n_outputs} outputs, but forests[0] has"
            f" {first._ensemble.n_outputs}; pass forests of the same targets"
        )


def _same_classes(first: Any, second: Any) -> bool:
    if isinstance(first, list):
        return len(first) == len(second) and all(map(_same_classes, first, second))
    if first is None:
        return True
    return np.array_equal(first, second)
