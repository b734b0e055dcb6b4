"""`bosquet predict`: predictions of a model for new rows."""

from __future__ import annotations

import csv
import sys
from collections.abc import Generator, Iterator
from contextlib import closing
from functools import partial
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

from bosquet._suggestions import hint
from bosquet.cli.arguments import (
    BATCHED_TABLE,
    UserError,
    comma_separated,
    table_argument,
)
from bosquet.cli.formulas import without_formulas
from bosquet.cli.inputs import input_files, missing_files, open_input_table, pass_progress
from bosquet.cli.models import model_argument, table_model
from bosquet.cli.output import check_outputs, json_text, print_note, write_atomically

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    import pyarrow
    from pandas import DataFrame

    from bosquet.batches import BatchSource
    from bosquet.tables.sources import RawTable


NAME = "predict"
HELP = "predict new rows with a model file"
DESCRIPTION = (
    "Predict the rows of a table with a model file written by `bosquet fit`, `bosquet study --save` or"
    " model.save in Python. The table needs the columns that the model was fitted to, in any order; other"
    " columns are ignored. It is read in batches, and may be larger than memory. A study writes a pickle if a"
    " model file cannot hold the chosen model. A pickle is loaded only with --trust."
)
EXAMPLES = """
bosquet predict houses.bosquet new.csv > prices.csv
bosquet predict churn.bosquet customers.parquet --proba --keep id --out churn.csv
bosquet predict churn.bosquet customers.csv --keep name --escape-formulas --out for-excel.csv
bosquet predict churn.bosquet "2024/*.parquet" --out churn.parquet
bosquet predict best.bosquet.pkl new.csv --trust               # a scikit-learn model chosen by a study
cat new.csv | bosquet predict houses.bosquet - --json
"""


