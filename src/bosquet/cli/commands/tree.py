"""`bosquet tree`: one tree, pruned, to be read."""

from __future__ import annotations

from typing import Any

from bosquet.cli.arguments import positive, table_argument, target_arguments
from bosquet.cli.inputs import learned_table
from bosquet.cli.output import answer, check_outputs, say, written

NAME = "tree"
HELP = "grow and prune one tree; print it as text, SQL, Python, Graphviz or PNG"
DESCRIPTION = (
    "Grow a classification or regression tree, prune it by cross-validation and print it. The rule 1se"
    " chooses the smallest tree within one standard error of the best; the rule min chooses the best."
)
EXAMPLES = """
bosquet tree titanic.csv --target survived --drop boat,body
bosquet tree houses.csv -t price --leaves 8 --sql
bosquet tree iris.csv -t species --png tree.png
"""
MOST_LEVELS = 30  # of a category, in a question that one reads


def arguments(parser: Any) -> None:
    table_argument(parser)
    target_arguments(parser)
    parser.add_argument(
        "--rule", choices=("min", "1se"), default="1se", help="rule of pruning (default: 1se)"
    )
    parser.add_argument("--leaves", type=positive, metavar="N", help="maximum number of leaves")
    parser.add_argument("--depth", type=positive, metavar="N", help="maximum depth")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--dot", action="store_true", help="print Graphviz code")
    form.add_argument("--sql", action="store_true", help="print an SQL expression")
    form.add_argument("--python", action="store_true", help="print a Python function")
    form.add_argument("--png", metavar="FILE", help="draw the tree to this file")
    parser.add_argument(
        "--out", "-o", metavar="FILE", help="file to write text to (default: standard output)"
    )


def run(arguments: Any) -> None:
    check_outputs([("--png", arguments.png), ("--out", arguments.out)], [arguments.data])
    table = learned_table(arguments)
    X = _readable(arguments, table.X)
    model = _fitted(arguments, X, table.target)
    pruned = model.pruning_table_
    leaves, full = model.get_n_leaves(), int(max(pruned.leaves))
    about = f"{leaves} of {full} leaves kept by {model.cv}-fold cross-validation ({arguments.rule})"
    if arguments.png:
        _draw(model, arguments.png)
        text = f"{arguments.png}: {about}"
    else:
        say(arguments, about)
        text = _text(arguments, model)
    if arguments.out:
        with written(arguments.out) as place:
            place.write_text(text + "\n", encoding="utf-8")
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
    answer(
        arguments,
        {"leaves": leaves, "leaves_unpruned": full, "target": table.target.name, "rules": rules},
        text,
    )


def _readable(arguments: Any, X: Any) -> Any:
    """The columns without categories of so many levels that no question about them can be read."""
    many = [
        name for name in X if X[name].dtype.name == "category" and X[name].nunique() > MOST_LEVELS
    ]
    if not many or len(many) == X.shape[1]:
        return X
    say(
        arguments,
        f"note: {', '.join(many)}: more than {MOST_LEVELS} levels, too many to read; left out",
    )
    return X.drop(columns=many)


def _fitted(arguments: Any, X: Any, target: Any) -> Any:
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


def _text(arguments: Any, model: Any) -> str:
    if arguments.dot:
        return str(model.export_graphviz())
    if arguments.sql:
        return str(model.export_sql())
    if arguments.python:
        return str(model.export_python())
    return str(model.export_text())


def _draw(model: Any, path: str) -> None:
    try:
        import matplotlib
    except ImportError:
        raise ImportError("a picture needs matplotlib: pip install bosquet[study]") from None
    matplotlib.use("Agg")
    axes = model.plot()
    with written(path) as place:
        axes.figure.savefig(place, format="png", dpi=150, bbox_inches="tight")
