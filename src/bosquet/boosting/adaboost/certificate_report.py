"""A certificate as text and as a plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._optional import import_pyplot
from bosquet._text_table import text_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bosquet.boosting.adaboost.bounds import ErrorBound
    from bosquet.boosting.adaboost.certificate import Certificate

_INK, _BLUE, _ORANGE, _GREY, _FAINT = "#333333", "#0072B2", "#D55E00", "#8A8A8A", "#E4E4E4"
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


def report(certificate: Certificate) -> str:
    """Return the certificate as text: selected rounds, bounds, margins, and reasons for what is missing."""
    sections = [_title_text(certificate), _rounds_text(certificate), _margins_text(certificate)]
    sections += [_new_rows_text(certificate), _missing_text(certificate)]
    return "\n\n".join(section for section in sections if section)


def _title_text(certificate: Certificate) -> str:
    rounds = "1 round" if certificate.n_rounds == 1 else f"{certificate.n_rounds:,} rounds"
    first = f"Certificate of {certificate.variant}: {rounds}, {certificate.n_rows:,} rows"
    checks = certificate.checks()
    failed = [name for name, good in checks.items() if not good]
    if failed:
        return first + "\nDOES NOT HOLD: " + "; ".join(failed)
    if not checks:
        return first
    number = "1 check" if len(checks) == 1 else f"{len(checks)} checks"
    return first + f"\nall inequalities that can be checked hold ({number})"


def rounds_to_show(n_rounds: int) -> list[int]:
    """Return the rounds 1, 2, 5, 10, 20, 50, ... and the last one."""
    steps = (digit * 10**power for power in range(9) for digit in (1, 2, 5))
    return [*(step for step in steps if step < n_rounds), n_rounds] if n_rounds else []


def _rounds_text(certificate: Certificate) -> str:
    if not certificate.n_rounds:
        return ""
    columns = {
        heading: values
        for name, heading in _HEADINGS.items()
        if (values := getattr(certificate, name)) is not None
    }
    rows = [["  round", *(heading.rjust(8) for heading in columns)]]
    for t in rounds_to_show(certificate.n_rounds):
        rows.append([f"{t:7,}", *(_format_number(values[t - 1]) for values in columns.values())])
    lines = text_table(rows)
    if certificate.factor != 1 and certificate.product is not None:
        lines.append(
            f"Π Z_t bounds the share of wrong pairs of row and class; the training error is at most"
            f" {certificate.factor:g} Π Z_t = {_format_number(certificate.training_error_bound[-1])}"  # type: ignore[index]
        )
    zero = np.flatnonzero(certificate.training_errors == 0)
    if zero.size and (certificate.training_errors[zero[0] :] == 0).all():
        lines.append(f"the training error is 0 from round {zero[0] + 1:,} on")
    return "\n".join(lines)


def _format_number(value: float) -> str:
    if value == 0 or not np.isfinite(value):
        return f"{value:g}"
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e3 else f"{value:.1e}"


def _margins_text(certificate: Certificate) -> str:
    if certificate.margins is None or not certificate.n_rows:
        return ""
    shares = (0, 0.05, 0.25, 0.5, 0.75, 1)
    names = ("smallest", "5 %", "25 %", "median", "75 %", "largest")
    values = certificate.margin_quantiles(shares)
    rows = [["margins", *names], ["", *(f"{value:8.4f}" for value in values)]]
    return "\n".join(text_table(rows))


def _new_rows_text(certificate: Certificate) -> str:
    bounds = [certificate.vc_bound(), certificate.kth_margin_bound()]
    lines = [_bound_text(bound) for bound in bounds if bound.value is not None]
    return "\n".join(["error on new rows, with probability 0.95:", *lines]) if lines else ""


def _bound_text(bound: ErrorBound) -> str:
    assert bound.value is not None
    value = f"≤ {bound.value:.3f}" if bound.is_informative else f"≤ {bound.value:.3g}, vacuous"
    numbers = ", ".join(f"{name} = {value:,.4g}" for name, value in (bound.at or {}).items())
    return f"  {bound.name} {value} ({numbers})\n    {bound.formula}"


def _missing_text(certificate: Certificate) -> str:
    """Return what is missing, with the reason; names with the same reason share a line."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in certificate.missing.items():
        by_reason.setdefault(reason, []).append(_FORMULAS.get(name, name))
    lines = [f"  {', '.join(names)}: {reason}" for reason, names in by_reason.items()]
    return "\n".join(["not available:", *lines]) if lines else ""


# ----------------------------------------------------------------- the plot
def percent() -> Any:
    """Return a tick formatter that shows shares as percentages with up to three digits."""
    from matplotlib.ticker import FuncFormatter

    return FuncFormatter(lambda share, _: f"{100 * share:.3g}%")


def draw_certificate(certificate: Certificate, axes: Any = None) -> Any:
    """Draw a certificate into three axes, of a new figure if None, and return them.

    A panel shows the reason instead if its quantity is missing.
    """
    if axes is None:
        _, axes = import_pyplot().subplots(1, 3, figsize=(11.5, 3.5), layout="constrained")
    axes = np.asarray(axes).ravel()
    if axes.size != 3:
        raise ValueError(f"axes has {axes.size} elements, but a certificate needs 3; pass 3 axes")
    _draw_errors(certificate, axes[0])
    draw_bounds(certificate, axes[1])
    _draw_margins(certificate, axes[2])
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return axes


