"""Estimates from out-of-bag rows: out-of-bag errors, the jackknife after the bootstrap."""

from .jackknife import Bags, jackknife_variance
from .out_of_bag import OutOfBagRecord, has_settled, misclassified, squared_errors

__all__ = [
    "Bags",
    "OutOfBagRecord",
    "has_settled",
    "jackknife_variance",
    "misclassified",
    "squared_errors",
]
