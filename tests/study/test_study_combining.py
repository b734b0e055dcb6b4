"""The super learner of a study combines the chosen candidates of the other methods."""

import numpy as np
import pandas as pd
import pytest
from stand_ins import linear, method

from bosquet import Study
from bosquet.study.compare.choice import Choice
from bosquet.study.methods import METHODS
from bosquet.study.methods.method import Candidate, ChosenCandidate
from bosquet.study.methods.shapes import table_shape
from bosquet.study.methods.super_learner import LEARNERS, MIN_LEARNERS
from bosquet.study.record import to_json_types

NAMES = ["linear", "polynomial", "random-forest", "super-learner"]
LEARNERS_OF_TWO = ["linear", "random-forest"]
WITHOUT_CLOCK = ["fit_seconds", "predict_microseconds"]


def rows(n=150):
    random = np.random.default_rng(5)
    a, b = random.normal(size=n), random.normal(size=n)
    return pd.DataFrame({"a": a, "b": b, "y": a + a * b + random.normal(size=n) / 2})


def study(**more):
    given = {"methods": NAMES, "budget": None, "repeats": 2, "verbose": 0, "random_state": 0}
    return Study(**{**given, **more})


@pytest.fixture(scope="module")
def done():
    return study().fit(rows(), "y")


def shape():
    table = rows()
    return table_shape(table.drop(columns="y"), table["y"].to_numpy(), "regression")


def test_the_super_learner_combines_the_methods_of_the_study(done):
    found = {m["name"]: m for m in done.record_["methods"]}
    assert found["super-learner"]["setting"]["learners"] == [
        "linear",
        "random-forest",
        "polynomial",
    ]
    weights = found["super-learner"]["details"]["weights"]
    assert set(weights) == {"linear", "random-forest", "polynomial"}
    assert sum(weights.values()) == pytest.approx(1)


def test_boosting_is_kept_and_combined_as_a_mean_of_runs_but_tried_as_one():
    boosted = METHODS["gradient-boosting"].candidates(shape())[0]
    assert boosted.make(3).n_runs == boosted.setting["n_runs"] == 3
    assert boosted.make_trial(3).n_runs == 1
    given = {
        "gradient-boosting": ChosenCandidate(boosted, 1.0),
        "linear": ChosenCandidate(given_linear(), 1.0),
    }
    (combined,) = METHODS["super-learner"].combine(shape(), given, None)
    assert dict(combined.make(3).estimators)["gradient-boosting"].n_runs == 3


def given_linear():
    return METHODS["linear"].candidates(shape())[0]


def test_the_super_learner_combines_the_given_candidates_without_out_of_bag_scores():
    one = METHODS["random-forest"].candidates(shape())[-1]
    given = {
        "random-forest": ChosenCandidate(one, 1.0),
        "linear": ChosenCandidate(given_linear(), 1.0),
    }
    combined = METHODS["super-learner"].combine(shape(), given, None)[0].make(3)
    learners = dict(combined.estimators)
    assert list(learners) == ["linear", "random-forest"]
    forest = one.make(3).set_params(oob_score=False)
    assert learners["random-forest"].get_params() == forest.get_params()


def test_the_super_learner_is_not_much_worse_than_its_learners(done):
    table = done.table_
    assert table.loc["super-learner", "rmse"] < 1.05 * table["rmse"].min()


def test_a_study_resumed_before_the_last_method_ends_with_the_same_table(tmp_path, done):
    path = tmp_path / "study.jsonl"
    study(checkpoint=path).fit(rows(), "y")
    lines = path.read_bytes().splitlines(keepends=True)
    for kept in (len(NAMES), len(NAMES) + 1, len(lines) - 1):
        path.write_bytes(b"".join(lines[:kept]))
        again = study(checkpoint=path).fit(rows(), "y")
        pd.testing.assert_frame_equal(
            again.table_.drop(columns=WITHOUT_CLOCK), done.table_.drop(columns=WITHOUT_CLOCK)
        )
        assert np.array_equal(again.predict(rows()), done.predict(rows()))


