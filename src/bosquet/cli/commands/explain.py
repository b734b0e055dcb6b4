"""`bosquet explain`: what a model goes by."""

from __future__ import annotations

from typing import Any

from bosquet.cli.arguments import UserError, positive, table_argument
from bosquet.cli.inputs import read, table_model
from bosquet.cli.output import answer, columns, say

NAME = "explain"
HELP = "what a model goes by, over a table or in one row"
DESCRIPTION = (
    "Shapley values of a model of trees: how much each column matters over the rows of a table, or with"
    " --row what speaks for and against the answer in one row. Values are on the model's raw scale, the"
    " log-odds of a boosted classifier, shares of a forest, the unit of the target otherwise."
)
EXAMPLES = """
bosquet explain churn.bosquet customers.csv
bosquet explain churn.bosquet customers.csv --row 17
bosquet explain iris.bosquet iris.csv --row 1 --class setosa --json
"""
MOST_ROWS = 5000
_BAR = 30


def arguments(parser: Any) -> None:
    parser.add_argument("model", help="a model file")
    table_argument(parser)
    parser.add_argument("--row", type=positive, metavar="N", help="the number of a row, from 1")
    parser.add_argument(
        "--class", dest="label", metavar="LABEL", help="of several classes, which to explain"
    )
    parser.add_argument(
        "--top", type=positive, default=15, metavar="N", help="how many columns to show (15)"
    )


def run(arguments: Any) -> None:
    model = table_model(arguments.model)
    frame = read(arguments)
    if arguments.row is not None:
        if arguments.row > len(frame):
            raise UserError(f"--row {arguments.row}: the table has {len(frame)} rows")
        return _one_row(arguments, model, frame.iloc[[arguments.row - 1]])
    if len(frame) > MOST_ROWS:
        say(arguments, f"note: explained on {MOST_ROWS:,} of {len(frame):,} rows")
        frame = frame.sample(MOST_ROWS, random_state=0)
    found = _explained(arguments, model, frame)
    ranking = found.ranking()
    top = ranking[0][1] if ranking and ranking[0][1] > 0 else 1.0
    rows = [
        [name, f"{value:.4g}", "█" * round(_BAR * value / top)]
        for name, value in ranking[: arguments.top]
    ]
    what = f"mean |Shapley value| of each column over {len(frame):,} rows"
    as_json = {
        "measure": what,
        "rows": len(frame),
        "importances": [{"feature": name, "value": value} for name, value in ranking],
    }
    answer(arguments, as_json, what + "\n" + columns(rows, right=(1,)))
    return None


def _explained(arguments: Any, model: Any, frame: Any) -> Any:
    from bosquet.explain import explain

    try:
        return explain(model.model, model.features(frame))
    except TypeError as error:
        raise UserError(str(error)) from None


def _one_row(arguments: Any, model: Any, frame: Any) -> None:
    found = _explained(arguments, model, frame)
    said = model.predict(frame)[0]
    if found.n_outputs > 1:
        label = arguments.label if arguments.label is not None else str(said)
        try:
            found = found.output(label)
        except ValueError:
            raise UserError(
                f"--class {label!r} is none of {', '.join(found.output_names or [])}"
            ) from None
    what = model.target or "the answer"
    if model.is_classifier:
        label = (found.output_names or [str(model.classes_[-1])])[0]
        what = f"{model.target} = {label}" if model.target else label
    values, data = found.values[0], found.data[0]
    order = sorted(range(len(values)), key=lambda place: -abs(values[place]))
    reasons = [
        {"feature": found.feature_names[f], "value": _shown(data[f]), "effect": float(values[f])}
        for f in order
    ]
    as_json = {
        "row": arguments.row,
        "prediction": said,
        "explained": what,
        "base": float(found.base),
        "raw": float(found.prediction[0]),
        "reasons": reasons,
    }
    shown = reasons[: arguments.top]
    rows = [[f"{r['effect']:+.4g}", f"{r['feature']} = {r['value']}"] for r in shown]
    rest = sum(r["effect"] for r in reasons[arguments.top :])
    if len(reasons) > len(shown):
        rows.append([f"{rest:+.4g}", f"{len(reasons) - len(shown)} other columns"])
    text = (
        f"row {arguments.row}: {said}\n"
        f"score of {what}: {found.prediction[0]:.4g} = {found.base:.4g} without knowing the row, and\n"
        + columns(rows, right=(0,))
    )
    answer(arguments, as_json, text)


def _shown(value: Any) -> str:
    if value is None or value != value:
        return "missing"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
