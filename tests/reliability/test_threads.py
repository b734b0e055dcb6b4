"""Threads that share an estimator: one fits, the others use the old model or the new one.

The points at which threads switch are random. So two tests simulate the switches: Python calls a
profile function at each call, which is where it may change threads.
"""

import inspect
import pickle
import sys
import tempfile
import threading
from dataclasses import is_dataclass
from pathlib import Path

import numpy as np
import pytest
from families import FAMILIES, rows, same

from bosquet.io import model_bytes

N_READERS = 64
N_FITS = 3
PAUSE = 0.02  # seconds between two calls of a thread: the fit needs processor time too
MAX_TURNS = (
    12  # number of points at which a test predicts during a fit, or fits during a prediction
)

# They have no fit: they are updated with one value after the other.
STREAMS = {"mixture-stream", "page-hinkley", "adaptive-window"}
GO_ON = {"mixture-partial-fit"}  # each fit gives another model
REFITTED = [name for name in FAMILIES if name not in STREAMS | GO_ON]

pytestmark = pytest.mark.filterwarnings("ignore")


# ------------------------------------------------------------------------------------- real threads
@pytest.fixture
def short_turns():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(before)


def while_another_fits(work, fit):
    """Run `work(stop)` in many threads until `fit()` has returned in this one."""
    stop, errors = threading.Event(), []
    ready = threading.Barrier(N_READERS + 1)

    def run():
        try:
            ready.wait()
            work(stop)
        except BaseException as error:
            errors.append(error)

    readers = [threading.Thread(target=run) for _ in range(N_READERS)]
    for reader in readers:
        reader.start()
    ready.wait()
    try:
        fit()
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    if errors:
        raise errors[0]


@pytest.mark.parametrize("name", REFITTED)
def test_64_threads_predict_with_the_old_model_or_the_new_one(name, short_turns):
    family, data = FAMILIES[name], rows(0)
    known = [family.outputs(family.fitted(which), data) for which in (0, 1)]
    model = family.fitted(0)

    def read(stop):
        while not stop.wait(PAUSE):
            for place, output in enumerate(family.outputs(model, data)):
                assert any(same([output], [one[place]]) for one in known), "an output of neither"

    def fit():
        for number in range(1, N_FITS + 1):
            family.fit(model, rows(number % 2))

    while_another_fits(read, fit)


# ------------------------------------------------------------------------------ simulated switches
def count_calls(work, at=(), then=None):
    """How many calls `work()` makes, and its result; `then()` is called at those numbered in `at`."""
    count, done = 0, False

    def look(frame, event, argument):
        nonlocal count
        if event in ("call", "c_call") and not done:  # the last call is that of setprofile
            count += 1
            if count in at:
                sys.setprofile(None)
                then()
                sys.setprofile(look)

    sys.setprofile(look)
    try:
        result = work()
        done = True
    finally:
        sys.setprofile(None)
    return count, result


