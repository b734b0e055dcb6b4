"""Super learners to files of parts and back: a part for each learner, all of them Bosquet's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bosquet._core import ModelFileError
from bosquet._parameters import check_parameters
from bosquet.io.combined_models import check_member, check_width, part_of
from bosquet.io.description import classes_from, classes_state, plain_parameters

# Names in files are looked up here.
STACKED = ("SuperLearnerClassifier", "SuperLearnerRegressor")


def stacked_parts(model: Any, write: Callable[[Any], bytes]) -> tuple[list[bytes], dict[str, Any]]:
    """The learners as files, by `write`, and the description; predictions of the folds stay behind."""
    names = getattr(model, "feature_names_in_", None)
    parameters = plain_parameters(model)
    parameters.pop("random_state", None)
    metadata = {
        "estimator": type(model).__name__,
        "parameters": parameters,
        "classes": classes_state(getattr(model, "classes_", None)),
        "n_features": int(model.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
        "names": list(model.named_estimators_),
        "weights": model.weights_.tolist(),
        "cv_loss": model.cv_table_.loss.tolist(),
        "cv_standard_error": model.cv_table_.standard_error.tolist(),
    }
    members = model.named_estimators_.items()
    return [part_of(f"the learner {name!r}", member, write) for name, member in members], metadata


def stacked_from(parts: list[bytes], metadata: dict[str, Any], read: Callable[[bytes], Any]) -> Any:
    """The model that `stacked_parts` described; learners by `read`."""
    import bosquet.experts
    from bosquet._sklearn import clone
    from bosquet.experts._stacking import CHECKS, CVTable

    name = metadata["estimator"]
    classes = classes_from(metadata["classes"]) if name.endswith("Classifier") else None
    if classes is not None and (classes.size == 0 or (classes[1:] <= classes[:-1]).any()):
        raise ModelFileError("the classes must ascend")
    n_features, names = metadata["n_features"], metadata["names"]
    members = [read(part) for part in parts]
    if type(n_features) is not int or n_features < 1 or len(names) != len(members):
        raise ModelFileError("the learners do not fit the model's description")
    for member in members:
        check_member(member, classes)
        check_width(member, n_features)
    fitted = dict(zip(names, members, strict=True))
    model: Any = getattr(bosquet.experts, name)([(n, clone(m)) for n, m in fitted.items()])
    model.set_params(**metadata["parameters"])
    check_parameters(model, CHECKS)
    model._checked_pairs()
    model.weights_ = _numbers(metadata["weights"], len(members), 1)
    if abs(model.weights_.sum() - 1) > 1e-6:
        raise ModelFileError("the weights of the learners do not add up to 1")
    loss = _numbers(metadata["cv_loss"], len(members) + 1, np.inf)
    error = _numbers(metadata["cv_standard_error"], len(members) + 1, np.inf)
    model.cv_table_ = CVTable(names, loss, error, model.weights_)
    model.named_estimators_, model.estimators_ = fitted, members
    model.n_features_in_ = n_features
    if classes is not None:
        model.classes_ = classes
    if metadata["feature_names"] is not None:
        labels = np.asarray(metadata["feature_names"], dtype=object)
        if labels.shape != (n_features,) or not all(isinstance(label, str) for label in labels):
            raise ModelFileError("the names of the features do not fit them")
        model.feature_names_in_ = labels
    return model


def _numbers(state: Any, count: int, most: float) -> np.ndarray:
    values = np.asarray(state, dtype=float)
    if values.shape != (count,) or not np.isfinite(values).all():
        raise ModelFileError("the numbers of the learners do not fit them")
    if (values < 0).any() or (values > most).any():
        raise ModelFileError("a number of the learners is out of its range")
    return values
