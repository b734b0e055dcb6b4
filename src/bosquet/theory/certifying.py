"""The certificate of a fitted vote on rows of one's choice."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._targets import check_same_length, check_sample_weight
from bosquet.boosting.certificate import Certificate
from bosquet.theory._rounds import (
    Round,
    is_scikit_learns,
    is_wrong,
    margins_of,
    rounds_of,
    signs_or_numbers,
    vc_dim_of_learner,
)

_SEVERAL = "with several classes Π Z_t is no bound on the error"
_CHANCE = "with K classes chance is 1 - 1/K, not ½"
_OTHER_ROWS = "these are not the rows the vote was learned from"
_OTHER_WEIGHTS = "how this variant weighs its rows is not known here"
_LEARNERS_OWN = "the learners of this variant carry their own weight"


def certificate(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    vc_dim: float | None = None,
    training: bool = True,
) -> Certificate:
    r"""The certificate of a fitted boosted classifier, scikit-learn's AdaBoost among them.

    The weights of the rows are computed anew from what the learners say,

    D_{t+1}(i) = D_t(i) exp(-α_t y_i h_t(x_i)) / Z_t,

    so that Π Z_t bounds the error on the rows of X whichever they are. On the rows the model was
    fitted to, ε_t and Z_t are those of the fit, if that weighted its rows as AdaBoost does.

    Parameters
    ----------
    model : a fitted classifier
        One of Bosquet's with a ``certificate_``, or scikit-learn's `AdaBoostClassifier`, whose weights
        are halved: its ln((1-ε)/ε) and the α_t = ½ ln((1-ε)/ε) of the lectures give the same vote.
    X, y : rows and their classes
    sample_weight : array of shape (n_samples,), optional
    vc_dim : float, optional
        VC dimension of the learner, or a bound on it. Known without it for trees and stumps.
    training : bool, default=True
        Whether these are the rows the model was fitted to. Bounds on the error on new rows are from
        training rows alone, and left out otherwise.

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
    steps = rounds_of(model, X)
    target = signs_or_numbers(model, y)
    given = check_sample_weight(sample_weight, target.size)
    start = given / given.sum() if given.size else np.full(target.size, 1.0 / target.size)
    record = _Record(target, start)
    for step in steps:
        check_same_length(target.size, step.said.shape[0])
        record.add(step)
    missing = _reasons(model, record, training)
    if vc_dim is not None and training:
        for name in ("vc_dim", "vc_bound", "kth_margin_bound"):
            missing.pop(name, None)
    return Certificate.from_rounds(
        variant=_variant(model),
        n_rows=target.size,
        errors=record.errors,
        alphas=record.alphas,
        normalisers=record.normalisers,
        training_errors=record.training_errors,
        margins=record.margins(),
        row_weight=given if given.size else None,
        vc_dim=vc_dim if vc_dim is not None else vc_dim_of_learner(model),
        missing=missing,
    )


def _reasons(model: Any, record: _Record, training: bool) -> dict[str, str]:
    """Why something cannot be had: what the fit itself said, and what these rows add to it."""
    missing = dict(getattr(getattr(model, "certificate_", None), "missing", {}))
    if record.carries_own_weight:
        missing.setdefault("alphas", _LEARNERS_OWN)
        missing.setdefault("exponential_bound", _LEARNERS_OWN)
    if not _weighs_exponentially(model):
        missing.setdefault("errors", _OTHER_WEIGHTS)
    if len(model.classes_) > 2:
        missing.setdefault("edges", _CHANCE)
        missing.setdefault("vc_dim", "the bounds built on it are for two classes")
        for name in ("normalisers", "exponential_bound"):
            missing.setdefault(name, _SEVERAL)
    if not training:
        missing |= {"vc_bound": _OTHER_ROWS, "kth_margin_bound": _OTHER_ROWS}
    return missing


def _weighs_exponentially(model: Any) -> bool:
    """Whether the weights D_t computed here are those that the learners were fitted under."""
    if is_scikit_learns(model):
        return True
    known = ("discrete", "real", "anyboost, exponential")
    return len(model.classes_) == 2 and model.certificate_.variant in known


def _variant(model: Any) -> str:
    if is_scikit_learns(model):
        return "scikit-learn's AdaBoost"
    return str(model.certificate_.variant)


class _Record:
    """The weights of the rows as the rounds go by, and what a certificate wants to know of each."""

    def __init__(self, target: np.ndarray, start: np.ndarray) -> None:
        self.target, self.start = target, start
        self.weight = start.copy()
        self.vote: Any = 0.0
        self.length = 0.0
        self.carries_own_weight = False
        self.errors: list[float] = []
        self.alphas: list[float] = []
        self.normalisers: list[float] = []
        self.training_errors: list[float] = []

    def add(self, step: Round) -> None:
        # How far the learner pulls each row to its own class: y h, or with several classes 1 or -1.
        if step.said.ndim == 1:
            agreement = self.target * step.said
        else:
            agreement = np.where(is_wrong(step.said, self.target), -1.0, 1.0)
        alpha = 1.0 if step.alpha is None else step.alpha
        # Of answers without a scale of their own only the sign can be wrong.
        lost = (1 - np.sign(agreement)) / 2 if step.alpha is None else (1 - agreement) / 2
        self.errors.append(float(self.weight @ lost))
        self.alphas.append(alpha)
        self.carries_own_weight |= step.alpha is None
        raised = self.weight * np.exp(-alpha * agreement)
        z = float(raised.sum())
        self.normalisers.append(z)
        if z > 0:
            self.weight = raised / z
        self.vote = self.vote + step.added
        self.length += step.size
        self.training_errors.append(float(self.start @ is_wrong(self.vote, self.target)))

    def margins(self) -> np.ndarray | None:
        if not self.errors:
            return None
        return margins_of(self.vote, self.target) / (self.length or 1.0)
