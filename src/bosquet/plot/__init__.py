"""The plots one would draw anyway: a tree, its pruning, a forest's out-of-bag error, importances.

Every function takes `ax` to draw into, and returns the axes. Matplotlib is needed
(``pip install 'bosquet[plot]'``).
"""

from bosquet.plot.forests import importances, oob_curve
from bosquet.plot.trees import pruning, scree, tree

__all__ = ["importances", "oob_curve", "pruning", "scree", "tree"]
