"""The commands, a file each: what they are called, their options, and what they do."""

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

# In the order of the help.
COMMANDS = (study, fit, predict, explain, tree, verify, info, bench, demo, completion)
