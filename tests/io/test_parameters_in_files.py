"""Parameters survive a file with their values and types; those that cannot be stored must be set again."""

from __future__ import annotations

import json
import math
import warnings
from typing import Any

import numpy as np
import pytest
from changed_files import change_metadata, metadata_of
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold

import bosquet
from bosquet import (
    AdaBoostClassifier,
    BaggingClassifier,
    CalibratedModel,
    DecisionTreeClassifier,
    GradientBoostingClassifier,
    Mixture,
    ModelFileError,
    RandomForestClassifier,
    SuperLearnerClassifier,
    VotingClassifier,
    _core,
)
from bosquet._parameters import NotStored
from bosquet.experts import ExponentialWeights
from bosquet.io import model_bytes, model_from_bytes, unpack_trees
from bosquet.io.parameters import ReadContext, Unstorable, decode_value, encode_value

X, y = load_iris(return_X_y=True)


def written_and_read(model: Any) -> Any:
    return model_from_bytes(model_bytes(model))


def are_identical(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return type(other) is np.ndarray and one.dtype == other.dtype and one.shape == other.shape
    if isinstance(one, float) and math.isnan(one):
        return math.isnan(other)
    if isinstance(one, list | tuple):
        return (
            type(one) is type(other)
            and len(one) == len(other)
            and all(map(are_identical, one, other))
        )
    return type(one) is type(other) and one == other


VALUES = [
    None, True, 3, -(2**63), 0.1, -0.0, "text", "\ud800 unpaired", math.inf, -math.inf, math.nan,
    [1, [2.0, None]], (1, (2, 3)), [], (), {}, {0: 1, 1: 5}, {0: 1.5, "a": None, True: [1]},
    {0.5: "x", None: 2}, {"a": {"b": (1,)}}, {1, 2, 3}, frozenset({"a", 1}), set(), range(1, 9, 2),
    [{0, 1}, {2}], np.array([1, 0, -1]), np.array([[0, 1.5], [np.nan, np.inf]]),
    np.array([True, False]), np.array(["a", "été"]), np.array([], dtype=np.float32),
    np.array([1, "a"], dtype=object), np.zeros((2, 0, 3)),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES)
def test_a_plain_value_keeps_its_type(value: Any) -> None:
    text = json.dumps(encode_value(value), allow_nan=False)
    found = decode_value(json.loads(text), ReadContext())
    assert are_identical(value, found), found
    assert json.dumps(encode_value(found)) == text
    if isinstance(value, np.ndarray):
        np.testing.assert_array_equal(found, value)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.int32(3), 3),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        ({np.int64(0): np.float64(1.5)}, {0: 1.5}),
    ],
)
def test_a_scalar_of_numpy_becomes_one_of_python(value: Any, plain: Any) -> None:
    assert are_identical(decode_value(encode_value(value), ReadContext()), plain)


def test_columns_of_other_libraries_become_arrays() -> None:
    pandas = pytest.importorskip("pandas")
    found = decode_value(encode_value(pandas.Series([1.0, 2.0])), ReadContext())
    assert are_identical(found, np.array([1.0, 2.0]))


@pytest.mark.parametrize(
    "value", [len, object(), [len], {(1, 2): 3}, 2**64, 1j, KFold(), {"a": {object()}}, slice(3)]
)
def test_values_that_a_file_cannot_store_raise_unstorable(value: Any) -> None:
    with pytest.raises(Unstorable):
        encode_value(value)


