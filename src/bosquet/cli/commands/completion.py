"""`bosquet completion`: completion scripts for shells, generated from the parser."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


NAME = "completion"
HELP = "print a completion script for bash, zsh or fish"
DESCRIPTION = "Print a script for the shell that completes the commands and options of bosquet."
EXAMPLES = """
bosquet completion bash >> ~/.bashrc
bosquet completion zsh > ~/.zfunc/_bosquet
bosquet completion fish > ~/.config/fish/completions/bosquet.fish
"""
SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="shell to print the script for")


def run(arguments: Namespace) -> None:
    from bosquet.cli.command import build_parser

    words = vocabulary(build_parser())
    if arguments.json:
        print(json.dumps(words, indent=1))
        return
    print({"bash": bash, "zsh": zsh, "fish": fish}[arguments.shell](words))


def vocabulary(parser: argparse.ArgumentParser) -> dict[str, Any]:
    """Return the commands with their help, and their options with help and choices."""
    subparsers = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    helps = {choice.dest: choice.help or "" for choice in subparsers._choices_actions}
    return {
        name: {
            "help": helps[name],
            "options": _options(command),
            "words": _positional_choices(command),
        }
        for name, command in subparsers.choices.items()
    }


def _options(parser: argparse.ArgumentParser) -> list[dict[str, Any]]:
    return [
        {
            "names": list(action.option_strings),
            "help": action.help or "",
            "choices": [str(choice) for choice in action.choices or []],
            "takes": action.nargs != 0,
        }
        for action in parser._actions
        if action.option_strings
    ]


def _positional_choices(parser: argparse.ArgumentParser) -> list[str]:
    return [
        str(choice) for a in parser._actions if not a.option_strings for choice in a.choices or []
    ]


def bash(words: dict[str, Any]) -> str:
    """Return the bash script, which completes commands, options, choices and files."""
    lines = [
        "_bosquet() {",
        '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
        '  if [ "$COMP_CWORD" -eq 1 ]; then',
        f'    COMPREPLY=($(compgen -W "{" ".join(words)} --help --version" -- "$word")); return',
        "  fi",
        '  case "${COMP_WORDS[1]} $before" in',
    ]
    for name, command in words.items():
        for option in command["options"]:
            if option["choices"]:
                patterns = "|".join(f'"{name} {flag}"' for flag in option["names"])
                choices = " ".join(option["choices"])
                lines.append(
                    f'    {patterns}) COMPREPLY=($(compgen -W "{choices}" -- "$word")); return;;'
                )
    lines += ["  esac", '  case "${COMP_WORDS[1]}" in']
    for name, command in words.items():
        options = " ".join(flag for option in command["options"] for flag in option["names"])
        arguments = " ".join(command["words"])
        lines.append(f'    {name}) local options="{options}" given="{arguments}";;')
    lines += [
        "    *) return;;",
        "  esac",
        '  case "$word" in',
        '    -*) COMPREPLY=($(compgen -W "$options" -- "$word"));;',
        '    *) COMPREPLY=($(compgen -W "$given" -- "$word") $(compgen -f -- "$word"));;',
        "  esac",
        "}",
        "complete -o filenames -F _bosquet bosquet",
    ]
    return "\n".join(lines)


def zsh(words: dict[str, Any]) -> str:
    """Return the zsh script, which also shows the help of each word."""
    lines = ["#compdef bosquet", "_bosquet() {", "  local -a commands=("]
    lines += ["    " + _quote(f"{name}:{command['help']}") for name, command in words.items()]
    lines += [
        "  )",
        "  if (( CURRENT == 2 )); then _describe command commands; return; fi",
        "  case $words[2] in",
    ]
    for name, command in words.items():
        lines.append(f"    {name}) _arguments \\")
        for option in command["options"]:
            for flag in option["names"]:
                text = option["help"].replace("[", "(").replace("]", ")").replace(":", ",")
                takes = ""
                if option["takes"]:
                    takes = (
                        f":value:({' '.join(option['choices'])})"
                        if option["choices"]
                        else ":value:_files"
                    )
                lines.append("      " + _quote(f"{flag}[{text}]{takes}") + " \\")
        arguments = f"({' '.join(command['words'])})" if command["words"] else "_files"
        lines.append(f"      '*:file:{arguments}';;")
    lines += [
        "  esac",
        "}",
        'if [ "$funcstack[1]" = "_bosquet" ]; then _bosquet; else compdef _bosquet bosquet; fi',
    ]
    return "\n".join(lines)


def fish(words: dict[str, Any]) -> str:
    """Return the fish script."""
    lines = []
    for name, command in words.items():
        lines.append(
            f"complete -c bosquet -n __fish_use_subcommand -a {name} -d {_quote(command['help'])}"
        )
        seen = "-n " + _quote(f"__fish_seen_subcommand_from {name}")
        for option in command["options"]:
            flags = " ".join(
                f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
                for flag in option["names"]
            )
            choices = f" -xa {_quote(' '.join(option['choices']))}" if option["choices"] else ""
            needs = " -r" if option["takes"] and not choices else ""
            lines.append(
                f"complete -c bosquet {seen} {flags}{needs}{choices} -d {_quote(option['help'])}"
            )
        if command["words"]:
            lines.append(f"complete -c bosquet {seen} -a {_quote(' '.join(command['words']))}")
    return "\n".join(lines)


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