def test_without_other_methods_it_fits_its_own_learners():
    alone = study(methods=["super-learner"], repeats=1).fit(rows(), "y")
    row = next(m for m in alone.record_["methods"] if m["name"] == "super-learner")
    assert row["setting"]["learners"] == ["linear", "forest", "extra_trees", "boosting"]


def chosen(seconds):
    candidate = Candidate(1.0, "one", {}, lambda seed: None)
    return {name: ChosenCandidate(candidate, seconds) for name in [*LEARNERS, "lda"]}


def test_fewer_learners_are_combined_if_they_are_slow():
    combines = METHODS["super-learner"].combine

    def learners(seconds, given):
        return combines(shape(), chosen(seconds), given)[0].setting["learners"]

    assert learners(1.0, None) == list(LEARNERS)
    assert learners(1.0, 6.0 * 5) == list(LEARNERS[:5])
    assert learners(1.0, 0.1) == list(LEARNERS[:MIN_LEARNERS])
    cheap = chosen(1.0) | {"mlp": ChosenCandidate(chosen(0)["mlp"].candidate, 0.0)}
    assert "mlp" in combines(shape(), cheap, 6.0 * 5)[0].setting["learners"]


def test_support_vector_machines_are_left_out_if_a_fold_is_too_small_for_inner_folds():
    combines = METHODS["super-learner"].combine
    random = np.random.default_rng(0)
    for rare, there in ((5, False), (8, True)):
        y = (np.arange(200) < rare).astype(int)
        few = table_shape(pd.DataFrame({"a": random.normal(size=200)}), y, "binary")
        names = combines(few, chosen(1.0), None)[0].setting["learners"]
        assert ("svm-gaussian" in names) == there


def test_a_resumed_study_with_a_budget_combines_the_same_learners(tmp_path, monkeypatch):
    path = tmp_path / "study.jsonl"
    given = {"checkpoint": path, "budget": "60s", "repeats": 1}
    nothing = {"kind": "model", "stopped": [], "failed": [], "not_reached": [], "cut_short": []}
    taken = Choice("super-learner", "it is the one looked at here", None, nothing)
    monkeypatch.setattr("bosquet.study.study_run.choose", lambda *given: taken)
    with monkeypatch.context() as short:
        short.setattr("bosquet.study.run.time_division.MAX_FOR_COMBINING", 1e-9)
        first = study(**given).fit(rows(), "y")
    again = study(**given).fit(rows(), "y")  # with time for all of them
    assert len(first.best_.estimator.estimators) == MIN_LEARNERS < len(NAMES) - 1
    assert list(again.best_.estimator.named_estimators_) == LEARNERS_OF_TWO
    assert np.array_equal(first.predict(rows()), again.predict(rows()))


def test_an_error_while_combining_fails_only_this_method():
    def fails(shape, chosen, seconds):
        raise ValueError("nothing goes together")

    own = method("picky", None, combine=fails)
    table = study(methods=[own, linear()], repeats=1).fit(rows(), "y").table_
    assert table.loc["picky", "status"] == "failed"
    assert "nothing goes together" in table.loc["picky", "message"]
    assert table.loc["linear", "status"] == "done"


def test_a_custom_combination_gets_the_chosen_candidates_without_the_bayes_rule():
    seen = {}

    def combines(shape, chosen, seconds):
        seen.update({name: one.candidate.setting for name, one in chosen.items()})
        return [chosen["linear"].candidate]

    own = method("copy", None, combine=combines)
    found = study(methods=[own, METHODS["linear"]], repeats=1).fit(
        rows(), "y", bayes=lambda X: np.asarray(X["a"]) * (1 + np.asarray(X["b"]))
    )
    settings = {m["name"]: m["setting"] for m in found.record_["methods"]}
    assert to_json_types(seen) == {name: settings[name] for name in ("constant", "linear")}
    assert seen["linear"] != METHODS["linear"].candidates(shape())[0].setting
    table = found.table_
    assert table.loc["copy", "rmse"] == pytest.approx(table.loc["linear", "rmse"])
