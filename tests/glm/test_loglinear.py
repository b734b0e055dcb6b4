"""Log-linear tables and Poisson regression: independence, expected counts, rates."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency

from bosquet import BinomialRegression, LogLinearModel, PoissonRegression
from bosquet.glm import contingency


@pytest.fixture
def cases(berkeley):
    """One row per applicant."""
    return berkeley.loc[berkeley.index.repeat(berkeley["count"]), ["department", "sex", "admitted"]]


def test_independence_of_two_factors_is_the_chi_squared_test(patients):
    model = LogLinearModel("~ sex + clinic").fit(patients)
    table = pd.crosstab(patients.sex, patients.clinic)
    found = model.goodness_of_fit()
    for name, power in (("pearson", 1), ("deviance", 0)):
        statistic, p, df, expected = chi2_contingency(table, correction=False, lambda_=power)
        assert found.loc[name].tolist() == pytest.approx([statistic, df, p])
    np.testing.assert_allclose(model.table_.expected, expected.ravel())


@pytest.mark.parametrize(
    ("terms", "deviance", "df"),
    [
        ("department * admitted + department * sex", 21.74, 6),
        ("department * admitted + department * sex + admitted * sex", 20.20, 5),
        ("department * admitted * sex", 0.0, 0),
        ("department + admitted + sex", 2097.67, 16),
    ],
)
def test_the_models_of_the_berkeley_table_have_their_known_deviances(berkeley, terms, deviance, df):
    model = LogLinearModel("count ~ " + terms).fit(berkeley)
    assert model.deviance_ == pytest.approx(deviance, abs=0.006)
    assert model.df_residual_ == df


def test_expected_counts_of_conditional_independence_are_products_of_margins(berkeley):
    model = LogLinearModel("count ~ department * admitted + department * sex").fit(berkeley)
    by = berkeley.groupby("department")["count"].transform("sum")
    first = berkeley.groupby(["department", "admitted"])["count"].transform("sum")
    second = berkeley.groupby(["department", "sex"])["count"].transform("sum")
    np.testing.assert_allclose(model.table_.expected, first * second / by, rtol=1e-7)


def test_cases_and_counts_give_the_same_model(berkeley, cases):
    formula = "department * admitted + sex"
    by_cell = LogLinearModel(f"count ~ {formula}").fit(berkeley)
    by_case = LogLinearModel(f"~ {formula}").fit(cases)
    assert by_case.deviance_ == pytest.approx(by_cell.deviance_)
    assert by_case.factors_ == ["department", "sex", "admitted"]
    assert by_case.formula_ == f"count ~ {formula}"


def test_independences_lists_the_independent_factors(berkeley):
    def statements(terms):
        return LogLinearModel("count ~ " + terms).fit(berkeley).independences()

    assert statements("department * sex * admitted") == []
    assert statements("department * sex + admitted") == [
        "department and admitted are independent",
        "sex and admitted are independent",
    ]
    assert statements("sex * admitted + sex * department") == [
        "department and admitted are independent given sex"
    ]


def test_backward_by_the_likelihood_ratio_stops_where_a_term_matters(berkeley):
    chosen = (
        LogLinearModel("count ~ department * sex * admitted").fit(berkeley).backward("lr", 0.0001)
    )
    assert "sex:admitted" not in chosen.terms_
    assert {"department:sex", "department:admitted"} <= set(chosen.terms_)
    np.testing.assert_allclose(chosen.table_.expected.sum(), berkeley["count"].sum())
    assert chosen.formula.startswith("count ~ ")


def test_comparing_two_log_linear_models_is_the_test_of_a_logistic_one(berkeley):
    with_sex = LogLinearModel(
        "count ~ department * admitted + department * sex + admitted * sex"
    ).fit(berkeley)
    without = LogLinearModel("count ~ department * admitted + department * sex").fit(berkeley)
    logistic = BinomialRegression("admitted ~ department + sex").fit(
        berkeley, sample_weight="count"
    )
    assert with_sex.anova(without).iloc[1].difference == pytest.approx(
        logistic.test("sex").statistic, rel=1e-6
    )


def test_numerical_factors_are_treated_as_categorical():
    frame = pd.DataFrame(
        {"year": [1, 2, 3] * 2, "kind": list("aabbab"), "count": [5, 9, 4, 8, 7, 6]}
    )
    assert LogLinearModel("count ~ year + kind").fit(frame).df_residual_ == 2


def test_contingency_includes_empty_cells():
    frame = pd.DataFrame(
        {"a": list("xxy"), "b": pd.Categorical(list("uvu"), categories=list("vuw"))}
    )
    assert contingency(frame, "a", "b")["count"].tolist() == [1, 1, 0, 1]
    with pytest.raises(ValueError, match="no column 'c'"):
        contingency(frame, "a", "c")


def test_negative_counts_and_empty_tables_raise_errors(berkeley):
    with pytest.raises(ValueError, match=r"y\[0\] is -512; counts must not be negative"):
        LogLinearModel("count ~ sex").fit(berkeley.assign(count=-berkeley["count"]))
    with pytest.raises(ValueError, match="y is 0 in every row"):
        LogLinearModel("count ~ sex").fit(berkeley.assign(count=0))
    with pytest.raises(ValueError, match="needs a formula"):
        LogLinearModel().fit(berkeley)


# ---- Poisson regression --------------------------------------------------------------------------


def test_the_rate_of_a_group_is_its_count_over_its_exposure():
    frame = pd.DataFrame({"g": list("ab"), "deaths": [6, 30], "years": [100.0, 250.0]})
    model = PoissonRegression("deaths ~ g").fit(frame, exposure="years")
    assert model.predict(frame).tolist() == pytest.approx([0.06, 0.12])
    assert model.predict(frame, exposure=frame.years).tolist() == pytest.approx([6, 30])
    assert model.rate_ratios().loc["g[T.b]", "rate_ratio"] == pytest.approx(2)
    with pytest.raises(ValueError, match=r"exposure\[0\] is 0; exposures must be finite and > 0"):
        PoissonRegression("deaths ~ g").fit(frame.assign(years=[0, 1]), exposure="years")


def test_poisson_coefficients_agree_with_statsmodels(patients):
    import statsmodels.formula.api as smf

    own = smf.poisson("visits ~ age + sex", patients).fit(disp=False)
    model = PoissonRegression("visits ~ age + sex").fit(patients)
    np.testing.assert_allclose(model.params_, own.params[model.params_.index], rtol=1e-5)
    assert model.log_likelihood_ == pytest.approx(own.llf)


def test_the_summary_notes_overdispersion():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1))
    counts = rng.poisson(rng.gamma(0.5, 8.0, 300))
    assert "times that of a Poisson" in str(PoissonRegression().fit(X, counts).summary())
    assert "overdispersed" not in str(PoissonRegression().fit(X, rng.poisson(4, 300)).summary())
