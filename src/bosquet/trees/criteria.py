"""Accepted values of `criterion`, the measure of impurity of a tree."""

from bosquet._parameters import choice

CLASSIFICATION_CRITERIA = choice("gini", "entropy", "log_loss")
REGRESSION_CRITERIA = choice("squared_error", "absolute_error", "poisson")
