"""The conclusion of a study: a model, no model, or inconclusive."""

import time

import numpy as np
import pandas as pd
import pytest
from stand_ins import Failing, Slow, linear, method

from bosquet import Study
from bosquet.study.explain.learning_curve import forecast
from bosquet.study.run import time_division


def make_table(n=120, signal=2.0, seed=0):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(random.normal(size=(n, 2)), columns=["a", "b"])
    return frame.assign(y=signal * frame["a"] + random.normal(size=n))


class Endless(Slow):
    def fit(self, X, y):
        for _ in range(4000):
            time.sleep(0.01)
        return super().fit(X, y)


def endless(name="endless"):
    return method(name, lambda shape, value, seed: Endless(0))


def fit_study(*methods, signal=2.0):
    study = Study(budget=None, repeats=2, verbose=0, methods=list(methods))
    return study.fit(make_table(signal=signal), "y")


def test_a_method_that_beats_the_constant_is_a_model():
    study = fit_study(linear())
    assert study.record_["verdict"]["kind"] == "model"
    assert study.record_["comparison"]["best"] == "linear"


def test_a_table_without_signal_is_a_conclusion_only_if_every_method_was_tried():
    study = fit_study(linear(), signal=0.0)
    assert study.record_["verdict"]["kind"] in ("constant", "weak")
    failing = fit_study(linear(), method("broken", lambda *given: Failing()), signal=0.0)
    assert failing.record_["verdict"]["kind"] == "inconclusive"
    assert failing.record_["verdict"]["failed"] == ["Broken"]
    assert "No conclusion: 1 failed (Broken)" in str(failing)


def test_a_study_whose_methods_were_stopped_does_not_blame_the_columns(monkeypatch):
    monkeypatch.setattr(time_division, "WIDE", 1)
    study = Study(budget=3, verbose=0, methods=[endless()]).fit(make_table(), "y")
    assert study.table_.loc["endless", "status"] == "stopped"
    assert study.record_["verdict"] == {
        "kind": "inconclusive", "stopped": ["Endless"], "failed": [], "not_reached": [],
        "cut_short": [],
    }  # fmt: skip
    assert "No conclusion: 1 stopped by the time limit (Endless)" in str(study)


class FailsOnce(Slow):
    """Fail on the third split."""

    fits = 0

    def fit(self, X, y):
        FailsOnce.fits += 1
        if FailsOnce.fits == 3:
            raise RuntimeError("once")
        return super().fit(X, y)


def test_a_method_with_too_few_splits_is_shown_without_a_test():
    FailsOnce.fits = 0
    sometimes = method("sometimes", lambda *given: FailsOnce(0), readable="yes")
    study = Study(budget=None, repeats=5, verbose=0, methods=[linear("no"), sometimes])
    study.fit(make_table(), "y")
    row = next(m for m in study.record_["methods"] if m["name"] == "sometimes")
    assert len(row["scores"]) == 4
    assert row["difference"] is None
    assert row["interval"] is None
    line = next(line for line in str(study).splitlines() if line.startswith("Sometimes"))
    assert "not compared" in line
    assert study.record_["chosen"]["name"] == "linear"


def learning_curve_points(*scores, spread=0.01):
    found = [
        {"rows": 100.0 * 2**k, "score": score, "spread": spread} for k, score in enumerate(scores)
    ]
    found[-1]["spread"] = None
    return found


@pytest.mark.parametrize(
    ("curve", "wording"),
    [
        (learning_curve_points(0.7, 0.9), "too few to show a trend"),
        (learning_curve_points(0.7, 0.8, 0.9), "More rows would probably help"),
        (learning_curve_points(0.7, 0.89, 0.9), "would probably not help much"),
        (learning_curve_points(0.7, 0.8, 0.9, spread=None), "too few to show a trend"),
    ],
)
def test_a_learning_curve_makes_a_forecast_only_from_three_points_and_beyond_noise(curve, wording):
    assert wording in forecast(curve, higher_is_better=True)
