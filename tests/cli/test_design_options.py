"""Options for the design of the rows, and the score on a test file."""

import json

import numpy as np
import pandas as pd
import pytest

STUDY = ["study", "t.csv", "-t", "y", "--methods", "constant,logistic", "--budget", "none", "-q"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    n = 240
    frame = pd.DataFrame(
        {
            "a": random.normal(size=n),
            "b": random.choice(["u", "v"], n),
            "day": pd.date_range("2024-01-01", periods=n).strftime("%Y-%m-%d"),
            "who": [f"p{i % 30}" for i in range(n)],
            "w": random.gamma(2, size=n).round(3),
        }
    )
    frame["y"] = np.where(frame["a"] + random.normal(size=n) > 0, "yes", "no")
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame[:100].to_csv(tmp_path / "later.csv", index=False)
    frame[:100].drop(columns="a").to_csv(tmp_path / "other.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_test_file_is_scored_and_one_with_other_columns_is_rejected(run_command, folder):
    words = [*STUDY, "--no-report", "--repeats", "1"]
    code, stdout, _ = run_command(*words, "--test", "later.csv", "--json")
    assert code == 0
    assert json.loads(stdout)["test_table"]["n_rows"] == 100
    assert "On the 100 rows of the test table" in run_command(*words, "--test", "later.csv")[1]
    code, stdout, err = run_command(*words, "--test", "other.csv")
    assert (code, stdout, err.count("\n")) == (2, "", 1)
    assert "the test table lacks the column 'a'" in err


@pytest.mark.parametrize("option", ["--time day", "--group who", "--weight w"])
def test_a_study_follows_the_design_that_is_given(run_command, folder, option):
    words = [*STUDY, "--no-report", "--repeats", "2", "--json", *option.split()]
    code, stdout, err = run_command(*words)
    assert code == 0, err
    record = json.loads(stdout)
    proposed = record["exploration"]["proposed"]
    assert option.split()[0][2:] not in proposed
    assert all(method["status"] == "done" for method in record["methods"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--time dayy", "the time column 'dayy' is not in the table; did you mean 'day'?"),
        ("--time b", "neither dates nor finite numbers, such as"),
        ("--group b", "2 groups, but cross-validation with 5 folds"),
        ("--weight a", "weights must be >= 0"),
        ("--weight zero", "is 0 in all rows"),
        ("--split b", "must contain the words train and test"),
        ("--time day --split b", "pass only one of them"),
    ],
)
def test_a_design_that_cannot_be_used_is_one_line_and_exit_code_2(
    run_command, folder, options, message
):
    frame = pd.read_csv("t.csv").assign(zero=0)
    frame.to_csv("t.csv", index=False)
    code, stdout, err = run_command(*STUDY, "--report", "out.html", *options.split())
    assert (code, stdout, err.count("\n")) == (2, "", 1)
    assert message in err
    assert not (folder / "out.html").exists()


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"who": "p1"}, "--group who", "has 1 groups, but cross-validation with 5 folds"),
        ({"w": "heavy"}, "--weight w", "the weight column 'w' is not numeric"),
        ({"w": [-1.0, *[1.0] * 239]}, "--weight w", "'w' is -1 in row 1; weights must be"),
        (
            {"w": [None, *[1.0] * 239]},
            "--weight w",
            "'w' has missing values in 1 row; fill them in",
        ),
        ({"day": ["soon", *["2024-01-01"] * 239]}, "--time day", "such as 'soon'"),
        (
            {"day": "2024-01-01"},
            "--time day",
            "has the same value in all rows, so there are no later rows",
        ),
        (
            {"who": [f"p{i % 6}" for i in range(240)]},
            "--time day --group who",
            "pass only time or only group",
        ),
        (
            {"y": ["odd", *["no", "yes"] * 119, "no"]},
            "",
            "'y' has 1 class with a single row ('odd'), but every class needs at least two",
        ),
        ({"w": [1, 1, *[0] * 238]}, "--weight w", "but at least 10 are needed; add rows"),
        ({}, "--exposure w", "exposure needs a numeric target, but the task is classification"),
        (
            {"y": range(240)},
            "--exposure zero",
            "'zero' is 0 in row 1; an exposure must be positive",
        ),
        ({"y": range(240)}, "--offset b", "the offset column 'b' is not numeric"),
        ({"y": range(240)}, "--offset w --exposure w", "pass only one of them"),
        ({}, "--weight w --test other.csv", "the test table lacks the column 'a'"),
        ({}, "--weight w --test unweighted.csv", "the test table lacks the column 'w'"),
        ({}, "--weight w --test negative.csv", "in the test table the weight column 'w' is -1"),
        ({}, "--test text.csv", "column 'a' was numeric in training, but now has text"),
        ({}, "--test classes.csv", "no row of the test table has a known class of 'y'"),
    ],
)
def test_bad_input_of_a_design_is_one_line_and_exit_code_2(
    run_command, folder, change, options, message
):
    frame = pd.read_csv("t.csv").assign(zero=0)
    later = frame[:60]
    later.drop(columns="w").to_csv("unweighted.csv", index=False)
    later.assign(w=-1).to_csv("negative.csv", index=False)
    later.assign(a="much").to_csv("text.csv", index=False)
    later.assign(y="perhaps").to_csv("classes.csv", index=False)
    frame.assign(**change).to_csv("t.csv", index=False)
    code, stdout, err = run_command(*STUDY, "--no-report", "--repeats", "1", *options.split())
    assert (code, stdout, err.count("\n")) == (2, "", 1), err
    assert message in err


