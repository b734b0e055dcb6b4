"""Ordered categories are split by their order: m categories have m - 1 splits."""

import numpy as np
import pytest

import bosquet
from bosquet import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
)

pd = pytest.importorskip("pandas")

LEVELS = ["none", "low", "mid", "high", "top"]


def example(rows=400, seed=0):
    random = np.random.default_rng(seed)
    codes = random.integers(0, 5, rows)
    # The effects are not monotonic, so a nominal split is better than any ordinal split.
    y = np.array([0.0, 4.0, 1.0, 5.0, 0.5])[codes] + 0.1 * random.normal(size=rows)
    x = random.normal(size=rows)
    levels = np.array(LEVELS, dtype=object)[codes]
    levels[random.random(rows) < 0.05] = None
    frame = pd.DataFrame({"level": pd.Categorical(levels, LEVELS, ordered=True), "x": x})
    numbers = np.column_stack([np.where(pd.isna(levels), np.nan, codes), x])
    return frame, numbers, y


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeRegressor(),
        DecisionTreeRegressor(missing="surrogate", max_leaf_nodes=8),
        RandomForestRegressor(5, random_state=0),
        GradientBoostingRegressor(n_estimators=10, random_state=0),
    ],
)
def test_an_ordered_column_gives_the_model_of_its_codes(model, tmp_path):
    frame, numbers, y = example()
    of_numbers = model.fit(numbers, y).predict(numbers)
    ordinal = model.fit(frame, y)
    np.testing.assert_array_equal(ordinal.predict(frame), of_numbers)
    ordinal.save(tmp_path / "model.bosquet")
    loaded = bosquet.load(tmp_path / "model.bosquet")
    np.testing.assert_array_equal(loaded.predict(frame), of_numbers)
    as_text = frame.assign(level=frame["level"].astype(object))
    np.testing.assert_array_equal(loaded.predict(as_text), of_numbers)


def test_a_nominal_split_of_the_same_column_has_a_larger_gain():
    frame, _, y = example()
    stump = DecisionTreeRegressor(max_depth=1)
    ordered = stump.fit(frame[["level"]], y)
    assert ordered.tree_.left_categories == [None] * 3
    assert ordered.tree_.threshold[0] in (0.5, 1.5, 2.5, 3.5)
    gain = ordered.tree_.gain[0]
    nominal = stump.set_params(categorical_features=["level"]).fit(frame[["level"]], y)
    low = {LEVELS[k] for k in (0, 2, 4)}
    left = {nominal._encoder.levels[0][code] for code in nominal.tree_.left_categories[0]}
    assert left in (low, set(LEVELS) - low)
    assert nominal.tree_.gain[0] > 1.5 * gain


def test_a_monotonic_constraint_uses_the_order():
    frame, _, y = example()
    model = DecisionTreeRegressor(monotonic_cst={"level": 1}).fit(frame, y)
    rows = pd.DataFrame({"level": pd.Categorical(LEVELS, LEVELS, ordered=True), "x": 0.0})
    assert (np.diff(model.predict(rows)) >= 0).all()


def test_exports_show_the_names_of_the_categories():
    frame, _, y = example()
    tree = DecisionTreeClassifier(max_leaf_nodes=3, missing="surrogate").fit(frame, y > 2)
    root = int(tree.tree_.threshold[0])
    text = tree.export_text()
    assert f"|-- level <= {LEVELS[root]} or missing" in text
    assert f"|-- level > {LEVELS[root]}" in text
    assert tree.split_table()[0]["goes_left"] == f"level <= {LEVELS[root]}"
    above = ", ".join(LEVELS[root + 1 :])
    assert any(rule.conditions[0].startswith(f"level in {{{above}}}") for rule in tree.rules())
    # A copy of the first column in reverse order gives a reversed surrogate.
    frame["back"] = pd.Categorical(frame["level"], LEVELS[::-1], ordered=True)
    tree.fit(frame, y > 2)
    conditions = [row["goes_left"] for row in tree.split_table() if row["kind"] == "surrogate"]
    assert conditions[0] == f"back > {LEVELS[root + 1]}"


def test_exported_code_predicts_as_the_tree_does():
    import sqlite3

    frame, _, y = example(seed=1)
    for missing in ("direction", "surrogate"):
        model = DecisionTreeRegressor(max_leaf_nodes=12, missing=missing).fit(frame, y)
        space: dict = {}
        exec(model.export_python(), space)
        rows = [
            {"level": None if pd.isna(level) else level, "x": x}
            for level, x in zip(frame["level"], frame["x"], strict=True)
        ]
        rows.append({"level": "unknown", "x": 0.3})
        expected = model.predict(pd.DataFrame(rows))
        np.testing.assert_array_equal([space["predict"](row) for row in rows], expected)
        base = sqlite3.connect(":memory:")
        base.execute('create table t ("level" text, "x" real)')
        base.executemany("insert into t values (:level, :x)", rows)
        query = f"select {model.export_sql()} from t order by rowid"
        np.testing.assert_allclose([prediction for (prediction,) in base.execute(query)], expected)
