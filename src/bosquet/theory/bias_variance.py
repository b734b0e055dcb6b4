"""Bias, variance and noise of an estimator, measured over many training sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._parameters import (
    boolean,
    check_estimator,
    check_value,
    choice,
    count_or_fraction,
    integer,
    number,
)
from bosquet._sklearn import check_random_state, in_parallel
from bosquet.theory._checks import (
    Truth,
    class_codes,
    clone_with_seeds,
    independent_streams,
    is_generator,
)
from bosquet.theory._error_decompositions import (
    DomingosDecomposition,
    KohaviWolpertDecomposition,
    Parts,
    SquaredErrorDecomposition,
)
from bosquet.theory._tables import result_text, table
from bosquet.theory._training_sets import FromGenerator, FromTable, TrainingSets

if TYPE_CHECKING:
    from bosquet._types import Estimator, RandomState


SUMMANDS = ("bias", "variance", "noise")
Formula = Callable[[np.ndarray, np.ndarray], Parts]


@dataclass(frozen=True, repr=False)
class BiasVariance:
    """Decomposition of the error of an estimator: error = bias + variance + noise.

    Attributes
    ----------
    error, bias, variance, noise : float
        `bias` is the squared bias for squared error and for Kohavi and Wolpert's decomposition. In Domingos'
        decomposition variance and noise are their effects on the error, which may be negative.
    intervals : dict of str to (low, high)
        Bootstrap confidence intervals of each part, over training sets and test rows.
    name, formula : str
        Name and formula of the decomposition.
    noise_known : bool
        False if a table was passed instead of a generator. The bias then includes the noise.
    confidence : float
        Level of the intervals.
    details : dict of str to float
        For Domingos' decomposition: the rates of variance where the main prediction is right and where it
        is wrong, and the noise rate.
    domingos : BiasVariance or None
        For 0-1 loss, Domingos' decomposition of the same predictions.
    curves : dict of str to array of shape (n_rounds,)
        The parts after 1, 2, ... rounds, if ``staged=True``.
    curve_intervals : dict of str to array of shape (n_rounds, 2)
        Confidence intervals of the curves.
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
        rows: list[tuple[object, ...]]
        rows = [(part, getattr(self, part), *self.intervals[part]) for part in (*SUMMANDS, "error")]
        rows += [(name, value, None, None) for name, value in self.details.items()]
        head = ("", "", f"{self.confidence:.0%} from", "to")
        note = "" if self.noise_known else "bias includes noise: a table does not separate them"
        text = result_text(f"Bias and variance, {self.name}", self.formula, table(rows, head), note)
        return text if self.domingos is None else f"{text}\n{self.domingos!r}"


