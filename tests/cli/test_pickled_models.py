"""A chosen scikit-learn model is pickled with the preparation of its table, and loaded only with --trust."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest

from bosquet.cli import main


@pytest.fixture(scope="module")
def pickle_path(counted_study, sales, tmp_path_factory):
    """The pickle of a linear regression, written by `study --save`."""
    folder = tmp_path_factory.mktemp("linear")
    command = counted_study(sales, "price", "linear", 1)
    command += ["--no-report", "--save", folder / "best.bosquet", "-q"]
    assert main([str(word) for word in command]) == 0
    return folder / "best.bosquet.pkl"


def test_the_study_reports_the_saved_file_and_how_to_use_it(
    run_command, counted_study, sales, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    command = counted_study(sales, "price", "linear", 1)
    code, stdout, err = run_command(*command, "-q", "--no-report", "--save", "best.bosquet")
    assert code == 0, err
    assert (
        "best.bosquet was not written, because Linear regression (ridge) is a model of scikit-learn, and a"
        " model file holds Bosquet's own models only. To get a model file, pass"
        " --methods gradient-boosting,random-forest,cart. Model, with" in stdout
    )
    assert "bosquet predict best.bosquet.pkl NEW.csv --trust" in stdout
    assert [path.name for path in tmp_path.iterdir()] == ["best.bosquet.pkl"]


def test_predict_reads_it_with_the_preparation_of_its_table(run_command, sales, pickle_path):
    code, stdout, err = run_command("predict", pickle_path, sales, "--trust", "--json")
    assert code == 0, err
    stdout = [row["price"] for row in json.loads(stdout)]
    frame = pd.read_csv(sales, sep=";", decimal=",")
    assert np.corrcoef(stdout, frame["price"])[0, 1] > 0.9


def test_explain_gives_reasons_that_add_up(run_command, sales, pickle_path):
    found = json.loads(
        run_command("explain", pickle_path, sales, "--row", 3, "--trust", "--json")[1]
    )
    total = found["base"] + sum(reason["effect"] for reason in found["reasons"])
    assert total == pytest.approx(found["prediction"])
    ranking = json.loads(run_command("explain", pickle_path, sales, "--trust", "--json")[1])[
        "importances"
    ]
    assert ranking[0]["feature"] == "size"


def test_info_and_verify_describe_it(run_command, pickle_path):
    code, stdout, _ = run_command("info", pickle_path, "--trust")
    assert code == 0
    assert "Linear regression" in stdout
    assert "left out: identifier" in stdout
    code, stdout, _ = run_command("verify", pickle_path, "--trust")
    assert code == 0
    assert "no checksum" in stdout


@pytest.mark.parametrize("command", ["predict", "explain", "info", "verify"])
def test_no_pickle_runs_unless_it_is_trusted(run_command, sales, tmp_path, command):
    class Evil:
        def __reduce__(self):
            return open, (str(tmp_path / "harm"), "w")

    (tmp_path / "m.bosquet").write_bytes(pickle.dumps(Evil()))
    words = [
        command,
        tmp_path / "m.bosquet",
        *([sales] if command in ("predict", "explain") else []),
    ]
    code, stdout, err = run_command(*words)
    assert (code, stdout) == (2, "")
    assert "add --trust" in err
    assert err.count("\n") == 1
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pickle.dumps({"a": 1}), "contains a dict, not a model"),
        (b"\x80\x05abc", "cannot be loaded"),
    ],
)
def test_a_pickle_of_something_else_is_one_line(run_command, sales, tmp_path, data, message):
    (tmp_path / "m.pkl").write_bytes(data)
    code, _, err = run_command("predict", tmp_path / "m.pkl", sales, "--trust")
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_a_pickled_pipeline_takes_its_columns_by_name(run_command, sales, tmp_path):
    from sklearn.linear_model import LinearRegression

    frame = pd.read_csv(sales, sep=";", decimal=",")
    model = LinearRegression().fit(frame[["size"]], frame["price"])
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(model))
    code, stdout, err = run_command("predict", tmp_path / "m.pkl", sales, "--trust")
    assert code == 0, err
    np.testing.assert_allclose(
        [float(w) for w in stdout.split()[1:]], model.predict(frame[["size"]])
    )