def add_arguments(parser: ArgumentParser) -> None:
    model_argument(parser)
    table_argument(parser, BATCHED_TABLE)
    parser.add_argument(
        "--out",
        "-o",
        metavar="FILE",
        help="file to write: Parquet if its name ends in .parquet or .pq, Arrow if it ends in .arrow or"
        " .feather, otherwise CSV (default: standard output)",
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
    inputs = [arguments.model, arguments.key_file, *input_files(arguments.data)]
    check_outputs([("--out", arguments.out)], inputs)
    model = table_model(arguments.model, arguments)
    table = open_input_table(arguments)
    with table.source, closing(_predicted_batches(arguments, model, table)) as batches:
        if arguments.out is not None:
            n_rows = _write_file(arguments, batches)
            print_note(arguments, f"{arguments.out}: predictions for {n_rows:,} rows")
            if arguments.json:
                print(json_text({"out": arguments.out, "rows": n_rows}))
        elif arguments.json:
            _print_json(batches)
        else:
            _write_csv(arguments, batches, sys.stdout)


# ------------------------------------------------------------------------------------- predicting
def _predicted_batches(
    arguments: Namespace, model: Any, table: RawTable
) -> Generator[pyarrow.RecordBatch, None, None]:
    """Predict the rows of a table batch by batch."""
    from bosquet.tables.misfits import Misfits
    from bosquet.tables.sources import frame_of

    source = table.source
    columns = _columns_to_read(arguments, model, table)
    misfits = Misfits()
    first = 0
    with (
        missing_files(),
        pass_progress(arguments, "predicting", source.n_rows, source.n_bytes) as progress,
    ):
        for batch in source.batches(columns, progress):
            frame = frame_of(batch, first + 1)
            if batch.num_rows == source.n_rows:
                yield predictions_of(arguments, model, batch, frame)
                return
            try:
                predict = partial(predictions_of, arguments, model, batch)
                predictions = misfits.apply(predict, frame)
            except ValueError as error:
                raise ValueError(f"{error} ({_place(source, first, batch.num_rows)})") from error
            yield predictions
            first += batch.num_rows
    misfits.check()


def _columns_to_read(arguments: Namespace, model: Any, table: RawTable) -> list[str]:
    names = table.column_names
    absent = [name for name in arguments.keep if name not in names]
    if absent:
        raise UserError(
            f"--keep: column {absent[0]!r} is not in the table; {hint(absent[0], names)}"
        )
    needed = model.input_columns
    if needed is None:
        return names
    used = {*needed, *arguments.keep}
    # A table without any of them is read, too: the error of the model names the columns.
    return [name for name in names if not used.isdisjoint((name, name.strip()))] or names[:1]


def _place(source: BatchSource, first: int, n_rows: int) -> str:
    """Return the name of some rows in messages, numbered from 1."""
    row, file = source.find_row(first)
    last_row, last_file = source.find_row(first + n_rows - 1)
    of = f" of {file}" if file else ""
    if file == last_file:
        return f"rows {row + 1:,} to {last_row + 1:,}{of}"
    return f"row {row + 1:,}{of} to row {last_row + 1:,} of {last_file}"


def predictions_of(
    arguments: Namespace, model: Any, batch: pyarrow.RecordBatch, frame: DataFrame
) -> pyarrow.RecordBatch:
    """Return the kept columns of a batch, its predictions and its probabilities."""
    import pyarrow as pa

    target = model.target or "prediction"
    columns = {name: _without_levels(batch.column(name)) for name in arguments.keep}
    if target in columns:
        target = f"predicted {target}"
    predicted = model.predict(frame)
    if predicted.ndim == 2:
        columns |= {
            f"{target}_{column}": pa.array(predicted[:, column])
            for column in range(predicted.shape[1])
        }
    else:
        columns[target] = _labels_array(predicted, getattr(model, "classes_", None))
    if arguments.proba:
        if not model.is_classifier or not hasattr(model.model, "predict_proba"):
            raise UserError(f"{arguments.model} has no class probabilities; remove --proba")
        proba = model.predict_proba(frame)
        columns |= {
            f"P({label})": pa.array(proba[:, column]) for column, label in enumerate(model.classes_)
        }
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def _without_levels(column: pyarrow.Array) -> pyarrow.Array:
    import pyarrow as pa

    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _labels_array(predicted: Any, classes: Any) -> pyarrow.Array:
    """Return predicted labels with the type that all classes have together, or as text if they have none."""
    import pyarrow as pa

    if classes is None or predicted.dtype != object:
        return pa.array(predicted)
    try:
        return pa.array(predicted, pa.array(classes).type)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array(map(str, predicted), pa.string())


# ---------------------------------------------------------------------------------------- writing
def _write_file(arguments: Namespace, batches: Iterator[pyarrow.RecordBatch]) -> int:
    """Write all batches to the file of --out, and return the number of rows."""
    name = arguments.out.lower()
    with write_atomically(arguments.out) as draft:
        if name.endswith((".parquet", ".pq", ".arrow", ".feather")):
            return _write_columnar(batches, str(draft), name.endswith((".parquet", ".pq")))
        with open(draft, "w", encoding="utf-8", newline="") as file:
            return _write_csv(arguments, batches, file)


def _write_columnar(batches: Iterator[pyarrow.RecordBatch], path: str, as_parquet: bool) -> int:
    from pyarrow import ipc, parquet

    first = next(batches)
    n_rows = 0
    open_writer = parquet.ParquetWriter if as_parquet else ipc.new_file
    with open_writer(path, first.schema) as writer:
        for batch in chain([first], batches):
            writer.write_batch(batch)
            n_rows += batch.num_rows
    return n_rows


def _write_csv(arguments: Namespace, batches: Iterator[pyarrow.RecordBatch], file: IO[str]) -> int:
    n_rows = 0
    for batch in batches:
        frame, layout = _frame_to_write(batch), {}
        if arguments.escape_formulas:
            # Quoted, so that a spreadsheet with another delimiter does not split cells.
            frame, layout = without_formulas(frame), {"quoting": csv.QUOTE_NONNUMERIC}
        frame.to_csv(file, index=False, header=n_rows == 0, lineterminator="\n", **layout)
        n_rows += len(frame)
    return n_rows


def _print_json(batches: Iterator[pyarrow.RecordBatch]) -> None:
    """Print one list of the rows of all batches."""
    separator = "["
    for batch in batches:
        rows = json_text(_frame_to_write(batch).to_dict(orient="records"))
        print(separator + rows.removeprefix("[").removesuffix("\n]"), end="")
        separator = ","
    print("\n]")


def _frame_to_write(batch: pyarrow.RecordBatch) -> DataFrame:
    """Return a batch as a pandas frame in which the text of a value does not depend on the other values.

    Integers among missing values stay integers, and a date with a time of midnight has its time.
    """
    import pyarrow as pa

    frame = batch.to_pandas(integer_object_nulls=True)
    for index, kind in enumerate(batch.schema.types):
        if pa.types.is_timestamp(kind):
            frame.isetitem(index, frame.iloc[:, index].map(str, na_action="ignore"))
    return frame
