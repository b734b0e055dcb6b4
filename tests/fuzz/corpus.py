"""Small fitted models of every estimator that can be saved: the files that the fuzzer mutates.

A model here has few rows, few trees and few features, so that a case takes milliseconds. All are fitted with
fixed seeds: the corpus has the same bytes in every run. `tests/fuzz/test_fuzz_corpus.py` fails if an
estimator that can be saved is missing here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from bosquet import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    AnyBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    BrownBoostClassifier,
    CalibratedModel,
    ConformalModel,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    LPBoostClassifier,
    Mixture,
    RandomForestClassifier,
    RandomForestRegressor,
    SuperLearnerClassifier,
    SuperLearnerRegressor,
    VotingClassifier,
    VotingRegressor,
)
from bosquet.io import model_bytes

ROWS = 40


class Samples:
    """Return the rows, classes and numbers that the models of the corpus are fitted to."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.X = rng.normal(size=(ROWS, 3)).round(2)
        self.X[rng.random(self.X.shape) < 0.1] = np.nan
        signal = np.nan_to_num(self.X[:, 0]) + 0.3 * rng.normal(size=ROWS)
        self.two = (signal > 0).astype(int)
        self.three = np.array(["a", "b", "ç"])[np.digitize(signal, (-0.5, 0.5))]
        self.numbers = signal.round(3)
        self.positive = np.exp(self.numbers).round(3)
        self.letters = rng.choice(["u", "v", "w"], ROWS)

        self.pair_classes = np.where(rng.permutation(ROWS) < 3, "b", np.array(["a", "b"])[self.two])

    def pairs(self) -> Any:
        """Two columns of categories whose combination decides the class."""
        import pandas as pd

        first = np.arange(ROWS) // 2 % 3
        second = (first + (self.pair_classes == "b")) % 2
        return pd.DataFrame(
            {"first": first.astype(str), "second": second.astype(str), "x": self.X[:, 0]}
        )

    def pandas(self) -> Any:
        import pandas as pd

        sizes = pd.Categorical.from_codes(
            np.arange(ROWS) % 3, ["small", "medium", "large"], ordered=True
        )
        return pd.DataFrame(
            {
                "x": self.X[:, 0],
                "letter": pd.Categorical(self.letters),
                "size": sizes,
                "n": np.arange(ROWS) % 7,
            }
        )

    def polars(self) -> Any:
        import polars as pl

        sizes = pl.Series(
            "size", ["s", "m", "l", "m"] * (ROWS // 4), dtype=pl.Enum(["s", "m", "l"])
        )
        return pl.DataFrame({"x": self.X[:, 0], "letter": list(self.letters)}).with_columns(sizes)


def gradient_boosting(s: Samples) -> dict[str, Any]:
    """Every loss, several outputs, categories, runs, early stopping."""

    def numbers(loss: str = "squared_error", **options: Any) -> Any:
        return GradientBoostingRegressor(loss, **(small | options))

    def classes(loss: str = "log_loss", **options: Any) -> Any:
        return GradientBoostingClassifier(loss, **(small | options))

    small = {"n_estimators": 3, "max_leaf_nodes": 4, "min_samples_leaf": 3, "random_state": 0}
    losses = ("squared_error", "absolute_error", "huber", "log_cosh")
    models = {loss: numbers(loss).fit(s.X, s.numbers) for loss in losses}
    for loss in ("poisson", "gamma", "tweedie"):
        models[loss] = numbers(loss).fit(s.X, s.positive)
    two_targets = np.column_stack([s.numbers, s.positive])
    few = {"min_samples_category": 1}
    return models | {
        "expectile": numbers("expectile", expectile=0.9).fit(s.X, s.numbers),
        "quantile": numbers("quantile", quantile=0.9).fit(s.X, s.numbers),
        "quantiles": numbers("quantile", quantile=[0.1, 0.5, 0.9]).fit(s.X, s.numbers),
        "two targets": numbers().fit(s.X, two_targets),
        "two runs": numbers(n_runs=2, subsample=0.5).fit(s.X, s.numbers),
        "constraints": numbers(monotonic_cst=[1, 0, 0], interaction_cst=[[0, 1], [2]]).fit(
            s.X, s.numbers
        ),
        "polars": numbers(**few).fit(s.polars(), s.numbers),
        "two classes": classes().fit(s.X, s.two),
        "three classes": classes().fit(s.X, s.three),
        "trees for all classes": classes(multi_strategy="multi_output_tree").fit(s.X, s.three),
        "trees for all targets": numbers(
            "absolute_error", multi_strategy="multi_output_tree", split_noise=1.0
        ).fit(s.X, two_targets),
        "exponential": classes("exponential").fit(s.X, s.two > 0),
        "squared hinge": classes("squared_hinge").fit(s.X, s.two),
        "pandas": classes(class_weight="balanced", **few).fit(s.pandas(), s.three),
        "stopped early": classes(n_estimators=8, early_stopping=True, validation_fraction=0.3).fit(
            s.X, s.two
        ),
        "target statistics": classes(categorical_encoding="target").fit(s.pandas(), s.two),
        "target statistics of numbers": numbers(categorical_encoding="target").fit(
            s.pandas(), s.numbers, sample_weight=s.positive
        ),
        "target statistics of combinations": classes(categorical_encoding="target").fit(
            s.pairs(), s.pair_classes
        ),
    }


def single_trees(s: Samples) -> dict[str, Any]:
    def classes(**options: Any) -> Any:
        return DecisionTreeClassifier(max_depth=3, random_state=0, **options)

    def numbers(**options: Any) -> Any:
        return DecisionTreeRegressor(max_depth=3, random_state=0, **options)

    two_targets = np.column_stack([s.two, s.three == "a"])
    return {
        "two classes": classes().fit(s.X, s.two),
        "three classes": classes(criterion="entropy", smoothing=1.0).fit(s.X, s.three),
        "surrogates": classes(missing="surrogate").fit(s.X, s.three),
        "costs": classes(costs=[[0, 1], [5, 0]]).fit(s.X, s.two),
        "priors": classes(priors=[0.2, 0.8], max_competitors=0).fit(s.X, s.two),
        "two targets of classes": classes().fit(s.X, two_targets),
        "pandas": classes(missing="surrogate").fit(s.pandas(), s.two),
        "pruned": classes(pruning="cv", cv=2).fit(s.X, s.two),
        "numbers": numbers().fit(s.X, s.numbers),
        "absolute error": numbers(criterion="absolute_error").fit(s.X, s.numbers),
        "two targets": numbers().fit(s.X, np.column_stack([s.numbers, s.positive])),
        "polars": numbers(missing="surrogate").fit(s.polars(), s.numbers),
    }


def forests(s: Samples) -> dict[str, Any]:
    small = {"n_estimators": 3, "max_depth": 3, "random_state": 0}
    weight = (np.arange(ROWS) % 4).astype(float)
    merged = [RandomForestClassifier(**small).fit(s.X[part], s.two[part]) for part in _halves()]
    two_targets = np.column_stack([s.numbers, s.positive])
    return {
        "two classes": RandomForestClassifier(oob_score=True, **small).fit(s.X, s.two),
        "three classes": RandomForestClassifier(**small).fit(s.X, s.three),
        "hard votes": RandomForestClassifier(voting="hard", **small).fit(s.X, s.three),
        "kept rows": RandomForestClassifier(**small).fit(s.X, s.three, weight),
        "several targets": RandomForestClassifier(**small).fit(
            s.X, np.column_stack([s.two, s.three == "b"])
        ),
        "merged": _merged(merged),
        "numbers": RandomForestRegressor(oob_score=True, max_samples=0.5, **small).fit(
            s.X, s.numbers
        ),
        "pandas": RandomForestRegressor(split="exact", **small).fit(s.pandas(), two_targets),
        "extra classes": ExtraTreesClassifier(**small).fit(s.X, s.two),
        "extra numbers": ExtraTreesRegressor(**small).fit(s.polars(), s.numbers),
    }


def _halves() -> list[slice]:
    return [slice(0, ROWS // 2), slice(ROWS // 2, ROWS)]


def _merged(parts: list[Any]) -> Any:
    from bosquet.forests import merge_forests

    return merge_forests(parts)


def bagged(s: Samples) -> dict[str, Any]:
    tree, one = DecisionTreeClassifier(max_depth=2), {"random_state": 0}
    rare = np.where(np.arange(ROWS) < 2, "rare", "common")
    boost = GradientBoostingClassifier(
        n_estimators=1, min_samples_leaf=5, max_leaf_nodes=3, max_features=None
    )
    return {
        "classes": BaggingClassifier(tree, 3, oob_score=True, **one).fit(s.X, s.three),
        "hard votes": BaggingClassifier(tree, 2, max_features=2, voting="hard", **one).fit(
            s.X, s.two
        ),
        "balanced": BaggingClassifier(tree, 2, balanced=True, max_samples=0.5, **one).fit(
            s.X, s.three
        ),
        "one class in a bag": BaggingClassifier(tree, 5, **one).fit(s.X, rare),
        "boosted": BaggingClassifier(boost, 2, bootstrap_features=True, **one).fit(s.X, s.two),
        "numbers": BaggingRegressor(DecisionTreeRegressor(max_depth=2), 3, **one).fit(
            s.X, s.numbers, np.arange(ROWS) % 3
        ),
        "two targets": BaggingRegressor(DecisionTreeRegressor(max_depth=1), 2, **one).fit(
            s.pandas(), np.column_stack([s.numbers, s.positive])
        ),
    }


def voting(s: Samples) -> dict[str, Any]:
    tree, forest = DecisionTreeClassifier(max_depth=2), RandomForestClassifier(2, max_depth=2)
    boost = GradientBoostingClassifier(
        n_estimators=2, min_samples_leaf=5, max_leaf_nodes=3, random_state=0
    )
    members = [("tree", tree), ("gone", "drop"), ("forest", forest.set_params(random_state=0))]
    numbers = [
        ("tree", DecisionTreeRegressor(max_depth=1)),
        ("boost", GradientBoostingRegressor(n_estimators=1, min_samples_leaf=5, random_state=0)),
    ]
    inner = BaggingClassifier(VotingClassifier([("t", tree)]), 2, random_state=0)
    return {
        "hard": VotingClassifier(members, weights=[2, 5, 1]).fit(s.X, s.three),
        "soft": VotingClassifier(members, voting="soft").fit(s.X, s.two),
        "real": VotingClassifier([("boost", boost)], voting="real").fit(s.X, s.two),
        "nested": VotingClassifier([("bags", inner), ("t", tree)], voting="soft").fit(s.X, s.two),
        "numbers": VotingRegressor(numbers, weights=[1, 2]).fit(s.X, s.numbers),
    }


def stacked(s: Samples) -> dict[str, Any]:
    trees = [(f"depth {d}", DecisionTreeClassifier(max_depth=d, random_state=0)) for d in (1, 2)]
    numbers = [(f"depth {d}", DecisionTreeRegressor(max_depth=d, random_state=0)) for d in (1, 2)]
    options = {"cv": 2, "random_state": 0}
    return {
        "classes": SuperLearnerClassifier(trees, **options).fit(s.X, s.three),
        "best": SuperLearnerClassifier(trees, combination="best", **options).fit(s.X, s.two),
        "numbers": SuperLearnerRegressor(numbers, **options).fit(s.pandas(), s.numbers),
    }


def calibrated(s: Samples) -> dict[str, Any]:
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    forest = RandomForestClassifier(8, max_depth=2, random_state=0)
    costs = [[0, 1], [5, 0]]
    models = {
        method: CalibratedModel(tree, method, cv=2).fit(s.X, s.three)
        for method in ("isotonic", "platt", "beta")
    }
    return models | {
        "ensemble": CalibratedModel(tree, cv=2, ensemble=True, costs=costs).fit(s.X, s.two),
        "out of bag": CalibratedModel(forest, "beta", cv="oob").fit(s.X, s.two),
        "prefit": CalibratedModel(tree.fit(s.X, s.two), "platt", cv="prefit").fit(s.X, s.two),
    }


def conformal(s: Samples) -> dict[str, Any]:
    tree = DecisionTreeRegressor(max_depth=2, random_state=0)
    of_classes = DecisionTreeClassifier(max_depth=2, random_state=0)
    forest = RandomForestRegressor(8, max_depth=2, random_state=0)
    bags = BaggingRegressor(DecisionTreeRegressor(max_depth=1), 4, random_state=0)
    quantiles = GradientBoostingRegressor(
        "quantile", quantile=[0.1, 0.9], n_estimators=2, min_samples_leaf=5, random_state=0
    )
    level = GradientBoostingRegressor(
        "quantile", n_estimators=1, min_samples_leaf=5, random_state=0
    )
    classifiers = RandomForestClassifier(8, max_depth=2, random_state=0)
    one = {"random_state": 0}
    return {
        "split": ConformalModel(tree, **one).fit(s.X, s.numbers),
        "groups": ConformalModel(tree, **one).fit(s.X, s.numbers, groups=s.letters),
        "cv+": ConformalModel(tree, "cv+", cv=2, **one).fit(s.X, s.numbers),
        "jackknife+": ConformalModel(tree, "jackknife+", **one).fit(s.X[:5], s.numbers[:5]),
        "out of bag": ConformalModel(forest, "oob", **one).fit(s.X, s.numbers),
        "bags": ConformalModel(bags, "oob", **one).fit(s.X, s.numbers),
        "quantiles": ConformalModel(quantiles, "cqr", **one).fit(s.X, s.numbers),
        "levels apart": ConformalModel(level, "cqr", quantiles=(0.1, 0.9), **one).fit(
            s.X, s.numbers
        ),
        "sets": ConformalModel(of_classes, **one).fit(s.X, s.three),
        "sets by score": ConformalModel(of_classes, sets="score", per_class=True, **one).fit(
            s.X, s.two
        ),
        "sets by folds": ConformalModel(of_classes, "cv+", cv=2, randomize=False, **one).fit(
            s.X, s.two
        ),
        "sets out of bag": ConformalModel(classifiers, "oob", **one).fit(s.X, s.two),
    }


def votes(s: Samples) -> dict[str, Any]:
    """AdaBoost in its variants and codes, AnyBoost with its losses."""
    from bosquet.boosting.adaboost.stagewise import VARIANTS
    from bosquet.losses import MARGIN_LOSSES

    tree, few = DecisionTreeClassifier(max_depth=2), {"n_estimators": 3, "random_state": 0}

    def ada(y: Any, **options: Any) -> Any:
        return AdaBoostClassifier(**(few | options)).fit(s.X, y)

    models = {variant: ada(s.two, variant=variant) for variant in VARIANTS}
    for code in ("samme", "mh", "one-vs-rest", "one-vs-one", "ecoc"):
        models[code] = ada(s.three, multiclass=code)
    models |= {
        f"anyboost {loss}": AnyBoostClassifier(loss, **few).fit(s.X, s.two)
        for loss in MARGIN_LOSSES
    }
    return models | {
        "trees": ada(s.two, estimator=tree),
        "trees of several classes": ada(s.three, estimator=tree, multiclass="mh"),
        "stopped early": ada(s.two, n_estimators=6, early_stopping=True, validation_fraction=0.3),
        "on bins": ada(s.two, split="histogram"),
        "pandas": AdaBoostClassifier(**few).fit(s.pandas(), s.three),
        "anyboost by a code": AnyBoostClassifier("logistic", multiclass="ecoc", **few).fit(
            s.X, s.three
        ),
    }


def robust(s: Samples) -> dict[str, Any]:
    tree, one = DecisionTreeRegressor(max_depth=2), {"random_state": 0}
    two = DecisionTreeClassifier(max_depth=2)
    return {
        "brown": BrownBoostClassifier(n_estimators=4, **one).fit(s.X, s.two),
        "brown trees": BrownBoostClassifier(two, 4, **one).fit(s.X, s.two),
        "linear program": LPBoostClassifier(n_estimators=4, nu=0.3, **one).fit(s.X, s.two),
        "r2": AdaBoostRegressor(n_estimators=3, **one).fit(s.X, s.numbers),
        "r2 mean": AdaBoostRegressor(tree, 3, loss="square", combine="mean", **one).fit(
            s.pandas(), s.numbers
        ),
    }


def mixtures(s: Samples) -> dict[str, Any]:
    """Every rule, in the middle of a stream; several losses; classes; sleeping experts."""
    import pandas as pd

    from bosquet.experts.rules import RULES

    rng, one = np.random.default_rng(1), {"random_state": 0}
    truth = rng.normal(size=6)
    forecasts = truth[:, None] + rng.normal(size=(6, 3))
    models = {}
    for rule in RULES:
        models[rule] = Mixture(rule, random_state=3, loss_range=50.0).fit(forecasts[:4], truth[:4])
        models[rule].predict(forecasts[4])
    shares = rng.dirichlet(np.ones(3), size=(6, 4))
    shares[::3, 1] = np.nan
    labels = np.array(["no", "maybe", "yes"])[rng.integers(3, size=6)]
    frame = pd.DataFrame(forecasts, columns=["gam", "ar", "gbm"])
    return models | {
        "classes": Mixture("boa", "log", classes=["maybe", "no", "yes"], **one).fit(shares, labels),
        "pinball": Mixture("ml-poly", "pinball", quantile=0.9, block=2, **one).fit(frame, truth),
        "prior": Mixture("ewa", "absolute", prior=[1, 2, 1], randomised=True, **one).fit(
            forecasts, truth
        ),
    }


def tables(s: Samples) -> dict[str, Any]:
    import pandas as pd

    from bosquet.tables import TableModel, tidy

    size = np.linspace(0, 10, ROWS)
    frame = pd.DataFrame(
        {
            "size": [f"{v:.3f}".replace(".", ",") for v in size],
            "when": pd.date_range("2024-01-01", periods=ROWS).strftime("%d.%m.%Y"),
            "colour": np.where(s.letters == "u", None, s.letters),
            "flag": s.two == 1,
            "sold": np.where(size > 5, "yes", "no"),
            "paid": size.round(1),
        }
    )
    models = {}
    for target, model, costs in (
        ("sold", DecisionTreeClassifier(max_depth=2), [[0, 1], [5, 0]]),
        ("paid", RandomForestRegressor(2, max_depth=2, random_state=0), None),
    ):
        tidied = tidy(frame, target)
        features = tidied.frame.drop(columns=target)
        models[target] = TableModel(model.fit(features, tidied.frame[target]), tidied.tidier, costs)
    return models


def regressions(s: Samples) -> dict[str, Any]:
    """Generalised linear models: of columns, of formulas as expressions, of tables of counts."""
    import pandas as pd

    from bosquet.glm import (
        BinomialRegression,
        LinearModel,
        LogLinearModel,
        MultinomialRegression,
        PoissonRegression,
    )

    rng = np.random.default_rng(3)
    X = rng.normal(size=(ROWS, 2)).round(2)
    frame = pd.DataFrame({"x": X[:, 0], "n": np.arange(ROWS) % 7, "letter": s.letters})
    noisy = np.where(rng.random(ROWS) < 0.3, 1 - s.two, s.two)
    counts = rng.poisson(2, ROWS)
    shift = rng.permutation(s.three)
    return {
        "columns": BinomialRegression().fit(frame, noisy),
        "array": BinomialRegression(link="probit").fit(X, noisy > 0),
        "formula": BinomialRegression("x * letter + np.log(n + 1)", link="cloglog").fit(
            frame, noisy
        ),
        "grouped": BinomialRegression("x + I(n / 2)").fit(frame, counts, trials=counts + 2),
        "separated": BinomialRegression(on_separation="ignore").fit(frame[["x"]], X[:, 0] > 0),
        "several classes": MultinomialRegression("x + C(letter, Sum)").fit(frame, shift),
        "counts": PoissonRegression("x + letter", fit_intercept=False).fit(frame, counts),
        "numbers": LinearModel(["x", "letter"]).fit(frame, s.numbers),
        "selected": LinearModel("x * n + letter").fit(frame, s.numbers).backward(),
        "table": LogLinearModel("letter + n").fit(frame.assign(n=frame["n"] % 2)),
    }


def images(s: Samples) -> dict[str, Any]:
    from bosquet.vision import HaarBoostClassifier

    rng = np.random.default_rng(2)
    stack = rng.integers(0, 256, (30, 6, 6)).astype(np.uint8)
    y = np.arange(30) % 2
    stack[y == 1, :3] //= 2
    options: dict[str, Any] = {"window": (6, 6), "n_estimators": 3}
    return {
        "discrete": HaarBoostClassifier(**options).fit(stack, y),
        "gentle": HaarBoostClassifier(variant="gentle", features="all", **options).fit(
            stack / 255, np.where(y, "up", "down")
        ),
    }


GROUPS: tuple[Callable[[Samples], dict[str, Any]], ...] = (
    gradient_boosting,
    single_trees,
    forests,
    bagged,
    voting,
    stacked,
    calibrated,
    conformal,
    votes,
    robust,
    mixtures,
    tables,
    regressions,
    images,
)


def models() -> dict[str, Any]:
    """Return every fitted model of the corpus by name."""
    samples = Samples()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            f"{group.__name__.replace('_', ' ')}: {name}": model
            for group in GROUPS
            for name, model in group(samples).items()
        }


def files() -> dict[str, bytes]:
    """Return the model files of the corpus by name."""
    return {name: model_bytes(model) for name, model in models().items()}
