"""patsy and formulaic give the same models and the same error messages."""

import pickle

import numpy as np
import pytest
import statsmodels.formula

from bosquet import BinomialRegression, LinearModel
from bosquet.glm._formulas import columns_used, split_formula

pytest.importorskip("formulaic")


def set_engine(name):
    options = getattr(statsmodels.formula, "options", None)
    if options is None:
        pytest.skip("this statsmodels knows patsy alone")
    before, options.formula_engine = options.formula_engine, name
    return before


@pytest.fixture(params=["patsy", "formulaic"])
def engine(request):
    before = set_engine(request.param)
    yield request.param
    set_engine(before)


@pytest.fixture
def results_of_both_engines():
    """Return the results of a function with each engine."""
    before = set_engine("patsy")

    def both(function):
        found = []
        for name in ("patsy", "formulaic"):
            set_engine(name)
            found.append(function())
        return found

    yield both
    set_engine(before)


FORMULA = "ill ~ age + dose * sex + clinic + np.log(dose + 1)"


def test_both_engines_give_the_same_columns_and_estimates(results_of_both_engines, patients):
    one, other = results_of_both_engines(lambda: BinomialRegression(FORMULA).fit(patients))
    assert (one._design.engine, other._design.engine) == ("patsy", "formulaic")
    assert one.terms_ == other.terms_
    assert one.terms_ == [
        "Intercept",
        "age",
        "dose",
        "sex",
        "clinic",
        "np.log(dose + 1)",
        "dose:sex",
    ]
    assert sorted(one.params_.index) == sorted(other.params_.index)
    np.testing.assert_allclose(one.params_, other.params_[one.params_.index], rtol=1e-8)
    np.testing.assert_allclose(one.predict_proba(patients[:9]), other.predict_proba(patients[:9]))


@pytest.mark.parametrize("type", [1, 2, 3])
def test_tables_of_both_engines_agree(results_of_both_engines, patients, type):
    formula = "stay ~ C(visits > 2) + sex * clinic + age:sex"
    one, other = results_of_both_engines(
        lambda: LinearModel(formula).fit(patients).anova(type=type)
    )
    np.testing.assert_allclose(one, other, rtol=1e-8)
    assert (one.sum_sq > 0).all()


def test_selection_works_with_both(engine, patients):
    model = BinomialRegression("ill ~ age + dose * sex + noise").fit(patients)
    assert model.backward().formula == "ill ~ age + dose + sex + dose:sex"


def test_pickles_of_both_predict_as_before(engine, patients):
    model = BinomialRegression(FORMULA).fit(patients)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(patients), model.predict_proba(patients))


@pytest.mark.parametrize(
    "formula", ["ill ~ agee", "ill ~ age +", "ill ~ nosuch(age)", "ill ~ age * * dose"]
)
def test_both_report_an_invalid_formula_in_one_line(engine, patients, formula):
    with pytest.raises(ValueError, match="formula") as error:
        BinomialRegression(formula).fit(patients)
    assert "\n" not in str(error.value)


def test_both_reject_unknown_levels(engine, patients):
    model = BinomialRegression("ill ~ C(visits)").fit(patients.assign(visits=patients.visits % 3))
    with pytest.raises(ValueError, match=r"visits|level"):
        model.predict(patients[:2].assign(visits=[1, 7]))


def test_both_code_every_level_without_an_intercept(engine, patients):
    model = LinearModel("stay ~ 0 + sex").fit(patients)
    assert model.params_.tolist() == pytest.approx(patients.groupby("sex").stay.mean().tolist())
    dropped = LinearModel("stay ~ 0 + sex + clinic").fit(patients).backward("lr", level=1e-12)
    assert dropped.formula.startswith("stay ~ 0")


def test_a_formula_is_split_and_its_columns_are_found():
    assert split_formula("y ~ a + b") == ("y", "a + b")
    assert split_formula("~ a") == (None, "a")
    columns = ["a", "b", "log", "a b", "c", "x.y"]
    assert columns_used("np.log(a) + b:c", columns) == ["a", "b", "c"]
    assert columns_used('Q("a b") + C(c, Treatment("b"))', columns) == ["a b", "c"]
