"""
Properties of the methods: an overview
======================================

    python examples/plot_properties.py

The script writes properties.png. For each method of a study it shows whether the method is readable,
gives a score or an interval with its prediction, is consistent, is minimax, has finite-sample
guarantees, is free of hyper-parameters, and can be updated online. The guide to methods gives the
reasons. The speed of a method depends on the table; a study measures it.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.colors import ListedColormap

from bosquet.study.methods import METHODS

ANSWERS = ("no", "partly", "yes")
properties = list(next(iter(METHODS.values())).properties)
grid = [
    [ANSWERS.index(method.properties[name][0]) for name in properties]
    for method in METHODS.values()
]
for method, row in zip(METHODS, grid, strict=True):
    print(f"{method:22}" + " ".join(f"{ANSWERS[value]:6}" for value in row))

figure, ax = plt.subplots(figsize=(8, 0.32 * len(grid) + 1.4), layout="constrained")
ax.imshow(grid, cmap=ListedColormap(["#f3e3d3", "#cfdceb", "#3b6ea5"]), aspect="auto")
ax.set_yticks(range(len(grid)), [method.title for method in METHODS.values()])
ax.set_xticks(
    range(len(properties)), [name.replace("_", " ") for name in properties], rotation=25, ha="left"
)
ax.xaxis.tick_top()
for place, row in enumerate(grid):
    for column, value in enumerate(row):
        colour = "white" if value == 2 else "#333333"
        ax.text(column, place, ANSWERS[value], ha="center", va="center", color=colour, fontsize=8)
ax.set_xticks([k - 0.5 for k in range(1, len(properties))], minor=True)
ax.set_yticks([k - 0.5 for k in range(1, len(grid))], minor=True)
ax.grid(which="minor", color="white", linewidth=2)
ax.tick_params(which="both", length=0)
ax.spines[:].set_visible(False)
figure.savefig("properties.png", dpi=100)
print("wrote properties.png")
