"""Binomial regression: odds, intervals, grouped data, tables of tests, error messages."""

import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

from bosquet import BinomialRegression
from bosquet.glm import FormulaError


@pytest.fixture
def model(patients):
    return BinomialRegression("ill ~ age + dose * sex + clinic").fit(patients)


# ---- figures from books --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("link", "intercept", "slope", "deviance"),
    [
        ("logit", -60.72, 34.27, 11.23),
        ("probit", -34.94, 19.73, 10.12),
        ("cloglog", -39.57, 22.04, 3.45),
    ],
)
def test_the_beetle_mortality_example_matches_dobson(beetles, link, intercept, slope, deviance):
    model = BinomialRegression("killed ~ dose", link=link).fit(beetles, trials="beetles")
    assert model.params_.round(2).tolist() == pytest.approx([intercept, slope], abs=0.011)
    assert model.deviance_ == pytest.approx(deviance, abs=0.005)
    assert model.df_residual_ == 6


# ---- odds ----------------------------------------------------------------------------------------


def test_odds_are_ratios_of_probabilities_for_every_link(patients):
    for link in ("logit", "probit", "cloglog"):
        model = BinomialRegression("ill ~ age + dose", link=link).fit(patients)
        p = model.predict_proba(patients)
        np.testing.assert_allclose(model.odds(patients), p[:, 1] / p[:, 0], rtol=1e-9)
        np.testing.assert_allclose(model.odds(patients, "no", "yes"), p[:, 0] / p[:, 1], rtol=1e-9)
        np.testing.assert_array_equal(model.odds(patients, "yes", "yes"), 1.0)
        np.testing.assert_allclose(
            model.decision_function(patients), np.log(p[:, 1] / p[:, 0]), atol=1e-9
        )


def test_one_unit_more_multiplies_the_odds_by_the_odds_ratio(model, patients):
    older = patients.assign(age=patients.age + 10)
    table = model.odds_ratios(units={"age": 10})
    np.testing.assert_allclose(
        model.odds(older) / model.odds(patients), table.loc["age", "odds_ratio"], rtol=1e-9
    )
    assert table.loc["age", "unit"] == 10
    assert "Intercept" not in table.index


def test_odds_ratios_require_the_logit_link(patients):
    model = BinomialRegression("ill ~ age", link="probit").fit(patients)
    with pytest.raises(ValueError, match="odds ratios are only constant for link='logit'"):
        model.odds_ratios()


def test_the_odds_ratio_of_a_factor_alone_is_that_of_the_table(patients):
    table = pd.crosstab(patients.sex, patients.ill)
    cross = (
        table.loc["m", "yes"]
        * table.loc["f", "no"]
        / (table.loc["m", "no"] * table.loc["f", "yes"])
    )
    found = BinomialRegression("ill ~ sex").fit(patients).odds_ratios().iloc[0]
    assert found.odds_ratio == pytest.approx(cross, rel=1e-8)
    spread = np.sqrt((1 / table.to_numpy()).sum())  # Woolf's standard error of its logarithm
    wanted = np.exp(np.log(cross) + np.array([-1, 1]) * stats.norm.ppf(0.975) * spread)
    assert found[["low", "high"]].tolist() == pytest.approx(wanted, rel=1e-6)


# ---- intervals -----------------------------------------------------------------------------------


def test_at_the_ends_of_a_profile_interval_the_deviance_increases_by_the_quantile(patients):
    import statsmodels.api as sm

    model = BinomialRegression("ill ~ age + dose").fit(patients)
    ends = model.confidence_intervals(0.9, "profile").loc["dose"]
    y, X = (patients.ill == "yes").astype(float), sm.add_constant(patients[["age"]])
    for end in (ends.low, ends.high):
        held = sm.GLM(y, X, family=sm.families.Binomial(), offset=end * patients.dose).fit()
        assert held.deviance - model.deviance_ == pytest.approx(stats.chi2.ppf(0.9, 1), abs=1e-5)


def test_intervals_widen_with_their_level_and_hold_the_estimate(model):
    narrow, wide = model.confidence_intervals(0.8), model.confidence_intervals(0.99)
    assert (wide.low < narrow.low).all()
    assert (narrow.high < wide.high).all()
    assert ((narrow.low < model.params_) & (model.params_ < narrow.high)).all()


