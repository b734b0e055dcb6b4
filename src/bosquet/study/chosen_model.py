"""The chosen model of a study, which predicts from raw tables."""

from __future__ import annotations

import os
from typing import Any, Literal

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor

from bosquet._sklearn import BaseEstimator, available_if
from bosquet._state.kinds import kind_of
from bosquet.explain import explain
from bosquet.study.table.offset import OffsetColumn
from bosquet.study.tuning.thresholds import Decision
from bosquet.tables import TableModel
from bosquet.tables.frames import as_frame


def _has_probabilities(owner: ChosenModel) -> bool:
    return owner.decision is not None and hasattr(owner.estimator, "predict_proba")


_PYTHON_ADVICE = {
    "library": "pass methods=['gradient-boosting', 'random-forest', 'cart'], or pickle `best_`",
    "constant": "fit one estimator instead, or pickle `best_`",
    "offset": "pickle `best_` instead",
}


class NoModelFileError(ValueError):
    """Raised if a model file cannot hold the chosen model.

    Attributes
    ----------
    reason : str
        Why, without advice.
    cause : {"library", "constant", "offset"}
        A model of another library, the constant, or an exposure or offset.
    """

    def __init__(self, reason: str, cause: Literal["library", "constant", "offset"]):
        super().__init__(f"{reason}; {_PYTHON_ADVICE[cause]}")
        self.reason, self.cause = reason, cause


class ChosenModel(BaseEstimator):
    """The final model of a study: preparation of the table, fitted estimator and decision rule.

    Parameters
    ----------
    estimator : estimator
        Fitted to the tidied table.
    tidier : transformer
        Prepares new tables like the table of the study.
    decision : Decision or None, default=None
        Turns probabilities into labels; None for regression.
    title : str, default=""
        Title of the method.
    offset : OffsetColumn or None, default=None
        The offset or exposure column of new tables.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The sorted labels; only for classification.
    """

    def __init__(
        self,
        estimator: Any,
        tidier: Any,
        decision: Decision | None = None,
        title: str = "",
        offset: OffsetColumn | None = None,
    ):
        self.estimator = estimator
        self.tidier = tidier
        self.decision = decision
        self.title = title
        self.offset = offset

    @property
    def classes_(self) -> np.ndarray:
        """The sorted labels; only for classification."""
        if self.decision is None:
            raise AttributeError(
                "classes_ exists for classification only; this is a regression model"
            )
        return self.decision.classes

    def predict(self, X: Any) -> np.ndarray:
        """Predict numbers, or labels by the decision rule of the study.

        Parameters
        ----------
        X : table
            Rows with the feature columns of the study. Other columns, such as the target, are ignored.

        Returns
        -------
        array of shape (n_rows,)
        """
        table = self.features(X)
        if self.decision is None or not hasattr(self.estimator, "predict_proba"):
            return np.asarray(self.estimator.predict(table))
        if self.decision.threshold is None and self.decision.costs is None:
            return np.asarray(self.estimator.predict(table))
        return self.decision(np.asarray(self.estimator.predict_proba(table)))

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict class probabilities.

        Parameters
        ----------
        X : table
            Rows with the feature columns of the study.

        Returns
        -------
        array of shape (n_rows, n_classes), in the order of `classes_`
        """
        return np.asarray(self.estimator.predict_proba(self.features(X)))

    def explain(self, X: Any, **options: Any) -> Any:
        """Return Shapley values, for tree models of Bosquet; see `bosquet.explain.explain`."""
        return explain(self.estimator, self.features(X), **options)

    @property
    def model(self) -> Any:
        """The fitted estimator, under its name in `TableModel`."""
        return self.estimator

    @property
    def target(self) -> str | None:
        """The name of the target column."""
        target: str | None = self.tidier.target
        return target

    @property
    def input_columns(self) -> list[str]:
        """Names of the columns of a table that the model reads."""
        offset = [] if self.offset is None else [self.offset.name]
        return [*self.tidier.input_columns, *offset]

    @property
    def is_classifier(self) -> bool:
        """Whether the model predicts classes."""
        return self.decision is not None

    def features(self, X: Any) -> Any:
        """Return the tidied table, the input of the fitted estimator."""
        if self.offset is None:
            return self.tidier.transform(X)
        frame = as_frame(X)
        values = self.offset.read(frame)
        return self.tidier.transform(frame).assign(**{self.offset.name: values})

    def save(self, path: str | os.PathLike[str], key: bytes | None = None) -> None:
        """Save the model, the preparation of the table and the decision rule to a file for `bosquet.load`.

        A model file cannot hold a scikit-learn model, a super learner with a scikit-learn member, the
        constant, or a model with an exposure or offset. For these, a ValueError is raised. With a `key` the
        file is signed.
        """
        self._check_model_file()
        costs = None if self.decision is None else self.decision.as_costs()
        TableModel(self.estimator, self.tidier, costs).save(path, key)

    def _check_model_file(self) -> None:
        """Raise NoModelFileError if a model file cannot hold the model."""
        title = self.title or type(self.estimator).__name__
        holds = "and a model file holds Bosquet's own models only"
        if self.offset is not None:
            raise NoModelFileError(
                f"a model file cannot hold a model with an {self.offset.kind}", "offset"
            )
        if isinstance(self.estimator, DummyClassifier | DummyRegressor):
            raise NoModelFileError(
                "the study chose the constant, which a model file cannot hold", "constant"
            )
        if kind_of(self.estimator) is None:
            library = _library_of(self.estimator)
            raise NoModelFileError(f"{title} is a model of {library}, {holds}", "library")
        members = getattr(self.estimator, "named_estimators_", {})
        names = [name for name, member in members.items() if kind_of(member) is None]
        if names:
            library = _library_of(members[names[0]])
            raise NoModelFileError(
                f"{title} has members of {library} ({', '.join(names)}), {holds}", "library"
            )

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "regressor" if self.decision is None else "classifier"
        return tags

    def __repr__(self) -> str:
        return f"ChosenModel({self.title or type(self.estimator).__name__})"


def _library_of(estimator: Any) -> str:
    """Return the name of the library of an estimator that a model file cannot hold."""
    package = type(estimator).__module__.partition(".")[0]
    # The pipelines of a study's methods are subclasses of scikit-learn's.
    return "scikit-learn" if package in ("bosquet", "sklearn") else package
