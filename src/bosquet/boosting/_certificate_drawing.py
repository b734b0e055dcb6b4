"""A certificate drawn: the edges, the error under its bounds, the margins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet.trees.drawing import pyplot_or_error

if TYPE_CHECKING:
    from bosquet.boosting.certificate import Certificate

_INK, _BLUE, _ORANGE, _GREY, _FAINT = "#333333", "#0072B2", "#D55E00", "#8A8A8A", "#E4E4E4"


def percent() -> Any:
    """Shares as percentages, with as many digits as the ticks need."""
    from matplotlib.ticker import FuncFormatter

    return FuncFormatter(lambda share, _: f"{100 * share:.3g}%")


def draw_certificate(certificate: Certificate, axes: Any = None) -> Any:
    """Draws into three axes, of a new figure if none are given, and returns them.

    What the variant does not have is told in its place.
    """
    if axes is None:
        _, axes = pyplot_or_error().subplots(1, 3, figsize=(11.5, 3.5), layout="constrained")
    axes = np.asarray(axes).ravel()
    if axes.size != 3:
        raise ValueError(f"a certificate is drawn into 3 axes, got {axes.size}")
    _draw_errors(certificate, axes[0])
    draw_bounds(certificate, axes[1])
    _draw_margins(certificate, axes[2])
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return axes


def whole_rounds(ax: Any) -> None:
    """Ticks where there are rounds: at whole numbers."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def _draw_errors(certificate: Certificate, ax: Any) -> None:
    has_edges = certificate.edges is not None
    ax.set_title("Each learner's edge" if has_edges else "Each learner's error", loc="left")
    if certificate.errors is None:
        _say_why(ax, "ε_t", certificate.missing["errors"])
        return
    rounds = np.arange(1, certificate.n_rounds + 1)
    errors = certificate.errors
    top = float(errors.max()) * 1.1
    if has_edges:  # else chance is not ½, and there is no edge to show
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


def draw_bounds(certificate: Certificate, ax: Any) -> None:
    """The training error and what bounds it, against the number of rounds."""
    rounds = np.arange(1, certificate.n_rounds + 1)
    factor = certificate.factor
    times = "" if factor == 1 else f"{factor:g} "
    drawn = False
    for name, label, colour, style in (
        ("smallest_edge_bound", "exp(-2 γ² T)", _GREY, ":"),
        ("exponential_bound", "exp(-2 Σ γ²)", _GREY, "--"),
        ("product", "Π Z", _ORANGE, "-"),
    ):
        values = getattr(certificate, name)
        if values is not None and (factor * values <= 1.02).any():  # else it is out of sight
            drawn = True
            ax.plot(rounds, factor * values, color=colour, linestyle=style, linewidth=1.4,
                    marker="_" if rounds.size == 1 else None, label=times + label)  # fmt: skip
    dots = "o" if rounds.size < 12 else None
    ax.step(rounds, certificate.training_errors, where="post", color=_BLUE, linewidth=1.6,
            marker=dots, markersize=4, label="training error")  # fmt: skip
    ax.set_title("Training error under its bounds" if drawn else "Training error", loc="left")
    top = 1.02 if drawn else max(1.15 * float(certificate.training_errors.max(initial=0)), 0.02)
    ax.set(xlabel="round", ylabel="share of rows", ylim=(0, min(1.02, top)))
    ax.yaxis.set_major_formatter(percent())
    whole_rounds(ax)
    if drawn:
        ax.legend(frameon=False, fontsize="small")


def _draw_margins(certificate: Certificate, ax: Any) -> None:
    ax.set_title("Margins", loc="left")
    if certificate.margins is None or certificate.n_rows == 0:
        _say_why(ax, "margins", certificate.missing.get("margins", "there are no rows"))
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
    # Beside the marker, on the side that has room for it.
    offset, side = ((-7, 5), "right") if smallest > -0.2 else ((7, 5), "left")
    ax.annotate(f"smallest {smallest:.2f}", (smallest, 0), xytext=offset, ha=side,
                textcoords="offset points", color=_INK, fontsize="small")  # fmt: skip
    ax.set(xlabel="margin θ", ylabel="share of rows", xlim=(-1, 1), ylim=(0, 1.02))
    ax.yaxis.set_major_formatter(percent())
    # Below the axes: wherever a legend stood inside, some vote has its curve there.
    ax.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2,
              columnspacing=1.2, handlelength=1.5)  # fmt: skip


def _say_why(ax: Any, what: str, reason: str) -> None:
    ax.text(0.5, 0.5, f"no {what}:\n{reason}", color=_GREY, ha="center", va="center", wrap=True,
            transform=ax.transAxes)  # fmt: skip
    ax.set(xticks=[], yticks=[])
