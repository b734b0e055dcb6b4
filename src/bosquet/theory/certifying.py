"""The certificate of a fitted vote on rows of one's choice."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._sklearn import effective_threads
from bosquet._targets import check_same_length, check_sample_weight
from bosquet.boosting._boosted_vote import BoostedVote
from bosquet.boosting._decisions import OfCodes
from bosquet.boosting._row_weights import weights_in_round
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
    is_mh = _asks_of_each_class(model)
    record = _Record(_signs_of_answers(target, model) if is_mh else target, target, start)
    for t, step in enumerate(steps):
        check_same_length(target.size, step.said.shape[0])
        record.add(step, _weights(model, t, record))
    missing = _reasons(model, record, training)
    if vc_dim is not None and training:
        for name in ("vc_dim", "vc_bound", "kth_margin_bound"):
            missing.pop(name, None)
    return Certificate.from_rounds(
        variant=_variant(model),
        n_rows=target.size,
        errors=None if None in record.errors else record.errors,
        alphas=record.alphas,
        normalisers=record.normalisers,
        training_errors=record.training_errors,
        margins=_margins(model, X, record),
        row_weight=given if given.size else None,
        vc_dim=vc_dim if vc_dim is not None else vc_dim_of_learner(model),
        factor=len(model.classes_) / 2 if is_mh else 1.0,
        missing=missing,
    )


def _reasons(model: Any, record: _Record, training: bool) -> dict[str, str]:
    """Why something cannot be had: what the fit itself said, and what these rows add to it."""
    missing = dict(getattr(getattr(model, "certificate_", None), "missing", {}))
    lost = missing.pop(
        "margins", None
    )  # by a file that did not hold the training rows; here they are
    if lost is not None and missing.get("kth_margin_bound") == lost:
        del missing["kth_margin_bound"]
    if record.carries_own_weight:
        missing.setdefault("alphas", _LEARNERS_OWN)
        missing.setdefault("exponential_bound", _LEARNERS_OWN)
    if None in record.errors:
        missing.setdefault("errors", _OTHER_WEIGHTS)
    if is_scikit_learns(model) and len(model.classes_) > 2:
        missing.setdefault("edges", _CHANCE)
        missing.setdefault("vc_dim", "the bounds built on it are for two classes")
        for name in ("normalisers", "exponential_bound"):
            missing.setdefault(name, _SEVERAL)
    if not training:
        missing |= {"vc_bound": _OTHER_ROWS, "kth_margin_bound": _OTHER_ROWS}
    return missing


def _variant(model: Any) -> str:
    if is_scikit_learns(model):
        return "scikit-learn's AdaBoost"
    return str(model.certificate_.variant)


def _asks_of_each_class(model: Any) -> bool:
    """Whether it is AdaBoost.MH: answers of -1 or +1 for each class, weights of rows and classes."""
    return isinstance(model, BoostedVote) and model.n_classes_ > 2 and model._scheme() == "mh"


def _signs_of_answers(target: np.ndarray, model: Any) -> np.ndarray:
    """+1 for each row's own class, -1 for the others: (rows, classes)."""
    return np.where(target[:, None] == np.arange(len(model.classes_)), 1.0, -1.0)


def _weights(model: Any, t: int, record: _Record) -> np.ndarray | None:
    """What the learner of round t was fitted under; None where that is not known."""
    weighs_as_here = ("discrete", "real", "anyboost, exponential")
    if is_scikit_learns(model) or model.certificate_.variant in weighs_as_here:
        return record.weight
    vote = record.vote if t else np.zeros(record.answers.shape)
    if t == 0 and record.answers.ndim == 1 and len(model.classes_) > 2:
        vote = np.zeros((record.answers.size, len(model.classes_)))
    return weights_in_round(model, t, record.target, vote, record.start)


def _margins(model: Any, X: Any, record: _Record) -> np.ndarray | None:
    if isinstance(model, BoostedVote) and isinstance(model._decision, OfCodes):
        # Sums of each column, of which the scores of the classes are only what decoding makes.
        raw = model._vote.raw(model._table(X), effective_threads(model.n_jobs))
        sizes = np.sum([kept.size for kept in model._kept], axis=0)
        return model._decision.margins(raw, record.target, sizes)
    return record.margins()


class _Record:
    """The weights of the rows as the rounds go by, and what a certificate wants to know of each.

    `answers` are the right ones: signs of the rows, or of rows and classes for AdaBoost.MH; class
    numbers otherwise.
    """

    def __init__(self, answers: np.ndarray, target: np.ndarray, start: np.ndarray) -> None:
        self.answers, self.target, self.start = answers, target, start
        self.weight = start.copy()
        if answers.ndim > 1:
            self.weight = np.repeat(start[:, None], answers.shape[1], axis=1) / answers.shape[1]
        self.vote: Any = 0.0
        self.length = 0.0
        self.carries_own_weight = False
        self.errors: list[float | None] = []
        self.alphas: list[float] = []
        self.normalisers: list[float] = []
        self.training_errors: list[float] = []

    def add(self, step: Round, fitted_under: np.ndarray | None) -> None:
        # How far the learner pulls each row to its own class: y h, or with several classes 1 or -1.
        if step.said.ndim == self.answers.ndim:
            agreement = self.answers * step.said
        else:
            agreement = np.where(is_wrong(step.said, self.target), -1.0, 1.0)
        alpha = 1.0 if step.alpha is None else step.alpha
        # Of answers without a scale of their own only the sign can be wrong.
        lost = (1 - np.sign(agreement)) / 2 if step.alpha is None else (1 - agreement) / 2
        self.errors.append(None if fitted_under is None else float((fitted_under * lost).sum()))
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
