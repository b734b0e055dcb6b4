"""A loss of the user's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet import _core

# Steps for central differences: the cube and the fourth root of the rounding unit balance the error
# of the formula against the error of the subtraction.
_GRADIENT_STEP = float(np.finfo(float).eps ** (1 / 3))
_HESSIAN_STEP = float(np.finfo(float).eps ** (1 / 4))


def _log_odds(outputs: int) -> _core.Loss:
    return _core.Loss("log_loss", outputs, 1, [])


class CustomLoss:
    """Adapts a user's object to what boosting asks of a loss.

    The object has ``gradient_hessian(y, raw)`` that returns two arrays shaped like `raw`, or
    ``value(y, raw)`` that returns one number a row, or both. From `value` alone the derivatives are
    taken numerically. With both, the gradient is compared with a numerical one once, before the first
    round, and a mismatch is an error.

    `y` and `raw` have shape (rows,) for one output; with several (targets or classes) `raw` is
    (rows, outputs), and `y` is (rows, outputs) for targets and class numbers (rows,) for classes.
    For two classes `y` is 0 or 1.

    Optional attributes: ``best_constant(y, sample_weight)``, ``inverse_link(raw)``, and
    ``curved = False`` for a loss whose second derivative is no guide to the step (like the absolute
    error): leaves then take the exact minimiser.

    Examples
    --------
    >>> import numpy as np
    >>> class Asymmetric:
    ...     def value(self, y, raw):
    ...         return np.where(raw > y, 3.0, 1.0) * (raw - y) ** 2
    >>> loss = CustomLoss(Asymmetric(), outputs=1, targets=1)
    >>> g, h = loss.gradient_hessian(np.array([[0.0, 0.0]]), np.array([[1.0, -1.0]]))
    >>> g.round(3), h.round(3)
    (array([[ 6., -2.]]), array([[6., 2.]]))
    """

    name = "custom"

    def __init__(self, user: Any, *, outputs: int, targets: int, classes: bool = False):
        self.user = user
        self.classes = classes
        self.outputs = outputs
        self.targets = targets
        self.curved = bool(getattr(user, "curved", True))
        self._has_value = callable(getattr(user, "value", None))
        self._has_derivatives = callable(getattr(user, "gradient_hessian", None))
        if not (self._has_value or self._has_derivatives):
            raise ValueError(
                f"loss={user!r} is neither the name of a loss nor an object with gradient_hessian(y, raw)"
                " or value(y, raw)"
            )

    def _shaped(self, array: np.ndarray) -> np.ndarray:
        """From (outputs, rows) to what the user's functions see."""
        return array[0] if array.shape[0] == 1 else array.T

    def _values(self, target: np.ndarray, raw: np.ndarray) -> np.ndarray:
        values = np.asarray(self.user.value(self._shaped(target), self._shaped(raw)), dtype=float)
        if values.ndim == 2:
            values = values.sum(axis=1)
        if values.shape != (raw.shape[1],):
            raise ValueError(
                f"value(y, raw) of loss={self.user!r} must return one number a row: expected shape"
                f" ({raw.shape[1]},), got {values.shape}"
            )
        return values

    def check_targets(self, target: np.ndarray) -> None:
        """A loss of the user's own takes any finite target."""

    def start_round(self, target: np.ndarray, raw: np.ndarray, weight: np.ndarray) -> None:
        """Nothing changes from round to round."""

    def gradient_hessian(
        self, target: np.ndarray, raw: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        if not self._has_derivatives:
            gradient, hessian = self._numerical(target, raw)
        else:
            gradient, hessian = self._analytic(target, raw)
        for what, array in (("gradient", gradient), ("hessian", hessian)):
            if not np.isfinite(array).all():
                row = int(np.flatnonzero(~np.isfinite(array).all(axis=0))[0])
                raise ValueError(f"the {what} of loss={self.user!r} is not finite at row {row}")
        # A negative curvature would turn the step around; such rows count for nothing in it.
        return gradient, np.maximum(hessian, 0)

    def _analytic(self, target: np.ndarray, raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pair = self.user.gradient_hessian(self._shaped(target), self._shaped(raw))
        result = []
        for what, array in zip(("gradient", "hessian"), pair, strict=True):
            array = np.asarray(array, dtype=float)
            wanted = self._shaped(raw).shape
            if array.shape != wanted:
                raise ValueError(
                    f"the {what} of loss={self.user!r} has shape {array.shape}, expected {wanted}"
                )
            result.append(array[None, :] if array.ndim == 1 else array.T)
        return result[0], result[1]

    def _numerical(
        self, target: np.ndarray, raw: np.ndarray, *, with_hessian: bool = True
    ) -> tuple[np.ndarray, np.ndarray]:
        gradient, hessian = np.empty_like(raw), np.empty_like(raw)
        middle = self._values(target, raw) if with_hessian else None
        for k in range(raw.shape[0]):
            size = 1 + np.abs(raw[k])
            up, down = self._beside(target, raw, k, _GRADIENT_STEP * size)
            gradient[k] = (up - down) / (2 * _GRADIENT_STEP * size)
            if middle is not None:
                up, down = self._beside(target, raw, k, _HESSIAN_STEP * size)
                hessian[k] = (up - 2 * middle + down) / (_HESSIAN_STEP * size) ** 2
        return gradient, hessian

    def _beside(
        self, target: np.ndarray, raw: np.ndarray, k: int, step: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        up, down = raw.copy(), raw.copy()
        up[k] += step
        down[k] -= step
        return self._values(target, up), self._values(target, down)

    def compare_derivatives(self, target: np.ndarray, raw: np.ndarray) -> None:
        """Raise if the gradient is not the slope of the value at `raw`, above it and below it.

        Looks at up to 1000 rows; does nothing for an object that has only one of the two.
        """
        if not (self._has_value and self._has_derivatives):
            return
        rows = np.linspace(0, raw.shape[1] - 1, min(1000, raw.shape[1])).astype(int)
        target, raw = np.ascontiguousarray(target[:, rows]), raw[:, rows]
        reach = float(np.std(target - raw)) if target.shape == raw.shape else 1.0
        for shift in (0.0, reach or 1.0, -reach or -1.0):
            given = self._analytic(target, raw + shift)[0]
            slope, _ = self._numerical(target, raw + shift, with_hessian=False)
            scale = np.maximum(np.abs(given), np.abs(slope)) + 1e-3 * (1 + np.abs(slope).max())
            wrong = np.abs(given - slope) > 0.01 * scale
            # A kink makes single rows disagree; a wrong formula makes many.
            if wrong.mean() > 0.05:
                k, i = np.argwhere(wrong)[0]
                raise ValueError(
                    f"the gradient of loss={self.user!r} does not match its value: at row {rows[i]}"
                    f" gradient_hessian gives {given[k, i]:.6g}, the slope of value is {slope[k, i]:.6g}"
                )

    def mean(self, target: np.ndarray, raw: np.ndarray, weight: np.ndarray) -> float:
        """Weighted mean loss; NaN for an object without `value`."""
        if not self._has_value:
            return float("nan")
        values = self._values(target, raw)
        return float(np.average(values, weights=weight if weight.size else None))

    def best_constants(self, target: np.ndarray, weight: np.ndarray) -> np.ndarray:
        user_constant = getattr(self.user, "best_constant", None)
        if callable(user_constant):
            given = user_constant(self._shaped(target), weight if weight.size else None)
            return np.broadcast_to(np.asarray(given, dtype=float), (self.outputs,)).copy()
        rows = target.shape[1]
        leaf = np.zeros(rows, dtype=np.intp)
        start = np.zeros((self.outputs, rows))
        constants = np.zeros(self.outputs)
        for _ in range(3 if self.outputs > 1 else 1):
            for k in range(self.outputs):
                raw = start + constants[:, None]
                constants[k] += self.leaf_minimisers(target, raw, weight, leaf, 1, k)[0]
        return constants

    def leaf_minimisers(
        self,
        target: np.ndarray,
        raw: np.ndarray,
        weight: np.ndarray,
        leaf: np.ndarray,
        n_leaves: int,
        output: int,
    ) -> np.ndarray:
        """For each leaf the constant that is best to add to output `output` of its rows.

        The slope of each leaf's loss is bracketed by doubling and its zero closed in on by bisection,
        all leaves at once.
        """

        def slopes(step: np.ndarray) -> np.ndarray:
            moved = raw.copy()
            moved[output] += step[leaf]
            gradient = self.gradient_hessian(target, moved)[0][output]
            return np.bincount(
                leaf, gradient * weight if weight.size else gradient, minlength=n_leaves
            )

        start = slopes(np.zeros(n_leaves))
        direction = -np.sign(start)
        near, far = np.zeros(n_leaves), direction.copy()
        for _ in range(60):
            same_side = np.sign(slopes(far)) == np.sign(start)
            if not (same_side & (direction != 0)).any():
                break
            near = np.where(same_side, far, near)
            far = np.where(same_side, 2 * far, far)
        for _ in range(60):
            middle = (near + far) / 2
            same_side = np.sign(slopes(middle)) == np.sign(start)
            near = np.where(same_side, middle, near)
            far = np.where(same_side, far, middle)
        return np.where(direction == 0, 0.0, (near + far) / 2)

    def inverse_link(self, raw: np.ndarray) -> np.ndarray:
        """From raw predictions (rows, outputs) to the scale of the target, or to probabilities."""
        user_link = getattr(self.user, "inverse_link", None)
        if callable(user_link):
            result = np.asarray(user_link(raw[:, 0] if raw.shape[1] == 1 else raw), dtype=float)
            if result.ndim == 2:
                return result
            return np.column_stack([1 - result, result] if self.classes else [result])
        # Raw predictions of classes are taken to be log-odds unless the user says otherwise.
        return _log_odds(self.outputs).responses(raw) if self.classes else raw
