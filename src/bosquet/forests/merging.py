"""Forests of parts: grown apart, on other rows or other machines, and made one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bosquet._fitted import remember_columns
from bosquet._sklearn import check_is_fitted, clone, seed_from
from bosquet._targets import check_sample_weight, learn_classes
from bosquet.data import TableEncoder, n_rows
from bosquet.forests._base import BaseForest
from bosquet.trees._copying import add_copy
from bosquet.trees._growing import empty_ensemble


def merge_forests(forests: Iterable[Any]) -> Any:
    """One forest with the trees of several: the *reduce* of map and reduce.

    Forests that were fitted apart, to parts of a table or on other machines, vote together. With T_k
    trees in forest k,

    F(x) = Σ_k T_k F_k(x) / Σ_k T_k.

    The same trees are asked in one pass, are saved in one file, explained as one model.

    Parameters
    ----------
    forests : iterable of fitted forests of the same class
        They must agree on columns, categories and classes: numbers and text are the same in all
        parts if each has every category and class. `fit_in_parts` sees to that by itself.

    Returns
    -------
    forest
        Of the class and with the parameters of the first. Its bags are of different tables, so that
        nothing that draws them again is to be had from it: out-of-bag errors, jackknife, importance by
        permuting out-of-bag rows.

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
    parts = list(forests)
    if not parts:
        raise ValueError("there is no forest to merge")
    for place, forest in enumerate(parts):
        _check_alike(parts[0], forest, place)
    first = parts[0]
    merged = clone(first).set_params(n_estimators=sum(len(forest) for forest in parts))
    remember_columns(merged, first._encoder)
    for name in ("classes_", "n_classes_", "n_outputs_"):
        if hasattr(first, name):
            setattr(merged, name, getattr(first, name))
    merged._ensemble = first._ensemble.copy()
    for forest in parts[1:]:
        for tree in range(len(forest)):
            add_copy(merged._ensemble, forest._ensemble, tree)
    merged._keys = [key for forest in parts for key in forest._keys]
    merged._seed, merged._draws, merged._kept_rows = first._seed, first._draws, None
    merged.n_samples_fit_ = sum(forest.n_samples_fit_ for forest in parts)
    merged.merged_rows_ = [
        rows
        for forest in parts
        for rows in getattr(forest, "merged_rows_", [forest.n_samples_fit_])
    ]
    merged._hardened = None
    if getattr(merged, "voting", "soft") == "hard":
        merged._hardened = merged._harden()
    return merged


def fit_in_parts(
    forest: Any, parts: Iterable[Sequence[Any]], *, classes: Any = None, encoder: Any = None
) -> Any:
    """A forest for a table that does not fit into memory: some trees from each part of it.

    Parts are read one after the other and forgotten; `n_estimators` trees are grown on each, and all
    vote. A tree sees the rows of its part alone, so that parts should be as good as drawn at random
    (rows in the order of time make trees that know one period each, which is what one may want of a
    stream that drifts).

    Parameters
    ----------
    forest : forest, not necessarily fitted
        Its parameters are what parts are fitted with. Part k is grown as by ``random_state`` + k, if that is
        an integer.
    parts : iterable of (X, y) or (X, y, sample_weight)
        A generator will do.
    classes : array, optional
        All class labels. By default those of the first part; a label that is not among them is an error.
    encoder : bosquet.data.TableEncoder, optional
        What is known of the columns. By default the first part tells: categories that come later count as
        missing.

    Returns
    -------
    forest
        A new one, as `merge_forests` would make it.

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
        raise TypeError(f"forest must be one of Bosquet's forests, got {type(forest).__name__}")
    for name in ("oob_score", "keep_rows"):
        if getattr(forest, name):
            raise ValueError(f"{name}=True is about one table; a forest of parts has none")
    if classes is not None:
        classes = learn_classes(np.asarray(classes))
    grown: list[Any] = []
    for place, part in enumerate(parts):
        if len(part) not in (2, 3):
            raise ValueError(f"part {place} must be (X, y) or (X, y, sample_weight)")
        X, y, weight = (*part, None)[:3]
        known = grown[0] if grown else None
        if known is not None:
            encoder, classes = known._encoder, getattr(known, "classes_", None)
        model = clone(forest)
        model.set_params(random_state=_seed_of_part(forest.random_state, place))
        if encoder is None and classes is None:
            model.fit(X, y, weight)
        else:
            _fit_as_known(model, X, y, weight, encoder, classes)
        grown.append(model)
    if not grown:
        raise ValueError("there are no parts to fit to")
    return merge_forests(grown).set_params(
        warm_start=forest.warm_start, random_state=forest.random_state
    )


def _seed_of_part(random_state: Any, place: int) -> int:
    if isinstance(random_state, int | np.integer):
        return int(random_state) + place
    return seed_from(random_state)


def _fit_as_known(model: Any, X: Any, y: Any, weight: Any, encoder: Any, classes: Any) -> None:
    """Fit to a table whose columns and classes were learned elsewhere: as more trees of a forest of none."""
    owner = type(model).__name__
    if encoder is None:
        encoder, columns = TableEncoder.fit(
            X, categorical_features=model.categorical_features, owner=owner
        )
    else:
        columns = encoder.transform(X, owner=owner)
    model._encoder = encoder
    knows_classes = classes is not None
    if knows_classes:
        model.classes_ = classes
    rows = n_rows(columns)
    given = check_sample_weight(weight, rows)
    target = model._check_target(y, rows, knows_classes)
    model._ensemble, model._keys = empty_ensemble(encoder, target), []
    model._seed = seed_from(model.random_state)
    model.n_samples_fit_ = int(np.count_nonzero(given)) if given.size else rows
    model.set_params(warm_start=True).fit(X, y, weight)


def _check_alike(first: Any, forest: Any, place: int) -> None:
    if not isinstance(forest, BaseForest):
        raise TypeError(f"forest {place} is no forest of Bosquet's but {type(forest).__name__}")
    check_is_fitted(forest, "_ensemble")
    if type(forest) is not type(first):
        raise ValueError(
            f"forest {place} is a {type(forest).__name__}, forest 0 a {type(first).__name__}"
        )
    if forest._encoder.to_state() != first._encoder.to_state():
        raise ValueError(
            f"forest {place} was fitted to other columns or categories than forest 0; fit_in_parts gives"
            " all parts those of the first"
        )
    own, others = getattr(first, "classes_", None), getattr(forest, "classes_", None)
    if not _same_classes(own, others):
        raise ValueError(
            f"forest {place} knows other classes than forest 0: {others} and {own}; fit_in_parts"
            " takes all classes beforehand"
        )
    if forest._ensemble.n_outputs != first._ensemble.n_outputs:
        raise ValueError(f"forest {place} has another number of targets than forest 0")


def _same_classes(own: Any, others: Any) -> bool:
    if isinstance(own, list):
        return len(own) == len(others) and all(map(_same_classes, own, others))
    if own is None:
        return True
    return np.array_equal(own, others)
