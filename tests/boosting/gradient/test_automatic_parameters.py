"""The values of parameters that are "auto"."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from bosquet import GradientBoostingClassifier, GradientBoostingRegressor, load
from bosquet.boosting.gradient.automatic import AUTOMATIC, TrainingShape, candidate_parameters

REGRESSION, CLASSES = None, np.array([0.5, 0.5])


def chosen_parameters(model, rows, shares=REGRESSION, outputs=1, has_eval_set=False):
    return candidate_parameters(model, TrainingShape(rows, outputs, shares), has_eval_set)


def make_table(rows=120, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 4))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * random.normal(size=rows)


@pytest.mark.parametrize(("shares", "sets"), [(REGRESSION, 3), (CLASSES, 4)])
def test_cross_validation_chooses_among_sets_of_values_on_small_tables(shares, sets):
    candidates = chosen_parameters(GradientBoostingRegressor(), 500, shares)
    assert len(candidates) == sets
    for values in candidates:
        assert set(values) == set(AUTOMATIC)
        assert values["early_stopping"] == "cv"
        assert values["n_runs"] == 5


@pytest.mark.parametrize(("rows", "runs", "least"), [(50_000, 3, 5), (200_000, 1, 20)])
def test_larger_tables_have_one_set_of_values_and_a_validation_set(rows, runs, least):
    (values,) = chosen_parameters(GradientBoostingRegressor(), rows)
    assert values["early_stopping"] is True
    assert (values["n_runs"], values["min_samples_leaf"]) == (runs, least)


def test_rows_times_outputs_decide_what_is_small():
    large_shares = np.ones(26) / 26
    targets = chosen_parameters(GradientBoostingRegressor(), 1_500, outputs=26)
    assert len(targets) == 1
    assert len(chosen_parameters(GradientBoostingClassifier(), 1_500, CLASSES)) == 4
    assert len(chosen_parameters(GradientBoostingClassifier(), 300, large_shares, outputs=26)) == 4


def test_cross_validation_chooses_the_leaves_of_shared_trees_on_medium_tables():
    shares = np.ones(7) / 7
    for rows, leaves in ((5_000, [63, 31]), (20_000, [63])):
        candidates = chosen_parameters(GradientBoostingClassifier(), rows, shares, outputs=7)
        assert [values["max_leaf_nodes"] for values in candidates] == leaves
        assert {values["early_stopping"] for values in candidates} == {
            "cv" if rows < 10_000 else True
        }
        assert all(values["min_samples_leaf"] == 5 for values in candidates)
    (values,) = chosen_parameters(GradientBoostingClassifier(), 100_000, shares, outputs=7)
    assert (values["n_runs"], values["min_samples_leaf"]) == (1, 20)


@pytest.mark.parametrize("rows", [100, 5_000, 500_000])
def test_several_classes_share_trees_and_two_classes_or_targets_do_not(rows):
    shares = np.ones(5) / 5
    for values in chosen_parameters(GradientBoostingClassifier(), rows, shares, outputs=5):
        assert values["multi_strategy"] == "multi_output_tree"
    for given in ({"n_estimators": 100}, {"warm_start": True}, {"estimator": Ridge()}):
        (values,) = chosen_parameters(GradientBoostingClassifier(**given), rows, shares, outputs=5)
        assert values["multi_strategy"] == "one_output_per_tree"
    for model, of_classes, outputs in (
        (GradientBoostingClassifier(), CLASSES, 1),
        (GradientBoostingRegressor(), REGRESSION, 3),
        (GradientBoostingClassifier(multi_strategy="multi_output_tree"), CLASSES, 1),
    ):
        for values in chosen_parameters(model, rows, of_classes, outputs=outputs):
            assert values["multi_strategy"] == "one_output_per_tree"


def test_wide_tables_with_classes_have_one_set_of_values():
    shape = TrainingShape(800, 1, CLASSES, columns=4_000)
    (values,) = candidate_parameters(GradientBoostingClassifier(), shape, False)
    assert (values["early_stopping"], values["max_features"]) == ("cv", "sqrt")


def test_a_given_value_is_kept_in_all_sets():
    candidates = chosen_parameters(
        GradientBoostingRegressor(max_leaf_nodes=9, learning_rate=np.float32(0.5)), 500
    )
    assert {values["max_leaf_nodes"] for values in candidates} == {9}
    assert {values["learning_rate"] for values in candidates} == {0.5}
    assert all(type(values["learning_rate"]) is float for values in candidates)


@pytest.mark.parametrize(
    "given",
    [
        {"quality": "fast"},
        {"n_estimators": 100},
        {"warm_start": True},
        {"estimator": Ridge()},
    ],
)
def test_one_model_with_fixed_values_is_fitted_where_users_expect_it(given):
    (values,) = chosen_parameters(GradientBoostingRegressor(**given), 500)
    assert values["n_runs"] == 1
    assert values["early_stopping"] is False
    assert values["n_estimators"] == 100
    assert values["subsample"] == 1
    (values,) = chosen_parameters(GradientBoostingRegressor(**given), 1_000)
    assert values["early_stopping"] is True


@pytest.mark.parametrize("given", [{"scoring": "r2"}, {"refit": False}, {"early_stopping": True}])
def test_folds_are_not_used_where_they_cannot_be(given):
    (values,) = chosen_parameters(GradientBoostingRegressor(**given), 2_000)
    assert values["early_stopping"] is True


def test_an_eval_set_replaces_the_folds():
    (values,) = chosen_parameters(GradientBoostingRegressor(), 500, has_eval_set=True)
    assert values["early_stopping"] is True


def test_best_quality_has_more_runs_and_smaller_steps():
    default, best = (
        chosen_parameters(GradientBoostingRegressor(quality=quality), 20_000)
        for quality in ("default", "best")
    )
    assert len(best) == 3  # by cross-validation, also on larger tables
    assert best[0]["n_runs"] > default[0]["n_runs"]
    assert best[0]["learning_rate"] < default[0]["learning_rate"]


def test_the_penalty_is_smaller_if_a_class_is_rare():
    common = chosen_parameters(GradientBoostingClassifier(), 500, CLASSES)[0]["l2_regularization"]
    rare = chosen_parameters(GradientBoostingClassifier(), 500, np.array([0.99, 0.01]))[0][
        "l2_regularization"
    ]
    assert rare == pytest.approx(common * 4 * 0.99 * 0.01)


def test_the_chosen_set_has_the_smallest_loss_in_cross_validation():
    X, y = make_table()
    model = GradientBoostingRegressor(random_state=0).fit(X, y)
    losses = []
    for values in chosen_parameters(GradientBoostingRegressor(), 120):
        alone = GradientBoostingRegressor(random_state=0).set_params(**values).fit(X, y)
        losses.append(alone.validation_loss_.min())
        if values == model.parameters_:
            assert np.array_equal(alone.predict(X), model.predict(X))
    assert model.validation_loss_.min() == min(losses)


def test_rows_of_weight_zero_do_not_count():
    X, y = make_table(60)
    weight = np.r_[np.ones(9), np.zeros(51)]
    model = GradientBoostingRegressor(random_state=0).fit(X, y, weight)
    assert model.parameters_["early_stopping"] is False  # nine rows are too few for folds


def test_a_warm_start_keeps_the_values_of_the_first_fit():
    X, y = make_table(1_200)
    model = GradientBoostingRegressor(warm_start=True, n_estimators=5, random_state=0).fit(
        X[:90], y[:90]
    )
    first = dict(model.parameters_)
    model.set_params(n_estimators=8).fit(X, y)
    trees = [
        name
        for name in AUTOMATIC
        if name not in ("n_estimators", "early_stopping", "n_iter_no_change")
    ]
    assert all(model.parameters_[name] == first[name] for name in trees)


def test_a_model_file_keeps_the_values(tmp_path):
    X, y = make_table()
    model = GradientBoostingClassifier(random_state=0).fit(X, y > 0)
    model.save(tmp_path / "model.bosquet")
    loaded = load(tmp_path / "model.bosquet")
    assert loaded.parameters_ == model.parameters_
    assert loaded.learning_rate == "auto"


@pytest.mark.parametrize("quality", ["slow", None, 1])
def test_an_unknown_quality_is_an_error(quality):
    message = "quality=.* is not valid: quality must be one of 'fast', 'default', 'best'"
    with pytest.raises(ValueError, match=message):
        GradientBoostingRegressor(quality=quality).fit(*make_table())


def test_the_model_has_the_same_bits_for_any_number_of_threads():
    X, y = make_table(200)
    one, two = (
        GradientBoostingRegressor(random_state=0, n_jobs=jobs).fit(X, y).predict(X)
        for jobs in (1, 2)
    )
    assert np.array_equal(one, two)
