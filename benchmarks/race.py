"""Time until the test loss of the best peer is reached, with any of our settings."""

import time
from dataclasses import dataclass, field

from benchmarks import fits
from benchmarks.interleave import available, interleave, settle
from benchmarks.libraries import LIBRARIES, OURS, Settings
from benchmarks.score import log_loss, test_loss

# Our settings; the fastest that reaches the loss counts.
TRIALS = {
    "rate 0.1": {"learning_rate": 0.1},
    "rate 0.15": {"learning_rate": 0.15},
    "rate 0.2, leaves of 1000 rows": {"learning_rate": 0.2, "min_samples_leaf": 1000},
    "rate 0.2, half the features a tree": {"learning_rate": 0.2, "max_features_per_tree": 0.5},
    "rate 0.15, gradient sampling 0.5": {
        "learning_rate": 0.15,
        "sampling": "gradient",
        "subsample": 0.5,
    },
}


@dataclass
class Runner:
    """A contestant of the race: a name, and the estimator it fits."""

    name: str
    make: object
    settings: dict = field(default_factory=dict)


def run(options, measured=None):
    """Run the race on the 1M × 28 table; `measured` is the section of that table if it exists."""
    work = next(work for work in fits.WORKS if work.name == "binary")
    measured = measured or fits.run(work, options)
    section = {
        "name": "race",
        "title": f"time to the best peer's test loss, {measured['title']}",
        "kind": "race",
        "must": 0.40,
        "aim": 0.20,
        "outcomes": {},
        "skipped": dict(measured["skipped"]),
    }
    best = measured["verdict"].get("best")
    if best is None or not available([OURS])[0]:
        section["verdict"] = {}
        return section
    target = measured["outcomes"][best]["loss"]
    (train,), test = work.train(options.quick), work.test(options.quick)
    runners = _runners(best, train, test, target, options, section["skipped"])

    def act(runner, turn):
        model = runner.make()
        start = time.perf_counter()
        model.fit(train.X, train.y)
        seconds = time.perf_counter() - start
        result = {"seconds": seconds, "settings": runner.settings}
        if turn == 0:
            result["loss"] = test_loss(model, test.X, test.y, test.task)
        return result

    section["outcomes"] = interleave(runners, options.repeats, act)
    section["verdict"] = _verdict(section["outcomes"], best, target)
    return section


def _runners(best, train, test, target, options, skipped):
    """Return the peer with the loss to reach, and each of our settings with the rounds that reach it."""
    given = Settings(rounds=options.rounds)
    peer = next(library for library in LIBRARIES if library.name == best)
    runners = [Runner(best, lambda: peer.make(train.task, given, []))]
    for label, settings in TRIALS.items():
        settle()
        try:
            rounds = _rounds_needed(train, test, target, given, settings)
        except Exception as error:  # settings that do not exist
            skipped[label] = f"{type(error).__name__}: {error}"
            continue
        if rounds is None:
            skipped[label] = f"does not reach {target:.5f} in {given.rounds} rounds"
            continue
        cut = settings | {"n_estimators": rounds}
        runners.append(Runner(label, lambda cut=cut: OURS.make(train.task, given, [], **cut), cut))
    return runners


def _rounds_needed(train, test, target, given, settings):
    """Return the first round with a test loss of at most `target`, or None."""
    model = OURS.make(train.task, given, [], **settings).fit(train.X, train.y)
    for done, probability in enumerate(model.staged_predict_proba(test.X), start=1):
        if log_loss(test.y, probability) <= target:
            return done
    return None


def _verdict(outcomes, best, target):
    arrived = {
        name: outcome["seconds"]
        for name, outcome in outcomes.items()
        if name != best and "seconds" in outcome and outcome["loss"] <= target
    }
    found = {"fastest": best, "best": best, "target": target}
    if arrived and "seconds" in outcomes[best]:
        quickest = min(arrived, key=arrived.get)
        found["ours"] = quickest
        found["ratio"] = arrived[quickest] / outcomes[best]["seconds"]
    return found
