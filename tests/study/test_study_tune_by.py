"""The option tune_by."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from stand_ins import constant, linear, tree

from bosquet import Study
from bosquet.cli.commands.study import SCHEMES as SCHEMES_OF_THE_COMMAND
from bosquet.study.run.clock import StudyClock
from bosquet.study.run.trial import TrialPlan, run_trial
from bosquet.study.study_run import StudyRun
from bosquet.study.table.reading import read_study_table
from bosquet.study.table.splits import split_rows
from bosquet.study.tuning.time_limits import TimeLimits
from bosquet.study.tuning.validation import SCHEMES


def slopes():
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 4))
    frame = pd.DataFrame(X, columns=list("abcd"))
    return frame.assign(y=X @ [2.0, 1.0, 0.0, 0.0] + random.normal(size=120))


def a_study(**more):
    methods = [constant(), replace(linear(), likelihood=True), tree()]
    settings = {"budget": None, "repeats": 1, "verbose": 0, "methods": methods}
    return Study(**{**settings, **more})


def a_run(**more):
    """Return the run of a study before it starts."""
    options = a_study(**more)._make_options({})
    return StudyRun(read_study_table(slopes(), "y", "auto"), options, StudyClock(options.budget))


def schemes_in(seconds=None, **more):
    """Return the tuning scheme of each method with several candidates on the first split."""
    run = a_run(**more)
    split = split_rows(run.context.y, 0, 0, stratify=False)
    outcomes = [
        run_trial(run.context, split, TrialPlan(one, TimeLimits(seconds)))[0] for one in run.methods
    ]
    return {outcome.method: outcome.curve["by"] for outcome in outcomes if outcome.curve}


@pytest.mark.parametrize("seconds", [None, 5.0])
@pytest.mark.parametrize(
    ("by", "scheme"),
    [("validation", "validation rows"), ("bootstrap", "bootstrap (.632)")],
)
def test_one_scheme_applies_to_all_methods(by, scheme, seconds):
    assert schemes_in(seconds, tune_by=by) == {"linear": scheme, "stub-tree": scheme}


def test_an_unsupported_scheme_leaves_the_default_and_a_note_reports_it():
    study = a_study(tune_by="bic").fit(slopes(), "y")
    found = {row["name"]: row["curve"]["by"] for row in study.record_["methods"] if row["curve"]}
    assert found == {"linear": "BIC", "stub-tree": "5-fold cross-validation"}
    [note] = [note for note in study.record_["notes"] if "default validation scheme" in note]
    assert note.endswith("requested one: Stub-tree.")


def test_a_scheme_of_one_method_leaves_the_others_unchanged():
    assert schemes_in(tune_by={"linear": "aic"}) == {
        "linear": "AIC",
        "stub-tree": "5-fold cross-validation",
    }


@pytest.mark.parametrize(
    ("tune_by", "message"),
    [
        ("guess", "tune_by='guess' is not valid"),
        ({"linear": "guess"}, r"tune_by\['linear'\]='guess' is not valid"),
        (
            {"linaer": "cv"},
            "tune_by has the key 'linaer', which is not a method of this study; .*'linear'",
        ),
    ],
)
def test_unknown_schemes_and_methods_are_named(tune_by, message):
    with pytest.raises(ValueError, match=message):
        a_run(tune_by=tune_by)


def test_a_checkpoint_stores_the_schemes():
    headings = [
        a_run(tune_by=by, checkpoint="journal")._checkpoint_heading() for by in (None, "aic", "bic")
    ]
    assert headings[0] != headings[1] != headings[2]


def test_the_command_accepts_every_scheme():
    assert set(SCHEMES_OF_THE_COMMAND) == set(SCHEMES)
