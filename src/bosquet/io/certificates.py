"""The certificate of a vote to the description of a model file, and back.

A file holds what belongs to the rounds. Margins and weights belong to the training rows, which a file does
not hold: `bosquet.theory.certificate` has them again from rows that are given.
"""

from __future__ import annotations

from typing import Any

from bosquet._core import ModelFileError
from bosquet.io.fields import gapless, inner, number, numbers, optional, text, whole

_COLUMNS = ("errors", "alphas", "normalisers", "training_errors")
_NOT_KEPT = (
    "a model file does not hold the training rows; theory.certificate(model, X, y) has them again"
)
_LARGEST_COUNT = 2**63  # of hypotheses, of which there are more than rows


def certificate_state(certificate: Any) -> dict[str, Any] | None:
    """What JSON can hold of a certificate."""
    if certificate is None:
        return None
    missing = dict(certificate.missing)
    for name in ("margins", "kth_margin_bound"):
        missing.setdefault(name, _NOT_KEPT)
    hypotheses = certificate.n_hypotheses
    return {
        "variant": certificate.variant,
        "n_rows": int(certificate.n_rows),
        "vc_dim": None if certificate.vc_dim is None else float(certificate.vc_dim),
        "n_hypotheses": None if hypotheses is None else int(hypotheses),
        "factor": float(certificate.factor),
        "missing": dict(sorted(missing.items())),
        **{name: _column_state(getattr(certificate, name)) for name in _COLUMNS},
    }


def certificate_from(state: Any) -> Any:
    """The certificate that `certificate_state` described, None for a file that holds none."""
    if state is None:
        return None
    from bosquet.boosting.certificate import Certificate

    if not optional(state, "training_errors"):
        raise ModelFileError("the certificate of the description has no training errors")
    missing = inner(state, "missing")
    hypotheses = optional(state, "n_hypotheses")
    return Certificate.from_rounds(
        variant=text(state, "variant"),
        n_rows=whole(state, "n_rows", 1),
        margins=None,
        vc_dim=number(state, "vc_dim", 0) if optional(state, "vc_dim") else None,
        n_hypotheses=whole(state, "n_hypotheses", 1, _LARGEST_COUNT) if hypotheses else None,
        factor=number(state, "factor", 0),
        missing={name: text(missing, name) for name in missing},
        **{
            name: numbers(state, name, gaps=True) if optional(state, name) else None
            for name in _COLUMNS
        },
    )


def _column_state(column: Any) -> list[Any] | None:
    return None if column is None else gapless(column)
