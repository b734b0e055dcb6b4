"""How the rounds came to their end: told in `stopped_because_`, and warned of where nobody asked for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from bosquet._warnings import warn_user


@dataclass(frozen=True)
class Ending:
    """Why a loop went no further; `advice` where a user would not expect it."""

    reason: str
    advice: str = ""


def all_rounds(number: int) -> Ending:
    return Ending("the one round was made" if number == 1 else f"all {number} rounds were made")


def by_callback(number: int) -> Ending:
    return Ending(f"a callback asked to stop after round {number}")


def by_validation_set(patience: int, best: int | None) -> Ending:
    return Ending(
        f"the error on the validation set did not fall for {patience} rounds; it was least at round {best}"
    )


def without_mistake(round_: int, error: float | None = 0.0) -> Ending:
    """ε = 0, or a real-valued learner whose signs are all right; of the round counted from 1."""
    how = "ε = 0" if error == 0 else "every sign is right"
    return Ending(
        f"the learner of round {round_} makes no mistake ({how}): it outvotes all others, and nothing is left"
        " to learn",
        "only a weaker learner, for example a shallower tree, leaves something to boost",
    )


def without_edge(round_: int, error: float, chance: float) -> Ending:
    """ε ≥ ½, of the round counted from 1."""
    return Ending(
        f"the learner of round {round_} is no better than chance: its weighted error is ε = {error:.6g}, and"
        f" guessing has {chance:.6g}",
        "a stronger learner may find more; with fewer n_estimators this is no surprise",
    )


NO_WEIGHT_LEFT = Ending(
    "every row has the margin that the loss asks for: no weight is left to learn from"
)


def of_all(endings: Iterable[Ending | None]) -> Ending:
    """Of loops side by side, a column of a code each."""
    known = [ending for ending in endings if ending is not None]
    if not known:
        return Ending("there was nothing left to learn")
    reasons = list(dict.fromkeys(ending.reason for ending in known))
    advice = next((ending.advice for ending in known if ending.advice), "")
    if len(known) == 1:
        return known[0]
    return Ending(f"all columns of the code came to their end; {reasons[-1]}", advice)


def following(loop: Iterator[Any]) -> tuple[Any, Ending | None]:
    """The next round, or None and what the loop returned at its end."""
    try:
        return next(loop), None
    except StopIteration as end:
        return None, end.value


def warn_of(ending: Ending, done: int, asked: int) -> None:
    """A warning if the rounds are fewer than were asked for, and nobody asked for that."""
    if not ending.advice or done >= asked:
        return
    from sklearn.exceptions import ConvergenceWarning

    warn_user(
        f"boosting ended after {done} of {asked} rounds: {ending.reason}; {ending.advice}",
        ConvergenceWarning,
    )