def whole_rounds(ax: Axes) -> None:
    """Put the ticks of the x axis at integers."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def _draw_errors(certificate: Certificate, ax: Axes) -> None:
    has_edges = certificate.edges is not None
    ax.set_title("Each learner's edge" if has_edges else "Each learner's error", loc="left")
    if certificate.errors is None:
        _write_reason(ax, "ε_t", certificate.missing["errors"])
        return
    rounds = np.arange(1, certificate.n_rounds + 1)
    errors = certificate.errors
    top = float(errors.max()) * 1.1
    if has_edges:  # without edges chance is not ½
        top = max(0.56, top)
        ax.axhline(0.5, color=_GREY, linestyle="--", linewidth=1)
        ax.fill_between(rounds, errors, 0.5, color=_BLUE, alpha=0.15, linewidth=0,
                        label="edge γ = ½ - ε")  # fmt: skip
        ax.text(0.98, 0.5, "a coin", color=_GREY, ha="right", va="bottom",
                transform=ax.get_yaxis_transform())  # fmt: skip
        ax.legend(frameon=False, fontsize="small", loc="lower right")
    dots = "o" if rounds.size < 12 else None
    ax.plot(rounds, errors, color=_BLUE, linewidth=1.2, marker=dots, markersize=4)
    ax.set(xlabel="round", ylabel="weighted error ε", ylim=(0, top or 1.0))
    whole_rounds(ax)


def draw_bounds(certificate: Certificate, ax: Axes) -> None:
    """Draw the training error and its bounds against the number of rounds."""
    rounds = np.arange(1, certificate.n_rounds + 1)
    factor = certificate.factor
    times = "" if factor == 1 else f"{factor:g} "
    any_drawn = False
    for name, label, colour, style in (
        ("smallest_edge_bound", "exp(-2 γ² T)", _GREY, ":"),
        ("exponential_bound", "exp(-2 Σ γ²)", _GREY, "--"),
        ("product", "Π Z", _ORANGE, "-"),
    ):
        values = getattr(certificate, name)
        if values is not None and (factor * values <= 1.02).any():  # else it lies outside the axes
            any_drawn = True
            ax.plot(rounds, factor * values, color=colour, linestyle=style, linewidth=1.4,
                    marker="_" if rounds.size == 1 else None, label=times + label)  # fmt: skip
    dots = "o" if rounds.size < 12 else None
    ax.step(rounds, certificate.training_errors, where="post", color=_BLUE, linewidth=1.6,
            marker=dots, markersize=4, label="training error")  # fmt: skip
    ax.set_title("Training error under its bounds" if any_drawn else "Training error", loc="left")
    top = 1.02 if any_drawn else max(1.15 * float(certificate.training_errors.max(initial=0)), 0.02)
    ax.set(xlabel="round", ylabel="share of rows", ylim=(0, min(1.02, top)))
    ax.yaxis.set_major_formatter(percent())
    whole_rounds(ax)
    if any_drawn:
        ax.legend(frameon=False, fontsize="small")


def _draw_margins(certificate: Certificate, ax: Axes) -> None:
    ax.set_title("Margins", loc="left")
    if certificate.margins is None or certificate.n_rows == 0:
        _write_reason(ax, "margins", certificate.missing.get("margins", "there are no rows"))
        return
    theta = np.linspace(-1, 1, 401)
    share = certificate.margin_distribution(theta)
    ax.axvspan(-1, 0, color=_FAINT, alpha=0.6, linewidth=0)
    ax.plot(theta, share, color=_BLUE, linewidth=1.6, label="rows of at most this margin")
    bound = certificate.margin_share_bound(theta)
    if bound is not None:
        times = "" if certificate.factor == 1 else f"{certificate.factor:g} "
        shown = np.where(bound <= 1, bound, np.nan)
        ax.plot(theta, shown, color=_ORANGE, linewidth=1.2, label=f"bound {times}exp(θ Σα) Π Z")
    smallest = certificate.smallest_margin
    assert smallest is not None
    ax.plot([smallest], [0], marker="^", color=_INK, markersize=6, clip_on=False, zorder=3)
    # Next to the marker, on the side with enough space.
    offset, side = ((-7, 5), "right") if smallest > -0.2 else ((7, 5), "left")
    ax.annotate(f"smallest {smallest:.2f}", (smallest, 0), xytext=offset, ha=side,
                textcoords="offset points", color=_INK, fontsize="small")  # fmt: skip
    ax.set(xlabel="margin θ", ylabel="share of rows", xlim=(-1, 1), ylim=(0, 1.02))
    ax.yaxis.set_major_formatter(percent())
    # Below the axes: every place inside is crossed by the curve of some vote.
    ax.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2,
              columnspacing=1.2, handlelength=1.5)  # fmt: skip


def _write_reason(ax: Axes, what: str, reason: str) -> None:
    ax.text(0.5, 0.5, f"no {what}:\n{reason}", color=_GREY, ha="center", va="center", wrap=True,
            transform=ax.transAxes)  # fmt: skip
    ax.set(xticks=[], yticks=[])
