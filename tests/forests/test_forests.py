"""Forests as users meet them, and what is known of a forest besides its predictions."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_classification, make_friedman1
from sklearn.utils.estimator_checks import parametrize_with_checks

import bosquet
from bosquet import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

WEIGHT_CHECKS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
REASON = (
    "a row of weight 2 is drawn once or not, two rows are drawn apart: equal in law, not in bits"
)


def expected_failures(estimator):
    return {name: REASON for name in WEIGHT_CHECKS} if estimator.bootstrap else {}


@parametrize_with_checks(
    [
        RandomForestClassifier(5),
        RandomForestClassifier(5, voting="hard", split="exact"),
        RandomForestRegressor(5),
        ExtraTreesClassifier(5),
        ExtraTreesRegressor(5),
    ],
    expected_failed_checks=expected_failures,
)
def test_passes_check_estimator(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def classes():
    return make_classification(1500, 10, n_informative=4, n_redundant=0, flip_y=0.1, random_state=0)


@pytest.fixture(scope="module")
def numbers():
    return make_friedman1(1000, noise=1.0, random_state=0)


def make(kind, **options):
    return kind(n_estimators=30, random_state=0, **options)


# ------------------------------------------------------------------- same bits
@pytest.mark.parametrize(
    "kind",
    [RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor],
)
@pytest.mark.parametrize("split", ["exact", "histogram"])
def test_the_same_bits_for_any_number_of_threads(kind, split, classes):
    X, y = classes
    first = make(kind, split=split, n_jobs=1).fit(X, y)
    for threads in (2, 3, 8):
        again = make(kind, split=split, n_jobs=threads).fit(X, y)
        assert pickle.dumps(first._ensemble) == pickle.dumps(again._ensemble)


def test_the_same_bits_on_the_baseline_kernels(classes, monkeypatch):
    X, y = classes
    first = make(RandomForestClassifier).fit(X, y)
    monkeypatch.setenv("BOSQUET_ISA", "baseline")
    again = make(RandomForestClassifier).fit(X, y)
    assert pickle.dumps(first._ensemble) == pickle.dumps(again._ensemble)


def test_trees_added_later_are_those_of_one_fit(classes):
    X, y = classes
    whole = make(RandomForestClassifier, oob_score=True).fit(X, y)
    grown = RandomForestClassifier(10, random_state=0, oob_score=True, warm_start=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ten bags some rows are in all
        grown.fit(X, y)
    grown.set_params(n_estimators=30).fit(X, y)
    assert pickle.dumps(whole._ensemble) == pickle.dumps(grown._ensemble)
    np.testing.assert_array_equal(whole.oob_curve_, grown.oob_curve_)
    with pytest.raises(ValueError, match="can only grow"):
        grown.set_params(n_estimators=5).fit(X, y)


# -------------------------------------------------------------------- accuracy
def test_forests_predict_as_well_as_scikit_learns(classes, numbers):
    from sklearn import ensemble

    X, y = classes
    for ours, theirs in (
        (RandomForestClassifier, ensemble.RandomForestClassifier),
        (ExtraTreesClassifier, ensemble.ExtraTreesClassifier),
    ):
        scores = [
            kind(100, random_state=0).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:])
            for kind in (ours, theirs)
        ]
        assert scores[0] > scores[1] - 0.03
    X, y = numbers
    for ours, theirs, options in (
        (RandomForestRegressor, ensemble.RandomForestRegressor, {"max_features": 1 / 3}),
        (ExtraTreesRegressor, ensemble.ExtraTreesRegressor, {}),
    ):
        scores = [
            kind(100, random_state=0, **options).fit(X[:700], y[:700]).score(X[700:], y[700:])
            for kind in (ours, theirs)
        ]
        assert scores[0] > scores[1] - 0.03


def test_hard_votes_are_counted(classes):
    X, y = classes
    hard = make(RandomForestClassifier, voting="hard").fit(X, y)
    soft = make(RandomForestClassifier, voting="soft").fit(X, y)
    votes = np.mean(
        [soft._ensemble.predict_raw(X, t, t + 1)[:, 0] > 0.5 for t in range(30)],
        axis=0,
    )
    np.testing.assert_allclose(hard.predict_proba(X)[:, 1], votes)


def test_several_classes_and_several_targets():
    X, y = load_iris(return_X_y=True)
    forest = make(RandomForestClassifier).fit(X, y)
    assert forest.predict_proba(X).shape == (150, 3)
    np.testing.assert_allclose(forest.predict_proba(X).sum(axis=1), 1)
    hard = make(RandomForestClassifier, voting="hard").fit(X, y)
    assert hard.score(X, y) > 0.95
    both = make(RandomForestRegressor).fit(X[:, :2], X[:, 2:])
    assert both.predict(X[:, :2]).shape == (150, 2)


def test_categories_and_missing_values():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    colour = rng.choice(list("abcdef"), 600)
    x = rng.normal(size=600)
    y = np.isin(colour, ["a", "d"]) ^ (x > 1)
    x[rng.random(600) < 0.1] = np.nan
    frame = pandas.DataFrame({"colour": pandas.Categorical(colour), "x": x})
    forest = make(RandomForestClassifier, max_features=None, oob_score=True).fit(frame, y)
    assert forest.oob_score_ > 0.9
    unseen = pandas.DataFrame({"colour": ["z", None], "x": [0.0, 0.0]})
    said = forest.predict_proba(unseen)
    np.testing.assert_array_equal(said[0], said[1])


# ---------------------------------------------------------------------- out of bag
def test_the_out_of_bag_error_agrees_with_a_test_set():
    X, y = make_classification(4000, 10, n_informative=4, n_redundant=0, flip_y=0.1, random_state=1)
    forest = RandomForestClassifier(200, random_state=0, oob_score=True).fit(X[:1500], y[:1500])
    error = 1 - forest.score(X[1500:], y[1500:])
    spread = np.sqrt(error * (1 - error) * (1 / 1500 + 1 / 2500))
    assert abs(forest.oob_error_ - error) < 3 * spread
    assert forest.oob_curve_[-1] == forest.oob_error_
    assert forest.oob_curve_[4] > forest.oob_error_
    # One tree alone is worse than the vote.
    assert forest.oob_tree_error_ > forest.oob_error_ + 0.03


def test_the_out_of_bag_record_is_what_counting_by_hand_gives(classes):
    X, y = classes[0][:200], classes[1][:200]
    forest = RandomForestClassifier(40, random_state=0, oob_score=True).fit(X, y)
    sums, counts = np.zeros(200), np.zeros(200)
    for t in range(40):
        out = forest._bag_counts(t) == 0
        sums[out] += forest._ensemble.predict_raw(X[out], t, t + 1)[:, 0]
        counts[out] += 1
    np.testing.assert_allclose(forest.oob_decision_function_[:, 1], sums / counts)
    assert forest.oob_score_ == pytest.approx(np.mean((sums / counts > 0.5) == y))


def test_bags_leave_out_a_row_in_about_37_of_100():
    forest = RandomForestClassifier(50, random_state=0)
    X, y = make_classification(2000, random_state=0)
    forest.fit(X, y)
    left_out = np.mean([(forest._bag_counts(t) == 0).mean() for t in range(50)])
    assert left_out == pytest.approx(np.exp(-1), abs=0.005)
    assert all(forest._bag_counts(t).sum() == 2000 for t in range(5))


def test_rows_never_left_out_are_named(classes):
    X, y = classes
    with pytest.warns(UserWarning, match=r"rows are in all 2 bags \(the first is row \d+\)"):
        forest = RandomForestClassifier(2, random_state=0, oob_score=True).fit(X, y)
    assert np.isnan(forest.oob_decision_function_).any()
    assert np.isfinite(forest.oob_error_)


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_rows_of_weight_0_keep_their_places_out_of_bag(kind, classes):
    X, y = classes[0][:200], classes[1][:200]
    dropped = np.arange(200) % 3 == 0
    weight = np.where(dropped, 0.0, 1.0)
    some = kind(3, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="in all 3 bags") as told:
        some.fit(X, y, weight)
    bags = np.array([some._bag_counts(t) for t in range(3)])
    never_out = np.flatnonzero(~dropped)[(bags > 0).all(axis=0)]
    assert f"{never_out.size} rows" in str(told[0].message)
    assert f"the first is row {never_out[0]})" in str(told[0].message)

    def record(forest):
        return getattr(forest, "oob_decision_function_", getattr(forest, "oob_prediction_", None))

    unknown = np.isnan(record(some).reshape(200, -1)).all(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(unknown & ~dropped), never_out)
    assert unknown[dropped].all()
    # The rest is what the kept rows alone would give.
    whole = kind(40, oob_score=True, random_state=0).fit(X, y, weight)
    alone = kind(40, oob_score=True, random_state=0).fit(X[~dropped], y[~dropped])
    np.testing.assert_array_equal(record(whole)[~dropped], record(alone))
    assert whole.oob_score_ == pytest.approx(alone.oob_score_)
    np.testing.assert_allclose(whole.oob_curve_, alone.oob_curve_)
    assert whole.oob_tree_error_ == pytest.approx(alone.oob_tree_error_)
    found = whole.importance("permutation", X, y, per_row=True).per_row
    assert np.isnan(found[dropped]).all()
    np.testing.assert_array_equal(
        found[~dropped],
        alone.importance("permutation", X[~dropped], y[~dropped], per_row=True).per_row,
    )


def test_out_of_bag_errors_count_rows_by_their_weight_but_not_by_that_of_their_class(classes):
    X, y = classes[0][:300], classes[1][:300]
    weight = np.random.default_rng(0).integers(1, 4, 300).astype(float)
    forest = make(RandomForestClassifier, oob_score=True, class_weight={0: 5, 1: 1})
    forest.fit(X, y, weight)
    wrong = forest.oob_decision_function_.argmax(axis=1) != y
    assert forest.oob_error_ == pytest.approx(np.average(wrong, weights=weight))
    numbers = make(RandomForestRegressor, oob_score=True).fit(X, X[:, 0] + y, weight)
    squares = (numbers.oob_prediction_ - X[:, 0] - y) ** 2
    assert numbers.oob_error_ == pytest.approx(np.average(squares, weights=weight))


def test_trees_are_added_on_the_same_rows_only(classes):
    X, y = classes
    forest = RandomForestClassifier(3, warm_start=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="here are 900, but the forest was fitted to 1500"):
        forest.set_params(n_estimators=5).fit(X[:900], y[:900])
    assert forest.n_estimators_ == 3


def test_a_bar_tells_trees_and_the_out_of_bag_error(classes, capsys):
    make(RandomForestClassifier, oob_score=True, verbose=1).fit(*classes)
    last = capsys.readouterr().err.split("\r")[-1]
    assert "30/30" in last
    assert "out-of-bag error 0." in last
    make(RandomForestClassifier).fit(*classes)
    assert capsys.readouterr().err == ""


def test_auto_stops_when_the_error_has_settled(classes):
    X, y = classes
    forest = RandomForestClassifier("auto", random_state=0).fit(X, y)
    assert 80 <= forest.n_estimators_ < 1000
    assert len(forest.oob_curve_) == forest.n_estimators_


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"oob_score": True, "bootstrap": False}, "oob_score=True needs bootstrap=True"),
        ({"n_estimators": "auto", "bootstrap": False}, "needs bootstrap=True"),
        ({"max_samples": 0.5, "bootstrap": False}, "max_samples needs bootstrap"),
        ({"max_samples": 10**6}, "more than the 1500 rows"),
        ({"n_estimators": 0}, "n_estimators=0 is out of range"),
        ({"max_features": 11}, "more than the 10 features"),
        ({"split": "best"}, "split='best' is out of range"),
        ({"criterion": "mse"}, "criterion='mse' must be"),
    ],
)
def test_what_is_wrong_is_named(options, message, classes):
    with pytest.raises(ValueError, match=message):
        RandomForestClassifier(**{"n_estimators": 3, **options}).fit(*classes)


# ------------------------------------------------------------------------ importance
@pytest.fixture(scope="module")
def one_that_matters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 6))
    y = (X[:, 2] + 0.5 * X[:, 4] + 0.3 * rng.normal(size=800) > 0).astype(int)
    forest = RandomForestClassifier(60, random_state=0).fit(X, y)
    return forest, X, y


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("impurity", {}),
        ("frequency", {}),
        ("permutation", {"measure": "margin"}),
        ("permutation", {"measure": "accuracy"}),
    ],
)
def test_every_importance_finds_the_features_that_matter(one_that_matters, kind, options):
    forest, X, y = one_that_matters
    found = forest.importance(kind, X, y, **options) if options else forest.importance(kind)
    order = np.argsort(-found.mean)
    assert list(order[:2]) == [2, 4]
    assert found.scaled.max() == pytest.approx(100)
    assert found.ranking()[0][0] == "x2"
    # Those that do not matter are within their spread of nothing, by permutation.
    if kind == "permutation":
        noise = [0, 1, 3, 5]
        assert (np.abs(found.mean[noise]) < 4 * found.std[noise] + 0.01).all()
        assert found.per_class.shape == (2, 6)


def test_permutation_importance_by_hand(one_that_matters):
    forest, X, y = one_that_matters
    found = forest.importance("permutation", X, y, measure="accuracy", per_row=True)
    from bosquet import _core

    by_tree = np.zeros((60, 6))
    for t in range(60):
        rows = np.flatnonzero(forest._bag_counts(t) == 0).astype(np.uint32)
        features, leaves = _core.permuted_leaves(forest._ensemble, t, X, rows, t)
        share = forest._ensemble.tree_arrays(t)["value"]
        right = [(share[leaf] > 0.5) == y[rows] for leaf in leaves]
        np.testing.assert_array_equal(leaves[0], forest._ensemble.apply(X[rows])[:, t])
        for place, feature in enumerate(features):
            by_tree[t, feature] = right[0].mean() - right[place + 1].mean()
    np.testing.assert_allclose(found.mean, by_tree.mean(axis=0))
    assert found.per_row.shape == X.shape


def test_the_margin_tells_of_a_rare_class_what_impurity_hides():
    rng = np.random.default_rng(0)
    n = 3000
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + 0.8 * rng.normal(size=n) > 0).astype(int)
    rare = (X[:, 3] > 2.2) & (rng.random(n) < 0.9)
    y[rare] = 2
    forest = RandomForestClassifier(60, random_state=0).fit(X, y)
    found = forest.importance("permutation", X, y)
    assert np.argmax(found.per_class[2]) == 3


# ----------------------------------------------------------------- what rows share
def test_proximities_are_shares_of_trees():
    X, y = load_iris(return_X_y=True)
    forest = make(RandomForestClassifier).fit(X, y)
    leaves = forest.apply(X)
    expected = (leaves[:, None, :] == leaves[None, :, :]).mean(axis=2)
    np.testing.assert_allclose(forest.proximities(X).toarray(), expected)
    scores = forest.outlier_scores(X, y)
    raw = np.array([50 / (expected[i, y == y[i]] ** 2).sum() for i in range(150)])
    first = raw[y == 0]
    np.testing.assert_allclose(
        scores[y == 0], (first - np.median(first)) / np.abs(first - np.median(first)).mean()
    )


def test_strength_and_correlation_bound_the_error():
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(100, random_state=0, oob_score=True).fit(X, y)
    strength, correlation = forest.strength_and_correlation(X, y)
    assert 0.5 < strength < 1
    assert 0 < correlation < 1
    assert forest.oob_error_ <= correlation * (1 - strength**2) / strength**2


# ------------------------------------------------------------------------ intervals
def test_quantiles_cover_what_they_say():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(4000, 3))
    y = X[:, 0] + (1 + np.abs(X[:, 1])) * rng.normal(size=4000)
    forest = RandomForestRegressor(60, min_samples_leaf=10, keep_rows=True, random_state=0).fit(
        X[:3000], y[:3000]
    )
    low, high = forest.predict_quantiles(X[3000:], [0.1, 0.9]).T
    covered = np.mean((low <= y[3000:]) & (y[3000:] <= high))
    assert 0.75 < covered < 0.88
    # Noise grows with the second column, and the interval with it.
    wide = np.abs(X[3000:, 1]) > 1.5
    assert (high - low)[wide].mean() > 1.3 * (high - low)[~wide].mean()


def test_quantiles_by_hand():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    forest = RandomForestRegressor(5, min_samples_leaf=5, keep_rows=True, random_state=0).fit(X, y)
    leaves = forest.apply(X)
    weight = np.zeros(60)
    for t in range(5):
        same = leaves[:, t] == leaves[0, t]
        weight += same / same.sum()
    order = np.argsort(y)
    below = np.cumsum(weight[order]) / weight.sum()
    for level in (0.1, 0.5, 0.9):
        expected = y[order][np.searchsorted(below, level - 1e-9)]
        assert forest.predict_quantiles(X[:1], [level])[0, 0] == expected


def test_the_jackknife_tells_the_spread_over_training_samples():
    X, _ = make_friedman1(50, random_state=9)
    said, errors = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        train = rng.uniform(size=(150, 10))
        y = 10 * train[:, 0] + 5 * train[:, 1] + rng.normal(size=150)
        forest = RandomForestRegressor(
            400, min_samples_leaf=3, max_features=None, random_state=seed
        ).fit(train, y)
        said.append(forest.predict(X))
        errors.append(forest.jackknife_standard_errors(X))
    true = np.std(said, axis=0, ddof=1).mean()
    assert 0.6 * true < np.mean(errors) < 1.7 * true


def test_the_jackknife_is_that_of_the_twin():
    from bosquet.reference.bagging import jackknife_variance

    X, y = make_friedman1(40, random_state=0)
    forest = RandomForestRegressor(150, min_samples_leaf=5, random_state=0)
    for weight in (None, np.where(np.arange(40) < 5, 0.0, 1.0)):
        forest.fit(X, y, weight)
        counts = np.array([forest._bag_counts(t) for t in range(150)])
        said = np.array([forest._ensemble.predict_raw(X[:6], t, t + 1)[:, 0] for t in range(150)])
        by_hand = [jackknife_variance(counts, said[:, i]) for i in range(6)]
        assert max(by_hand) > 0
        np.testing.assert_allclose(forest.jackknife_standard_errors(X[:6]) ** 2, by_hand)


def test_the_jackknife_tells_what_it_cannot_do(classes):
    X, y = classes
    few = RandomForestClassifier(3, random_state=0).fit(X, y, np.where(np.arange(1500) < 40, 0, 1))
    first = 40 + np.flatnonzero((np.array([few._bag_counts(t) for t in range(3)]) > 0).all(axis=0))
    with pytest.raises(ValueError, match=f"row {first[0]} and .* are in all 3 bags"):
        few.jackknife_standard_errors(X[:2])
    lucky = make(RandomForestClassifier).fit(X, y)
    with pytest.warns(UserWarning, match="30 learners are too few"):
        lucky.jackknife_standard_errors(X[:50])
    all_rows = make(ExtraTreesClassifier).fit(X, y)
    with pytest.raises(ValueError, match="bootstrap=True"):
        all_rows.jackknife_standard_errors(X[:2])


# ---------------------------------------------------------------------------- files
@pytest.mark.parametrize(
    "forest",
    [
        RandomForestClassifier(7, random_state=0, oob_score=True),
        RandomForestClassifier(7, random_state=0, voting="hard"),
        RandomForestRegressor(7, random_state=0),
        ExtraTreesClassifier(7, random_state=0),
    ],
)
@pytest.mark.filterwarnings("ignore:.*in all 7 bags")
def test_saved_and_loaded_it_is_the_same_forest(forest, tmp_path):
    X, y = load_iris(return_X_y=True)
    forest.fit(X, y)
    forest.save(tmp_path / "forest.bosquet")
    for other in (bosquet.load(tmp_path / "forest.bosquet"), pickle.loads(pickle.dumps(forest))):
        np.testing.assert_array_equal(forest.predict(X), other.predict(X))
        np.testing.assert_array_equal(forest.feature_importances_, other.feature_importances_)
    if forest.bootstrap and hasattr(forest, "classes_"):
        loaded = bosquet.load(tmp_path / "forest.bosquet")
        assert (
            forest.importance("permutation", X, y).mean.tolist()
            == loaded.importance("permutation", X, y).mean.tolist()
        )


def test_a_two_class_forest_is_small(classes, tmp_path):
    X, y = classes
    from sklearn.ensemble import RandomForestClassifier as Theirs

    forest = make(RandomForestClassifier).fit(X, y)
    forest.save(tmp_path / "forest.bosquet")
    size = (tmp_path / "forest.bosquet").stat().st_size
    theirs = len(pickle.dumps(Theirs(30, random_state=0).fit(X, y)))
    assert size < theirs / 10


def test_rows_kept_are_not_for_files(numbers, tmp_path):
    forest = RandomForestRegressor(3, keep_rows=True, random_state=0).fit(*numbers)
    with pytest.raises(ValueError, match="keep_rows=True"):
        forest.save(tmp_path / "forest.bosquet")
    with pytest.raises(ValueError, match="keep_rows=True"):
        RandomForestRegressor(3).fit(*numbers).predict_quantiles(numbers[0])


def test_an_earlier_fit_leaves_nothing_behind(numbers):
    X, y = numbers
    forest = RandomForestRegressor(30, keep_rows=True, oob_score=True, random_state=0).fit(X, y)
    forest.set_params(keep_rows=False, oob_score=False).fit(X[:300], y[:300])
    assert not hasattr(forest, "oob_curve_")
    with pytest.raises(ValueError, match="keep_rows=True"):
        forest.predict_quantiles(X)


def test_random_thresholds_between_bins_part_every_node_that_can_be_parted():
    X = np.arange(2000.0)[:, None]
    y = np.arange(2000) // 8 % 2
    forest = ExtraTreesClassifier(1, split="histogram", random_state=0).fit(X, y)
    # 255 bins of about eight rows: all of them told apart, whichever edges were drawn first.
    assert (
        forest._ensemble.tree_arrays(0)["feature"].size == 2 * np.unique(forest.apply(X)).size - 1
    )
    assert np.unique(forest.apply(X)).size > 200
