"""Times, groups and weights are proposed if the table has them, and only then."""

import numpy as np
import pandas as pd
import pytest

from bosquet.study.exploration import explore
from bosquet.study.exploration.alarms import alarm_findings

N = 2000


def findings(frame, kind="design", target="y", task="binary", severities=("high", "medium")):
    found = explore(frame, target, task)["warnings"]
    return [w for w in found if w["kind"] == kind and w["severity"] in severities]


def independent(seed=0, n=N):
    random = np.random.default_rng(seed)
    x = random.normal(size=n)
    return pd.DataFrame(
        {
            "x": x,
            "age": random.integers(18, 90, n),
            "weight_kg": random.normal(70, 10, n),
            "city": random.choice([f"c{i}" for i in range(40)], n),
            "zip": random.integers(100, 180, n),
            "y": np.where(x + random.normal(size=n) > 0, "yes", "no"),
        }
    )


@pytest.mark.parametrize("seed", range(5))
def test_an_ordinary_table_gets_no_proposal(seed):
    frame = independent(seed)
    found = explore(frame, "y", "binary")
    assert found["proposed"] == {}
    kinds = {w["kind"] for w in found["warnings"]}
    assert not kinds & {"design", "drift", "leak"}


def test_a_table_sorted_by_its_target_has_not_drifted():
    frame = independent().sort_values("y", ignore_index=True)
    assert findings(frame, "drift", severities=("high", "medium", "low")) == []


# ------------------------------------------------------------------------------------------- time
@pytest.mark.parametrize("order", ["ascending", "descending"])
@pytest.mark.parametrize("as_text", [True, False])
def test_a_split_by_time_is_proposed_for_rows_ordered_by_a_date(order, as_text):
    frame = independent()
    when = pd.date_range("2020-01-01", periods=N, freq="5h")
    when = when if order == "ascending" else when[::-1]
    frame["when"] = when.strftime("%d.%m.%Y %H:%M") if as_text else when
    found = explore(frame, "y", "binary")
    assert found["proposed"] == {"time": "when"}
    [alarm] = alarm_findings(found)
    assert alarm["message"].endswith("pass --time when.")


def test_an_ascending_number_named_like_a_time_is_a_time_and_others_are_not():
    frame = independent()
    frame["elapsed time"] = np.cumsum(np.random.default_rng(0).exponential(size=N))
    found = explore(frame, "y", "binary")
    assert found["proposed"] == {"time": "elapsed time"}
    assert "pass --time 'elapsed time'" in alarm_findings(found)[0]["message"]
    renamed = frame.rename(columns={"elapsed time": "size"})
    assert explore(renamed, "y", "binary")["proposed"] == {}


