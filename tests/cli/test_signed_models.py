"""Commands that sign a model file, and commands that reject one that is not signed with the key."""

import json
import secrets

import pytest


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "key"
    path.write_bytes(secrets.token_bytes(32))
    return path


@pytest.fixture
def signed(run_command, sales, tmp_path, key_file):
    out = tmp_path / "signed.bosquet"
    code, _, err = run_command(
        "fit", sales, "--target", "sold", "--method", "tree", "--out", out, "--key-file", key_file
    )
    assert code == 0, err
    return out


COMMANDS = {
    "predict": lambda model, sales: ("predict", model, sales),
    "explain": lambda model, sales: ("explain", model, sales),
    "info": lambda model, sales: ("info", model),
    "verify": lambda model, sales: ("verify", model),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_accepts_only_files_signed_with_its_key(
    run_command, sales, signed, key_file, tmp_path, monkeypatch, name
):
    words = COMMANDS[name](signed, sales)
    assert run_command(*words)[0] == 0  # without a key the signature is not checked
    assert run_command(*words, "--key-file", key_file)[0] == 0
    monkeypatch.setenv("MODEL_KEY", "k" * 32)
    code, _, err = run_command(*words, "--key-env", "MODEL_KEY")
    assert (code, "another key" in err) == (2, True)


def test_a_file_that_is_not_signed_is_rejected_if_a_key_is_given(run_command, model, key_file):
    code, _, err = run_command("verify", model, "--key-file", key_file)
    assert (code, "not signed" in err) == (2, True)


def test_verify_reports_the_signature_and_the_version(run_command, model, signed, key_file):
    def reported(*words):
        return json.loads(run_command("verify", *words, "--json")[1])

    from bosquet import __version__

    assert reported(model)["signature"] == "not signed"
    assert reported(model)["written_by"] == __version__
    assert reported(signed)["signature"] == "signed, not checked without a key"
    assert reported(signed, "--key-file", key_file)["signature"] == "signed with this key"
    assert (
        json.loads(run_command("info", model, "--json")[1])["written_by"]
        == f"Bosquet {__version__}"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--key-env", "NO_SUCH_VARIABLE"), "this environment variable is not set"),
        (("--key-file", "no such file"), "No such file"),
        (("--key-env", "SHORT"), "at least 32"),
        (("--key-env", "SHORT", "--key-file", "x"), "pass only one of them"),
    ],
)
def test_an_invalid_key_is_rejected(run_command, signed, monkeypatch, words, message):
    monkeypatch.setenv("SHORT", "hunter2")
    code, _, err = run_command("verify", signed, *words)
    assert (code, message in err) == (2, True)
    assert "hunter2" not in err


def test_the_key_is_not_overwritten(run_command, sales, key_file):
    before = key_file.read_bytes()
    words = ("fit", sales, "--target", "sold", "--out", key_file, "--key-file", key_file)
    assert run_command(*words)[0] == 2
    assert key_file.read_bytes() == before


def test_a_pickle_is_not_accepted_as_a_signed_file(run_command, key_file, tmp_path):
    pickled = tmp_path / "model.pkl"
    pickled.write_bytes(b"\x80\x04N.")
    code, _, err = run_command("verify", pickled, "--trust", "--key-file", key_file)
    assert (code, "no signature" in err) == (2, True)


def test_a_study_does_not_sign_a_pickle(run_command, sales, key_file, tmp_path):
    words = (
        "study",
        sales,
        "--target",
        "sold",
        "--save",
        tmp_path / "m.pkl",
        "--key-file",
        key_file,
    )
    code, _, err = run_command(*words)
    assert (code, "signs a model file" in err) == (2, True)
