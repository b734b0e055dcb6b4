"""Discriminant analysis without a model of the classes: densities by kernels or by neighbours.

With Gaussian classes there are scikit-learn's linear and quadratic discriminant analysis, and its nearest
centroid; all are methods of a study.

>>> from sklearn.datasets import load_iris
>>> from bosquet.discriminant import DensityDiscriminant
>>> X, y = load_iris(return_X_y=True)
>>> print(f"{DensityDiscriminant().fit(X, y).score(X, y):.2f}")
0.96
"""

from bosquet.discriminant.density import DensityDiscriminant

__all__ = ["DensityDiscriminant"]
