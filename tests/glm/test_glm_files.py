"""Model files of regression models: they keep the bits, and contain neither training rows nor code."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula
from quiet_fits import quietly
from statsmodels.genmod import families

import bosquet
from bosquet import (
    BaggingClassifier,
    BinomialRegression,
    LinearModel,
    LogLinearModel,
    ModelFileError,
    MultinomialRegression,
    PoissonRegression,
    VotingRegressor,
    plot,
)
from bosquet.glm._estimates import is_symmetric, symmetric
from bosquet.glm._generalised import INVERSE_LINKS
from bosquet.io import model_bytes, model_from_bytes
from bosquet.io.container import pack_members, pack_trees, unpack_members, unpack_trees

USED = ["age", "dose", "sex", "clinic", "noise"]


FITS = {
    "columns": lambda p: BinomialRegression().fit(p[USED], p["ill"]),
    "array": lambda p: BinomialRegression(link="probit").fit(
        p[["age", "dose"]].to_numpy(), p["ill"]
    ),
    "some columns": lambda p: LinearModel(["age", "clinic"]).fit(p[USED], p["stay"]),
    "no constant": lambda p: LinearModel(fit_intercept=False).fit(p[["clinic", "dose"]], p["stay"]),
    "interaction": lambda p: BinomialRegression("ill ~ age + dose * sex").fit(p),
    "functions": lambda p: BinomialRegression(
        "ill ~ np.log(dose + 1) * clinic + I(age ** 2)", link="cloglog"
    ).fit(p),
    "contrasts": lambda p: LinearModel(
        f"stay ~ C(clinic, {'contr.sum' if _engine() == 'formulaic' else 'Sum'}) * age + C(sex)"
    ).fit(p),
    "weights": lambda p: PoissonRegression("visits ~ age + sex").fit(p, sample_weight="dose"),
    "selected": lambda p: LinearModel("stay ~ age * dose * sex + noise").fit(p).backward(),
    "classes": lambda p: MultinomialRegression("clinic ~ age + sex").fit(p),
    "classes of columns": lambda p: MultinomialRegression().fit(p[["age", "dose"]], p["clinic"]),
    "separated": lambda p: quietly(
        lambda: BinomialRegression("ill ~ age + a").fit(p.assign(a=(p["ill"] == "yes") * 1.0))
    ),
    "dropped": lambda p: PoissonRegression(missing="drop").fit(
        p[["dose"]].assign(age=p["age"].where(p.index % 7 > 0))[["age", "dose"]], p["visits"]
    ),
    "table": lambda p: LogLinearModel("~ sex * clinic + ill").fit(p),
    "constant": lambda p: LinearModel("stay ~ 1").fit(p),
}


def _engine():
    options = getattr(statsmodels.formula, "options", None)
    return "patsy" if options is None else options.formula_engine


@pytest.fixture(params=["patsy", "formulaic"])
def engine(request):
    options = getattr(statsmodels.formula, "options", None)
    if options is None and request.param == "formulaic":
        pytest.skip("this statsmodels knows patsy alone")
    pytest.importorskip(request.param)
    if options is None:
        yield
        return
    before, options.formula_engine = options.formula_engine, request.param
    yield
    options.formula_engine = before


def rows_of(name, patients):
    if name == "array":
        return patients[["age", "dose"]].to_numpy()
    if name == "table":
        return patients[["sex", "clinic", "ill"]].iloc[:50]
    names = {"no constant": ["clinic", "dose"], "classes of columns": ["age", "dose"]}
    names["dropped"] = ["age", "dose"]
    return patients.assign(a=0.0)[names.get(name, [*USED, "a"] if name == "separated" else USED)]


def same_frame(one, other):
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            same_frame(one[key], other[key])
    else:
        pd.testing.assert_frame_equal(one, other, check_exact=True)


@pytest.mark.parametrize("name", FITS)
def test_predictions_intervals_and_tables_survive_to_the_bit(engine, patients, tmp_path, name):
    model = FITS[name](patients)
    X = rows_of(name, patients)
    model.save(tmp_path / "model.bosquet")
    loaded = bosquet.load(tmp_path / "model.bosquet")
    assert model_bytes(loaded) == (tmp_path / "model.bosquet").read_bytes()
    for method in ("predict", "predict_proba", "decision_function", "linear_predictor", "odds"):
        if hasattr(model, method) and (method != "odds" or isinstance(model, BinomialRegression)):
            np.testing.assert_array_equal(getattr(loaded, method)(X), getattr(model, method)(X))
    same_frame(loaded.confidence_band(X, 0.9), model.confidence_band(X, 0.9))
    if isinstance(model, LinearModel):
        same_frame(loaded.predict_interval(X), model.predict_interval(X))
    same_frame(loaded.coefficients(), model.coefficients())
    pd.testing.assert_series_equal(loaded.params_, model.params_, check_exact=True)
    same_frame(loaded.covariance_, model.covariance_)
    assert str(loaded.summary()) == str(model.summary())
    assert loaded.test(loaded.terms_[-1], "wald") == model.test(model.terms_[-1], "wald")
    for attribute in ("formula", "formula_", "terms_", "aic_", "bic_", "deviance_", "n_rows_"):
        assert getattr(loaded, attribute) == getattr(model, attribute)
    for attribute in ("null_deviance_", "separation_", "n_dropped_", "df_residual_", "converged_"):
        assert getattr(loaded, attribute, None) == getattr(model, attribute, None)
    if hasattr(model, "classes_"):
        assert loaded.classes_.tolist() == model.classes_.tolist()
        assert loaded.classes_.dtype == model.classes_.dtype


def test_odds_rates_and_goodness_of_fit_survive(beetles, patients, berkeley):
    grouped = BinomialRegression("killed ~ dose").fit(beetles, trials="beetles")
    loaded = model_from_bytes(model_bytes(grouped))
    same_frame(loaded.odds_ratios(units={"dose": 0.1}), grouped.odds_ratios(units={"dose": 0.1}))
    same_frame(loaded.goodness_of_fit(), grouped.goodness_of_fit())
    several = MultinomialRegression("clinic ~ age").fit(patients)
    loaded = model_from_bytes(model_bytes(several))
    same_frame(loaded.odds_ratios("west", "north"), several.odds_ratios("west", "north"))
    counts = PoissonRegression("visits ~ age").fit(patients)
    same_frame(model_from_bytes(model_bytes(counts)).rate_ratios(), counts.rate_ratios())
    table = LogLinearModel("count ~ department * admitted + department * sex").fit(berkeley)
    loaded = model_from_bytes(model_bytes(table))
    pd.testing.assert_frame_equal(loaded.table_, table.table_, check_dtype=False)
    assert loaded.table_["count"].dtype == table.table_["count"].dtype
    assert loaded.independences() == table.independences()
    same_frame(loaded.goodness_of_fit(), table.goodness_of_fit())


def test_the_path_of_a_selection_and_a_picture_survive(patients):
    model = BinomialRegression("ill ~ age + dose + noise").fit(patients).backward()
    loaded = model_from_bytes(model_bytes(model))
    same_frame(loaded.selection_, model.selection_)
    ax = plot.odds_ratios(loaded)
    assert [label.get_text() for label in ax.get_yticklabels()] == loaded.terms_[1:]
    curve = plot.probability_curve(loaded, patients[USED], "age")
    assert len(curve.lines)


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.test("age"),
        lambda m: m.anova(),
        lambda m: m.anova(type=3),
        lambda m: m.anova(m),
        lambda m: m.backward(),
        lambda m: m.diagnostics(),
        lambda m: m.confidence_intervals(interval="profile"),
        lambda m: m.summary(interval="profile"),
    ],
)
def test_methods_that_need_the_training_rows_raise_an_error(patients, call):
    model = BinomialRegression("ill ~ age + sex").fit(patients)
    call(model)
    loaded = model_from_bytes(model_bytes(model))
    with pytest.raises(ValueError, match=r"needs the training rows, .*loaded from a model file"):
        call(loaded)
    with pytest.raises(ValueError, match="needs the training rows"):
        model.anova(loaded)
    assert loaded.result_ is None


def test_a_file_holds_no_training_row(patients):
    model = LinearModel("stay ~ noise").fit(patients)
    text = model_bytes(model).decode("latin-1")
    assert not any(repr(float(value)) in text for value in patients["noise"])
    assert not any(repr(float(value)) in text for value in patients["stay"])


def test_a_loaded_model_can_be_fitted_again(patients):
    model = BinomialRegression("ill ~ age * sex").fit(patients)
    loaded = model_from_bytes(model_bytes(model)).fit(patients)
    pd.testing.assert_series_equal(loaded.params_, model.params_, check_exact=True)
    assert loaded.result_ is not None
    loaded.test("sex")


WITHOUT = """
import sys
for name in {blocked}:
    sys.modules[name] = None
