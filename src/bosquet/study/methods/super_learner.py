"""The super learner: a convex combination of the tuned methods, with weights from cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from bosquet.experts import SuperLearnerClassifier, SuperLearnerRegressor
from bosquet.forests import ExtraTreesClassifier, ExtraTreesRegressor
from bosquet.study.methods import forests, gradient, linear, logistic, svm
from bosquet.study.methods.costs import FitCost
from bosquet.study.methods.method import Candidate, ChosenCandidate, Method, TableShape

# Cross-validation folds for the weights of the learners; fewer suffice if there are many rows.
FOLDS, FEW_FOLDS, FEW_FOLDS_FROM = 5, 2, 10_000
# Methods with different errors, in order of priority if time is short. Useless ones get the weight 0.
LEARNERS = (
    "gradient-boosting",
    "logistic",
    "linear",
    "random-forest",
    "svm-gaussian",
    "svr-gaussian",
    "polynomial",
    "extra-trees",
    "svm-laplacian",
    "svr-laplacian",
    "mlp",
)
MIN_LEARNERS = 2  # learners, even if the time limit is short


def _untuned_learners(shape: TableShape, seed: int) -> list[tuple[str, Any]]:
    """Return untuned learners: a linear method, two forests and boosted trees."""
    classes = shape.task != "regression"
    large = shape.n_rows >= gradient.FOLDS_BELOW
    trees = gradient.TreeSettings(31, 20) if large else gradient.trees_of_small_tables(shape)[1]
    boosted = gradient.make_boosting(classes, trees, 350 if large else 200, seed)
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
        simple = ("logistic", logistic.make_logistic(1.0, None, coefficients, seed))
    else:
        simple = ("linear", linear.make_ridge(0.01, shape.n_rows, seed))
    return [simple, ("forest", forest), ("extra_trees", extra), ("boosting", boosted)]


def _number_of_folds(shape: TableShape) -> int:
    return FEW_FOLDS if shape.n_rows >= FEW_FOLDS_FROM else FOLDS


def _make_super_learner(shape: TableShape, learners: list[tuple[str, Any]], seed: int) -> Any:
    kind: Any = SuperLearnerRegressor if shape.task == "regression" else SuperLearnerClassifier
    return kind(learners, cv=_number_of_folds(shape), random_state=seed)


def _candidate(shape: TableShape, names: list[str], learners: Any) -> Candidate:
    setting = {"learners": names, "combination": "convex"}
    return Candidate(
        len(names),
        f"{len(names)} learners",
        setting,
        lambda seed: _make_super_learner(shape, learners(seed), seed),
    )


def _candidates(shape: TableShape) -> Sequence[Candidate]:
    """Return a combination of a few cheap methods, for studies in which no method was tuned."""
    names = [name for name, _ in _untuned_learners(shape, 0)]
    return [_candidate(shape, names, partial(_untuned_learners, shape))]


def _combine_chosen(
    shape: TableShape, chosen: Mapping[str, ChosenCandidate], seconds: float | None
) -> Sequence[Candidate]:
    """Return a combination of the tuned methods, as many as the time allows to fit in every fold."""
    names: list[str] = []
    spent, fits = 0.0, _number_of_folds(shape) + 1
    for name in LEARNERS:
        if name not in chosen or (name.startswith("svm-") and svm.too_few_rows(shape)):
            continue
        cost = fits * chosen[name].seconds
        if seconds is None or spent + cost <= seconds or len(names) < MIN_LEARNERS:
            names.append(name)
            spent += cost
    if len(names) < MIN_LEARNERS:
        return []
    return [_candidate(shape, names, partial(_make_learners, names, chosen))]


def _make_learners(
    names: list[str], chosen: Mapping[str, ChosenCandidate], seed: int
) -> list[tuple[str, Any]]:
    learners = [(name, chosen[name].candidate.make(seed)) for name in names]
    for _, learner in learners:
        if "oob_score" in learner.get_params(deep=False):
            learner.set_params(oob_score=False)  # cross-validation replaces it
    return learners


def _details(fitted: Any) -> dict[str, Any]:
    table = fitted.cv_table_
    return {
        "weights": {
            name: float(weight)
            for name, weight in zip(fitted.named_estimators_, fitted.weights_, strict=True)
        },
        "cross-validation loss": {
            name: float(loss) for name, loss in zip(table.names, table.loss, strict=True)
        },
    }


METHODS = [
    Method(
        name="super-learner",
        title="Super learner",
        tasks=frozenset({"binary", "multiclass", "regression"}),
        parameter="learners",
        log_axis=False,
        candidates=_candidates,
        properties={
            "readable": ("no", "a mixture of models"),
            "score_or_interval": ("yes", "a mixture of probabilities"),
            "consistent": ("partly", "if one of its learners is"),
            "minimax": ("partly", "has the rate of its best learner"),
            "non_asymptotic": ("yes", "oracle inequality: close to the best combination"),
            "parameter_free": ("partly", "cross-validation finds the weights of tuned learners"),
            "online": ("no", "weights need cross-validation on all rows"),
        },
        rows_affordable=FitCost(
            0.25, columns_exponent=0.3, classes_exponent=0.3, fixed=0.2, encoded=False
        ),
        details=_details,
        combine=_combine_chosen,
    )
]
