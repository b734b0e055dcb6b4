"""Model files of mixtures: a loaded stream continues with the same bits; invalid files are rejected."""

import contextlib
import copy
import json
import warnings

import numpy as np
import pandas as pd
import pytest

import bosquet
from bosquet import Mixture, _core
from bosquet.experts import FTRL, ExponentialWeights, FixedShare, RangeWarning
from bosquet.experts.rules import RULES
from bosquet.io import ModelFileError, model_bytes, model_from_bytes, unpack_trees

RULES_TO_SAVE = [
    *RULES,
    ExponentialWeights("grid"),
    ExponentialWeights([0.1, 1.0]),
    FTRL("entropy"),
]


def some_forecasts(steps=80, n=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=steps)
    return y[:, None] + rng.normal(size=(steps, n)) * np.linspace(0.2, 1, n), y


def stream(mixture, F, y):
    for f, truth in zip(F, y, strict=True):
        mixture.predict(f)
        mixture.update(truth)
    return mixture


@pytest.mark.parametrize("rule", RULES_TO_SAVE)
@pytest.mark.parametrize("in_step", [False, True])
def test_a_stream_that_was_saved_equals_one_that_was_not(rule, in_step, tmp_path):
    F, y = some_forecasts()
    options = {"random_state": 3, "loss_range": 50.0}
    whole = stream(Mixture(rule, **options), F, y)
    half = stream(Mixture(rule, **options), F[:40], y[:40])
    if in_step:
        half.predict(F[40])
    half.save(tmp_path / "mixture.bosquet")
    again = bosquet.load(tmp_path / "mixture.bosquet")
    if in_step:
        again.update(y[40])
    stream(again, F[40 + in_step :], y[40 + in_step :])
    assert again._core.state() == whole._core.state()
    assert np.array_equal(again.final_weights_, whole.final_weights_)
    assert np.array_equal(again.bound_, whole.bound_, equal_nan=True)
    # Saved, loaded and saved again, the bytes are the same.
    assert model_bytes(model_from_bytes(model_bytes(half))) == model_bytes(half)


def test_a_file_holds_the_complete_state(tmp_path):
    F, y = some_forecasts()
    frame = pd.DataFrame(F, columns=["gam", "ar", "gbm"])
    given = Mixture(
        ExponentialWeights("tuned", horizon=500),
        "pinball",
        quantile=0.9,
        prior=[1.0, 2.0, 1.0],
        loss_range=0.01,
        block=4,
    )
    with pytest.warns(RangeWarning):
        given.fit(frame, y)
    given.predict_step(F[:4])
    given.save(tmp_path / "m")
    again = bosquet.load(tmp_path / "m")
    assert again.rule.get_params() == given.rule.get_params()
    for name in ("loss", "quantile", "loss_range", "block", "gradient", "randomised", "history"):
        assert getattr(again, name) == getattr(given, name)
    assert list(again.prior) == [1.0, 2.0, 1.0]
    assert again.feature_names_in_.tolist() == ["gam", "ar", "gbm"]
    assert str(again) == str(given)
    with pytest.raises(AttributeError, match="not recorded"):
        again.weight_history_  # noqa: B018
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the warning was issued before
        again.update(y[:4])
    given.update(y[:4])
    assert again._core.state() == given._core.state()


@pytest.mark.parametrize("classes", [3, ["no", "maybe", "yes"]])
def test_classes_and_sleeping_experts_survive_a_file(classes):
    rng = np.random.default_rng(0)
    F = rng.dirichlet(np.ones(3), size=(30, 4))
    F[::3, 1] = np.nan
    labels = np.asarray([0, 1, 2] if classes == 3 else classes)[rng.integers(3, size=30)]
    whole = Mixture("boa", "log", classes=classes).fit(F, labels)
    half = Mixture("boa", "log", classes=classes).fit(F[:10], labels[:10])
    half.predict(F[12])
    half = model_from_bytes(model_bytes(half))
    half.predict(F[10])
    half.update(labels[10])
    half.partial_fit(F[11:], labels[11:])
    assert half._core.state() == whole._core.state()
    assert half.classes_.tolist() == whole.classes_.tolist()


def test_mixtures_that_a_file_cannot_hold_raise_errors():
    F, y = some_forecasts()
    own = Mixture("boa", lambda x, y: (x - y) ** 2, gradient=False).fit(F, y)
    with pytest.raises(ValueError, match="custom loss contains code"):
        model_bytes(own)
    with pytest.raises(ValueError, match="not fitted"):
        model_bytes(Mixture())


# --------------------------------------------------------------------- hostile files
def parts(mixture):
    ensemble, metadata = unpack_trees(model_bytes(mixture))
    return ensemble, metadata


def forged(ensemble, metadata):
    return _core.write_model(ensemble, json.dumps(metadata).encode())


@pytest.fixture
def sound():
    F, y = some_forecasts()
    mixture = stream(Mixture("boa", random_state=0), F[:20], y[:20])
    mixture.predict(F[20])
    return parts(mixture)


def change(metadata, path, value):
    changed = copy.deepcopy(metadata)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    if value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return changed


