"""Invalid input raises one clear error that names the column, the value or the parameter."""

import numpy as np
import pytest
from loss_cases import POSITIVE, TRAITS

from bosquet import GradientBoostingClassifier, GradientBoostingRegressor

X = np.random.default_rng(0).normal(size=(60, 3))
Y = X[:, 0] + 1


def assert_fit_raises(match, X=X, y=Y, model=None, **fit):
    model = model or GradientBoostingRegressor(n_estimators=3)
    with pytest.raises(ValueError, match=match):
        model.fit(X, y, **fit)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("learning_rate", 0),
        ("learning_rate", "fast"),
        ("n_estimators", 0),
        ("n_estimators", 2.5),
        ("max_leaf_nodes", 1),
        ("max_leaf_nodes", 10**6),
        ("max_depth", 0),
        ("min_samples_leaf", 0),
        ("min_samples_leaf", 10**12),
        ("max_cat_threshold", 10**30),
        ("l2_regularization", -1),
        ("max_bins", 256),
        ("subsample", 0),
        ("subsample", 1.5),
        ("sampling", "clever"),
        ("max_features", 0.0),
        ("max_features", "many"),
        ("growth", "up"),
        ("step", "giant"),
        ("early_stopping", "maybe"),
        ("validation_fraction", 1.0),
        ("n_iter_no_change", 0),
        ("tol", float("nan")),
    ],
)
def test_a_parameter_out_of_range_is_named(parameter, value):
    assert_fit_raises(parameter, model=GradientBoostingRegressor(**{parameter: value}))


@pytest.mark.parametrize("constraint", [[3], 3, "triples", [[0, 1], "ab"]])
def test_interactions_that_are_not_a_list_of_sets_raise(constraint):
    model = GradientBoostingRegressor(interaction_cst=constraint)
    assert_fit_raises("interaction_cst must be a list of sets of features", model=model)


@pytest.mark.parametrize("seed", [-1, "foo", 2**32, 1.5])
def test_a_random_state_that_is_no_seed_is_named(seed):
    model = GradientBoostingRegressor(subsample=0.5, random_state=seed)
    assert_fit_raises(f"random_state={seed!r} is not valid: random_state must be", model=model)


@pytest.mark.parametrize("weights", ["balance", {7: 1.0}, [1.0, 2.0], 3])
def test_class_weights_of_another_form_are_named(weights):
    model = GradientBoostingClassifier(class_weight=weights)
    assert_fit_raises("is not valid: class_weight must be 'balanced', a dict", y=Y > 1, model=model)


def test_a_word_instead_of_an_estimator_is_named():
    with pytest.raises(TypeError, match="estimator='foo' is not an estimator; pass an instance"):
        GradientBoostingRegressor(estimator="foo").fit(X, Y)


def test_a_numpy_scalar_is_shown_as_a_number():
    model = GradientBoostingRegressor(learning_rate=np.float64(-1))
    assert_fit_raises("learning_rate=-1.0 is not valid", model=model)


def test_the_error_for_an_unknown_loss_lists_the_known_ones():
    assert_fit_raises("loss='l2'.*squared_error", model=GradientBoostingRegressor("l2"))
    assert_fit_raises("log_loss", y=Y > 1, model=GradientBoostingClassifier("hinge"))
    assert_fit_raises("gradient_hessian", model=GradientBoostingRegressor(loss=object()))


@pytest.mark.parametrize("name", ["quantile", "expectile"])
def test_levels_out_of_range_are_named(name):
    for levels in (0.0, 1.0, [], [0.5, np.nan], [0.1, 0.5, 0.1]):
        assert_fit_raises(f"{name}=", model=GradientBoostingRegressor(name, **{name: levels}))
    several = GradientBoostingRegressor(name, **{name: [0.1, 0.9]})
    assert_fit_raises(f"{name}=.* has 2 levels", y=np.column_stack([Y, Y]), model=several)


@pytest.mark.parametrize("loss", POSITIVE)
def test_targets_outside_of_a_loss_name_the_row(loss):
    y = np.abs(Y) + 0.1
    y[17] = 0.0 if TRAITS[loss]["targets"] == "positive" else -0.5
    assert_fit_raises(r"y\[17\]", y=y, model=GradientBoostingRegressor(loss))


