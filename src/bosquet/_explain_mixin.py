"""The method `explain` of all models made of trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bosquet._fitted import reads_fit_snapshot

if TYPE_CHECKING:
    from bosquet._types import TableLike
    from bosquet.explain import Explanation


class ExplainMixin:
    """Add `explain(X)` to an estimator whose trees are stored in the compiled core."""

    @reads_fit_snapshot
    def explain(
        self, X: TableLike, background: TableLike | None = None, interactions: bool = False
    ) -> Explanation:
        """Compute exact Shapley values: the contribution of each feature to each prediction.

        For every row, the `values` of the features and `base` add up to the raw prediction. This is the
        log-odds for a boosted classifier, the class proportions for a tree or a forest, and the predicted
        value for models without a link function.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows to explain, with the same columns as the training data.
        background : table of shape (n_rows, n_features), optional
            Rows whose values replace those of a feature that is left out (interventional Shapley values; a
            few hundred rows are enough). With one row, each prediction is compared with that row. By default,
            a feature is left out by weighting both branches of its splits with their proportions of training
            rows (path-dependent Shapley values).
        interactions : bool, default=False
            Whether to compute interaction values too: an (n_features, n_features) matrix for each row.

        Returns
        -------
        Explanation
            The contributions, see `bosquet.explain.Explanation`.
        """
        from bosquet.explain import explain

        return explain(self, X, background=background, interactions=interactions)
