"""Counts with an exposure: rates are fitted, counts predicted and scored; the column is not a feature."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import make_scorer, mean_poisson_deviance, root_mean_squared_error

from bosquet import GradientBoostingRegressor, Study
from bosquet.glm import PoissonRegression
from bosquet.study.methods import METHODS
from bosquet.study.methods.gradient import FOLDS_BELOW
from bosquet.study.methods.offsets import OffsetModel
from bosquet.study.methods.shapes import table_shape
from bosquet.study.table.design import read_design
from bosquet.study.table.offset import OffsetColumn

DAYS = OffsetColumn("days", "exposure")
GIVEN = {"budget": None, "repeats": 2, "verbose": 0}
METHODS_OF_COUNTS = ["constant", "poisson", "gradient-boosting-defaults", "linear"]


def counts(n=400, seed=0):
    """Return claims and days: the rate depends on a and b, the number of days is independent."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": random.normal(size=n), "b": random.choice(["u", "v"], n)})
    frame["days"] = np.exp(random.uniform(0, 4, n)).round(2)
    rate = 0.2 * np.exp(0.7 * frame["a"] + (frame["b"] == "u"))
    frame["claims"] = random.poisson(frame["days"] * rate)
    return frame


# ----------------------------------------------------------------------------------------- the fit
def test_a_fit_of_rates_is_the_poisson_regression_with_that_exposure():
    frame = counts()
    model = OffsetModel(PoissonRegressor(alpha=0, tol=1e-10, max_iter=1000), DAYS)
    model.fit(frame[["a", "days"]], frame["claims"])
    glm = PoissonRegression().fit(frame[["a"]], frame["claims"], exposure=frame["days"])
    expected = glm.predict(frame[["a"]], exposure=frame["days"])
    assert model.predict(frame[["a", "days"]]) == pytest.approx(expected, rel=1e-4)


def test_an_offset_is_the_logarithm_of_an_exposure():
    frame = counts().assign(log_days=lambda t: np.log(t["days"]))
    kind = PoissonRegressor(alpha=0.01)
    by_days = OffsetModel(kind, DAYS).fit(frame[["a", "days"]], frame["claims"])
    by_log = OffsetModel(kind, OffsetColumn("log_days", "offset"))
    by_log.fit(frame[["a", "log_days"]], frame["claims"])
    assert by_log.predict(frame[["a", "log_days"]]) == pytest.approx(
        by_days.predict(frame[["a", "days"]])
    )


@pytest.mark.filterwarnings("error")
def test_boosted_counts_do_not_depend_on_the_unit_of_the_exposure():
    frame = counts(600)
    given = {"loss": "poisson", "n_estimators": 40, "min_samples_leaf": 5, "random_state": 0}
    predicted = []
    for unit in (1.0, 24.0):
        table = frame[["a", "b"]].assign(days=frame["days"] * unit)
        model = OffsetModel(GradientBoostingRegressor(**given), DAYS).fit(table, frame["claims"])
        predicted.append(model.predict(table))
    assert predicted[0] == pytest.approx(predicted[1], rel=1e-6)


def test_weights_of_rows_are_those_of_repeated_rows():
    frame = counts()
    weight = np.random.default_rng(1).integers(1, 4, len(frame))
    model = OffsetModel(PoissonRegressor(alpha=0.1, tol=1e-9), DAYS)
    X, y = frame[["a", "days"]], frame["claims"].to_numpy()
    again = np.repeat(np.arange(len(frame)), weight)
    weighted = model.fit(X, y, sample_weight=weight).predict(X)
    assert model.fit(X.iloc[again], y[again]).predict(X) == pytest.approx(weighted, rel=1e-4)


@pytest.mark.parametrize("name", ["constant", "poisson", "gradient-boosting"])
@pytest.mark.parametrize("rows", [300, FOLDS_BELOW + 100])
def test_every_candidate_predicts_counts_by_the_exposure(name, rows):
    frame = counts(300)
    shape = replace(
        table_shape(frame[["a", "b"]], frame["claims"], "regression"), n_rows=rows, offset=DAYS
    )
    candidate = METHODS[name].candidates(shape)[0]
    model = candidate.make(0)
    assert isinstance(model, OffsetModel)
    if name == "gradient-boosting":
        model.regressor.set_params(n_estimators=20)
    X = frame[["a", "b", "days"]]
    model.fit(X, frame["claims"])
    twice = model.predict(X.assign(days=2 * X["days"]))
    assert twice == pytest.approx(2 * model.predict(X))
    assert METHODS[name].details(model)


# ------------------------------------------------------------------------------------ whole studies
def test_a_study_with_an_exposure_models_the_rate():
    frame, later = counts(), counts(200, 1)
    study = Study(methods=METHODS_OF_COUNTS, **GIVEN)
    study.fit(frame, "claims", exposure="days", test=later)
    status = {one["name"]: one["status"] for one in study.record_["methods"]}
    assert status["linear"] == "unsuited"
    assert all(status[name] == "done" for name in METHODS_OF_COUNTS if name != "linear")
    linear = next(one for one in study.record_["methods"] if one["name"] == "linear")
    assert linear["message"] == "it does not take an offset"
    # The rate of the truth is log-linear.
    assert study.table_.index[0] == "poisson"
    predicted = study.predict(later)
    assert study.predict(later.assign(days=3 * later["days"])) == pytest.approx(3 * predicted)
    expected = root_mean_squared_error(later["claims"], predicted)
    assert study.record_["test_table"]["metrics"]["rmse"] == pytest.approx(expected)
    chosen = study.record_["chosen"]
    assert {one["feature"] for one in chosen["importances"]} == {"a", "b"}
    assert {one["feature"] for one in chosen["dependence"]} == {"a", "b"}
    assert "per unit of exposure" in chosen["tree_title"]
    assert chosen["rows"][0]["values"].keys() == {"a", "b", "days"}
    assert not [note for note in study.record_["notes"] if "could not be made" in note]
    assert "with an exposure" in str(study)
    with pytest.raises(ValueError, match="the exposure column 'days' is not in the table"):
        study.predict(later.drop(columns="days"))
    with pytest.raises(ValueError, match="'days' is -1 in row 0; an exposure must be positive"):
        study.predict(later.assign(days=-1))
    again = pickle.loads(pickle.dumps(study.best_))
    assert again.predict(later) == pytest.approx(predicted)
    with pytest.raises(ValueError, match="cannot hold a model with an exposure"):
        study.save("nowhere.bosquet")


