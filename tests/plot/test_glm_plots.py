"""Plots of regression models show the fitted values."""

import numpy as np
import pandas as pd
import pytest
from baseline_images import assert_looks_as_stored, plain_style

from bosquet import BinomialRegression, LinearModel, MultinomialRegression, PoissonRegression, plot

pytest.importorskip("matplotlib.pyplot")
pytest.importorskip("statsmodels")


@pytest.fixture(autouse=True)
def plain():
    with plain_style():
        yield


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"age": rng.integers(20, 70, 300), "dose": rng.normal(size=300), "sex": rng.choice(["f", "m"], 300),
         "soil": pd.Categorical(rng.choice(["clay", "loam", "sand"], 300))}
    )  # fmt: skip
    line = -3 + 0.05 * frame.age + 1.2 * (frame.sex == "m")
    frame["ill"] = (rng.random(300) < 1 / (1 + np.exp(-line))).astype(int)
    frame["yield"] = rng.normal(size=300) + 2 * ((frame.sex == "m") & (frame.soil == "loam"))
    return frame


@pytest.fixture(scope="module")
def model(table):
    return BinomialRegression("ill ~ age + dose + sex").fit(table)


def points(ax):
    """Positions of the estimates, from top to bottom."""
    found = [line for line in ax.get_lines() if line.get_marker() in ("o", "D")]
    return [float(line.get_xdata()[0]) for line in found]


def test_the_forest_plot_draws_and_prints_every_odds_ratio(model):
    ax = plot.odds_ratios(model, units={"age": 10})
    wanted = model.odds_ratios(units={"age": 10})
    assert points(ax) == pytest.approx(wanted.odds_ratio.tolist())
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "age, 10 units",
        "dose",
        "sex[T.m]",
    ]
    row = wanted.loc["sex[T.m]"]
    texts = [text.get_text() for text in ax.texts]
    assert texts[2] == f"{row.odds_ratio:.2f} ({row.low:.2f} to {row.high:.2f})"
    assert ax.get_xscale() == "log"


def test_only_intervals_that_exclude_1_are_coloured(model):
    ax = plot.odds_ratios(model)
    markers = [line.get_marker() for line in ax.get_lines() if line.get_marker() in ("o", "D")]
    assert markers == ["o", "D", "o"]  # age and sex are significant, dose is not


def test_an_infinite_ratio_is_an_arrow(table):
    frame = table.assign(rare=np.where(np.arange(300) % 40 == 0, "yes", "no"))
    frame.loc[frame.rare == "yes", "ill"] = 1
    model = BinomialRegression("ill ~ age + rare", on_separation="ignore").fit(frame)
    ax = plot.odds_ratios(model, interval="profile")
    assert [line.get_marker() for line in ax.get_lines()].count(">") == 1
    assert "∞" in ax.texts[1].get_text()


def test_rate_ratios_and_odds_of_several_classes_are_drawn_too(table):
    counts = PoissonRegression("age ~ dose + sex").fit(table)
    assert "rate ratio" in plot.odds_ratios(counts).get_xlabel()
    several = MultinomialRegression("soil ~ age + dose").fit(table)
    assert (
        "odds ratio of sand against loam"
        in plot.odds_ratios(several, j="sand", k="loam").get_xlabel()
    )
    with pytest.raises(TypeError, match="neither odds ratios nor rate ratios"):
        plot.odds_ratios(LinearModel("dose ~ age").fit(table))


def test_the_probability_curve_is_the_prediction_at_typical_values(model, table):
    ax = plot.probability_curve(model, table, "age", by="sex", y=table.ill, points=20)
    line = ax.get_lines()[0]
    rows = pd.DataFrame({"age": line.get_xdata(), "dose": table.dose.median(), "sex": "f"})
    np.testing.assert_allclose(line.get_ydata(), model.predict_proba(rows)[:, 1])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["sex f", "sex m"]
    assert ax.get_ylabel() == "probability of ill = 1"
    held = plot.probability_curve(model, table, "age", at={"sex": "m", "dose": 2.0}, points=20)
    rows = rows.assign(dose=2.0, sex="m")
    np.testing.assert_allclose(held.get_lines()[0].get_ydata(), model.predict_proba(rows)[:, 1])


def test_the_interaction_plot_shows_the_means_of_the_cells(table):
    model = LinearModel('Q("yield") ~ soil * sex').fit(table)
    ax = plot.interaction(model, table, "soil", "sex")
    means = table.groupby(["sex", "soil"], observed=True)["yield"].mean()
    lines = [line for line in ax.get_lines() if line.get_marker() in ("o", "s")]
    for line, sex in zip(lines, "fm", strict=True):
        np.testing.assert_allclose(np.asarray(line.get_ydata(), float), means[sex], rtol=1e-8)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["clay", "loam", "sand"]


def test_missing_columns_and_too_many_levels_raise(model, table):
    with pytest.raises(ValueError, match="no column 'weight'"):
        plot.probability_curve(model, table, "weight")
    with pytest.raises(ValueError, match="50 levels; pass a column with at most 5"):
        plot.probability_curve(model, table, "dose", by="age")
    with pytest.raises(ValueError, match="no column 'light'"):
        plot.interaction(model, table, "light", "sex")


def test_plots_of_regression_models_look_as_stored(model, table):
    assert_looks_as_stored(plot.odds_ratios(model, units={"age": 10}).figure, "odds-ratios")
    curve = plot.probability_curve(model, table, "age", by="sex", y=table.ill)
    assert_looks_as_stored(curve.figure, "probability-curve")
    means = plot.interaction(
        LinearModel('Q("yield") ~ soil * sex').fit(table), table, "soil", "sex"
    )
    assert_looks_as_stored(means.figure, "interaction")
