"""Certificates: the record of a boosted vote, the bounds that follow, and why some are missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._suggestions import hint
from bosquet.boosting.adaboost import bounds
from bosquet.boosting.adaboost.certificate_report import draw_certificate, report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike
    from pandas import DataFrame

    from bosquet.boosting.adaboost.fitting import LabelledRows, RoundRecord

COLUMNS = ("errors", "edges", "alphas", "normalisers", "training_errors")
BOUNDS = ("product", "exponential_bound", "smallest_edge_bound")
NAMES = (*COLUMNS, *BOUNDS, "margins", "vc_dim", "vc_bound", "kth_margin_bound")
# For rounding errors only: the compared quantities are sums with at most one term per round.
TOLERANCE = 1e-9
# Quantities that cannot be computed without others.
_NEEDS = {
    "edges": ("errors",),
    "exponential_bound": ("errors", "edges"),
    "smallest_edge_bound": ("errors", "edges", "exponential_bound"),
    "product": ("normalisers",),
    "vc_bound": ("vc_dim",),
    "kth_margin_bound": ("margins", "vc_dim"),
}
_SINGULAR = {
    "errors": "error",
    "edges": "edge",
    "alphas": "alpha",
    "normalisers": "normaliser",
    "training_errors": "training_error",
}


@dataclass(frozen=True, eq=False, repr=False)
class Certificate:
    r"""The record of a boosted vote f = Σ α_t h_t and the bounds that follow from it.

    With weights D_t of the rows in round t and ε_t = Σ_i D_t(i) [h_t(x_i) ≠ y_i],

    γ_t = ½ - ε_t,  α_t = ½ ln((1-ε_t)/ε_t),  Z_t = Σ_i D_t(i) exp(-α_t y_i h_t(x_i)),

    training error ≤ Π Z_t ≤ exp(-2 Σ γ_t²) ≤ exp(-2 γ² T), γ the smallest edge.

    Π Z_t is a bound for every α_t; the other two need the α_t above. The margin of a row is
    y f(x) / Σ|α_t|: between -1 and 1, positive if the vote is correct.

    This holds for two classes. AdaBoost.MH predicts for every pair of row and class whether the row belongs
    to the class, and Π Z_t bounds the share of wrong predictions. If the class y of a row does not win, then
    f_k ≥ f_y for some k and exp(-f_y) + exp(f_k) ≥ 2: so the training error is at most K/2 times Π Z_t.
    SAMME and codes have no such product.

    A boosted classifier stores its certificate as ``certificate_``; `bosquet.theory.certificate` computes
    one for any rows, and for scikit-learn's AdaBoost. ``print`` shows a summary.

    Attributes
    ----------
    variant : str
        The algorithm.
    n_rows, n_rounds : int
    errors, edges, alphas, normalisers, training_errors : array of shape (n_rounds,) or None
        ε_t, γ_t, α_t (in the ½ form, as used in the vote), Z_t, and the error of the vote so far.
    product, exponential_bound, smallest_edge_bound : array of shape (n_rounds,) or None
        Π Z_s, exp(-2 Σ γ_s²) and exp(-2 γ² t), over the rounds so far.
    factor : float
        The training error is at most `factor` Π Z_t: 1 for two classes, K/2 for AdaBoost.MH.
    margins : array of shape (n_rows,) or None
    row_weight : array of shape (n_rows,) or None
        Weights of the rows before the first round, None if they are all equal; shares and errors are
        weighted by them.
    vc_dim : float or None
        VC dimension of the weak learner, or an upper bound on it.
    missing : dict
        The reason for each of the names above that is None, and for "vc_bound" and "kth_margin_bound".

    Examples
    --------
    Two rounds on four rows: the first misclassifies one row, the second a row of weight 1/6.

    >>> import numpy as np
    >>> from bosquet.boosting import Certificate
    >>> errors = np.array([1 / 4, 1 / 6])
    >>> alphas = np.log(1 / errors - 1) / 2
    >>> Z = 2 * np.sqrt(errors * (1 - errors))
    >>> margins = np.array([1, 1, alphas[1] - alphas[0], alphas[0] - alphas[1]])
    >>> margins[2:] /= alphas.sum()
    >>> certificate = Certificate.from_rounds(
    ...     variant="discrete", n_rows=4, errors=errors, alphas=alphas, normalisers=Z,
    ...     training_errors=[0.25, 0.25], margins=margins, vc_dim=2)
    >>> certificate.product.round(3)
    array([0.866, 0.645])
    >>> certificate.exponential_bound.round(3)
    array([0.882, 0.707])
    >>> certificate.holds()
    True

    References
    ----------
    Freund and Schapire, "A decision-theoretic generalization of on-line learning and an application to
    boosting", JCSS 1997. Schapire, Freund, Bartlett and Lee, "Boosting the margin: a new explanation
    for the effectiveness of voting methods", Annals of Statistics 1998.
    """

    variant: str
    n_rows: int
    errors: np.ndarray | None
    alphas: np.ndarray | None
    normalisers: np.ndarray | None
    training_errors: np.ndarray
    margins: np.ndarray | None
    row_weight: np.ndarray | None = None
    vc_dim: float | None = None
    n_hypotheses: int | None = None
    factor: float = 1.0
    missing: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_rounds(
        cls,
        *,
        variant: str,
        n_rows: int,
        errors: ArrayLike | None,
        alphas: ArrayLike | None,
        normalisers: ArrayLike | None,
        training_errors: ArrayLike | None,
        margins: ArrayLike | None,
        row_weight: ArrayLike | None = None,
        vc_dim: float | None = None,
        n_hypotheses: int | None = None,
        factor: float = 1.0,
        missing: Mapping[str, str] | None = None,
    ) -> Certificate:
        """Make a certificate from the record of a fit.

        Parameters
        ----------
        variant : str
        n_rows : int
        errors, alphas, normalisers : array of shape (n_rounds,) or None
            ε_t; α_t as used in the vote, in the ½ form, including shrinkage; the exact Z_t.
        training_errors : array of shape (n_rounds,)
            Share of (weighted) training rows that the vote of the first t learners misclassifies.
        margins : array of shape (n_rows,) or None
            y f / Σ|α_t| after the last round.
        row_weight : array of shape (n_rows,), optional
            Sample weights of the fit.
        vc_dim : float, optional
            VC dimension of the learner, or an upper bound; only for learners that predict -1 or +1, for
            which the bounds hold.
        n_hypotheses : int, optional
            Number of hypotheses of the learner, if they are finitely many and fixed before the rows are
            seen; the kth-margin bound is then that of Gao and Zhou.
        factor : float, default=1
            The training error is at most `factor` times Π Z_t.
        missing : dict, optional
            Name of a column or bound -> reason why it is missing, such as "gentle fits numbers".
            A name given here is None even if it could be computed. Names: errors, edges, alphas,
            normalisers, training_errors, product, exponential_bound, smallest_edge_bound, margins,
            vc_dim, vc_bound, kth_margin_bound.
        """
        reasons = dict(missing or {})
        unknown = sorted(set(reasons) - set(NAMES))
        if unknown:
            raise ValueError(
                f"missing contains {unknown[0]!r}, which is not a column or bound; {hint(unknown[0], NAMES)}"
            )
        training_errors = _checked_column(training_errors, None, "training_errors")
        rounds = training_errors.size
        columns = {
            name: None if value is None or name in reasons else _checked_column(value, rounds, name)
            for name, value in (
                ("errors", errors), ("alphas", alphas), ("normalisers", normalisers)
            )
        }  # fmt: skip
        if margins is None or "margins" in reasons:
            rows = None
        else:
            rows = _checked_column(margins, n_rows, "margins")
        weight = None if row_weight is None else _checked_column(row_weight, n_rows, "row_weight")
        if weight is not None and (weight.size == 0 or (weight == weight[0]).all()):
            weight = None
        built = cls(
            variant=variant, n_rows=int(n_rows), training_errors=training_errors, margins=rows,
            row_weight=weight, vc_dim=None if "vc_dim" in reasons else vc_dim,
            n_hypotheses=n_hypotheses, factor=float(factor), missing=reasons, **columns,
        )  # fmt: skip
        object.__setattr__(built, "missing", _all_reasons(built, reasons))
        return built

    @property
    def n_rounds(self) -> int:
        return int(self.training_errors.size)

    @property
    def edges(self) -> np.ndarray | None:
        if self.errors is None or "edges" in self.missing:
            return None
        return 0.5 - self.errors

    @property
    def log_product(self) -> np.ndarray | None:
        """ln Π Z_s over the rounds so far; -inf after a perfect learner."""
        if self.normalisers is None or "product" in self.missing:
            return None
        with np.errstate(divide="ignore"):
            return np.cumsum(np.log(self.normalisers))

    @property
    def product(self) -> np.ndarray | None:
        return None if self.log_product is None else np.exp(self.log_product)

    @property
    def training_error_bound(self) -> np.ndarray | None:
        """`factor` Π Z_s, an upper bound on the training error of the vote so far."""
        return None if self.product is None else self.factor * self.product

    @property
    def exponential_bound(self) -> np.ndarray | None:
        if self.edges is None or "exponential_bound" in self.missing:
            return None
        return np.exp(-2 * np.cumsum(self.edges**2))

    @property
    def smallest_edge_bound(self) -> np.ndarray | None:
        if self.edges is None or "smallest_edge_bound" in self.missing:
            return None
        smallest = np.maximum(np.minimum.accumulate(self.edges), 0.0)
        return np.exp(-2 * smallest**2 * np.arange(1, self.n_rounds + 1))

    @property
    def smallest_margin(self) -> float | None:
        """The smallest margin of the rows with a weight above 0."""
        if self.margins is None or self.n_rows == 0:
            return None
        return float(self._sorted_margins()[0][0])

    def margin_distribution(self, theta: ArrayLike = 0.0) -> Any:
        """Share of rows with a margin of at most `theta`, which is a number or an array."""
        values, shares = self._sorted_margins()
        n_up_to_theta = np.searchsorted(values, np.asarray(theta, dtype=float), side="right")
        share = np.concatenate([[0.0], shares])[n_up_to_theta]
        return float(share) if share.ndim == 0 else share

    def margin_quantiles(self, q: ArrayLike = (0, 0.05, 0.25, 0.5, 0.75, 1)) -> np.ndarray:
        """Return quantiles of the margins: the smallest that a share `q` of the rows does not exceed."""
        q = np.asarray(q, dtype=float)
        if ((q < 0) | (q > 1)).any():
            raise ValueError(f"q={q} is not valid: q must be in [0, 1]")
        values, shares = self._sorted_margins()
        rank = np.searchsorted(shares, q - TOLERANCE, side="left")
        return values[np.minimum(rank, values.size - 1)]

    def _sorted_margins(self) -> tuple[np.ndarray, np.ndarray]:
        """Return margins of rows with a weight above 0, ascending, and the cumulated share of the rows."""
        if self.margins is None:
            raise ValueError(f"the certificate has no margins: {self.missing['margins']}")
        if self.row_weight is None:
            values = np.sort(self.margins)
            return values, np.arange(1, values.size + 1) / values.size
        order = np.argsort(self.margins, kind="stable")
        order = order[self.row_weight[order] > 0]
        shares = np.cumsum(self.row_weight[order])
        return self.margins[order], shares / shares[-1]

    def vc_bound(self, delta: float = bounds.DELTA) -> bounds.ErrorBound:
        """Bound on the error on new rows by the VC dimension of votes of T learners."""
        if "vc_bound" in self.missing or self.vc_dim is None or not self.n_rounds:
            reason = self.missing.get("vc_bound", "there is no round")
            return bounds.ErrorBound("VC bound of the vote", None, "", "", reason=reason)
        last = float(self.training_errors[-1])
        return bounds.vc_bound(last, self.n_rounds, self.vc_dim, self.n_rows, delta)

    def kth_margin_bound(
        self, delta: float = bounds.DELTA, k: int | None = None
    ) -> bounds.ErrorBound:
        """Bound on the error on new rows by the kth smallest margin; the best k if none is given."""
        if "kth_margin_bound" in self.missing or self.margins is None:
            reason = self.missing.get("kth_margin_bound", "there are no margins")
            return bounds.ErrorBound("kth-margin bound", None, "", "", reason=reason)
        if self.n_hypotheses is not None:
            return bounds.finite_kth_margin_bound(self.margins, self.n_hypotheses, delta, k)
        assert self.vc_dim is not None
        return bounds.kth_margin_bound(self.margins, self.vc_dim, delta, k)

    def margin_share_bound(self, theta: ArrayLike = 0.0) -> Any:
        """Bound on the share of rows with a margin of at most θ: `factor` exp(θ Σ|α_t|) Π Z_t.

        At θ = 0 it is the bound on the training error. None where Π Z_t or the α_t are.
        """
        if self.log_product is None or self.alphas is None or not self.n_rounds:
            return None
        last, length = self.log_product[-1], np.abs(self.alphas).sum()
        theta = np.asarray(theta, dtype=float)
        if np.isneginf(last):
            bound = np.where(theta < 1, 0.0, 1.0)  # a perfect learner decides the vote
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                bound = np.where(theta == 0, np.exp(last), np.exp(theta * length + last))
        bound = self.factor * bound
        return float(bound) if bound.ndim == 0 else bound

    def checks(self) -> dict[str, bool]:
        """Return each inequality that can be checked, and whether it holds in every round."""
        times = "" if self.factor == 1 else f"{self.factor:g} "
        chain = [
            (f"{times}Π Z_t", self.product),
            (f"{times}exp(-2 Σ γ_t²)", self.exponential_bound),
            (f"{times}exp(-2 γ² T)", self.smallest_edge_bound),
        ]
        sides = [("training error", self.training_errors)]
        sides += [(name, self.factor * values) for name, values in chain if values is not None]
        holds = {}
        for (small, low), (large, high) in pairwise(sides):
            holds[f"{small} ≤ {large}"] = _holds_up_to_rounding(low, high)
        if self.margins is None or not self.n_rounds:
            return holds
        values, shares = self._sorted_margins()
        wrong_share = float(shares[values < 0][-1]) if (values < 0).any() else 0.0
        last = float(self.training_errors[-1])
        # A vote of exactly zero may be correct or wrong.
        holds["training error = share of margins below 0"] = bool(
            wrong_share - TOLERANCE <= last <= self.margin_distribution(0.0) + TOLERANCE
        )
        bound = self.margin_share_bound(values)
        if bound is not None:
            # Of rows with equal margins, the share up to the last one counts.
            share_up_to = self.margin_distribution(values)
            holds[f"share of margins ≤ θ is at most {times}exp(θ Σ|α_t|) Π Z_t"] = (
                _holds_up_to_rounding(share_up_to, bound)
            )
        return holds

    def holds(self) -> bool:
        """Whether all inequalities of `checks` hold, up to rounding."""
        return all(self.checks().values())

    def table(self) -> DataFrame:
        """Return one line per round, as a pandas DataFrame if pandas is installed, else a structured array.

        Columns that are None are left out.
        """
        columns = {"round": np.arange(1, self.n_rounds + 1)}
        for name in (*COLUMNS, *BOUNDS):
            values = getattr(self, name)
            if values is not None:
                columns[_SINGULAR.get(name, name)] = values
        try:
            import pandas as pd
        except ImportError:
            rows = np.empty(self.n_rounds, dtype=[(name, v.dtype) for name, v in columns.items()])
            for name, values in columns.items():
                rows[name] = values
            return rows
        return pd.DataFrame(columns).set_index("round")

    def plot(self, axes: Sequence[Axes] | np.ndarray | None = None) -> np.ndarray:
        """Plot the edges, the error with its bounds, and the margins; return the three axes."""
        return draw_certificate(self, axes)

    def __str__(self) -> str:
        return report(self)

    def __repr__(self) -> str:
        return f"<Certificate of {self.variant}: {self.n_rounds} rounds, {self.n_rows} rows>"


def _checked_column(values: ArrayLike | None, length: int | None, name: str) -> np.ndarray:
    array = np.array(values, dtype=float)
    if array.ndim != 1 or (length is not None and array.size != length):
        expected_shape = "(rounds,)" if length is None else f"({length},)"
        raise ValueError(f"{name} has shape {array.shape}; it must have shape {expected_shape}")
    if np.isnan(array).any():
        row = int(np.flatnonzero(np.isnan(array))[0])
        raise ValueError(f"{name}[{row}] is NaN; pass numbers, or None for an unknown column")
    array.setflags(write=False)
    return array


def _holds_up_to_rounding(low: np.ndarray, high: np.ndarray) -> bool:
    return bool((low <= high + TOLERANCE * (1 + np.abs(high))).all())


def _all_reasons(certificate: Certificate, given_reasons: dict[str, str]) -> dict[str, str]:
    """Return reasons for everything that is missing, in the order of `NAMES`."""
    reasons = dict(given_reasons)
    for name in ("errors", "alphas", "normalisers", "margins"):
        if getattr(certificate, name) is None:
            reasons.setdefault(name, f"{certificate.variant} does not have them")
    if certificate.vc_dim is None:
        reasons.setdefault("vc_dim", "the VC dimension of the learner is not known")
    if certificate.row_weight is not None:
        weighted = "the bound does not hold for weighted rows"
        reasons.setdefault("vc_bound", weighted)
        reasons.setdefault("kth_margin_bound", weighted)
    # With finitely many hypotheses their number replaces the VC dimension.
    finite = certificate.n_hypotheses is not None and "margins" not in reasons
    for name, needed in _NEEDS.items():
        for other in needed:
            if other in reasons and not (finite and name == "kth_margin_bound"):
                reasons.setdefault(name, reasons[other])
    if "exponential_bound" not in reasons and _is_not_the_half_form(certificate):
        reason = "α_t is not ½ ln((1-ε_t)/ε_t), so that Z_t exceeds exp(-2γ_t²)"
        reasons["exponential_bound"] = reason
        reasons.setdefault("smallest_edge_bound", reason)
    return {name: reasons[name] for name in NAMES if name in reasons}


def _is_not_the_half_form(certificate: Certificate) -> bool:
    """Whether some Z_t exceeds exp(-2γ_t²), as with shrunk weights."""
    if certificate.normalisers is None or certificate.edges is None:
        return False
    with np.errstate(divide="ignore"):
        excess = np.log(certificate.normalisers) + 2 * certificate.edges**2
    # Many rounds with an excess below the tolerance can break the bound of the product together.
    return bool(np.maximum(excess, 0.0).sum() > TOLERANCE)


# ------------------------------------------------- certificates of AdaBoost and AnyBoost
_OWN_WEIGHT = "the learners of this variant include their own weight"
_NUMBERS = "the learners of this variant fit numbers"
_SAMME = "the weights of SAMME give no bound on the error"
_COLUMNS = "a round has a learner and weights for each column of the code"
_SHRUNK = "the steps are shrunk and do not minimise Z_t"
_CAPPED = "the weights are capped and are not those of Z_t"


def certificate_of_rounds(
    records: Sequence[RoundRecord],
    train: LabelledRows,
    margins: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
    scores: np.ndarray,
    *,
    variant: str,
    learning_rate: float,
    scheme: str = "two",
    vc_dim: float | None = None,
) -> Certificate:
    """Return the certificate of a fit by reweighting.

    `scores` (rows, outputs) are the sums of the vote on the training rows, `margins(scores, numbers, sizes)`
    computes margins from them, `scheme` is "two" for two classes, "samme", "mh" or the name of a code.
    """
    missing = _missing_of_two_classes(variant, learning_rate)
    if scheme != "two":
        missing = _missing_of_several_classes(variant, scheme, learning_rate)
    sizes = np.sum([record.size for record in records], axis=0)

    def column(name: str) -> np.ndarray | None:
        values = np.array([getattr(record, name) for record in records])
        if name in missing or values.shape[1] > 1 or np.isnan(values).any():
            return None
        return values[:, 0]

    uneven = (train.distribution != train.distribution[0]).any()
    return Certificate.from_rounds(
        variant=variant if scheme == "two" else f"{variant}, {scheme}",
        n_rows=train.class_indices.size,
        errors=column("error"),
        alphas=column("alpha"),
        normalisers=column("normaliser"),
        training_errors=[record.training_error for record in records],
        margins=margins(scores, train.class_indices, sizes),
        row_weight=train.distribution * train.distribution.size if uneven else None,
        vc_dim=None if "vc_dim" in missing else vc_dim,
        factor=scores.shape[1] / 2 if scheme == "mh" else 1.0,
        missing=missing,
    )


def _missing_of_two_classes(variant: str, learning_rate: float) -> dict[str, str]:
    missing: dict[str, str] = {}
    if variant in ("gentle", "logit"):
        missing["errors"] = _NUMBERS
    if variant in ("real", "gentle", "logit"):
        missing |= {"alphas": _OWN_WEIGHT, "exponential_bound": _OWN_WEIGHT}
        missing["vc_dim"] = "bounds with it hold for learners that predict -1 or +1"
    elif variant == "mada":
        missing["exponential_bound"] = _CAPPED
    elif variant not in ("discrete", "anyboost, exponential"):
        missing["exponential_bound"] = "the bound holds for the exponential loss"
    elif learning_rate != 1:
        missing["exponential_bound"] = _SHRUNK
    if "exponential_bound" in missing:
        missing["smallest_edge_bound"] = missing["exponential_bound"]
    return missing


def _missing_of_several_classes(variant: str, scheme: str, learning_rate: float) -> dict[str, str]:
    missing = {"vc_dim": "bounds with it hold for two classes"}
    if scheme == "mh":
        # The results for two classes hold with pairs of row and class in place of rows.
        if variant == "mada":
            missing["exponential_bound"] = missing["smallest_edge_bound"] = _CAPPED
        elif learning_rate != 1:
            missing["exponential_bound"] = missing["smallest_edge_bound"] = _SHRUNK
    elif scheme == "samme":
        missing["edges"] = "with K classes chance is 1 - 1/K, not ½"
        missing["alphas"] = "those of SAMME are ln((1-ε)/ε) + ln(K-1), not in the ½ form"
        for name in ("normalisers", "exponential_bound", "smallest_edge_bound"):
            missing[name] = _SAMME
    else:
        for name in ("errors", "edges", "alphas", "normalisers"):
            missing[name] = _COLUMNS
    return missing
