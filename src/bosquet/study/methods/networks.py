"""Neural networks with one or two hidden layers, weight decay and early stopping."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.neural_network import MLPClassifier, MLPRegressor

from bosquet.study.methods.costs import FitCost
from bosquet.study.methods.method import Candidate, Method, TableShape
from bosquet.study.methods.pipelines import ScaledTarget, model_of, with_numeric_inputs

ROWS_PER_WEIGHT = 10
# Minimum rows, and rows of the rarest class, for a validation set of early stopping.
STOPPING_ROWS, STOPPING_CLASS = 200, 20
FEW_ROWS = 2_000


class _WarnsOfFewRows:
    """Mixin that warns if a network has too many weights for its training rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        fit_arguments = {} if sample_weight is None else {"sample_weight": sample_weight}
        super().fit(X, y, **fit_arguments)  # type: ignore[misc]
        count = count_weights(self)
        if X.shape[0] < ROWS_PER_WEIGHT * count:
            warnings.warn(
                f"the network has {count:,} weights, but only {X.shape[0]:,} training rows, fewer than"
                f" {ROWS_PER_WEIGHT} per weight; use more rows or a smaller network",
                UserWarning,
                stacklevel=2,
            )
        return self


class NetworkClassifier(_WarnsOfFewRows, MLPClassifier):
    """MLPClassifier of scikit-learn, with a warning if there are fewer than ten rows per weight."""


class NetworkRegressor(_WarnsOfFewRows, MLPRegressor):
    """MLPRegressor of scikit-learn, with a warning if there are fewer than ten rows per weight."""


def count_weights(network: Any) -> int:
    """Return the number of weights and biases of a fitted network."""
    return int(sum(layer.size for layer in (*network.coefs_, *network.intercepts_)))


def expected_weights(shape: TableShape, layers: tuple[int, ...]) -> int:
    """Return the number of weights and biases of a network before it is fitted."""
    outputs = 1 if shape.n_classes <= 2 else shape.n_classes
    sizes = (min(shape.n_indicators, 2000), *layers, outputs)
    return sum((a + 1) * b for a, b in pairwise(sizes))


# Optimisers. With few rows, L-BFGS on all rows, regularised by weight decay. With more rows, mini-batches:
# smooth units use momentum, with a learning rate that is divided by 5 when the loss no longer falls;
# rectified linear units use Adam.
_DESCENTS: dict[str, dict[str, Any]] = {
    "lbfgs": {"solver": "lbfgs", "max_iter": 200},
    "momentum": {
        "solver": "sgd",
        "learning_rate": "adaptive",
        "momentum": 0.9,
        "max_iter": 60,
        "n_iter_no_change": 5,
    },
    "adam": {"solver": "adam", "learning_rate_init": 0.005, "max_iter": 60, "n_iter_no_change": 5},
}


@dataclass(frozen=True)
class NetworkPlan:
    """Architecture of a network and its optimiser."""

    layers: tuple[int, ...]
    activation: str
    decay: float
    descent: str

    @property
    def label(self) -> str:
        """Short description."""
        units = " + ".join(map(str, self.layers))
        return f"{units} {self.activation} units, decay {self.decay:g}, {self.descent}"

    @property
    def setting(self) -> dict[str, Any]:
        """Hyper-parameters, as in the record."""
        return {
            "hidden_layer_sizes": list(self.layers),
            "activation": self.activation,
            "alpha": self.decay,
            "descent": self.descent,
        }


_FEW_ROWS = (
    NetworkPlan((2,), "tanh", 0.1, "lbfgs"),
    NetworkPlan((4,), "tanh", 0.1, "lbfgs"),
    NetworkPlan((4,), "tanh", 1.0, "lbfgs"),
    NetworkPlan((8,), "logistic", 0.1, "lbfgs"),
    NetworkPlan((8,), "tanh", 1.0, "lbfgs"),
    NetworkPlan((8,), "tanh", 10.0, "lbfgs"),
    NetworkPlan((16,), "relu", 3.0, "lbfgs"),
    NetworkPlan((8, 4), "tanh", 3.0, "lbfgs"),
    NetworkPlan((8,), "tanh", 1e-3, "momentum"),
)
_MANY_ROWS = (
    NetworkPlan((4,), "tanh", 1e-4, "momentum"),
    NetworkPlan((16,), "logistic", 1e-4, "momentum"),
    NetworkPlan((16,), "tanh", 1e-4, "momentum"),
    NetworkPlan((16,), "relu", 1e-2, "adam"),
    NetworkPlan((32,), "relu", 1e-2, "adam"),
    NetworkPlan((32, 16), "relu", 1e-2, "adam"),
    NetworkPlan((64, 32), "relu", 1e-1, "adam"),
)


def _make_network(
    is_classification: bool, plan: NetworkPlan, batch: int, stops: bool, seed: int
) -> Any:
    kind: Any = NetworkClassifier if is_classification else NetworkRegressor
    descent = dict(_DESCENTS[plan.descent])
    if plan.descent != "lbfgs":
        descent |= {"early_stopping": stops, "batch_size": batch}
    if plan.descent == "momentum":
        descent["learning_rate_init"] = 0.1 if is_classification else 0.03
    network = kind(
        hidden_layer_sizes=plan.layers,
        activation=plan.activation,
        alpha=plan.decay,
        random_state=seed,
        **descent,
    )
    model = network if is_classification else ScaledTarget(network)
    full_batch = plan.descent == "lbfgs"  # used for few rows
    dtype = "float64" if full_batch else "float32"
    return with_numeric_inputs(model, scale="unit", dense=full_batch, dtype=dtype)


def _candidates(shape: TableShape) -> Sequence[Candidate]:
    is_classification = shape.task != "regression"
    stops = shape.n_rows >= STOPPING_ROWS and shape.rarest_share * shape.n_rows >= STOPPING_CLASS
    batch = int(np.clip(shape.n_rows // 50, 16, 256))
    plans = _FEW_ROWS if shape.n_rows < FEW_ROWS else _MANY_ROWS
    candidates = [
        Candidate(
            complexity=expected_weights(shape, plan.layers),
            label=plan.label,
            setting=plan.setting,
            make=partial(_make_network, is_classification, plan, batch, stops),
        )
        for plan in plans
    ]
    return sorted(candidates, key=lambda candidate: candidate.complexity)


def _details(fitted: Any) -> dict[str, Any]:
    network = model_of(fitted)
    return {
        "hidden layers": [int(layer.shape[1]) for layer in network.coefs_[:-1]],
        "activation": network.activation,
        "weights": count_weights(network),
        "iterations": int(network.n_iter_),
    }


METHODS = [
    Method(
        name="mlp",
        title="Neural network",
        tasks=frozenset({"binary", "multiclass", "regression"}),
        parameter="weights of the network",
        log_axis=True,
        candidates=_candidates,
        properties={
            "readable": ("no", "weights are not interpretable"),
            "score_or_interval": ("partly", "probabilities, often overconfident"),
            "consistent": ("partly", "if units grow with n and training finds the best weights"),
            "minimax": ("no", "proved for ideal weights, not for those found by training"),
            "non_asymptotic": ("partly", "loose bounds by norms of the weights"),
            "parameter_free": ("no", "layers, units, learning rate, weight decay"),
            "online": ("yes", "by stochastic gradient"),
        },
        rows_affordable=FitCost(0.1, columns_exponent=0.1, fixed=0.05),
        details=_details,
    )
]