import numpy as np, bosquet
model = bosquet.load({path!r})
{made}
print(np.asarray(model.{method}(X)).tolist())
"""


@pytest.mark.parametrize(
    ("name", "blocked"),
    [
        ("columns", ["statsmodels", "patsy", "formulaic"]),
        ("functions", ["statsmodels", "patsy", "formulaic"]),
        ("classes", ["statsmodels", "patsy", "formulaic"]),
        ("weights", ["statsmodels", "patsy", "formulaic"]),
        ("array", ["statsmodels", "patsy", "formulaic", "pandas"]),
    ],
)
def test_loading_and_predicting_need_no_statsmodels(patients, tmp_path, name, blocked):
    model = FITS[name](patients)
    path = tmp_path / "m.bosquet"
    model.save(path)
    method = "predict_proba" if hasattr(model, "predict_proba") else "predict"
    X = rows_of(name, patients)[:5]
    if name == "array":
        made = f"X = np.array({X.tolist()!r})"
    else:
        made = f"import pandas as pd\nX = pd.DataFrame({X.to_dict(orient='list')!r})"
    code = WITHOUT.format(blocked=blocked, path=str(path), made=made, method=method)
    completed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert completed.returncode == 0, completed.stderr
    assert json.loads(completed.stdout) == getattr(model, method)(X).tolist()


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("ill ~ bs(age, df=4)", "bs"),
        ("ill ~ center(age)", "center"),
        ("ill ~ C(age > 40)", "age > 40"),
        ("ill ~ I(age.abs())", "age.abs"),
        ("np.where(ill == 'yes', 1, 0) ~ age", "np.where"),
    ],
)
def test_a_formula_that_is_not_an_expression_of_columns_is_not_written(
    patients, tmp_path, formula, message
):
    model = BinomialRegression(formula).fit(patients)
    with pytest.raises(ValueError, match="use pickle or joblib") as caught:
        model.save(tmp_path / "m")
    assert message in str(caught.value)
    assert not (tmp_path / "m").exists()


# ----------------------------------------------------------------------------------- invalid files
def changed(model, change):
    trees, metadata = unpack_trees(model_bytes(model))
    change(metadata)
    return pack_trees(trees, metadata)


def put(*path):
    *inside, value = path

    def change(metadata):
        place = metadata
        for key in inside[:-1]:
            place = place[key]
        place[inside[-1]] = value

    return change


COLUMN = ["column", "age"]


@pytest.mark.parametrize(
    "change",
    [
        put("parameters", "formula", "__import__('os').system('true')"),
        put("parameters", "formula", "ill ~ (open)('x')"),
        put("parameters", "formula", "ill ~ np.load('x')"),
        put("parameters", "link", "log"),
        put("coefficients", [1.0]),
        put("coefficients", 0, None),
        put("coefficients", 0, 1e300),
        put("covariance", 0, 1, 1e3),
        put("covariance", 0, [0.0]),
        put("covariance", 0, 1, None),
        put("covariance", []),
        put("classes", {"type": "object", "values": ["a", "b", "c"]}),
        put("classes", None),
        put("rows", 0),
        put("iterations", -1),
        put("converged", 1),
        put("estimate", "deviance", "big"),
        put("statistics", {}),
        put("target", 3),
        put("separation", {"kind": "odd", "coefficients": [], "terms": [], "rows": 1}),
        put("selection", {"removed": [1]}),
        put("design", "columns", 0, "age"),
        put("design", "columns", []),
        put("design", "terms", 0, "columns", [1]),
        put("design", "terms", []),
        put("design", "factors", 0, "expression", ["eval", COLUMN]),
        put("design", "factors", 0, "expression", ["power", 9, 9]),
        put("design", "factors", 0, "expression", ["add", COLUMN, ["column", "sex"]]),
        put("design", "factors", 0, "expression", "age"),
        put("design", "factors", 1, "levels", {"type": "object", "values": ["f", "f"]}),
        put("design", "factors", 1, "levels", {"type": "object", "values": []}),
        put("design", "factors", 1, "levels", None),
        put("design", "parts", 1, [[9, None]]),
        put("design", "parts", 1, [[0, 0]]),
        put("design", "parts", 1, [[1, None]]),
        put("design", "parts", 1, [[1, 2]]),
        put("design", "parts", 1, [[1, [0.0, 1.0, 2.0]]]),
        put("design", "parts", 1, [3]),
        put("design", "parts", []),
        put("code", "print(1)"),
    ],
)
def test_invalid_metadata_are_rejected(patients, change):
    model = BinomialRegression("ill ~ age * sex").fit(patients)
    with pytest.raises(ModelFileError):
        model_from_bytes(changed(model, change))


@pytest.mark.parametrize(
    "change",
    [
        put("design", "chosen", [0, 0, 2]),
        put("design", "chosen", [0, 1, 9]),
        put("design", "levels", 2, [0, 0]),
        put("design", "levels", 2, [5]),
        put("design", "levels", 2, None),
        put("design", "levels", 0, [0]),
        put("design", "intercept", 1),
        put("n_features", 2),
        put("feature_names", ["a", "b", "c"]),
        put("statistics", "sigma_", [1]),
    ],
)
def test_an_invalid_design_of_columns_is_rejected(patients, change):
    model = LinearModel().fit(patients[["age", "dose", "sex"]], patients["stay"])
    with pytest.raises(ModelFileError):
        model_from_bytes(changed(model, change))


def test_invalid_cells_are_rejected(berkeley):
    model = LogLinearModel("count ~ department + sex").fit(berkeley)
    for change in (
        put("cells", "count", {"type": "int64", "values": [1]}),
        put("cells", "factors", ["department", "expected"]),
        put("cells", "levels", []),
        put("cells", "adjusted", [1.0]),
    ):
        with pytest.raises(ModelFileError):
            model_from_bytes(changed(model, change))


def test_code_does_not_hide_in_the_parameters_of_a_wrapper(patients):
    X, y = patients[["age", "dose"]].to_numpy(), patients["ill"]
    bags = BaggingClassifier(BinomialRegression(), 2, random_state=0).fit(X, y)
    data = model_bytes(bags)
    loaded = model_from_bytes(data)
    np.testing.assert_array_equal(loaded.predict_proba(X), bags.predict_proba(X))
    parts, metadata = unpack_members(data)
    metadata["parameters"]["estimator"]["estimator"]["parameters"]["formula"] = "open('x')"
    with pytest.raises(ModelFileError, match="code that a model file cannot store"):
        model_from_bytes(pack_members(parts, metadata))


# ----------------------------------------------------------------------------------- other features
def test_regressions_are_members_of_other_models(patients, tmp_path):
    X, y = patients[["age", "dose"]], patients["stay"]
    members = [("linear", LinearModel()), ("tree", bosquet.DecisionTreeRegressor(max_depth=2))]
    model = VotingRegressor(members).fit(X, y)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(bosquet.load(tmp_path / "m").predict(X), model.predict(X))


def test_the_command_line_takes_such_a_file(patients, tmp_path, capsys):
    from bosquet.cli import main

    model = BinomialRegression("ill ~ age * sex + np.log(dose + 1)").fit(patients)
    path, table = str(tmp_path / "m.bosquet"), str(tmp_path / "t.csv")
    model.save(path)
    patients.drop(columns="ill").to_csv(table, index=False)
    assert main(["verify", path]) == 0
    assert "a valid model file, BinomialRegression" in capsys.readouterr().out
    assert main(["info", path]) == 0
    assert "BinomialRegression" in capsys.readouterr().out
    assert main(["predict", path, table, "--proba", "-q", "--out", str(tmp_path / "o.csv")]) == 0
    predictions = pd.read_csv(tmp_path / "o.csv")
    np.testing.assert_allclose(
        predictions["P(yes)"], model.predict_proba(patients)[:, 1], rtol=1e-12
    )


@pytest.mark.parametrize(
    ("link", "theirs"),
    [
        ("logit", families.links.Logit()),
        ("probit", families.links.Probit()),
        ("cloglog", families.links.CLogLog()),
        ("log", families.links.Log()),
    ],
)
def test_inverse_links_are_those_of_statsmodels(link, theirs):
    predictor = np.concatenate([np.linspace(-40, 40, 2001), [-800.0, 800.0]])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(INVERSE_LINKS[link](predictor), theirs.inverse(predictor))


def test_log_odds_of_the_complementary_log_log_are_finite(patients):
    model = BinomialRegression("ill ~ age", link="cloglog").fit(patients)
    far = pd.DataFrame({"age": [-1e6, 1e6]})
    assert np.isfinite(model.decision_function(far)).all()


def test_a_covariance_is_symmetric_up_to_rounding():
    sound = np.array([[2.0, 1.0], [1.0 + 1e-12, 3.0]])
    assert symmetric(sound) is sound
    skewed = np.array([[2.0, 1.0], [1.1, 3.0]])
    assert not is_symmetric(skewed)
    assert is_symmetric(symmetric(skewed))
    assert is_symmetric(np.full((2, 2), np.nan))


def test_walds_test_without_a_covariance_is_undefined():
    X = pd.DataFrame({"x": [1.0, 2.0, 4.0], "z": [0.0, 1.0, 0.0]})
    model = quietly(lambda: LinearModel().fit(X, [1.0, 2.0, 4.0]))  # as many coefficients as rows
    assert np.isnan(model.test("x", "wald").p_value)
    loaded = model_from_bytes(model_bytes(model))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_a_column_with_different_levels_in_two_factors_is_rejected(patients):
    model = LogLinearModel("~ sex + clinic").fit(patients)
    twice = put("design", "factors", 1, "expression", ["column", "sex"])
    with pytest.raises(ModelFileError, match="'sex' has different levels in two factors"):
        model_from_bytes(changed(model, twice))
