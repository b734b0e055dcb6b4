"""Networks of one or two hidden layers, by back-propagation with momentum, decay and early stopping."""

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
from bosquet.study.methods.pipelines import ScaledTarget, model_of, prepared

ROWS_A_PARAMETER = 10
# Fewer rows than these leave too few to stop by.
STOPPING_ROWS, STOPPING_CLASS = 200, 20
FEW_ROWS = 2_000


class _Weighed:
    """Says so when a network has too many weights for its rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        super().fit(X, y, **given)  # type: ignore[misc]
        count = weights_of(self)
        if X.shape[0] < ROWS_A_PARAMETER * count:
            warnings.warn(
                f"{X.shape[0]:,} rows for {count:,} weights: a network should have"
                f" {ROWS_A_PARAMETER} rows a weight",
                UserWarning,
                stacklevel=2,
            )
        return self


class NetworkClassifier(_Weighed, MLPClassifier):
    """scikit-learn's MLPClassifier, with a warning below ten rows a weight."""


class NetworkRegressor(_Weighed, MLPRegressor):
    """scikit-learn's MLPRegressor, with a warning below ten rows a weight."""


def weights_of(network: Any) -> int:
    """Weights and thresholds of a fitted network."""
    return int(sum(part.size for part in (*network.coefs_, *network.intercepts_)))


def weights_wanted(shape: TableShape, layers: tuple[int, ...]) -> int:
    """The same before there is a network."""
    outputs = 1 if shape.n_classes <= 2 else shape.n_classes
    sizes = (min(shape.n_indicators, 2000), *layers, outputs)
    return sum((a + 1) * b for a, b in pairwise(sizes))


# How the weights are found. Few rows: by all of them at once (a quasi-Newton method), decay alone against
# fitting too well. More: smooth units descend a part of the rows at a time with momentum, at a rate that
# is cut to a fifth whenever it no longer helps; rectified ones by steps of their own size (Adam).
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
class Plan:
    """A network and how it is trained."""

    layers: tuple[int, ...]
    activation: str
    decay: float
    descent: str

    @property
    def label(self) -> str:
        units = " + ".join(map(str, self.layers))
        return f"{units} {self.activation} units, decay {self.decay:g}, {self.descent}"

    @property
    def setting(self) -> dict[str, Any]:
        return {
            "hidden_layer_sizes": list(self.layers),
            "activation": self.activation,
            "alpha": self.decay,
            "descent": self.descent,
        }


_FEW_ROWS = (
    Plan((2,), "tanh", 0.1, "lbfgs"),
    Plan((4,), "tanh", 0.1, "lbfgs"),
    Plan((4,), "tanh", 1.0, "lbfgs"),
    Plan((8,), "logistic", 0.1, "lbfgs"),
    Plan((8,), "tanh", 1.0, "lbfgs"),
    Plan((8,), "tanh", 10.0, "lbfgs"),
    Plan((16,), "relu", 3.0, "lbfgs"),
    Plan((8, 4), "tanh", 3.0, "lbfgs"),
    Plan((8,), "tanh", 1e-3, "momentum"),
)
_MANY_ROWS = (
    Plan((4,), "tanh", 1e-4, "momentum"),
    Plan((16,), "logistic", 1e-4, "momentum"),
    Plan((16,), "tanh", 1e-4, "momentum"),
    Plan((16,), "relu", 1e-2, "adam"),
    Plan((32,), "relu", 1e-2, "adam"),
    Plan((32, 16), "relu", 1e-2, "adam"),
    Plan((64, 32), "relu", 1e-1, "adam"),
)


def _make(classes: bool, plan: Plan, batch: int, stops: bool, seed: int) -> Any:
    kind: Any = NetworkClassifier if classes else NetworkRegressor
    descent = dict(_DESCENTS[plan.descent])
    if plan.descent != "lbfgs":
        descent |= {"early_stopping": stops, "batch_size": batch}
    if plan.descent == "momentum":
        descent["learning_rate_init"] = 0.1 if classes else 0.03
    network = kind(
        hidden_layer_sizes=plan.layers,
        activation=plan.activation,
        alpha=plan.decay,
        random_state=seed,
        **descent,
    )
    model = network if classes else ScaledTarget(network)
    whole = plan.descent == "lbfgs"  # few rows
    return prepared(model, scale="unit", dense=whole, dtype="float64" if whole else "float32")


def _candidates(shape: TableShape) -> Sequence[Candidate]:
    classes = shape.task != "regression"
    stops = shape.n_rows >= STOPPING_ROWS and shape.rarest * shape.n_rows >= STOPPING_CLASS
    batch = int(np.clip(shape.n_rows // 50, 16, 256))
    plans = _FEW_ROWS if shape.n_rows < FEW_ROWS else _MANY_ROWS
    found = [
        Candidate(
            complexity=weights_wanted(shape, plan.layers),
            label=plan.label,
            setting=plan.setting,
            make=partial(_make, classes, plan, batch, stops),
        )
        for plan in plans
    ]
    return sorted(found, key=lambda candidate: candidate.complexity)


def _details(fitted: Any) -> dict[str, Any]:
    network = model_of(fitted)
    return {
        "hidden layers": [int(part.shape[1]) for part in network.coefs_[:-1]],
        "activation": network.activation,
        "weights": weights_of(network),
        "passes over the rows": int(network.n_iter_),
    }


METHODS = [
    Method(
        name="mlp",
        title="Neural network",
        tasks=frozenset({"binary", "multiclass", "regression"}),
        parameter="weights of the network",
        log=True,
        candidates=_candidates,
        card={
            "readable": ("no", "weights are not interpretable"),
            "score_or_interval": ("partly", "probabilities, often overconfident"),
            "consistent": ("partly", "if units grow with n and training finds the best weights"),
            "minimax": ("no", "in theory for fitted architectures, not for what descent finds"),
            "non_asymptotic": ("partly", "bounds by norms of weights, loose"),
            "parameter_free": ("no", "layers, units, rates, decay"),
            "online": ("yes", "by stochastic gradient"),
        },
        rows_affordable=FitCost(0.1, columns=0.1, fixed=0.05),
        details=_details,
    )
]
