"""The mean of several runs of boosting."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.metrics import log_loss

import bosquet
from bosquet import GradientBoostingClassifier, GradientBoostingRegressor
from bosquet.boosting.gradient._base import seeds_of_runs
from bosquet.boosting.rounds import split_rows
from bosquet.explain import explain

FEW = {"n_estimators": 12, "early_stopping": False, "max_leaf_nodes": 6, "min_samples_leaf": 5}


class FixedSeed(np.random.RandomState):
    """A random state whose only draw is the given seed."""

    def __init__(self, seed):
        super().__init__(0)
        self.seed_wanted = seed

    def randint(self, *args, **kwargs):
        return self.seed_wanted


def mixed_table(rows=400):
    random = np.random.default_rng(3)
    number = random.normal(size=rows)
    number[::9] = np.nan
    colour = pd.Categorical(random.choice(["red", "green", "blue"], rows))
    y = (np.nan_to_num(number) + (colour == "red") + random.normal(size=rows) > 0.5).astype(int)
    other = random.normal(size=rows)
    return pd.DataFrame({"number": number, "colour": colour, "other": other}), y


@pytest.mark.parametrize("classes", [True, False])
def test_the_model_is_the_mean_of_its_runs_after_every_round(classes):
    X, y = load_wine(return_X_y=True) if classes else load_diabetes(return_X_y=True)
    kind = GradientBoostingClassifier if classes else GradientBoostingRegressor

    def stages(model):
        return np.array(list(model._staged_raw(X)))

    mean = kind(n_runs=3, random_state=FixedSeed(7), **FEW).fit(X, y)
    runs = [kind(random_state=FixedSeed(seed), **FEW).fit(X, y) for seed in seeds_of_runs(7, 3)]
    assert np.ptp([stages(run)[-1] for run in runs], axis=0).max() > 0.01
    np.testing.assert_allclose(
        stages(mean), np.mean([stages(run) for run in runs], axis=0), atol=1e-12
    )
    assert mean.n_iter_ == FEW["n_estimators"]


def test_the_mean_of_runs_has_a_smaller_loss_than_one_run():
    X, y = load_wine(return_X_y=True)
    here = np.arange(len(y)) % 2 == 0

    def loss(runs, seed):
        model = GradientBoostingClassifier(
            n_estimators=40, n_runs=runs, max_features=2, subsample=0.5, min_samples_leaf=2,
            early_stopping=False, random_state=seed,
        ).fit(X[here], y[here])  # fmt: skip
        return log_loss(y[~here], model.predict_proba(X[~here]))

    assert np.mean([loss(4, seed) for seed in range(6)]) < np.mean([loss(1, s) for s in range(6)])


@pytest.mark.parametrize("how", ["refit", "not refitted", "rows of the user's own"])
def test_every_run_has_the_rounds_and_the_rows_of_the_first(how):
    X, y = mixed_table(1500)
    given = {"quality": "fast"}
    if how != "refit":
        given["refit"] = False
    if how == "rows of the user's own":
        X, y, eval_set = X[300:], y[300:], (X[:300], y[:300])
    else:
        eval_set = None
    model = GradientBoostingClassifier(n_runs=2, random_state=FixedSeed(7), **given)
    model.fit(X, y, eval_set=eval_set)
    first = GradientBoostingClassifier(random_state=FixedSeed(7), **given)
    first.fit(X, y, eval_set=eval_set)
    assert model.n_iter_ == first.n_iter_ < 1000
    assert np.array_equal(model.validation_score_, first.validation_score_)
    learned = np.arange(len(y))
    if how == "not refitted":
        learned = split_rows(len(y), 0.1, 7, y)[0]
    second = GradientBoostingClassifier(
        quality="fast",
        n_estimators=first.n_iter_,
        early_stopping=False,
        random_state=FixedSeed(seeds_of_runs(7, 2)[1]),
    ).fit(X.iloc[learned], y[learned])
    mean = (first._raw(X) + second._raw(X)) / 2
    np.testing.assert_allclose(model._raw(X), mean, atol=1e-12)


def test_a_file_a_pickle_and_an_explanation_of_runs(tmp_path):
    X, y = mixed_table()
    model = GradientBoostingClassifier(n_runs=3, random_state=0, **FEW).fit(X, y)
    model.save(tmp_path / "model.bq")
    again = bosquet.load(tmp_path / "model.bq")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    stages = zip(again.staged_predict_proba(X), model.staged_predict_proba(X), strict=True)
    assert all(np.array_equal(a, b) for a, b in stages)
    assert again.n_iter_ == model.n_iter_ == FEW["n_estimators"]
    pickled = pickle.loads(pickle.dumps(model))
    assert np.array_equal(pickled.predict_proba(X), model.predict_proba(X))
    assert pickled.n_iter_ == model.n_iter_
    explanation = explain(model, X)
    total = explanation.values.sum(axis=1) + explanation.base
    np.testing.assert_allclose(total, np.ravel(model._raw(X)), atol=1e-9)
    np.testing.assert_allclose(model.feature_importances_.sum(), 1)


def test_a_file_whose_trees_do_not_match_its_runs_is_rejected(tmp_path):
    X, y = mixed_table()
    model = GradientBoostingClassifier(n_runs=3, random_state=0, **FEW).fit(X, y)
    for wrong in (5, 0, -3):  # 36 is not a multiple of 5
        model._terms.runs = wrong
        model.save(tmp_path / "model.bq")
        with pytest.raises(bosquet.ModelFileError, match="runs"):
            bosquet.load(tmp_path / "model.bq")


def test_a_file_written_between_two_rounds_has_the_rounds_so_far(tmp_path):
    X, y = mixed_table()

    def keep(info):
        if info.iteration == 5:
            info.model.save(tmp_path / "model.bq")

    GradientBoostingClassifier(n_runs=3, callbacks=[keep], random_state=0, **FEW).fit(X, y)
    assert bosquet.load(tmp_path / "model.bq").n_iter_ == 5


def test_runs_cannot_be_continued_by_a_warm_start():
    X, y = mixed_table()
    model = GradientBoostingClassifier(n_runs=3, random_state=0, **FEW).fit(X, y)
    before = model.predict_proba(X)
    model.set_params(n_runs=1, warm_start=True, n_estimators=20)
    with pytest.raises(ValueError, match="mean of 3 runs"):
        model.fit(X, y)
    assert np.array_equal(model.predict_proba(X), before)


def test_runs_accept_a_custom_loss():
    X, y = load_diabetes(return_X_y=True)

    class Square:
        def value(self, y, f):
            return (y - f) ** 2 / 2

        def gradient_hessian(self, y, f):
            return f - y, np.ones_like(f)

    own = GradientBoostingRegressor(Square(), n_runs=2, random_state=0, **FEW).fit(X, y)
    ours = GradientBoostingRegressor(n_runs=2, random_state=0, **FEW).fit(X, y)
    np.testing.assert_allclose(own.predict(X), ours.predict(X), rtol=1e-4)


def test_parameters_that_do_not_support_runs_raise():
    from sklearn.tree import DecisionTreeRegressor

    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match="n_runs=0"):
        GradientBoostingRegressor(n_runs=0).fit(X, y)
    with pytest.raises(ValueError, match="n_runs=2 is only supported for native trees"):
        GradientBoostingRegressor(n_runs=2, estimator=DecisionTreeRegressor()).fit(X, y)
    with pytest.raises(ValueError, match="n_runs=2 cannot be combined with warm_start=True"):
        GradientBoostingRegressor(n_runs=2, warm_start=True).fit(X, y)