def test_a_confidence_band_has_about_its_nominal_coverage():
    rng = np.random.default_rng(0)
    X, beta = np.linspace(-2, 2, 150)[:, None], np.array([0.3, 0.8])
    truth = 1 / (1 + np.exp(-(beta[0] + beta[1] * X[:, 0])))
    inside = []
    for _ in range(60):
        band = BinomialRegression().fit(X, rng.random(150) < truth).confidence_band(X, 0.9)
        inside.append(((band.low <= truth) & (truth <= band.high)).mean())
    assert 0.85 < np.mean(inside) < 0.95


# ---- grouped data and weights --------------------------------------------------------------------


def test_grouped_rows_and_single_trials_give_the_same_estimates(beetles):
    grouped = BinomialRegression("killed ~ dose").fit(beetles, trials="beetles")
    doses = np.repeat(beetles.dose, beetles.beetles)
    died = np.concatenate(
        [np.arange(n) < k for n, k in zip(beetles.beetles, beetles.killed, strict=True)]
    )
    single = BinomialRegression().fit(doses.to_frame(), died)
    np.testing.assert_allclose(grouped.params_, single.params_, rtol=1e-7)
    np.testing.assert_allclose(grouped.covariance_, single.covariance_, rtol=1e-5)
    assert grouped.test("dose").statistic == pytest.approx(single.test("dose").statistic)


def test_successes_and_failures_may_stand_on_the_left_hand_side(beetles):
    wanted = BinomialRegression("killed ~ dose").fit(beetles, trials="beetles").params_
    frame = beetles.assign(alive=beetles.beetles - beetles.killed)
    found = BinomialRegression("killed + alive ~ dose").fit(frame)
    np.testing.assert_allclose(found.params_, wanted)
    pairs = BinomialRegression().fit(beetles[["dose"]], frame[["killed", "alive"]].to_numpy())
    np.testing.assert_allclose(pairs.params_, wanted)


def test_a_weight_counts_rows(patients):
    weight = np.arange(len(patients)) % 3
    weighted = BinomialRegression("ill ~ age + dose").fit(patients, sample_weight=weight)
    repeated = BinomialRegression("ill ~ age + dose").fit(
        patients.loc[np.repeat(patients.index, weight)]
    )
    np.testing.assert_allclose(weighted.params_, repeated.params_, rtol=1e-7)
    np.testing.assert_allclose(weighted.covariance_, repeated.covariance_, rtol=1e-5)
    assert weighted.bic_ == pytest.approx(repeated.bic_)
    assert weighted.n_rows_ == weight.sum()


def test_weights_that_differ_by_orders_of_magnitude_do_not_prevent_convergence():
    x = [1.1, 0.23, -0.7, -0.76, -0.32, 0.38, 0.27, -0.05, 0.25, -0.24, -1.83, -1.39]
    y = np.array([0, 0, 1, 1, 0, 0, 0, 1, 0, 1, 1, 1])
    weight = np.array([0.034, 190, 4.9e-4, 0.013, 0.12, 44, 0.019, 3500, 0.016, 20, 110, 68])
    model = BinomialRegression().fit(np.c_[x], y, sample_weight=weight)
    assert model.converged_
    residual = weight * (y - model.predict_proba(np.c_[x])[:, 1])
    assert residual.sum() == pytest.approx(0, abs=1e-3)  # the likelihood equations
    assert residual @ x == pytest.approx(0, abs=1e-3)


def test_goodness_of_fit_distinguishes_a_good_from_a_bad_link(beetles):
    good = BinomialRegression("killed ~ dose", link="cloglog").fit(beetles, trials="beetles")
    bad = BinomialRegression("killed ~ 1").fit(beetles, trials="beetles")
    assert good.goodness_of_fit().loc["deviance", "p_value"] > 0.5
    assert (bad.goodness_of_fit().p_value < 1e-10).all()


def test_single_trials_have_no_goodness_of_fit(model):
    with pytest.raises(ValueError, match="group the rows"):
        model.goodness_of_fit()


