"""The certificate of a vote to the description of a model file, and back.

A file holds what belongs to the rounds. Margins and weights belong to the training rows, which a file does
not hold: `bosquet.theory.certificate` has them again from rows that are given.
"""

from __future__ import annotations

from typing import Any

from bosquet._core import ModelFileError
from bosquet._state.fields import (
    has_value,
    read_integer,
    read_number,
    read_numbers,
    read_object,
    read_text,
    to_json_numbers,
)
from bosquet.boosting.adaboost.certificate import Certificate

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
    if not has_value(state, "training_errors"):
        raise ModelFileError("the certificate of the description has no training errors")
    missing = read_object(state, "missing")
    hypotheses = has_value(state, "n_hypotheses")
    return Certificate.from_rounds(
        variant=read_text(state, "variant"),
        n_rows=read_integer(state, "n_rows", 1),
        margins=None,
        vc_dim=read_number(state, "vc_dim", 0) if has_value(state, "vc_dim") else None,
        n_hypotheses=read_integer(state, "n_hypotheses", 1, _LARGEST_COUNT) if hypotheses else None,
        factor=read_number(state, "factor", 0),
        missing={name: read_text(missing, name) for name in missing},
        **{
            name: read_numbers(state, name, allow_non_finite=True)
            if has_value(state, name)
            else None
            for name in _COLUMNS
        },
    )


def _column_state(column: Any) -> list[Any] | None:
    return None if column is None else to_json_numbers(column)