HOSTILE = {
    "two tags": {"tuple": [], "set": []},
    "no tag": {},
    "an unknown tag": {"lambda": "x"},
    "a tuple of nothing": {"tuple": 5},
    "a dict that is no list of pairs": {"dict": [[1, 2, 3]]},
    "a dict with a key twice": {"dict": [[1, 2], [True, 3]]},
    "a key that is a list": {"dict": [[[1], 2]]},
    "a set with a member twice": {"set": [1, 1.0]},
    "a range without a step": {"range": [1, 2]},
    "a range with step 0": {"range": [0, 5, 0]},
    "a range of more numbers than a file holds": {"range": [0, 2**27, 1]},
    "a range whose length overflows": {"range": [-(2**63), 2**63, 1]},
    "a float that is finite": {"float": "1.5"},
    "an array without its shape": {"array": {"type": "float64", "values": [1.0]}},
    "an array of another shape": {"array": {"type": "float64", "shape": [9], "values": [1.0]}},
    "an array of a type that is none": {"array": {"type": "V8", "shape": [0], "values": []}},
    "a huge array of text": {"array": {"type": "U262144", "shape": [0], "values": []}},
    "a part that there is not": {"part": 0},
    "an estimator that is none": {"estimator": {"name": "Popen", "parameters": {}}},
    "an estimator of nothing": {"estimator": 5},
    "parameters of another": {
        "estimator": {"name": "DecisionTreeClassifier", "parameters": {"loss": "x"}}
    },
    "parameters out of range": {
        "estimator": {"name": "DecisionTreeClassifier", "parameters": {"max_depth": -1}}
    },
    "a number of threads": {
        "estimator": {"name": "RandomForestClassifier", "parameters": {"n_jobs": 4}}
    },
    "a number of 65 bits": 2**64,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_an_invalid_value_is_rejected(name: str) -> None:
    data = model_bytes(GradientBoostingClassifier(n_estimators=1).fit(X, y))
    with pytest.raises(ModelFileError):
        model_from_bytes(change_metadata(data, "parameters", "scoring", to=HOSTILE[name]))


# ------------------------------------------------------------------------------- in whole models
def test_weights_of_classes_and_constraints_survive() -> None:
    two = (y > 0).astype(int)
    forest = RandomForestClassifier(3, class_weight={0: 1, 1: 5}, random_state=0).fit(X, two)
    assert written_and_read(forest).class_weight == {0: 1, 1: 5}
    model = GradientBoostingClassifier(n_estimators=3, monotonic_cst={0: 1, 3: -1}, random_state=0)
    loaded = written_and_read(model.fit(X, two))
    assert loaded.monotonic_cst == {0: 1, 3: -1}
    assert model_bytes(loaded.fit(X, two)) == model_bytes(clone(model).fit(X, two))


def test_a_loaded_model_is_fitted_again_to_the_same_model() -> None:
    weighted = DecisionTreeClassifier(
        class_weight={0: 1.0, 1: 9.0, 2: 1.0}, max_depth=3, random_state=0
    )
    for model in (
        weighted,
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), 3, random_state=0),
        BaggingClassifier(DecisionTreeClassifier(random_state=5), 3, random_state=0),
        VotingClassifier([("a", weighted), ("b", "drop")]),
        SuperLearnerClassifier(
            [("a", weighted), ("b", DecisionTreeClassifier(random_state=0))], random_state=0
        ),
        CalibratedModel(RandomForestClassifier(5, random_state=0), cv=3),
    ):
        model.fit(X, y)
        loaded = written_and_read(model)
        assert repr(loaded.get_params()) == repr(model.get_params())
        assert model_bytes(loaded.fit(X, y)) == model_bytes(clone(model).fit(X, y))


def test_the_rule_of_a_mixture_keeps_its_parameters() -> None:
    rule = ExponentialWeights([0.1, np.float64(1.0)])
    mixture = Mixture(rule, prior=np.array([1, 2, 1]), random_state=0).fit(np.eye(3), np.ones(3))
    loaded = written_and_read(mixture)
    assert type(loaded.rule) is ExponentialWeights
    assert loaded.rule.learning_rate == [0.1, 1.0]
    assert are_identical(loaded.prior, mixture.prior)
    assert model_bytes(loaded.fit(np.eye(3), np.ones(3))) == model_bytes(mixture)


def test_the_number_of_threads_is_not_in_a_file() -> None:
    inner = RandomForestClassifier(2, n_jobs=2)
    for model in (inner, BaggingClassifier(inner, 2, n_jobs=2), VotingClassifier([("f", inner)])):
        data = model_bytes(model.fit(X, y))
        assert b"n_jobs" not in data
        loaded = model_from_bytes(data)
        assert {value for key, value in loaded.get_params().items() if "n_jobs" in key} == {None}
        with pytest.raises(ModelFileError, match="n_jobs"):
            model_from_bytes(change_metadata(data, "parameters", "n_jobs", to=4000))


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("callbacks", [print], "builtin_function_or_method"),
        ("random_state", np.random.RandomState(0), "RandomState"),
        ("scoring", lambda model, X, y: 1.0, "function"),
    ],
)
def test_the_error_names_a_parameter_that_was_not_stored(name: str, value: Any, kind: str) -> None:
    model = GradientBoostingClassifier(n_estimators=2, early_stopping=False).set_params(
        **{name: value}
    )
    loaded = written_and_read(written_and_read(model.fit(X, y)))
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert getattr(loaded, name) == NotStored(kind)
    for one in (loaded, clone(loaded)):
        with pytest.raises(ValueError, match=rf"{name}=<{kind}, not stored.*set_params\({name}="):
            one.fit(X, y)
    loaded.set_params(**{name: None}).fit(X, y)


def test_the_error_names_a_parameter_of_a_member_that_was_not_stored() -> None:
    tree = DecisionTreeClassifier(random_state=np.random.RandomState(0))
    model = BaggingClassifier(tree, 2, random_state=0).fit(X, y)
    loaded = written_and_read(model)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="not stored"):
        loaded.estimator.fit(X, y)


