"""Interleaved timing, in which a busy machine slows all contestants equally.

Every round runs each contestant once, and the next round starts with another one; the time of a
contestant is its best over the rounds. A machine that slows down for a minute slows all of them.
"""

import gc
import time

PAUSE = 0.1


def settle():
    """Free what the last contestant left, and give its idle threads time to stop spinning."""
    gc.collect()
    time.sleep(PAUSE)


def interleave(contestants, repeats, act):
    """Run `act(contestant, round) -> dict with "seconds"` for each, in turn, `repeats` times.

    Returns {name: outcome}; an outcome has `seconds` (the best), `times` (all) and whatever
    else the first round returned, or an `error`. One that fails is not run again.
    """
    outcomes = {contestant.name: {"times": []} for contestant in contestants}
    for turn in range(repeats):
        shift = turn % max(len(contestants), 1)
        for contestant in contestants[shift:] + contestants[:shift]:
            outcome = outcomes[contestant.name]
            if "error" in outcome:
                continue
            settle()
            try:
                measured = act(contestant, turn)
            except Exception as error:  # reported in the table; the others continue
                outcome["error"] = f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"
                continue
            _note(outcome, measured)
    return outcomes


def _note(outcome, measured):
    seconds = measured.pop("seconds")
    fastest = seconds < outcome.get("seconds", float("inf"))
    outcome["times"].append(seconds)
    if fastest:
        outcome["seconds"] = seconds
    for key, value in measured.items():
        # The phases are those of the best round; the loss is that of the first.
        if key not in outcome or (fastest and key == "phases"):
            outcome[key] = value


def available(libraries):
    """Split libraries into those that run here and {name: reason} for those that do not."""
    reasons = {library.name: library.missing() for library in libraries}
    here = [library for library in libraries if reasons[library.name] is None]
    return here, {name: reason for name, reason in reasons.items() if reason}


def fastest(outcomes, names=None):
    """Name of the quickest contestant that finished, among `names` if given; None if none did."""
    done = {
        name: outcome["seconds"]
        for name, outcome in outcomes.items()
        if "seconds" in outcome and (names is None or name in names)
    }
    return min(done, key=done.get) if done else None
