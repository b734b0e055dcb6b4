"""Why a loop of boosting rounds ended, in words for `stopped_because_` and for warnings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from bosquet._warnings import warn_user


@dataclass(frozen=True)
class Ending:
    """Why a loop ended, the text of `stopped_because_`; `advice` if a user would not expect it."""

    reason: str
    advice: str = ""


def all_rounds(number: int) -> Ending:
    return Ending(f"all rounds were run ({number})")


def by_callback(number: int) -> Ending:
    return Ending(f"a callback stopped the fit after round {number}")


def by_validation_set(patience: int, best: int | None) -> Ending:
    return Ending(
        f"the validation error did not decrease for {patience} rounds; it was smallest at round {best}"
    )


def without_mistake(round_: int, error: float | None = 0.0) -> Ending:
    """ε = 0, or a real-valued learner all of whose signs are correct; rounds are counted from 1."""
    how = "ε = 0" if error == 0 else "every sign is correct"
    return Ending(
        f"the learner of round {round_} makes no mistake ({how}): its weight exceeds the sum of all others,"
        " so further rounds have no effect",
        "use a weaker learner, for example a shallower tree",
    )


def without_edge(round_: int, error: float, chance: float) -> Ending:
    """ε ≥ ½; rounds are counted from 1."""
    return Ending(
        f"the learner of round {round_} is no better than chance: its weighted error is ε = {error:.6g}, and"
        f" guessing has {chance:.6g}",
        "use a stronger learner, or set n_estimators to the number of rounds that were run",
    )


NO_WEIGHT_LEFT = Ending(
    "every row has the margin that the loss requires: no row has a weight above 0"
)


def ending_of_all(endings: Iterable[Ending | None]) -> Ending:
    """Return the ending of several loops that run side by side, one for each column of a code."""
    known_endings = [ending for ending in endings if ending is not None]
    if not known_endings:  # a warm start of a model whose loops had ended
        return Ending("the rounds had already ended in an earlier fit")
    reasons = list(dict.fromkeys(ending.reason for ending in known_endings))
    advice = next((ending.advice for ending in known_endings if ending.advice), "")
    if len(known_endings) == 1:
        return known_endings[0]
    return Ending(f"the loops of all columns of the code ended; {reasons[-1]}", advice)


def next_round(loop: Iterator[Any]) -> tuple[Any, Ending | None]:
    """Return the next round of a loop, or None and the `Ending` that the loop returned."""
    try:
        return next(loop), None
    except StopIteration as end:
        return None, end.value


def warn_of_ending(ending: Ending, done: int, requested: int) -> None:
    """Warn if there are fewer rounds than requested, and the user did not choose that."""
    if not ending.advice or done >= requested:
        return
    from sklearn.exceptions import ConvergenceWarning

    warn_user(
        f"boosting ended after {done} of {requested} rounds: {ending.reason}; {ending.advice}",
        ConvergenceWarning,
    )
