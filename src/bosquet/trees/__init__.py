"""Decision trees: estimators, pruning, export as text or code, drawing."""

from bosquet.trees.arrays import TreeArrays, predicted_classes
from bosquet.trees.cart import DecisionTreeClassifier, DecisionTreeRegressor
from bosquet.trees.choosing import PathErrors, choose_by_folds, errors_along_path
from bosquet.trees.code_export import export_python, export_sql
from bosquet.trees.curves import draw_pruning, draw_scree
from bosquet.trees.drawing import draw_tree
from bosquet.trees.export import Rule, export_graphviz, export_text, rules, split_table
from bosquet.trees.pruning import (
    PruningPath,
    ccp_alpha_from_gamma,
    cost_complexity,
    gamma_from_ccp_alpha,
    node_costs,
    prune_by_ccp_alpha,
    prune_to,
    weakest_link_path,
)
from bosquet.trees.table import PruningTable

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "PathErrors",
    "PruningPath",
    "PruningTable",
    "Rule",
    "TreeArrays",
    "ccp_alpha_from_gamma",
    "choose_by_folds",
    "cost_complexity",
    "draw_pruning",
    "draw_scree",
    "draw_tree",
    "errors_along_path",
    "export_graphviz",
    "export_python",
    "export_sql",
    "export_text",
    "gamma_from_ccp_alpha",
    "node_costs",
    "predicted_classes",
    "prune_by_ccp_alpha",
    "prune_to",
    "rules",
    "split_table",
    "weakest_link_path",
]