def spread_numbers(count):
    """Return numbers of calls, spread over the work, including the first and the last ones."""
    turns = min(MAX_TURNS, max(3, 10_000 // count))
    return {*np.linspace(1, count, turns).astype(int).tolist(), count - 1}


@pytest.mark.parametrize("name", REFITTED)
def test_the_estimator_predicts_as_before_until_the_fit_is_finished(name):
    family, data = FAMILIES[name], rows(0)
    model, other = family.fitted(0), family.fitted(0)
    before, equal = family.outputs(model, data), []
    count, _ = count_calls(lambda: family.fit(other, rows(1)))

    def read():
        equal.append(same(family.outputs(model, data), before))

    count_calls(lambda: family.fit(model, rows(1)), spread_numbers(count), read)
    assert equal
    assert all(equal)
    assert same(family.outputs(model, data), family.outputs(family.fitted(1), data))


def readers_of(model, data):
    """Return the results of all methods without further arguments, by name."""
    table = data.images if "vision" in type(model).__module__ else data.X
    found = {
        "pickle": lambda: pickle.loads(pickle.dumps(model)).__dict__,
        "save": lambda: saved(model),
    }
    for name in dir(type(model)):
        if name.startswith(("_", "fit", "partial_fit", "set_", "get_metadata", "plot", "update")):
            continue
        kind = inspect.getattr_static(type(model), name)
        if isinstance(kind, property):
            found[name] = lambda name=name: getattr(model, name)
        elif hasattr(model, name) and callable(getattr(model, name)):
            wanted = [
                parameter.name
                for parameter in inspect.signature(getattr(model, name)).parameters.values()
                if parameter.default is parameter.empty
                and parameter.kind < parameter.VAR_POSITIONAL
            ]
            if wanted in ([], ["X"], ["F"]):
                given = [table] * len(wanted)
                found[name] = lambda name=name, given=given: getattr(model, name)(*given)
    return found


def saved(model):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        return path.read_bytes()


def to_comparable(value, depth=0):
    """Convert a result to a form that can be compared."""
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    if isinstance(value, np.ndarray):
        return value.tolist().__repr__()  # NaN equals NaN
    if inspect.isgenerator(value) or isinstance(value, list | tuple):
        return [to_comparable(one, depth) for one in value]
    if isinstance(value, dict):
        return {str(key): to_comparable(one, depth) for key, one in sorted(value.items(), key=str)}
    if (is_dataclass(value) or type(value).__module__.startswith("bosquet")) and depth < 4:
        return to_comparable(getattr(value, "__dict__", None), depth + 1)
    simple = isinstance(value, int | float | str | bytes | None)
    return repr(value) if simple else type(value).__name__


def exhaust_generator(output):
    return list(output) if inspect.isgenerator(output) else output


# Models of contingency tables and streams, which do not predict the rows of a table.
UNASKED = ("log-linear", "portfolio", "mixture", "mixture-partial-fit", "mixture-stream")


@pytest.mark.parametrize("name", [name for name in REFITTED if name != "cascade"])
def test_a_fit_that_ends_during_a_prediction_does_not_change_it(name):
    family, data = FAMILIES[name], rows(0)
    old, new, model = family.fitted(0), family.fitted(1), family.fitted(0)
    of_old, of_new = readers_of(old, data), readers_of(new, data)
    compared = []
    for reader, read in readers_of(model, data).items():
        try:
            right = [
                to_comparable(exhaust_generator(readers[reader]())) for readers in (of_old, of_new)
            ]
        except (AttributeError, TypeError, ValueError):
            continue  # it needs something that this model does not have
        count, output = count_calls(lambda read=read: exhaust_generator(read()))
        if to_comparable(output) != right[0] or right[0] == right[1]:
            continue  # its result does not depend on the model
        compared.append(reader)
        for turn in spread_numbers(count):
            model.__dict__ = old.__dict__.copy()

            def publish():
                model.__dict__ = new.__dict__.copy()

            _, output = count_calls(lambda read=read: exhaust_generator(read()), {turn}, publish)
            assert to_comparable(output) in right, f"{reader} is of neither model"
        model.__dict__ = old.__dict__.copy()
    assert compared
    assert "predict" in compared or name in UNASKED


@pytest.mark.parametrize("name", ["gradient-boosting", "log-linear"])
def test_a_fit_that_ends_while_a_model_is_written_does_not_show_in_the_file(name):
    old, new, model = (FAMILIES[name].fitted(which) for which in (0, 1, 0))
    right = [model_bytes(old), model_bytes(new)]
    count, _ = count_calls(lambda: model_bytes(model))
    for turn in range(1, count + 1):
        model.__dict__ = old.__dict__.copy()

        def publish():
            model.__dict__ = new.__dict__.copy()

        _, data = count_calls(lambda: model_bytes(model), {turn}, publish)
        assert data in right, f"the fit ended at call {turn}"
