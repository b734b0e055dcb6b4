"""One method with many settings, as a committee."""

from __future__ import annotations

from typing import Any

from bosquet._sklearn import clone, is_classifier, is_regressor
from bosquet.bagging.voting import VotingClassifier, VotingRegressor


def over_settings(estimator: Any, param_grid: Any, **options: Any) -> Any:
    r"""A vote of one method over values of its hyper-parameters, none of which is chosen.

    .. math:: H(x) = \frac1S \sum_{s} h_s(x), \qquad s \text{ every setting of the grid.}

    Settings make learners that differ, which a mean makes use of, and a bad value among good ones is
    outvoted. But the mean pays for every learner that is poor: a grid of reasonable values is wanted.
    What cross-validation is for changes, too. It no longer has a choice to make; and if it is used to
    weigh the settings (`SuperLearnerClassifier`) or to leave some out, its scores are no longer those
    of rows that had no part in the fit. `bosquet.theory.selection_optimism` measures by how much.

    Parameters
    ----------
    estimator : classifier or regressor
    param_grid : dict of lists, or list of such dicts
        As of scikit-learn's `GridSearchCV`.
    **options
        Of `VotingClassifier` (`voting`, `weights`, `n_jobs`) or `VotingRegressor`.

    Returns
    -------
    VotingClassifier or VotingRegressor
        Not fitted. Its learners are called by their settings.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from bosquet.bagging import over_settings
    >>> from bosquet.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.3, random_state=0)
    >>> vote = over_settings(KNeighborsClassifier(), {"n_neighbors": [1, 5, 25]}, voting="soft")
    >>> [name for name, _ in vote.estimators]
    ['n_neighbors=1', 'n_neighbors=5', 'n_neighbors=25']
    >>> print(f"{cross_val_score(vote, X, y).mean():.2f}")
    0.90
    """
    from sklearn.model_selection import ParameterGrid

    learners = []
    for setting in ParameterGrid(param_grid):
        # A double underscore would be read as a parameter of a parameter.
        name = ", ".join(f"{key.replace('__', '.')}={value!r}" for key, value in setting.items())
        learners.append((name, clone(estimator).set_params(**setting)))
    if is_classifier(estimator):
        return VotingClassifier(learners, **options)
    if is_regressor(estimator):
        return VotingRegressor(learners, **options)
    raise TypeError(f"{type(estimator).__name__} is neither a classifier nor a regressor")
