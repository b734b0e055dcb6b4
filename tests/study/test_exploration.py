"""The exploration of a table reports its problems, and nothing for a table without problems."""

import json
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bosquet.study.exploration import explore
from bosquet.study.exploration.drift import distribution_shift
from bosquet.study.exploration.features import feature_of
from bosquet.study.exploration.relations import correlation_ratio, cramers_v
from bosquet.tables.planning import plan_column

N = 600


@pytest.fixture
def table():
    random = np.random.default_rng(3)
    x = random.normal(size=N)
    return pd.DataFrame(
        {
            "x": x,
            "noise": random.normal(size=N),
            "colour": random.choice(["red", "green", "blue"], N),
            "y": np.where(x + random.normal(size=N) > 0, "yes", "no"),
        }
    )


def kinds(found, *severities):
    return {w["kind"] for w in found["warnings"] if not severities or w["severity"] in severities}


def about(found, kind):
    return [w for w in found["warnings"] if w["kind"] == kind]


def column(found, name):
    return next(c for c in found["columns"] if c["name"] == name)


def test_a_clean_table_raises_no_warning(table):
    found = explore(table, "y", "binary")
    assert found["warnings"] == []
    assert (found["n_rows"], found["n_columns"], found["duplicates"]) == (N, 3, 0)
    assert column(found, "x")["relation"] > 0.4 > 0.15 > column(found, "noise")["relation"]