# ---- tests and tables ----------------------------------------------------------------------------


def test_the_difference_of_nested_models_is_the_likelihood_ratio(patients, model):
    smaller = BinomialRegression("ill ~ age + dose + sex").fit(patients)
    table = model.anova(smaller)
    message = model.test(["dose:sex", "clinic"])
    assert table.iloc[1].difference == pytest.approx(message.statistic)
    assert table.iloc[1].df == message.df == 3
    assert smaller.anova(model).equals(table)


def test_comparing_models_that_are_not_nested_raises_an_error(patients, model):
    with pytest.raises(ValueError, match="not nested"):
        model.anova(BinomialRegression("ill ~ noise").fit(patients))
    with pytest.raises(ValueError, match="different targets"):
        model.anova(BinomialRegression("ill ~ age").fit(patients[:300]))
    with pytest.raises(ValueError, match="different links"):
        model.anova(BinomialRegression("ill ~ age", link="probit").fit(patients))
    with pytest.raises(TypeError, match="can only be compared with a model of the same kind"):
        model.anova("age")


def test_deviances_of_type_one_sum_to_the_difference_from_the_null_model(model):
    table = model.anova(type=1)
    assert table.deviance.sum() == pytest.approx(model.null_deviance_ - model.deviance_)
    assert table.index.tolist() == ["constant", "age", "dose", "sex", "clinic", "dose:sex"]
    assert table.residual_deviance.iloc[-1] == pytest.approx(model.deviance_)


def test_type_two_tests_a_main_effect_without_its_interaction(patients, model):
    main = BinomialRegression("ill ~ age + dose + sex + clinic").fit(patients)
    assert model.anova(type=2).deviance["dose"] == pytest.approx(main.test("dose").statistic)
    assert model.anova(type=2).deviance["clinic"] == pytest.approx(model.test("clinic").statistic)


def test_type_three_does_not_depend_on_which_level_comes_first(patients, model):
    turned = patients.assign(sex=patients.sex.map({"f": "z", "m": "a"}))
    again = BinomialRegression("ill ~ age + dose * sex + clinic").fit(turned)
    np.testing.assert_allclose(
        model.anova(type=3).deviance, again.anova(type=3).deviance, rtol=1e-6
    )


def test_the_test_of_a_main_effect_with_an_interaction_has_a_note(model):
    assert "still contains dose:sex" in model.test("dose").note
    assert model.test(["dose", "dose:sex"]).note == ""


def test_a_single_coefficient_can_be_tested(model):
    row = model.coefficients().loc["clinic[T.west]"]
    message = model.test("clinic[T.west]", kind="wald")
    assert message.statistic == pytest.approx(row.z**2)
    assert message.p_value == pytest.approx(row.p_value)


def test_the_summary_is_available_as_text_and_as_html(model):
    message, page = str(model.summary()), model.summary()._repr_html_()
    assert message.splitlines()[0] == "BinomialRegression (logit): ill ~ age + dose * sex + clinic"
    assert f"deviance {model.deviance_:.2f} on {model.df_residual_:g}" in message
    for name in model.params_.index:
        assert name in message
        assert name in page
    assert "Probabilities refer to the class 'yes'." in message
    assert "<script" not in page


def test_diagnostics_find_an_influential_row(patients):
    frame = patients[["age", "dose", "ill"]].copy()
    frame.loc[5, ["age", "dose", "ill"]] = [20, 40, "yes"]
    assert BinomialRegression("ill ~ age + dose").fit(frame).diagnostics().cook.idxmax() == 5


# ---- tables of all kinds -------------------------------------------------------------------------


def test_a_frame_without_a_formula_is_main_effects_of_its_columns(patients):
    columns = ["age", "dose", "sex", "clinic"]
    plain = BinomialRegression().fit(patients[columns], patients.ill)
    by_formula = BinomialRegression("ill ~ " + " + ".join(columns)).fit(patients)
    assert plain.params_.index.tolist() == by_formula.params_.index.tolist()
    np.testing.assert_allclose(plain.params_, by_formula.params_, rtol=1e-7)
    np.testing.assert_allclose(
        plain.predict_proba(patients[columns]), by_formula.predict_proba(patients)
    )


