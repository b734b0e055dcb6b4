"""Levels that exclude a class are leaks; rare levels, good columns and ordinary missing values are not."""

import numpy as np
import pandas as pd
import pytest

from bosquet.study.exploration import explore
from bosquet.study.exploration.alarms import alarm_findings


def leaks(frame, target="y", task="binary", severities=("high", "medium")):
    found = explore(frame, target, task)["warnings"]
    return [w for w in found if w["kind"] == "leak" and w["severity"] in severities]


def crashes(n=20_000, seed=0):
    """Return a table like the register of fatal crashes: race is recorded only for those who died."""
    random = np.random.default_rng(seed)
    injury = random.choice(["Fatal", "Serious", "None"], n, p=[0.42, 0.18, 0.4])
    race = random.choice(["White", "Black", "Asian", "Other"], n, p=[0.7, 0.15, 0.1, 0.05])
    recorded = (injury == "Fatal") | (random.random(n) < 0.3)
    return pd.DataFrame(
        {
            "AGE": random.integers(0, 90, n),
            "RACE": np.where(recorded, race, "Not_a_Fatality"),
            "STATE": random.choice([f"s{i}" for i in range(50)], n),
            "INJURY": injury,
        }
    )


def test_a_level_that_excludes_a_class_is_a_leak_and_an_alarm():
    found = explore(crashes(), "INJURY", "multiclass")
    [leak] = [w for w in alarm_findings(found) if w["kind"] == "leak"]
    assert leak["columns"] == ["RACE"]
    assert "RACE = 'Not_a_Fatality'" in leak["message"]
    assert "never has INJURY = 'Fatal' (41% of all rows have it)" in leak["message"]


def test_levels_are_counted_on_all_rows_and_a_few_errors_hide_no_leak():
    frame = crashes(60_000)
    hidden = frame.index[frame["RACE"] == "Not_a_Fatality"][:3]
    frame.loc[hidden, "INJURY"] = "Fatal"
    [leak] = leaks(frame, "INJURY", "multiclass")
    count = int((frame["RACE"] == "Not_a_Fatality").sum())
    assert f"({count:,} rows) has INJURY = 'Fatal' in only 3 rows" in leak["message"]


@pytest.mark.parametrize("seed", range(10))
def test_rare_levels_have_no_rows_of_a_class_by_chance(seed):
    random = np.random.default_rng(seed)
    n = 2000
    frame = pd.DataFrame(
        {
            "city": random.choice([f"c{i}" for i in range(400)], n),
            "code": random.zipf(1.5, n).clip(max=3000),
            "gaps": np.where(random.random(n) < 0.01, np.nan, random.normal(size=n)),
            "y": random.choice(["a", "b", "c"], n, p=[0.7, 0.25, 0.05]),
        }
    )
    assert leaks(frame, task="multiclass", severities=("high", "medium", "low")) == []


def test_ordinary_empty_cells_and_smooth_effects_are_no_alarm():
    random = np.random.default_rng(1)
    n = 30_000
    age = random.integers(0, 80, n)
    rich = (age > 24) & (random.random(n) < 0.1)
    frame = pd.DataFrame(
        {
            "age": age,
            "education": np.where(age < 15, "child", random.choice(["school", "college"], n)),
            "y": np.where(rich, "over 50K", "under"),
        }
    )
    assert leaks(frame) == []
    [mild] = leaks(frame, severities=("low",))
    assert mild["columns"] == ["education"]


def test_a_column_that_is_filled_in_for_one_class_alone_is_a_leak():
    random = np.random.default_rng(2)
    n = 1300
    survived = random.random(n) < 0.38
    found_dead = ~survived & (random.random(n) < 0.15)
    frame = pd.DataFrame(
        {
            "fare": random.gamma(2, size=n),
            "body": np.where(found_dead, random.integers(1, 330, n), np.nan),
            "y": survived.astype(int),
        }
    )
    [leak] = leaks(frame)
    assert leak["message"].startswith("body not missing (")
    assert "never has y = '1'" in leak["message"]


def test_a_number_that_codes_not_applicable_is_a_leak():
    random = np.random.default_rng(3)
    n = 5000
    churned = random.random(n) < 0.3
    days = random.integers(1, 400, n)
    frame = pd.DataFrame(
        {
            "days": np.where(churned & (random.random(n) < 0.6), -1, days),
            "minutes": random.gamma(2, 100, n),
            "y": np.where(churned, "left", "stayed"),
        }
    )
    [leak] = leaks(frame)
    assert leak["message"].startswith("days = -1 (")


def test_many_columns_with_one_leak_are_merged():
    frame = crashes()
    for k in range(8):
        frame[f"TEST_{k}"] = frame["RACE"].where(frame["RACE"] == "Not_a_Fatality", f"done {k}")
    found = leaks(frame, "INJURY", "multiclass")
    assert len(found) == 6
    assert found[-1]["message"].startswith("4 more columns")


def test_a_numeric_target_that_is_constant_in_a_level_is_a_leak():
    random = np.random.default_rng(4)
    n = 3000
    refused = random.random(n) < 0.2
    frame = pd.DataFrame(
        {
            "status": np.where(refused, "refused", random.choice(["open", "closed"], n)),
            "x": random.normal(size=n),
            "y": np.where(refused, 0.0, random.gamma(2, 50, n)),
        }
    )
    [leak] = leaks(frame, task="regression")
    assert "status = 'refused'" in leak["message"]
    assert "always has y = 0" in leak["message"]


def test_a_target_that_is_the_sum_of_two_columns_is_a_leak():
    random = np.random.default_rng(5)
    casual, registered = random.gamma(2, 20, 900), random.gamma(2, 25, 900)
    frame = pd.DataFrame({"casual": casual, "hour": random.integers(0, 24, 900)})
    frame["registered"] = registered
    frame["y"] = casual + registered
    [leak] = [w for w in leaks(frame, task="regression") if len(w["columns"]) == 2]
    assert leak["columns"] == ["casual", "registered"]
    noisy = frame.assign(y=frame["y"] + random.normal(size=900))
    assert [w for w in leaks(noisy, task="regression") if len(w["columns"]) == 2] == []
