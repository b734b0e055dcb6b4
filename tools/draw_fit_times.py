"""Draw the fit times in the README from the seconds below: `python tools/draw_fit_times.py`.

They were measured on an idle virtual machine with 2 cores: 75,000 simulated rows of 28 columns, 100 rounds of
31 leaves, best of three fits. `bosquet bench` measures on another machine.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PICTURE = Path(__file__).parents[1] / "docs/img/peers.png"
SECONDS = {
    "Bosquet": 0.48,
    "LightGBM": 1.15,
    "scikit-learn HGB": 1.18,
    "XGBoost": 1.46,
    "CatBoost": 3.57,
}


def main() -> None:
    """Write the picture."""
    figure, ax = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
    colours = ["#2f6f4f" if name == "Bosquet" else "#b8beb9" for name in SECONDS]
    bars = ax.barh(list(SECONDS), list(SECONDS.values()), color=colours)
    ax.bar_label(bars, fmt="%.2f s", padding=3)
    ax.set(xlim=(0, 4), xlabel="fit time in seconds", title="75,000 rows × 28, 2 threads")
    ax.invert_yaxis()
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(PICTURE, dpi=100)


if __name__ == "__main__":
    main()
