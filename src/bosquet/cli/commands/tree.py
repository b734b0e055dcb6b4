"""`bosquet tree`: grow, prune and print one tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bosquet._optional import import_optional
from bosquet.cli.arguments import positive_int, table_argument, target_arguments
from bosquet.cli.inputs import training_table
from bosquet.cli.output import check_outputs, print_note, print_result, write_atomically

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from bosquet._types import TableLike


NAME = "tree"
HELP = "grow and prune one tree; print it as text, SQL, Python, Graphviz or PNG"
DESCRIPTION = (
    "Grow a classification or regression tree, prune it by cross-validation and print it. The rule 1se"
    " chooses the smallest tree within one standard error of the best; the rule min chooses the best."
    " Categorical columns with more than 30 levels are left out."
)
EXAMPLES = """
bosquet tree titanic.csv --target survived --drop boat,body
bosquet tree houses.csv -t price --leaves 8 --sql
bosquet tree iris.csv -t species --png tree.png
"""
MAX_LEVELS = 30  # of a category; splits on more levels are not readable


def add_arguments(parser: ArgumentParser) -> None:
    table_argument(parser)
    target_arguments(parser)
    parser.add_argument(
        "--rule",
        choices=("min", "1se"),
        default="1se",
        help="pruning rule: 1se or min (default: 1se)",
    )
    parser.add_argument(
        "--leaves",
        type=positive_int,
        metavar="N",
        help="maximum number of leaves (default: no limit)",
    )
    parser.add_argument(
        "--depth", type=positive_int, metavar="N", help="maximum depth (default: no limit)"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--dot", action="store_true", help="print Graphviz code")
    form.add_argument("--sql", action="store_true", help="print an SQL expression")
    form.add_argument("--python", action="store_true", help="print a Python function")
    form.add_argument("--png", metavar="FILE", help="draw the tree to this file")
    parser.add_argument(
        "--out", "-o", metavar="FILE", help="file to write text to (default: standard output)"
    )


def run(arguments: Namespace) -> None:
    check_outputs([("--png", arguments.png), ("--out", arguments.out)], [arguments.data])
    table = training_table(arguments)
    X = _drop_long_categories(arguments, table.X)
    model = _fit_tree(arguments, X, table.target)
    pruned = model.pruning_table_
    leaves, full = model.get_n_leaves(), int(max(pruned.leaves))
    about = f"{leaves} of {full} leaves kept by {model.cv}-fold cross-validation ({arguments.rule})"
    if arguments.png:
        _draw_tree(model, arguments.png)
        text = f"{arguments.png}: {about}"
    else:
        print_note(arguments, about)
        text = _tree_text(arguments, model)
    if arguments.out:
        with write_atomically(arguments.out) as draft:
            draft.write_text(text + "\n", encoding="utf-8")
        text = f"{arguments.out}: {about}"
    rules = [
        {
            "conditions": list(r.conditions),
            "prediction": r.prediction,
            "rows": r.n_rows,
            "value": list(r.value),
        }
        for r in model.rules()
    ]
    print_result(
        arguments,
        {"leaves": leaves, "leaves_unpruned": full, "target": table.target.name, "rules": rules},
        text,
    )


def _drop_long_categories(arguments: Namespace, X: Any) -> Any:
    """Return the columns without categories that have too many levels for readable splits."""
    many = [
        name for name in X if X[name].dtype.name == "category" and X[name].nunique() > MAX_LEVELS
    ]
    if not many or len(many) == X.shape[1]:
        return X
    print_note(
        arguments,
        f"note: {', '.join(many)}: left out, because more than {MAX_LEVELS} levels are not readable",
    )
    return X.drop(columns=many)


def _fit_tree(arguments: Namespace, X: TableLike, target: Any) -> Any:
    import numpy as np

    from bosquet import DecisionTreeClassifier, DecisionTreeRegressor

    folds = min(10, len(target.y))
    if target.is_classes:
        folds = min(folds, max(2, int(np.unique(target.y, return_counts=True)[1].min())))
    cls = DecisionTreeClassifier if target.is_classes else DecisionTreeRegressor
    tree = cls(
        pruning="cv",
        pruning_rule=arguments.rule,
        cv=folds,
        max_leaf_nodes=arguments.leaves,
        max_depth=arguments.depth,
        min_samples_leaf=max(1, min(20, len(target.y) // 100)),
        random_state=arguments.seed,
    )
    return tree.fit(X, target.y)


def _tree_text(arguments: Namespace, model: Any) -> str:
    if arguments.dot:
        return str(model.export_graphviz())
    if arguments.sql:
        return str(model.export_sql())
    if arguments.python:
        return str(model.export_python())
    return str(model.export_text())


def _draw_tree(model: Any, path: str) -> None:
    matplotlib = import_optional("matplotlib", "--png", "bosquet[study]")
    matplotlib.use("Agg")
    axes = model.plot()
    with write_atomically(path) as draft:
        axes.figure.savefig(draft, format="png", dpi=150, bbox_inches="tight")
