"""`bosquet predict`: predictions of a model for new rows."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING, Any

from bosquet._suggestions import hint
from bosquet.cli.arguments import UserError, comma_separated, table_argument
from bosquet.cli.formulas import without_formulas
from bosquet.cli.inputs import read_input_table
from bosquet.cli.models import model_argument, table_model
from bosquet.cli.output import check_outputs, json_text, print_note, write_atomically

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from pandas import DataFrame


NAME = "predict"
HELP = "predict new rows with a model file"
DESCRIPTION = (
    "Predict the rows of a table with a model file written by `bosquet fit`, `bosquet study --save` or"
    " model.save in Python. The table needs the columns that the model was fitted to, in any order; other"
    " columns are ignored. A study writes a pickle if a model file cannot hold the chosen model. A pickle is"
    " loaded only with --trust."
)
EXAMPLES = """
bosquet predict houses.bosquet new.csv > prices.csv
bosquet predict churn.bosquet customers.parquet --proba --keep id --out churn.csv
bosquet predict churn.bosquet customers.csv --keep name --escape-formulas --out for-excel.csv
bosquet predict best.bosquet.pkl new.csv --trust               # a scikit-learn model chosen by a study
cat new.csv | bosquet predict houses.bosquet - --json
"""


def add_arguments(parser: ArgumentParser) -> None:
    model_argument(parser)
    table_argument(parser)
    parser.add_argument(
        "--out",
        "-o",
        metavar="FILE",
        help="file to write: Parquet if its name ends in .parquet or .pq, otherwise CSV"
        " (default: standard output)",
    )
    parser.add_argument("--proba", action="store_true", help="write class probabilities too")
    parser.add_argument(
        "--keep",
        type=comma_separated,
        default=[],
        metavar="COLUMNS",
        help="comma-separated columns of the table to copy to the output (default: none)",
    )
    parser.add_argument(
        "--escape-formulas",
        action="store_true",
        help="in CSV, put an apostrophe before text that a spreadsheet would run as a formula (= + - @)",
    )


def run(arguments: Namespace) -> None:
    check_outputs([("--out", arguments.out)], [arguments.model, arguments.data, arguments.key_file])
    model = table_model(arguments.model, arguments)
    frame = read_input_table(arguments)
    predictions = predictions_of(arguments, model, frame)
    if arguments.out is not None:
        with write_atomically(arguments.out) as draft:
            if arguments.out.lower().endswith((".parquet", ".pq")):
                predictions.to_parquet(draft, index=False)
            else:
                _write_csv(arguments, predictions, draft)
        print_note(arguments, f"{arguments.out}: predictions for {len(predictions):,} rows")
        if arguments.json:
            print(json_text({"out": arguments.out, "rows": len(predictions)}))
    elif arguments.json:
        print(json_text(predictions.to_dict(orient="records")))
    else:
        _write_csv(arguments, predictions, sys.stdout, lineterminator="\n")


def _write_csv(arguments: Namespace, predictions: Any, file: Any, **layout: Any) -> None:
    if arguments.escape_formulas:
        # Quoted, so that a spreadsheet with another delimiter does not split cells.
        predictions, layout["quoting"] = without_formulas(predictions), csv.QUOTE_NONNUMERIC
    predictions.to_csv(file, index=False, **layout)


def predictions_of(arguments: Namespace, model: Any, frame: DataFrame) -> Any:
    """Return a table of the kept columns, the predictions and the probabilities."""
    import pandas as pd

    names = [str(name) for name in frame.columns]
    absent = [name for name in arguments.keep if name not in names]
    if absent:
        raise UserError(
            f"--keep: column {absent[0]!r} is not in the table; {hint(absent[0], names)}"
        )
    target = model.target or "prediction"
    columns = {name: frame[name].to_numpy() for name in arguments.keep}
    if target in columns:
        target = f"predicted {target}"
    predicted = model.predict(frame)
    if predicted.ndim == 2:
        columns |= {
            f"{target}_{column}": predicted[:, column] for column in range(predicted.shape[1])
        }
    else:
        columns[target] = predicted
    if arguments.proba:
        if not model.is_classifier or not hasattr(model.model, "predict_proba"):
            raise UserError(f"{arguments.model} has no class probabilities; remove --proba")
        proba = model.predict_proba(frame)
        columns |= {f"P({label})": proba[:, column] for column, label in enumerate(model.classes_)}
    return pd.DataFrame(columns)
