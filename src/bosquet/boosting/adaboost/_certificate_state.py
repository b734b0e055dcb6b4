"""Convert certificates of boosted models to the metadata of a model file and back.

A file stores the numbers of the rounds. It does not store margins and weights, which belong to the training
rows: `bosquet.theory.certificate` computes them again from given rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from bosquet._types import State


_COLUMNS = ("errors", "alphas", "normalisers", "training_errors")
_NOT_KEPT = "a model file does not store the training rows; call theory.certificate(model, X, y)"
_LARGEST_COUNT = 2**63  # for hypotheses, which can outnumber the rows


def certificate_state(certificate: Any) -> dict[str, Any] | None:
    """Return a certificate without its margins as JSON values, None for None."""
    if certificate is None:
        return None
    missing = dict(certificate.missing)
    for name in ("margins", "kth_margin_bound"):
        missing.setdefault(name, _NOT_KEPT)
    n_hypotheses = certificate.n_hypotheses
    return {
        "variant": certificate.variant,
        "n_rows": int(certificate.n_rows),
        "vc_dim": None if certificate.vc_dim is None else float(certificate.vc_dim),
        "n_hypotheses": None if n_hypotheses is None else int(n_hypotheses),
        "factor": float(certificate.factor),
        "missing": dict(sorted(missing.items())),
        **{name: _column_state(getattr(certificate, name)) for name in _COLUMNS},
    }


def certificate_from(state: State) -> Any:
    """Build the certificate from the result of `certificate_state`."""
    if state is None:
        return None
    if not has_value(state, "training_errors"):
        raise ModelFileError(
            "invalid model file: 'certificate' has no 'training_errors'; it must be a list of numbers"
        )
    missing = read_object(state, "missing")
    counted = has_value(state, "n_hypotheses")
    return Certificate.from_rounds(
        variant=read_text(state, "variant"),
        n_rows=read_integer(state, "n_rows", 1),
        margins=None,
        vc_dim=read_number(state, "vc_dim", 0) if has_value(state, "vc_dim") else None,
        n_hypotheses=read_integer(state, "n_hypotheses", 1, _LARGEST_COUNT) if counted else None,
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
