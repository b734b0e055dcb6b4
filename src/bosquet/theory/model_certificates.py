"""The certificate of a fitted boosted classifier, computed on any rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._targets import check_same_length
from bosquet._weights import check_sample_weight
from bosquet.boosting.adaboost.certificate import Certificate
from bosquet.boosting.adaboost.classifier import code_margins, is_adaboost_mh
from bosquet.boosting.outliers import weights_in_round
from bosquet.theory.rounds import (
    VoteContribution,
    encode_labels,
    is_sklearn_adaboost,
    is_wrong,
    margins_of,
    rounds_of,
    vc_dim_of_learner,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


_SEVERAL_CLASSES = "with several classes Π Z_t does not bound the error"
_CHANCE_LEVEL = "with K classes the error of random guessing is 1 - 1/K, not ½"
_OTHER_ROWS = "these are not the training rows of the model"
_UNKNOWN_WEIGHTS = "the row weights of this variant are not known"
_NO_ALPHAS = "the learners of this variant have no weights α_t"


def certificate(
    model: Any,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    vc_dim: float | None = None,
    training: bool = True,
) -> Certificate:
    r"""Compute the certificate of a fitted boosted classifier on the rows of X.

    The row weights are computed from the predictions of the learners,

    D_{t+1}(i) = D_t(i) exp(-α_t y_i h_t(x_i)) / Z_t,

    so that Π Z_t bounds the error on any rows X. On the training rows, ε_t and Z_t are those of the fit, if
    the fit weighted its rows as AdaBoost does.

    Parameters
    ----------
    model : a fitted classifier
        A classifier of Bosquet with the attribute ``certificate_``, or scikit-learn's `AdaBoostClassifier`.
        The weights ln((1-ε)/ε) of the latter are divided by 2, which gives the α_t = ½ ln((1-ε)/ε) of
        Freund and Schapire (1997) and the same vote.
    X : table of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Class labels.
    sample_weight : array of shape (n_samples,), optional
        Weights of the rows. Default: equal weights.
    vc_dim : float, optional
        VC dimension of the weak learner, or an upper bound on it. Default: that of trees and stumps, None
        for others.
    training : bool, default=True
        Whether X and y are the training rows of the model. Bounds on the error on new rows need the
        training rows, and are left out otherwise.

    Returns
    -------
    Certificate
        See `bosquet.boosting.Certificate`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import AdaBoostClassifier
    >>> from bosquet.theory import certificate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> found = certificate(model, X, y)
    >>> bool(np.allclose(found.errors, model.estimator_errors_))
    True
    >>> found.holds()
    True
    >>> print(f"{found.training_errors[-1]:.3f} ≤ {found.product[-1]:.3f}")
    0.000 ≤ 0.013
    """
    rounds = rounds_of(model, X)
    target = encode_labels(model, y)
    weight = check_sample_weight(sample_weight, target.size)
    start = weight / weight.sum() if weight.size else np.full(target.size, 1.0 / target.size)
    is_mh = is_adaboost_mh(model)
    record = _RoundRecord(_class_signs(target, model) if is_mh else target, target, start)
    for t, contribution in enumerate(rounds):
        check_same_length(target.size, contribution.predictions.shape[0])
        record.add(contribution, _weights_of_round(model, t, record))
    # The margins of output codes depend on the votes of the columns, not on the decoded class scores.
    of_code = code_margins(model, X, record.target)
    missing = _reasons_missing(model, record, training)
    if vc_dim is not None and training:
        for name in ("vc_dim", "vc_bound", "kth_margin_bound"):
            missing.pop(name, None)
    return Certificate.from_rounds(
        variant=_variant_name(model),
        n_rows=target.size,
        errors=None if None in record.errors else np.array(record.errors, dtype=float),
        alphas=record.alphas,
        normalisers=record.normalisers,
        training_errors=record.training_errors,
        margins=record.margins() if of_code is None else of_code,
        row_weight=weight if weight.size else None,
        vc_dim=vc_dim if vc_dim is not None else vc_dim_of_learner(model),
        factor=len(model.classes_) / 2 if is_mh else 1.0,
        missing=missing,
    )


def _reasons_missing(model: Any, record: _RoundRecord, training: bool) -> dict[str, str]:
    """Return why entries of the certificate are missing: the reasons of the fit, and those of these rows."""
    missing = dict(getattr(getattr(model, "certificate_", None), "missing", {}))
    # Margins are missing after loading a file, which does not contain the training rows. Here they are
    # computed.
    lost = missing.pop("margins", None)
    if lost is not None and missing.get("kth_margin_bound") == lost:
        del missing["kth_margin_bound"]
    if record.without_alphas:
        missing.setdefault("alphas", _NO_ALPHAS)
        missing.setdefault("exponential_bound", _NO_ALPHAS)
    if None in record.errors:
        missing.setdefault("errors", _UNKNOWN_WEIGHTS)
    if is_sklearn_adaboost(model) and len(model.classes_) > 2:
        missing.setdefault("edges", _CHANCE_LEVEL)
        missing.setdefault("vc_dim", "the bounds that use it are for two classes")
        for name in ("normalisers", "exponential_bound"):
            missing.setdefault(name, _SEVERAL_CLASSES)
    if not training:
        missing |= {"vc_bound": _OTHER_ROWS, "kth_margin_bound": _OTHER_ROWS}
    return missing


def _variant_name(model: Any) -> str:
    if is_sklearn_adaboost(model):
        return "scikit-learn's AdaBoost"
    return str(model.certificate_.variant)


def _class_signs(target: np.ndarray, model: Any) -> np.ndarray:
    """Return +1 for the class of each row, -1 for the other classes: shape (rows, classes)."""
    return np.where(target[:, None] == np.arange(len(model.classes_)), 1.0, -1.0)


def _weights_of_round(model: Any, t: int, record: _RoundRecord) -> np.ndarray | None:
    """Return the row weights under which the learner of round t was fitted; None if they are not known."""
    exponential = ("discrete", "real", "anyboost, exponential")
    if is_sklearn_adaboost(model) or model.certificate_.variant in exponential:
        return record.weight
    vote = record.vote if t else np.zeros(record.truth.shape)
    if t == 0 and record.truth.ndim == 1 and len(model.classes_) > 2:
        vote = np.zeros((record.truth.size, len(model.classes_)))
    return weights_in_round(model, t, record.target, vote, record.start)


class _RoundRecord:
    """Row weights after each round, and the columns of a certificate.

    `truth` holds the correct predictions: -1 or +1 per row, per row and class for AdaBoost.MH, else class
    numbers.
    """

    def __init__(self, truth: np.ndarray, target: np.ndarray, start: np.ndarray) -> None:
        self.truth, self.target, self.start = truth, target, start
        self.weight = start.copy()
        if truth.ndim > 1:
            self.weight = np.repeat(start[:, None], truth.shape[1], axis=1) / truth.shape[1]
        self.vote: Any = 0.0
        self.length = 0.0
        self.without_alphas = False
        self.errors: list[float | None] = []
        self.alphas: list[float] = []
        self.normalisers: list[float] = []
        self.training_errors: list[float] = []

    def add(self, contribution: VoteContribution, fitted_under: np.ndarray | None) -> None:
        """Add a round; `fitted_under` are the row weights with which its learner was fitted, if known."""
        predictions = contribution.predictions
        # Agreement with the truth: y h for two classes; with several classes 1 if right, -1 if wrong.
        if predictions.ndim == self.truth.ndim:
            agreement = self.truth * predictions
        else:
            agreement = np.where(is_wrong(predictions, self.target), -1.0, 1.0)
        alpha = 1.0 if contribution.alpha is None else contribution.alpha
        # Predictions without α have an arbitrary scale, so that only their sign can be wrong.
        if contribution.alpha is None:
            loss = (1 - np.sign(agreement)) / 2
        else:
            loss = (1 - agreement) / 2
        self.errors.append(None if fitted_under is None else float((fitted_under * loss).sum()))
        self.alphas.append(alpha)
        self.without_alphas |= contribution.alpha is None
        unnormalised = self.weight * np.exp(-alpha * agreement)
        z = float(unnormalised.sum())
        self.normalisers.append(z)
        if z > 0:
            self.weight = unnormalised / z
        self.vote = self.vote + contribution.vote_term
        self.length += contribution.size
        self.training_errors.append(float(self.start @ is_wrong(self.vote, self.target)))

    def margins(self) -> np.ndarray | None:
        """Return the normalised margins of the rows; None if there are no rounds."""
        if not self.errors:
            return None
        return margins_of(self.vote, self.target) / (self.length or 1.0)
