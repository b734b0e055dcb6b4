"""No output option replaces a file that the same command reads, nor the file of another option."""

import os
import subprocess
import sys

import pytest

from bosquet import DecisionTreeClassifier

TABLE = b"x,y\n" + b"1,a\n2,b\n3,a\n4,b\n" * 10
STUDY = ["study", "t.csv", "-t", "y", "--methods", "cart", "--budget", "none", "--repeats", "1"]
FIT = ["fit", "t.csv", "-t", "y", "--method", "tree"]


@pytest.fixture
def working_folder(tmp_path, monkeypatch):
    """A working folder with a table under four names, a second table, and a model."""
    monkeypatch.chdir(tmp_path)
    for name in ("t.csv", "later.csv", "t.pkl"):
        (tmp_path / name).write_bytes(TABLE)
    (tmp_path / "costs.csv").write_text("0,1\n1,0\n")
    (tmp_path / "link.csv").symlink_to("t.csv")
    (tmp_path / "hard.csv").hardlink_to("t.csv")
    (tmp_path / "folder").symlink_to(".")
    DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "b"]).save("m.bosquet")
    return tmp_path


def file_contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    "words",
    [
        [*FIT, "--out", "t.csv"],
        [*FIT, "--out", "./t.csv"],
        [*FIT, "--out", "link.csv"],
        [*FIT, "--out", "hard.csv"],
        [*FIT, "--out", "folder/t.csv"],
        ["fit", "link.csv", "-t", "y", "--out", "t.csv"],
        ["predict", "m.bosquet", "t.csv", "--out", "t.csv"],
        ["predict", "m.bosquet", "t.csv", "--out", "m.bosquet"],
        ["tree", "t.csv", "-t", "y", "--out", "t.csv"],
        ["tree", "t.csv", "-t", "y", "--png", "t.csv"],
        [*STUDY, "--report", "t.csv"],
        [*STUDY, "--save", "t.csv"],
        [*STUDY, "--resume", "t.csv"],
        [*STUDY, "--test", "later.csv", "--report", "later.csv"],
        [*STUDY, "--costs", "costs.csv", "--save", "costs.csv"],
        ["study", "t.pkl", *STUDY[2:], "--save", "t"],  # a pickle would be t.pkl
    ],
)
def test_an_output_that_is_an_input_is_an_error_and_nothing_changes(
    run_command, working_folder, words
):
    before = file_contents(working_folder)
    code, stdout, err = run_command(*words, "-q")
    assert (code, stdout, err.count("\n")) == (2, "", 1)
    assert "is the same file as the input " in err
    assert file_contents(working_folder) == before


@pytest.mark.parametrize(
    "words",
    [
        [*STUDY, "--report", "new", "--save", "./new"],
        [*STUDY, "--report", "new", "--resume", "folder/new"],
        [*STUDY, "--report", "new.pkl", "--save", "new"],
        ["tree", "t.csv", "-t", "y", "--png", "new", "--out", "new"],
    ],
)
def test_two_options_do_not_write_one_file(run_command, working_folder, words):
    before = file_contents(working_folder)
    code, stdout, err = run_command(*words, "-q")
    assert (code, stdout, err.count("\n")) == (2, "", 1)
    assert "is also the file of --" in err
    assert file_contents(working_folder) == before


def test_the_file_behind_the_standard_input_is_not_replaced(working_folder):
    words = [sys.executable, "-m", "bosquet", "fit", "-", *FIT[2:], "--out", "t.csv"]
    with open("t.csv", "rb") as table:
        done = subprocess.run(words, stdin=table, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "the same file as the standard input" in done.stderr
    assert (working_folder / "t.csv").read_bytes() == TABLE


def test_other_files_and_devices_are_written(run_command, working_folder):
    assert run_command(*FIT, "--out", "m2.bosquet", "-q")[0] == 0
    assert run_command("predict", "m2.bosquet", "t.csv", "--out", os.devnull, "-q")[0] == 0
    assert run_command("tree", "t.csv", "-t", "y", "--out", os.devnull, "--png", os.devnull)[0] == 0
    assert (
        run_command("predict", "m2.bosquet", "t.csv", "--out", "m.bosquet", "-q")[0] == 0
    )  # not read
