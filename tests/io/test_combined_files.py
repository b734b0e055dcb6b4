"""Bagging and voting models in files: round trips, models that cannot be stored, inconsistent metadata."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from handmade import file_of
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import bosquet
from bosquet import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
    _core,
)
from bosquet.io import ModelFileError, model_bytes, model_from_bytes
from bosquet.io.container import pack_members, unpack_members

X, y = load_iris(return_X_y=True)
LABELS = np.array(["setosa", "versicolor", "virginica"])[y]


def small_tree(**options: Any) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=2, **options)


CLASSIFIERS = [
    BaggingClassifier(n_estimators=5, random_state=0),
    BaggingClassifier(
        small_tree(), 30, max_features=2, voting="hard", oob_score=True, random_state=1
    ),
    BaggingClassifier(small_tree(), 4, balanced=True, max_samples=0.5, random_state=2),
    BaggingClassifier(RandomForestClassifier(3), 3, bootstrap_features=True, random_state=3),
    BaggingClassifier(GradientBoostingClassifier(n_estimators=3, min_samples_leaf=5), 3),
    VotingClassifier(
        [("tree", small_tree()), ("gone", "drop"), ("forest", RandomForestClassifier(5))],
        weights=[2, 5, 1],
    ),
    VotingClassifier([("boost", GradientBoostingClassifier(n_estimators=3))], voting="real"),
    VotingClassifier(
        [
            ("bags", BaggingClassifier(VotingClassifier([("t", small_tree())]), 2)),
            ("t", small_tree()),
        ],
        voting="soft",
    ),
]
REGRESSORS = [
    BaggingRegressor(n_estimators=5, random_state=0),
    BaggingRegressor(DecisionTreeRegressor(criterion="poisson"), 5, max_samples=20),
    VotingRegressor(
        [("tree", DecisionTreeRegressor()), ("boost", GradientBoostingRegressor(n_estimators=3))],
        weights=[1, 2],
    ),
]


def check_same(model: Any, loaded: Any, table: Any) -> None:
    assert type(loaded) is type(model)
    np.testing.assert_array_equal(loaded.predict(table), model.predict(table))
    np.testing.assert_array_equal(loaded.votes(table), model.votes(table))
    assert model_bytes(loaded) == model_bytes(model)
    clone(loaded).fit(X, LABELS if hasattr(model, "classes_") else y)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_classifiers_are_equal_after_loading(model: Any, tmp_path: Any) -> None:
    model = clone(model).fit(X, LABELS)
    model.save(tmp_path / "model.bosquet")
    loaded = bosquet.load(tmp_path / "model.bosquet")
    check_same(model, loaded, X)
    assert loaded.classes_.tolist() == model.classes_.tolist()
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: type(model).__name__)
def test_regressors_are_equal_after_loading(model: Any) -> None:
    model = clone(model).fit(X, y)
    check_same(model, model_from_bytes(model_bytes(model)), X)


def test_several_targets_and_names_and_categories_survive() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"colour": pandas.Categorical(list("abc") * 50), "x": X[:, 0]})
    model = BaggingRegressor(DecisionTreeRegressor(max_depth=3), 3).fit(frame, X[:, 1:3])
    loaded = model_from_bytes(model_bytes(model))
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    assert loaded.feature_names_in_.tolist() == ["colour", "x"]
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"x": "z"}))


@pytest.mark.parametrize("weighted", [False, True])
def test_out_of_bag_results_are_equal_after_loading(weighted: bool) -> None:
    weight = np.random.default_rng(0).integers(0, 3, 150).astype(float) if weighted else None
    model = BaggingClassifier(small_tree(), 60, oob_score=True, random_state=0, warm_start=True)
    model.fit(X, LABELS, weight)
    loaded = model_from_bytes(model_bytes(model))
    for ours, theirs in zip(loaded.estimators_samples_, model.estimators_samples_, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(
        loaded.jackknife_standard_errors(X[:4]), model.jackknife_standard_errors(X[:4])
    )
    assert loaded.oob_error_ == model.oob_error_
    assert loaded.oob_learner_error_ == model.oob_learner_error_
    np.testing.assert_array_equal(loaded.oob_curve_, model.oob_curve_)
    for one in (model, loaded):
        one.set_params(n_estimators=65).fit(X, LABELS, weight)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.oob_curve_, model.oob_curve_)


def test_the_learner_of_a_bag_with_one_class_is_a_constant() -> None:
    rare = np.where(np.arange(150) < 2, "rare", "common")
    model = BaggingClassifier(n_estimators=12, random_state=0).fit(X, rare)
    kinds = {type(learner).__name__ for learner in model.estimators_}
    assert kinds == {"DecisionTreeClassifier", "DummyClassifier"}
    loaded = model_from_bytes(model_bytes(model))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert model_bytes(loaded) == model_bytes(model)


def test_missing_out_of_bag_errors_survive() -> None:
    for kind in (BaggingRegressor, RandomForestRegressor):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = kind(n_estimators=1, oob_score=True, random_state=0).fit([[0.0]], [1.0])
        loaded = model_from_bytes(model_bytes(model))
        assert np.isnan(loaded.oob_error_)
        assert np.isnan(loaded.oob_curve_).all()


# ---------------------------------------------------------------------- models that cannot be stored
def test_members_of_other_libraries_are_rejected_by_name(tmp_path: Any) -> None:
    line = LogisticRegression(max_iter=1000)
    model = VotingClassifier([("tree", small_tree()), ("line", line)]).fit(X, y)
    with pytest.raises(
        ValueError,
        match=r"the learner 'line' .*a sklearn\..*LogisticRegression; use pickle",
    ):
        model.save(tmp_path / "model.bosquet")
    assert not list(tmp_path.iterdir())
    bags = BaggingClassifier(line, 2).fit(X, y)
    with pytest.raises(ValueError, match=r"learner 0 .* a sklearn.*pickle or joblib"):
        bags.save(tmp_path / "model.bosquet")
    outer = VotingClassifier([("bags", BaggingClassifier(line, 2))]).fit(X, y)
    with pytest.raises(
        ValueError, match=r"'bags' \(BaggingClassifier\) cannot be saved: learner 0 "
    ):
        model_bytes(outer)
    rows = VotingRegressor([("f", RandomForestRegressor(2, keep_rows=True))]).fit(X, y)
    with pytest.raises(ValueError, match=r"'f' .* cannot be saved: a forest with keep_rows=True"):
        model_bytes(rows)


def test_models_nested_too_deeply_are_not_written() -> None:
    model: Any = small_tree()
    for _ in range(4):
        model = VotingClassifier([("inner", model)])
    with pytest.raises(ValueError, match="nested"):
        model_bytes(model.fit(X, y))
    with pytest.raises(ValueError, match="not fitted"):
        model_bytes(VotingClassifier([("t", small_tree())]))


# ----------------------------------------------------------------------------- inconsistent metadata
@pytest.fixture(scope="module")
def bagged() -> bytes:
    model = BaggingClassifier(small_tree(), 3, max_features=2, balanced=True, random_state=0)
    return model_bytes(model.fit(X, LABELS))


@pytest.fixture(scope="module")
def voting() -> bytes:
    model = VotingRegressor([("a", DecisionTreeRegressor(max_depth=1)), ("b", "drop")])
    return model_bytes(model.fit(X, y))


def changed(file: bytes, *path: Any, to: Any) -> bytes:
    found = unpack_members(file)
    assert found is not None
    parts, metadata = found
    inner: Any = metadata
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    return pack_members(parts, metadata)


@pytest.mark.parametrize(
    ("path", "to"),
    [
        (("estimator",), "DecisionTreeClassifier"),
        (("estimator",), "VotingClassifier"),
        (("estimator",), "BaggingRegressor"),
        (("parameters", "voting"), "loud"),
        (("parameters", "no_such_parameter"), 1),
        (("classes", "values"), ["setosa", "versicolor", "unknown"]),
        (("classes", "values"), ["virginica", "versicolor", "setosa"]),
        (("classes", "values"), []),
        (("n_features",), 1),
        (("n_features",), 0),
        (("n_features",), 4.0),
        (("feature_names",), ["a"]),
        (("feature_names",), [1, 2, 3, 4]),
        (("constants",), [None, None]),
        (("constants",), [None, None, 0]),
        (("constants",), [None, None, None, 3]),
        (("constants",), [None, None, None, "setosa"]),
        (("features",), [[0, 1]]),
        (("features",), [[0, 1], [0, 1], [0, 4]]),
        (("features",), [[0, 1], [0, 1], [-1, 1]]),
        (("features",), [[0, 1], [0, 1], None]),
        (("features",), [[0, 1], [0, 1], []]),
        (("sampler", "seed"), -1),
        (("sampler", "seed"), 1.5),
        (("sampler", "n_rows"), 0),
        (("sampler", "n_rows"), 10),
        (("sampler", "replace"), 1),
        (("sampler", "groups"), []),
        (("sampler", "groups", 0, "size"), 0),
        (("sampler", "groups", 0, "n_members"), 49),
        (("sampler", "groups", 0, "members"), None),
        (("sampler", "groups", 0, "members"), list(range(49, -1, -1))),
        (("sampler", "groups", 0, "members"), [*range(49), 150]),
        (("sampler", "groups", 0, "probability"), [0.1] * 50),
        (("sampler", "groups", 0, "probability"), [-1.0, 2.0] + [0.0] * 48),
    ],
)
def test_inconsistent_metadata_is_rejected(bagged: bytes, path: Any, to: Any) -> None:
    model_from_bytes(changed(bagged, "n_features", to=4))
    with pytest.raises(ModelFileError):
        model_from_bytes(changed(bagged, *path, to=to))


@pytest.mark.parametrize(
    ("path", "to"),
    [
        (("names",), ["a"]),
        (("names",), ["a", "a"]),
        (("names",), ["a", 1]),
        (("dropped",), [True, True]),
        (("dropped",), [False, False]),
        (("parameters", "weights"), [1.0]),
        (("parameters", "weights"), [0.0, 1.0]),
        (("n_features",), 5),
        (("estimator",), "VotingClassifier"),
    ],
)
def test_inconsistent_metadata_of_votes_is_rejected(voting: bytes, path: Any, to: Any) -> None:
    model_from_bytes(changed(voting, "n_features", to=4))
    with pytest.raises(ModelFileError):
        model_from_bytes(changed(voting, *path, to=to))


def test_members_must_be_consistent() -> None:
    one = DecisionTreeRegressor(max_depth=1).fit(X, y)
    two = DecisionTreeRegressor(max_depth=1).fit(X, X[:, :2])
    model = VotingRegressor([("a", one), ("b", one)]).fit(X, y)
    found = unpack_members(model_bytes(model))
    assert found is not None
    with pytest.raises(ModelFileError, match="number of targets"):
        model_from_bytes(pack_members([model_bytes(one), model_bytes(two)], found[1]))
    classes = model_bytes(small_tree().fit(X, y))
    with pytest.raises(ModelFileError, match="cannot be a member"):
        model_from_bytes(pack_members([model_bytes(one), classes], found[1]))
    with pytest.raises(ModelFileError, match="must be the number of members"):
        model_from_bytes(pack_members([model_bytes(one)], found[1]))


def test_parts_nested_too_deeply_are_rejected() -> None:
    model = VotingClassifier([("inner", small_tree())]).fit(X, y)
    file = model_bytes(model)
    metadata = unpack_members(file)[1]  # type: ignore[index]
    for _ in range(2):
        file = pack_members([file], metadata)
    assert model_from_bytes(file).predict(X).shape == (150,)
    with pytest.raises(ModelFileError, match="nested more than"):
        model_from_bytes(pack_members([file], metadata))


def test_a_file_of_parts_made_by_hand_is_read() -> None:
    tree = model_bytes(DecisionTreeRegressor(max_depth=1).fit(X, y))
    written = pack_members([tree, tree], {"a": 1})
    assert file_of((b"META", b'{"a":1}'), (b"PART", tree), (b"PART", tree)) == written
    assert _core.holds_parts(written)
    assert not _core.holds_parts(tree)
    with pytest.raises(ModelFileError):
        _core.read_model(written)
    with pytest.raises(ModelFileError, match="a part is missing or out of order"):
        _core.read_parts(tree)


@pytest.mark.parametrize(
    "learner",
    [
        DecisionTreeClassifier(max_depth=2),
        GradientBoostingClassifier(n_estimators=3),
        bosquet.AdaBoostClassifier(n_estimators=3),
        VotingClassifier([("boosting", GradientBoostingClassifier(n_estimators=3))]),
        bosquet.BinomialRegression(),
    ],
    ids=lambda learner: type(learner).__name__,
)
@pytest.mark.parametrize("container", ["frame", "array"])
def test_a_bag_fitted_to_text_is_read_again(learner: Any, container: str) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("statsmodels")
    random = np.random.default_rng(0)
    size, colour = random.normal(size=120), random.choice(["red", "green"], 120)
    table = pandas.DataFrame({"size": size, "colour": colour})
    rows = table if container == "frame" else table.to_numpy(dtype=object)
    target = (size + (colour == "red") + random.normal(size=120)) > 0
    bag = BaggingClassifier(learner, 3, random_state=0).fit(rows, target)
    again = model_from_bytes(model_bytes(bag))
    np.testing.assert_array_equal(again.predict(rows), bag.predict(rows))
