"""The chosen model: predicts from tables as they come."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from bosquet._sklearn import BaseEstimator, available_if
from bosquet.study.table.offset import OffsetColumn
from bosquet.study.tuning.thresholds import Decision
from bosquet.tables.frames import as_frame


def _of_classes(owner: ChosenModel) -> bool:
    return owner.decision is not None and hasattr(owner.estimator, "predict_proba")


class ChosenModel(BaseEstimator):
    """What a study ends with: the tidying of the table, the fitted model, and how it decides.

    Parameters
    ----------
    estimator : fitted model, of tidy tables
    tidier : does to new rows what was done to the study's
    decision : Decision or None
        From probabilities to labels; None for numbers.
    title : str
        What the method is called.
    offset : OffsetColumn, optional
        A column of new tables that is no feature: the model predicts counts by it.

    Attributes
    ----------
    classes_ : the labels, of classes
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
        """The labels, sorted; numbers have none."""
        if self.decision is None:
            raise AttributeError("a model of numbers has no classes_")
        return self.decision.classes

    def predict(self, X: Any) -> np.ndarray:
        """Numbers, or labels by the study's decision rule.

        Parameters
        ----------
        X : table with the columns of the study's; others, the target among them, are not looked at
        """
        table = self.features(X)
        if self.decision is None or not hasattr(self.estimator, "predict_proba"):
            return np.asarray(self.estimator.predict(table))
        if self.decision.threshold is None and self.decision.costs is None:
            return np.asarray(self.estimator.predict(table))
        return self.decision(np.asarray(self.estimator.predict_proba(table)))

    @available_if(_of_classes)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, in the order of `classes_`."""
        return np.asarray(self.estimator.predict_proba(self.features(X)))

    def explain(self, X: Any, **options: Any) -> Any:
        """Shapley values, for models made of Bosquet's trees; see `bosquet.explain.explain`."""
        from bosquet.explain import explain

        return explain(self.estimator, self.features(X), **options)

    @property
    def model(self) -> Any:
        """The fitted model of tidy tables, by the name that it has in a `TableModel`."""
        return self.estimator

    @property
    def target(self) -> str | None:
        """The name of the column that is predicted."""
        target: str | None = self.tidier.target
        return target

    @property
    def is_classifier(self) -> bool:
        """Whether it predicts classes."""
        return self.decision is not None

    def features(self, X: Any) -> Any:
        """The tidied table that the fitted model takes."""
        if self.offset is None:
            return self.tidier.transform(X)
        frame = as_frame(X)
        values = self.offset.read(frame)
        return self.tidier.transform(frame).assign(**{self.offset.name: values})

    def save(self, path: str | os.PathLike[str], key: bytes | None = None) -> None:
        """Write the model, with the tidying and the decision rule, to a file that `bosquet.load` reads.

        Without pickle, and therefore for Bosquet's own models alone; a ValueError says so of others. With a
        `key` the file is signed.
        """
        from bosquet.tables import TableModel

        if self.offset is not None:
            raise ValueError(
                f"a model file does not hold a model with an {self.offset.kind}; pickle best_ yourself"
            )
        if not type(self.estimator).__module__.startswith("bosquet."):
            raise ValueError(
                f"{self.title or type(self.estimator).__name__} is a model of another library, which a file"
                " without pickle cannot hold; study with methods of Bosquet's own, or pickle best_ yourself"
            )
        costs = None if self.decision is None else self.decision.as_costs()
        TableModel(self.estimator, self.tidier, costs).save(path, key)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "regressor" if self.decision is None else "classifier"
        return tags

    def __repr__(self) -> str:
        return f"ChosenModel({self.title or type(self.estimator).__name__})"