def test_rows_of_weight_zero_are_left_out(run_command, folder):
    frame = pd.read_csv("t.csv")
    frame["w"] = np.where(np.arange(240) < 40, 0.0, 1.0)
    frame.to_csv("t.csv", index=False)
    words = [*STUDY, "--no-report", "--repeats", "1", "--json", "--weight", "w"]
    code, stdout, _ = run_command(*words)
    record = json.loads(stdout)
    assert (code, record["n_rows"]) == (0, 200)
    assert "40 rows of weight 0 left out." in record["notes"]
    # A class of total weight 0 has no rows.
    frame["w"] = np.where(frame["y"] == "yes", 0.0, 1.0)
    frame.to_csv("t.csv", index=False)
    code, stdout, err = run_command(*words)
    assert (code, err.count("\n")) == (2, 1)
    assert "the target 'y' is no in every row" in err


def test_counts_are_studied_with_an_exposure_and_predicted_with_it(run_command, folder):
    frame = pd.read_csv("t.csv")
    frame["n"] = np.random.default_rng(0).poisson(frame["w"] * np.exp(frame["a"]))
    frame.to_csv("t.csv", index=False)
    words = ["study", "t.csv", "-t", "n", "--exposure", "w", "--methods", "constant,poisson,cart"]
    words += ["--budget", "none", "--repeats", "1", "--no-report", "-q", "--save", "m.bosquet"]
    code, stdout, err = run_command(*words)
    assert code == 0, err
    assert "unsuited: it does not take an offset" in stdout
    assert "because a model file cannot hold a model with an exposure. Model, with" in stdout
    command = ["predict", "m.bosquet.pkl", "--trust"]
    code, once, _ = run_command(*command, "t.csv")
    frame.assign(w=2 * frame["w"]).to_csv("twice.csv", index=False)
    twice = run_command(*command, "twice.csv")[1]
    numbers = [np.array(text.split()[1:], dtype=float) for text in (once, twice)]
    assert numbers[1] == pytest.approx(2 * numbers[0])
    frame.drop(columns="w").to_csv("without.csv", index=False)
    code, stdout, err = run_command(*command, "without.csv")
    assert (code, stdout, err.count("\n")) == (2, "", 1)
    assert "the exposure column 'w' is not in the table" in err
