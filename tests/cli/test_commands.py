"""Every command returns its result as text and as JSON."""

import json
import os

import numpy as np
import pandas as pd
import pytest

import bosquet


def test_fit_writes_a_model_that_predict_reads(run_command, sales, model, tmp_path):
    out = tmp_path / "predictions.csv"
    assert (
        run_command("predict", model, sales, "--proba", "--keep", "order,sold", "--out", out)[0]
        == 0
    )
    predictions = pd.read_csv(out)
    assert predictions.columns.tolist() == ["order", "sold", "predicted sold", "P(no)", "P(yes)"]
    assert (predictions["sold"] == predictions["predicted sold"]).mean() > 0.85
    np.testing.assert_allclose(predictions["P(no)"] + predictions["P(yes)"], 1)
    loaded = bosquet.load(model)
    assert (
        loaded.predict(pd.read_csv(sales, sep=";", decimal=",")) == predictions["predicted sold"]
    ).all()


def test_fit_reports_scores_on_a_test_set(run_command, sales, tmp_path):
    out = tmp_path / "m.bosquet"
    code, output, _ = run_command(
        "fit", sales, "-t", "price", "--method", "random-forest", "--set", "n_estimators=30", "--set",
        "max_depth=none", "--holdout", "0.25", "-o", out, "--json",
    )  # fmt: skip
    found = json.loads(output)
    assert (code, found["task"], found["bytes"]) == (0, "regression", os.path.getsize(out))
    assert found["holdout"]["r2"] > 0.9


def test_fit_reports_precision_and_recall_of_the_positive_class(run_command, sales, tmp_path):
    words = [
        "fit",
        sales,
        "-t",
        "sold",
        "--method",
        "tree",
        "--holdout",
        "0.5",
        "-o",
        tmp_path / "m",
    ]
    _, output, _ = run_command(*words, "--set", "max_depth=1", "--positive", "no")
    assert "precision of 'no' 0." in output
    found = json.loads(run_command(*words, "--positive", "yes", "--json")[1])
    assert found["positive"] == "yes"
    assert found["holdout"]["recall"] > 0.6


@pytest.mark.parametrize(
    "method", ["gradient-boosting", "random-forest", "extra-trees", "bagging", "adaboost", "tree"]
)
@pytest.mark.parametrize("target", ["sold", "price"])
def test_every_method_goes_to_a_file_and_back(run_command, sales, tmp_path, method, target):
    out = tmp_path / "m.bosquet"
    few = ["--set", "n_estimators=5"] if method != "tree" else ["--set", "max_depth=3"]
    assert run_command("fit", sales, "-t", target, "--method", method, *few, "-o", out)[0] == 0
    assert run_command("verify", out)[0] == 0
    code, output, _ = run_command("predict", out, sales)
    assert code == 0
    assert output.splitlines()[0] == target
    assert len(output.splitlines()) == 241


def test_predict_writes_json_and_parquet(run_command, sales, model, tmp_path):
    code, output, _ = run_command("predict", model, sales, "--json")
    assert code == 0
    assert {row["sold"] for row in json.loads(output)} == {"yes", "no"}
    out = tmp_path / "predictions.parquet"
    assert run_command("predict", model, sales, "--out", out, "-q")[0] == 0
    assert pd.read_parquet(out)["sold"].tolist() == [row["sold"] for row in json.loads(output)]


