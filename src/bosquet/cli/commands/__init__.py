"""The commands, one module each: name, help, options and function."""

from bosquet.cli.commands import (
    bench,
    completion,
    demo,
    explain,
    fit,
    info,
    predict,
    study,
    tree,
    verify,
)

# In the order of --help.
COMMANDS = (study, fit, predict, explain, tree, verify, info, bench, demo, completion)
