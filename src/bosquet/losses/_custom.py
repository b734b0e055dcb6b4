"""Custom losses for gradient boosting."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet import _core

# Steps of central differences: the cube root and the fourth root of the machine epsilon balance the
# truncation error against the rounding error.
_GRADIENT_STEP = float(np.finfo(float).eps ** (1 / 3))
_HESSIAN_STEP = float(np.finfo(float).eps ** (1 / 4))


def _log_odds(outputs: int) -> _core.Loss:
    return _core.Loss("log_loss", outputs, 1, [])


class CustomLoss:
    """A user's loss for gradient boosting, as the estimators use it.

    You need not create it: pass your object as ``loss=`` of `GradientBoostingRegressor` or
    `GradientBoostingClassifier`, which wrap it. The object has ``gradient_hessian(y, raw)``, which returns
    two arrays of the shape of `raw`, or ``value(y, raw)``, which returns one number per row, or both. With
    `value` only, the derivatives are computed numerically. With both, the gradient is compared once with the
    numerical derivative, before the first round; an error is raised if they differ.

    `y` and `raw` have shape (n_samples,) for one output. For several outputs (targets or classes), `raw` has
    shape (n_samples, n_outputs). Then `y` has the same shape for several targets, and contains the class
    indices, of shape (n_samples,), for several classes. For two classes `y` is 0 or 1.

    Optional attributes: ``best_constant(y, sample_weight)``, ``inverse_link(raw)``, and
    ``uses_newton_steps = False`` for a loss whose second derivative does not give the step length, such as
    the absolute error. Leaves then have the exact minimiser as their value.

    Guide: the page "Custom loss functions" of the documentation

    Examples
    --------
    >>> import numpy as np
    >>> class Asymmetric:
    ...     def value(self, y, raw):
    ...         return np.where(raw > y, 3.0, 1.0) * (raw - y) ** 2
    >>> from bosquet import GradientBoostingRegressor
    >>> X, y = np.arange(40.0)[:, None], np.arange(40.0)
    >>> model = GradientBoostingRegressor(loss=Asymmetric(), n_estimators=20).fit(X, y)
    >>> bool(model.predict(X).mean() < y.mean())  # errors above the target cost three times as much
    True

    What the estimator computes from the object:

    >>> loss = CustomLoss(Asymmetric(), outputs=1, targets=1)
    >>> g, h = loss.gradient_hessian(np.array([[0.0, 0.0]]), np.array([[1.0, -1.0]]))
    >>> g.round(3), h.round(3)
    (array([[ 6., -2.]]), array([[6., 2.]]))
    """

    name = "custom"

    def __init__(self, user: Any, *, outputs: int, targets: int, is_classification: bool = False):
        self.user = user
        self.is_classification = is_classification
        self.outputs = outputs
        self.targets = targets
        self.uses_newton_steps = bool(getattr(user, "uses_newton_steps", True))
        self._has_value = callable(getattr(user, "value", None))
        self._has_derivatives = callable(getattr(user, "gradient_hessian", None))
        if not (self._has_value or self._has_derivatives):
            raise ValueError(
                f"loss={user!r} is not valid: loss must be the name of a loss, or an object with the method"
                " gradient_hessian(y, raw) or value(y, raw)"
            )

    def _to_user_shape(self, array: np.ndarray) -> np.ndarray:
        """Convert an array of shape (outputs, rows) to the shape that the user's functions expect."""
        return array[0] if array.shape[0] == 1 else array.T

    def _user_values(self, target: np.ndarray, raw: np.ndarray) -> np.ndarray:
        values = np.asarray(
            self.user.value(self._to_user_shape(target), self._to_user_shape(raw)), dtype=float
        )
        if values.ndim == 2:
            values = values.sum(axis=1)
        if values.shape != (raw.shape[1],):
            raise ValueError(
                f"value(y, raw) of loss={self.user!r} returned an array of shape {values.shape}; it must"
                f" return one number per row, of shape ({raw.shape[1]},)"
            )
        return values

    def check_targets(self, target: np.ndarray) -> None:
        """Accept any finite target."""

    def start_round(self, target: np.ndarray, raw: np.ndarray, weight: np.ndarray) -> None:
        """Do nothing: a custom loss does not change from round to round."""

    def gradient_hessian(
        self, target: np.ndarray, raw: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient and the non-negative second derivative, of the shape of `raw`."""
        if not self._has_derivatives:
            gradient, hessian = self._numerical_gradient_hessian(target, raw)
        else:
            gradient, hessian = self._user_gradient_hessian(target, raw)
        for what, array in (("gradient", gradient), ("Hessian", hessian)):
            if not np.isfinite(array).all():
                row = int(np.flatnonzero(~np.isfinite(array).all(axis=0))[0])
                raise ValueError(
                    f"the {what} of loss={self.user!r} is NaN or infinite for row {row}; it must be finite"
                )
        # A negative second derivative would reverse the step. It is replaced by 0.
        return gradient, np.maximum(hessian, 0)

    def _user_gradient_hessian(
        self, target: np.ndarray, raw: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        pair = self.user.gradient_hessian(self._to_user_shape(target), self._to_user_shape(raw))
        result = []
        for what, array in zip(("gradient", "Hessian"), pair, strict=True):
            array = np.asarray(array, dtype=float)
            shape = self._to_user_shape(raw).shape
            if array.shape != shape:
                raise ValueError(
                    f"the {what} of loss={self.user!r} has shape {array.shape}; it must have the shape of"
                    f" raw, {shape}"
                )
            result.append(array[None, :] if array.ndim == 1 else array.T)
        return result[0], result[1]

    def _numerical_gradient_hessian(
        self, target: np.ndarray, raw: np.ndarray, *, with_hessian: bool = True
    ) -> tuple[np.ndarray, np.ndarray]:
        gradient, hessian = np.empty_like(raw), np.empty_like(raw)
        middle = self._user_values(target, raw) if with_hessian else None
        for k in range(raw.shape[0]):
            size = 1 + np.abs(raw[k])
            up, down = self._shifted_values(target, raw, k, _GRADIENT_STEP * size)
            gradient[k] = (up - down) / (2 * _GRADIENT_STEP * size)
            if middle is not None:
                up, down = self._shifted_values(target, raw, k, _HESSIAN_STEP * size)
                hessian[k] = (up - 2 * middle + down) / (_HESSIAN_STEP * size) ** 2
        return gradient, hessian

    def _shifted_values(
        self, target: np.ndarray, raw: np.ndarray, k: int, step: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        up, down = raw.copy(), raw.copy()
        up[k] += step
        down[k] -= step
        return self._user_values(target, up), self._user_values(target, down)

    def compare_derivatives(self, target: np.ndarray, raw: np.ndarray) -> None:
        """Raise a ValueError if the gradient is not the derivative of the value.

        At most 1000 rows are compared, at `raw` and on both sides of it. Nothing is compared if the object
        has only one of the two methods.
        """
        if not (self._has_value and self._has_derivatives):
            return
        rows = np.linspace(0, raw.shape[1] - 1, min(1000, raw.shape[1])).astype(int)
        target, raw = np.ascontiguousarray(target[:, rows]), raw[:, rows]
        reach = float(np.std(target - raw)) if target.shape == raw.shape else 1.0
        for shift in (0.0, reach or 1.0, -reach or -1.0):
            gradient = self._user_gradient_hessian(target, raw + shift)[0]
            slope, _ = self._numerical_gradient_hessian(target, raw + shift, with_hessian=False)
            scale = np.maximum(np.abs(gradient), np.abs(slope)) + 1e-3 * (1 + np.abs(slope).max())
            wrong = np.abs(gradient - slope) > 0.01 * scale
            # At a kink of the loss a few rows may differ; with a wrong formula many rows differ.
            if wrong.mean() > 0.05:
                k, i = np.argwhere(wrong)[0]
                raise ValueError(
                    f"the gradient of loss={self.user!r} does not match its value: for row {rows[i]}"
                    f" gradient_hessian returns {gradient[k, i]:.6g}, but the derivative of value is"
                    f" {slope[k, i]:.6g}; correct one of the two methods"
                )

    def mean_loss(self, target: np.ndarray, raw: np.ndarray, weight: np.ndarray) -> float:
        """Return the weighted mean loss, NaN if the object has no method `value`."""
        if not self._has_value:
            return float("nan")
        values = self._user_values(target, raw)
        return float(np.average(values, weights=weight if weight.size else None))

    def best_constants(
        self, target: np.ndarray, weight: np.ndarray, offset: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the constant raw predictions with the smallest loss, one per output.

        With an offset of shape (outputs, rows), the constants are added to it. The user's `best_constant`
        knows no offset, so a search replaces it.
        """
        user_constant = getattr(self.user, "best_constant", None)
        if callable(user_constant) and offset is None:
            user_values = user_constant(
                self._to_user_shape(target), weight if weight.size else None
            )
            return np.broadcast_to(np.asarray(user_values, dtype=float), (self.outputs,)).copy()
        rows = target.shape[1]
        leaf = np.zeros(rows, dtype=np.intp)
        start = np.zeros((self.outputs, rows)) if offset is None else offset
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
        """Return, for each leaf, the constant to add to output `output` of its rows that minimises the loss.

        The zero of the derivative is bracketed by doubling and then found by bisection, for all leaves at
        once.
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
        """Convert raw predictions of shape (rows, outputs) to the scale of the target or to probabilities."""
        user_link = getattr(self.user, "inverse_link", None)
        if callable(user_link):
            result = np.asarray(user_link(raw[:, 0] if raw.shape[1] == 1 else raw), dtype=float)
            if result.ndim == 2:
                return result
            return np.column_stack([1 - result, result] if self.is_classification else [result])
        # Without the user's inverse_link, raw predictions of classes are log-odds.
        return _log_odds(self.outputs).responses(raw) if self.is_classification else raw
