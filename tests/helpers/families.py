"""One small estimator of each family, with functions that fit it and call its methods.

The tests of threads, forks, workers and interrupts go through all of them. `rows(0)` and `rows(1)` differ in
their labels and targets, so that a result that mixes two models differs from both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from quiet_fits import quietly

import bosquet
from bosquet import discriminant, experts, glm, streams, vision

N_ROWS = 120


@dataclass(frozen=True)
class Rows:
    """A table with a target of each kind."""

    X: np.ndarray
    labels: np.ndarray  # of two classes
    three: np.ndarray  # of three
    numbers: np.ndarray
    counts: np.ndarray
    images: np.ndarray
    relatives: np.ndarray


def rows(which: int = 0) -> Rows:
    """Return table number `which`."""
    random = np.random.default_rng(which)
    X = random.normal(size=(N_ROWS, 4))
    score = X @ [1.0, -1.0, 0.5, 0.0] + 0.5 * random.normal(size=N_ROWS)
    names = np.array([["no", "yes", "maybe"], ["cold", "warm", "mild"]][which])
    images = random.integers(0, 200, size=(N_ROWS, 6, 6), dtype=np.uint8)
    images[score > 0, :3] //= 3
    return Rows(
        X=X,
        labels=names[(score > 0).astype(int)],
        three=names[np.digitize(score, [-0.7, 0.7])],
        numbers=score + 100 * which,
        counts=random.poisson(np.exp(0.3 * X[:, 0] + which)),
        images=images,
        relatives=np.exp(0.1 * random.normal(size=(40, 3))),
    )


@dataclass(frozen=True)
class Family:
    """`fit(model, rows)` may change the model; `outputs(model, rows)` returns arrays and must not."""

    name: str
    make: Callable[[], Any]
    fit: Callable[[Any, Rows], Any]
    outputs: Callable[[Any, Rows], list[Any]]

    def fitted(self, which: int = 0) -> Any:
        """Return a new estimator, fitted to one of the tables."""
        return quietly(self.fit, self.make(), rows(which))


def same(outputs: list[Any], others: list[Any]) -> bool:
    """Return whether all arrays have the same bits."""
    pairs = zip(outputs, others, strict=True)
    return all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in pairs)


def _fit_to(target: str, table: str = "X") -> Callable[[Any, Rows], Any]:
    def fit(model: Any, data: Rows) -> Any:
        return model.fit(getattr(data, table), getattr(data, target))

    return fit


def _outputs_of(*methods: str, table: str = "X") -> Callable[[Any, Rows], list[Any]]:
    def outputs(model: Any, data: Rows) -> list[Any]:
        return [getattr(model, method)(getattr(data, table)) for method in methods]

    return outputs


def classifier(name: str, make: Callable[[], Any], *methods: str, target: str = "labels") -> Family:
    return Family(name, make, _fit_to(target), _outputs_of("predict", *methods))


def regressor(name: str, make: Callable[[], Any], *methods: str) -> Family:
    return Family(name, make, _fit_to("numbers"), _outputs_of("predict", *methods))


def _bayes_and_tree() -> list[tuple[str, Any]]:
    from sklearn.naive_bayes import GaussianNB

    tree = bosquet.DecisionTreeClassifier(max_depth=3, random_state=0)
    return [("bayes", GaussianNB()), ("tree", tree)]


def _line_and_tree() -> list[tuple[str, Any]]:
    from sklearn.linear_model import SGDRegressor

    line = SGDRegressor(random_state=0)
    return [("line", line), ("tree", bosquet.DecisionTreeRegressor(max_depth=3, random_state=0))]


def _stump() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=1, random_state=0)


def _line() -> Any:
    from sklearn.linear_model import Ridge

    return Ridge()


def _fit_mixture(model: Any, data: Rows) -> Any:
    return model.fit(data.X, data.numbers)


def _play_more(model: Any, data: Rows) -> Any:
    return model.partial_fit(data.X, data.numbers)


def _mixture_outputs(model: Any, data: Rows) -> list[Any]:
    return [model.predict(data.X)]


def _stream(model: Any, data: Rows) -> Any:
    model.predict(data.X[0])
    return model.update(data.numbers[0])


def _fit_counts(model: Any, data: Rows) -> Any:
    return model.fit(data.X, data.counts)


def _fit_cells(model: Any, data: Rows) -> Any:
    import pandas as pd

    return model.fit(pd.DataFrame({"a": data.labels, "b": data.three}))


def _train(model: Any, data: Rows) -> Any:
    positive = data.labels == np.unique(data.labels)[1]
    return model.fit(data.images[positive], list(np.repeat(data.images[~positive], 2, axis=2)))


def _ask_cascade(model: Any, data: Rows) -> list[Any]:
    return [model.cascade_.passes(data.images), [stage.hit_rate for stage in model.stages_]]


def _update_detector(model: Any, data: Rows) -> Any:
    model.update(0.0)
    return model


def _ask_portfolio(model: Any, data: Rows) -> list[Any]:
    return [model.wealth_, model.final_portfolio_]


def _ask_detector(model: Any, data: Rows) -> list[Any]:
    return [model.n_seen_, [change.after for change in model.changes_]]


FAMILIES = {
    family.name: family
    for family in [
        classifier(
            "gradient-boosting",
            lambda: bosquet.GradientBoostingClassifier(
                n_estimators=20, random_state=0, min_samples_leaf=5
            ),
            "predict_proba",
        ),
        regressor(
            "gradient-boosting-regressor",
            lambda: bosquet.GradientBoostingRegressor(n_estimators=20, random_state=0),
        ),
        regressor(
            "gradient-boosting-learners",
            lambda: bosquet.GradientBoostingRegressor(
                estimator=_line(), n_estimators=5, random_state=0
            ),
        ),
        classifier(
            "tree", lambda: bosquet.DecisionTreeClassifier(random_state=0), "predict_proba", "apply"
        ),
        regressor("tree-regressor", lambda: bosquet.DecisionTreeRegressor(random_state=0), "apply"),
        classifier(
            "forest",
            lambda: bosquet.RandomForestClassifier(40, oob_score=True, random_state=0),
            "predict_proba",
            target="three",
        ),
        regressor("forest-regressor", lambda: bosquet.RandomForestRegressor(40, random_state=0)),
        classifier(
            "extra-trees",
            lambda: bosquet.ExtraTreesClassifier(40, voting="hard", random_state=0),
            "predict_proba",
        ),
        classifier(
            "bagging",
            lambda: bosquet.BaggingClassifier(n_estimators=8, random_state=0),
            "predict_proba",
        ),
        regressor("bagging-regressor", lambda: bosquet.BaggingRegressor(random_state=0)),
        classifier(
            "voting",
            lambda: bosquet.VotingClassifier(_bayes_and_tree(), voting="soft"),
            "predict_proba",
        ),
        regressor("voting-regressor", lambda: bosquet.VotingRegressor(_line_and_tree())),
        classifier("adaboost", lambda: bosquet.AdaBoostClassifier(random_state=0), "predict_proba"),
        classifier(
            "adaboost-learners",
            lambda: bosquet.AdaBoostClassifier(_stump(), n_estimators=8, random_state=0),
            "predict_proba",
            target="three",
        ),
        classifier("anyboost", lambda: bosquet.AnyBoostClassifier(random_state=0), "predict_proba"),
        classifier("brownboost", lambda: bosquet.BrownBoostClassifier(), "predict_proba"),
        classifier("lpboost", lambda: bosquet.LPBoostClassifier(n_estimators=8)),
        regressor("adaboost-r2", lambda: bosquet.AdaBoostRegressor(random_state=0)),
        Family("mixture", lambda: bosquet.Mixture("boa"), _fit_mixture, _mixture_outputs),
        Family("mixture-partial-fit", lambda: bosquet.Mixture("boa"), _play_more, _mixture_outputs),
        Family("mixture-stream", lambda: bosquet.Mixture("boa"), _stream, _mixture_outputs),
        classifier(
            "super-learner",
            lambda: bosquet.SuperLearnerClassifier(_bayes_and_tree(), cv=3, random_state=0),
            "predict_proba",
        ),
        regressor(
            "super-learner-regressor",
            lambda: bosquet.SuperLearnerRegressor(_line_and_tree(), cv=3, random_state=0),
        ),
        classifier(
            "online-mixture",
            lambda: experts.OnlineMixtureClassifier(_bayes_and_tree()),
            "predict_proba",
        ),
        regressor(
            "online-mixture-regressor", lambda: experts.OnlineMixtureRegressor(_line_and_tree())
        ),
        Family(
            "portfolio",
            experts.ExponentiatedGradient,
            lambda model, data: model.fit(data.relatives),
            _ask_portfolio,
        ),
        classifier("discriminant", discriminant.DensityDiscriminant, "predict_proba"),
        classifier("binomial", glm.BinomialRegression, "predict_proba"),
        regressor("linear", glm.LinearModel, "predict_interval"),
        Family("poisson", glm.PoissonRegression, _fit_counts, _outputs_of("predict")),
        classifier("multinomial", glm.MultinomialRegression, "predict_proba", target="three"),
        Family(
            "log-linear",
            lambda: glm.LogLinearModel("~ a + b"),
            _fit_cells,
            lambda model, data: [model.coefficients().to_numpy(), model.factors_],
        ),
        classifier(
            "calibrated",
            lambda: bosquet.CalibratedModel(
                bosquet.DecisionTreeClassifier(max_depth=3, random_state=0), cv=3
            ),
            "predict_proba",
        ),
        classifier(
            "conformal-sets",
            lambda: bosquet.ConformalModel(
                bosquet.DecisionTreeClassifier(max_depth=3, random_state=0), random_state=0
            ),
            "predict_set",
        ),
        regressor(
            "conformal-intervals",
            lambda: bosquet.ConformalModel(
                bosquet.DecisionTreeRegressor(max_depth=3, random_state=0),
                "cv+",
                cv=3,
                random_state=0,
            ),
            "predict_interval",
        ),
        Family(
            "haar-boost",
            lambda: vision.HaarBoostClassifier(n_estimators=5),
            _fit_to("labels", "images"),
            _outputs_of("predict", "predict_proba", table="images"),
        ),
        Family(
            "cascade",
            lambda: vision.CascadeTrainer(n_stages=2, n_negatives=30, max_stumps=5),
            _train,
            _ask_cascade,
        ),
        Family("page-hinkley", lambda: streams.PageHinkley(0.1), _update_detector, _ask_detector),
        Family("adaptive-window", streams.AdaptiveWindow, _update_detector, _ask_detector),
    ]
}
