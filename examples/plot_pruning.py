"""
Cost-complexity pruning: cross-validated error against the number of leaves
===========================================================================

    python examples/plot_pruning.py

The script writes pruning.png: the cross-validation curve, and the selected tree.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from bosquet import DecisionTreeClassifier, plot

data = load_breast_cancer(as_frame=True)
tree = DecisionTreeClassifier(pruning="cv", pruning_rule="1se", random_state=0)
tree.fit(data.data, data.target_names[data.target])
print(tree.pruning_table_)
print(tree.export_text())

figure, (left, right) = plt.subplots(
    1, 2, figsize=(13, 5), layout="constrained", gridspec_kw={"width_ratios": [1, 1.6]}
)
plot.pruning(tree, ax=left)
plot.tree(tree, ax=right)
figure.savefig("pruning.png", dpi=120)
print("wrote pruning.png")
