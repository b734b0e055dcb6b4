"""Studies of rows with a time, groups or weights: splits, folds, fits and scores follow them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import log_loss
from stand_ins import method

from bosquet import Study
from bosquet.study.compare.intervals import BootstrapDraws, next_block_interval
from bosquet.study.methods import METHODS
from bosquet.study.methods.design_fits import fit_by_design
from bosquet.study.metrics.metric import metric_named
from bosquet.study.report.document import page_html
from bosquet.study.run import time_features
from bosquet.study.run.time_features import choose_time_features
from bosquet.study.table.design import Design
from bosquet.study.table.design_splits import PreparedFolds
from bosquet.study.table.reading import read_study_table
from bosquet.study.table.rows import TableRows
from bosquet.study.tuning.validation import (
    CrossValidation,
    HoldoutValidation,
    scheme_for,
)


def studied(frame, methods=("constant", "linear"), repeats=3, **design):
    study = Study(methods=list(methods), budget=None, repeats=repeats, random_state=0)
    return study.fit(frame, "y", **design)


@pytest.fixture
def visits():
    """Each patient has a different level, which a random split leaks through the columns of the patient."""
    random = np.random.default_rng(0)
    who = np.repeat(np.arange(60), 8)
    level = random.normal(size=60)
    frame = pd.DataFrame(
        {
            "who": [f"p{k}" for k in who],
            "height": random.normal(170, 9, 60)[who],
            "lab": random.normal(size=60)[who],
            "x": random.normal(size=480),
        }
    )
    frame["y"] = level[who] + 0.1 * frame["x"] + 0.1 * random.normal(size=480)
    return frame.sample(frac=1, random_state=0, ignore_index=True)


@pytest.fixture
def series():
    """Rows in time, with a level that moves by random steps."""
    random = np.random.default_rng(1)
    n = 600
    frame = pd.DataFrame(
        {
            "day": pd.date_range("2022-01-01", periods=n).strftime("%Y-%m-%d"),
            "x": random.normal(size=n),
        }
    )
    frame["y"] = np.cumsum(random.normal(size=n)) * 0.3 + frame["x"]
    return frame


# ------------------------------------------------------------------------------------------ group
def test_groups_are_not_divided_and_a_random_split_is_too_optimistic(visits):
    by_group = studied(visits, ["constant", "cart", "random-forest"], groups="who")
    assert "who" not in by_group.best_.tidier.feature_names
    for train, test in by_group.splits_:
        assert not set(visits["who"][train]) & set(visits["who"][test])
    at_random = studied(visits.drop(columns="who"), ["constant", "cart", "random-forest"])
    forest = "random-forest"
    honest, flattered = (
        next(m["mean"] for m in one.record_["methods"] if m["name"] == forest)
        for one in (by_group, at_random)
    )
    assert flattered < 0.5 < 0.8 < honest


@pytest.mark.parametrize("design", [{"groups": "who"}, {"sample_weight": "height"}])
def test_all_kinds_of_methods_can_be_tuned_by_a_design(visits, design):
    methods = [name for name, one in METHODS.items() if "regression" in one.tasks]
    study = studied(visits, methods, repeats=1, **design)
    failed = [m["title"] for m in study.record_["methods"] if m["status"] == "failed"]
    assert failed == []


# ------------------------------------------------------------------------------------------- time
def test_models_are_tested_on_later_rows(series):
    study = studied(series.sample(frac=1, random_state=0, ignore_index=True), repeats=9, time="day")
    shuffled = series.sample(frac=1, random_state=0, ignore_index=True)["day"].to_numpy()
    assert len(study.splits_) == 5  # as many as there are blocks
    for train, test in study.splits_:
        assert shuffled[train].max() < shuffled[test].min()
    assert "time" not in study.record_["exploration"]["proposed"]
    assert study.record_["design"] == {"splits": "time", "columns": {"time": "day"}}
    assert "(by time)" in str(study)
    page = page_html(study.record_)
    assert "split 5 times by time (day)" in page
    assert "prediction interval for the next block of time" in page
    assert "at random into rows" not in page
    assert len(study.predict(series.head(3))) == 3


def test_the_chosen_method_is_tested_on_blocks_that_the_rounds_did_not_reach(series):
    once = studied(series, repeats=1, time="day")
    often = studied(series, repeats=5, time="day")
    assert len(once.splits_) == 1
    for study in (once, often):
        name = study.record_["chosen"]["name"]
        [record] = [m for m in study.record_["methods"] if m["name"] == name]
        assert record["interval"] is not None
    assert any("4 further blocks of time" in note for note in once.record_["notes"])
    assert not any("further blocks" in note for note in often.record_["notes"])


def test_all_kinds_of_methods_can_be_tuned_by_time(series):
    methods = [name for name, one in METHODS.items() if "regression" in one.tasks]
    study = studied(series, methods, repeats=1, time="day")
    failed = [m["title"] for m in study.record_["methods"] if m["status"] == "failed"]
    assert failed == []


@pytest.mark.slow
def test_classes_can_be_studied_by_time_and_by_group(visits):
    frame = visits.assign(y=np.where(visits["y"] > 0, "high", "low"), t=np.arange(len(visits)) // 3)
    methods = [name for name, one in METHODS.items() if "binary" in one.tasks]
    for design in ({"groups": "who"}, {"time": "t"}):
        study = studied(frame, methods, repeats=1, **design)
        failed = [m["title"] for m in study.record_["methods"] if m["status"] == "failed"]
        assert failed == []


@pytest.mark.slow
def test_the_interval_of_rolling_origin_covers_the_score_on_later_rows():
    covered = {True: 0, False: 0}
    for seed in range(10):
        random = np.random.default_rng(seed)
        n = 800
        x = random.normal(size=n)
        drift = np.cumsum(random.normal(size=n)) * 0.15
        frame = pd.DataFrame({"t": np.arange(n), "x": x, "y": x + drift + random.normal(size=n)})
        before, after = frame[:700], frame[700:]
        for by_time in (True, False):
            design = {"time": "t"} if by_time else {}
            study = studied(before, repeats=5, test=after, **design)
            found = study.record_["test_table"]
            low, high = found["promised"]
            covered[by_time] += low <= found["metrics"]["rmse"] <= high
    assert covered[True] >= 8
    assert covered[False] <= covered[True] - 3


def trending(random, t, when):
    return 4 * t


def seasonal(random, t, when):
    return 3 * np.sin(2 * np.pi * when.day_of_year / 365)


def growing_noise(random, t, when):
    return (0.5 + 2 * t) * random.normal(size=len(t))


def shifting(random, t, when):
    jumps = (random.random(len(t)) < 4 / len(t)) * 2 * random.normal(size=len(t))
    return np.cumsum(jumps)


@pytest.mark.slow
def test_the_interval_covers_the_score_on_later_rows_of_many_kinds_of_tables():
    covered = []
    for kind in (trending, seasonal, growing_noise, shifting):
        for seed in range(10):
            random = np.random.default_rng(seed)
            when = pd.date_range("2021-01-01", periods=880, freq="D")
            x = random.normal(size=880)
            y = x + kind(random, np.linspace(0, 1, 880), when) + random.normal(size=880)
            frame = pd.DataFrame({"when": when, "x": x, "y": y})
            study = studied(frame[:800], repeats=5, time="when", test=frame[800:])
            found = study.record_["test_table"]
            low, high = found["promised"]
            covered.append(low <= found["metrics"]["rmse"] <= high)
    assert sum(covered) >= 36  # of 40; 38 are expected


def test_the_interval_of_the_next_block_covers_independent_and_drifting_scores():
    random = np.random.default_rng(0)
    for series in (lambda x: x, np.cumsum, lambda x: np.arange(6) + 0.3 * x):
        inside = 0
        for _ in range(1000):
            *scores, later = series(random.normal(size=6))
            low, high = next_block_interval(scores[::-1])
            inside += low <= later <= high
        assert inside / 1000 > 0.94
    assert next_block_interval([1.0, 2.0]) is None


def test_the_interval_of_the_next_block_stays_within_the_range_of_scores():
    errors = [2.0, 9.0, 1.0, 4.0, 3.0]
    low, high = next_block_interval(errors, (0.0, np.inf))
    assert 0 < low < 1
    assert high == next_block_interval(errors)[1]  # on the side without a bound it is unchanged
    low, high = next_block_interval([0.99, 0.9, 0.97, 0.93, 0.98], (0.0, 1.0))
    assert 0.98 < high < 1
    assert low < 0.9
    assert next_block_interval([1.0, 1.0, 1.0], (0.0, 1.0)) == (1.0, 1.0)


# --------------------------------------------------------------------------------- time as a feature
def days(level, n=2400, a_day=60):
    """Rows of forty days, each of which has a level of its own."""
    random = np.random.default_rng(3)
    day = np.arange(n) // a_day
    x = random.normal(size=n)
    y = x + level(random.normal(size=day[-1] + 1))[day] + 0.3 * random.normal(size=n)
    when = pd.Timestamp("2024-03-01") + pd.to_timedelta(day, unit="D")
    return pd.DataFrame({"when": when.strftime("%d.%m.%Y"), "day": day, "x": x, "y": y})


def chosen_columns(frame, time):
    table = read_study_table(frame, "y", "regression", design={"time": time})
    table, note = choose_time_features(table, metric_named("rmse", "regression", None), 0)
    assert list(table.X.columns) == table.tidier.feature_names
    return table, note


def independent(steps):
    return 2 * steps


@pytest.mark.parametrize("time", ["when", "day"])
def test_elapsed_time_is_a_feature_only_if_blocks_of_time_are_predicted_better_with_it(time):
    elapsed = {"when": "when.elapsed", "day": "day"}[time]
    other = {"when": "day", "day": "when"}[time]
    wandering = days(np.cumsum).drop(columns=other)
    table, note = chosen_columns(wandering, time)
    assert elapsed in table.X
    assert note == ""
    frame = days(independent).drop(columns=other)
    table, note = chosen_columns(frame, time)
    assert list(table.X.columns) == (["when.weekday", "x"] if time == "when" else ["x"])
    assert note.startswith(f"{elapsed}: not used as a feature, because later blocks of time are")
    again = type(table.tidier).from_state(table.tidier.to_state())
    assert list(again.transform(frame.tail(3)).columns) == list(table.X.columns)


@pytest.mark.parametrize("time", ["when", "day"])
def test_a_study_reports_that_elapsed_time_is_left_out(time):
    frame = days(independent).drop(columns={"when": "day", "day": "when"}[time])
    study = studied(frame, time=time, test=frame[-60:])
    assert any(": not used as a feature, because later" in note for note in study.record_["notes"])
    assert len(study.predict(frame.head(3))) == 3
    assert f"split 3 times by time ({time})" in page_html(study.record_)
    assert "time" not in study.record_["exploration"]["proposed"]


def test_a_study_without_elapsed_time_is_resumed(tmp_path):
    frame = days(independent).drop(columns="day")
    given = {"methods": ["linear"], "budget": None, "repeats": 2, "verbose": 0}
    whole = Study(checkpoint=tmp_path / "study", **given).fit(frame, "y", time="when")
    lines = (tmp_path / "study").read_text().splitlines()
    (tmp_path / "study").write_text("\n".join(lines[:3]) + "\n")  # killed after two outcomes
    again = Study(checkpoint=tmp_path / "study", **given).fit(frame, "y", time="when")
    assert again.best_.tidier.feature_names == ["when.weekday", "x"]
    assert [m["scores"] for m in again.record_["methods"]] == [
        m["scores"] for m in whole.record_["methods"]
    ]
    assert len((tmp_path / "study").read_text().splitlines()) == len(lines)


def test_large_tables_are_thinned_evenly_to_decide_on_elapsed_time(monkeypatch):
    monkeypatch.setattr(time_features, "MAX_VALUES", 2400)
    monkeypatch.setattr(time_features, "MIN_ROWS_COMPARED", 300)
    seen = []
    score = time_features._score_with_columns
    monkeypatch.setattr(
        time_features,
        "_score_with_columns",
        lambda X, *given: (seen.append(len(X)), score(X, *given))[1],
    )
    table, _ = chosen_columns(days(independent).drop(columns="day"), "when")
    assert set(seen) == {800}
    assert "when.elapsed" not in table.X


def test_calendar_parts_let_a_later_season_be_predicted():
    random = np.random.default_rng(3)
    when = pd.date_range("2021-01-01", periods=1100)
    frame = pd.DataFrame({"when": when, "x": random.normal(size=1100)})
    season = 3 * np.sin(2 * np.pi * when.day_of_year / 365)
    frame["y"] = season + frame["x"] + 0.3 * random.normal(size=1100)
    study = studied(frame[:1000], time="when", test=frame[1000:])
    assert study.record_["test_table"]["metrics"]["rmse"] < 0.7


# ----------------------------------------------------------------------------------------- weight
def test_weights_are_in_fits_and_in_metrics():
    random = np.random.default_rng(2)
    n = 400
    frame = pd.DataFrame({"x": random.normal(size=n), "w": random.choice([1.0, 9.0], n)})
    frame["y"] = np.where(random.random(n) < np.where(frame["w"] > 1, 0.8, 0.3), "yes", "no")
    study = studied(frame, ["constant"], repeats=1, sample_weight="w")
    [(train, test)] = study.splits_
    weight = frame["w"].to_numpy()
    share = np.average(frame["y"][train] == "yes", weights=weight[train])
    [constant] = study.record_["methods"]
    expected = log_loss(
        frame["y"][test],
        np.tile([1 - share, share], (len(test), 1)),
        sample_weight=weight[test],
    )
    assert constant["scores"] == pytest.approx([expected], rel=1e-3)
    whole = np.average(frame["y"] == "yes", weights=weight)
    assert study.predict_proba(frame[:1])[0, 1] == pytest.approx(whole, abs=1e-3)
    assert study.best_.tidier.feature_names == ["x"]


def test_metrics_and_their_draws_treat_integer_weights_as_repeated_rows():
    metric = metric_named("rmse", "regression", [])
    y, predictions = np.array([1.0, 2.0, 4.0]), np.array([1.5, 2.0, 3.0])
    rows = BootstrapDraws.draw(y, metric, 0, weight=np.array([2.0, 1.0, 1.0]))
    plain = BootstrapDraws.draw(y, metric, 0)
    weighted = metric.bootstrap_scores(y, predictions, plain.counts * np.array([2.0, 1.0, 1.0]))
    np.testing.assert_allclose(rows.scores(predictions), weighted)


def test_draws_of_test_rows_take_whole_groups():
    group = np.array([5, 5, 7, 7, 7, 9])
    times = BootstrapDraws.draw(
        np.zeros(6), metric_named("rmse", "regression", []), 0, group
    ).counts
    assert (times[:, 0] == times[:, 1]).all()
    assert (times[:, 2] == times[:, 4]).all()
    assert ((times[:, 0] + times[:, 2] + times[:, 5]) == 3).all()


# ------------------------------------------------------------------------------------------ fixed
def test_a_fixed_split_is_the_only_one(series):
    frame = series.assign(part=np.where(np.arange(600) % 4 == 0, "test", "train"))
    study = studied(frame, repeats=4, split="part")
    [(_, test)] = study.splits_
    assert test.tolist() == list(range(0, 600, 4))
    assert "part" not in study.best_.tidier.feature_names


def test_a_custom_splitter_is_used(visits):
    from sklearn.model_selection import GroupKFold

    study = studied(visits, repeats=9, groups="who", splitter=GroupKFold(4))
    expected = GroupKFold(4).split(visits, groups=pd.factorize(visits["who"])[0])
    assert [test.tolist() for _, test in study.splits_] == [test.tolist() for _, test in expected]
    assert study.record_["repeats"] == 4
    with pytest.raises(ValueError, match=r"has no method split\(X, y, groups\)"):
        studied(visits, splitter=5)
    with pytest.raises(ValueError, match="pass only one of these three"):
        studied(visits, time="x", splitter=GroupKFold(4))


def test_a_checkpoint_of_another_design_is_rejected(visits, tmp_path):
    def resumed(**design):
        study = Study(methods=["constant"], budget=None, repeats=1, checkpoint=tmp_path / "c.jsonl")
        return study.fit(visits, "y", **design)

    first = resumed(groups="who")
    assert resumed(groups="who").record_["methods"] == first.record_["methods"]
    with pytest.raises(ValueError, match="weight=height now"):
        resumed(groups="who", sample_weight="height")


# ------------------------------------------------------------------------------------------ folds
def test_folds_of_tuning_follow_the_design():
    random = np.random.default_rng(3)
    X, y = pd.DataFrame({"x": random.normal(size=60)}), random.normal(size=60)
    metric = metric_named("rmse", "regression", [])
    time = random.permutation(60).astype(float)
    group = np.arange(60) % 10
    for design in (Design(time=time), Design(group=group)):
        rows = TableRows(X, y, design)
        tasks = [
            *CrossValidation(rows, metric, 5, 0).tasks(),
            *HoldoutValidation(rows, metric, 5, 0).tasks(),
        ]
        for train, validation in tasks:
            if design.time is not None:
                assert time[train].max() < time[validation].min()
            else:
                assert not set(group[train]) & set(group[validation])
    forest = METHODS["random-forest"]
    assert scheme_for(forest, None, 60) == "oob"
    assert scheme_for(forest, None, 60, Design(group=group)) == "cv"
    assert scheme_for(forest, None, 6000, Design(time=time)) == "validation"
    assert scheme_for(forest, None, 60, Design(weight=time)) == "oob"


@pytest.mark.parametrize("pruning", ["cv", "validation"])
def test_a_tree_prunes_itself_by_the_folds_of_a_design(pruning):
    from bosquet.trees import DecisionTreeRegressor

    random = np.random.default_rng(4)
    group = np.repeat(np.arange(40), 5)
    level = random.normal(size=40)
    X = np.column_stack([np.repeat(random.normal(size=40), 5), random.normal(size=200)])
    y = level[group] + 0.1 * random.normal(size=200)  # no feature that predicts a new group
    tree = DecisionTreeRegressor(pruning=pruning, pruning_rule="min", cv=5, random_state=0)
    at_random = fit_by_design(tree, TableRows(X, y)).get_n_leaves()
    by_group = fit_by_design(tree, TableRows(X, y, Design(group=group))).get_n_leaves()
    assert by_group < at_random
    assert tree.cv == 5
    with pytest.raises(ValueError, match="is in no test set of cv"):
        tree.set_params(cv=PreparedFolds([(np.arange(100), np.arange(100, 150))])).fit(X, y)


class DetectsLeaks(RegressorMixin, BaseEstimator):
    """Fail if a predicted row belongs to a patient of the training rows; `lab` identifies patients."""

    def __init__(self, level=0.0):
        self.level = level

    def fit(self, X, y):
        self.labs_ = set(X["lab"])
        return self

    def predict(self, X):
        if self.labs_ & set(X["lab"]):
            raise ValueError("a patient was in both parts")
        return np.full(len(X), self.level)


@pytest.mark.parametrize("splitter", [None, "GroupKFold", "GroupShuffleSplit"])
@pytest.mark.parametrize("way", ["cv", "validation"])
def test_groups_are_not_divided_by_splits_or_folds_of_tuning(visits, splitter, way):
    from sklearn import model_selection

    own = None if splitter is None else getattr(model_selection, splitter)(3)
    detector = method(
        "detector", lambda shape, value, seed: DetectsLeaks(value), values=(0.0, 1.0), scheme=way
    )
    study = Study(methods=["constant", detector], budget=None, repeats=2, verbose=0)
    study.fit(visits, "y", groups="who", splitter=own)
    found = next(one for one in study.record_["methods"] if one["name"] == "detector")
    assert (found["status"], found["message"]) == ("done", "")
    assert len(found["curve"]["points"]) == 2
    assert len(found["scores"]) == 2
    # Without groups it fails in every fold, so the estimator detects the leak.
    study = Study(methods=["constant", detector], budget=None, repeats=1, verbose=0)
    study.fit(visits.drop(columns="who"), "y")
    found = next(one for one in study.record_["methods"] if one["name"] == "detector")
    assert found["status"] == "failed"


class Splits:
    """A splitter that yields the given splits."""

    def __init__(self, *parts):
        self.parts = parts

    def split(self, X, y=None, groups=None):
        return iter(self.parts)


def test_an_unusable_splitter_raises_one_line(visits):
    from sklearn.model_selection import GroupKFold, KFold

    rows = np.arange(480)
    cases = {
        "groups in both training and test set; use a splitter that does not divide": KFold(4),
        "splitter yields no split": Splits(),
        "training or test set is empty": Splits((rows, rows[:0])),
        "or that has rows in both": Splits((rows, rows[:10])),
        "must yield integer row numbers from 0 to 479": Splits((rows[:10], rows[10:20] + 470)),
        "row numbers from 0 to 479 for": Splits((rows[:10], np.array(["a"]))),
    }
    for message, splitter in cases.items():
        with pytest.raises(ValueError, match=message) as raised:
            studied(visits, groups="who", splitter=splitter)
        assert "\n" not in str(raised.value)
    with pytest.raises(ValueError, match="'groups' parameter should not be None"):
        studied(visits, splitter=GroupKFold(4))
