"""A model together with the tidying of its table: it takes files' rows as they come."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._fitted import Saved
from bosquet.tables.errors import TableError
from bosquet.tables.tidying import TableTidier
from bosquet.trust.costs import check_costs, least_costly


class ColumnsByName:
    """In place of a tidier, for a model that was fitted to a table as it is: columns are taken by name."""

    target = None

    def __init__(self, model: Any):
        names = getattr(model, "feature_names_in_", None)
        self.named = names is not None
        self.feature_names = list(
            range(getattr(model, "n_features_in_", 0)) if names is None else names
        )

    def transform(self, frame: Any) -> Any:
        """The columns that the model was fitted to, or the whole frame if it knows no names."""
        if not self.named:
            return frame
        for name in self.feature_names:
            if name not in frame.columns:
                raise TableError(
                    f"the table lacks the column {name!r} that the model was fitted to"
                )
        return frame[self.feature_names]


class TableModel(Saved):
    """A fitted model and the tidier of the table that it was fitted to.

    `bosquet fit` writes one to a file; `bosquet.load` reads it back. Its tables need not be tidy: any frame
    with the columns of the one learned from will do, dates, numbers as text, other columns and all; so will
    an Arrow table, a dict of columns, a list of dicts, or the path of a file.

    Parameters
    ----------
    model : a fitted estimator
        Fitted to ``tidier.transform(frame)``.
    tidier : TableTidier or ColumnsByName
    costs : array of shape (n_classes, n_classes), optional
        What it costs to take the class of the line for that of the column; `predict` then names the class of
        least expected cost.

    Attributes
    ----------
    classes_ : array of the labels, of a classifier
    target : str or None

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
                f"the model was fitted to {width} columns, but the tidier makes {len(tidier.feature_names)}"
            )
        self.model, self.tidier = model, tidier
        self.costs = None if costs is None else check_costs(costs, len(model.classes_))

    @property
    def target(self) -> str | None:
        return self.tidier.target

    @property
    def is_classifier(self) -> bool:
        return hasattr(self.model, "classes_")

    @property
    def classes_(self) -> np.ndarray:
        classes: np.ndarray = self.model.classes_
        return classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"TableModel({type(self.model).__name__}, target={self.target!r})"

    def features(self, frame: Any) -> Any:
        """The tidied table that the model itself takes."""
        return self.tidier.transform(frame)

    def predict(self, frame: Any) -> np.ndarray:
        """A class or a number for each row."""
        if self.costs is not None:
            least: np.ndarray = self.classes_[least_costly(self.predict_proba(frame), self.costs)]
            return least
        answers: np.ndarray = self.model.predict(self.features(frame))
        return answers

    def predict_proba(self, frame: Any) -> np.ndarray:
        """Probabilities of the classes, in the order of `classes_`."""
        if not hasattr(self.model, "predict_proba"):
            raise AttributeError(f"a {type(self.model).__name__} gives no probabilities")
        answers: np.ndarray = self.model.predict_proba(self.features(frame))
        return answers

    def explain(self, frame: Any, **options: Any) -> Any:
        """Shapley values of the rows; see `bosquet.explain.Explanation`."""
        from bosquet.explain import explain

        return explain(self.model, self.features(frame), **options)
