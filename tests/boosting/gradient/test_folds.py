"""The number of rounds by cross-validation (early_stopping="cv")."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold, TimeSeriesSplit

from bosquet import GradientBoostingClassifier, GradientBoostingRegressor, load
from bosquet.boosting.gradient._folds import BLOCK_ROUNDS, fold_rows, rounds_on_all_rows


def make_table(rows=300, seed=0, noise=1.0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 4))
    return X, X[:, 0] + X[:, 1] * X[:, 2] + noise * random.normal(size=rows)


def curve_by_hand(X, y, folds, n_rounds, weight=None):
    """The mean validation loss of separate fits, one per fold."""
    total = np.zeros(n_rounds)
    weight = np.ones(len(y)) if weight is None else weight
    for train, held in folds:
        model = GradientBoostingRegressor(
            n_estimators=n_rounds, early_stopping=False, random_state=0, n_jobs=1
        ).fit(X[train], y[train], weight[train], eval_set=(X[held], y[held], weight[held]))
        total += weight[held].sum() * model.validation_loss_
    return total / weight.sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_losses_are_the_means_of_separate_fits_and_decide_the_number_of_rounds(
    weighted,
):
    X, y = make_table()
    weight = np.random.default_rng(1).uniform(0.5, 2, 300) if weighted else None
    model = GradientBoostingRegressor(
        quality="fast", early_stopping="cv", cv=3, n_iter_no_change=10, random_state=0
    ).fit(X, y, weight)
    folds = list(KFold(3, shuffle=True, random_state=model._seed).split(X))
    n_rounds = len(model.validation_loss_)
    expected = curve_by_hand(X, y, folds, n_rounds, weight)
    assert model.validation_loss_ == pytest.approx(expected, rel=1e-12)
    best_round = 1 + expected.argmin()
    assert n_rounds == best_round + 10
    assert model.n_iter_ == round(1.25 * best_round)
    whole = GradientBoostingRegressor(
        n_estimators=model.n_iter_, early_stopping=False, random_state=0
    ).fit(X, y, weight)
    assert np.array_equal(model.predict(X), whole.predict(X))


def test_the_rounds_grow_in_proportion_to_the_rows_up_to_a_limit():
    def folds(*sizes):
        return [(np.arange(size), np.arange(size, 100)) for size in sizes]

    assert rounds_on_all_rows(100, folds(90, 90), 100) == 111
    assert rounds_on_all_rows(100, folds(80, 81, 79), 100) == 125
    assert rounds_on_all_rows(100, folds(20, 40, 60), 100) == 125
    assert rounds_on_all_rows(1, folds(80), 100) == 1


def test_the_model_has_the_same_bits_for_any_number_of_threads():
    X, y = make_table(noise=0.3)
    fitted = [
        GradientBoostingClassifier(early_stopping="cv", n_runs=2, random_state=3, n_jobs=jobs).fit(
            X, y > 0
        )
        for jobs in (1, 2, 5)
    ]
    for model in fitted[1:]:
        assert np.array_equal(model.validation_loss_, fitted[0].validation_loss_)
        assert np.array_equal(model.predict_proba(X), fitted[0].predict_proba(X))


def test_folds_are_stratified_if_every_class_has_a_row_per_fold():
    strata = np.repeat([0, 1], [90, 10])
    for train, held in fold_rows(100, 5, 0, strata):
        assert strata[held].sum() == 2
        assert set(train).isdisjoint(held)
    expected = StratifiedKFold(5, shuffle=True, random_state=0).split(strata, strata)
    found = fold_rows(100, 5, 0, strata)
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(expected, found, strict=True))
    rare = np.repeat([0, 1], [98, 2])
    assert sorted(np.concatenate([held for _, held in fold_rows(100, 5, 0, rare)])) == list(
        range(100)
    )


def test_a_list_of_splits_equals_its_splitter():
    X, y = make_table(120)
    splitter = TimeSeriesSplit(3)
    options = {"early_stopping": "cv", "n_iter_no_change": 5, "random_state": 0}
    one = GradientBoostingRegressor(cv=splitter, **options).fit(X, y)
    other = GradientBoostingRegressor(cv=list(splitter.split(X)), **options).fit(X, y)
    assert np.array_equal(one.validation_loss_, other.validation_loss_)
    assert np.array_equal(one.predict(X), other.predict(X))


def test_a_class_with_one_row_can_be_fitted():
    X, y = make_table(60)
    labels = np.where(np.arange(60) == 7, "rare", np.where(y > 0, "a", "b"))
    model = GradientBoostingClassifier(early_stopping="cv", random_state=0).fit(X, labels)
    assert np.isfinite(model.predict_proba(X)).all()


def test_there_are_no_more_folds_than_rows():
    model = GradientBoostingRegressor(early_stopping="cv", cv=10, random_state=0)
    assert model.fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0]).n_iter_ >= 1
    with pytest.raises(
        ValueError, match="early_stopping='cv' needs at least 2 rows, but there is 1"
    ):
        model.fit([[1.0]], [1.0])


def test_rows_of_weight_zero_do_not_count():
    X, y = make_table()
    weight = (np.arange(300) < 200).astype(float)
    with_zeros = GradientBoostingRegressor(early_stopping="cv", random_state=0).fit(X, y, weight)
    without = GradientBoostingRegressor(early_stopping="cv", random_state=0).fit(X[:200], y[:200])
    assert np.array_equal(with_zeros.predict(X), without.predict(X))


@pytest.mark.parametrize("cv", [TimeSeriesSplit(3), list(TimeSeriesSplit(3).split(np.empty(300)))])
@pytest.mark.parametrize("with_zeros", [False, True])
def test_a_splitter_or_a_list_of_splits_can_be_passed(with_zeros, cv):
    X, y = make_table()
    weight = np.where(np.arange(300) % 7 == 0, 0.0, 1.0) if with_zeros else np.ones(300)
    model = GradientBoostingRegressor(
        quality="fast",
        early_stopping="cv",
        cv=cv,
        n_iter_no_change=10,
        random_state=0,
    ).fit(X, y, weight)
    folds = [
        tuple(rows[weight[rows] > 0] for rows in split) for split in TimeSeriesSplit(3).split(X)
    ]
    total = sum(held.size for _, held in folds)
    expected = curve_by_hand(X, y, folds, len(model.validation_loss_), weight)
    assert model.validation_loss_ == pytest.approx(expected * weight.sum() / total, rel=1e-12)


def test_a_stratified_splitter_receives_the_classes():
    X, y = make_table(100)
    model = GradientBoostingClassifier(
        early_stopping="cv", cv=StratifiedKFold(3), n_estimators=20, random_state=0
    ).fit(X, np.where(y > 0, "a", "b"))
    assert len(model.validation_loss_) == 20


def test_a_split_without_rows_is_an_error():
    X, y = make_table(100)
    weight = np.r_[np.zeros(50), np.ones(50)]
    model = GradientBoostingRegressor(early_stopping="cv", cv=KFold(2), random_state=0)
    with pytest.raises(ValueError, match="split 0 of cv has 50 training rows and 0 validation"):
        model.fit(X, y, weight)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([], "cv has no splits; pass at least one"),
        ([([0, 1], [2, 50])], "split 0 of cv contains rows that are not in X; pass row numbers from 0 to 49"),
        ([([0.5, 1], [2, 3])], "split 0 of cv contains rows that are not in X"),
    ],
)  # fmt: skip
def test_invalid_splits_are_an_error(cv, message):
    with pytest.raises(ValueError, match=message):
        GradientBoostingRegressor(early_stopping="cv", cv=cv).fit(*make_table(50))


def test_a_callback_sees_every_round_and_can_stop():
    X, y = make_table()
    seen = []

    def stop_after_five(info):
        seen.append((info.iteration, info.validation_loss, info.model.predict(X[:1]).shape))
        return info.iteration == 5

    model = GradientBoostingRegressor(
        early_stopping="cv", callbacks=[stop_after_five], random_state=0
    ).fit(X, y)
    assert [iteration for iteration, *_ in seen] == [1, 2, 3, 4, 5]
    assert model.n_iter_ <= 5 < BLOCK_ROUNDS
    assert len(model.validation_loss_) == 5


def test_folds_stop_other_learners_and_survive_a_model_file(tmp_path):
    from sklearn.tree import DecisionTreeRegressor

    X, y = make_table()
    learner = DecisionTreeRegressor(max_depth=2, random_state=0)
    model = GradientBoostingRegressor(
        early_stopping="cv", estimator=learner, n_estimators=40, n_iter_no_change=5, random_state=0
    ).fit(X, y)
    best_round = 1 + np.argmin(model.validation_loss_)
    assert model.n_iter_ == min(round(1.25 * best_round), 40)
    native = GradientBoostingRegressor(early_stopping="cv", cv=4, random_state=0).fit(X, y)
    native.save(tmp_path / "model.bosquet")
    loaded = load(tmp_path / "model.bosquet")
    assert (loaded.early_stopping, loaded.cv) == ("cv", 4)
    assert np.array_equal(loaded.predict(X), native.predict(X))


@pytest.mark.parametrize(
    ("parameters", "eval_set", "conflict"),
    [
        ({}, "given", "an eval_set"),
        ({"warm_start": True}, None, "warm_start=True"),
        ({"scoring": "r2"}, None, "scoring='r2'"),
    ],
)
def test_what_cannot_be_combined_with_folds_is_an_error(parameters, eval_set, conflict):
    X, y = make_table(50)
    model = GradientBoostingRegressor(early_stopping="cv", **parameters)
    message = f"early_stopping='cv' cannot be combined with {conflict}; use early_stopping=True"
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, eval_set=None if eval_set is None else (X, y))


@pytest.mark.parametrize("cv", [1, 0, 2.5, "5"])
def test_an_invalid_number_of_folds_is_an_error(cv):
    with pytest.raises(ValueError, match=r"cv="):
        GradientBoostingRegressor(early_stopping="cv", cv=cv).fit(*make_table(50))
