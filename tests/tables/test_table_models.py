"""A model is saved and loaded together with the preparation of its table."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bosquet
from bosquet.io import ModelFileError, model_bytes, model_from_bytes
from bosquet.io.container import pack_members, unpack_members
from bosquet.tables import TableModel, tidy


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    n = 200
    size = random.uniform(0, 10, n)
    return pd.DataFrame(
        {
            "size": [f"{v:.3f}".replace(".", ",") for v in size],
            "when": pd.date_range("2024-01-01", periods=n).strftime("%d.%m.%Y"),
            "colour": random.choice(["red", "blue", None], n),
            "sold": np.where(size > 5, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def fitted(table):
    tidied = tidy(table, "sold")
    model = bosquet.GradientBoostingClassifier(n_estimators=10, random_state=0)
    return TableModel(
        model.fit(tidied.frame.drop(columns="sold"), tidied.frame["sold"]), tidied.tidier
    )


def test_a_saved_model_takes_the_same_tables(fitted, table, tmp_path):
    path = tmp_path / "model.bosquet"
    fitted.save(path)
    again = bosquet.load(path)
    assert repr(again) == "TableModel(GradientBoostingClassifier, target='sold')"
    assert again.is_classifier
    rows = table.drop(columns="sold")[:20]
    np.testing.assert_array_equal(again.predict_proba(rows), fitted.predict_proba(rows))
    assert (again.predict(rows) == table["sold"][:20]).all()
    assert again.explain(rows).values.shape == (20, len(again.tidier.feature_names))
    assert model_bytes(again) == model_bytes(fitted)


ROWS = {"size": ["1,0", "9,5"], "when": ["01.02.2024", None], "colour": ["red", "blue"]}


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        [dict(zip(ROWS, cells, strict=True)) for cells in zip(*ROWS.values(), strict=True)],
        ({"size": "1,0", "when": "01.02.2024", "colour": "red"}, {"colour": "blue", "size": 9.5}),
        pl.DataFrame(ROWS),
        pa.table(ROWS),
    ],
    ids=["dict of columns", "list of dicts", "dicts that lack a key", "polars", "arrow"],
)
def test_rows_in_other_containers_are_predicted_as_those_of_a_frame(fitted, rows):
    frame = pd.DataFrame(ROWS)
    np.testing.assert_array_equal(fitted.predict(rows), fitted.predict(frame))
    np.testing.assert_array_equal(fitted.predict_proba(rows), fitted.predict_proba(frame))
    np.testing.assert_array_equal(fitted.explain(rows).values, fitted.explain(frame).values)


def test_one_row_may_be_a_dict_and_rows_may_be_a_file(fitted, tmp_path):
    frame = pd.DataFrame(ROWS)
    one = {name: cells[0] for name, cells in ROWS.items()}
    np.testing.assert_array_equal(fitted.predict_proba(one), fitted.predict_proba(frame[:1]))
    frame.to_csv(tmp_path / "rows.csv", sep=";", index=False)
    assert fitted.predict(tmp_path / "rows.csv").tolist() == fitted.predict(frame).tolist()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["1,0", "01.02.2024", "red"]], "lacks the columns .* pass rows with column names"),
        (np.zeros((2, 3)), "pass rows with column names"),
        ([1, 2], "list with 1 dimension.* is not a table; pass a data frame"),
        ([], "is not a table"),
        (None, "NoneType .* is not a table"),
        (5, "int .* is not a table"),
        (pd.Series(ROWS["size"]), "X is a single column"),
        ({"size": [1, 2], "when": [3]}, "lists of the same length"),
        ({}, "lacks the columns"),
        ("gone.csv", "gone.csv does not exist"),
    ],
)
def test_an_invalid_table_raises_and_the_error_lists_the_accepted_types(fitted, rows, message):
    with pytest.raises(ValueError, match=message):
        fitted.predict(rows)


def test_damaged_plans_are_rejected(fitted):
    parts, metadata = unpack_members(model_bytes(fitted))
    plan = metadata["table"]
    wrong = [
        {},
        {"estimator": "TableModel"},
        metadata | {"table": None},
        metadata | {"table": plan | {"columns": plan["columns"][1:]}},
        metadata | {"table": plan | {"version": 99}},
    ]
    for one in wrong:
        with pytest.raises(ModelFileError):
            model_from_bytes(pack_members(parts, one))
    with pytest.raises(ModelFileError, match="one inner model"):
        model_from_bytes(pack_members(parts * 2, metadata))
    inside = pack_members([model_bytes(fitted)], metadata)
    with pytest.raises(ModelFileError, match="cannot be a member"):
        model_from_bytes(inside)


def test_a_model_of_other_columns_raises(fitted, table):
    tree = bosquet.DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="fitted to 1 columns"):
        TableModel(tree, fitted.tidier)


def test_models_of_other_libraries_cannot_be_written(fitted, tmp_path):
    from sklearn.dummy import DummyClassifier

    with pytest.raises(ValueError, match="Bosquet's own"):
        TableModel(DummyClassifier(), fitted.tidier).save(tmp_path / "model")
