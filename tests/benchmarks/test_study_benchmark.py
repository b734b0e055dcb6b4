"""The benchmark of the study: tables and splits, losses, intervals, ranks, and resuming a run."""

import sys

import numpy as np
import pandas as pd
import pytest

# The package sets it; other tests in this process count threads.
with pytest.MonkeyPatch.context() as patch:
    patch.setenv("OMP_NUM_THREADS", "2")
    from benchmarks import study, study_fit, study_report, study_tables
    from benchmarks.study_tables import DEVELOPMENT, FINAL, Table


@pytest.fixture
def flights():
    """Return a hundred days of ten rows, in random order."""
    random = np.random.default_rng(0)
    days = np.repeat(pd.date_range("2020-01-01", periods=100), 10)
    frame = pd.DataFrame(
        {"day": days, "x": random.normal(size=1000), "y": random.normal(size=1000)}
    )
    return frame.sample(frac=1, random_state=0)


def test_no_table_is_in_both_lists_and_both_have_every_kind():
    assert not set(DEVELOPMENT) & set(FINAL)
    for tables in (DEVELOPMENT, FINAL):
        assert {t.design for t in tables.values()} == {"random", "time", "group"}
        assert {t.metric for t in tables.values()} == {"log_loss", "rmse", "average_precision"}


def test_a_split_by_time_trains_on_the_rows_before_the_test_block(flights):
    table = Table("y", "rmse", time="day")
    latest = None
    for number in range(3):
        train, test = study_tables.split(flights, table, number)
        assert train["day"].max() < test["day"].min()
        assert train["day"].is_monotonic_increasing
        assert latest is None or test["day"].max() < latest
        latest = test["day"].min()
        assert len(test) == pytest.approx(150, abs=10)


def test_a_split_by_group_has_no_group_on_both_sides():
    frame = pd.DataFrame({"g": np.repeat(np.arange(40), 5), "y": np.arange(200.0)})
    train, test = study_tables.split(frame, Table("y", "rmse", group="g"), 0)
    assert not set(train["g"]) & set(test["g"])
    assert len(train) + len(test) == 200


def test_the_rarer_of_two_classes_is_class_1(tmp_path):
    pd.DataFrame({"y": np.array([1] * 9 + [0], dtype=np.int8), "x": np.arange(10)}).to_parquet(
        tmp_path / "data.parquet"
    )
    frame = study_tables.read(tmp_path / "data.parquet", Table("y", "average_precision"))
    assert frame["y"].tolist() == ["0"] * 9 + ["1"]


def test_losses_are_those_of_scikit_learn():
    from sklearn.metrics import average_precision_score, log_loss, root_mean_squared_error

    random = np.random.default_rng(0)
    y = random.choice(["0", "1"], size=50)
    p = random.uniform(0.01, 0.99, size=50)
    # The order of the columns is the model's.
    predictions = pd.DataFrame({"1": p, "0": 1 - p})
    weights = random.integers(0, 3, size=50)
    for metric, expected in (
        ("log_loss", log_loss(y, p, sample_weight=weights)),
        ("average_precision", 1 - average_precision_score(y == "1", p, sample_weight=weights)),
    ):
        values = study_report.row_losses(y, predictions, metric)
        assert study_report.loss(values, y, metric, weights) == pytest.approx(expected)
    numbers = random.normal(size=50)
    values = study_report.row_losses(numbers, pd.DataFrame({"prediction": p}), "rmse")
    assert study_report.loss(values, numbers, "rmse") == pytest.approx(
        root_mean_squared_error(numbers, p)
    )


def test_a_class_that_was_never_seen_costs_but_does_not_fail():
    values = study_report.row_losses(
        np.array(["a", "c"]), pd.DataFrame({"a": [1.0, 0.5], "b": [0.0, 0.5]}), "log_loss"
    )
    assert values[0] == 0
    assert values[1] == pytest.approx(-np.log(1e-15))


def test_the_interval_is_that_of_the_mean_and_wider_for_whole_groups():
    random = np.random.default_rng(0)
    y, ours, theirs = np.zeros(400), random.normal(1, 1, 400) ** 2, np.ones(400)
    group = np.repeat(np.arange(20), 20)
    shift = np.repeat(random.normal(0, 1, 20), 20)
    rows = study_report.draws_of_difference(ours, theirs, y, "log_loss", np.arange(400))
    low, high = study_report.interval({0: rows})
    half = 1.96 * ours.std() / np.sqrt(400)
    assert (high - low) / 2 == pytest.approx(half, rel=0.15)
    assert (high + low) / 2 == pytest.approx(ours.mean() - 1, abs=0.2 * half)
    by_row, by_group = (
        np.ptp(study_report.interval(
            {0: study_report.draws_of_difference(ours + shift, theirs, y, "log_loss", units)}
        ))
        for units in (np.arange(400), group)
    )  # fmt: skip
    assert by_group > 1.5 * by_row


def lines_of(losses, split=0):
    return [
        {
            "table": table, "split": split, "system": system, "training rows": 10, "chosen": "cart",
            "seconds": 1.0, "predict seconds": 0.1, "megabytes": 1, "version": "1", "loss": loss,
        }
        for table, by_system in losses.items()
        for system, loss in by_system.items()
    ]  # fmt: skip


