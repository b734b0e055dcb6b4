"""A file that loads gives a valid model: probabilities are valid, and the model can be saved again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from changed_files import change_metadata, metadata_of, paths_of_values
from handmade import Leaf, Split, ensemble_bytes, file_of
from sklearn.datasets import load_iris

import bosquet
from bosquet import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    BrownBoostClassifier,
    CalibratedModel,
    ConformalModel,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    LPBoostClassifier,
    Mixture,
    ModelFileError,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
    _core,
)
from bosquet.glm import LinearModel
from bosquet.io import model_bytes, model_from_bytes, unpack_trees
from bosquet.io.container import pack_members, unpack_members
from bosquet.tables import TableModel
from bosquet.tables.tidying import TableTidier

X, y = load_iris(return_X_y=True)
TWO = (y > 0).astype(int)


def with_trees(data: bytes, trees: list[Any], base: tuple[float, ...], features: int = 4) -> bytes:
    """Return the metadata of a file with different trees."""
    section = ensemble_bytes(trees, features, base=base)
    text = _core.read_model(data)[1]
    return file_of((b"META", text), (b"TREE", section), crc=_core.checksum)


def stump(left: Any, right: Any) -> Split:
    return Split(0, Leaf(left, 50.0), Leaf(right, 100.0), threshold=5.0, cover=150.0)


# ------------------------------------------------------------------------------------ probabilities
@pytest.fixture(scope="module")
def forest_of_three() -> bytes:
    return model_bytes(RandomForestClassifier(1, max_depth=1).fit(X, y))


@pytest.fixture(scope="module")
def forest_of_two() -> bytes:
    return model_bytes(RandomForestClassifier(1, max_depth=1).fit(X, TWO))


def test_leaves_of_a_forest_may_have_any_proportions(
    forest_of_three: bytes, forest_of_two: bytes
) -> None:
    model = model_from_bytes(
        with_trees(forest_of_three, [stump((0.25, 0.75, 0.0), (0.0, 0.0, 1.0))], (0.0,) * 3)
    )
    assert model.predict_proba(np.zeros((1, 4))).tolist() == [[0.25, 0.75, 0.0]]
    model = model_from_bytes(with_trees(forest_of_two, [stump(0.25, 1.0)], (0.0,)))
    assert model.predict_proba(np.zeros((1, 4))).tolist() == [[0.75, 0.25]]


@pytest.mark.parametrize(
    "shares",
    [(0.5, 0.5, 0.5), (1.5, -0.5, 0.0), (0.0, 0.0, 0.0), (0.5, 0.5, 1e-6), (1e300, 0.0, 0.0)],
    ids=repr,
)
def test_leaves_that_are_not_class_proportions_are_rejected(
    forest_of_three: bytes, shares: tuple[float, ...]
) -> None:
    with pytest.raises(ModelFileError, match="proportions of the classes"):
        model_from_bytes(with_trees(forest_of_three, [stump((1.0, 0.0, 0.0), shares)], (0.0,) * 3))


@pytest.mark.parametrize("share", [-0.5, 1.5, 1 + 1e-12])
def test_the_proportion_of_the_second_class_is_in_0_1(forest_of_two: bytes, share: float) -> None:
    with pytest.raises(ModelFileError, match="proportions of the classes"):
        model_from_bytes(with_trees(forest_of_two, [stump(0.5, share)], (0.0,)))


def test_the_base_of_a_forest_must_be_zero(forest_of_two: bytes) -> None:
    with pytest.raises(ModelFileError, match="proportions of the classes"):
        model_from_bytes(with_trees(forest_of_two, [stump(0.5, 0.5)], (0.25,)))
    numbers = model_bytes(RandomForestRegressor(1, max_depth=1).fit(X, y))
    with pytest.raises(ModelFileError, match="base of a tree or a forest"):
        model_from_bytes(with_trees(numbers, [stump(0.5, 0.5)], (0.25,)))


def test_class_proportions_sum_to_1_for_each_target() -> None:
    data = model_bytes(RandomForestClassifier(1, max_depth=1).fit(X, np.column_stack([y, TWO])))
    good, bad = (0.5, 0.5, 0.0, 0.25, 0.75), (0.5, 0.0, 0.0, 0.75, 0.75)
    model_from_bytes(with_trees(data, [stump(good, good)], (0.0,) * 5))
    with pytest.raises(ModelFileError, match="proportions of the classes"):
        model_from_bytes(with_trees(data, [stump(good, bad)], (0.0,) * 5))


SUMS = {
    "boosted classes": GradientBoostingClassifier(n_estimators=1),
    "boosted numbers": GradientBoostingRegressor(n_estimators=1),
    "a vote": AdaBoostClassifier(n_estimators=1),
    "brownboost": BrownBoostClassifier(n_estimators=1),
}


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.filterwarnings("ignore")
def test_sums_that_overflow_are_rejected(name: str) -> None:
    data = model_bytes(SUMS[name].fit(X[:, :1], y > 1))
    for value in (1e300, -1.7e308):
        with pytest.raises(ModelFileError, match="too large"):
            model_from_bytes(with_trees(data, [stump(0.0, value)], (0.0,), features=1))
    with pytest.raises(ModelFileError, match="too large"):
        model_from_bytes(with_trees(data, [stump(0.0, 1.0)], (1e200,), features=1))


def test_a_forest_whose_trees_add_up_to_infinity_is_rejected() -> None:
    data = model_bytes(RandomForestRegressor(2, max_depth=1).fit(X, y))
    model_from_bytes(with_trees(data, [stump(0.0, 5e307)] * 2, (0.0,)))
    with pytest.raises(ModelFileError, match="infinity"):
        model_from_bytes(with_trees(data, [stump(0.0, 1e308)] * 2, (0.0,)))


def test_a_boosted_classifier_of_one_class_is_rejected() -> None:
    data = model_bytes(GradientBoostingClassifier(loss="squared_hinge", n_estimators=1).fit(X, TWO))
    with pytest.raises(ModelFileError, match=r"'classes' has 1 class"):
        model_from_bytes(change_metadata(data, "classes", to={"type": "int64", "values": [0]}))


def test_a_class_that_is_written_as_an_infinite_number_is_rejected() -> None:
    data = model_bytes(DecisionTreeClassifier(max_depth=1).fit(X, TWO + 1.0))
    tree, text = _core.read_model(data)
    huge = text.replace(b"[1.0,2.0]", b"[1.0,1" + b"0" * 250 + b"e99]")
    assert huge != text
    with pytest.raises(ModelFileError, match="too large"):
        model_from_bytes(_core.write_model(tree, huge))


def test_members_that_disagree_on_a_text_column_are_rejected() -> None:
    import pandas as pd

    texts = pd.DataFrame({"a": X[:, 0], "b": pd.Categorical(np.where(X[:, 1] > 3, "u", "v"))})
    numbers = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    first, second = (
        VotingClassifier([("x", DecisionTreeClassifier()), ("y", DecisionTreeClassifier())]).fit(
            t, y
        )
        for t in (texts, numbers)
    )
    parts, metadata = unpack_members(model_bytes(first))
    others, _ = unpack_members(model_bytes(second))
    assert model_from_bytes(pack_members(parts, metadata)) is not None
    with pytest.raises(ModelFileError, match="column 1 is text for one member"):
        model_from_bytes(pack_members([parts[0], others[1]], metadata))


def test_a_tidier_that_returns_numbers_for_a_text_column_is_rejected() -> None:
    frame = pd.DataFrame({"colour": ["u", "v"] * 10, "size": np.arange(20.0)})
    tidier = TableTidier().fit(frame)
    tree = DecisionTreeRegressor(max_depth=1).fit(tidier.transform(frame), np.arange(20.0))
    parts, metadata = unpack_members(model_bytes(TableModel(tree, tidier)))
    metadata["table"]["columns"][0] = {"name": "colour", "kind": "number"}
    with pytest.raises(
        ModelFileError, match="numbers for the column 'colour', but the model needs text"
    ):
        model_from_bytes(pack_members(parts, metadata))


def test_an_unpaired_surrogate_in_a_regression_model_is_rejected() -> None:
    frame = pd.DataFrame({"a": np.arange(20.0) % 3, "b": ["u", "v"] * 10, "y": np.arange(20.0)})
    file = model_bytes(LinearModel("y ~ a + b").fit(frame))
    for place in paths_of_values(metadata_of(file)["design"]):
        value = metadata_of(file)["design"]
        for key in place:
            value = value[key]
        if isinstance(value, str):
            with pytest.raises(ModelFileError):
                model_from_bytes(change_metadata(file, "design", *place, to="\ud800"))


def test_max_absolute_prediction_bounds_the_sums_of_leaves() -> None:
    trees = [stump(1.0, -3.0), stump(2.0, 1.0), stump(-0.5, 0.0), Leaf(4.0)]
    section = ensemble_bytes(trees, 1, base=(-1.0, 2.0))
    file = file_of((b"META", b"{}"), (b"TREE", section), crc=_core.checksum)
    assert _core.read_model(file)[0].max_absolute_prediction().tolist() == [1 + 3 + 0.5, 2 + 2 + 4]
    section = ensemble_bytes([stump((1.0, -2.0), (-3.0, 1.0))] * 2, 1, base=(0.0, 0.5))
    file = file_of((b"META", b"{}"), (b"TREE", section), crc=_core.checksum)
    assert _core.read_model(file)[0].max_absolute_prediction().tolist() == [6.0, 4.5]


# ------------------------------------------------------------------------------ invalid metadata
MODELS: dict[str, Any] = {
    "forest": lambda: RandomForestClassifier(3, max_depth=2, oob_score=True).fit(X, y),
    "weighted forest": lambda: RandomForestRegressor(2, max_depth=2).fit(X, y, y),
    "tree": lambda: DecisionTreeClassifier(max_depth=2, missing="surrogate").fit(X, y),
    "vote": lambda: AdaBoostClassifier(n_estimators=2, multiclass="ecoc").fit(X, y),
    "voting": lambda: VotingClassifier([("a", DecisionTreeClassifier()), ("b", "drop")]).fit(X, y),
    "numbers": lambda: VotingRegressor([("a", DecisionTreeRegressor(max_depth=1))]).fit(X, y),
    "bags": lambda: BaggingRegressor(DecisionTreeRegressor(max_depth=1), 3).fit(X, y),
    "calibrated": lambda: CalibratedModel(DecisionTreeClassifier(max_depth=2), cv=2).fit(X, y),
    "conformal": lambda: ConformalModel(DecisionTreeRegressor(max_depth=2)).fit(X, y),
    "out of bag": lambda: ConformalModel(RandomForestRegressor(9, max_depth=1), "oob").fit(X, y),
    "boosted": lambda: GradientBoostingClassifier(n_estimators=2).fit(X, y),
    "quantiles": lambda: GradientBoostingRegressor(
        "quantile", quantile=[0.1, 0.9], n_estimators=2
    ).fit(X, y),
    "ridge": lambda: Mixture("ridge").fit(X, y),
    "mixture of classes": lambda: Mixture("ogd", "square", classes=3).fit(
        np.full((5, 2, 3), 1 / 3), [0, 1, 2, 0, 1]
    ),
    "margins": lambda: LPBoostClassifier(n_estimators=3, nu=0.5).fit(X, TWO),
}
WRONG: list[tuple[str, tuple[Any, ...], Any]] = [
    ("forest", ("rows",), 0),
    ("forest", ("rows",), -1),
    ("forest", ("rows",), 2**40),
    ("forest", ("rows",), True),
    ("forest", ("draws",), 151),  # more than there are rows
    ("forest", ("draws",), 2**32 - 1),
    ("forest", ("draws",), 0),
    ("forest", ("keys",), [1, 2]),
    ("forest", ("keys", 0), 2**64),
    ("forest", ("keys", 0), 1.5),
    ("forest", ("seed",), -1),
    ("forest", ("out_of_bag", "oob_error_"), ["nan"]),
    ("forest", ("out_of_bag", "oob_curve_"), "long"),
    ("forest", ("parameters", "criterion"), "squared_error"),
    ("forest", ("parameters", "bootstrap"), False),  # and out-of-bag errors
    ("weighted forest", ("kept_rows",), [0, 1]),
    ("weighted forest", ("kept_rows", 0), 149),
    ("tree", ("nodes", "value", 0), [0.5, 0.5, 0.5]),
    ("tree", ("nodes", "value", 0), [0.5, 0.5]),
    ("tree", ("nodes", "weight", 0), 5.0),
    ("tree", ("nodes", "n_rows"), []),
    ("tree", ("nodes", "surrogates", "feature", 0), 4),
    ("tree", ("nodes", "surrogates", "threshold", 0), None),
    ("tree", ("nodes", "surrogates", "threshold", 0), "nan"),
    ("tree", ("nodes", "surrogates", "left_categories", 0), [0]),
    ("tree", ("nodes", "surrogates", "reversed", 0), 1),
    ("tree", ("nodes", "surrogates", "counts", 0), 1),
    ("tree", ("nodes", "surrogates", "more"), 1),
    ("tree", ("nodes", "competitors"), 5),
    ("tree", ("costs", "matrix"), [[0.0]]),
    ("vote", ("decision", "kind"), "votes"),
    ("vote", ("decision", "matrix", 0, 0), 0.5),
    ("vote", ("rounds", "scale"), []),
    ("vote", ("rounds", "scale", 0, 0), 1e-300),
    ("vote", ("rounds", "scale", 0, 0), None),
    ("vote", ("as_vote", "kind"), "unknown"),
    ("vote", ("learner",), {"estimator": {"name": "RandomForestClassifier", "parameters": {}}}),
    ("voting", ("names",), ["a"]),
    ("voting", ("names",), []),
    ("voting", ("dropped",), [False, False]),
    ("voting", ("dropped",), [0, 1]),
    ("voting", ("parameters", "voting"), "real"),
    ("voting", ("parameters", "weights"), [1.0]),
    ("numbers", ("parameters", "weights"), [0.0]),
    ("numbers", ("n_features",), 5),
    ("bags", ("sampler", "groups", 0, "size"), 2**32 - 1),
    ("bags", ("sampler", "groups", 0, "size"), 151),
    ("bags", ("sampler", "n_rows"), 2**31),
    ("bags", ("learner",), None),
    ("bags", ("learner",), "tree"),
    ("calibrated", ("members", 0, "floor"), None),
    ("calibrated", ("members", 0, "floor"), 0.6),
    ("calibrated", ("members", 0, "calibrators", 0, "state", "score"), [1.0, 0.0]),
    ("calibrated", ("members", 0, "calibrators", 0, "state", "probability", 0), 1.5),
    ("calibrated", ("parameters", "model"), {"part": 1}),
    ("conformal", ("residual", 0), -1e200),
    ("conformal", ("residual",), []),
    ("conformal", ("residual", 0), 1e9),  # not sorted
    ("conformal", ("parameters", "method"), "cqr"),
    ("out of bag", ("held_out", "n_rows"), 151),
    ("out of bag", ("held_out", "rows"), list(range(149))),
    ("boosted", ("loss", "outputs"), 2**31),
    ("boosted", ("loss", "name"), "squared_error"),
    ("boosted", ("runs",), 3),
    ("boosted", ("parameters", "estimator"), "tree"),
    ("quantiles", ("loss", "parameters"), [0.1]),
    ("quantiles", ("loss", "parameters"), [0.1, 1.5]),
    ("quantiles", ("loss", "parameters"), [0.1, 0.1]),
    ("quantiles", ("loss", "targets"), 2),
    ("ridge", ("experts",), 10**6),
    ("ridge", ("state", "rule.root"), []),
    ("ridge", ("state", "\ud800"), [1.0]),  # not UTF-8, which the core needs
    ("mixture of classes", ("parameters", "classes"), 10**9),
    ("mixture of classes", ("state", "rule.weights"), [5.0, -4.0]),
    ("margins", ("arrays", "estimator_weights_"), [1.0] * 9),
    ("margins", ("classes", "values"), [0, 1, 2]),
]


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return {name: model_bytes(fit()) for name, fit in MODELS.items()}


@pytest.mark.parametrize(
    ("name", "path", "to"),
    WRONG,
    ids=[f"{n}-{'.'.join(map(ascii, p))}-{i}" for i, (n, p, _) in enumerate(WRONG)],
)
def test_impossible_metadata_is_rejected(
    files: dict[str, bytes], name: str, path: tuple[Any, ...], to: Any
) -> None:
    model_from_bytes(files[name])
    with pytest.raises(ModelFileError):
        model_from_bytes(change_metadata(files[name], *path, to=to))


@pytest.mark.parametrize(
    ("loss", "values", "wanted"),
    [
        ("huber", [0.0], r"numbers in \(0, 1\)"),
        ("huber", [1.0], r"numbers in \(0, 1\)"),
        ("quantile", [1.0], r"numbers in \(0, 1\)"),
        ("expectile", [0.0], r"numbers in \(0, 1\)"),
        ("expectile", [], r"numbers in \(0, 1\)"),
        ("tweedie", [1.0], r"numbers in \(1, 2\)"),
        ("tweedie", [2.0], r"numbers in \(1, 2\)"),
        ("squared_error", [0.5], "an empty list"),
    ],
)
def test_a_parameter_outside_the_range_of_its_loss_is_rejected(
    loss: str, values: list[float], wanted: str
) -> None:
    data = model_bytes(GradientBoostingRegressor(loss, n_estimators=1).fit(X, y + 1.0))
    model_from_bytes(data)
    message = rf"^invalid model file: 'parameters' is .*{wanted} for loss='{loss}'"
    with pytest.raises(ModelFileError, match=message):
        model_from_bytes(change_metadata(data, "loss", "parameters", to=values))


@pytest.mark.parametrize("name", MODELS)
def test_metadata_with_a_missing_key_is_rejected(files: dict[str, bytes], name: str) -> None:
    metadata = metadata_of(files[name])
    for path in [(key,) for key in metadata] + [("parameters", k) for k in metadata["parameters"]]:
        with pytest.raises(ModelFileError):
            model_from_bytes(change_metadata(files[name], *path, to=...))


def test_inconsistent_members_are_rejected(files: dict[str, bytes]) -> None:
    parts, metadata = unpack_members(files["numbers"])  # type: ignore[misc]
    two = model_bytes(DecisionTreeRegressor(max_depth=1).fit(X, X[:, :2]))
    quantiles = unpack_members(files["conformal"])
    for part in (files["forest"], files["ridge"], files["boosted"]):
        with pytest.raises(ModelFileError):
            model_from_bytes(pack_members([part], metadata))
    model_from_bytes(pack_members([two], metadata))  # one member, of two targets
    with pytest.raises(ModelFileError, match="1 number"):
        model_from_bytes(pack_members([two], quantiles[1]))  # type: ignore[index]
    with pytest.raises(ModelFileError):
        model_from_bytes(pack_members([*parts, *parts], metadata))
    with pytest.raises(ModelFileError):
        model_from_bytes(pack_members([], metadata))


def test_trees_cannot_replace_members_nor_members_trees(files: dict[str, bytes]) -> None:
    parts, of_parts = unpack_members(files["numbers"])  # type: ignore[misc]
    trees, of_trees = unpack_trees(files["forest"])
    with pytest.raises(ModelFileError, match="must contain trees"):
        model_from_bytes(pack_members(parts, of_trees))
    with pytest.raises(ModelFileError, match="must contain member models"):
        model_from_bytes(bosquet.io.pack_trees(trees, of_parts))


def test_feature_names_must_equal_those_of_the_members() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    for model in (
        VotingRegressor([("a", DecisionTreeRegressor())]),
        BaggingRegressor(DecisionTreeRegressor(), 2, max_features=2),
    ):
        data = model_bytes(model.fit(frame, y))
        model_from_bytes(data)
        with pytest.raises(ModelFileError, match="feature names of a member differ"):
            model_from_bytes(change_metadata(data, "feature_names", to=list("pqrs")))


def test_a_calibrated_vote_without_probabilities_survives() -> None:
    model = CalibratedModel(LPBoostClassifier(n_estimators=3, nu=0.5), "platt", cv=2).fit(X, TWO)
    loaded = model_from_bytes(model_bytes(model))
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_bags_of_a_large_model_are_compared_at_the_first_prediction(
    monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes]
) -> None:
    # A seed of bags cannot be checked without drawing them, which takes rows times trees.
    monkeypatch.setattr("bosquet.trust._state._MAX_DRAWS", 100)
    parts, metadata = unpack_members(files["out of bag"])  # type: ignore[misc]
    keys = metadata_of(parts[0])["keys"]
    model = model_from_bytes(
        pack_members([change_metadata(parts[0], "keys", to=keys[::-1])], metadata)
    )
    model.predict_interval(X)
    wrong = pack_members([change_metadata(parts[0], "keys", to=[keys[0]] * len(keys))], metadata)
    model = model_from_bytes(wrong)
    assert np.isfinite(model.predict(X)).all()
    with pytest.raises(ValueError, match="are not the calibration rows"):
        model.predict_interval(X)
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match="are not the calibration rows"):
        model_from_bytes(wrong)


def test_an_infinite_gain_becomes_the_largest_in_a_file() -> None:
    huge = y * 1e28
    model = GradientBoostingRegressor(n_estimators=2, random_state=0).fit(X, huge)
    tree = DecisionTreeRegressor(max_depth=2).fit(X, huge)
    for one in (model, tree):
        loaded = model_from_bytes(model_bytes(one))
        assert np.array_equal(loaded.predict(X), one.predict(X))
        assert np.isfinite(loaded.feature_importances_).all()
        assert model_bytes(loaded) == model_bytes(model_from_bytes(model_bytes(loaded)))


def test_a_member_of_another_class_than_the_wrapped_model_is_rejected() -> None:
    tree, forest = DecisionTreeClassifier(max_depth=2), bosquet.RandomForestClassifier(3)
    stranger = model_bytes(bosquet.RandomForestClassifier(3, random_state=0).fit(X, TWO))
    for model in (
        CalibratedModel(tree, cv=2),
        bosquet.ConformalModel(tree, "cv+", random_state=0),
        BaggingClassifier(tree, 2, random_state=0),
    ):
        parts, metadata = unpack_members(model_bytes(model.fit(X, TWO)))
        with pytest.raises(ModelFileError, match="a member is a RandomForestClassifier"):
            model_from_bytes(pack_members([*parts[:-1], stranger], metadata))
    model_from_bytes(model_bytes(CalibratedModel(forest, cv=2).fit(X, TWO)))