HOSTILE = {
    "another rule's state": (("parameters", "rule"), "ml-poly"),
    "a rule that is none": (("parameters", "rule"), "os.system"),
    "a rule that is a list": (("parameters", "rule"), ["boa"]),
    "a rule with parameters of another": (
        ("parameters", "rule"),
        {"estimator": {"name": "BOA", "parameters": {"share": 0.1}}},
    ),
    "a loss that is none": (("parameters", "loss"), "nonsense"),
    "a prior of another length": (("parameters", "prior"), [1.0, 1.0]),
    "a prior that is zero": (("parameters", "prior"), [1.0, 1.0, 0.0]),
    "a parameter that is none": (("parameters", "evil"), 1),
    "a block of none": (("parameters", "block"), 0),
    "a huge number of experts": (("experts",), 10**9),
    "experts that are no number": (("experts",), "three"),
    "a horizon below one": (("horizon",), 0),
    "a seed that is negative": (("seed",), -1),
    "a seed that is a float": (("seed",), 1.5),
    "names of other experts": (("names",), ["a"]),
    "names that are no text": (("names",), [1, 2, 3]),
    "no state": (("state",), ...),
    "a state that is a list": (("state",), [1, 2]),
    "a field that is missing": (("state", "rule.gain"), ...),
    "a field too many": (("state", "rule.more"), [0.0]),
    "a field of another length": (("state", "rule.gain"), [0.0] * 4),
    "a field of nothing": (("state", "rule.gain"), []),
    "a field of text": (("state", "rule.gain"), ["a", "b", "c"]),
    "a field that is no list": (("state", "rule.gain"), 1.0),
    "a field of huge numbers": (("state", "rule.gain"), [10**400, 0, 0]),
    "negative squares": (("state", "rule.squares"), [-1.0, 0.0, 0.0]),
    "a negative rate": (("state", "rule.rates"), [-1.0, 0.1, 0.1]),
    "a count of parts": (("state", "rows"), [1.5]),
    "a count below zero": (("state", "rows"), [-1.0]),
    "a count beyond reach": (("state", "rows"), [1e300]),
    "an open step of another shape": (("open",), [[[1.0]], [[1]]]),
    "an open step of text": (("open",), "step"),
    "an open step where all sleep": (("open",), [[[0.0] * 3], [[0] * 3]]),
    "classes out of nowhere": (("classes",), {"type": "int64", "values": [0, 1]}),
    "metadata without a rule": (("parameters", "rule"), ...),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_modified_file_is_rejected(sound, name):
    ensemble, metadata = sound
    model_from_bytes(forged(ensemble, metadata))  # without a change it is valid
    with pytest.raises(ModelFileError):
        model_from_bytes(forged(ensemble, change(metadata, *HOSTILE[name])))


def test_infinity_and_nan_are_rejected(sound):
    ensemble, metadata = sound
    for value in (float("inf"), float("nan")):
        with pytest.raises(ModelFileError):
            model_from_bytes(
                forged(ensemble, change(metadata, ("state", "rule.gain"), [value, 0, 0]))
            )


def test_a_mixture_with_trees_is_rejected(sound):
    model = bosquet.GradientBoostingRegressor(n_estimators=2, min_samples_leaf=1)
    model.fit([[0.0], [1.0]], [0.0, 1.0])
    with_trees, _ = unpack_trees(model_bytes(model))
    with pytest.raises(ModelFileError, match="the file contains trees"):
        model_from_bytes(forged(with_trees, sound[1]))


@pytest.mark.parametrize("rule", list(RULES))
def test_random_changes_are_rejected_or_give_a_valid_mixture(rule):
    F, y = some_forecasts()
    mixture = stream(Mixture(rule, random_state=0), F[:10], y[:10])
    ensemble, metadata = parts(mixture)
    rng = np.random.default_rng(1)
    fields = list(metadata["state"])
    worked = 0
    for _ in range(60):
        name = fields[rng.integers(len(fields))]
        values = [float(v) for v in metadata["state"][name]]
        values[rng.integers(len(values))] = float(
            rng.choice([0, -1, 1e300, 1e-300, -1e300, 7, 0.5])
        )
        try:
            loaded = model_from_bytes(forged(ensemble, change(metadata, ("state", name), values)))
        except ModelFileError:
            continue
        str(loaded)
        with contextlib.suppress(ValueError):  # losses that overflow
            stream(loaded, F[10:14], y[10:14])
            worked += 1
    assert worked > 0


def test_a_truncated_or_damaged_file_is_rejected(sound):
    data = forged(*sound)
    for cut in (0, 10, 40, len(data) - 1):
        with pytest.raises(ModelFileError):
            model_from_bytes(data[:cut])
    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 1
    with pytest.raises(ModelFileError, match=r"damaged|checksum"):
        model_from_bytes(bytes(flipped))


def test_fixed_share_keeps_weights_that_underflowed():
    losses = np.tile([0.0, 5.0], (300, 1))
    whole = Mixture(FixedShare(0, learning_rate=2.0), "linear").fit(losses)
    half = Mixture(FixedShare(0, learning_rate=2.0), "linear").fit(losses[:200])
    half = model_from_bytes(model_bytes(half)).partial_fit(losses[200:])
    assert half._core.state() == whole._core.state()
    assert half.final_weights_.tolist() == [1.0, 0.0]
