"""Comparison of the pruning table with rpart, if R is installed."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

from bosquet import DecisionTreeClassifier, DecisionTreeRegressor
from bosquet.trees import weakest_link_path

SCRIPT = """
library(rpart)
data <- read.csv("{path}")
{factor}
fit <- rpart(y ~ ., data, method = "{method}", control = rpart.control(
  minsplit = 20, minbucket = 7, cp = 0, xval = 0, maxcompete = 0, maxsurrogate = 0))
write.csv(fit$cptable, "{out}", row.names = FALSE)
"""


def rpart_table(X, y, method, folder):
    """Return the columns CP, nsplit and rel error of the table of rpart."""
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    path, out = folder / "data.csv", folder / "table.csv"
    names = [f"x{j}" for j in range(X.shape[1])]
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header=",".join([*names, "y"]),
               comments="", fmt="%.17g")  # fmt: skip
    factor = "data$y <- factor(data$y)" if method == "class" else ""
    script = SCRIPT.format(path=path, out=out, method=method, factor=factor)
    done = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"rpart failed: {done.stderr.strip().splitlines()[-1]}")
    return np.loadtxt(out, delimiter=",", skiprows=1)


def our_table(tree, cost):
    """Return the same columns: penalties and errors relative to the root, splits instead of leaves."""
    path = weakest_link_path(tree, cost)
    root = path.costs[-1]
    # rpart lists the root first, and for each subtree the penalty at which it is pruned.
    leaves, costs = path.leaves[::-1], path.costs[::-1]
    penalties = np.append(path.gammas[1:][::-1], 0.0)
    return np.column_stack([penalties / root, leaves - 1, costs / root])


def test_a_classification_tree_costs_no_more_than_that_of_rpart_at_any_penalty(tmp_path):
    """Both grow the same tree. rpart computes penalties from the children of a node only, so it misses
    cheaper subtrees if many splits do not change the number of errors."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4)).round(4)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.7 * rng.normal(size=400) > 0).astype(int)
    theirs = rpart_table(X, y, "class", tmp_path)
    model = DecisionTreeClassifier(min_samples_split=20, min_samples_leaf=7).fit(X, y)
    ours = our_table(model.tree_, "misclassified")
    np.testing.assert_allclose(ours[[0, -1], 1:], theirs[[0, -1], 1:], atol=1e-6)
    for penalty in np.linspace(0, 0.5, 200):
        cost = {
            name: (t[:, 2] + penalty * t[:, 1]).min() for name, t in (("our", ours), ("R", theirs))
        }
        assert cost["our"] <= cost["R"] + 1e-6
    # Subtrees that both find have the same error.
    both = {int(splits): error for _, splits, error in theirs}
    shared = [(both[int(s)], error) for _, s, error in ours if int(s) in both]
    assert len(shared) >= 3
    for error, own in shared:
        assert own == pytest.approx(error, abs=1e-6)


def test_a_regression_tree_is_pruned_as_by_rpart(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4)).round(4)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.7 * rng.normal(size=300)).round(5)
    theirs = rpart_table(X, y, "anova", tmp_path)
    model = DecisionTreeRegressor(min_samples_split=20, min_samples_leaf=7).fit(X, y)
    np.testing.assert_allclose(our_table(model.tree_, "squares"), theirs, atol=1e-6)