def test_predict_takes_models_saved_in_python(run_command, tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [0.5, 0, 1, 0], "y": [1.0, 2, 3, 4]})
    bosquet.DecisionTreeRegressor().fit(frame[["a", "b"]], frame["y"]).save(tmp_path / "m.bosquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    code, output, _ = run_command("predict", tmp_path / "m.bosquet", tmp_path / "t.csv")
    assert (code, output.split()) == (0, ["prediction", "1.0", "2.0", "3.0", "4.0"])


def test_explain_ranks_columns(run_command, sales, model):
    code, output, _ = run_command("explain", model, sales, "--json")
    ranking = json.loads(output)["importances"]
    assert (code, ranking[0]["feature"]) == (0, "size")
    assert "size" in run_command("explain", model, sales, "--top", "2")[1]


def test_explain_gives_the_reasons_of_a_row_that_add_up(run_command, sales, model):
    found = json.loads(run_command("explain", model, sales, "--row", 7, "--json")[1])
    assert found["base"] + sum(r["effect"] for r in found["reasons"]) == pytest.approx(found["raw"])
    text = run_command("explain", model, sales, "--row", 7, "--top", 2)[1]
    assert "row 7: " in text
    assert "other columns" in text


def test_explain_takes_a_class_of_several(run_command, tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": random.normal(size=90), "z": random.normal(size=90)})
    frame["y"] = np.select([frame["x"] < -0.5, frame["x"] < 0.5], ["a", "b"], "c")
    frame.to_csv(tmp_path / "t.csv", index=False)
    run_command(
        "fit", tmp_path / "t.csv", "-t", "y", "--method", "random-forest", "-o", tmp_path / "m"
    )
    found = json.loads(
        run_command(
            "explain", tmp_path / "m", tmp_path / "t.csv", "--row", 1, "--class", "b", "--json"
        )[1]
    )
    assert found["explained"] == "y = b"
    code, _, err = run_command(
        "explain", tmp_path / "m", tmp_path / "t.csv", "--row", 1, "--class", "d"
    )
    assert code == 2
    assert "available: 'a', 'b', 'c'" in err


def test_tree_prints_text_graphs_sql_python_and_pictures(run_command, sales, tmp_path):
    words = ["tree", sales, "-t", "sold", "--drop", "price"]
    code, output, err = run_command(*words)
    assert code == 0
    assert "size <=" in output
    assert "leaves kept by" in err
    assert run_command(*words, "--dot")[1].startswith("digraph tree {")
    assert "CASE WHEN" in run_command(*words, "--sql")[1]
    assert "def " in run_command(*words, "--python")[1]
    assert json.loads(run_command(*words, "--json")[1])["rules"][0]["conditions"]
    picture = tmp_path / "tree.png"
    assert run_command(*words, "--png", picture)[0] == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert run_command(*words, "--sql", "--out", tmp_path / "t.sql")[0] == 0
    assert "CASE WHEN" in (tmp_path / "t.sql").read_text()


def test_verify_distinguishes_valid_and_damaged_files(run_command, model, tmp_path):
    assert "a valid model file" in run_command("verify", model)[1]
    assert json.loads(run_command("verify", model, "--json")[1])["whole"] is True
    data = bytearray(model.read_bytes())
    for damaged in (data[:-5], data[:40], b"", bytes(data[:100]) + b"\x00" + bytes(data[101:])):
        (tmp_path / "damaged").write_bytes(damaged)
        code, output, err = run_command("verify", tmp_path / "damaged")
        assert (code, output) == (2, "")
        assert err.count("\n") == 1


def test_info_describes_the_machine_models_and_tables(run_command, sales, model):
    found = json.loads(run_command("info", "--json")[1])
    assert found["bosquet"] == bosquet.__version__
    assert found["cores"] >= 1
    assert "instruction set" in run_command("info")[1]
    reported = json.loads(run_command("info", model, "--json")[1])
    assert (reported["target"], reported["classes"]) == ("sold", ["no", "yes"])
    assert "left out: identifier" in run_command("info", model)[1]
    described = json.loads(run_command("info", sales, "--json")[1])
    assert described["reading"]["decimal"] == ","
    assert [c["kind"] for c in described["described"]] == [
        "identifier", "number", "category", "date", "number", "category",
    ]  # fmt: skip


def test_bench_measures_every_installed_library(run_command, monkeypatch):
    from types import SimpleNamespace

    from bosquet.cli.commands import bench

    usual = bench.importlib.import_module

    def without_peers(name):  # importing them is slow
        if name.split(".")[0] not in ("bosquet", "sklearn"):
            raise ImportError(name)
        return usual(name)

    monkeypatch.setattr(bench, "importlib", SimpleNamespace(import_module=without_peers))
    words = ["bench", "--rows", 400, "--rounds", 3, "--turns", 1, "--jobs", 1, "-q"]
    code, output, _ = run_command(*words, "--json")
    results = json.loads(output)["results"]
    assert code == 0
    assert set(results) == {"Bosquet", "scikit-learn"}
    assert all(result["fit"] > 0 and result["log_loss"] < 1 for result in results.values())
    assert "relative to Bosquet" in bench.results_table(json.loads(output))


def test_study_writes_a_report_and_a_model(run_command, sales, tmp_path):
    page, saved = tmp_path / "page.html", tmp_path / "best.bosquet"
    words = [
        "study", sales, "--target", "sold", "--drop", "price", "--methods", "cart", "--budget", "none",
        "--repeats", 1, "-o", page, "--save", saved, "--positive", "no",
    ]  # fmt: skip
    code, output, err = run_command(*words)
    assert code == 0, err
    assert "CART" in output
    assert "1 split with 48 test rows, " in output
    assert "positive class 'no'" in err
    assert "positive class “no”" in page.read_text(encoding="utf-8")
    assert str(page) in output
    assert "CART" in err  # results are printed during the study
    assert page.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html")
    code, output, _ = run_command("predict", saved, sales)
    assert (code, output.splitlines()[0]) == (0, "sold")


def test_study_prints_json_and_resumes_from_a_checkpoint(run_command, sales, tmp_path):
    words = [
        "study", sales, "-t", "price", "--methods", "linear", "--budget", "none", "--repeats", 2, "--metric",
        "mae", "--no-report", "--resume", tmp_path / "checkpoint", "--json",
    ]  # fmt: skip
    first = json.loads(run_command(*words, "-q")[1])
    _, output, err = run_command(*words)
    again = json.loads(output)
    assert first["metric"]["name"] == "mae"
    assert [m["scores"] for m in first["methods"]] == [m["scores"] for m in again["methods"]]
    assert f"resuming from {tmp_path / 'checkpoint'}: 4 results of 2 splits" in err
    frame = pd.read_csv(sales, sep=";", decimal=",")
    row = first["chosen"]["rows"][0]
    assert float(row["truth"]) == frame["price"][row["row"] - 1]
    assert "counted from 1" in first["chosen"]["rows_called"]
    checkpoint = tmp_path / "checkpoint"
    checkpoint.write_text(checkpoint.read_text().replace('"setting":{', '"setting":7,"more":{', 1))
    code, output, err = run_command(*words)
    assert (code, output) == (2, "")
    assert "was changed in line 2" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(("breaks", "code"), [(True, 3), (False, 0)])
def test_a_study_without_a_conclusion_has_an_exit_code_of_its_own(
    run_command, tmp_path, monkeypatch, breaks, code
):
    from dataclasses import replace

    from bosquet.study.methods import METHODS

    def broken(shape):
        raise RuntimeError("no candidates")

    if breaks:
        monkeypatch.setitem(METHODS, "cart", replace(METHODS["cart"], candidates=broken))
    noise = np.random.default_rng(0).normal(size=(80, 3))
    table = tmp_path / "noise.csv"
    pd.DataFrame(noise, columns=["a", "b", "y"]).to_csv(table, index=False)
    words = ["--methods", "cart", "--budget", "none", "--repeats", 2, "--no-report", "--quiet"]
    found, output, _ = run_command("study", table, "-t", "y", *words)
    assert found == code
    assert ("No conclusion: 1 failed" in output) == breaks


def test_the_help_of_a_study_explains_its_exit_codes(run_command):
    _, output, _ = run_command("study", "--help")
    assert "exit codes:\n  0    a conclusion was reached" in output
    for code in (1, 2, 3, 130):
        assert f"\n  {code:<5}" in output


def test_the_help_of_other_commands_names_the_help_with_the_exit_codes(run_command):
    _, output, _ = run_command("verify", "--help")
    assert output.endswith("\nexit codes: bosquet --help\n")


def test_the_help_of_the_decimal_separator_is_readable(run_command):
    _, output, _ = run_command("fit", "--help")
    assert "--decimal MARK        decimal separator: '.' or ','" in output


def test_a_study_looks_for_drift_in_other_rows(run_command, counted_study, sales, tmp_path):
    frame = pd.read_csv(sales, sep=";", decimal=",")
    frame["size"] += 5
    frame.to_csv(tmp_path / "later.csv", index=False)
    words = counted_study(sales, "price", "linear", 2)
    output = run_command(*words, "-q", "--no-report", "--test", tmp_path / "later.csv", "--json")[1]
    warnings = json.loads(output)["exploration"]["warnings"]
    assert [w["columns"] for w in warnings if w["kind"] == "drift"] == [["size"]]


def test_a_study_warns_of_leaks_and_duplicates(
    run_command, counted_study, sales, tmp_path, monkeypatch
):
    frame = pd.read_csv(sales, sep=";", decimal=",")[["size", "sold"]]
    frame["paid"] = frame["sold"].map({"yes": "on time", "no": "never"})
    pd.concat([frame, frame[:20]]).to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.chdir(tmp_path)
    words = counted_study("t.csv", "sold", "constant", 1)
    code, output, err = run_command(*words)
    assert code == 0, err
    for reported in ("paid is a copy of sold", "22 rows (8.5%) are duplicates of other rows"):
        assert f"warning: {reported}" in err
        assert f"Warning: {reported}" in output
    assert "“paid” may reveal the target (leak)" in (tmp_path / "t-report.html").read_text(
        encoding="utf-8"
    )


def test_costs_are_read_from_text_or_a_file(tmp_path):
    from bosquet.cli.commands.study import cost_matrix

    (tmp_path / "costs.csv").write_text("0,5\n1,0\n")
    assert cost_matrix("0,5;1,0") == cost_matrix(str(tmp_path / "costs.csv")) == [[0, 5], [1, 0]]


def test_demo_studies_a_built_in_table(run_command, tmp_path):
    code, output, err = run_command(
        "demo", "--data", "wines", "--budget", "none", "--repeats", 2, "--methods", "lda", "--report",
        tmp_path / "demo.html",
    )  # fmt: skip
    assert code == 0, err
    assert f"Report: {tmp_path / 'demo.html'}" in output


def test_every_demo_table_loads():
    from bosquet.cli.commands.demo import TABLES, table_of

    for name in TABLES:
        frame, target, bayes, _ = table_of(name)
        assert target in frame
        assert (bayes is not None) == (name == "salaries")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command_and_option(run_command, shell):
    code, output, _ = run_command("completion", shell)
    assert code == 0
    for word in ("study", "predict", "gradient-boosting", "random-forest"):
        assert word in output
    assert ("-l budget" if shell == "fish" else "--budget") in output


def test_bash_completes_words():
    import shutil
    import subprocess
    import sys

    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    script = subprocess.run(
        [sys.executable, "-m", "bosquet", "completion", "bash"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    def completed(*words):
        line = " ".join(f"'{word}'" for word in words)
        program = f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _bosquet"
        program += "; echo ${COMPREPLY[@]}"
        return subprocess.run(
            ["bash", "-c", program], capture_output=True, text=True, check=True
        ).stdout.split()

    assert completed("bosquet", "st") == ["study"]
    assert "--budget" in completed("bosquet", "study", "--b")
    assert completed("bosquet", "fit", "--method", "ran") == ["random-forest"]
    assert completed("bosquet", "completion", "f")[0] == "fish"
