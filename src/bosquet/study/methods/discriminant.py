"""Discriminant analysis: nearest centroid, linear, quadratic and with kernel density estimates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from bosquet.discriminant import DensityDiscriminant
from bosquet.study.methods.costs import FitCost
from bosquet.study.methods.method import Candidate, Method, TableShape
from bosquet.study.methods.moments import Barycentres, LinearDiscriminant, QuadraticDiscriminant
from bosquet.study.methods.pipelines import model_of, with_numeric_inputs
from bosquet.study.record import Task

CLASSES: frozenset[Task] = frozenset({"binary", "multiclass"})
THRESHOLDS = (8.0, 4.0, 2.0, 1.0, 0.5, 0.0)
SHRINKAGES = (1.0, 0.5, 0.2, 0.05, 0.01, 0.0)
REGULARISATIONS = (0.9, 0.5, 0.2, 0.05, 0.01, 0.001)
# In standard deviations of a column.
BANDWIDTHS = (2.0, 1.2, 0.8, 0.5, 0.3, 0.15)
# A prediction evaluates one kernel per training row, which is slow and takes much memory for more rows. With
# more columns, no row is near another.
MAX_KERNEL_ROWS, MAX_KERNEL_COLUMNS = 3_000, 100


def _make_barycentre(threshold: float, seed: int) -> Any:
    return with_numeric_inputs(
        Barycentres(shrink_threshold=threshold or None, priors="empirical"),
        baseline=True,
        dense=False,
        dtype="float32",
    )


def _barycentre_candidates(shape: TableShape) -> Sequence[Candidate]:
    return [
        Candidate(
            complexity=1 / (1 + threshold),
            label=f"shrunk by {threshold:g}" if threshold else "not shrunk",
            setting={"shrink_threshold": threshold or None},
            make=partial(_make_barycentre, threshold),
        )
        for threshold in THRESHOLDS
    ]


def _make_linear(shrinkage: float, seed: int) -> Any:
    return with_numeric_inputs(
        LinearDiscriminant(solver="lsqr", shrinkage=shrinkage or None),
        baseline=True,
        dense=False,
        dtype="float32",
    )


def _linear_candidates(shape: TableShape) -> Sequence[Candidate]:
    return [
        Candidate(
            complexity=1 - shrinkage,
            label=f"shrinkage {shrinkage:g}",
            setting={"shrinkage": shrinkage or None},
            make=partial(_make_linear, shrinkage),
        )
        for shrinkage in SHRINKAGES
    ]


def _make_quadratic(regularisation: float, seed: int) -> Any:
    return with_numeric_inputs(
        QuadraticDiscriminant(reg_param=regularisation),
        baseline=True,
        dense=False,
        dtype="float32",
    )


def _quadratic_candidates(shape: TableShape) -> Sequence[Candidate]:
    return [
        Candidate(
            complexity=1 - regularisation,
            label=f"shrinkage {regularisation:g}",
            setting={"reg_param": regularisation},
            make=partial(_make_quadratic, regularisation),
        )
        for regularisation in REGULARISATIONS
    ]


def _make_kernel(bandwidth: float, seed: int) -> Any:
    return with_numeric_inputs(DensityDiscriminant(bandwidth=bandwidth), baseline=True)


def _kernel_candidates(shape: TableShape) -> Sequence[Candidate]:
    return [
        Candidate(
            complexity=1 / bandwidth,
            label=f"bandwidth {bandwidth:g}",
            setting={"bandwidth": bandwidth},
            make=partial(_make_kernel, bandwidth),
        )
        for bandwidth in BANDWIDTHS
    ]


def _why_unsuited_kernel(shape: TableShape) -> str:
    if shape.n_indicators > MAX_KERNEL_COLUMNS:
        return f"with {shape.n_indicators} columns, density estimates are unreliable"
    return ""


def _kernel_details(fitted: Any) -> dict[str, Any]:
    model = model_of(fitted)
    return {
        "bandwidth, in standard deviations": float(model.bandwidth),
        "columns": int(model.n_features_in_),
        "classes": len(model.classes_),
    }


def _why_unsuited_quadratic(shape: TableShape) -> str:
    smallest = shape.rarest_share * shape.n_rows * 0.8  # rows left in the training part of a fold
    if smallest <= shape.n_indicators:
        return (
            f"the smallest class has about {shape.rarest_share * shape.n_rows:.0f} rows, too few for a"
            f" covariance matrix of {shape.n_indicators} columns"
        )
    return ""


def _why_unsuited_linear(shape: TableShape) -> str:
    if shape.n_indicators > 2000:
        return f"a covariance matrix of {shape.n_indicators} columns is too large"
    return ""


def _details(fitted: Any) -> dict[str, Any]:
    model = model_of(fitted)
    names = fitted[0].get_feature_names_out()
    centres = getattr(model, "centroids_", None)
    centres = model.means_ if centres is None else centres
    between = np.asarray(centres).std(axis=0)
    top = np.argsort(-between)[:10]
    return {
        "columns": len(names),
        "classes": len(model.classes_),
        "columns with the most distant centroids": {str(names[i]): float(between[i]) for i in top},
    }


METHODS = [
    Method(
        name="nearest-centroid",
        title="Nearest centroid",
        tasks=CLASSES,
        parameter="1 / (1 + shrinkage of the centroids)",
        log_axis=False,
        candidates=_barycentre_candidates,
        properties={
            "readable": ("yes", "one centre per class"),
            "score_or_interval": (
                "partly",
                "probabilities if columns were independent Gaussians",
            ),
            "consistent": ("no", "unless the classes are such Gaussians"),
            "minimax": ("no", "its bias does not vanish"),
            "non_asymptotic": ("no", "no bound without a model of the classes"),
            "parameter_free": ("partly", "one shrinkage; 0 is a good default"),
            "online": ("yes", "means can be updated"),
        },
        rows_affordable=FitCost(1e-4, fixed=0.005),
        details=_details,
    ),
    Method(
        name="lda",
        title="Linear discriminant analysis",
        tasks=CLASSES,
        parameter="1 - shrinkage of the covariance",
        log_axis=False,
        candidates=_linear_candidates,
        properties={
            "readable": ("partly", "weights of a linear decision boundary"),
            "score_or_interval": ("yes", "probabilities under its Gaussian model"),
            "consistent": ("no", "unless classes are Gaussian with one covariance"),
            "minimax": ("no", "efficient in its Gaussian model only"),
            "non_asymptotic": ("no", "no bound without its model"),
            "parameter_free": ("partly", "one shrinkage; 0 is a good default"),
            "online": ("yes", "means and covariances can be updated"),
        },
        rows_affordable=FitCost(6e-5, columns_exponent=1.3, fixed=0.005),
        details=_details,
        why_unsuited=_why_unsuited_linear,
    ),
    Method(
        name="qda",
        title="Quadratic discriminant analysis",
        tasks=CLASSES,
        parameter="1 - shrinkage of the covariances",
        log_axis=False,
        candidates=_quadratic_candidates,
        properties={
            "readable": ("no", "quadratic decision boundaries in all columns"),
            "score_or_interval": (
                "yes",
                "probabilities under its Gaussian model, often overconfident",
            ),
            "consistent": ("no", "unless classes are Gaussian"),
            "minimax": ("no", "efficient in its Gaussian model only"),
            "non_asymptotic": ("no", "no bound without its model"),
            "parameter_free": ("partly", "one shrinkage"),
            "online": ("yes", "means and covariances can be updated"),
        },
        rows_affordable=FitCost(8e-5, columns_exponent=1.3, fixed=0.005),
        details=_details,
        why_unsuited=_why_unsuited_quadratic,
    ),
    Method(
        name="kernel-discriminant",
        title="Kernel discriminant analysis",
        tasks=CLASSES,
        parameter="1 / bandwidth of the kernels",
        log_axis=True,
        candidates=_kernel_candidates,
        properties={
            "readable": ("no", "a sum over all rows"),
            "score_or_interval": ("yes", "probabilities from densities, poor in many columns"),
            "consistent": ("yes", "if the bandwidth vanishes slowly enough"),
            "minimax": ("partly", "for smooth densities with the right bandwidth"),
            "non_asymptotic": ("partly", "rates for smooth densities, poor in many dimensions"),
            "parameter_free": ("no", "the bandwidth and the scaling of columns"),
            "online": ("yes", "a new row is stored"),
        },
        # Most of its time is spent on predictions, which a trial fit does not measure.
        rows_affordable=FitCost(
            0.1, rows_exponent=2.0, columns_exponent=0.3, max_rows=MAX_KERNEL_ROWS
        ),
        details=_kernel_details,
        why_unsuited=_why_unsuited_kernel,
    ),
]