def test_the_result_is_plain_json(table):
    table["when"] = pd.date_range("2020", periods=N, freq="7h")
    table.loc[:20, "x"] = np.nan
    for target, task in (("y", "binary"), ("noise", "regression")):
        found = explore(table, target, task, test=table[N // 2 :])
        assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_distributions_are_counted_by_class(table):
    found = explore(table, "y", "binary")
    for name in ("x", "colour"):
        shown = column(found, name)["histogram"]
        for label in ("no", "yes"):
            assert sum(shown["counts"][label]) == (table["y"] == label).sum()
    red = column(found, "colour")["histogram"]
    place = red["levels"].index("red")
    assert red["counts"]["yes"][place] == ((table["y"] == "yes") & (table["colour"] == "red")).sum()
    edges = column(found, "x")["histogram"]["edges"]
    assert edges[0] == table["x"].min()
    assert edges[-1] == table["x"].max()
    assert found["target"]["counts"]["all"] == [(table["y"] == k).sum() for k in ("no", "yes")]


def test_a_column_that_determines_the_target_is_a_leak(table):
    table["copy"] = table["y"].map({"yes": "approved", "no": "refused"})
    table["paid"] = np.where(table["y"] == "yes", np.random.default_rng(0).gamma(2, size=N) + 1, 0)
    found = explore(table, "y", "binary")
    assert {c for w in about(found, "leak") for c in w["columns"]} == {"copy", "paid"}
    assert {w["severity"] for w in about(found, "leak")} == {"high"}
    assert found["warnings"][0]["kind"] == "leak"


def test_missing_values_alone_may_be_a_leak(table):
    table["left_on"] = np.where(table["y"] == "yes", table["noise"], np.nan)
    assert about(explore(table, "y", "binary"), "leak")[0]["columns"] == ["left_on"]


def test_a_leak_is_found_among_few_rows_and_duplicate_rows_add_none():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 120)
    frame = pd.DataFrame(
        {"seen": y + 0.01 * random.normal(size=120), "noise": random.normal(size=120)}
    )
    twice = pd.concat([frame.assign(y=y)] * 2, ignore_index=True)
    for table in (frame.assign(y=y), twice):
        found = about(explore(table, "y", "binary"), "leak")
        assert [w["columns"] for w in found] == [["seen"]]


def test_a_leak_of_a_numeric_target_is_found_and_an_identifier_is_not_a_leak(table):
    table["cents"] = table["x"] * 100 + 3
    table["near"] = np.exp(table["x"]) + 0.001 * table["noise"]
    table["key"] = [f"k{i}" for i in range(N)]
    found = explore(table, "x", "regression")
    assert {c for w in about(found, "leak") for c in w["columns"]} == {"cents", "near"}
    assert column(found, "key")["kind"] == "identifier"
    assert not column(found, "key")["used"]


def test_duplicate_and_contradicting_rows_are_counted(table):
    doubled = pd.concat([table, table[:50], table[50:60].assign(y="other")], ignore_index=True)
    found = explore(doubled, "y", "multiclass")
    assert found["duplicates"] == 50
    assert any(
        "20 rows are equal in all columns except the target" in w["message"]
        for w in found["warnings"]
    )


def test_missing_outlying_constant_and_rare_values_are_reported(table):
    table["gaps"] = np.where(np.arange(N) % 2, table["noise"], np.nan)
    table["wild"] = table["noise"].where(np.arange(N) != 7, 1e6)
    table["same"] = 1
    table["when"] = pd.date_range("2020", periods=N, freq="7h").astype(str)
    table.loc[table.index[N // 25 :], "y"] = "no"
    table.loc[table.index[: N // 25], "y"] = "yes"
    found = explore(table, "y", "binary")
    assert {"missing", "outliers", "constant", "rare", "date"} <= kinds(found)
    assert column(found, "gaps")["missing"] == N // 2
    assert column(found, "wild")["outliers"] >= 1
    assert about(found, "outliers")[0]["columns"] == ["wild"]


def test_correlated_columns_are_paired(table):
    table["twice"] = 2 * table["x"] + 1
    table["couleur"] = table["colour"].map({"red": "rouge", "green": "vert", "blue": "bleu"})
    finding = about(explore(table, "y", "binary"), "correlated")[0]
    assert set(finding["columns"]) == {"x", "twice", "colour", "couleur"}


def test_correlations_are_spearmans(table):
    from scipy.stats import spearmanr

    table["x"] = table["x"].round(1)
    table["cube"] = table["x"] ** 3 + table["noise"]
    found = explore(table, "y", "binary")["correlations"]
    expected = spearmanr(table[found["names"]]).statistic
    np.testing.assert_allclose(found["matrix"], expected, atol=1e-4)


def test_only_columns_that_drift_are_reported(table):
    moved = table.assign(
        x=table["x"] + 1, colour=np.where(table["noise"] > 0, "pink", table["colour"])
    )
    found = about(explore(table, "y", "binary", test=moved), "drift")
    assert {c for w in found for c in w["columns"]} == {"x", "colour"}
    assert "'pink'" in " ".join(w["message"] for w in found)
    assert not about(explore(table[:300], "y", "binary", test=table[300:]), "drift")


def test_columns_that_the_test_table_lacks_are_reported_first(table):
    found = explore(table, "y", "binary", test=table.drop(columns=["x", "y"]))
    [first] = about(found, "drift")
    assert first["columns"] == ["x"]
    assert first["severity"] == "high"
    assert "not in the test table" in first["message"]


def test_long_lists_of_classes_and_levels_are_truncated(table):
    table["city"] = [f"c{i % 150}" for i in range(N)]
    table["y"] = [f"class {i % 30}" for i in range(N)]
    found = explore(table, "y", "multiclass")
    assert len(column(found, "x")["histogram"]["counts"]) == 8
    assert column(found, "city")["histogram"]["levels"][-1] == "(others)"


def test_a_very_wide_table_is_examined_in_part_with_a_finding():
    random = np.random.default_rng(0)
    wide = pd.DataFrame(random.normal(size=(80, 3000)), columns=[f"v{i}" for i in range(3000)])
    wide["y"] = (wide["v1234"] > 0).astype(int)
    found = explore(wide, "y", "binary")
    assert len(found["columns"]) == 300
    assert found["n_columns"] == 3000
    assert column(found, "v1234")["relation"] > 0.9
    assert "3,000 columns" in about(found, "limits")[0]["message"]


@pytest.mark.slow
def test_fifty_thousand_rows_take_less_than_two_seconds():
    random = np.random.default_rng(0)
    n = 50_000
    frame = pd.DataFrame({f"v{i}": random.normal(size=n) for i in range(8)})
    for i in range(6):
        frame[f"c{i}"] = pd.Categorical(random.choice(list("abcdefgh"), n))
    frame["y"] = (frame["v0"] + random.normal(size=n) > 0).astype(int)
    explore(frame[:1000], "y", "binary")
    start = time.perf_counter()
    explore(frame, "y", "binary")
    assert time.perf_counter() - start < 2


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=2, max_size=60))
def test_measures_of_relation_stay_between_zero_and_one(pairs):
    a, b = np.array(pairs).T
    assert 0 <= cramers_v(a, b, 5, 3) <= 1
    assert cramers_v(a, b, 5, 3) == pytest.approx(cramers_v(b, a, 3, 5))
    assert 0 <= correlation_ratio(a, b.astype(float), 5) <= 1


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-10, 10), min_size=5, max_size=40), st.booleans())
def test_a_table_has_not_drifted_from_itself(values, as_text):
    series = pd.Series([str(v) if as_text else v for v in values], name="a")
    plan, _ = plan_column("a", series)
    feature = feature_of(plan, series)
    index, difference, chance = distribution_shift(feature, feature)
    assert index == pytest.approx(0)
    assert difference == pytest.approx(0)
    assert chance == pytest.approx(1)


def test_findings_that_make_scores_optimistic_are_alarms(table):
    from bosquet.study.exploration.alarms import alarm_findings, leaking_columns

    copied = pd.concat([table.assign(z=table["y"] + "!"), table[:60].assign(z=table["y"] + "!")])
    found = explore(copied, "y", "binary")
    assert {one["kind"] for one in alarm_findings(found)} == {"leak", "duplicates"}
    assert leaking_columns(found) == ["z"]
    assert alarm_findings(explore(table, "y", "binary")) == []