def test_a_polars_frame_gives_what_pandas_gives(patients):
    wanted = BinomialRegression("ill ~ age * sex").fit(patients)
    found = BinomialRegression("ill ~ age * sex").fit(pl.from_pandas(patients))
    np.testing.assert_array_equal(found.params_, wanted.params_)
    np.testing.assert_array_equal(found.predict(pl.from_pandas(patients)), wanted.predict(patients))


def test_a_dot_means_all_other_columns(patients):
    frame = patients[["age", "dose", "sex", "ill"]]
    assert BinomialRegression("ill ~ .").fit(frame).terms_ == ["Intercept", "age", "dose", "sex"]
    assert BinomialRegression("ill ~ . - sex").fit(frame).terms_ == ["Intercept", "age", "dose"]


def test_names_with_blanks_can_be_quoted_and_dotted(patients):
    frame = patients[["ill", "age"]].rename(columns={"age": "age in years"})
    quoted = BinomialRegression('ill ~ Q("age in years")').fit(frame)
    assert quoted.params_.iloc[1] == BinomialRegression("ill ~ .").fit(frame).params_.iloc[1]


def test_a_formula_without_a_target_uses_y_and_works_in_cross_validation(patients):
    from sklearn.model_selection import cross_val_score

    model = BinomialRegression("age + dose * sex")
    assert cross_val_score(model, patients, patients.ill, cv=4).mean() > 0.6


def test_transformations_of_a_formula_are_applied_to_new_rows(patients):
    model = BinomialRegression("ill ~ np.log(dose + 1) + standardize(age)").fit(patients)
    np.testing.assert_allclose(
        model.predict_proba(patients[:7]), model.predict_proba(patients)[:7], rtol=1e-12
    )


def test_a_pickle_predicts_tests_and_selects_as_before(model, patients):
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(patients), model.predict_proba(patients))
    assert again.test("clinic") == model.test("clinic")
    assert again.backward().terms_ == model.backward().terms_


# ---- error messages ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("ill ~ agee", "uses 'agee', which is not a column of X; did you mean 'age'"),
        ("ill ~ age +", "the formula 'age +' is invalid"),
        ("ill ~ age ~ dose", "more than one ~"),
        ("ill ~ ", "the right-hand side of the formula 'ill ~ ' is empty"),
        ("ill ~ nosuch(age)", "uses 'nosuch'"),
        ("~ age", "no left-hand side"),
        ("sick ~ age", "'sick', which is not a column of X"),
    ],
)
def test_an_invalid_formula_raises_an_error_of_one_line(patients, formula, message):
    with pytest.raises(ValueError, match=r"formula|left") as error:
        BinomialRegression(formula).fit(patients)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_formula_requires_named_columns(patients):
    with pytest.raises(TypeError, match="a formula requires named columns"):
        BinomialRegression("y ~ x").fit(patients[["age"]].to_numpy(), patients.ill)


def test_the_error_for_collinear_columns_states_their_relation(patients):
    frame = patients[["age", "dose"]].assign(both=patients.age + 2 * patients.dose)
    with pytest.raises(ValueError, match=r"'both' is collinear.*it equals age \+ 2 × dose"):
        BinomialRegression().fit(frame, patients.ill)
    with pytest.raises(ValueError, match=r"'flat' is collinear.*3 × Intercept"):
        BinomialRegression().fit(patients[["age"]].assign(flat=3.0), patients.ill)


def test_missing_values_raise_an_error_or_are_dropped(patients):
    frame = patients.copy()
    frame.loc[[3, 9], "age"] = np.nan
    frame.loc[4, "sex"] = None
    with pytest.raises(ValueError, match=r"'age' \(2\), 'sex' \(1\); impute them"):
        BinomialRegression("ill ~ age + sex").fit(frame)
    with pytest.raises(ValueError, match="2 missing values in column 'age'"):
        BinomialRegression().fit(frame[["age", "dose"]], frame.ill)
    model = BinomialRegression("ill ~ age + sex", missing="drop").fit(frame)
    assert model.n_dropped_ == 3
    assert "3 rows with missing values were dropped." in str(model.summary())
    whole = BinomialRegression("ill ~ age + sex").fit(frame.drop(index=[3, 4, 9]))
    np.testing.assert_array_equal(model.params_, whole.params_)
    plain = BinomialRegression(missing="drop").fit(frame[["age", "sex"]], frame.ill)
    np.testing.assert_allclose(plain.params_, whole.params_, rtol=1e-8)
    with pytest.raises(ValueError, match=r"missing values in 'age' \(2\)"):
        model.predict(frame.drop(index=4))