def bias_variance(
    estimator: Estimator,
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
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> BiasVariance:
    r"""Decompose the error of an estimator into bias, variance and noise.

    The estimator is fitted to `n_draws` training sets, and all fitted models predict the same test rows.
    For squared error, with f(x) = E[y | x], h(x) the prediction, and the expectation over training sets,

    .. math:: E(y - h(x))^2 = (E h(x) - f(x))^2 + E(h(x) - E h(x))^2 + \mathrm{Var}(y \mid x).

    For 0-1 loss there are two decompositions. Kohavi and Wolpert's has the same form, in the probabilities
    p_k of class k and q_k that a model predicts class k: ½ Σ (p_k - q_k)² + ½ (1 - Σ q_k²) + ½ (1 - Σ
    p_k²). Domingos' compares the most frequent prediction with the most probable class; it is returned as
    ``result.domingos``.

    Variance is over training sets and, unless the `random_state` of the estimator is set, over its own
    randomness.

    Parameters
    ----------
    estimator : estimator
        Any estimator with fit and predict; it is cloned for each fit.
    data : generator, or table of shape (n_samples, n_features)
        A generator (see `bosquet.datasets`) draws new rows for each training set, and its distribution is
        known. Of a table, test rows are held out, and training sets are drawn without replacement from the
        other rows. Noise and bias cannot be distinguished then.
    y : array of shape (n_samples,), optional
        Target of a table.
    loss : {"auto", "squared", "zero-one"}, default="auto"
        "auto" is the 0-1 loss for generators of classes and for classifiers, else squared error.
    n_train : int or float, optional
        Number of rows of a training set. Default: 200 for a generator, and for a table half of the rows
        that are not held out. For a table, a float is a fraction of these rows.
    n_test : int or float, default=0.33
        Number of test rows. For a table, a float is a fraction of the rows; for a generator, a float means
        1000 rows.
    n_draws : int, default=50
        Number of training sets.
    staged : bool, default=False
        Also decompose the predictions after each round (``staged_predict``) and return them as `curves`.
        Models with fewer rounds keep their last prediction.
    unbiased : bool, default=True
        With finitely many training sets, bias² contains variance/n_draws. Move it to the variance; the sum
        does not change. The corrected bias² may be slightly negative.
    confidence : float, default=0.95
        Level of the confidence intervals.
    n_bootstrap : int, default=200
        Number of bootstrap samples of training sets and test rows for the intervals.
    random_state : int, RandomState or None
        Seed of the training sets, of the test rows and of the bootstrap.
    n_jobs : int, optional
        Number of parallel fits; the result does not depend on it.

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
    check_estimator(estimator)
    for name, value, check in (
        ("loss", loss, choice("auto", "squared", "zero-one")),
        ("n_train", n_train, count_or_fraction(1, "rows", none=True)),
        ("n_test", n_test, count_or_fraction(1, "rows")),
        ("n_draws", n_draws, integer(2)),
        ("staged", staged, boolean()),
        ("unbiased", unbiased, boolean()),
        ("confidence", confidence, number(0, 1, open_low=True)),
        ("n_bootstrap", n_bootstrap, integer(2)),
    ):
        check_value(name, value, check)
    if staged and not hasattr(estimator, "staged_predict"):
        raise ValueError(
            f"staged=True needs an estimator with staged_predict, which {estimator!r} does not have;"
            " pass staged=False"
        )
    rng = check_random_state(random_state)
    if is_generator(data):
        if y is not None:
            raise ValueError("y is only allowed for a table, but data is a generator; leave y out")
        source: TrainingSets = FromGenerator.of(data, n_train, n_test)
    else:
        source = FromTable.of(estimator, data, y, loss, n_train, n_test, rng)
    truth = source.truth(rng)
    formulas = _make_decompositions(truth, loss, unbiased)
    models = in_parallel(
        _fit_to_draw,
        [(estimator, source, stream) for stream in independent_streams(rng, n_draws)],
        n_jobs=n_jobs,
    )
    bootstrap = _Bootstrap(truth.X.shape[0], n_draws, n_bootstrap, confidence, rng)
    stages = [
        [bootstrap.parts(formula, predictions) for formula in formulas]
        for predictions in _iterate_predictions(models, truth, staged)
    ]
    first, *further = [
        _make_result(
            formula, [stage[k] for stage in stages], source.knows_noise, confidence, staged
        )
        for k, formula in enumerate(formulas)
    ]
    return replace(first, domingos=further[0]) if further else first


def _make_decompositions(truth: Truth, loss: str, unbiased: bool) -> list[Any]:
    """Return the decompositions of the loss."""
    if truth.probability is None:
        if loss == "zero-one":
            raise ValueError(
                "loss='zero-one' needs a generator of classes, but this one draws numbers;"
                " pass loss='squared'"
            )
        assert truth.mean is not None
        assert truth.variance is not None
        return [SquaredErrorDecomposition(truth.mean, truth.variance, unbiased)]
    if loss == "squared":
        raise ValueError(
            "loss='squared' needs a generator of numbers, but this one draws classes; pass loss='zero-one'"
        )
    return [
        KohaviWolpertDecomposition(truth.probability, unbiased),
        DomingosDecomposition(truth.probability),
    ]


def _fit_to_draw(estimator: Estimator, source: TrainingSets, rng: np.random.RandomState) -> Any:
    X, y = source.training_set(rng)
    return clone_with_seeds(estimator, rng).fit(X, y)


def _iterate_predictions(models: list[Any], truth: Truth, staged: bool) -> Iterator[np.ndarray]:
    """Yield the predictions of all models, of shape (models, rows): of each stage, or only the last."""

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
        any_left = False
        for index, staged_predictions in enumerate(rounds):
            predicted = next(staged_predictions, None)
            if predicted is not None:
                # A copy, since some models return the same array in every round.
                latest[index], any_left = np.array(as_array(predicted)), True
        if not any_left:
            return
        yield np.array(latest)


class _Bootstrap:
    """Means of the parts over rows, with bootstrap intervals over models and rows."""

    def __init__(
        self, n_rows: int, n_draws: int, n_bootstrap: int, confidence: float, rng: Any
    ) -> None:
        models = rng.multinomial(n_draws, np.full(n_draws, 1 / n_draws), size=n_bootstrap)
        rows = rng.multinomial(n_rows, np.full(n_rows, 1 / n_rows), size=n_bootstrap)
        self.equal_weights = np.full((1, n_draws), 1 / n_draws)
        self.models, self.rows = models / n_draws, rows / n_rows
        self.levels = [(1 - confidence) / 2, (1 + confidence) / 2]

    def parts(
        self, formula: Formula, predictions: np.ndarray
    ) -> dict[str, tuple[float, float, float]]:
        """Return (value, low, high) of each part and of the error."""
        estimates = {
            name: values[0].mean()
            for name, values in formula(predictions, self.equal_weights).items()
        }
        drawn = {
            name: (values * self.rows).sum(axis=1)
            for name, values in formula(predictions, self.models).items()
        }
        estimates["error"] = sum(estimates[name] for name in SUMMANDS)
        drawn["error"] = sum(drawn[name] for name in SUMMANDS)
        with_intervals = {}
        for name, value in estimates.items():
            # A bootstrap sample contains some models twice, which reduces the variance part. Only
            # deviations from the bootstrap mean are used.
            low, high = np.quantile(drawn[name] - drawn[name].mean(), self.levels)
            with_intervals[name] = (float(value), float(value + low), float(value + high))
        return with_intervals


def _make_result(
    formula: Any,
    stages: list[dict[str, tuple[float, float, float]]],
    noise_known: bool,
    confidence: float,
    staged: bool,
) -> BiasVariance:
    """Return the result for one decomposition, from the values and intervals of each stage."""
    last = stages[-1]
    names = (*SUMMANDS, "error")
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
