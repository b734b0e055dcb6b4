"""Votes of native learners (AdaBoost, AnyBoost) to the description of a model file, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bosquet._core import ModelFileError
from bosquet._fitted import remember_columns
from bosquet._parameters import check_parameters
from bosquet.io.certificates import certificate_from, certificate_state
from bosquet.io.description import classes_from, classes_state, plain_parameters

# What is kept of a round, an entry a column of the vote.
_ROUND_FIELDS = ("scale", "size", "alpha", "error", "normaliser")
_LEARNERS = ("DecisionTreeClassifier", "DecisionTreeRegressor")


def vote_parts(estimator: Any) -> tuple[Any, dict[str, Any]]:
    """The trees of a fitted vote of native learners, and its description."""
    from bosquet.boosting._votes import TreeVote

    if not isinstance(estimator._vote, TreeVote):
        raise ValueError(
            f"a vote of {type(estimator.estimator_).__name__} holds objects of other libraries, which a"
            " model file does not carry; use pickle or joblib"
        )
    if not isinstance(getattr(estimator, "loss", ""), str):
        raise ValueError(
            "a model with a loss of your own holds your code, which a model file does not carry;"
            " use pickle or joblib"
        )
    learner = estimator.estimator_
    return estimator._vote.ensemble, {
        "estimator": type(estimator).__name__,
        "parameters": plain_parameters(estimator),
        "learner": None
        if learner is None
        else {"name": type(learner).__name__, "parameters": plain_parameters(learner)},
        "encoder": estimator._encoder.to_state(),
        "classes": classes_state(estimator.classes_),
        "decision": _decision_state(estimator._decision),
        "voice": _voice_state(estimator._vote.as_vote),
        "rounds": {
            name: [_numbers(getattr(kept, name)) for kept in estimator._kept]
            for name in _ROUND_FIELDS
        },
        "training_error": _numbers([kept.training_error for kept in estimator._kept]),
        "train_score": _numbers(estimator.train_score_),
        "validation_score": _numbers(getattr(estimator, "validation_score_", [])),
        "certificate": certificate_state(estimator.certificate_),
        "seed": estimator._seed,
        "finished": estimator._is_finished,
        "stopped_because": getattr(estimator, "stopped_because_", ""),
    }


def vote_from(cls: type, ensemble: Any, metadata: dict[str, Any]) -> Any:
    """The estimator that `vote_parts` described."""
    from bosquet.boosting._votes import TreeVote
    from bosquet.data import TableEncoder

    model: Any = cls()
    model.set_params(**metadata["parameters"])
    model.set_params(estimator=_learner_from(metadata["learner"]))
    check_parameters(model, model._checks())
    encoder = TableEncoder.from_state(metadata["encoder"])
    if encoder.n_features != ensemble.n_features:
        raise ModelFileError("the trees do not fit the model's description")
    if list(encoder.categories) != list(ensemble.categories):
        raise ModelFileError("the trees' categories do not fit the model's description")
    model.estimator_ = model.estimator
    model.classes_ = classes_from(metadata["classes"])
    model.n_classes_ = model.classes_.size
    if model.n_classes_ < 2:
        raise ModelFileError("a classifier has at least two classes")
    model._decision = _decision_from(metadata["decision"], model, ensemble)
    model._vote = TreeVote(ensemble, _voice_from(metadata["voice"]))
    model._kept = _rounds_from(metadata, model._vote)
    model._seed, model._is_finished = int(metadata["seed"]), bool(metadata["finished"])
    if not 0 <= model._seed < 2**32:
        raise ModelFileError("the seed is not valid")
    remember_columns(model, encoder)
    model.certificate_ = certificate_from(metadata.get("certificate"))
    model.stopped_because_ = str(metadata.get("stopped_because", ""))
    model.train_score_ = _array(metadata["train_score"])
    if metadata["validation_score"]:
        model.validation_score_ = _array(metadata["validation_score"])
    return model


def _learner_from(state: Any) -> Any:
    if state is None:
        return None
    if state["name"] not in _LEARNERS:
        raise ModelFileError(
            f"the learner is a {state['name']!r}, which this version does not know"
        )
    import bosquet.trees
    from bosquet.trees.cart import CHECKS

    learner = getattr(bosquet.trees, state["name"])(**state["parameters"])
    check_parameters(learner, CHECKS)
    return learner


def _decision_state(decision: Any) -> dict[str, Any]:
    from bosquet.boosting._decisions import OfTwo, OfVotes

    if isinstance(decision, OfTwo):
        return {"kind": "two", "loss": decision.loss.name}
    if isinstance(decision, OfVotes):
        return {"kind": "votes", "log_odds": float(decision.log_odds)}
    return {"kind": "code", "loss": decision.loss.name, "matrix": decision.matrix.tolist()}


def _decision_from(state: dict[str, Any], model: Any, ensemble: Any) -> Any:
    from bosquet.boosting._decisions import OfCodes, OfTwo, OfVotes
    from bosquet.losses import MARGIN_LOSSES

    if state["kind"] == "votes":
        if ensemble.n_outputs != model.n_classes_ or model.n_classes_ < 3:
            raise ModelFileError("the number of classes does not fit the trees")
        return OfVotes(float(state["log_odds"]))
    if state["loss"] not in MARGIN_LOSSES:
        raise ModelFileError(f"the loss {state['loss']!r} is not one that this version knows")
    loss = MARGIN_LOSSES[state["loss"]]()
    if state["kind"] == "two":
        if ensemble.n_outputs != 1 or model.n_classes_ != 2:
            raise ModelFileError("the number of classes does not fit the trees")
        return OfTwo(loss)
    if state["kind"] != "code":
        raise ModelFileError(f"the decision {state['kind']!r} is not one that this version knows")
    matrix = np.asarray(state["matrix"])
    if (
        matrix.shape != (model.n_classes_, ensemble.n_outputs)
        or not np.isin(matrix, (-1, 0, 1)).all()
    ):
        raise ModelFileError("the code of the classes does not fit the trees")
    return OfCodes(matrix.astype(np.int8), loss)


def _voice_state(as_vote: Any) -> dict[str, Any]:
    from bosquet.boosting._votes import ClassVotes, HalfLogOdds

    if isinstance(as_vote, HalfLogOdds):
        return {"kind": "half_log_odds", "rows": as_vote.rows}
    if isinstance(as_vote, ClassVotes):
        return {"kind": "class_votes", "n_classes": as_vote.n_classes}
    return {"kind": "as_said"}


def _voice_from(state: dict[str, Any]) -> Any:
    from bosquet.boosting._votes import AS_SAID, ClassVotes, HalfLogOdds

    if state["kind"] == "half_log_odds":
        return HalfLogOdds(int(state["rows"]))
    if state["kind"] == "class_votes":
        return ClassVotes(int(state["n_classes"]))
    return AS_SAID


def _rounds_from(metadata: dict[str, Any], vote: Any) -> list[Any]:
    from bosquet.boosting._vote_stepper import Kept

    fields = {name: metadata["rounds"][name] for name in _ROUND_FIELDS}
    errors = _array(metadata["training_error"])
    if any(len(values) != vote.n_rounds for values in (errors, *fields.values())):
        raise ModelFileError("the rounds of the description do not fit the trees")
    width = {len(entry) for values in fields.values() for entry in values}
    if len(width) > 1 or not width <= {1, vote.trees_a_round}:
        raise ModelFileError("the columns of the rounds do not fit the trees")
    return [
        Kept(
            **{name: _array(values[t]) for name, values in fields.items()},
            training_error=float(errors[t]),
        )
        for t in range(vote.n_rounds)
    ]


def _numbers(values: Any) -> list[float | None]:
    """Floats as JSON holds them, which has no NaN."""
    return [None if math.isnan(value) else float(value) for value in values]


def _array(values: Any) -> np.ndarray:
    return np.array([math.nan if value is None else float(value) for value in values], dtype=float)
