"""`bosquet explain`: Shapley values of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bosquet._suggestions import hint
from bosquet._text_table import text_table
from bosquet.cli.arguments import UserError, positive_int, table_argument
from bosquet.cli.inputs import read_input_table
from bosquet.cli.models import model_argument, table_model
from bosquet.cli.output import print_note, print_result

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from pandas import DataFrame


NAME = "explain"
HELP = "SHAP values: feature importance over a table, or one prediction explained"
DESCRIPTION = (
    "Compute SHAP (Shapley) values. Without --row, print the mean absolute value of each column over the"
    " table (feature importance); with --row, print how much each column changes the prediction for one row."
    " Values are on the scale of the model: log-odds for a boosted classifier, probabilities for a forest,"
    " the unit of the target for regression. They are exact for decision trees, forests, bagging, gradient"
    " boosting and AdaBoost classifiers. For other models they are estimated by sampling; for a classifier,"
    " the estimated values are on the scale of log-odds. Without --row, at most 5,000 rows are used (100 for"
    " other models)."
)
EXAMPLES = """
bosquet explain churn.bosquet customers.csv
bosquet explain churn.bosquet customers.csv --row 17
bosquet explain iris.bosquet iris.csv --row 1 --class setosa --json
"""
MAX_ROWS = 5000
# For models without trees: rows to explain, background rows, columns to distinguish, values to predict.
DRAWN_ROWS, BACKGROUND_ROWS, DRAWN_COLUMNS, DRAWN_VALUES = 100, 100, 500, 5_000_000
_BAR = 30


def add_arguments(parser: ArgumentParser) -> None:
    model_argument(parser)
    table_argument(parser)
    parser.add_argument(
        "--row",
        type=positive_int,
        metavar="N",
        help="row to explain, counted from 1 (default: all rows)",
    )
    parser.add_argument(
        "--class",
        dest="label",
        metavar="LABEL",
        help="class to explain with --row (default: the predicted class)",
    )
    parser.add_argument(
        "--top",
        type=positive_int,
        default=15,
        metavar="N",
        help="number of columns to show (default: 15)",
    )


def run(arguments: Namespace) -> None:
    model = table_model(arguments.model, arguments)
    frame = read_input_table(arguments)
    if arguments.row is not None:
        if arguments.row > len(frame):
            raise UserError(
                f"--row {arguments.row}: the table has only {len(frame):,} rows; pass a number in [1,"
                f" {len(frame)}]"
            )
        return _explain_row(arguments, model, frame)
    if arguments.label is not None:
        raise UserError(f"--class {arguments.label} needs --row; add --row N")
    from bosquet.study.metrics.formatting import format_score

    ranking, rows, remark = _rank_columns(arguments, model, frame)
    top = ranking[0][1] if ranking and ranking[0][1] > 0 else 1.0
    lines = [
        [name, format_score(value), "█" * round(_BAR * value / top)]
        for name, value in ranking[: arguments.top]
    ]
    measure = f"mean |SHAP value| of each column over {rows:,} rows{remark}"
    as_json = {
        "measure": measure,
        "rows": rows,
        "importances": [{"feature": name, "value": value} for name, value in ranking],
    }
    print_result(arguments, as_json, "\n".join([measure, *text_table(lines, left=(0, 2))]))
    return None


def _rank_columns(
    arguments: Namespace, model: Any, frame: DataFrame
) -> tuple[list[tuple[str, float]], int, str]:
    """Return the columns by mean absolute effect, the number of rows, and a remark on the method."""
    import numpy as np

    from bosquet.explain import explain

    if len(frame) > MAX_ROWS:
        print_note(arguments, f"note: explained on {MAX_ROWS:,} of {len(frame):,} rows")
        frame = frame.sample(MAX_ROWS, random_state=0)
    table = model.features(frame)
    try:
        return explain(model.model, table).ranking(), len(table), ""
    except TypeError:
        pass  # not a model of trees
    width = min(table.shape[1], DRAWN_COLUMNS)
    rows = int(np.clip(DRAWN_VALUES // (2 * width * table.shape[1]), 1, DRAWN_ROWS))
    sample = table.sample(min(rows, len(table)), random_state=0)
    class_numbers = None
    if model.is_classifier:
        class_numbers = np.asarray(model.model.predict_proba(sample)).argmax(axis=1)
    explanation = _shapley_values(model, sample, class_numbers, frame)
    values = np.abs(explanation.effects).mean(axis=0)
    order = np.argsort(-values, kind="stable")
    ranking = [(explanation.names[index], float(values[index])) for index in order]
    return ranking, len(sample), ", estimated by sampling"


def _shapley_values(model: Any, rows: Any, class_numbers: Any, frame: DataFrame) -> Any:
    """Return the Shapley values of some rows; sampling uses other rows of the table as background."""
    from bosquet.study.explain.row_explanations import explain_rows

    background = model.features(frame.sample(min(len(frame), BACKGROUND_ROWS), random_state=1))
    names = [str(name) for name in rows.columns]
    return explain_rows(model.model, rows, class_numbers, background, names, 0, DRAWN_COLUMNS)


def _explain_row(arguments: Namespace, model: Any, frame: DataFrame) -> None:
    import numpy as np

    from bosquet.study.metrics.formatting import format_score

    row = frame.iloc[[arguments.row - 1]]
    table, predicted = model.features(row), model.predict(row)[0]
    explained_output, class_number = model.target or "the prediction", None
    if model.is_classifier:
        labels = [str(label) for label in model.classes_]
        label = str(predicted) if arguments.label is None else arguments.label
        if label not in labels:
            raise UserError(f"--class {label!r} is not a class; {hint(label, labels)}")
        class_number = np.array([labels.index(label)])
        explained_output = f"{model.target} = {label}" if model.target else label
    elif arguments.label is not None:
        raise UserError(
            f"--class {arguments.label}: the model predicts a number, not classes; remove --class"
        )
    explanation = _shapley_values(model, table, class_number, frame)
    effects, base = explanation.effects[0], float(explanation.base[0])
    order = np.argsort(-np.abs(effects), kind="stable")
    reasons = [
        {
            "feature": explanation.names[f],
            "value": _value_text(table[explanation.names[f]].iloc[0])
            if explanation.names[f] in table
            else "",
            "effect": float(effects[f]),
        }
        for f in order
    ]
    raw = base + float(effects.sum())
    if abs(raw) < 1e-12 * (abs(base) + float(np.abs(effects).sum())):
        raw = 0.0  # the rest is rounding error
    as_json = {
        "row": arguments.row,
        "prediction": predicted,
        "explained": explained_output,
        "base": base,
        "raw": raw,
        "reasons": reasons,
    }
    shown_reasons = reasons[: arguments.top]
    rows = [
        [format_score(reason["effect"], signed=True), f"{reason['feature']} = {reason['value']}"]
        for reason in shown_reasons
    ]
    other_effects = sum(reason["effect"] for reason in reasons[arguments.top :])
    if len(reasons) > len(shown_reasons):
        rows.append(
            [
                format_score(other_effects, signed=True),
                f"{len(reasons) - len(shown_reasons)} other columns",
            ]
        )
    text = (
        f"row {arguments.row}: {format_score(predicted, 6) if class_number is None else predicted}\n"
        f"score of {explained_output}: {format_score(raw)} = {format_score(base)} (average) plus"
        " these effects:\n" + "\n".join(text_table(rows, left=(1,)))
    )
    print_result(arguments, as_json, text)


def _value_text(value: object) -> str:
    if value is None or value != value:
        return "missing"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
