"""Ordered categories keep their order, in models and figures; the report first shows the largest class."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from page_reader import IN_CHROMIUM, Reader, one_reader  # noqa: F401

from bosquet import Study
from bosquet.study.explain.effects import dependence_records
from bosquet.study.exploration import explore
from bosquet.study.methods.shapes import table_shape
from bosquet.study.metrics.metric import metric_named
from bosquet.study.table.numeric_inputs import NumericInputs
from bosquet.study.table.reading import read_study_table

# The order is neither alphabetical nor by frequency.
SIZES = ["small", "medium", "large", "huge"]
SHARES = [0.1, 0.2, 0.3, 0.4]


def sized(n=400, seed=0, ordered=True):
    random = np.random.default_rng(seed)
    code = random.choice(4, n, p=SHARES)
    size = pd.Categorical.from_codes(code, SIZES, ordered=ordered)
    frame = pd.DataFrame({"size": size, "noise": random.normal(size=n)})
    return frame.assign(y=2.0 * code + 0.3 * random.normal(size=n))


def as_polars(frame):
    size = pl.Series(frame["size"].astype(str).tolist(), dtype=pl.Enum(SIZES))
    return pl.DataFrame({"size": size, "noise": frame["noise"].tolist(), "y": frame["y"].tolist()})


def as_file(frame, folder):
    path = folder / "sized.parquet"
    frame.to_parquet(path)
    return str(path)


@pytest.fixture(params=["pandas", "polars", "parquet"])
def table(request, tmp_path):
    frame = sized()
    if request.param == "pandas":
        return frame
    return as_polars(frame) if request.param == "polars" else as_file(frame, tmp_path)


def test_models_get_the_rank_of_an_ordered_level(table):
    read = read_study_table(table, "y", "regression")
    assert read.X["size"].cat.ordered
    shape = table_shape(read.X, read.target.y, "regression")
    assert (shape.n_numbers, shape.n_categories) == (2, 0)
    inputs = NumericInputs(scale=None).fit(read.X)
    assert list(inputs.get_feature_names_out()) == ["size", "noise"]
    places = inputs.transform(read.X)[:, 0]
    assert np.array_equal(places, read.X["size"].cat.codes)


def test_a_study_draws_an_ordered_category_in_its_order(table):
    methods = ["constant", "linear"]
    study = Study(methods=methods, budget=None, repeats=1, verbose=0).fit(table, "y")
    column = next(c for c in study.record_["exploration"]["columns"] if c["name"] == "size")
    assert column["histogram"]["levels"] == SIZES
    assert column["histogram"]["ordered"]
    counts = column["histogram"]["counts"]["all"]
    assert counts == [int((sized()["size"] == size).sum()) for size in SIZES]
    effect = next(d for d in study.record_["chosen"]["dependence"] if d["feature"] == "size")
    assert effect["grid"] == SIZES
    assert np.diff(effect["mean"]) == pytest.approx(2.0, abs=0.1)  # one slope, one step per level


def test_levels_without_an_order_come_with_the_commonest_first():
    frame = sized(ordered=False)
    found = explore(frame, "y", "regression")
    histogram = next(c for c in found["columns"] if c["name"] == "size")["histogram"]
    assert histogram["levels"] == SIZES[::-1]
    assert "ordered" not in histogram


def test_of_many_ordered_levels_the_commonest_are_shown_in_their_order():
    random = np.random.default_rng(0)
    names = [f"{chr(97 + (7 * k) % 26)}{k}" for k in range(20)]
    code = np.concatenate([np.repeat(np.arange(5, 20), 20), np.arange(5)])
    column = pd.Categorical.from_codes(random.permutation(code), names, ordered=True)
    frame = pd.DataFrame({"grade": column, "y": random.normal(size=len(code))})
    histogram = explore(frame, "y", "regression")["columns"][0]["histogram"]
    assert histogram["levels"] == [*names[5:], "(others)"]
    assert histogram["counts"]["all"] == [20] * 15 + [5]


def test_effects_of_trees_and_of_other_models_are_in_the_order_of_levels():
    from sklearn.dummy import DummyRegressor

    from bosquet import GradientBoostingRegressor

    frame = sized()
    X, y = frame[["size", "noise"]], frame["y"].to_numpy()
    metric = metric_named("rmse", "regression")
    for model in (GradientBoostingRegressor(n_estimators=30, random_state=0), DummyRegressor()):
        given = {"enough_time": lambda: True, "seed": 0}
        found = dependence_records(model.fit(X, y), X, y, metric, "y", ["size"], **given)
        assert found[0]["grid"] == SIZES


class TestPages:
    """In a browser."""

    pytestmark = IN_CHROMIUM

    def test_the_page_draws_levels_in_their_order(self, reader: Reader) -> None:
        study = Study(methods=["constant", "linear"], budget=None, repeats=1, verbose=0)
        study.fit(sized(), "y")
        reader.show(study.record_)
        # The names of levels are in the titles; the visible text may be shortened.
        titled = (
            "[...document.querySelectorAll(arguments[0] + ' svg title')].map(t => t.textContent)"
        )
        for place in ("#data", "#drivers"):
            shown = [word for word in reader.evaluate(titled, place) if word in SIZES]
            assert shown == SIZES

    def test_the_page_of_several_classes_opens_on_the_largest(self, reader: Reader) -> None:
        from selenium.webdriver.support.ui import Select

        random = np.random.default_rng(0)
        frame = pd.DataFrame({"a": random.normal(size=300)})
        frame["kind"] = np.where(frame["a"] > 0.8, "b", np.where(frame["a"] < -1.2, "a", "c"))
        study = Study(methods=["constant", "lda"], budget=None, repeats=1, verbose=0)
        study.fit(frame, "kind")
        reader.show(study.record_)
        choosers = [Select(one) for one in reader.all("#test select")]
        chosen = [one.first_selected_option.text for one in choosers]
        assert chosen[-1] == "c"
        assert study.record_["chosen"]["dependence"][0]["unit"] == "probability of c"
        weight = np.where(frame["kind"] == "a", 30.0, 1.0)
        study.fit(frame, "kind", sample_weight=weight)
        reader.show(study.record_)
        choosers = [Select(one) for one in reader.all("#test select")]
        assert choosers[-1].first_selected_option.text == "a"
        assert "counted by their weights" in reader.one("#test").text
        assert "counted by their weights" in reader.one("#decisions").text
