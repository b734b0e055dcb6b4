"""The options of a study, and the checks of options that depend on its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._parameters import check_value, choice
from bosquet._suggestions import hint
from bosquet.study.methods import METHODS
from bosquet.study.methods.method import Method
from bosquet.study.tuning.validation import SCHEMES
from bosquet.trust.costs import check_costs


@dataclass(frozen=True)
class StudyOptions:
    """Checked parameters of `Study` and of its `fit`."""

    methods: Sequence[Method] | None
    budget: float | None
    metric: Any  # a name, a function or a scorer
    repeats: int | None
    random_state: int
    costs: Any
    n_jobs: int | None
    checkpoint: Any
    verbose: int
    positive: Any = None
    tune_by: Any = None
    bayes: Any = None
    test: Any = None
    title: str = ""
    source: str = ""


def requested_methods(methods: Any) -> list[Method] | None:
    """Return the methods of the given names; a `Method` is returned unchanged, None stays None."""
    if methods is None:
        return None
    requested = [methods] if isinstance(methods, str | Method) else list(methods)
    if not requested:
        raise ValueError("methods is empty; pass at least one method, or None for all")
    chosen = []
    for method in requested:
        if isinstance(method, Method):
            chosen.append(method)
        elif method in METHODS:
            chosen.append(METHODS[method])
        else:
            raise ValueError(
                f"{method!r} in methods is unknown; {hint(str(method), METHODS, len(METHODS))}"
            )
    names = [method.name for method in chosen]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"methods contains {twice!r} twice; pass each method once")
    return chosen


def checked_tune_by(tune_by: Any, methods: Sequence[Method]) -> dict[str, str]:
    """Return the validation scheme of each method, from one for all or a mapping by method name."""
    names = [method.name for method in methods]
    if tune_by is None:
        return {}
    if not isinstance(tune_by, Mapping):
        check_value("tune_by", tune_by, choice(*SCHEMES))
        return dict.fromkeys(names, tune_by)
    for name, scheme in tune_by.items():
        if name not in names:
            raise ValueError(
                f"tune_by has the key {name!r}, which is not a method of this study;"
                f" {hint(str(name), names)}"
            )
        check_value(f"tune_by[{name!r}]", scheme, choice(*SCHEMES))
    return dict(tune_by)


def checked_costs(costs: Any, target: Any) -> np.ndarray | None:
    """Return the cost matrix, with true classes as rows; a mapping has the cost of missing each class."""
    if costs is None:
        return None
    if not target.is_classes:
        raise ValueError(
            f"costs need a target with classes, but {target.name!r} is numeric; leave costs out"
        )
    labels = [str(label) for label in target.classes]
    if isinstance(costs, dict):
        unknown = [key for key in costs if str(key) not in labels]
        if unknown:
            raise ValueError(
                f"costs has the key {unknown[0]!r}, which is not a class of {target.name!r};"
                f" the classes are {labels}"
            )
        by_class = {str(key): float(value) for key, value in costs.items()}
        rows = np.array([by_class.get(label, 1.0) for label in labels])
        costs = np.where(np.eye(len(labels)) == 1, 0.0, rows[:, None])
    shape = np.shape(costs)
    if shape != (len(labels), len(labels)):
        first_labels = ", ".join(map(repr, labels[:6])) + (", ..." if len(labels) > 6 else "")
        raise ValueError(
            f"costs has shape {shape}, but {target.name!r} has {len(labels)} classes; pass a matrix with one"
            f" row and one column per class, in the order {first_labels}"
        )
    matrix = check_costs(costs, len(labels))
    if len(labels) == 2:
        _check_threshold(matrix, labels)
    return matrix


def _check_threshold(matrix: np.ndarray, labels: list[str]) -> None:
    """Raise a ValueError if the costs make one of two decisions always the cheaper one."""
    for true, other in ((0, 1), (1, 0)):
        right, wrong = matrix[true, true], matrix[true, other]
        if not wrong > right:
            raise ValueError(
                f"costs: predicting {labels[other]!r} for the true class {labels[true]!r} costs {wrong:g};"
                f" it must cost more than the correct prediction, which costs {right:g}"
            )
