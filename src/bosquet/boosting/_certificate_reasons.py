"""Why a certificate lacks what it lacks: each reason traced back to what is missing first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from bosquet.boosting.certificate import Certificate

COLUMNS = ("errors", "edges", "alphas", "normalisers", "training_errors")
BOUNDS = ("product", "exponential_bound", "smallest_edge_bound")
NAMES = (*COLUMNS, *BOUNDS, "margins", "vc_dim", "vc_bound", "kth_margin_bound")
# Rounding only: each of the quantities compared is a sum of at most as many terms as there are rounds.
TOLERANCE = 1e-9
# What cannot be had without what.
_NEEDS = {
    "edges": ("errors",),
    "exponential_bound": ("errors", "edges"),
    "smallest_edge_bound": ("errors", "edges", "exponential_bound"),
    "product": ("normalisers",),
    "vc_bound": ("vc_dim",),
    "kth_margin_bound": ("margins", "vc_dim"),
}


def completed(certificate: Certificate, given: dict[str, str]) -> dict[str, str]:
    """Reasons for everything that is not there, in the order of `NAMES`."""
    reasons = dict(given)
    for name in ("errors", "alphas", "normalisers", "margins"):
        if getattr(certificate, name) is None:
            reasons.setdefault(name, f"{certificate.variant} does not have them")
    if certificate.vc_dim is None:
        reasons.setdefault("vc_dim", "the VC dimension of the learner is not known")
    if certificate.row_weight is not None:
        weighted = "the rows are weighted, and the bound is for rows drawn alike"
        reasons.setdefault("vc_bound", weighted)
        reasons.setdefault("kth_margin_bound", weighted)
    # With finitely many hypotheses their number stands in for the VC dimension.
    finite = certificate.n_hypotheses is not None and "margins" not in reasons
    for name, needed in _NEEDS.items():
        for other in needed:
            if other in reasons and not (finite and name == "kth_margin_bound"):
                reasons.setdefault(name, reasons[other])
    if "exponential_bound" not in reasons and _is_not_the_half_form(certificate):
        told = "α_t is not ½ ln((1-ε_t)/ε_t), so that Z_t exceeds exp(-2γ_t²)"
        reasons["exponential_bound"] = told
        reasons.setdefault("smallest_edge_bound", told)
    return {name: reasons[name] for name in NAMES if name in reasons}


def _is_not_the_half_form(certificate: Certificate) -> bool:
    """Whether some Z_t breaks the step from Π Z_t to the edges, as with shrunk weights."""
    if certificate.normalisers is None or certificate.edges is None:
        return False
    with np.errstate(divide="ignore"):
        excess = np.log(certificate.normalisers) + 2 * certificate.edges**2
    # Many rounds that exceed their step by less than the tolerance break the product together.
    return bool(np.maximum(excess, 0.0).sum() > TOLERANCE)
