"""What the rows left out of bags tell: out-of-bag errors, the jackknife after the bootstrap."""

from .jackknife import Bags, jackknife_variance
from .outofbag import OutOfBag, has_settled, misclassified, squared_errors

__all__ = [
    "Bags",
    "OutOfBag",
    "has_settled",
    "jackknife_variance",
    "misclassified",
    "squared_errors",
]
