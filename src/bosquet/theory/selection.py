"""Why the score that chose a setting does not judge it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._parameters import check_value, integer
from bosquet._sklearn import clone, is_classifier
from bosquet.bagging import over_settings
from bosquet.theory._tables import result_text, table


@dataclass(frozen=True, repr=False)
class SelectionOptimism:
    """What the best of many settings promises, and what it keeps.

    Attributes
    ----------
    settings : list of dict
    scores : array of shape (n_settings,)
        Cross-validated score of each.
    best : dict
        The setting with the largest.
    promised : float
        The score of the best: the largest of all, and so too large.
    kept : float
        The score of *choosing*: the choice is made again inside every outer fold, and judged on rows
        that had no part in it.
    vote : float
        The score of the vote of all settings, which chooses nothing, in the same outer folds.
    """

    settings: list[dict[str, Any]]
    scores: np.ndarray
    best: dict[str, Any]
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
            ("promised by the best", self.promised),
            ("kept, in outer folds", self.kept),
            ("optimism", self.optimism),
            ("vote of all settings", self.vote),
        ]
        chosen = ", ".join(f"{key}={value!r}" for key, value in self.best.items())
        return result_text(f"Choosing {chosen}", self.formula, table(rows))


def selection_optimism(
    estimator: Any,
    param_grid: Any,
    X: Any,
    y: Any,
    *,
    cv: int = 5,
    outer: int = 5,
    scoring: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> SelectionOptimism:
    r"""How much better the best of many settings looks than it is.

    Cross-validation gives each setting an honest score. The largest of them is not honest any more:

    .. math:: E \max_s \widehat{score}_s \ge \max_s E\, \widehat{score}_s,

    of many settings that are equally good the one with the largest score is also the luckiest. The rows
    that judged have taken part in the choice. Choosing again inside the folds of an outer
    cross-validation gives a number for the choice that is honest again. A vote of all settings has
    nothing to choose, and stands beside.

    Parameters
    ----------
    estimator : classifier or regressor
    param_grid : dict of lists, or list of such dicts
    X, y : rows and targets
    cv, outer : int, default=5
        Folds that choose, and folds that judge the choice.
    scoring : as in scikit-learn, optional
        Larger is better.
    random_state : int, RandomState or None, default=0
        Of the folds.
    n_jobs : int, optional

    Returns
    -------
    SelectionOptimism

    Examples
    --------
    Twenty coins, of which the luckiest is chosen:

    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from bosquet.theory import selection_optimism
    >>> X, y = np.zeros((60, 1)), np.arange(60) % 2
    >>> coin = DummyClassifier(strategy="uniform")
    >>> found = selection_optimism(coin, {"random_state": range(20)}, X, y)
    >>> print(f"promised {found.promised:.2f}, kept {found.kept:.2f}")
    promised 0.58, kept 0.53

    References
    ----------
    Varma and Simon, "Bias in error estimation when using cross-validation for model selection", BMC
    Bioinformatics 2006.
    """
    from sklearn.model_selection import GridSearchCV, cross_val_score

    check_value("cv", cv, integer(2))
    check_value("outer", outer, integer(2))
    inner_folds, outer_folds = (
        _folds(estimator, cv, random_state),
        _folds(estimator, outer, random_state),
    )
    search = GridSearchCV(
        clone(estimator), param_grid, scoring=scoring, cv=inner_folds, n_jobs=n_jobs
    )
    search.fit(X, y)
    asked = {"scoring": scoring, "cv": outer_folds, "n_jobs": n_jobs}
    scores = np.asarray(search.cv_results_["mean_test_score"], dtype=float)
    return SelectionOptimism(
        settings=list(search.cv_results_["params"]),
        scores=scores,
        best=dict(search.best_params_),
        promised=float(search.best_score_),
        kept=float(cross_val_score(clone(search), X, y, **asked).mean()),
        vote=float(cross_val_score(over_settings(estimator, param_grid), X, y, **asked).mean()),
    )


def _folds(estimator: Any, folds: int, random_state: Any) -> Any:
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = StratifiedKFold if is_classifier(estimator) else KFold
    return kind(folds, shuffle=True, random_state=random_state)
