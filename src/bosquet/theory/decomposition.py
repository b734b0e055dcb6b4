"""Bias, variance and noise of a learner, measured over many training sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bosquet._parameters import boolean, check_value, choice, count_or_share, integer, number
from bosquet._sklearn import check_random_state, in_parallel
from bosquet.theory._learning import (
    Truth,
    check_estimator_object,
    class_codes,
    is_generator,
    seeded,
    streams,
)
from bosquet.theory._parts import Domingos, KohaviWolpert, Parts, SquaredError
from bosquet.theory._tables import result_text, table
from bosquet.theory._training_sets import FromGenerator, FromTable, TrainingSets

ADDED = ("bias", "variance", "noise")
Formula = Callable[[np.ndarray, np.ndarray], Parts]


@dataclass(frozen=True, repr=False)
class BiasVariance:
    """The error of a learner in three parts that add up: error = bias + variance + noise.

    Attributes
    ----------
    error, bias, variance, noise : float
        `bias` is the squared bias for squared error and for Kohavi and Wolpert. For Domingos'
        decomposition variance and noise are their effects on the error, which may be negative.
    intervals : dict of str to (low, high)
        Bootstrap intervals of each part, over training sets and test rows.
    name, formula : str
        Which decomposition it is.
    noise_known : bool
        False where rows were given in place of a generator: the noise is then part of the bias.
    details : dict of str to float
        Further rates: for Domingos the variance where it hurts and where it helps, and the noise.
    domingos : BiasVariance or None
        For 0-1 loss, Domingos' decomposition of the same predictions.
    curves : dict of str to array of shape (n_rounds,)
        The parts after 1, 2, ... rounds, where ``staged=True`` asked for them.
    curve_intervals : dict of str to array of shape (n_rounds, 2)
    """

    error: float
    bias: float
    variance: float
    noise: float
    intervals: Mapping[str, tuple[float, float]]
    name: str
    formula: str
    noise_known: bool
    confidence: float
    details: Mapping[str, float] = field(default_factory=dict)
    domingos: BiasVariance | None = None
    curves: Mapping[str, np.ndarray] = field(default_factory=dict)
    curve_intervals: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __repr__(self) -> str:
        rows: list[tuple[Any, ...]]
        rows = [(part, getattr(self, part), *self.intervals[part]) for part in (*ADDED, "error")]
        rows += [(name, value, None, None) for name, value in self.details.items()]
        head = ("", "", f"{self.confidence:.0%} from", "to")
        note = (
            "" if self.noise_known else "the noise is part of the bias: rows alone do not show it"
        )
        text = result_text(f"Bias and variance, {self.name}", self.formula, table(rows, head), note)
        return text if self.domingos is None else f"{text}\n{self.domingos!r}"


def bias_variance(
    estimator: Any,
    data: Any,
    y: Any = None,
    *,
    loss: str = "auto",
    n_train: int | float | None = None,
    n_test: int | float = 0.33,
    n_draws: int = 50,
    staged: bool = False,
    unbiased: bool = True,
    confidence: float = 0.95,
    n_bootstrap: int = 200,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> BiasVariance:
    r"""How much of a learner's error is bias, variance and noise.

    The learner is fitted to `n_draws` training sets, and all are asked about the same test rows. For
    squared error, with f(x) = E[y | x] and the expectation over training sets,

    .. math:: E(y - h(x))^2 = (E h(x) - f(x))^2 + E(h(x) - E h(x))^2 + \mathrm{Var}(y \mid x).

    For 0-1 loss there are two ways to do the same. Kohavi and Wolpert's is of the same form, in
    the probabilities p_k of class k and q_k that a learner says it:
    ½ Σ (p_k - q_k)² + ½ (1 - Σ q_k²) + ½ (1 - Σ p_k²). Domingos compares the prediction made most often
    with the best one; it comes along as ``result.domingos``.

    Variance is over training sets and, unless its `random_state` is set, over the luck of the
    learner itself.

    Parameters
    ----------
    estimator : estimator
        Any with fit and predict; it is cloned for each fit.
    data : generator, or table of shape (n_samples, n_features)
        A generator (see `bosquet.datasets`) gives fresh training sets and knows the truth. Of a table
        a part is held out for testing, and training sets are drawn without replacement from the rest.
        The noise cannot be told from the bias then.
    y : array of shape (n_samples,), optional
        The target that goes with a table.
    loss : {"auto", "squared", "zero-one"}, default="auto"
        By default what the generator or the estimator is for.
    n_train : int or float, optional
        Rows of a training set: by default 200 from a generator, half of those not held out from a
        table (then a float is a share of them).
    n_test : int or float, default=0.33
        Rows to test on; a float is a share of a table, and means 1000 rows of a generator.
    n_draws : int, default=50
        Number of training sets.
    staged : bool, default=False
        Also decompose the predictions after each round (``staged_predict``), as `curves`. A model
        that stopped early stays as it was.
    unbiased : bool, default=True
        Finitely many training sets put variance/n_draws into bias²; move it back. Bias² may then be
        just below 0. The sum is the same.
    confidence : float, default=0.95
        Level of the intervals.
    n_bootstrap : int, default=200
        Draws for the intervals, of training sets and of test rows.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Fits at the same time; the result does not depend on it.

    Returns
    -------
    BiasVariance

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from bosquet.datasets import Friedman1
    >>> from bosquet.theory import bias_variance
    >>> full = bias_variance(DecisionTreeRegressor(), Friedman1(), random_state=0)
    >>> small = bias_variance(DecisionTreeRegressor(max_depth=2), Friedman1(), random_state=0)
    >>> print(f"bias² {full.bias:.1f} and {small.bias:.1f}")
    bias² 3.6 and 9.7
    >>> print(f"variance {full.variance:.1f} and {small.variance:.1f}")
    variance 9.4 and 4.7
    >>> abs(full.error - (full.bias + full.variance + full.noise)) < 1e-12
    True

    References
    ----------
    Geman, Bienenstock and Doursat, "Neural networks and the bias/variance dilemma", Neural
    Computation 4, 1992. Kohavi and Wolpert, "Bias plus variance decomposition for zero-one loss
    functions", ICML 1996. Domingos, "A unified bias-variance decomposition", ICML 2000.
    """
    check_estimator_object(estimator)
    for name, value, check in (
        ("loss", loss, choice("auto", "squared", "zero-one")),
        ("n_train", n_train, count_or_share(1, "rows", none=True)),
        ("n_test", n_test, count_or_share(1, "rows")),
        ("n_draws", n_draws, integer(2)),
        ("staged", staged, boolean()),
        ("unbiased", unbiased, boolean()),
        ("confidence", confidence, number(0, 1, open_low=True)),
        ("n_bootstrap", n_bootstrap, integer(2)),
    ):
        check_value(name, value, check)
    if staged and not hasattr(estimator, "staged_predict"):
        raise ValueError(f"staged=True needs staged_predict, which {estimator!r} does not have")
    random = check_random_state(random_state)
    if is_generator(data):
        if y is not None:
            raise ValueError("y goes with a table; a generator draws its own")
        source: TrainingSets = FromGenerator.of(data, n_train, n_test)
    else:
        source = FromTable.of(estimator, data, y, loss, n_train, n_test, random)
    truth = source.truth(random)
    formulas = _formulas(truth, loss, unbiased)
    models = in_parallel(
        _fit, [(estimator, source, stream) for stream in streams(random, n_draws)], n_jobs=n_jobs
    )
    judge = _Judge(truth.X.shape[0], n_draws, n_bootstrap, confidence, random)
    stages = [
        [judge.stage(formula, said) for formula in formulas]
        for said in _said(models, truth, staged)
    ]
    first, *further = [
        _result(formula, [stage[k] for stage in stages], source.knows_noise, confidence, staged)
        for k, formula in enumerate(formulas)
    ]
    return replace(first, domingos=further[0]) if further else first


def _formulas(truth: Truth, loss: str, unbiased: bool) -> list[Any]:
    if truth.probability is None:
        if loss == "zero-one":
            raise ValueError("loss='zero-one' needs classes, but the generator draws numbers")
        assert truth.mean is not None
        assert truth.variance is not None
        return [SquaredError(truth.mean, truth.variance, unbiased)]
    if loss == "squared":
        raise ValueError("loss='squared' needs numbers, but the generator draws classes")
    return [KohaviWolpert(truth.probability, unbiased), Domingos(truth.probability)]


def _fit(estimator: Any, source: TrainingSets, random: np.random.RandomState) -> Any:
    X, y = source.training_set(random)
    return seeded(estimator, random).fit(X, y)


def _said(models: list[Any], truth: Truth, staged: bool) -> Iterator[np.ndarray]:
    """What all models say of the test rows, of shape (models, rows), a stage at a time."""

    def as_array(predicted: Any) -> np.ndarray:
        if truth.classes is None:
            return np.asarray(predicted, dtype=float)
        return class_codes(predicted, truth.classes, "a prediction")

    if not staged:
        yield np.array([as_array(model.predict(truth.X)) for model in models])
        return
    rounds = [iter(model.staged_predict(truth.X)) for model in models]
    latest: list[Any] = [None] * len(models)
    while True:
        going_on = False
        for place, predictions in enumerate(rounds):
            following = next(predictions, None)
            if following is not None:
                # Some models hand out the same array every round.
                latest[place], going_on = np.array(as_array(following)), True
        if not going_on:
            return
        yield np.array(latest)


class _Judge:
    """Means of parts over rows, and what they are in a bootstrap of learners and of rows."""

    def __init__(
        self, n_rows: int, n_draws: int, n_bootstrap: int, confidence: float, random: Any
    ) -> None:
        learners = random.multinomial(n_draws, np.full(n_draws, 1 / n_draws), size=n_bootstrap)
        rows = random.multinomial(n_rows, np.full(n_rows, 1 / n_rows), size=n_bootstrap)
        self.all_learners = np.full((1, n_draws), 1 / n_draws)
        self.learners, self.rows = learners / n_draws, rows / n_rows
        self.levels = [(1 - confidence) / 2, (1 + confidence) / 2]

    def stage(self, formula: Formula, said: np.ndarray) -> dict[str, tuple[float, float, float]]:
        """(value, low, high) of each part and of the error."""
        parts = {
            name: values[0].mean() for name, values in formula(said, self.all_learners).items()
        }
        drawn = {
            name: (values * self.rows).sum(axis=1)
            for name, values in formula(said, self.learners).items()
        }
        parts["error"] = sum(parts[name] for name in ADDED)
        drawn["error"] = sum(drawn[name] for name in ADDED)
        found = {}
        for name, value in parts.items():
            # A bootstrap draws some learners twice, which shrinks the variance: only its spread
            # about its own mean is used.
            low, high = np.quantile(drawn[name] - drawn[name].mean(), self.levels)
            found[name] = (float(value), float(value + low), float(value + high))
        return found


def _result(
    formula: Any,
    stages: list[dict[str, tuple[float, float, float]]],
    noise_known: bool,
    confidence: float,
    staged: bool,
) -> BiasVariance:
    last = stages[-1]
    names = (*ADDED, "error")
    curves, bands = {}, {}
    if staged:
        curves = {name: np.array([stage[name][0] for stage in stages]) for name in names}
        bands = {name: np.array([stage[name][1:] for stage in stages]) for name in names}
    return BiasVariance(
        error=last["error"][0],
        bias=last["bias"][0],
        variance=last["variance"][0],
        noise=last["noise"][0],
        intervals={name: (last[name][1], last[name][2]) for name in names},
        name=formula.name,
        formula=formula.formula,
        noise_known=noise_known,
        confidence=confidence,
        details={name: value[0] for name, value in last.items() if name not in names},
        curves=curves,
        curve_intervals=bands,
    )