def test_days_that_start_again_are_not_a_time():
    frame = independent()
    frame["day"] = np.repeat(np.arange(N // 10) % 28 + 1, 10)
    found = explore(frame, "y", "binary")
    assert found["proposed"] == {}
    assert (
        "day increases from row to row and then starts again" in alarm_findings(found)[0]["message"]
    )
    shuffled = frame.sample(frac=1, random_state=0, ignore_index=True)
    assert findings(shuffled) == []


def test_dates_in_no_order_are_an_alarm_only_if_the_target_changes_with_them():
    random = np.random.default_rng(1)
    frame = independent()
    days = random.permutation(N)
    frame["when"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(days, unit="D")
    frame["born"] = pd.Timestamp("1950-01-01") + pd.to_timedelta(random.permutation(N), unit="D")
    assert findings(frame) == []
    [mild] = findings(frame, severities=("low",))
    assert mild["columns"] == ["when"]
    frame["y"] = np.where(random.random(N) < 0.2 + 0.5 * days / N, "yes", "no")
    [sure] = findings(frame)
    assert sure["message"].endswith("pass --time when.")


def test_drift_between_first_and_last_rows_is_measured():
    frame = independent()
    frame["when"] = pd.date_range("2020-01-01", periods=N, freq="h")
    frame["x"] += np.linspace(0, 2, N)
    random = np.random.default_rng(2)
    frame["y"] = np.where(random.random(N) < np.linspace(0.1, 0.9, N), "yes", "no")
    [drift] = findings(frame, "drift")
    assert drift["columns"] == ["y", "x"]
    assert "by when" in drift["message"]
    [mild] = findings(frame.drop(columns="when"), "drift", severities=("low",))
    assert "in the order of the table" in mild["message"]
    regression = frame.assign(y=frame["x"])
    [drift] = findings(regression, "drift", task="regression")
    assert "mean" in drift["message"]


def test_dates_after_the_row_and_columns_not_filled_in_yet_are_leaks():
    frame = independent()
    random = np.random.default_rng(3)
    frame["when"] = pd.date_range("2020-01-01", periods=N, freq="D")
    frame["ordered"] = frame["when"] - pd.to_timedelta(random.integers(1, 9, N), unit="D")
    paid = frame["when"] + pd.to_timedelta(random.integers(2, 40, N), unit="D")
    frame["paid"] = paid.where(random.random(N) < 0.6)
    frame["rating"] = np.where(np.arange(N) < 0.9 * N, random.integers(1, 6, N), np.nan)
    found = findings(frame, "leak")
    assert {name for w in found for name in w["columns"]} == {"paid", "rating"}
    assert any("later than when in" in w["message"] for w in found)


# ------------------------------------------------------------------------------------------ group
def visits(patients=300, each=6):
    random = np.random.default_rng(4)
    who = np.repeat(np.arange(patients), each)
    frame = pd.DataFrame(
        {
            "patient_id": who + 1000,
            "height": random.normal(170, 9, patients).round(1)[who],
            "sex": random.choice(["f", "m"], patients)[who],
            "pressure": random.normal(120, 15, who.size),
            "y": random.choice(["a", "b"], patients)[who],
        }
    )
    return frame.sample(frac=1, random_state=0, ignore_index=True)


def test_an_identifier_that_repeats_is_a_group():
    frame = visits()
    found = explore(frame, "y", "binary")
    assert found["proposed"] == {"group": "patient_id"}
    [alarm] = alarm_findings(found)
    assert "300 values, 6.0 rows per value" in alarm["message"]
    assert alarm["message"].endswith("pass --group patient_id.")
    as_text = frame.assign(patient_id="p" + frame["patient_id"].astype(str))
    assert explore(as_text, "y", "binary")["proposed"] == {"group": "patient_id"}


def test_a_column_that_names_the_group_is_not_a_leak():
    frame = visits()
    frame["y"] = frame.groupby("patient_id")["pressure"].transform("mean")
    frame["height"] += frame["patient_id"] / 1e6  # different for each patient
    assert findings(frame, "leak", task="regression") == []
    assert findings(frame.drop(columns="patient_id"), "leak", task="regression") != []
    who = pd.factorize(frame["patient_id"])[0]
    found = explore(frame.drop(columns="patient_id"), "y", "regression", group=who)
    assert not any(w["kind"] == "leak" for w in found["warnings"])


def test_without_a_typical_name_several_constant_columns_make_a_group():
    frame = visits().rename(columns={"patient_id": "station"})
    assert explore(frame, "y", "binary")["proposed"] == {}
    frame["latitude"] = frame.groupby("station")["pressure"].transform("first")
    frame["elevation"] = frame.groupby("station")["pressure"].transform("last")
    frame["station"] = "s" + frame["station"].astype(str)
    assert explore(frame, "y", "binary")["proposed"] == {"group": "station"}


def test_a_name_alone_is_proposed_with_low_severity():
    frame = independent().rename(columns={"city": "manager_id"})
    assert findings(frame) == []
    [mild] = findings(frame, severities=("low",))
    assert mild["message"].endswith("pass --group manager_id.")
    for other in ("paid", "grid", "manager"):  # no identifiers
        renamed = frame.rename(columns={"manager_id": other})
        assert findings(renamed, severities=("medium", "low")) == []


# ----------------------------------------------------------------------------------------- weight
@pytest.mark.parametrize("name", ["fnlwgt", "instance weight", "MARSUPWT", "sample_weight"])
def test_a_column_with_the_name_of_a_survey_weight_is_proposed(name):
    frame = independent()
    frame[name] = np.random.default_rng(5).gamma(2, 1000, N)
    found = explore(frame, "y", "binary")
    assert found["proposed"] == {"weight": name}
    assert "--weight" in alarm_findings(found)[0]["message"]


def test_body_weights_and_weights_that_predict_are_not_proposed():
    random = np.random.default_rng(6)
    frame = independent()
    frame["weight"] = random.normal(70, 10, N)
    frame["height"] = 100 + frame["weight"] + random.normal(0, 8, N)
    assert findings(frame, severities=("medium", "low")) == []
    frame = independent()
    frame["fnlwgt"] = np.exp(frame["x"]) * 1000
    assert findings(frame, severities=("medium", "low")) == []
    frame["fnlwgt"] = random.normal(size=N)  # negative ones
    assert findings(frame, severities=("medium", "low")) == []


def test_duplicates_are_counted_with_and_without_weights_and_identifiers():
    random = np.random.default_rng(7)
    frame = independent()[:1000]
    doubled = pd.concat([frame, frame[:200]], ignore_index=True)
    doubled["fnlwgt"] = random.gamma(2, 1000, 1200)
    found = explore(doubled, "y", "binary")
    assert found["duplicates"] == 0
    [copies] = [w for w in found["warnings"] if w["kind"] == "duplicates"]
    assert copies["message"].startswith("200 rows (16.7%) are equal to other rows except in fnlwgt")
    assert copies["severity"] == "low"
    without = doubled.drop(columns="fnlwgt")
    given = {"weight": "fnlwgt"}
    for known, severity in ((None, "medium"), (given, "low")):
        found = explore(without, "y", "binary", design_columns=known)
        assert [w["severity"] for w in found["warnings"]] == [severity]
    doubled = without.assign(case_id=[f"k{i}" for i in range(1200)])
    [copies] = findings(doubled, "duplicates")
    assert copies["columns"] == ["case_id"]
