"""AdaBoost and AnyBoost models as metadata of a model file, and as trees of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._core import Ensemble, ModelFileError
from bosquet._parameters import check_estimator, check_parameters
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
from bosquet._state.tree_sums import TreeSum
from bosquet._suggestions import with_article
from bosquet.boosting.adaboost._certificate_state import certificate_from, certificate_state
from bosquet.boosting.adaboost._learner_factory import is_native
from bosquet.boosting.adaboost.fitting import RoundRecord
from bosquet.boosting.adaboost.votes import (
    IDENTITY,
    CentredVotes,
    CodeDecoder,
    HalfLogOdds,
    TreeVote,
    TwoClassDecoder,
    VoteDecoder,
)
from bosquet.losses import MARGIN_LOSSES

if TYPE_CHECKING:
    from bosquet._types import Estimator, State
    from bosquet.boosting.adaboost._base import VoteClassifier


# The fields of RoundRecord that a file stores, each with one entry per column of the vote.
_ROUND_FIELDS = ("scale", "size", "alpha", "error", "normaliser")
_LARGEST_LOG_ODDS = 1e9
_MIN_SCALE = 1e-150


def _check(model: VoteClassifier) -> None:
    check_parameters(model, model._checks)
    check_estimator(model.estimator, none=True)


def check_native(model: Any) -> None:
    """Raise a ValueError if the learners of a model are not stumps or trees of the core."""
    if not isinstance(model._vote, TreeVote):
        raise ValueError(
            f"{type(model).__name__}(estimator={model.estimator_!r}) cannot be saved to a model file, which"
            " stores Bosquet's own learners only (stumps, and trees without pruning or class weights); use"
            " pickle or joblib"
        )


def check_native_learner(learner: Estimator) -> None:
    """Raise ModelFileError if the core does not fit this learner."""
    if not is_native(learner):
        raise ModelFileError(
            f"invalid model file: 'learner' is {with_article(type(learner).__name__)} that the core does not"
            " fit; it must be a stump, or a tree without pruning or class weights"
        )


def check_scales(scales: np.ndarray, field: str) -> None:
    """Raise ModelFileError if the scale of a learner is too small or too large.

    The outputs of a learner are the values of its leaves divided by its scale, and must be finite.
    """
    size = np.abs(scales)
    if not ((size == 0) | ((size >= _MIN_SCALE) & (size <= LARGEST_NUMBER))).all():
        raise ModelFileError(
            f"invalid model file: {field!r} must contain numbers that are 0 or of absolute value in"
            f" [{_MIN_SCALE:g}, {LARGEST_NUMBER:g}]"
        )


def _to_state(model: Any) -> tuple[Ensemble, State]:
    check_native(model)
    if not isinstance(getattr(model, "loss", ""), str):
        raise ValueError("a custom loss cannot be stored in a model file; use pickle or joblib")
    return model._vote.ensemble, {
        "encoder": model._encoder.to_state(),
        "classes": labels_state(model.classes_),
        "decision": _decoder_state(model._decoder),
        "as_vote": _as_vote_state(model._vote.as_vote),
        "rounds": {
            name: to_json_numbers([getattr(record, name) for record in model._round_records])
            for name in _ROUND_FIELDS
        },
        "training_error": to_json_numbers(
            [record.training_error for record in model._round_records]
        ),
        "train_score": to_json_numbers(model.train_score_),
        "validation_score": to_json_numbers(getattr(model, "validation_score_", [])),
        "certificate": certificate_state(model.certificate_),
        "seed": int(model._seed),
        "finished": bool(model._is_finished),
        "stopped_because": getattr(model, "stopped_because_", ""),
    }


def _from_state(model: Any, trees: Ensemble, state: State) -> Any:
    check_leaf_sums(trees)
    check_native_learner(model.estimator_)
    set_encoder(model, state, trees)
    model.classes_ = read_classes(read_field(state, "classes"))
    model.n_classes_ = model.classes_.size
    if model.n_classes_ < 2:
        raise ModelFileError(
            "invalid model file: 'classes' has 1 class; a classifier has at least two"
        )
    model._decoder = _decoder_from(
        read_object(state, "decision"), model.n_classes_, trees.n_outputs
    )
    model._vote = TreeVote(trees, _as_vote_from(read_object(state, "as_vote"), model.n_classes_))
    model._round_records = _rounds_from(state, model._vote)
    model._seed = read_integer(state, "seed", 0, 2**32 - 1)
    model._is_finished = read_bool(state, "finished")
    model.certificate_ = certificate_from(read_field(state, "certificate"))
    model.stopped_because_ = read_text(state, "stopped_because")
    model.train_score_ = read_numbers(state, "train_score", allow_non_finite=True)
    if read_list(state, "validation_score"):
        model.validation_score_ = read_numbers(state, "validation_score", allow_non_finite=True)
    return model


def _decoder_state(decoder: Any) -> State:
    if isinstance(decoder, TwoClassDecoder):
        return {"kind": "two", "loss": decoder.loss.name}
    if isinstance(decoder, VoteDecoder):
        return {"kind": "votes", "log_odds": float(decoder.log_odds_factor)}
    return {"kind": "code", "loss": decoder.loss.name, "matrix": decoder.matrix.tolist()}


def _decoder_from(state: State, n_classes: int, n_outputs: int) -> Any:
    kind = read_choice(state, "kind", ("two", "votes", "code"))
    matches = {"two": n_outputs == 1 and n_classes == 2, "votes": n_outputs == n_classes > 2}
    if not matches.get(kind, True):
        raise ModelFileError(
            f"invalid model file: 'classes' has {n_classes} classes and the trees have {n_outputs} output(s),"
            f" which does not match the kind {kind!r} of 'decision'"
        )
    if kind == "votes":
        return VoteDecoder(read_number(state, "log_odds", 0, _LARGEST_LOG_ODDS))
    loss = MARGIN_LOSSES[read_choice(state, "loss", MARGIN_LOSSES)]()
    if kind == "two":
        return TwoClassDecoder(loss)
    matrix = read_matrix(state, "matrix", (n_classes, n_outputs), low=-1, high=1)
    return CodeDecoder(matrix.astype(np.int8), loss)


def _as_vote_state(as_vote: Any) -> State:
    if isinstance(as_vote, HalfLogOdds):
        return {"kind": "half_log_odds", "rows": int(as_vote.n_rows)}
    return {"kind": "centred_votes" if isinstance(as_vote, CentredVotes) else "identity"}


def _as_vote_from(state: dict[str, Any], n_classes: int) -> Any:
    kind = read_choice(state, "kind", ("half_log_odds", "centred_votes", "identity"))
    if kind == "half_log_odds":
        return HalfLogOdds(read_integer(state, "rows", 1))
    return CentredVotes(n_classes) if kind == "centred_votes" else IDENTITY


def _rounds_from(state: State, vote: Any) -> list[Any]:
    n_rounds, rounds_state = vote.n_rounds, read_object(state, "rounds")
    if n_rounds == 0:
        raise ModelFileError(
            "invalid model file: the file has no complete round of trees; it must have at least one"
        )
    first = read_list(rounds_state, "scale", n_rounds)[0]
    width = vote.trees_per_round if isinstance(first, list) and len(first) > 1 else 1
    fields = {
        name: read_matrix(rounds_state, name, (n_rounds, width), allow_non_finite=True)
        for name in _ROUND_FIELDS
    }
    check_scales(fields["scale"], "scale")
    errors = read_numbers(state, "training_error", n_rounds, allow_non_finite=True).tolist()
    return [
        RoundRecord(
            **{name: values[t] for name, values in fields.items()}, training_error=errors[t]
        )
        for t in range(n_rounds)
    ]


def _trees(model: Any) -> TreeSum | None:
    vote, decoder = model._vote, model._decoder
    if not isinstance(vote, TreeVote):
        return None

    def probabilities(raw: np.ndarray) -> np.ndarray:
        return decoder.probabilities(decoder.scores(raw))

    return TreeSum(ensemble=vote.ensemble, response=probabilities, linear=False)


KINDS = {
    name: ModelKind(
        "bosquet.boosting", _to_state, _from_state, _check, trees=_trees, has_learner=True
    )
    for name in ("AdaBoostClassifier", "AnyBoostClassifier")
}
