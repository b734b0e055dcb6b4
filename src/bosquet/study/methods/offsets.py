r"""Models of counts with an exposure: the rate is fitted, and multiplied by the exposure of a row.

With an exposure t, the Poisson log-likelihood of a count y of mean :math:`t e^f` is

.. math:: y (\ln t + f) - t e^f = t \left(\frac{y}{t} f - e^f\right) + \text{const} ,

which is that of the rate y/t with weight t. A fit of rates with exposures as weights is therefore the fit
of counts with the offset ln t, for every model that has a logarithmic link and the Poisson loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bosquet._sklearn import BaseEstimator, RegressorMixin, clone
from bosquet.study.methods.pipelines import fit_weighted
from bosquet.study.table.offset import OffsetColumn


class OffsetModel(RegressorMixin, BaseEstimator):
    """A regressor of rates that predicts counts from tables with a column of exposures or offsets.

    Parameters
    ----------
    regressor : regressor with a logarithmic link and the Poisson loss, or a mean
    column : OffsetColumn
        The column, which the regressor does not see.

    Attributes
    ----------
    regressor_ : the fitted clone.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.dummy import DummyRegressor
    >>> from bosquet.study.methods.offsets import OffsetModel
    >>> from bosquet.study.table.offset import OffsetColumn
    >>> X = pd.DataFrame({"a": [0.0, 1.0], "days": [10.0, 30.0]})
    >>> model = OffsetModel(DummyRegressor(), OffsetColumn("days", "exposure")).fit(X, [2, 6])
    >>> model.predict(X).tolist()  # 8 in 40 days
    [2.0, 6.0]
    """

    def __init__(self, regressor: Any, column: OffsetColumn):
        self.regressor = regressor
        self.column = column

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        eval_set: Any = None,
        callbacks: Any = None,
    ) -> OffsetModel:
        """Fit rates, weighted by exposure; `eval_set` and `callbacks` are for gradient boosting."""
        features, rate, weight = self._rates(X, y, sample_weight)
        model = clone(self.regressor)
        if eval_set is None:
            fit_weighted(model, features, rate, weight)
        else:
            model.set_params(callbacks=callbacks)
            model.fit(features, rate, sample_weight=weight, eval_set=self._rates(*eval_set))
            model.set_params(callbacks=None)
        self.regressor_ = model
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The mean count of each row."""
        rate = np.asarray(self.regressor_.predict(self.column.features(X)), dtype=float).ravel()
        return self.column.exposure(X) * rate

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The mean counts after each round of boosting."""
        exposure = self.column.exposure(X)
        for rate in self.regressor_.staged_predict(self.column.features(X)):
            yield exposure * np.ravel(rate)

    def _rates(self, X: Any, y: Any, weight: Any = None) -> tuple[Any, np.ndarray, np.ndarray]:
        exposure = self.column.exposure(X)
        counted = exposure if weight is None else exposure * np.asarray(weight, dtype=float)
        return self.column.features(X), np.asarray(y, dtype=float) / exposure, counted


def with_offset(regressor: Any, column: OffsetColumn | None) -> Any:
    """The regressor itself, or with an offset what predicts counts by it."""
    return regressor if column is None else OffsetModel(regressor, column)


def rate_model(fitted: Any) -> Any:
    """The model of the rates inside an `OffsetModel`; any other model as it is."""
    return fitted.regressor_ if isinstance(fitted, OffsetModel) else fitted
