"""An ensemble of one estimator with all hyper-parameter values of a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bosquet._sklearn import clone, is_classifier, is_regressor
from bosquet.bagging.voting import VotingClassifier, VotingRegressor

if TYPE_CHECKING:
    from bosquet._types import Estimator


def vote_over_grid(
    estimator: Estimator,
    param_grid: Mapping[str, Sequence[object]] | Sequence[Mapping[str, Sequence[object]]],
    **options: Any,
) -> VotingClassifier | VotingRegressor:
    r"""Return a voting ensemble of one estimator over all settings of a grid of hyper-parameters.

    .. math:: H(x) = \frac1S \sum_{s} h_s(x), \qquad s \text{ every setting of the grid.}

    Instead of selecting one setting, the ensemble averages over all of them. Different settings give
    diverse base estimators, which is what an average benefits from, and a bad setting among good ones is
    outvoted. But every poor base estimator worsens the average, so the grid should hold reasonable values
    only.

    No cross-validation is needed to select a setting; it can still estimate the error of the ensemble. If
    it is used to weight the settings (`SuperLearnerClassifier`) or to remove some of them, its scores are
    no longer estimates on unseen data. `bosquet.theory.selection_optimism` measures this optimism.

    Parameters
    ----------
    estimator : classifier or regressor
    param_grid : dict of lists, or list of such dicts
        As in scikit-learn's `GridSearchCV`.
    **options
        Parameters of `VotingClassifier` (`voting`, `weights`, `n_jobs`) or `VotingRegressor`.

    Returns
    -------
    VotingClassifier or VotingRegressor
        Not fitted. The names of its estimators are their settings, such as "n_neighbors=5".

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from bosquet.bagging import vote_over_grid
    >>> from bosquet.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.3, random_state=0)
    >>> vote = vote_over_grid(KNeighborsClassifier(), {"n_neighbors": [1, 5, 25]}, voting="soft")
    >>> [name for name, _ in vote.estimators]
    ['n_neighbors=1', 'n_neighbors=5', 'n_neighbors=25']
    >>> print(f"{cross_val_score(vote, X, y).mean():.2f}")
    0.90
    """
    from sklearn.model_selection import ParameterGrid

    learners = []
    for setting in ParameterGrid(param_grid):
        # scikit-learn reads a double underscore as the parameter of a nested estimator.
        name = ", ".join(f"{key.replace('__', '.')}={value!r}" for key, value in setting.items())
        learners.append((name, clone(estimator).set_params(**setting)))
    if is_classifier(estimator):
        return VotingClassifier(learners, **options)
    if is_regressor(estimator):
        return VotingRegressor(learners, **options)
    raise TypeError(
        f"estimator={type(estimator).__name__} is neither a classifier nor a regressor; pass one of these"
    )
