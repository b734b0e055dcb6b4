"""ConformalModel returns the intervals and sets of the reference implementation."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import BaggingRegressor as TheirBagging
from sklearn.ensemble import GradientBoostingRegressor as TheirBoosting
from sklearn.ensemble import RandomForestClassifier as TheirForestOfClasses
from sklearn.ensemble import RandomForestRegressor as TheirForest
from sklearn.linear_model import LinearRegression, QuantileRegressor
from sklearn.model_selection import KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from bosquet import (
    BaggingClassifier,
    BaggingRegressor,
    ConformalModel,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from bosquet.reference import conformal as reference
from bosquet.trust._ranks import conformal_quantile, rows_needed, upper_rank
from bosquet.trust._sets import class_scores

NINE_TENTHS = Fraction(9, 10)


@parametrize_with_checks(
    [
        ConformalModel(LinearRegression(), random_state=0),
        ConformalModel(GaussianNB(), "cv+", cv=2, random_state=0),
    ],
    expected_failed_checks=lambda _: dict.fromkeys(
        [
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ],
        "one row of weight 2 is in one fold, but two equal rows may be in different ones",
    ),
)
def test_passes_check_estimator(estimator, check):
    check(estimator)


# ------------------------------------------------------------------------------------------- ranks
@given(st.integers(1, 400), st.integers(1, 99))
def test_ranks_match_the_reference(n, percent):
    coverage = Fraction(percent, 100)
    assert upper_rank(n, percent / 100) == reference.conformal_rank(n, coverage)
    assert (n >= rows_needed(percent / 100)) == (reference.conformal_rank(n, coverage) <= n)


def test_the_conformal_quantile_of_1_to_100_is_91():
    assert conformal_quantile(np.arange(1.0, 101), 0.9) == 91


def test_a_new_score_is_covered_with_the_nominal_probability(random):
    covered = []
    for _ in range(4000):
        scores = random.random(20)
        covered.append(scores[-1] <= conformal_quantile(np.sort(scores[:-1]), 0.9))
    assert np.mean(covered) == pytest.approx(0.9, abs=0.015)


# --------------------------------------------------------------------------------------- intervals
def test_split_intervals_match_the_reference(numbers):
    X, y = numbers
    fitted = LinearRegression().fit(X[:300], y[:300])
    model = ConformalModel(fitted, prefit=True).fit(X[300:400], y[300:400])
    residuals = y[300:400] - fitted.predict(X[300:400])
    for bounds, prediction in zip(
        model.predict_interval(X[400:420]), model.predict(X[400:420]), strict=True
    ):
        expected = reference.split_interval(prediction, residuals, NINE_TENTHS)
        np.testing.assert_allclose(bounds, expected)


def test_the_model_is_not_fitted_to_calibration_rows(numbers):
    X, y = numbers
    # One nearest neighbour memorises its training rows: their residuals would be 0.
    model = ConformalModel(KNeighborsRegressor(1), calibration_size=40, random_state=0).fit(X, y)
    assert model.n_calibration_ == 40
    low, high = model.predict_interval(X, 0.5).T
    assert (high - low).min() > 1


@pytest.mark.parametrize("method", ["cv+", "jackknife+"])
def test_jackknife_plus_matches_the_reference(numbers, method):
    X, y = numbers[0][:60], numbers[1][:60]
    model = ConformalModel(LinearRegression(), method, cv=KFold(5)).fit(X, y)
    folds = [rows for _, rows in KFold(60 if method == "jackknife+" else 5).split(X)]
    new = numbers[0][60:70]
    without, residuals = np.empty((60, 10)), np.empty(60)
    for rows in folds:
        kept = np.setdiff1d(np.arange(60), rows)
        fitted = LinearRegression().fit(X[kept], y[kept])
        residuals[rows], without[rows] = y[rows] - fitted.predict(X[rows]), fitted.predict(new)
    for column, bounds in enumerate(model.predict_interval(new)):
        expected = reference.jackknife_plus_interval(without[:, column], residuals, NINE_TENTHS)
        np.testing.assert_allclose(bounds, expected)


BAGS = [
    RandomForestRegressor(n_estimators=30, random_state=0),
    BaggingRegressor(n_estimators=30, max_features=0.8, random_state=0),
    TheirForest(n_estimators=30, random_state=0),
    TheirBagging(n_estimators=30, max_features=0.8, random_state=0),
]


@pytest.mark.parametrize("ensemble", BAGS, ids=["forest", "bagging", "their forest", "their bags"])
def test_out_of_bag_intervals_are_the_jackknife_plus_after_the_bootstrap(numbers, ensemble):
    X, y, new = numbers[0][:80], numbers[1][:80], numbers[0][80:84]
    model = ConformalModel(ensemble, "oob").fit(X, y)
    fitted = clone(ensemble).fit(X, y)
    counts = np.array([np.bincount(rows, minlength=80) for rows in fitted.estimators_samples_])
    if hasattr(fitted, "votes"):
        of_new, of_old = fitted.votes(new).T, fitted.votes(X).T
    else:
        columns = getattr(fitted, "estimators_features_", [np.arange(X.shape[1])] * 30)
        both = list(zip(fitted.estimators_, columns, strict=True))
        of_new = np.array([tree.predict(new[:, some]) for tree, some in both])
        of_old = np.array([tree.predict(X[:, some]) for tree, some in both])
    rows = [i for i in range(80) if (counts[:, i] == 0).any()]
    residuals = np.array(
        [y[i] - reference.leave_one_out_mean(counts, of_old[:, i], i) for i in rows]
    )
    assert model.n_calibration_ == len(rows)
    np.testing.assert_allclose(model.predict(new), fitted.predict(new))
    for column, bounds in enumerate(model.predict_interval(new)):
        without = np.array(
            [reference.leave_one_out_mean(counts, of_new[:, column], i) for i in rows]
        )
        expected = reference.jackknife_plus_interval(without, residuals, NINE_TENTHS)
        np.testing.assert_allclose(bounds, expected, rtol=1e-9)


def test_out_of_bag_residuals_come_from_the_forests_oob_prediction(numbers):
    X, y = numbers
    forest = RandomForestRegressor(n_estimators=50, oob_score=True, random_state=0)
    model = ConformalModel(forest, "oob").fit(X, y)
    rows = model._calibration.held_out.rows
    np.testing.assert_allclose(
        model._calibration.residual, np.abs(y - model.models_[0].oob_prediction_)[rows]
    )


def test_conformalised_quantiles_match_the_reference(numbers):
    X, y = numbers
    boosted = GradientBoostingRegressor(
        "quantile", quantile=[0.05, 0.25, 0.5, 0.75, 0.95], n_estimators=20, random_state=0
    ).fit(X[:300], y[:300])
    model = ConformalModel(boosted, "cqr", prefit=True).fit(X[300:450], y[300:450])
    old, new = np.sort(boosted.predict(X[300:450])), np.sort(boosted.predict(X[450:]))
    for coverage, pair in ((Fraction(9, 10), (0, 4)), (Fraction(1, 2), (1, 3))):
        bounds = model.predict_interval(X[450:], float(coverage))
        for row in range(10):
            expected = reference.quantile_interval(
                *new[row, pair], *old[:, pair].T, y[300:450], coverage
            )
            np.testing.assert_allclose(bounds[row], expected)
    np.testing.assert_array_equal(model.predict(X[450:]), boosted.predict(X[450:])[:, 2])


@pytest.mark.parametrize(
    "model",
    [
        RandomForestRegressor(n_estimators=20, min_samples_leaf=5, random_state=0),
        GradientBoostingRegressor("quantile", quantile=0.5, n_estimators=20, random_state=0),
        TheirBoosting(loss="quantile", n_estimators=20, random_state=0),
        QuantileRegressor(alpha=0, solver="highs"),
    ],
    ids=["forest", "boosted", "their boosted", "linear"],
)
def test_every_kind_of_quantile_model_is_conformalised(numbers, model):
    X, y = numbers
    conformal = ConformalModel(model, "cqr", random_state=0).fit(X[:400], y[:400])
    low, high = conformal.predict_interval(X[400:]).T
    assert 0.8 < ((low <= y[400:]) & (y[400:] <= high)).mean() <= 1
    assert np.ptp(high - low) > 0


def test_a_larger_coverage_gives_wider_intervals(numbers):
    X, y = numbers
    for method in ("split", "cv+", "oob"):
        forest = RandomForestRegressor(n_estimators=30, random_state=0)
        model = ConformalModel(forest, method, cv=3, random_state=0).fit(X, y)
        widths = [np.diff(model.predict_interval(X, c)).mean() for c in (0.5, 0.8, 0.95)]
        assert widths == sorted(widths)


# -------------------------------------------------------------------------------------------- sets
@given(st.integers(0, 10**6), st.booleans(), st.integers(2, 4))
def test_adaptive_scores_match_the_reference(seed, randomised, classes):
    random = np.random.default_rng(seed)
    p = random.dirichlet([1] * classes, size=5).round(1)  # rounding makes some probabilities equal
    uniform = random.random(5) if randomised else None
    mine = class_scores(p, "adaptive", uniform)
    for row in range(5):
        u = 1.0 if uniform is None else uniform[row]
        expected = [reference.adaptive_score(p[row].tolist(), k, u) for k in range(classes)]
        np.testing.assert_allclose(mine[row], expected, atol=1e-12)


def test_sets_may_be_empty_with_randomize_only(three_classes):
    X, y = three_classes
    fitted = GaussianNB().fit(X[:300], y[:300])
    sets = {
        randomize: ConformalModel(fitted, prefit=True, randomize=randomize, random_state=0)
        .fit(X[300:500], y[300:500])
        .predict_set(X[500:], coverage=0.6)
        for randomize in (True, False)
    }
    largest = fitted.predict_proba(X[500:]).max(axis=1)
    empty = ~sets[True].any(axis=1)
    assert empty.sum() > 0
    assert largest[empty].mean() > largest.mean()
    assert sets[False].any(axis=1).all()
    assert sets[False].sum() > sets[True].sum()


@pytest.mark.parametrize("sets", ["adaptive", "score"])
def test_split_sets_match_the_reference(three_classes, sets):
    X, y = three_classes
    fitted = GaussianNB().fit(X[:300], y[:300])
    model = ConformalModel(fitted, prefit=True, sets=sets, randomize=False)
    model.fit(X[300:500], y[300:500])

    def scores(p):
        return [
            1 - v if sets == "score" else reference.adaptive_score(p, k) for k, v in enumerate(p)
        ]

    own = [
        scores(p)[k]
        for p, k in zip(fitted.predict_proba(X[300:500]).tolist(), y[300:500], strict=True)
    ]
    for row, p in zip(
        model.predict_set(X[500:540]), fitted.predict_proba(X[500:540]).tolist(), strict=True
    ):
        expected = set(reference.split_set(scores(p), own, NINE_TENTHS))
        if sets == "adaptive":
            expected.add(int(np.argmax(p)))  # randomize=False: the set is never empty
        assert set(np.flatnonzero(row)) == expected


def test_cv_plus_sets_match_the_reference(three_classes):
    X, y, new = three_classes[0][:90], three_classes[1][:90], three_classes[0][90:110]
    model = ConformalModel(GaussianNB(), "cv+", cv=KFold(3), randomize=False).fit(X, y)
    without, own = np.empty((90, 20, 3)), np.empty(90)
    for kept, rows in KFold(3).split(X):
        fitted = GaussianNB().fit(X[kept], y[kept])
        without[rows] = class_scores(fitted.predict_proba(new), "adaptive", None)
        scores = class_scores(fitted.predict_proba(X[rows]), "adaptive", None)
        own[rows] = scores[np.arange(rows.size), y[rows]]
    for column, row in enumerate(model.predict_set(new)):
        expected = set(reference.jackknife_plus_set(without[:, column], own, NINE_TENTHS))
        assert expected <= set(np.flatnonzero(row))
        assert len(set(np.flatnonzero(row)) - expected) <= (not expected)


@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestClassifier(n_estimators=40, random_state=0),
        RandomForestClassifier(n_estimators=40, voting="hard", random_state=0),
        BaggingClassifier(n_estimators=40, random_state=0),
        TheirForestOfClasses(n_estimators=40, random_state=0),
    ],
    ids=["forest", "hard votes", "bagging", "their forest"],
)
def test_out_of_bag_sets_reach_the_coverage(three_classes, ensemble):
    X, y = three_classes[0], np.array(["a", "b", "c"])[three_classes[1]]
    model = ConformalModel(ensemble, "oob", random_state=0).fit(X[:400], y[:400])
    within = model.predict_set(X[400:], 0.9)
    covered = within[np.arange(500), np.searchsorted(model.classes_, y[400:])].mean()
    assert 0.86 < covered < 0.97
    assert (model.predict(X[400:]) == model.models_[0].predict(X[400:])).mean() > 0.99


def test_the_same_seed_gives_the_same_sets(three_classes):
    X, y = three_classes
    model = ConformalModel(GaussianNB(), random_state=3).fit(X, y)
    again = ConformalModel(GaussianNB(), random_state=3).fit(X, y)
    np.testing.assert_array_equal(model.predict_set(X), again.predict_set(X))
    np.testing.assert_array_equal(model.predict_set(X), model.predict_set(X))


# ----------------------------------------------------------------------------------------- groups
def test_each_group_is_calibrated_with_its_own_rows(numbers, random):
    X, y = numbers
    groups = np.where(random.random(500) < 0.3, "noisy", "calm")
    y = y + np.where(groups == "noisy", 10, 0) * random.normal(size=500)
    for method in ("split", "cv+"):
        model = ConformalModel(LinearRegression(), method, calibration_size=0.5, random_state=0)
        model.fit(X, y, groups=groups)
        low, high = model.predict_interval(X, 0.8, groups=groups).T
        width = {name: (high - low)[groups == name].mean() for name in ("calm", "noisy")}
        assert width["noisy"] > 2 * width["calm"]


def test_one_group_is_equivalent_to_a_model_of_its_rows(numbers):
    X, y = numbers
    groups = np.arange(500) % 2
    fitted = LinearRegression().fit(X[:200], y[:200])
    model = ConformalModel(fitted, prefit=True).fit(X[200:], y[200:], groups=groups[200:])
    alone = ConformalModel(fitted, prefit=True).fit(X[200::2], y[200::2])
    np.testing.assert_array_equal(
        model.predict_interval(X[::2], groups=groups[::2]), alone.predict_interval(X[::2])
    )


def test_per_class_reaches_the_coverage_in_a_rare_class(random):
    X = random.normal(size=(6000, 2))
    y = (X[:, 0] + random.normal(size=6000) > 2).astype(int)  # about 8 % are of class 1
    for per_class, reaches in ((False, False), (True, True)):
        model = ConformalModel(
            GaussianNB(), per_class=per_class, calibration_size=0.5, random_state=0
        ).fit(X[:3000], y[:3000])
        within = model.predict_set(X[3000:], 0.9)
        of_rare = within[y[3000:] == 1, 1].mean()
        assert (of_rare > 0.84) == reaches


def test_rows_of_weight_zero_have_no_effect(numbers):
    X, y = numbers
    weight = np.r_[np.ones(400), np.zeros(100)]
    wrong = np.r_[y[:400], np.full(100, 1e6)]
    forest = RandomForestRegressor(n_estimators=30, random_state=0)
    with_rows = ConformalModel(forest, "oob").fit(X, wrong, sample_weight=weight)
    without = ConformalModel(forest, "oob").fit(X[:400], y[:400])
    np.testing.assert_array_equal(with_rows.predict_interval(X), without.predict_interval(X))


def test_works_in_pipelines_and_pickles(numbers):
    X, y = numbers
    model = ConformalModel(make_pipeline(StandardScaler(), LinearRegression()), "cv+", cv=3)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.6
    fitted = model.fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_interval(X), fitted.predict_interval(X))
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    forest = TheirForest(n_estimators=10, random_state=0)
    np.testing.assert_array_equal(
        ConformalModel(forest, "oob").fit(frame, y).predict_interval(frame),
        ConformalModel(forest, "oob").fit(X, y).predict_interval(X),
    )
