"""`bosquet predict`: a model's answers for new rows."""

from __future__ import annotations

import sys
from typing import Any

from bosquet._suggestions import hint
from bosquet.cli.arguments import UserError, named_list, table_argument
from bosquet.cli.inputs import read
from bosquet.cli.models import model_argument, table_model
from bosquet.cli.output import check_writable, json_text, say, written

NAME = "predict"
HELP = "a model's answers for new rows"
DESCRIPTION = (
    "Predict the rows of a table with a model file of `bosquet fit`, of `bosquet study --save` or of Python's"
    " model.save. The table needs the columns that the model was fitted to, in any order; others are not"
    " looked at. A study's choice of another library's is a pickle, which is loaded with --trust alone."
)
EXAMPLES = """
bosquet predict houses.bosquet new.csv > prices.csv
bosquet predict churn.bosquet customers.parquet --proba --keep id --out churn.csv
bosquet predict best.bosquet.pkl new.csv --trust               # a study's choice of scikit-learn's
cat new.csv | bosquet predict houses.bosquet - --json
"""


def arguments(parser: Any) -> None:
    model_argument(parser)
    table_argument(parser)
    parser.add_argument(
        "--out",
        "-o",
        metavar="FILE",
        help="where to write: CSV, or Parquet by its ending (standard output)",
    )
    parser.add_argument("--proba", action="store_true", help="probabilities of the classes too")
    parser.add_argument(
        "--keep",
        type=named_list,
        default=[],
        metavar="COLUMNS",
        help="columns of the table to carry over",
    )


def run(arguments: Any) -> None:
    check_writable(arguments.out)
    model = table_model(arguments.model, arguments.trust)
    frame = read(arguments)
    answers = answers_of(arguments, model, frame)
    if arguments.out is not None:
        with written(arguments.out) as place:
            if arguments.out.lower().endswith((".parquet", ".pq")):
                answers.to_parquet(place, index=False)
            else:
                answers.to_csv(place, index=False)
        say(arguments, f"{arguments.out}: answers for {len(answers):,} rows")
        if arguments.json:
            print(json_text({"out": arguments.out, "rows": len(answers)}))
    elif arguments.json:
        print(json_text(answers.to_dict(orient="records")))
    else:
        answers.to_csv(sys.stdout, index=False, lineterminator="\n")


def answers_of(arguments: Any, model: Any, frame: Any) -> Any:
    """A table of answers: kept columns, the prediction, probabilities."""
    import pandas as pd

    names = [str(name) for name in frame.columns]
    absent = [name for name in arguments.keep if name not in names]
    if absent:
        raise UserError(f"--keep: there is no column {absent[0]!r}; {hint(absent[0], names)}")
    target = model.target or "prediction"
    columns = {name: frame[name].to_numpy() for name in arguments.keep}
    if target in columns:
        target = f"predicted {target}"
    said = model.predict(frame)
    if said.ndim == 2:
        columns |= {f"{target}_{place}": said[:, place] for place in range(said.shape[1])}
    else:
        columns[target] = said
    if arguments.proba:
        if not model.is_classifier or not hasattr(model.model, "predict_proba"):
            raise UserError(f"{arguments.model} gives no probabilities: leave --proba out")
        proba = model.predict_proba(frame)
        columns |= {f"P({label})": proba[:, place] for place, label in enumerate(model.classes_)}
    return pd.DataFrame(columns)
