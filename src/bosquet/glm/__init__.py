"""Generalised linear models with tests, confidence intervals and odds ratios, fitted by statsmodels.

Install them with ``pip install ".[glm]"`` in a clone of the repository.
"""

from bosquet._lazy import lazy_getattr

_HOME = {
    "BinomialRegression": "bosquet.glm.binomial",
    "FormulaError": "bosquet.glm._engines",
    "LinearModel": "bosquet.glm.linear",
    "LogLinearModel": "bosquet.glm.loglinear",
    "MultinomialRegression": "bosquet.glm.multinomial",
    "PoissonRegression": "bosquet.glm.poisson",
    "Separation": "bosquet.glm.separation",
    "SeparationWarning": "bosquet.glm.separation",
    "Summary": "bosquet.glm._summary",
    "TermTest": "bosquet.glm._inference",
    "contingency": "bosquet.glm.loglinear",
}

__all__ = [
    "BinomialRegression",
    "FormulaError",
    "LinearModel",
    "LogLinearModel",
    "MultinomialRegression",
    "PoissonRegression",
    "Separation",
    "SeparationWarning",
    "Summary",
    "TermTest",
    "contingency",
]

__getattr__ = lazy_getattr(__name__, _HOME)


def __dir__() -> list[str]:
    return sorted(__all__)