def test_a_splitter_must_be_set_again() -> None:
    model = SuperLearnerClassifier([("a", DecisionTreeClassifier())], cv=KFold(3, shuffle=True))
    with pytest.raises(ValueError, match="cv=<KFold, not stored"):
        written_and_read(model.fit(X, y)).fit(X, y)


def test_parameters_that_fit_would_reject_are_not_written() -> None:
    model = RandomForestClassifier(2).fit(X, y).set_params(max_depth=-1)
    with pytest.raises(ValueError, match="max_depth=-1 is not valid"):
        model_bytes(model)


def test_a_subclass_is_not_written_under_the_name_of_its_parent() -> None:
    class MyForest(RandomForestClassifier):
        pass

    with pytest.raises(ValueError, match=r"but this is a .*MyForest"):
        model_bytes(MyForest(2).fit(X, y))


def test_deeply_nested_metadata_is_rejected_in_writing_and_reading() -> None:
    deep: Any = 1
    for _ in range(70):
        deep = [deep]
    model = RandomForestClassifier(2).fit(X, y).set_params(categorical_features=deep)
    with pytest.raises(ValueError, match="nested more than 64 levels deep"):
        model_bytes(model)
    trees, metadata = unpack_trees(model_bytes(model.set_params(categorical_features="MARK")))
    text = json.dumps(metadata)
    for depth in (65, 450, 100_000):
        deep_text = text.replace('"MARK"', "[" * depth + "]" * depth)
        with pytest.raises(ModelFileError, match="nested more than"):
            model_from_bytes(_core.write_model(trees, deep_text.encode()))
    brackets = text.replace('"MARK"', json.dumps("[" * 100 + '\\"{' * 100))  # inside of a text
    model_from_bytes(_core.write_model(trees, brackets.encode()))


# -------------------------------------------------------------------------------------- versions
def written_by(version: str, data: bytes, **more: Any) -> bytes:
    metadata = metadata_of(data)
    metadata["bosquet"] = version
    return change_metadata(
        change_metadata(data, "bosquet", to=version), "parameters", to=metadata["parameters"] | more
    )


def test_a_file_names_the_version_that_wrote_it() -> None:
    data = model_bytes(DecisionTreeClassifier().fit(X, y))
    assert metadata_of(data)["bosquet"] == bosquet.__version__
    for wrong in ("", "new", 5, None, "1" * 5000 + ".0.0"):
        with pytest.raises(ModelFileError):
            model_from_bytes(change_metadata(data, "bosquet", to=wrong))


def test_a_newer_file_predicts_without_its_unknown_parameters() -> None:
    model = RandomForestClassifier(3, random_state=0).fit(X, y)
    data = written_by("99.1.0", model_bytes(model), colour="red")
    data = change_metadata(data, "something_new", to={"a": [1]})
    data = change_metadata(data, "out_of_bag", "something_new", to=1)
    with pytest.warns(UserWarning, match=r"99\.1\.0 with RandomForestClassifier\.colour"):
        loaded = model_from_bytes(data)
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    with pytest.raises(ValueError, match=r"RandomForestClassifier\.colour.*upgrade"):
        loaded.fit(X, y)


def test_the_error_for_an_unreadable_newer_file_names_the_version() -> None:
    data = written_by("99.1.0", model_bytes(RandomForestClassifier(3).fit(X, y)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # known parameters do not cause a warning
        model_from_bytes(data)
    for wrong in (
        change_metadata(data, "estimator", to="QuantumForest"),
        change_metadata(data, "seed", to={"of": "a new kind"}),
        change_metadata(data, "requires", to=["temperature"]),
        change_metadata(data, "parameters", "criterion", to="new"),
    ):
        with pytest.raises(ModelFileError, match=r"written by Bosquet 99\.1\.0.*upgrade"):
            model_from_bytes(wrong)


def test_unknown_keys_in_a_file_of_this_version_are_rejected() -> None:
    data = model_bytes(RandomForestClassifier(3).fit(X, y))
    for path in (("colour",), ("parameters", "colour"), ("encoder", "colour"), ("out_of_bag", "c")):
        with pytest.raises(ModelFileError, match=r"colour|\.c"):
            model_from_bytes(change_metadata(data, *path, to=1))


def test_an_older_file_may_lack_new_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    data = model_bytes(RandomForestClassifier(3, random_state=0).fit(X, y))
    older = change_metadata(
        change_metadata(data, "bosquet", to="0.0.1"), "parameters", "verbose", to=...
    )
    assert model_from_bytes(older).verbose == 0
    with pytest.raises(ModelFileError, match=r"parameters\.verbose"):
        model_from_bytes(change_metadata(data, "parameters", "verbose", to=...))