def test_ranks_share_ties_and_put_a_failed_system_last():
    lines = lines_of({"abalone": {"study": 1.0, "FLAML": 1.0, "LightGBM": 2.0, "AutoGluon": 9.0}})
    del lines[-1]["loss"]
    systems = ["study", "FLAML", "LightGBM", "AutoGluon"]
    means = study_report.mean_losses(lines, ["abalone"], systems)
    assert study_report.ranks(means, systems) == {
        "abalone": {"study": 1.5, "FLAML": 1.5, "LightGBM": 3.0, "AutoGluon": 4.0}
    }


@pytest.mark.parametrize(
    ("draws", "verdict"), [((0.1, 0.3), "no, on abalone"), ((-0.1, 0.3), "yes")]
)
def test_the_report_has_mean_ranks_and_the_verdict_on_default_boosting(draws, verdict):
    lines = lines_of({
        "abalone": {"study": 2.0, "FLAML": 1.0, "default boosting": 1.8},
        "satellite": {"study": 1.0, "FLAML": 2.0, "default boosting": 1.8},
    })  # fmt: skip
    differences = {("abalone", "default boosting"): {0: np.linspace(*draws, 100)}}
    machine = {"date": "", "processor": "", "cores": 2, "threads": 2, "system": "", "python": "",
               "versions": {}, "load": 0}  # fmt: skip
    text = study_report.report(lines, differences, machine, 120)
    assert "| **mean rank, development** (1 tables) | **2.00** | **1.00** |" in text
    assert "| **mean rank, all** (2 tables) | **1.50** | **1.50** |" in text
    assert f"beyond noise, on 2 tables: **{verdict}**" in text


def test_a_study_that_failed_counts_as_worse_than_default_boosting():
    means = {"abalone": {"study": np.inf, "default boosting": 1.0}}
    assert "**no, on abalone**" in study_report.verdict(means, {})


def test_a_table_that_a_system_has_not_run_on_yet_is_left_out():
    lines = lines_of({"abalone": {"study": 1.0, "FLAML": 1.0}, "adult": {"study": 1.0}})
    lines += lines_of({"spambase": {"study": 1.0, "FLAML": 1.0}})
    lines += lines_of({"spambase": {"study": 1.0}}, split=1)
    assert study_report.complete_tables(lines, ["study", "FLAML"]) == (
        ["abalone"],
        ["spambase", "adult"],
    )


@pytest.fixture
def folder_of_tables(tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({
        "x": random.normal(size=300), "c": pd.Categorical(random.choice(["u", "v"], size=300)),
        "when": pd.date_range("2020-01-01", periods=300),
    })  # fmt: skip
    frame["y"] = np.where(frame["x"] + random.normal(size=300) > 0, "yes", "no")
    (tmp_path / "data/made").mkdir(parents=True)
    frame.to_parquet(tmp_path / "data/made/data.parquet")
    monkeypatch.setitem(study_tables.TABLES, "made", Table("y", "log_loss", time="when"))
    return tmp_path


def test_a_stopped_run_continues_and_skips_packages_that_are_not_installed(
    folder_of_tables, capsys
):
    data, out, nowhere = (folder_of_tables / name for name in ("data", "out", "nowhere"))
    out.mkdir()
    systems = ["default boosting", "FLAML"]
    settings = {"tables": ["made"], "splits": [0], "seconds": 1, "systems": systems}
    lines = study.measure(data, out, settings, nowhere)
    assert [line["system"] for line in lines] == ["default boosting"]
    assert 0 < lines[0]["loss"] < 0.69
    assert "FLAML is not installed" in capsys.readouterr().out
    kept = (out / "lines.jsonl").read_text()
    # The run was interrupted in the middle of a line.
    (out / "lines.jsonl").write_text(kept + kept[:30])
    again = study.measure(data, out, settings, nowhere)
    assert again == lines
    assert "default boosting |" not in capsys.readouterr().out
    assert (out / "lines.jsonl").read_text() == kept


def test_a_fit_that_fails_is_a_line_with_its_error(folder_of_tables, tmp_path):
    job = {"train": "nowhere.parquet", "test": "nowhere.parquet", "seconds": 1}
    outcome = study.fitted("default boosting", job, tmp_path, tmp_path)
    assert "nowhere.parquet" in outcome["error"]


def test_an_unknown_table_name_raises():
    with pytest.raises(SystemExit, match=r"--tables adlt: there is no such list or table"):
        study.table_names(["adlt"])
    assert study.table_names(["abalone", "final"]) == ["abalone", *FINAL]


def test_dates_become_elapsed_days_and_unknown_levels_missing(tmp_path):
    train = pd.DataFrame(
        {"d": pd.date_range("2000-01-02", periods=2), "c": pd.Categorical(["a", "b"])}
    )
    test = pd.DataFrame({"d": train["d"], "c": pd.Categorical(["b", "z"])})
    train.to_parquet(tmp_path / "train")
    test.to_parquet(tmp_path / "test")
    X, X_test = study_fit.read_tables({"train": tmp_path / "train", "test": tmp_path / "test"})
    assert study_fit.dates_as_days(X)["d"].tolist() == [1.0, 2.0]
    assert X_test["c"].cat.codes.tolist() == [1, -1]


def test_the_systems_of_the_project_run_in_its_own_interpreter(tmp_path):
    assert str(study.interpreter("study", tmp_path)) == sys.executable
    assert study.interpreter("FLAML", tmp_path) == tmp_path / "flaml/bin/python"
