"""Non-parametric discriminant analysis: class densities estimated by kernels or nearest neighbours.

For Gaussian classes use scikit-learn's linear and quadratic discriminant analysis or its nearest centroid
classifier. All of them are methods of a study.

>>> from sklearn.datasets import load_iris
>>> from bosquet.discriminant import DensityDiscriminant
>>> X, y = load_iris(return_X_y=True)
>>> print(f"{DensityDiscriminant().fit(X, y).score(X, y):.2f}")
0.96
"""

from bosquet.discriminant.density import DensityDiscriminant

__all__ = ["DensityDiscriminant"]
