"""Merging of forests, and forests that are fitted in parts."""

import pickle

import numpy as np
import pandas as pd
import pytest

import bosquet
from bosquet import (
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from bosquet.datasets import Friedman1, Twonorm, Waveform
from bosquet.forests import fit_in_parts, merge_forests

SMALL = {"n_estimators": 7, "n_jobs": 1}


def parts_of(generator, count=3, rows=120):
    return [generator.sample(rows, random_state=k) for k in range(count)]


@pytest.mark.parametrize(
    ("forest", "generator"),
    [
        (RandomForestClassifier(**SMALL), Twonorm()),
        (RandomForestClassifier(voting="hard", **SMALL), Waveform()),
        (RandomForestRegressor(**SMALL), Friedman1()),
        (ExtraTreesRegressor(**SMALL), Friedman1()),
    ],
)
def test_a_merged_forest_is_the_mean_of_its_parts(forest, generator):
    sizes = (7, 3, 5)
    models = [
        type(forest)(**{**forest.get_params(), "n_estimators": size, "random_state": size}).fit(
            X, y
        )
        for size, (X, y) in zip(sizes, parts_of(generator), strict=True)
    ]
    X = generator.sample(50, random_state=9)[0]
    merged = merge_forests(models)
    method = "predict_proba" if hasattr(forest, "predict_proba") else "predict"
    expected = sum(n * getattr(m, method)(X) for n, m in zip(sizes, models, strict=True)) / 15
    np.testing.assert_allclose(getattr(merged, method)(X), expected, rtol=1e-12)
    assert len(merged) == 15
    assert merged.n_samples_fit_ == 360
    np.testing.assert_array_equal(
        merged.apply(X), np.column_stack([model.apply(X) for model in models])
    )
    importance = sum(n * m.feature_importances_ for n, m in zip(sizes, models, strict=True)) / 15
    np.testing.assert_allclose(merged.feature_importances_, importance, rtol=1e-5)


def test_merging_is_associative():
    models = [
        RandomForestClassifier(**SMALL, random_state=0).fit(X, y) for X, y in parts_of(Twonorm())
    ]
    X = Twonorm().sample(50, random_state=9)[0]
    at_once = merge_forests(models)
    in_turn = merge_forests([merge_forests(models[:2]), models[2]])
    np.testing.assert_array_equal(at_once.predict_proba(X), in_turn.predict_proba(X))
    assert at_once.merged_rows_ == in_turn.merged_rows_ == [120, 120, 120]


def test_fitting_in_parts_gives_the_merged_forests_of_the_parts():
    forest = RandomForestClassifier(**SMALL, random_state=3)
    parts = parts_of(Waveform())
    models = [
        RandomForestClassifier(**SMALL, random_state=3 + k).fit(*part)
        for k, part in enumerate(parts)
    ]
    X = Waveform().sample(80, random_state=9)[0]
    streamed = fit_in_parts(forest, (part for part in parts))
    np.testing.assert_array_equal(streamed.predict_proba(X), merge_forests(models).predict_proba(X))
    assert streamed.random_state == 3
    assert not hasattr(forest, "classes_")


def test_more_parts_make_a_better_forest():
    X, y = Friedman1().sample(500, random_state=99)
    forest = RandomForestRegressor(5, random_state=0)
    scores = [
        fit_in_parts(forest, parts_of(Friedman1(), count, rows=100)).score(X, y)
        for count in (1, 4, 16)
    ]
    assert scores == sorted(scores)


def make_table(rows, colours, seed):
    rng = np.random.default_rng(seed)
    colour = rng.choice(colours, rows)
    frame = pd.DataFrame({"size": rng.normal(size=rows), "colour": pd.Categorical(colour)})
    return frame, np.where(colour == colours[0], "yes", "no")


def test_all_parts_use_the_category_codes_of_the_first_part():
    parts = [
        make_table(80, ["red", "blue"], 0),
        make_table(80, ["red", "green"], 1),
        make_table(80, ["red"], 2),
    ]
    forest = fit_in_parts(RandomForestClassifier(10, random_state=0, max_features=None), parts)
    rows = pd.DataFrame({"size": [0.0, 0.0], "colour": ["red", "blue"]})
    assert forest.predict(rows).tolist() == ["yes", "no"]


def test_a_part_may_lack_classes_but_not_have_new_ones():
    X, y = Twonorm().sample(60, random_state=0)
    only = y == y[0]
    forest = fit_in_parts(
        RandomForestClassifier(**SMALL), [(X[only], y[only]), (X, y)], classes=[0, 1]
    )
    assert forest.classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match="2"):
        fit_in_parts(RandomForestClassifier(**SMALL), [(X, y), (X, y + 1)])


