"""
The margin of a support vector machine, and XOR
===============================================

    python examples/plot_svm_margin.py

The script writes svm-margin.png. The margin has the width 2/‖w‖ and depends only on the support
vectors (rings). A large cost C allows no row inside the margin; a small C makes it wider. The two
classes of XOR cannot be separated by a line, but by a product of the two features, by a small
neural network or by a kernel.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from bosquet import plot
from bosquet.datasets import Xor
from bosquet.theory import svm_margin

X, y = make_blobs(60, centers=[[0, 0], [2.6, 1.9]], cluster_std=0.75, random_state=4)
truth = Xor(spread=0.5)
A, b = truth.sample(300, random_state=0)
corners, labels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]
lifted = np.column_stack([corners, corners.prod(axis=1)])
print(svm_margin(SVC(kernel="linear", C=1e6).fit(lifted, labels), lifted, labels))

figure, axes = plt.subplots(1, 4, figsize=(18, 4.2), layout="constrained")
for ax, C in zip(axes, (100.0, 0.05), strict=False):
    plot.svm_margin(SVC(kernel="linear", C=C).fit(X, y), X, y, ax=ax)
    ax.set_title(f"C = {C:g}: {ax.get_title()}", fontsize="medium")
kernel = SVC(kernel="rbf", gamma=1.0, C=1.0).fit(A, b)
plot.svm_margin(kernel, A, b, ax=axes[2])
axes[2].set_title("XOR, Gaussian kernel", fontsize="medium")
network = MLPClassifier(
    (8,), activation="logistic", solver="lbfgs", alpha=0.01, random_state=0
).fit(A, b)
plot.decision_boundary(
    truth, {"8 sigmoid units": network, "Gaussian kernel": kernel}, n_samples=200, ax=axes[3]
)
axes[3].legend(fontsize="x-small", loc="lower left")
figure.savefig("svm-margin.png", dpi=100)
print("wrote svm-margin.png")
