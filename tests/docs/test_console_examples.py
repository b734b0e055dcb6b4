"""The commands of the command-line page print what the page shows."""

import re
import shlex
from pathlib import Path

import pytest

from bosquet.cli import main
from bosquet.cli.command import build_parser
from bosquet.cli.commands.completion import vocabulary

PAGE = Path(__file__).parents[2] / "docs/command-line.md"
if not PAGE.exists():
    pytest.skip("the documentation is not beside the tests", allow_module_level=True)


def blocks(language):
    return re.findall(
        rf"^```{language}\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )


def commands():
    """Return each command with its output, without studies, which depend on the speed of the machine."""
    text = "\n".join(blocks("text"))
    found = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE)
    return [(command, shown) for command, shown in found if not command.startswith("bosquet study")]


def printed_by(command, capsys):
    program, *words = shlex.split(command)
    if program == "head":
        lines = Path(words[1]).read_text("utf-8").splitlines()
        return "\n".join(lines[: -int(words[0])])
    assert main(words) == 0
    captured = capsys.readouterr()
    return captured.out + captured.err


def without_seconds(text):
    return re.sub(r"in [\d.]+ s;", "in ? s;", text).strip()


def test_every_option_of_every_command_is_on_the_page():
    page = PAGE.read_text("utf-8")
    for command, word in vocabulary(build_parser()).items():
        absent = [
            name
            for option in word["options"]
            for name in option["names"]
            if name.startswith("--") and f"`{name}" not in page
        ]
        assert set(absent) <= {"--help"}, command


def test_the_commands_print_what_the_page_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(blocks("python")[0], {})  # writes customers.csv
    found = commands()
    assert len(found) >= 5
    for command, shown in found:
        assert without_seconds(printed_by(command, capsys)) == without_seconds(shown), command
