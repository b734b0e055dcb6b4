"""A whole study: its results, that they are reproducible, and that test rows are not used for fitting."""

import json

import numpy as np
import pandas as pd
import pytest
from friedman_tables import heights
from stand_ins import Failing, Spy, constant, linear, method, tree

from bosquet import Study
from bosquet.datasets import Friedman1, Twonorm

WITHOUT_CLOCK = ["fit_seconds", "predict_microseconds"]


def flowers(n=150, seed=0):
    random = np.random.default_rng(seed)
    kind = random.integers(0, 2, n)
    return pd.DataFrame(
        {
            "length": kind + random.normal(size=n),
            "colour": pd.Categorical(np.where(random.random(n) < 0.3 + 0.4 * kind, "red", "blue")),
            "noise": random.normal(size=n),
            "name": np.where(kind == 1, "rose", "daisy"),
        }
    )


def study_of_two_methods(**more):
    """Return a small study without a time limit."""
    settings = {
        "budget": None,
        "repeats": 3,
        "verbose": 0,
        "methods": [constant(), linear(), tree()],
    }
    return Study(**{**settings, **more})


@pytest.fixture(scope="module")
def of_numbers():
    return study_of_two_methods().fit(heights(), "y")


def test_the_table_has_every_method_best_first_with_differences_to_the_best(of_numbers):
    table = of_numbers.table_
    assert list(table.index) == ["linear", "stub-tree", "constant"]
    assert table["rmse"].is_monotonic_increasing
    assert np.isnan(table["difference"].iloc[0])
    assert table["difference"].iloc[2] == pytest.approx(
        table["rmse"].iloc[2] - table["rmse"].iloc[0]
    )
    assert table["distinguishable"].iloc[2]
    assert (table["splits"] == 3).all()
    assert {"mae", "r2", "median_error"} <= set(table.columns)


def test_the_record_is_json_and_agrees_with_the_table(of_numbers):
    record = json.loads(json.dumps(of_numbers.record_, allow_nan=False))
    assert [m["name"] for m in record["methods"]] == list(of_numbers.table_.index)
    assert record["repeats"] == 3
    assert record["metric"]["name"] == "rmse"
    assert record["chosen"]["name"] == "linear"
    assert len(record["methods"][0]["scores"]) == 3
    first = record["methods"][1]
    assert [point["chosen"] for point in first["curve"]["points"]].count(True) == 1


def test_the_chosen_model_is_explained(of_numbers):
    chosen = of_numbers.record_["chosen"]
    features = [one["feature"] for one in chosen["importances"]]
    assert chosen["importances"][0]["value"] == 100
    assert "c3" in features[:2]  # Friedman's 10 x4: the strongest linear part
    assert {"worst", "outlier", "typical"} == {row["kind"] for row in chosen["rows"]}
    worst = [row for row in chosen["rows"] if row["kind"] == "worst"]
    assert worst[0]["score"] == max(row["score"] for row in worst)
    assert chosen["tree"]["children"]
    assert "surrogate tree" in chosen["tree_title"]
    curve = chosen["learning_curve"]
    assert curve[-1]["rows"] == 120
    assert chosen["dependence"][0]["feature"] == features[0]
    assert len(chosen["dependence"][0]["grid"]) == len(chosen["dependence"][0]["mean"])


def test_the_best_model_predicts_from_the_raw_table(of_numbers):
    table = heights()
    predictions = of_numbers.predict(table.drop(columns="y"))
    assert np.corrcoef(predictions, table["y"])[0, 1] > 0.7
    assert (of_numbers.best_.predict(table) == predictions).all()
    assert (of_numbers.predict(table[table.columns[::-1]]) == predictions).all()


def test_the_same_study_gives_the_same_table_whatever_n_jobs():
    tables = [
        study_of_two_methods(n_jobs=n_jobs, methods=["cart", "lda"], repeats=2)
        .fit(flowers(), "name")
        .table_
        for n_jobs in (1, 2)
    ]
    one, two = (table.drop(columns=WITHOUT_CLOCK) for table in tables)
    pd.testing.assert_frame_equal(one, two)


def test_another_seed_gives_other_splits():
    one = study_of_two_methods(random_state=1, repeats=1, methods=[linear()]).fit(heights(40), "y")
    other = study_of_two_methods(random_state=2, repeats=1, methods=[linear()]).fit(
        heights(40), "y"
    )
    assert one.splits_[0][1].tolist() != other.splits_[0][1].tolist()


def test_polars_arrow_and_arrays_give_the_table_that_pandas_gives():
    import polars
    import pyarrow

    frame = heights(60)
    X, y = frame.drop(columns="y"), frame["y"]
    given = [
        (frame, "y"),
        (polars.from_pandas(frame), "y"),
        (pyarrow.Table.from_pandas(frame), "y"),
        (X, y),
        (X.to_numpy(), y.to_numpy()),
    ]
    tables = []
    for table, target in given:
        study = study_of_two_methods(repeats=1, methods=[linear()]).fit(table, target)
        tables.append(study.table_.drop(columns=WITHOUT_CLOCK))
        assert study.predict(table).shape == (60,)
    for other in tables[1:]:
        pd.testing.assert_frame_equal(tables[0], other)