def test_an_exposure_is_better_than_the_same_column_as_a_feature():
    frame, later = counts(800), counts(800, 1)
    shape = table_shape(frame[["a", "b"]], frame["claims"], "regression")
    errors = []
    for offset in (DAYS, None):
        candidates = METHODS["poisson"].candidates(replace(shape, offset=offset))
        model = candidates[-3].make(0).fit(frame[["a", "b", "days"]], frame["claims"])
        predicted = np.clip(model.predict(later[["a", "b", "days"]]), 1e-9, 1e9)
        errors.append(mean_poisson_deviance(later["claims"], predicted))
    assert errors[0] < 0.8 * errors[1]


def test_large_tables_of_counts_are_boosted_until_the_poisson_loss_no_longer_falls():
    frame = counts(FOLDS_BELOW * 5 // 4 + 50)
    study = Study(
        methods=["constant", "gradient-boosting-defaults"],
        metric=make_scorer(mean_poisson_deviance, greater_is_better=False),
        **{**GIVEN, "repeats": 1},
    )
    study.fit(frame, "claims", exposure="days")
    first = study.record_["methods"][0]
    assert first["name"] == "gradient-boosting-defaults"
    assert first["curve"]["score"] == "Poisson loss"
    assert first["mean"] < 1.4  # the deviance of the truth is about 1


def test_a_count_of_few_values_is_a_number_where_there_is_an_exposure():
    frame = counts()
    frame["claims"] = frame["claims"].clip(upper=4)
    study = Study(methods=["constant"], **GIVEN).fit(frame, "claims", exposure="days")
    assert study.record_["task"] == "regression"


def test_a_study_with_an_offset_is_resumed(tmp_path):
    frame = counts(120).assign(log_days=lambda t: np.log(t["days"])).drop(columns="days")
    given = {**GIVEN, "repeats": 1, "methods": ["constant", "gradient-boosting-defaults"]}
    path = tmp_path / "c.jsonl"
    study = Study(checkpoint=path, **given).fit(frame, "claims", offset="log_days")
    again = Study(checkpoint=path, **given).fit(frame, "claims", offset="log_days")
    plain = Study(**given).fit(frame, "claims", offset="log_days")
    for other in (again, plain):
        assert other.predict(frame) == pytest.approx(study.predict(frame))
    with pytest.raises(ValueError, match="split: offset=log_days in the file, none now"):
        Study(checkpoint=path, **given).fit(frame, "claims")


# --------------------------------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("option", "change", "message"),
    [
        ("exposure", {"days": 0}, "the exposure column 'days' is 0 in row 0; an exposure must be"),
        ("exposure", {"days": "x"}, "the exposure column 'days' is not numeric"),
        ("exposure", {"days": np.nan}, "the exposure column 'days' has missing values in 50 rows"),
        ("exposure", {"days": np.inf}, "'days' is not a finite number in row 0"),
        ("offset", {"days": 365}, "'days' is 365 in row 0; an offset is a logarithm"),
        (
            "exposure",
            {"claims": -1.5},
            "a target that is >= 0, such as a count, but 'claims' is -1.5 in row 0",
        ),
        ("exposure", {"claims": list("ab") * 25}, "exposure needs a numeric target"),
    ],
)
def test_an_unusable_offset_raises_one_line(option, change, message):
    frame = counts(50).assign(**change)
    if isinstance(change.get("claims"), float):
        frame["claims"] += frame["a"].abs().sort_values(ignore_index=True) - frame["a"].abs().min()
    with pytest.raises(ValueError, match=message) as raised:
        Study(methods=["constant"], **GIVEN).fit(frame, "claims", **{option: "days"})
    assert "\n" not in str(raised.value)


def test_an_offset_is_exactly_one_column():
    frame = counts(50)
    study = Study(methods=["constant"], **GIVEN)
    with pytest.raises(ValueError, match="exposure must be the name of a column"):
        study.fit(frame, "claims", exposure=frame["days"])
    with pytest.raises(ValueError, match="which is log\\(exposure\\); pass only one of them"):
        study.fit(frame, "claims", exposure="days", offset="a")
    with pytest.raises(ValueError, match="the offset column 'dayz' is not in the table; did you"):
        study.fit(frame, "claims", offset="dayz")
    with pytest.raises(ValueError, match="the test table lacks the column 'days'"):
        study.fit(frame, "claims", exposure="days", test=frame.drop(columns="days"))
    with pytest.raises(ValueError, match="in the test table the exposure column 'days' is 0"):
        study.fit(frame, "claims", exposure="days", test=frame.assign(days=0))


def test_the_design_has_the_logarithm_of_the_exposure():
    frame = counts(50)
    design = read_design(frame, {"exposure": "days"}, is_classes=False)
    assert design.offset == pytest.approx(np.log(frame["days"]))
    assert design.left_out == ["days"]
