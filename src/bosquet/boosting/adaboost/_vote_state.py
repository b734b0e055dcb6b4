"""Votes of native learners (AdaBoost, AnyBoost) to the description of a model file, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import Ensemble, ModelFileError
from bosquet._parameters import check_parameters
from bosquet._state.columns import check_leaf_sums, set_encoder
from bosquet._state.fields import (
    LARGEST_NUMBER,
    read_bool,
    read_choice,
    read_field,
    read_integer,
    read_list,
    read_matrix,
    read_number,
    read_numbers,
    read_object,
    read_text,
    to_json_numbers,
)
from bosquet._state.kinds import ModelKind
from bosquet._state.labels import labels_state, read_classes
from bosquet.boosting._inputs import check_learner
from bosquet.boosting.adaboost._certificate_state import certificate_from, certificate_state
from bosquet.boosting.adaboost._fitting import RoundRecord
from bosquet.boosting.adaboost._votes import (
    IDENTITY,
    CentredVotes,
    CodeDecision,
    HalfLogOdds,
    TreeVote,
    TwoClassDecision,
    VoteDecision,
)
from bosquet.boosting.adaboost._weak_learners import is_native
from bosquet.losses import MARGIN_LOSSES

# What is kept of a round, an entry a column of the vote.
_ROUND_FIELDS = ("scale", "size", "alpha", "error", "normaliser")
_LARGEST_LOG_ODDS = 1e9
_LEAST_SCALE = 1e-150


def _check(model: Any) -> None:
    check_parameters(model, model._checks)
    check_learner(model.estimator)


def check_native(vote: Any, learner: Any) -> None:
    """Raise an error unless a vote is of trees of the core."""
    if not isinstance(vote, TreeVote):
        raise ValueError(
            f"a vote of {type(learner).__name__} holds objects of other libraries, which a model file does"
            " not carry; use pickle or joblib"
        )


def check_native_learner(learner: Any) -> None:
    if not is_native(learner):
        raise ModelFileError(f"a {type(learner).__name__} is not the learner of a vote of trees")


def check_scales(scales: np.ndarray) -> None:
    """What a voter says is what it adds, divided by its scale: that has to be finite too."""
    size = np.abs(scales)
    if not ((size == 0) | ((size >= _LEAST_SCALE) & (size <= LARGEST_NUMBER))).all():
        raise ModelFileError("the scale of a voter is out of range")


def _to_state(model: Any) -> tuple[Ensemble, dict[str, Any]]:
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
            name: to_json_numbers([getattr(kept, name) for kept in model._kept])
            for name in _ROUND_FIELDS
        },
        "training_error": to_json_numbers([kept.training_error for kept in model._kept]),
        "train_score": to_json_numbers(model.train_score_),
        "validation_score": to_json_numbers(getattr(model, "validation_score_", [])),
        "certificate": certificate_state(model.certificate_),
        "seed": int(model._seed),
        "finished": bool(model._is_finished),
        "stopped_because": getattr(model, "stopped_because_", ""),
    }


def _from_state(model: Any, trees: Ensemble, state: dict[str, Any]) -> Any:
    check_leaf_sums(trees)
    check_native_learner(model.estimator_)
    set_encoder(model, state, trees)
    model.classes_ = read_classes(read_field(state, "classes"))
    model.n_classes_ = model.classes_.size
    if model.n_classes_ < 2:
        raise ModelFileError("a classifier has at least two classes")
    model._decision = _decision_from(
        read_object(state, "decision"), model.n_classes_, trees.n_outputs
    )
    model._vote = TreeVote(trees, _voice_from(read_object(state, "voice"), model.n_classes_))
    model._kept = _rounds_from(state, model._vote)
    model._seed = read_integer(state, "seed", 0, 2**32 - 1)
    model._is_finished = read_bool(state, "finished")
    model.certificate_ = certificate_from(read_field(state, "certificate"))
    model.stopped_because_ = read_text(state, "stopped_because")
    model.train_score_ = read_numbers(state, "train_score", allow_non_finite=True)
    if read_list(state, "validation_score"):
        model.validation_score_ = read_numbers(state, "validation_score", allow_non_finite=True)
    return model


def _decision_state(decision: Any) -> dict[str, Any]:
    if isinstance(decision, TwoClassDecision):
        return {"kind": "two", "loss": decision.loss.name}
    if isinstance(decision, VoteDecision):
        return {"kind": "votes", "log_odds": float(decision.log_odds)}
    return {"kind": "code", "loss": decision.loss.name, "matrix": decision.matrix.tolist()}


def _decision_from(state: dict[str, Any], n_classes: int, n_outputs: int) -> Any:
    kind = read_choice(state, "kind", ("two", "votes", "code"))
    fits = {"two": n_outputs == 1 and n_classes == 2, "votes": n_outputs == n_classes > 2}
    if not fits.get(kind, True):
        raise ModelFileError("the number of classes does not fit the trees")
    if kind == "votes":
        return VoteDecision(read_number(state, "log_odds", 0, _LARGEST_LOG_ODDS))
    loss = MARGIN_LOSSES[read_choice(state, "loss", MARGIN_LOSSES)]()
    if kind == "two":
        return TwoClassDecision(loss)
    matrix = read_matrix(state, "matrix", (n_classes, n_outputs), low=-1, high=1)
    return CodeDecision(matrix.astype(np.int8), loss)


def _voice_state(as_vote: Any) -> dict[str, Any]:
    if isinstance(as_vote, HalfLogOdds):
        return {"kind": "half_log_odds", "rows": int(as_vote.rows)}
    return {"kind": "class_votes" if isinstance(as_vote, CentredVotes) else "as_said"}


def _voice_from(state: dict[str, Any], n_classes: int) -> Any:
    kind = read_choice(state, "kind", ("half_log_odds", "class_votes", "as_said"))
    if kind == "half_log_odds":
        return HalfLogOdds(read_integer(state, "rows", 1))
    return CentredVotes(n_classes) if kind == "class_votes" else IDENTITY


def _rounds_from(state: dict[str, Any], vote: Any) -> list[Any]:
    rounds, told = vote.n_rounds, read_object(state, "rounds")
    if rounds == 0:
        raise ModelFileError("a vote has at least one round")
    first = read_list(told, "scale", rounds)[0]
    width = vote.trees_per_round if isinstance(first, list) and len(first) > 1 else 1
    fields = {
        name: read_matrix(told, name, (rounds, width), allow_non_finite=True)
        for name in _ROUND_FIELDS
    }
    check_scales(fields["scale"])
    errors = read_numbers(state, "training_error", rounds, allow_non_finite=True).tolist()
    return [
        RoundRecord(**{name: lines[t] for name, lines in fields.items()}, training_error=errors[t])
        for t in range(rounds)
    ]


KINDS = {
    name: ModelKind("bosquet.boosting", _to_state, _from_state, _check, has_learner=True)
    for name in ("AdaBoostClassifier", "AnyBoostClassifier")
}
