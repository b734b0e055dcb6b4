"""What every model made of trees can do besides predicting: explain itself."""

from __future__ import annotations

from typing import Any

from bosquet._fitted import reads_one_fit


class Explained:
    """`model.explain(X)`, for the estimators whose trees are the core's."""

    @reads_one_fit
    def explain(self, X: Any, background: Any = None, interactions: bool = False) -> Any:
        """What each feature adds to each prediction: exact Shapley values.

        For every row, `values` of the features and `base` add up to the raw prediction: log-odds of a
        boosted classifier, shares of classes of a tree or a forest, the predicted number where there is
        no link.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows to explain, with the columns of training.
        background : table of shape (n_rows, n_features), optional
            What stands for a feature that is not known: its values in these rows (interventional; some
            hundred rows are plenty). One row is a comparison with that row. By default features are left
            out by the shares of training rows below each split (path-dependent).
        interactions : bool, default=False
            Whether to say what features do in pairs: (n_features, n_features) for each row.

        Returns
        -------
        Explanation
            See `bosquet.explain.Explanation`.
        """
        from bosquet.explain import explain

        return explain(self, X, background=background, interactions=interactions)
