"""The linear model: comparison with statsmodels, intervals, diagnostics."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from sklearn.linear_model import LinearRegression
from statsmodels.stats.anova import anova_lm

from bosquet import LinearModel

UNBALANCED = "stay ~ age + dose * sex + clinic"


def test_coefficients_errors_and_intervals_agree_with_statsmodels(patients):
    model, own = LinearModel(UNBALANCED).fit(patients), smf.ols(UNBALANCED, patients).fit()
    table = model.coefficients(0.9)
    own_table = pd.DataFrame(
        {"estimate": own.params, "std_error": own.bse, "t": own.tvalues, "p_value": own.pvalues}
    )
    own_table[["low", "high"]] = own.conf_int(0.1)
    np.testing.assert_allclose(table, own_table.loc[table.index], rtol=1e-7, atol=1e-12)
    assert model.r2_ == pytest.approx(own.rsquared)
    assert model.adjusted_r2_ == pytest.approx(own.rsquared_adj)
    assert model.aic_ == pytest.approx(own.aic)


@pytest.mark.parametrize("type", [1, 2])
def test_analysis_of_covariance_agrees_with_statsmodels(patients, type):
    # The terms are in the order of patsy, which determines the table of type 1 in statsmodels.
    formula = "stay ~ sex + clinic + age + dose + sex:dose"
    ours = LinearModel(formula).fit(patients).anova(type=type)
    theirs = anova_lm(smf.ols(formula, patients).fit(), typ=type).rename({"Residual": "residual"})
    terms = ["sex", "clinic", "age", "dose", "sex:dose", "residual"]
    np.testing.assert_allclose(ours.sum_sq[terms], theirs.sum_sq[terms], rtol=1e-8)
    np.testing.assert_allclose(ours["F"][terms], theirs["F"][terms], rtol=1e-8)
    np.testing.assert_allclose(ours.p_value[terms], theirs["PR(>F)"][terms], rtol=1e-6, atol=1e-300)


def test_type_three_codes_factors_to_sum_to_zero(patients):
    ours = LinearModel("stay ~ sex * clinic").fit(patients).anova(type=3)
    coded = smf.ols("stay ~ C(sex, Sum) * C(clinic, Sum)", patients).fit()
    theirs = anova_lm(coded, typ=3).sum_sq
    names = ["C(sex, Sum)", "C(clinic, Sum)", "C(sex, Sum):C(clinic, Sum)", "Residual"]
    np.testing.assert_allclose(ours.sum_sq, theirs[names], rtol=1e-8)


def test_in_a_balanced_design_all_types_agree():
    rng = np.random.default_rng(0)
    cells = pd.MultiIndex.from_product([list("ab"), list("uvw"), range(5)], names=["f", "g", "rep"])
    frame = cells.to_frame(index=False).assign(y=rng.normal(size=30))
    model = LinearModel("y ~ f * g").fit(frame)
    one, two, three = (model.anova(type=t).sum_sq for t in (1, 2, 3))
    np.testing.assert_allclose(one, two)
    np.testing.assert_allclose(one, three)
    total = ((frame.y - frame.y.mean()) ** 2).sum()
    assert one.sum() == pytest.approx(total)


def test_one_factor_with_two_levels_is_the_t_test(patients):
    from scipy.stats import ttest_ind

    groups = [part.stay for _, part in patients.groupby("sex")]
    row = LinearModel("stay ~ sex").fit(patients).anova().loc["sex"]
    result = ttest_ind(*groups)
    assert row["F"] == pytest.approx(result.statistic**2)
    assert row.p_value == pytest.approx(result.pvalue)


def test_the_wald_test_and_the_comparison_of_fits_give_the_same_f(patients):
    model = LinearModel(UNBALANCED).fit(patients)
    wald, ratio = (
        model.test(["clinic", "dose:sex"], "wald"),
        model.test(["clinic", "dose:sex"], "lr"),
    )
    assert wald.statistic == pytest.approx(ratio.statistic)
    assert wald.df_residual == model.df_residual_
    smaller = LinearModel("stay ~ age + dose + sex").fit(patients)
    assert model.anova(smaller).iloc[1]["F"] == pytest.approx(wald.statistic)
    assert str(wald).startswith("clinic, dose:sex = 0: F(3, ")


def test_intervals_of_means_and_predictions_have_their_nominal_coverage():
    rng = np.random.default_rng(1)
    X = np.linspace(0, 1, 40)[:, None]
    truth, means, news = 1 + 2 * X[:, 0], [], []
    for _ in range(80):
        model = LinearModel().fit(X, truth + rng.normal(0, 0.5, 40))
        band, new = model.confidence_band(X, 0.8), model.predict_interval(X, 0.8)
        means.append(((band.low < truth) & (truth < band.high)).mean())
        later = truth + rng.normal(0, 0.5, 40)
        news.append(((new.low < later) & (later < new.high)).mean())
    assert np.mean(means) == pytest.approx(0.8, abs=0.06)
    assert np.mean(news) == pytest.approx(0.8, abs=0.035)


def test_predictions_agree_with_scikit_learn(patients):
    X = patients[["age", "dose"]].to_numpy()
    weight = np.arange(len(X)) % 4 + 0.5
    for given in (None, weight):
        wanted = LinearRegression().fit(X, patients.stay, sample_weight=given).predict(X)
        np.testing.assert_allclose(
            LinearModel().fit(X, patients.stay, sample_weight=given).predict(X), wanted
        )


def test_backward_keeps_what_matters_and_main_effects_of_interactions(patients):
    chosen = (
        LinearModel("stay ~ age + dose * sex + noise * clinic").fit(patients).backward("lr", 0.01)
    )
    assert chosen.terms_ == ["Intercept", "age", "dose", "sex", "dose:sex"]
    assert chosen.formula == "stay ~ age + dose + sex + dose:sex"
    assert chosen.selection_.removed.tolist()[1] == "noise:clinic"


def test_diagnostics_have_leverages_that_sum_to_the_number_of_coefficients(patients):
    model = LinearModel(UNBALANCED).fit(patients)
    table = model.diagnostics()
    assert table.leverage.sum() == pytest.approx(model.params_.size)
    np.testing.assert_allclose(table.fitted + table.residual, patients.stay)


def test_checks_detect_heteroscedasticity_and_curvature():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 3, 300)
    fine = [
        LinearModel().fit(x[:, None], x + rng.normal(size=300)).checks().p_value for _ in range(40)
    ]
    assert (np.mean([p < 0.05 for p in fine], axis=0) < 0.2).all()  # about 1 in 20 is expected
    growing = LinearModel().fit(x[:, None], x + x * rng.normal(size=300)).checks()
    assert growing.p_value["constant variance"] < 1e-6
    bent = LinearModel().fit(x[:, None], x**2 + 0.3 * rng.normal(size=300)).checks()
    assert bent.p_value["no curvature"] < 1e-6
    heavy = LinearModel().fit(x[:, None], x + rng.standard_t(1.5, size=300)).checks()
    assert heavy.p_value["normal noise"] < 1e-6


def test_the_left_hand_side_can_be_a_logarithm(patients):
    logged = LinearModel("np.log(stay) ~ age").fit(patients)
    plain = LinearModel("log_stay ~ age").fit(patients.assign(log_stay=np.log(patients.stay)))
    np.testing.assert_array_equal(logged.params_, plain.params_)


def test_a_constant_target_and_a_target_of_text_raise_errors(patients):
    with pytest.raises(ValueError, match="y is 3 in every row"):
        LinearModel().fit(patients[["age"]], np.full(len(patients), 3.0))
    with pytest.raises(ValueError, match="must be numeric"):
        LinearModel("ill ~ age").fit(patients)


def test_the_error_for_nan_of_a_function_names_the_row(patients):
    with (
        pytest.raises(ValueError, match=r"'np.log\(noise\)' is nan in row"),
        np.errstate(invalid="ignore"),
    ):
        LinearModel("stay ~ np.log(noise)").fit(patients)


def test_there_are_no_profile_intervals(patients):
    with pytest.raises(ValueError, match="no profile intervals"):
        LinearModel("stay ~ age").fit(patients).confidence_intervals(interval="profile")
