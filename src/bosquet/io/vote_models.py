"""Votes of native learners (AdaBoost, AnyBoost) to the description of a model file, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import Ensemble, ModelFileError
from bosquet._parameters import check_parameters
from bosquet.io.certificates import certificate_from, certificate_state
from bosquet.io.columns import check_sums, put_columns
from bosquet.io.fields import (
    LARGEST_NUMBER,
    choice,
    field,
    flag,
    gapless,
    inner,
    listed,
    number,
    numbers,
    table,
    text,
    whole,
)
from bosquet.io.kinds import Kind
from bosquet.io.labels import classes_from, labels_state

# What is kept of a round, an entry a column of the vote.
_ROUND_FIELDS = ("scale", "size", "alpha", "error", "normaliser")
_LARGEST_LOG_ODDS = 1e9
_LEAST_SCALE = 1e-150


def _check(model: Any) -> None:
    from bosquet.boosting._boosted_vote import check_learner

    check_parameters(model, model._checks())
    check_learner(model.estimator)


def check_native(vote: Any, learner: Any) -> None:
    """Raise an error unless a vote is of trees of the core."""
    from bosquet.boosting._votes import TreeVote

    if not isinstance(vote, TreeVote):
        raise ValueError(
            f"a vote of {type(learner).__name__} holds objects of other libraries, which a model file does"
            " not carry; use pickle or joblib"
        )


def check_native_learner(learner: Any) -> None:
    from bosquet.boosting._weak import is_native

    if not is_native(learner):
        raise ModelFileError(f"a {type(learner).__name__} is not the learner of a vote of trees")


def check_scales(scales: np.ndarray) -> None:
    """What a voter says is what it adds, divided by its scale: that has to be finite too."""
    size = np.abs(scales)
    if not ((size == 0) | ((size >= _LEAST_SCALE) & (size <= LARGEST_NUMBER))).all():
        raise ModelFileError("the scale of a voter is out of range")


def _describe(model: Any) -> tuple[Ensemble, dict[str, Any]]:
    check_native(model._vote, model.estimator_)
    if not isinstance(getattr(model, "loss", ""), str):
        raise ValueError(
            "a model with a loss of your own holds your code, which a model file does not carry;"
            " use pickle or joblib"
        )
    return model._vote.ensemble, {
        "encoder": model._encoder.to_state(),
        "classes": labels_state(model.classes_),
        "decision": _decision_state(model._decision),
        "voice": _voice_state(model._vote.as_vote),
        "rounds": {
            name: gapless([getattr(kept, name) for kept in model._kept]) for name in _ROUND_FIELDS
        },
        "training_error": gapless([kept.training_error for kept in model._kept]),
        "train_score": gapless(model.train_score_),
        "validation_score": gapless(getattr(model, "validation_score_", [])),
        "certificate": certificate_state(model.certificate_),
        "seed": int(model._seed),
        "finished": bool(model._is_finished),
        "stopped_because": getattr(model, "stopped_because_", ""),
    }


def _build(model: Any, trees: Ensemble, state: dict[str, Any]) -> Any:
    from bosquet.boosting._votes import TreeVote

    check_sums(trees)
    check_native_learner(model.estimator_)
    put_columns(model, state, trees)
    model.classes_ = classes_from(field(state, "classes"))
    model.n_classes_ = model.classes_.size
    if model.n_classes_ < 2:
        raise ModelFileError("a classifier has at least two classes")
    model._decision = _decision_from(inner(state, "decision"), model.n_classes_, trees.n_outputs)
    model._vote = TreeVote(trees, _voice_from(inner(state, "voice"), model.n_classes_))
    model._kept = _rounds_from(state, model._vote)
    model._seed = whole(state, "seed", 0, 2**32 - 1)
    model._is_finished = flag(state, "finished")
    model.certificate_ = certificate_from(field(state, "certificate"))
    model.stopped_because_ = text(state, "stopped_because")
    model.train_score_ = numbers(state, "train_score", gaps=True)
    if listed(state, "validation_score"):
        model.validation_score_ = numbers(state, "validation_score", gaps=True)
    return model


def _decision_state(decision: Any) -> dict[str, Any]:
    from bosquet.boosting._decisions import OfTwo, OfVotes

    if isinstance(decision, OfTwo):
        return {"kind": "two", "loss": decision.loss.name}
    if isinstance(decision, OfVotes):
        return {"kind": "votes", "log_odds": float(decision.log_odds)}
    return {"kind": "code", "loss": decision.loss.name, "matrix": decision.matrix.tolist()}


def _decision_from(state: dict[str, Any], n_classes: int, n_outputs: int) -> Any:
    from bosquet.boosting._decisions import OfCodes, OfTwo, OfVotes
    from bosquet.losses import MARGIN_LOSSES

    kind = choice(state, "kind", ("two", "votes", "code"))
    fits = {"two": n_outputs == 1 and n_classes == 2, "votes": n_outputs == n_classes > 2}
    if not fits.get(kind, True):
        raise ModelFileError("the number of classes does not fit the trees")
    if kind == "votes":
        return OfVotes(number(state, "log_odds", 0, _LARGEST_LOG_ODDS))
    loss = MARGIN_LOSSES[choice(state, "loss", MARGIN_LOSSES)]()
    if kind == "two":
        return OfTwo(loss)
    matrix = table(state, "matrix", (n_classes, n_outputs), low=-1, high=1)
    return OfCodes(matrix.astype(np.int8), loss)


def _voice_state(as_vote: Any) -> dict[str, Any]:
    from bosquet.boosting._votes import ClassVotes, HalfLogOdds

    if isinstance(as_vote, HalfLogOdds):
        return {"kind": "half_log_odds", "rows": int(as_vote.rows)}
    return {"kind": "class_votes" if isinstance(as_vote, ClassVotes) else "as_said"}


def _voice_from(state: dict[str, Any], n_classes: int) -> Any:
    from bosquet.boosting._votes import AS_SAID, ClassVotes, HalfLogOdds

    kind = choice(state, "kind", ("half_log_odds", "class_votes", "as_said"))
    if kind == "half_log_odds":
        return HalfLogOdds(whole(state, "rows", 1))
    return ClassVotes(n_classes) if kind == "class_votes" else AS_SAID


def _rounds_from(state: dict[str, Any], vote: Any) -> list[Any]:
    from bosquet.boosting._vote_stepper import Kept

    rounds, told = vote.n_rounds, inner(state, "rounds")
    if rounds == 0:
        raise ModelFileError("a vote has at least one round")
    first = listed(told, "scale", rounds)[0]
    width = vote.trees_a_round if isinstance(first, list) and len(first) > 1 else 1
    fields = {name: table(told, name, (rounds, width), gaps=True) for name in _ROUND_FIELDS}
    check_scales(fields["scale"])
    errors = numbers(state, "training_error", rounds, gaps=True).tolist()
    return [
        Kept(**{name: lines[t] for name, lines in fields.items()}, training_error=errors[t])
        for t in range(rounds)
    ]


KINDS = {
    name: Kind("bosquet.boosting", _describe, _build, _check, has_learner=True)
    for name in ("AdaBoostClassifier", "AnyBoostClassifier")
}
