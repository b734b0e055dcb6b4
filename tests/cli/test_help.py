"""Help is printed quickly and shows examples."""

import re
import subprocess
import sys
import time

import pytest

from bosquet.cli.command import build_parser
from bosquet.cli.commands import COMMANDS


def test_help_lists_every_command(run_command):
    code, stdout, err = run_command("--help")
    assert (code, err) == (0, "")
    for module in COMMANDS:
        assert module.NAME in stdout
    assert run_command()[1] == stdout


@pytest.mark.parametrize("module", COMMANDS, ids=lambda module: module.NAME)
def test_every_command_has_help_examples_and_json(run_command, module):
    code, stdout, _ = run_command(module.NAME, "--help")
    assert code == 0
    assert "examples:" in stdout
    assert f"bosquet {module.NAME}" in stdout
    assert "--json" in stdout


@pytest.mark.parametrize("module", COMMANDS, ids=lambda module: module.NAME)
def test_the_examples_are_words_that_the_parser_knows(module):
    import shlex

    for line in module.EXAMPLES.strip().splitlines():
        for part in line.split("#")[0].split("|")[-1].split("&&")[0].split(">")[0:1]:
            words = shlex.split(part)
            assert words[0] == "bosquet"
            build_parser().parse_args(words[1:])


def test_the_help_of_a_study_lists_every_metric(run_command):
    from bosquet.study.metrics.metric import metrics_of

    listed = set(re.findall(r"\w+", run_command("study", "--help")[1]))
    metrics = metrics_of("binary", [0, 1], costs=[[0, 1], [1, 0]]) + metrics_of("regression")
    assert {metric.name for metric in metrics} <= listed


def test_the_version_is_printed(run_command):
    import bosquet

    assert run_command("--version") == (0, f"bosquet {bosquet.__version__}\n", "")


def test_help_imports_nothing_heavy():
    program = (
        "import sys; from bosquet.cli import main; main(['--help']);"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pandas', 'pyarrow', 'matplotlib', 'bosquet._core'};"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or None)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_help_takes_less_than_three_tenths_of_a_second():
    def seconds():
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "bosquet", "--help"], capture_output=True, check=True)
        return time.perf_counter() - start

    assert min(seconds() for _ in range(5)) < 0.3