def test_each_part_may_have_weights():
    X, y = Friedman1().sample(60, random_state=0)
    weight = np.repeat([1.0, 0.0], 30)
    one = fit_in_parts(RandomForestRegressor(**SMALL, random_state=0), [(X, y), (X, y, weight)])
    other = fit_in_parts(RandomForestRegressor(**SMALL, random_state=0), [(X, y), (X[:30], y[:30])])
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_a_merged_forest_is_saved_pickled_and_explained(tmp_path):
    forest = fit_in_parts(RandomForestClassifier(**SMALL, random_state=0), parts_of(Twonorm()))
    X = Twonorm().sample(20, random_state=9)[0]
    forest.save(tmp_path / "forest.bosquet")
    for again in (bosquet.load(tmp_path / "forest.bosquet"), pickle.loads(pickle.dumps(forest))):
        np.testing.assert_array_equal(again.predict_proba(X), forest.predict_proba(X))
        with pytest.raises(ValueError, match="merged from 3 parts"):
            again.jackknife_standard_errors(X)
    found = forest.explain(X)
    np.testing.assert_allclose(found.base + found.values.sum(1), forest.predict_proba(X)[:, 1])


def test_methods_that_need_bags_raise_for_a_merged_forest():
    X, y = Twonorm().sample(120, random_state=0)
    forest = fit_in_parts(RandomForestClassifier(**SMALL, random_state=0), [(X, y), (X, y)])
    for call in (
        lambda: forest.importance("permutation", np.vstack([X, X]), np.concatenate([y, y])),
        lambda: forest.estimators_samples_,
        lambda: forest.set_params(warm_start=True).fit(np.vstack([X, X]), np.concatenate([y, y])),
    ):
        with pytest.raises(ValueError, match="merged"):
            call()
    forest.set_params(warm_start=False).fit(X, y)
    assert not hasattr(forest, "merged_rows_")
    with pytest.raises(
        ValueError, match="oob_score=True is not supported when a forest is fitted in parts"
    ):
        fit_in_parts(RandomForestClassifier(oob_score=True), [(X, y)])


def test_incompatible_forests_raise():
    (X, y), (Z, numbers) = (
        Twonorm().sample(60, random_state=0),
        Friedman1().sample(60, random_state=0),
    )
    two = RandomForestClassifier(**SMALL).fit(X, y)
    with pytest.raises(ValueError, match="forests is empty"):
        merge_forests([])
    with pytest.raises(ValueError, match=r"forests\[1\] is a RandomForestRegressor"):
        merge_forests([two, RandomForestRegressor(**SMALL).fit(X, y)])
    with pytest.raises(ValueError, match=r"forests\[1\] was fitted to other columns"):
        merge_forests([two, RandomForestClassifier(**SMALL).fit(X[:, :3], y)])
    with pytest.raises(ValueError, match=r"forests\[1\] has the classes"):
        merge_forests([two, RandomForestClassifier(**SMALL).fit(X, y + 1)])
    with pytest.raises(TypeError, match=r"forests\[0\] has the type int"):
        merge_forests([3])
    with pytest.raises(ValueError, match="parts is empty"):
        fit_in_parts(RandomForestRegressor(), [])
    with pytest.raises(ValueError, match="part 0 has 4 elements"):
        fit_in_parts(RandomForestRegressor(), [(Z, numbers, numbers, numbers)])
