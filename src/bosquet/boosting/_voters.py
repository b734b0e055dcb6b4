"""One voter of a native vote, to be looked at and asked by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet import _core
from bosquet.data import TableEncoder


class NativeVoter:
    """A stump or tree of a vote.

    `value` at a leaf is what it says there: a sign, half the log-odds, a mean or, of several classes,
    a number for each. `arrays` has the rules (feature, threshold, children, ...) with an entry a node.
    """

    def __init__(
        self,
        ensemble: _core.Ensemble,
        number: int,
        scale: float,
        encoder: TableEncoder,
        classes: np.ndarray,
    ):
        self._encoder = encoder
        self.classes_ = classes
        self.n_features_in_ = encoder.n_features
        at_once = ensemble.vector_leaves
        outputs = ensemble.n_outputs if at_once else 1
        self.arrays = ensemble.tree_arrays(number)
        value = np.nan_to_num(self.arrays["value"]) / (scale or 1.0)
        self.arrays["value"] = value
        self._tree = _core.Ensemble(
            encoder.n_features, outputs, [0.0] * outputs, encoder.categories, vector_leaves=at_once
        )
        _core.add_tree(
            self._tree,
            self.arrays["feature"],
            np.nan_to_num(self.arrays["threshold"], nan=0.0, posinf=np.inf, neginf=-np.inf),
            self.arrays["left"],
            self.arrays["missing_left"],
            self.arrays["left_categories"],
            np.ascontiguousarray(value.reshape(value.shape[0], -1)),
            self.arrays["gain"].astype(float),
            self.arrays["cover"].astype(float),
        )

    def decision_function(self, X: Any) -> np.ndarray:
        """What the voter says: (n_samples,), or (n_samples, n_classes) where it speaks of each class."""
        raw = self._tree.predict_raw(self._encoder.transform(X, owner=type(self).__name__), 0, 1)
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def predict(self, X: Any) -> np.ndarray:
        """The class it votes for."""
        said = self.decision_function(X)
        number = (said > 0).astype(np.intp) if said.ndim == 1 else said.argmax(axis=1)
        return self.classes_[number]

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of its gain by feature."""
        sums = self._tree.importance("gain")
        total = sums.sum()
        return sums / total if total > 0 else sums

    def __repr__(self) -> str:
        if self.arrays["feature"].size == 1:
            return f"NativeVoter(always {self.arrays['value'].tolist()[0]})"
        names = self._encoder.feature_names
        feature = int(self.arrays["feature"][0])
        name = f"column {feature}" if names is None else names[feature]
        return f"NativeVoter({name}, {self.arrays['feature'].size} nodes)"