@pytest.mark.parametrize("unit", ["datetime64[D]", "timedelta64[s]"])
def test_dates_and_durations_are_no_targets(unit):
    assert_fit_raises(
        "y must be numeric for regression, but has the type", y=np.arange(60).astype(unit)
    )


def test_invalid_targets_raise():
    assert_fit_raises("NaN", y=np.where(np.arange(60) == 3, np.nan, Y))
    assert_fit_raises("infinity", y=np.where(np.arange(60) == 3, np.inf, Y))
    assert_fit_raises("inconsistent numbers", y=Y[:50])
    assert_fit_raises("must be numeric", y=["a"] * 60)
    assert_fit_raises("one class", y=np.zeros(60), model=GradientBoostingClassifier())
    assert_fit_raises(
        "missing", y=np.array(["a", None] * 30, dtype=object), model=GradientBoostingClassifier()
    )
    assert_fit_raises(
        "two classes", y=np.arange(60) % 3, model=GradientBoostingClassifier("exponential")
    )


def test_invalid_weights_raise():
    assert_fit_raises("zero", sample_weight=np.zeros(60))
    assert_fit_raises(r"sample_weight\[2\]", sample_weight=np.where(np.arange(60) == 2, -1.0, 1.0))
    assert_fit_raises(
        r"sample_weight\[2\]", sample_weight=np.where(np.arange(60) == 2, np.nan, 1.0)
    )
    assert_fit_raises("pass one weight per row", sample_weight=np.ones(10))


def test_invalid_tables_raise():
    assert_fit_raises("0 sample", X=X[:0], y=Y[:0])
    assert_fit_raises("0 feature", X=X[:, :0])
    assert_fit_raises("Reshape your data", X=X[:, 0])
    model = GradientBoostingRegressor(n_estimators=2).fit(X, Y)
    with pytest.raises(ValueError, match="2 features"):
        model.predict(X[:, :2])
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(X[:0])


def test_constraints_that_do_not_match_the_table_raise():
    assert_fit_raises("monotonic_cst has 2", model=GradientBoostingRegressor(monotonic_cst=[1, 0]))
    assert_fit_raises("-1, 0 or 1", model=GradientBoostingRegressor(monotonic_cst=[2, 0, 0]))
    assert_fit_raises("interaction_cst", model=GradientBoostingRegressor(interaction_cst=[{7}]))
    assert_fit_raises("quantile", model=GradientBoostingRegressor("quantile", quantile=[0.5, 1.0]))


def test_missing_constant_and_infinite_columns_are_accepted():
    odd = np.c_[X, np.full(60, np.nan), np.full(60, 5.0), np.where(X[:, 0] > 0, np.inf, -np.inf)]
    model = GradientBoostingRegressor(n_estimators=20, min_samples_leaf=5).fit(odd, Y)
    assert model.score(odd, Y) > 0.5
    assert np.isfinite(model.predict(odd)).all()
    assert np.isfinite(model.predict(np.full((3, 6), np.nan))).all()


def test_a_million_categories_work():
    pandas = pytest.importorskip("pandas")
    n = 1_000_000
    frame = pandas.DataFrame({"id": np.arange(n).astype(str), "x": np.arange(n) % 7})
    y = (frame["x"] > 3).astype(int)
    model = GradientBoostingClassifier(
        n_estimators=2, learning_rate=0.5, max_features=None, early_stopping=False
    )
    model.fit(frame, y)
    assert model.score(frame[:1000], y[:1000]) == 1


def test_unseen_categories_are_treated_as_missing():
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    colour = random.choice(["red", "green", "blue"], 500).astype(object)
    colour[random.random(500) < 0.1] = None
    y = np.where(colour == "red", 3.0, np.where(colour == None, -3.0, 0.0))  # noqa: E711
    model = GradientBoostingRegressor(n_estimators=30).fit(pandas.DataFrame({"colour": colour}), y)
    new = pandas.DataFrame({"colour": ["violet", None]}, dtype=object)
    unseen, missing = model.predict(new)
    assert unseen == missing
    assert missing < -2


def test_feature_names_may_contain_any_characters_and_are_checked():
    pandas = pytest.importorskip("pandas")
    names = ['a "quoted", [b]', "naïve ☂", "{json: 1}"]
    frame = pandas.DataFrame(X, columns=names)
    model = GradientBoostingRegressor(n_estimators=3).fit(frame, Y)
    assert list(model.feature_names_in_) == names
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[names[::-1]])
