"""A model together with the preparation of its table, so that it accepts raw tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._fitted import SaveMixin
from bosquet.tables.errors import TableError
from bosquet.tables.tidying import TableTidier
from bosquet.trust.costs import check_costs, least_costly


class ColumnsByName:
    """Replacement of a tidier for a model without one: it selects columns by name."""

    target = None

    def __init__(self, model: Any):
        names = getattr(model, "feature_names_in_", None)
        self.named = names is not None
        self.feature_names = list(
            range(getattr(model, "n_features_in_", 0)) if names is None else names
        )

    @property
    def input_columns(self) -> list[str] | None:
        """Names of the columns that `transform` reads; None for all, because their order counts."""
        return self.feature_names if self.named else None

    def transform(self, frame: Any) -> Any:
        """Return the columns that the model was fitted to, or the whole frame if it has no names."""
        if not self.named:
            return frame
        for name in self.feature_names:
            if name not in frame.columns:
                raise TableError(
                    f"the table lacks the column {name!r}, which the model was fitted to; add it"
                )
        return frame[self.feature_names]


class TableModel(SaveMixin):
    """A fitted model and the tidier of its training table.

    `bosquet fit` writes one to a file, and `bosquet.load` reads it. Its methods accept raw tables with the
    columns of the training table: data frames, Arrow tables, a dict of columns, a list of dicts, or the
    path of a file. Dates and numbers may be text, and other columns are ignored.

    Parameters
    ----------
    model : a fitted estimator
        Fitted to ``tidier.transform(frame)``.
    tidier : TableTidier or ColumnsByName
        Prepares tables for the model.
    costs : array of shape (n_classes, n_classes) or None, default=None
        Cost matrix; rows are true classes, columns predicted classes. `predict` then returns the class with
        the smallest expected cost.

    Attributes
    ----------
    classes_ : array
        Class labels of a classifier.
    target : str or None
        Name of the target column.

    Examples
    --------
    >>> import pandas as pd
    >>> from bosquet import DecisionTreeClassifier
    >>> from bosquet.tables import TableModel, tidy
    >>> table = pd.DataFrame({"size": ["1,5", "2,5", "3,5", "4,5"], "sold": ["no", "no", "yes", "yes"]})
    >>> tidied = tidy(table, "sold")
    >>> tree = DecisionTreeClassifier().fit(tidied.frame[["size"]], tidied.frame["sold"])
    >>> TableModel(tree, tidied.tidier).predict(pd.DataFrame({"size": ["1,0", "9,0"]})).tolist()
    ['no', 'yes']
    >>> TableModel(tree, tidied.tidier).predict([{"size": "1,0"}, {"size": 9}]).tolist()
    ['no', 'yes']
    """

    def __init__(self, model: Any, tidier: TableTidier | ColumnsByName, costs: Any = None):
        width = getattr(model, "n_features_in_", None)
        if width is not None and width != len(tidier.feature_names):
            raise ValueError(
                f"the model was fitted to {width} columns, but the tidier returns"
                f" {len(tidier.feature_names)}; pass the tidier of the model's training table"
            )
        self.model, self.tidier = model, tidier
        self.costs = None if costs is None else check_costs(costs, len(model.classes_))

    @property
    def target(self) -> str | None:
        """Name of the target column."""
        return self.tidier.target

    @property
    def input_columns(self) -> list[str] | None:
        """Names of the columns of a table that the model reads; None for all, because their order counts."""
        return self.tidier.input_columns

    @property
    def is_classifier(self) -> bool:
        """Whether the model is a classifier."""
        return hasattr(self.model, "classes_")

    @property
    def classes_(self) -> np.ndarray:
        """Class labels of a classifier."""
        classes: np.ndarray = self.model.classes_
        return classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"TableModel({type(self.model).__name__}, target={self.target!r})"

    def features(self, frame: Any) -> Any:
        """Return the tidied table, which is the input of the inner model."""
        return self.tidier.transform(frame)

    def predict(self, frame: Any) -> np.ndarray:
        """Predict the class or number of each row.

        Parameters
        ----------
        frame : table with the columns of the training table

        Returns
        -------
        array of shape (n_samples,)
        """
        if self.costs is not None:
            cheapest_class: np.ndarray = self.classes_[
                least_costly(self.predict_proba(frame), self.costs)
            ]
            return cheapest_class
        predictions: np.ndarray = self.model.predict(self.features(frame))
        return predictions

    def predict_proba(self, frame: Any) -> np.ndarray:
        """Predict the probability of each class.

        Parameters
        ----------
        frame : table with the columns of the training table

        Returns
        -------
        array of shape (n_samples, n_classes)
            The columns are in the order of `classes_`.
        """
        if not hasattr(self.model, "predict_proba"):
            raise AttributeError(f"{type(self.model).__name__} has no predict_proba; use predict")
        probabilities: np.ndarray = self.model.predict_proba(self.features(frame))
        return probabilities

    def explain(self, frame: Any, **options: Any) -> Any:
        """Return the Shapley values of the rows; see `bosquet.explain.Explanation`."""
        from bosquet.explain import explain

        return explain(self.model, self.features(frame), **options)
