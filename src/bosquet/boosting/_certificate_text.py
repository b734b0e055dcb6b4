"""A certificate in words: what was recorded, what follows, what there is not and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bosquet._text_table import text_table

if TYPE_CHECKING:
    from bosquet.boosting.bounds import Bound
    from bosquet.boosting.certificate import Certificate

_HEADINGS = {
    "errors": "ε_t",
    "edges": "γ_t",
    "alphas": "α_t",
    "normalisers": "Z_t",
    "training_errors": "error",
    "product": "Π Z_t",
    "exponential_bound": "exp(-2Σγ²)",
    "smallest_edge_bound": "exp(-2γ²T)",
}
_FORMULAS = {
    "errors": "ε_t",
    "edges": "γ_t = ½ - ε_t",
    "alphas": "α_t",
    "normalisers": "Z_t",
    "product": "Π Z_t",
    "exponential_bound": "exp(-2 Σ γ_t²)",
    "smallest_edge_bound": "exp(-2 γ² T)",
    "margins": "margins y f / Σ|α_t|",
    "vc_dim": "VC dimension of the learner",
    "vc_bound": "VC bound of the vote",
    "kth_margin_bound": "kth-margin bound",
}
_WIDTH = 96


def report(certificate: Certificate) -> str:
    """Everything at a glance: some rounds, the bounds, the margins, what is missing."""
    parts = [_title(certificate), _rounds(certificate), _margins(certificate)]
    parts += [_new_rows(certificate), _missing(certificate)]
    return "\n\n".join(part for part in parts if part)


def _title(certificate: Certificate) -> str:
    rounds = "1 round" if certificate.n_rounds == 1 else f"{certificate.n_rounds:,} rounds"
    first = f"Certificate of {certificate.variant}: {rounds}, {certificate.n_rows:,} rows"
    checks = certificate.checks()
    failed = [name for name, good in checks.items() if not good]
    if failed:
        return first + "\nDOES NOT HOLD: " + "; ".join(failed)
    if not checks:
        return first
    number = "1 check" if len(checks) == 1 else f"{len(checks)} checks"
    return first + f"\nall that can be checked on these numbers holds ({number})"


def shown_rounds(n_rounds: int) -> list[int]:
    """1, 2, 5, 10, 20, 50, ... and the last."""
    steps = (digit * 10**power for power in range(9) for digit in (1, 2, 5))
    return [*(step for step in steps if step < n_rounds), n_rounds] if n_rounds else []


def _rounds(certificate: Certificate) -> str:
    if not certificate.n_rounds:
        return ""
    columns = {
        heading: values
        for name, heading in _HEADINGS.items()
        if (values := getattr(certificate, name)) is not None
    }
    rows = [["  round", *(heading.rjust(8) for heading in columns)]]
    for t in shown_rounds(certificate.n_rounds):
        rows.append([f"{t:7,}", *(_number(values[t - 1]) for values in columns.values())])
    lines = text_table(rows)
    if certificate.factor != 1 and certificate.product is not None:
        lines.append(
            f"Π Z_t bounds the share of wrong answers; the training error is at most"
            f" {certificate.factor:g} Π Z_t = {_number(certificate.training_error_bound[-1])}"  # type: ignore[index]
        )
    zero = np.flatnonzero(certificate.training_errors == 0)
    if zero.size and (certificate.training_errors[zero[0] :] == 0).all():
        lines.append(f"the training error is 0 from round {zero[0] + 1:,} on")
    return "\n".join(lines)


def _number(value: float) -> str:
    if value == 0 or not np.isfinite(value):
        return f"{value:g}"
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e3 else f"{value:.1e}"


def _margins(certificate: Certificate) -> str:
    if certificate.margins is None or not certificate.n_rows:
        return ""
    shares = (0, 0.05, 0.25, 0.5, 0.75, 1)
    names = ("smallest", "5 %", "25 %", "median", "75 %", "largest")
    values = certificate.margin_quantiles(shares)
    rows = [["margins", *names], ["", *(f"{value:8.4f}" for value in values)]]
    return "\n".join(text_table(rows))


def _new_rows(certificate: Certificate) -> str:
    found = [certificate.vc_bound(), certificate.kth_margin_bound()]
    lines = [_bound(bound) for bound in found if bound.value is not None]
    return "\n".join(["error on new rows, with probability 0.95:", *lines]) if lines else ""


def _bound(bound: Bound) -> str:
    assert bound.value is not None
    said = f"≤ {bound.value:.3f}" if bound.says_something else f"≤ {bound.value:.3g}, says nothing"
    numbers = ", ".join(f"{name} = {value:,.4g}" for name, value in (bound.at or {}).items())
    return f"  {bound.name} {said} ({numbers})\n    {bound.formula}"


def _missing(certificate: Certificate) -> str:
    """What is None, with the reason; things with one reason on one line."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in certificate.missing.items():
        by_reason.setdefault(reason, []).append(_FORMULAS.get(name, name))
    lines = [f"  {', '.join(names)}: {reason}" for reason, names in by_reason.items()]
    return "\n".join(["not there:", *lines]) if lines else ""
