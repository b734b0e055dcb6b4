"""The certificate of a vote, from what its rounds left: what a variant has, and why it lacks the rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet.boosting._decisions import OfTwo
from bosquet.boosting._vote_stepper import VoteStepper
from bosquet.boosting.certificate import Certificate

_OWN_WEIGHT = "the learners of this variant carry their own weight"
_NUMBERS = "the learners of this variant fit numbers"
_SAMME = "of SAMME's weights there is no bound on the error"
_COLUMNS = "a round has a learner, and weights, for each column of the code"
_SHRUNK = "the steps are shrunk, and not the best for Z_t"
_CAPPED = "weights that are capped are not those of Z_t"


def certify(model: Any, stepper: VoteStepper, scores: np.ndarray) -> Certificate:
    """The certificate of a fitted model; `scores` (rows, outputs) are those of its training rows."""
    kept, train = stepper.kept, stepper.train
    is_two = isinstance(stepper.decision, OfTwo)
    variant = getattr(model, "variant", None) or f"anyboost, {model._margin_loss().name}"
    missing = _of_two(model, variant) if is_two else _of_several(model, variant)
    is_mh = not is_two and model._scheme() == "mh"
    sizes = np.sum([round_.size for round_ in kept], axis=0)

    def column(name: str) -> np.ndarray | None:
        values = np.array([getattr(round_, name) for round_ in kept])
        if name in missing or values.shape[1] > 1 or np.isnan(values).any():
            return None
        return values[:, 0]

    uneven = (train.share != train.share[0]).any()
    return Certificate.from_rounds(
        variant=variant if is_two else f"{variant}, {model._scheme()}",
        n_rows=train.numbers.size,
        errors=column("error"),
        alphas=column("alpha"),
        normalisers=column("normaliser"),
        training_errors=[round_.training_error for round_ in kept],
        margins=stepper.decision.margins(scores, train.numbers, sizes),
        row_weight=train.share * train.share.size if uneven else None,
        vc_dim=None if "vc_dim" in missing else stepper.vc_dim,
        factor=len(model.classes_) / 2 if is_mh else 1.0,
        missing=missing,
    )


def _of_two(model: Any, variant: str) -> dict[str, str]:
    missing: dict[str, str] = {}
    if variant in ("gentle", "logit"):
        missing["errors"] = _NUMBERS
    if variant in ("real", "gentle", "logit"):
        missing |= {"alphas": _OWN_WEIGHT, "exponential_bound": _OWN_WEIGHT}
        missing["vc_dim"] = "the bounds built on it are for learners that say -1 or +1"
    elif variant == "mada":
        missing["exponential_bound"] = _CAPPED
    elif variant not in ("discrete", "anyboost, exponential"):
        missing["exponential_bound"] = "it is a bound for the exponential loss"
    elif model.learning_rate != 1:
        missing["exponential_bound"] = _SHRUNK
    if "exponential_bound" in missing:
        missing["smallest_edge_bound"] = missing["exponential_bound"]
    return missing


def _of_several(model: Any, variant: str) -> dict[str, str]:
    missing = {"vc_dim": "the bounds built on it are for two classes"}
    scheme = model._scheme()
    if scheme == "mh":
        # Pairs of a row and a class in place of rows: all of it holds, for the answers.
        if variant == "mada":
            missing["exponential_bound"] = missing["smallest_edge_bound"] = _CAPPED
        elif model.learning_rate != 1:
            missing["exponential_bound"] = missing["smallest_edge_bound"] = _SHRUNK
    elif scheme == "samme":
        missing["edges"] = "with K classes chance is 1 - 1/K, not ½"
        missing["alphas"] = "SAMME's are ln((1-ε)/ε) + ln(K-1), not of the ½ form"
        for name in ("normalisers", "exponential_bound", "smallest_edge_bound"):
            missing[name] = _SAMME
    else:
        for name in ("errors", "edges", "alphas", "normalisers"):
            missing[name] = _COLUMNS
    return missing
