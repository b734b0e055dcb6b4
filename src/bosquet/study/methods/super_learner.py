"""The super learner: a convex combination of a few cheap methods, weighed by their folds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from bosquet.experts import SuperLearnerClassifier, SuperLearnerRegressor
from bosquet.forests import ExtraTreesClassifier, ExtraTreesRegressor
from bosquet.study._costs import FitCost
from bosquet.study.method import Candidate, Method, TableShape
from bosquet.study.methods import forests, gradient, linear, logistic

# From this many rows on two parts of the rows are enough to weigh a handful of learners.
FEW_FOLDS_FROM = 10_000


def _learners(shape: TableShape, seed: int) -> list[tuple[str, Any]]:
    """A linear method, trees side by side, trees one after the other."""
    classes = shape.task != "regression"
    large = shape.n_rows >= 5000
    least = 20 if shape.n_rows >= 2000 else 5 if shape.n_rows >= 200 else 2
    leaves, rounds = (31, 350) if large else (8, 200)
    boosted = gradient.boosted(classes, gradient.Trees(leaves, least), rounds, seed)
    grown: Any = ExtraTreesClassifier if classes else ExtraTreesRegressor
    columns = shape.n_numbers + shape.n_categories
    q = forests.columns_drawn(columns, classes)[-1]
    forest = forests._make_forest(classes, q, 3, None, 60, seed).set_params(oob_score=False)
    extra = grown(
        60, max_features=columns, min_samples_leaf=3, split="histogram", random_state=seed
    )
    if classes:
        outputs = 1 if shape.n_classes == 2 else shape.n_classes
        coefficients = outputs * (min(shape.n_indicators, 2000) + 1)
        plain = ("logistic", logistic.make_logistic(1.0, None, coefficients, seed))
    else:
        plain = ("linear", linear.make_ridge(0.01, shape.n_rows, seed))
    return [plain, ("forest", forest), ("extra_trees", extra), ("boosting", boosted)]


def _make(shape: TableShape, seed: int) -> Any:
    kind: Any = SuperLearnerRegressor if shape.task == "regression" else SuperLearnerClassifier
    cv = 2 if shape.n_rows >= FEW_FOLDS_FROM else 5
    return kind(_learners(shape, seed), cv=cv, random_state=seed)


def _candidates(shape: TableShape) -> Sequence[Candidate]:
    names = [name for name, _ in _learners(shape, 0)]
    setting = {"learners": names, "combination": "convex"}
    return [Candidate(len(names), f"{len(names)} learners", setting, partial(_make, shape))]


def _details(fitted: Any) -> dict[str, Any]:
    table = fitted.cv_table_
    return {
        "weights": {
            name: float(weight)
            for name, weight in zip(fitted.named_estimators_, fitted.weights_, strict=True)
        },
        "loss in folds": {
            name: float(loss) for name, loss in zip(table.names, table.loss, strict=True)
        },
    }


METHODS = [
    Method(
        name="super-learner",
        title="Super learner",
        tasks=frozenset({"binary", "multiclass", "regression"}),
        parameter="learners",
        log=False,
        candidates=_candidates,
        card={
            "readable": ("no", "a mixture of models"),
            "score_or_interval": ("yes", "a mixture of probabilities"),
            "consistent": ("partly", "as soon as one of its learners is"),
            "minimax": ("partly", "takes on the rate of its best learner"),
            "non_asymptotic": ("yes", "an oracle inequality: close to the best combination"),
            "parameter_free": ("partly", "folds find the weights; learners are given"),
            "online": ("no", "weights come from folds of all rows"),
        },
        rows_affordable=FitCost(0.25, columns=0.3, classes=0.3, fixed=0.2, encoded=False),
        details=_details,
    )
]
