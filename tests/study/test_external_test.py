"""A test table is scored by the chosen model; a table with other columns is rejected before any fit."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, log_loss, root_mean_squared_error

from bosquet import Study
from bosquet.study.compare.leaderboard import text_on_test_table
from bosquet.study.report.document import page_html


def make_table(n, seed, shift=0.0, classes=True):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": random.normal(size=n), "b": random.choice(["u", "v"], n)})
    score = 2 * frame["a"] + (frame["b"] == "u") + random.normal(size=n) * (1 + shift)
    frame["y"] = np.where(score > 0.5, "yes", "no") if classes else score
    return frame


def studied(train, test):
    methods = ["constant", "logistic"] if train["y"].dtype != float else ["constant", "linear"]
    study = Study(methods=methods, budget=None, repeats=2, random_state=0)
    return study.fit(train, "y", test=test)


def test_classes_of_a_test_table_are_scored_by_the_chosen_model():
    later = make_table(400, 1)
    study = studied(make_table(300, 0), later)
    found = study.record_["test_table"]
    assert found["n_rows"] == 400
    expected = log_loss(later["y"], study.predict_proba(later))
    assert found["metrics"]["log_loss"] == pytest.approx(expected)
    expected = accuracy_score(later["y"], study.predict(later))
    assert found["metrics"]["accuracy"] == pytest.approx(expected)
    low, high = found["interval"]
    assert low < found["metrics"]["log_loss"] < high
    assert "On the 400 rows of the test table: Log loss" in str(study)
    assert "On the 400 rows of the test table" in page_html(study.record_)
    assert "On the 400 rows of the test table" in study._repr_html_()


def test_numbers_are_scored_and_rows_without_a_target_are_not():
    later = make_table(200, 1, classes=False)
    later.loc[later.index[:50], "y"] = np.nan
    study = studied(make_table(300, 0, classes=False), later)
    found = study.record_["test_table"]
    assert (found["n_rows"], found["without_target"]) == (150, 50)
    expected = root_mean_squared_error(later["y"][50:], study.predict(later[50:]))
    assert found["metrics"]["rmse"] == pytest.approx(expected)


def test_a_score_outside_of_the_interval_of_the_study_is_reported():
    worse = studied(make_table(400, 0), make_table(2000, 1, shift=8))
    assert "the score on the test table is worse" in text_on_test_table(worse.record_)
    alike = studied(make_table(400, 0), make_table(2000, 1))
    assert "test table is worse" not in text_on_test_table(alike.record_)


def test_classes_that_the_model_does_not_know_are_left_out_and_counted():
    later = make_table(100, 1)
    later.loc[later.index[:7], "y"] = "perhaps"
    study = studied(make_table(300, 0), later)
    found = study.record_["test_table"]
    assert (found["n_rows"], found["unknown_classes"]) == (93, 7)
    assert "7 rows of unknown classes are not scored" in str(study)


def test_a_test_table_without_the_target_is_used_for_drift_only():
    study = studied(make_table(200, 0), make_table(100, 1).drop(columns="y"))
    assert "test_table" not in study.record_
    assert text_on_test_table(study.record_) == ""


def test_a_test_table_with_other_columns_raises_before_any_fit():
    study = Study(methods=["constant"], budget=None)
    with pytest.raises(ValueError, match="the test table lacks the columns 'a', 'b' of the table"):
        study.fit(make_table(100, 0), "y", test=make_table(50, 1)[["y"]].assign(c=1))
    assert not hasattr(study, "record_")
