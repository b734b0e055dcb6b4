r"""Models of counts with an exposure: they fit rates and multiply them by the exposure of each row.

Gradient boosting takes the exposure itself. For the other models: with an exposure t, the Poisson
log-likelihood of a count y of mean :math:`t e^f` is

.. math:: y (\ln t + f) - t e^f = t \left(\frac{y}{t} f - e^f\right) + \text{const} ,

which is the log-likelihood of the rate y/t with weight t. For every model with a logarithmic link and the
Poisson loss, fitting rates with the exposures as weights is therefore the same as fitting counts with the
offset ln t.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bosquet._sklearn import BaseEstimator, RegressorMixin, clone, has_fit_parameter
from bosquet.study.methods.pipelines import fit_weighted
from bosquet.study.table.offset import OffsetColumn


class OffsetModel(RegressorMixin, BaseEstimator):
    """Regressor that fits rates and predicts counts, for tables with an exposure or offset column.

    Parameters
    ----------
    regressor : regressor with a logarithmic link and the Poisson loss, or a mean
    column : OffsetColumn
        The exposure or offset column, which the regressor does not use as a feature.

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
        """Fit the rates; `eval_set` and `callbacks` are for gradient boosting."""
        model = clone(self.regressor)
        if has_fit_parameter(model, "exposure"):
            features, y, weight, offset = self._count_targets(X, y, sample_weight)
            if eval_set is not None:
                eval_set = self._count_targets(*eval_set)
            model.set_params(callbacks=callbacks)
            model.fit(features, y, sample_weight=weight, offset=offset, eval_set=eval_set)
            model.set_params(callbacks=None)
        else:
            fit_weighted(model, *self._rate_targets(X, y, sample_weight))
        self.regressor_ = model
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted mean count of each row."""
        rate = np.asarray(self.regressor_.predict(self.column.features(X)), dtype=float).ravel()
        return self.column.exposure(X) * rate

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the predicted mean counts after each boosting round."""
        exposure = self.column.exposure(X)
        for rate in self.regressor_.staged_predict(self.column.features(X)):
            yield exposure * np.ravel(rate)

    def _count_targets(
        self, X: Any, y: Any, weight: Any = None
    ) -> tuple[Any, Any, Any, np.ndarray]:
        """Features, counts, weights and offsets: what gradient boosting takes, also as `eval_set`."""
        return self.column.features(X), y, weight, np.log(self.column.exposure(X))

    def _rate_targets(
        self, X: Any, y: Any, weight: Any = None
    ) -> tuple[Any, np.ndarray, np.ndarray]:
        """Features, rates and weights, for models that take no exposure."""
        exposure = self.column.exposure(X)
        weights = exposure if weight is None else exposure * np.asarray(weight, dtype=float)
        return self.column.features(X), np.asarray(y, dtype=float) / exposure, weights


def with_offset(regressor: Any, column: OffsetColumn | None) -> Any:
    """Return the regressor or, with an offset column, an `OffsetModel` of it."""
    return regressor if column is None else OffsetModel(regressor, column)


def rate_model(fitted: Any) -> Any:
    """Return the fitted model of rates in an `OffsetModel`; any other model unchanged."""
    return fitted.regressor_ if isinstance(fitted, OffsetModel) else fitted