def test_no_test_row_reaches_a_fit_of_its_split():
    Spy.fitted.clear()
    Spy.predicted.clear()
    frame = heights(100).assign(c0=np.arange(100.0))  # rows are identified by their first column
    spying = method("spy", lambda shape, value, seed: Spy(), (1, 2))
    study = study_of_two_methods(methods=[constant(), spying], repeats=2, n_jobs=1).fit(frame, "y")
    tests = [set(map(float, test)) for _, test in study.splits_]
    trains = [set(map(float, train)) for train, _ in study.splits_]
    # Every fit uses only training rows of one split, except for the final model.
    whole = [rows for rows in Spy.fitted if len(rows) == 100]
    parts = [rows for rows in Spy.fitted if len(rows) < 100]
    assert len(whole) <= 1
    for rows in parts:
        assert any(rows <= train for train in trains)
    # Tuning predicts only training rows; test rows are predicted together.
    for rows in Spy.predicted:
        for train, test in zip(trains, tests, strict=True):
            if rows & test and rows <= test:
                break
            if rows <= train:
                break
        else:
            pytest.fail("rows of a test part were mixed with others")


def test_a_method_that_fails_is_reported_and_the_study_continues():
    failing = method("failing", lambda shape, value, seed: Failing())
    study = study_of_two_methods(methods=[linear(), failing]).fit(heights(), "y")
    assert study.table_.loc["failing", "status"] == "failed"
    assert "it does not" in study.table_.loc["failing", "message"]
    assert "\n" not in study.table_.loc["failing", "message"]
    assert study.table_.index[-1] == "failing"
    assert "constant" in study.table_.index  # always in the table


def test_a_method_that_does_not_suit_is_left_out_with_its_reason():
    unsuited = method(
        "odd", lambda shape, value, seed: None, why_unsuited=lambda shape: "too few rows"
    )
    study = study_of_two_methods(methods=[linear(), unsuited]).fit(heights(), "y")
    assert study.table_.loc["odd", "status"] == "unsuited"
    assert study.table_.loc["odd", "message"] == "too few rows"


def test_an_expensive_method_gets_a_subsample_and_a_note_reports_it():
    expensive = method(
        "expensive",
        lambda shape, value, seed: linear().candidates(shape)[0].make(seed),
        rows_affordable=lambda shape, seconds: 2000,
    )
    study = study_of_two_methods(methods=[linear(), expensive], repeats=1).fit(heights(3000), "y")
    assert study.table_.loc["expensive", "rows"] == 2000
    assert study.table_.loc["linear", "rows"] == 2400
    assert any("Expensive on 2,000" in note for note in study.record_["notes"])


def test_the_bayes_rule_of_simulated_data_is_best_and_never_chosen():
    truth = Twonorm()
    X, y = truth.sample(600, random_state=0)
    study = study_of_two_methods(methods=[linear()]).fit(X, y, bayes=truth)
    assert study.table_.index[0] == "bayes"
    assert study.record_["chosen"]["name"] != "bayes"
    assert study.table_.loc["bayes", "accuracy"] > 0.95
    function = Friedman1(noise=1.0)
    X, y = function.sample(300, random_state=0)
    found = study_of_two_methods(methods=[linear()]).fit(
        X, y, bayes=lambda rows: function.mean(rows)
    )
    assert found.table_.loc["bayes", "rmse"] == pytest.approx(1.0, abs=0.2)


def test_one_split_is_compared_by_a_bootstrap_and_a_note_reports_it():
    study = study_of_two_methods(repeats=1).fit(heights(), "y")
    low, high = study.table_[["low", "high"]].iloc[0]
    assert low < study.table_["rmse"].iloc[0] < high
    assert study.table_.loc["constant", "distinguishable"]
    assert any(
        "bootstrap of the test rows of the first split" in note for note in study.record_["notes"]
    )


def test_a_failed_fit_leaves_the_study_unchanged():
    study = study_of_two_methods(repeats=1, methods=[linear()]).fit(heights(40), "y")
    before = study.table_
    with pytest.raises(ValueError, match="target column 'z' is not in the table"):
        study.fit(heights(), "z")
    assert study.table_ is before


def test_a_study_has_a_text_and_an_html_repr(of_numbers):
    text = str(of_numbers)
    assert "Linear" in text
    assert "chosen" in text
    assert of_numbers.record_["chosen"]["why"] in text
    page = of_numbers._repr_html_()
    assert page.count("<tr>") == 4
    assert "Study(" in repr(of_numbers)
    assert "Study(" in Study()._repr_html_()


def test_a_line_is_printed_per_finished_method_unless_verbose_is_0(capsys):
    study_of_two_methods(repeats=1, verbose=1).fit(heights(), "y")
    lines = capsys.readouterr().err.splitlines()
    assert "150 rows" in lines[0]
    assert [line.split()[0] for line in lines[2:5]] == ["Constant", "Linear", "Stub-tree"]
    assert "best so far" in lines[2]
    study_of_two_methods(repeats=1, methods=[linear()]).fit(heights(), "y")
    assert capsys.readouterr() == ("", "")


def test_the_page_is_written_from_the_record(of_numbers, tmp_path):
    path = of_numbers.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert path == str(tmp_path / "report.html")
    assert "<html" in page
    assert "Stub-tree" in page


def test_a_path_is_read_and_rows_keep_their_labels(tmp_path):
    frame = heights(60)
    frame.to_csv(tmp_path / "t.csv", index=False)
    quick = study_of_two_methods(methods=[linear()], repeats=1)
    read = quick.fit(tmp_path / "t.csv", "y").record_["chosen"]
    assert "counted from 1" in read["rows_called"]
    expected = quick.predict(frame)
    np.testing.assert_allclose(quick.predict(str(tmp_path / "t.csv")), expected)
    given = quick.fit(frame, "y").record_["chosen"]
    assert "counted from 0" in given["rows_called"]
    assert [row["row"] for row in given["rows"]] == [row["row"] - 1 for row in read["rows"]]
    named = quick.fit(frame.set_axis([f"r{k}" for k in range(60)]), "y").record_["chosen"]
    assert "index" in named["rows_called"]


def test_a_missing_file_is_named():
    with pytest.raises(ValueError, match=r"gone\.csv does not exist"):
        study_of_two_methods().fit("gone.csv", "y")
