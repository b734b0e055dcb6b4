"""`bosquet fit`: fit one model and write it to a file."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from bosquet._suggestions import hint
from bosquet.cli.arguments import (
    BATCHED_TABLE,
    UserError,
    positive_argument,
    table_argument,
    target_arguments,
)
from bosquet.cli.inputs import (
    batched_training_table,
    input_files,
    is_several_files,
    missing_files,
    training_table,
)
from bosquet.cli.models import key_arguments, read_key
from bosquet.cli.output import check_outputs, print_note, print_result, write_atomically

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


NAME = "fit"
HELP = "fit one model and write it to a file"
DESCRIPTION = (
    "Fit one of Bosquet's models to a table. The model and the preparation of its table are written to a"
    " file that `bosquet predict`, `explain`, `verify` and Python's bosquet.load read. `--holdout` scores"
    " the model on a test set; `bosquet study` compares many models. A folder, a pattern or a large file is"
    " read in batches, so that it may be larger than memory (gradient boosting, forests, AdaBoost)."
)
EXAMPLES = """
bosquet fit houses.csv --target price --out houses.bosquet
bosquet fit churn.parquet -t left --method random-forest --set n_estimators=300 --out churn.bosquet
bosquet fit "sales/*.parquet" -t returned --memory-limit 2GB --out returns.bosquet
cat a.csv | bosquet fit - -t y --drop id --holdout 0.2 --out a.bosquet
"""

# Names of methods as in `bosquet study`, and the estimators without "Classifier" or "Regressor".
METHODS = {
    "gradient-boosting": "GradientBoosting",
    "random-forest": "RandomForest",
    "extra-trees": "ExtraTrees",
    "bagging": "Bagging",
    "adaboost": "AdaBoost",
    "tree": "DecisionTree",
}
# Methods that can read a table in batches; AdaBoost only for classes.
IN_BATCHES = ("gradient-boosting", "random-forest", "extra-trees", "adaboost")
# A file larger than this share of the available memory is read in batches: in memory, a table takes several
# times the bytes of its file.
_SHARE_OF_MEMORY = 0.05


def add_arguments(parser: ArgumentParser) -> None:
    table_argument(parser, BATCHED_TABLE)
    target_arguments(parser)
    parser.add_argument(
        "--out", "-o", required=True, metavar="FILE", help="model file to write (required)"
    )
    parser.add_argument(
        "--method",
        choices=tuple(METHODS),
        default="gradient-boosting",
        help="estimator to fit (default: gradient-boosting)",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="parameter of the estimator as NAME=VALUE; the value is a JSON value or text, for example"
        " max_depth=3, loss=poisson or monotonic_cst='{\"age\": 1}'; can be repeated",
    )
    parser.add_argument(
        "--holdout",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="fraction of the rows in [0, 1) to hold out as a test set (default: 0)",
    )
    positive_argument(
        parser, "positive class of precision and recall with --holdout (default: the rarer class)"
    )
    parser.add_argument(
        "--memory-limit",
        metavar="SIZE",
        help="read the table in batches, with this much memory for its binned features, for example 2GB"
        " (default: half of the available memory, in batches only for folders, patterns and large files)",
    )
    key_arguments(parser, "The model file is signed with it.")


def run(arguments: Namespace) -> None:
    from bosquet.tables import TableModel

    check_outputs([("--out", arguments.out)], [*input_files(arguments.data), arguments.key_file])
    key = read_key(arguments)
    if not 0 <= arguments.holdout < 1:
        raise UserError(f"--holdout {arguments.holdout} is not valid; pass a fraction in [0, 1)")
    fit = fit_in_batches if _reads_in_batches(arguments) else fit_in_memory
    model, table, score, seconds = fit(arguments)
    with write_atomically(arguments.out) as draft:
        TableModel(model, table.tidier).save(draft, key)
    size = os.path.getsize(arguments.out) if os.path.isfile(arguments.out) else 0
    rows, columns = table.shape
    summary = {
        "model": arguments.out,
        "method": arguments.method,
        "task": table.target.task,
        "target": table.target.name,
        "rows": rows,
        "columns": columns,
        "seconds": seconds,
        "bytes": size,
        "holdout": score,
    }
    if table.target.task == "binary":
        summary["positive"] = str(table.target.classes[table.target.positive])
    shown = "".join(
        _score_text(name, value, summary.get("positive")) for name, value in score.items()
    )
    text = (
        f"{arguments.out}: {arguments.method} for {table.target.name!r} ({table.target.task}), fitted to"
        f" {rows:,} rows of {columns:,} columns in {seconds:.2f} s; {size:,} bytes{shown}"
    )
    print_result(arguments, summary, text)


def fit_in_memory(arguments: Namespace) -> tuple[Any, Any, dict[str, float], float]:
    """Return the model, the training table, the scores on a test set and the seconds of the fit."""
    table = training_table(arguments)
    score: dict[str, float] = {}
    if arguments.holdout:
        score = scores_on_test_set(arguments, table)
    model = make_estimator(arguments, table.target.is_classes)
    y = table.target.y
    start = time.perf_counter()
    # Text as objects: the file is then that of a fit in batches.
    model.fit(table.X, y.astype(object) if y.dtype.kind == "U" else y)
    return model, table, score, time.perf_counter() - start


def fit_in_batches(arguments: Namespace) -> tuple[Any, Any, dict[str, float], float]:
    """Do what `fit_in_memory` does, with a table that is read in batches."""
    with missing_files():
        table = batched_training_table(arguments)
        with table.source:
            if arguments.method == "adaboost" and not table.target.is_classes:
                raise UserError(
                    f"--method adaboost reads batches for classes only, but {table.target.name!r} is a"
                    " number; pass another method, or one file without --memory-limit"
                )
            model = make_estimator(arguments, table.target.is_classes)
            start = time.perf_counter()
            model.fit(table.source, target=table.target.name, memory_limit=arguments.memory_limit)
    return model, table, {}, time.perf_counter() - start


def _reads_in_batches(arguments: Namespace) -> bool:
    """Return whether the table is read in batches; raise UserError if it has to be, but cannot be."""
    from bosquet.batches.training import available_memory, bytes_of_limit

    path = arguments.data
    bytes_of_limit(arguments.memory_limit)  # raises an error if it is not valid
    unsupported = None
    if arguments.method not in IN_BATCHES:
        unsupported = (
            f"--method {arguments.method} needs it in memory; pass one file without --memory-limit, or a"
            f" method that reads batches: {', '.join(IN_BATCHES)}"
        )
    elif arguments.holdout:
        unsupported = "--holdout needs it in memory; pass one file without --memory-limit"
    if arguments.memory_limit is None and os.path.exists(path) and not os.path.isdir(path):
        is_large = os.path.getsize(path) > _SHARE_OF_MEMORY * available_memory()
        return is_large and unsupported is None
    if arguments.memory_limit is None and not is_several_files(path):
        return False
    if unsupported is not None:
        raise UserError(f"{path} is read in batches, but {unsupported}")
    return True


def _score_text(name: str, value: float, positive: str | None) -> str:
    of = f" of {positive!r}" if name in ("precision", "recall") else ""
    return f"; {name.replace('_', ' ')}{of} {value:.4g}"


def make_estimator(arguments: Namespace, is_classes: bool) -> Any:
    """Return the unfitted estimator with the parameters of --set."""
    import bosquet

    name = METHODS[arguments.method] + ("Classifier" if is_classes else "Regressor")
    model = getattr(bosquet, name)()
    parameters = model.get_params(deep=False)
    given_values = dict(_parse_parameter(text) for text in arguments.set)
    for parameter in given_values:
        if parameter not in parameters:
            known_ones = hint(parameter, sorted(parameters), len(parameters))
            raise UserError(
                f"--set: {arguments.method} has no parameter {parameter!r}; {known_ones}"
            )
    defaults: dict[str, Any] = {"random_state": arguments.seed}
    if "verbose" in parameters and sys.stderr.isatty() and not arguments.quiet:
        defaults["verbose"] = 1  # a progress bar
    return model.set_params(**{k: v for k, v in defaults.items() if k in parameters} | given_values)


def _parse_parameter(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UserError(f"--set {text!r} is not valid; pass NAME=VALUE")
    words = {"none": None, "true": True, "false": False}
    if value.lower() in words:
        return name.strip(), words[value.lower()]
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value


def scores_on_test_set(arguments: Namespace, table: Any) -> dict[str, float]:
    """Return the scores on a test set of a model fitted to the other rows."""
    from sklearn.model_selection import train_test_split

    target = table.target
    try:
        train, test, y, truth = train_test_split(
            table.X,
            target.y,
            test_size=arguments.holdout,
            random_state=arguments.seed,
            stratify=target.y if target.is_classes else None,
        )
    except ValueError as error:
        raise UserError(f"--holdout {arguments.holdout}: {error}") from None
    print_note(arguments, f"fitting to {len(train):,} rows, testing on {len(test):,}")
    model = make_estimator(arguments, target.is_classes).fit(train, y)
    predicted = model.predict(test)
    if not target.is_classes:
        from sklearn.metrics import r2_score, root_mean_squared_error

        return {
            "rmse": float(root_mean_squared_error(truth, predicted)),
            "r2": float(r2_score(truth, predicted)),
        }
    scores = {"accuracy": float((predicted == truth).mean())}
    if target.task == "binary":
        from sklearn.metrics import precision_score, recall_score

        of: dict[str, Any] = {
            "pos_label": target.classes[target.positive],
            "zero_division": 0.0,
        }
        scores["precision"] = float(precision_score(truth, predicted, **of))
        scores["recall"] = float(recall_score(truth, predicted, **of))
    if hasattr(model, "predict_proba"):
        from sklearn.metrics import log_loss, roc_auc_score

        proba = model.predict_proba(test)
        scores["log_loss"] = float(log_loss(truth, proba, labels=model.classes_))
        if len(model.classes_) == 2:
            scores["roc_auc"] = float(roc_auc_score(truth == model.classes_[1], proba[:, 1]))
    return scores
