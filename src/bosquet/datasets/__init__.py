"""Simulated data from known distributions.

A generator is an object with the methods ``sample(n_samples, random_state)``, which draws rows,
``probability(X)`` or ``mean(X)``, the true class probabilities or means, ``bayes_predict(X)``, the
predictions of the Bayes rule (the best possible rule), and the attribute ``bayes_error``, its error. The
``make_*`` functions only return X and y, as those of scikit-learn do.

>>> from bosquet.datasets import Twonorm
>>> twonorm = Twonorm()
>>> X, y = twonorm.sample(10_000, random_state=0)
>>> print(f"{twonorm.bayes_error:.4f}, in the sample {(twonorm.bayes_predict(X) != y).mean():.4f}")
0.0228, in the sample 0.0206
"""

from bosquet.datasets.friedman import (
    Friedman1,
    Friedman2,
    Friedman3,
    make_friedman1,
    make_friedman2,
    make_friedman3,
)
from bosquet.datasets.generator import ClassGenerator, Generator, RegressionGenerator
from bosquet.datasets.line import Pieces, Polynomial, make_polynomial, make_three_pieces
from bosquet.datasets.moons import Moons, make_moons
from bosquet.datasets.norms import (
    Ringnorm,
    Threenorm,
    Twonorm,
    Xor,
    make_ringnorm,
    make_threenorm,
    make_twonorm,
    make_xor,
)
from bosquet.datasets.salaries import Salaries, make_salaries
from bosquet.datasets.spheres import (
    ChiSquare,
    NestedSpheres,
    make_hastie_10_2,
    make_nested_spheres,
)
from bosquet.datasets.waveform import Waveform, make_waveform

__all__ = [
    "ChiSquare",
    "ClassGenerator",
    "Friedman1",
    "Friedman2",
    "Friedman3",
    "Generator",
    "Moons",
    "NestedSpheres",
    "Pieces",
    "Polynomial",
    "RegressionGenerator",
    "Ringnorm",
    "Salaries",
    "Threenorm",
    "Twonorm",
    "Waveform",
    "Xor",
    "make_friedman1",
    "make_friedman2",
    "make_friedman3",
    "make_hastie_10_2",
    "make_moons",
    "make_nested_spheres",
    "make_polynomial",
    "make_ringnorm",
    "make_salaries",
    "make_three_pieces",
    "make_threenorm",
    "make_twonorm",
    "make_waveform",
    "make_xor",
]
