import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bosquet.data import TableEncoder

ROWS = [
    [1.5, "b", 1, None],
    [2.5, "a", np.inf, None],
    [None, None, 2**63 + 1, None],
    [0.0, "🌲", 0.1, None],
]


def example():
    return TableEncoder.fit_encode(
        ROWS, categorical_features=[1, 2, 3], feature_names=list("wxyz")
    )[0]


def test_the_state_is_strict_json_and_restores_the_encoder():
    encoder = example()
    text = json.dumps(encoder.to_state(), allow_nan=False)
    restored = TableEncoder.from_state(json.loads(text))
    assert restored.to_state() == encoder.to_state()
    assert restored.levels == encoder.levels
    assert restored.n_levels == encoder.n_levels == [0, 3, 4, 0]
    assert restored.n_features == 4
    for ours, theirs in zip(restored.transform(ROWS), encoder.transform(ROWS), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_an_encoder_can_be_pickled():
    encoder = example()
    assert pickle.loads(pickle.dumps(encoder)).to_state() == encoder.to_state()


def changed(**parts):
    return {**example().to_state(), **parts}


def test_unknown_keys_of_a_state_are_ignored():
    assert TableEncoder.from_state(changed(more=1)).to_state() == example().to_state()


@pytest.mark.parametrize(
    "state",
    [
        None,
        [],
        {},
        changed(feature_names=["w", "x"]),
        changed(feature_names=["w", "w", "y", "z"]),
        changed(feature_names=["w", 1, "y", "z"]),
        changed(feature_names="wxyz"),
        changed(feature_names=None),
        changed(named_by_hand=1),
        changed(levels=[]),
        changed(levels=None),
        changed(levels=[None] * 3),
        changed(levels=[None, ["a"], None, None]),
        changed(levels=[None, {"numbers": []}, None, None]),
        changed(levels=[None, {"numbers": [], "texts": {}}, None, None]),
        changed(levels=[None, {"numbers": [], "texts": ["b", "a"]}, None, None]),
        changed(levels=[None, {"numbers": [], "texts": ["a", "a"]}, None, None]),
        changed(levels=[None, {"numbers": [], "texts": [1]}, None, None]),
        changed(levels=[None, {"numbers": [2, 1], "texts": []}, None, None]),
        changed(levels=[None, {"numbers": [1, 1.0], "texts": []}, None, None]),
        changed(levels=[None, {"numbers": [True], "texts": []}, None, None]),
        changed(levels=[None, {"numbers": ["1"], "texts": []}, None, None]),
        changed(levels=[None, {"numbers": [float("nan")], "texts": []}, None, None]),
        changed(levels=[None, {"numbers": [float("inf")], "texts": []}, None, None]),
        changed(levels=[None, {"numbers": [10**400], "texts": []}, None, None]),
        changed(levels=[None, {"numbers": list(range(65_536)), "texts": []}, None, None]),
    ],
)
def test_an_invalid_state_is_rejected(state):
    with pytest.raises(ValueError, match=r"must|levels|level of"):
        TableEncoder.from_state(state)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["numbers", "texts", "a"]), inner, max_size=3)
    ),
    max_leaves=8,
)
LEVELS = st.fixed_dictionaries(
    {"numbers": st.lists(JSON, max_size=3), "texts": st.lists(JSON, max_size=3)}
)


@settings(deadline=None)
@given(
    st.fixed_dictionaries(
        {
            "feature_names": JSON,
            "named_by_hand": JSON,
            "levels": st.lists(st.none() | LEVELS | JSON, max_size=3) | JSON,
        }
    )
)
def test_any_state_gives_an_encoder_or_a_value_error(state):
    try:
        encoder = TableEncoder.from_state(state)
    except ValueError:
        return
    assert TableEncoder.from_state(encoder.to_state()).to_state() == encoder.to_state()