def test_an_unknown_level_raises_an_error(patients, model):
    strange = patients[:3].assign(clinic=["west", "south", "east"])
    with pytest.raises(
        ValueError, match="'clinic' contains the level 'south', which no training row has"
    ):
        model.predict(strange)
    plain = BinomialRegression().fit(patients[["clinic"]], patients.ill)
    with pytest.raises(ValueError, match="column 'clinic'"):
        plain.predict(strange[["clinic"]])


def test_a_missing_column_is_named(model, patients):
    with pytest.raises(ValueError, match="X has no column 'dose'"):
        model.predict(patients.drop(columns="dose"))


def test_the_error_for_an_unknown_term_suggests_a_name(model):
    with pytest.raises(ValueError, match=r"no term 'clinics'; did you mean 'clinic'\?"):
        model.test("clinics")
    with pytest.raises(ValueError, match="at least one term"):
        model.test([])


def test_one_class_three_classes_and_invalid_counts_raise_errors(patients, beetles):
    X = patients[["age"]]
    with pytest.raises(ValueError, match="one class only, 'no'"):
        BinomialRegression().fit(X, np.repeat("no", len(X)))
    with pytest.raises(ValueError, match="3 classes; use MultinomialRegression"):
        BinomialRegression().fit(X, patients.clinic)
    with pytest.raises(ValueError, match="row 0 has 61 successes of 59 trials"):
        BinomialRegression("killed ~ dose").fit(beetles.assign(killed=61), trials="beetles")
    with pytest.raises(ValueError, match="row 0 has -1 successes"):
        BinomialRegression("killed ~ dose").fit(beetles.assign(killed=-1), trials="beetles")
    with pytest.raises(ValueError, match="successes only"):
        BinomialRegression("beetles ~ dose").fit(beetles, trials="beetles")
    with pytest.raises(ValueError, match="is not a column of X"):
        BinomialRegression("killed ~ dose").fit(beetles, trials="n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"link": "log"}, "link='log' is not valid"),
        ({"missing": "skip"}, "missing='skip'"),
        ({"formula": 3}, "formula=3"),
        ({"tol": 0}, "tol=0"),
        ({"on_separation": None}, "on_separation"),
    ],
)
def test_parameters_out_of_range_are_named(patients, options, message):
    with pytest.raises(ValueError, match=message):
        BinomialRegression(**options).fit(patients[["age"]], patients.ill)


def test_a_fit_that_did_not_converge_warns(patients):
    from sklearn.exceptions import ConvergenceWarning

    with pytest.warns(ConvergenceWarning, match="max_iter=1 iterations"):
        model = BinomialRegression("ill ~ age + dose", max_iter=1).fit(patients)
    assert "did not converge" in str(model.summary())


def test_the_dot_quotes_columns_that_are_keywords(patients):
    frame = patients[["ill", "age"]].rename(columns={"age": "class"}).assign(C=patients.dose)
    assert BinomialRegression("ill ~ .").fit(frame).terms_[1:] == ['Q("class")', 'Q("C")']


def test_a_failed_fit_leaves_the_model_unchanged(model, patients):
    before = dict(model.__dict__)
    with pytest.raises(FormulaError):
        model.fit(patients, formula="ill ~ nothing")
    assert model.__dict__ == before


def test_without_statsmodels_the_error_gives_the_install_command(monkeypatch, patients):
    for name in [name for name in sys.modules if name.split(".")[0] == "statsmodels"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "statsmodels", None)
    with pytest.raises(ImportError, match=r"pip install 'bosquet\[glm\]'") as error:
        BinomialRegression("ill ~ age").fit(patients)
    assert "\n" not in str(error.value)
