"""The optimism of the best cross-validated score among many hyper-parameter settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._parameters import check_value, integer
from bosquet._sklearn import clone, is_classifier
from bosquet.bagging import vote_over_grid
from bosquet.theory._tables import result_text, table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import Estimator, RandomState, TableLike


@dataclass(frozen=True, repr=False)
class SelectionOptimism:
    """Cross-validated score of the best setting, and its unbiased estimate by nested cross-validation.

    Attributes
    ----------
    settings : list of dict
        All hyper-parameter settings.
    scores : array of shape (n_settings,)
        Cross-validated score of each setting.
    best : dict
        The setting with the largest score.
    promised : float
        Score of the best setting. As the maximum of all scores it is too optimistic.
    kept : float
        Score of nested cross-validation: the setting is chosen in each outer training set, and evaluated on
        the outer test fold, which was not used for the choice.
    vote : float
        Score of the vote of all settings in the same outer folds; it involves no choice.
    """

    settings: list[dict[str, object]]
    scores: np.ndarray
    best: dict[str, object]
    promised: float
    kept: float
    vote: float

    formula = "E max_s score_s ≥ max_s E score_s"

    @property
    def optimism(self) -> float:
        """promised - kept."""
        return self.promised - self.kept

    def __repr__(self) -> str:
        rows = [
            ("settings", len(self.settings)),
            ("mean score of a setting", float(self.scores.mean())),
            ("score of the best setting", self.promised),
            ("nested cross-validation", self.kept),
            ("optimism", self.optimism),
            ("vote of all settings", self.vote),
        ]
        chosen = ", ".join(f"{key}={value!r}" for key, value in self.best.items())
        return result_text(f"Choosing {chosen}", self.formula, table(rows))


def selection_optimism(
    estimator: Estimator,
    param_grid: Mapping[str, Sequence[object]] | Sequence[Mapping[str, Sequence[object]]],
    X: TableLike,
    y: ArrayLike,
    *,
    cv: int = 5,
    outer: int = 5,
    scoring: str | Callable[..., float] | None = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> SelectionOptimism:
    r"""Measure how optimistic the score of the best of many hyper-parameter settings is.

    The cross-validated score of a single setting is (almost) unbiased. The largest of several scores is not:

    .. math:: E \max_s \widehat{score}_s \ge \max_s E\, \widehat{score}_s.

    Among equally good settings, the largest score is partly due to chance, since the rows that are
    used for the score were also used for the choice. Nested cross-validation, in which the setting is
    chosen in each outer training set, gives an unbiased score of the choice. A vote of all settings, which
    involves no choice, is compared with it.

    Parameters
    ----------
    estimator : classifier or regressor
    param_grid : dict of lists, or list of such dicts
        Hyper-parameter values, as in scikit-learn's `GridSearchCV`.
    X : table of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    cv, outer : int, default=5
        Number of inner folds, which choose a setting, and of outer folds, which evaluate the choice.
    scoring : as in scikit-learn, optional
        Scores of which larger values are better. Default: that of the estimator.
    random_state : int, RandomState or None, default=0
        Seed of the folds.
    n_jobs : int, optional
        Number of parallel fits.

    Returns
    -------
    SelectionOptimism

    Examples
    --------
    Twenty random guessers, of which the one with the largest score is chosen:

    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from bosquet.theory import selection_optimism
    >>> X, y = np.zeros((60, 1)), np.arange(60) % 2
    >>> coin = DummyClassifier(strategy="uniform")
    >>> found = selection_optimism(coin, {"random_state": range(20)}, X, y)
    >>> print(f"best score {found.promised:.2f}, nested cross-validation {found.kept:.2f}")
    best score 0.58, nested cross-validation 0.53

    References
    ----------
    Varma and Simon, "Bias in error estimation when using cross-validation for model selection", BMC
    Bioinformatics 2006.
    """
    from sklearn.model_selection import GridSearchCV, cross_val_score

    check_value("cv", cv, integer(2))
    check_value("outer", outer, integer(2))
    inner_folds, outer_folds = (
        _make_folds(estimator, cv, random_state),
        _make_folds(estimator, outer, random_state),
    )
    search = GridSearchCV(
        clone(estimator), param_grid, scoring=scoring, cv=inner_folds, n_jobs=n_jobs
    )
    search.fit(X, y)
    options = {"scoring": scoring, "cv": outer_folds, "n_jobs": n_jobs}
    scores = np.asarray(search.cv_results_["mean_test_score"], dtype=float)
    return SelectionOptimism(
        settings=list(search.cv_results_["params"]),
        scores=scores,
        best=dict(search.best_params_),
        promised=float(search.best_score_),
        kept=float(cross_val_score(clone(search), X, y, **options).mean()),
        vote=float(cross_val_score(vote_over_grid(estimator, param_grid), X, y, **options).mean()),
    )


def _make_folds(estimator: Estimator, folds: int, random_state: RandomState) -> Any:
    """Return shuffled folds, stratified for classifiers."""
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = StratifiedKFold if is_classifier(estimator) else KFold
    return kind(folds, shuffle=True, random_state=random_state)
