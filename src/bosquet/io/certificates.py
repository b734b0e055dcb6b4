"""The certificate of a vote to the description of a model file, and back.

A file holds what belongs to the rounds. Margins and weights belong to the training rows, which a file does
not hold: `bosquet.theory.certificate` has them again from rows that are given.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import ModelFileError

_COLUMNS = ("errors", "alphas", "normalisers", "training_errors")
_NOT_KEPT = (
    "a model file does not hold the training rows; theory.certificate(model, X, y) has them again"
)


def certificate_state(certificate: Any) -> dict[str, Any] | None:
    """What JSON can hold of a certificate."""
    if certificate is None:
        return None
    missing = dict(certificate.missing)
    for name in ("margins", "kth_margin_bound"):
        missing.setdefault(name, _NOT_KEPT)
    return {
        "variant": certificate.variant,
        "n_rows": certificate.n_rows,
        "vc_dim": None if certificate.vc_dim is None else float(certificate.vc_dim),
        "n_hypotheses": certificate.n_hypotheses,
        "factor": float(certificate.factor),
        "missing": dict(sorted(missing.items())),
        **{name: _numbers(getattr(certificate, name)) for name in _COLUMNS},
    }


def certificate_from(state: dict[str, Any] | None) -> Any:
    """The certificate that `certificate_state` described, None for a file that holds none."""
    if state is None:
        return None
    from bosquet.boosting.certificate import Certificate

    missing = {str(name): str(reason) for name, reason in state["missing"].items()}
    columns = {name: _array(state[name]) for name in _COLUMNS}
    if columns["training_errors"] is None or not 0 < int(state["n_rows"]) < 2**53:
        raise ModelFileError("the certificate of the description is not valid")
    return Certificate.from_rounds(
        variant=str(state["variant"]),
        n_rows=int(state["n_rows"]),
        margins=None,
        vc_dim=None if state["vc_dim"] is None else float(state["vc_dim"]),
        n_hypotheses=None if state["n_hypotheses"] is None else int(state["n_hypotheses"]),
        factor=float(state.get("factor", 1.0)),
        missing=missing,
        **columns,
    )


def _numbers(column: np.ndarray | None) -> list[float] | None:
    return None if column is None else [float(value) for value in column]


def _array(values: list[float] | None) -> np.ndarray | None:
    if values is None:
        return None
    column = np.asarray(values, dtype=float)
    if column.ndim != 1 or not np.isfinite(column).all():
        raise ModelFileError("a column of the certificate is not a list of numbers")
    return column
