"""What the user of a study asked for, and the checks of what depends on its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet.study.methods.method import Method


@dataclass(frozen=True)
class Wishes:
    """What the user asked for, checked."""

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


def checked_ways(tune_by: Any, methods: Sequence[Method]) -> dict[str, str]:
    """A way to tune each method, from one for all or a mapping from names to ways."""
    from bosquet._parameters import check_value, choice
    from bosquet._suggestions import hint
    from bosquet.study.tuning.validation import WAYS

    names = [method.name for method in methods]
    if tune_by is None:
        return {}
    if not isinstance(tune_by, Mapping):
        check_value("tune_by", tune_by, choice(*WAYS))
        return dict.fromkeys(names, tune_by)
    for name, way in tune_by.items():
        if name not in names:
            raise ValueError(
                f"tune_by names the method {name!r}, which is not studied; {hint(str(name), names)}"
            )
        check_value(f"tune_by[{name!r}]", way, choice(*WAYS))
    return dict(tune_by)


def checked_costs(costs: Any, target: Any) -> np.ndarray | None:
    """A matrix of costs, rows the truth; a mapping gives what it costs to miss each class."""
    from bosquet.trust.costs import check_costs

    if costs is None:
        return None
    if not target.is_classes:
        raise ValueError("costs are for classes, but the target is a number")
    labels = [str(label) for label in target.classes]
    if isinstance(costs, dict):
        unknown = [key for key in costs if str(key) not in labels]
        if unknown:
            raise ValueError(f"costs names the class {unknown[0]!r}, which is none of {labels}")
        missed = {str(key): float(value) for key, value in costs.items()}
        rows = np.array([missed.get(label, 1.0) for label in labels])
        costs = np.where(np.eye(len(labels)) == 1, 0.0, rows[:, None])
    shape = np.shape(costs)
    if shape != (len(labels), len(labels)):
        shown = ", ".join(map(repr, labels[:6])) + (", ..." if len(labels) > 6 else "")
        raise ValueError(
            f"costs has shape {shape}, but {target.name!r} has {len(labels)} classes: a row and a column"
            f" for each, in the order {shown}"
        )
    matrix = check_costs(costs, len(labels))
    if len(labels) == 2:
        _check_threshold(matrix, labels)
    return matrix


def _check_threshold(matrix: np.ndarray, labels: list[str]) -> None:
    """Refuses costs under which one of two answers is always the cheaper."""
    for true, other in ((0, 1), (1, 0)):
        right, wrong = matrix[true, true], matrix[true, other]
        if not wrong > right:
            raise ValueError(
                f"costs says that taking {labels[true]!r} for {labels[other]!r} costs {wrong:g}, no more than"
                f" the right answer ({right:g}): {labels[other]!r} would always be the cheaper answer"
            )
