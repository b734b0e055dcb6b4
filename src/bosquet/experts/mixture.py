"""Online aggregation of experts on a stream or a batch."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from bosquet._fitted import SaveMixin, publishes_fit_atomically, reads_fit_snapshot
from bosquet.experts._base_mixture import BaseMixture, RangeWarning
from bosquet.experts._reading import (
    class_index,
    expert_count_error,
    forecast_dimensions,
    read_classes,
    read_forecasts,
    read_mask,
    read_truths,
)
from bosquet.experts.losses import CustomExpertLoss
from bosquet.experts.summary import summary_text

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import RandomState
    from bosquet.experts._rule import ExpertRule


__all__ = ["Mixture", "RangeWarning", "play"]


class Mixture(SaveMixin, BaseMixture):
    r"""Online aggregation of experts: a weighted mixture with a bound on its regret to the best expert.

    At each step the experts predict, the rule turns their past losses into weights p, the mixture
    predicts :math:`\hat x = \sum_j p(j) f(j)`, and then the truth is observed. Nothing is assumed about the
    truths. The regret :math:`\sum_t \ell(\hat x_t, y_t) - \sum_t \ell(f_t(j), y_t)` is at most the bound
    of the rule.

    On a stream, call ``predict(f)`` and then ``update(y)`` for each step; the memory does not grow with the
    number of steps. On a batch, ``fit(F, y)`` plays all steps in order, and ``partial_fit`` plays more steps.
    Stream and batch give the same bits. A call that ends with an error or an interrupt plays none of its
    steps.

    Guide: the page "Stacking and online aggregation of experts, with regret bounds" of the documentation

    Parameters
    ----------
    rule : str or rule, default="ml-poly"
        "ewa" (exponential weights), "adahedge", "squint", "fixed-share", "ml-poly", "ml-prod", "boa",
        "ridge", "ogd", "ftrl", "exp3", "exp3-ix", "ftl"; or a rule object with parameters, such as
        ``ExponentialWeights(learning_rate=0.1)``.
    loss : str, callable, pair of callables or object, default="square"
        "square", "absolute", "percentage", "pinball" (with `quantile`), "log" (forecasts are the
        probability that the truth is 1), "zero-one" (forecasts are labels, combined by a weighted vote),
        "linear" (the forecasts are themselves losses); or a function ``value(forecasts, truth)``, or a
        pair ``(value, gradient)`` of functions.
    gradient : bool, default=True
        Whether the rule receives the linearised losses ℓ'(x̂) f(j) instead of ℓ(f(j)). The bound then
        holds for the regret to the best fixed *combination* of experts, not only to the best expert.
        Ignored where forecasts are not averaged: for the zero-one loss, with `randomised`, and for
        bandit rules.
    randomised : bool, default=False
        Whether the mixture follows one expert, drawn with the weights as probabilities, instead of
        predicting the weighted mean. The bound then holds for the expected loss.
    prior : array of shape (n_experts,), default=None
        Weights before the first step, all greater than 0. None: equal weights.
    loss_range : float, default=None
        M, the largest difference between the losses of a step; with `gradient`, between the linearised
        losses. Some rules derive their learning rate from it. Bounds are stated for it, and a
        `RangeWarning` is issued if losses exceed it. None: the range is learned online; it is 1 for the
        zero-one loss.
    quantile : float in (0, 1), default=0.5
        For loss="pinball".
    classes : int or list of labels, default=None
        Forecasts are probabilities of these classes, and truths are labels. The loss must be "log",
        "square" (Brier score), "absolute" or "zero-one".
    block : int, default=1
        Number of rows per step: the weights change after every `block` rows. The last step of a batch
        may have fewer rows. On a stream, call ``predict_step`` and ``update`` with `block` rows at a time.
    history : {"fit", True, False}, default="fit"
        Which methods record the weights, predictions and losses of every row: only ``fit``; also
        ``partial_fit`` and ``update`` (True); or none (False).
    random_state : int, RandomState instance or None, default=None
        Random seed for drawing experts.

    Attributes
    ----------
    final_weights_ : array of shape (n_experts,)
        Weights of the next step if every expert is awake.
    weight_history_, expert_losses_ : arrays of shape (n_rows, n_experts)
        Weights and losses of the experts for each row, if recorded. The loss of a sleeping expert is NaN.
    predictions_, losses_ : arrays of shape (n_rows,)
        Predictions and losses of the mixture for each row, if recorded. With `classes`, predictions
        have one column per class.
    chosen_ : array of shape (n_rows,)
        Index of the expert drawn for each row, if experts are drawn and rows recorded.
    regret_ : array of shape (n_experts,)
        Loss of the mixture minus that of each expert, over the rows for which the expert was awake.
    bound_ : array of shape (n_experts,)
        Upper bound of `regret_` that the rule guarantees; NaN if it guarantees none. For the zero-one loss
        the bound holds for the expected loss, and a vote may lose twice as much, so `bound_` is NaN unless
        `randomised`.
    bounds_ : array of shape (n_rows,)
        After each row, the bound of the regret to the best expert so far.
    loss_, expected_loss_ : float
        Total loss of the mixture, and its expectation over the drawn experts.
    n_rows_, n_steps_ : int
        Number of rows and of steps played so far. They differ if a step has several rows (`block`).
    learning_rate_ : float
        Learning rate of the next step; NaN if the rule has several or an infinite one.
    n_features_in_ : int
        Number of experts.

    See Also
    --------
    SuperLearnerRegressor : Fixed weights, chosen by cross-validation.
    bosquet.experts.OnlineMixtureRegressor : Mixture of models that are trained online.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet import Mixture
    >>> rng = np.random.default_rng(0)
    >>> y = np.sin(np.arange(300) / 20)
    >>> F = y[:, None] + rng.normal(scale=[0.1, 0.3, 1.0], size=(300, 3))
    >>> mixture = Mixture("boa", loss_range=10).fit(F, y)
    >>> print(f"{mixture.score(F, y):.3f}", mixture.final_weights_.round(2))
    0.973 [0.66 0.3  0.04]
    >>> stream = Mixture("boa", loss_range=10)
    >>> for f, truth in zip(F, y):
    ...     prediction = stream.predict(f)
    ...     stream = stream.update(truth)
    >>> bool((stream.final_weights_ == mixture.final_weights_).all())
    True

    References
    ----------
    Cesa-Bianchi and Lugosi, Prediction, Learning, and Games, 2006. Gaillard and Goude, opera: online
    prediction by expert aggregation (R package), 2016.
    """

    def __init__(
        self,
        rule: str | ExpertRule = "ml-poly",
        loss: Any = "square",
        *,
        gradient: bool = True,
        randomised: bool = False,
        prior: ArrayLike | None = None,
        loss_range: float | None = None,
        quantile: float = 0.5,
        classes: ArrayLike | None = None,
        block: int = 1,
        history: Any = "fit",
        random_state: RandomState = None,
    ):
        self.rule = rule
        self.loss = loss
        self.gradient = gradient
        self.randomised = randomised
        self.prior = prior
        self.loss_range = loss_range
        self.quantile = quantile
        self.classes = classes
        self.block = block
        self.history = history
        self.random_state = random_state

    # ------------------------------------------------------------------- batches
    @publishes_fit_atomically
    def fit(self, F: ArrayLike, y: ArrayLike | None = None, awake: ArrayLike | None = None) -> Self:
        """Start again and play all rows in order.

        Parameters
        ----------
        F : table of shape (n_rows, n_experts), or with `classes` (n_rows, n_experts, n_classes)
            Forecasts; NaN for a sleeping expert.
        y : array of shape (n_rows,)
            Truths. Not used with loss="linear".
        awake : array of shape (n_rows, n_experts), optional
            Which experts are awake; the forecasts of the others are ignored.

        Returns
        -------
        self
        """
        return self._start_and_play(F, y, awake, tuned=True, keep=self.history is not False)

    @publishes_fit_atomically
    def partial_fit(
        self, F: ArrayLike, y: ArrayLike | None = None, awake: ArrayLike | None = None
    ) -> Self:
        """Play more rows. The parameters are those of ``fit``.

        A call that ends with an error or an interrupt plays no step and can be repeated.
        """
        if not self.__sklearn_is_fitted__():
            return self._start_and_play(F, y, awake, tuned=False, keep=self.history is True)
        self._check_unchanged()
        if self._core.is_open:
            raise ValueError("a step is open; close it with update(y) before partial_fit")
        forecasts = read_forecasts(self, F, self._n_classes, reset=False)
        self._core = self._core.copy()
        self._play(forecasts, y, awake, keep=self.history is True)
        return self

    def _start_and_play(
        self, F: ArrayLike, y: ArrayLike | None, awake: ArrayLike | None, *, tuned: bool, keep: bool
    ) -> Any:
        classes = read_classes(self.classes)
        forecasts = read_forecasts(self, F, 0 if classes is None else len(classes), reset=True)
        self._start(forecasts.shape[1], len(forecasts) if tuned else None)
        self._play(forecasts, y, awake, keep=keep)
        return self

    # -------------------------------------------------------------------- stream
    def predict(self, F: ArrayLike, awake: ArrayLike | None = None) -> Any:
        """Predict one step of a stream, or many rows with the current weights.

        With ``block=1``, forecasts of one step, of shape (n_experts,) (with `classes` (n_experts,
        n_classes)), open a step that ``update`` closes, as ``predict_step`` does. A table is predicted with
        the current weights and opens no step.

        Parameters
        ----------
        F : array of shape (n_experts,), or table of shape (n_rows, n_experts)
        awake : array of the same shape, optional

        Returns
        -------
        float, or array with one prediction per row; with `classes`, one probability per class
        """
        dimensions = F.ndim if type(F) is np.ndarray else forecast_dimensions(F)
        if self.block == 1 and dimensions == (1 if self.classes is None else 2):
            return self.predict_step(F, awake)
        return self._predict_table(F, awake)

    @reads_fit_snapshot
    def _predict_table(self, F: ArrayLike, awake: ArrayLike | None) -> np.ndarray:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"this mixture is not fitted yet; call fit, or open the first step of a stream with"
                f" {self._opening_call}"
            )
        forecasts = read_forecasts(self, F, self._n_classes, reset=False)
        predictions = self._core.predict(forecasts, read_mask(awake, forecasts.shape[:2]))
        return predictions if self._classes is not None else predictions[:, 0]

    def predict_step(self, F: ArrayLike, awake: ArrayLike | None = None) -> Any:
        """Open the next step of a stream, which ``update`` closes, and return its prediction.

        It replaces a step that is still open.

        Parameters
        ----------
        F : array of shape (n_experts,), with `classes` (n_experts, n_classes)
            With `block` > 1, an additional first axis of length `block`.
        awake : array of the same shape, optional

        Returns
        -------
        float, or array with one prediction per row; with `classes`, one probability per class
        """
        forecasts = np.ascontiguousarray(F, dtype=float)
        shape = forecasts.shape if self.block == 1 else forecasts.shape[1:]
        if "_core" not in self.__dict__:
            self._start_stream(shape)
        if shape != self._step_shape or (self.block > 1 and len(forecasts) != self.block):
            raise self._step_shape_error(forecasts.shape)
        if awake is not None:
            rows = () if self.block == 1 else (int(self.block),)
            awake = read_mask(awake, (*rows, self.n_features_in_))
        return self._core.open(forecasts, awake)

    @publishes_fit_atomically
    def _start_stream(self, shape: tuple[int, ...]) -> None:
        if not shape:
            raise ValueError(
                "forecasts of a step must have shape (n_experts,), got a single number; pass one forecast"
                " per expert"
            )
        self._start(shape[0], None)

    def _step_shape_error(self, shape: tuple[int, ...]) -> ValueError:
        experts = self.n_features_in_
        expected = self._step_shape if self.block == 1 else (int(self.block), *self._step_shape)
        if len(shape) == len(expected) and shape[len(expected) - len(self._step_shape)] != experts:
            return expert_count_error(shape[len(expected) - len(self._step_shape)], experts)
        return ValueError(f"forecasts of a step must have shape {expected}, got {shape}")

    def update(
        self,
        y: ArrayLike | None = None,
        *,
        loss: float | None = None,
        losses: ArrayLike | None = None,
    ) -> Any:
        """Close the step that ``predict`` or ``predict_step`` opened, and update the weights.

        An invalid truth raises an error and leaves the step open.

        Parameters
        ----------
        y : float, label, or array of `block` of them
            The truth. Not used with loss="linear", where forecasts are losses.
        loss : float, optional
            For bandit rules, instead of y: the loss of the drawn expert, the only one observed.
        losses : array of shape (n_experts,), optional
            For loss="linear", instead of y: the loss of each expert at this step. No previous call of
            ``predict`` is needed; the weights of the step are ``final_weights_``.

        Returns
        -------
        self
        """
        if losses is not None:
            self._open_losses(losses)
            y = 0.0
        elif "_core" not in self.__dict__:
            raise ValueError(f"no step is open; call {self._opening_call} before update")
        core = self._core
        if y is None and self._loss == "linear":
            y = 0.0 if self.block == 1 else np.zeros(core.open_rows)
        if y is None and loss is None:
            raise ValueError("update requires the truth y, or loss= for a bandit rule; got y=None")
        if loss is None and (self.history is True or isinstance(self._loss, CustomExpertLoss)):
            return self._close_and_record(y)
        # The step is closed by an assignment and not by a call. Python raises KeyboardInterrupt after calls;
        # after one here the caller could not know whether the step was played.
        if loss is not None:
            core.bandit_loss = loss
        elif self.block == 1:
            core.truth = _check_truth(y) if self._classes is None else class_index(y, self._classes)
        else:
            core.truths = read_truths(y, core.open_rows, self._classes)
        if not core.in_range:
            self._warn_if_out_of_range()
        return self

    @property
    def _opening_call(self) -> str:
        return "predict(forecasts)" if self.block == 1 else "predict_step(forecasts)"

    def _open_losses(self, losses: ArrayLike) -> None:
        if "_core" not in self.__dict__:
            self._start_stream(np.shape(losses))
        if self._loss != "linear" or self.block > 1:
            raise ValueError("losses= requires loss='linear' and block=1; pass the truth y instead")
        self.predict_step(losses)

    @publishes_fit_atomically
    def _close_and_record(self, y: Any) -> Any:
        if not self._core.is_open:
            raise ValueError(f"no step is open; call {self._opening_call} first")
        self._core = core = self._core.copy()
        if isinstance(self._loss, CustomExpertLoss):
            played = self._close_custom_loss_step([y] if self.block == 1 else y)
        else:
            truths = read_truths([y] if self.block == 1 else y, core.open_rows, self._classes)
            forecasts, awake = core.open_forecasts(), core.open_awake()
            played = core.run(forecasts, truths, awake, core.open_rows, True)
        if self.history is True:
            self._recorded = self._recorded.extended(played)
        if not core.in_range:
            self._warn_if_out_of_range()
        return self

    # ---------------------------------------------------------- reporting, saving
    @reads_fit_snapshot
    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: Any = None) -> float:
        """Return R² of the current weights; with `classes`, the accuracy.

        Parameters
        ----------
        X : table of shape (n_rows, n_experts)
            Forecasts of the experts.
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), optional

        Returns
        -------
        float
        """
        if self.classes is None:
            return super().score(X, y, sample_weight)
        predicted = self.predict(X).argmax(axis=1)
        correct = predicted == read_truths(y, len(predicted), self._classes)
        return float(np.average(correct, weights=sample_weight))

    @reads_fit_snapshot
    def recommend(self, how: str = "average") -> np.ndarray:
        """Return the recommended weights after the last step (pure exploration).

        Parameters
        ----------
        how : {"average", "most played", "leader"}, default="average"
            "average": the mean of the weights over all rows; on independent rows its expected loss
            exceeds that of the best expert by at most regret / n. "most played": all weight on the expert
            with the largest mean weight. "leader": all weight on the expert with the smallest loss.

        Returns
        -------
        array of shape (n_experts,)
        """
        totals = self._fitted_core.totals
        average = totals["weight_sum"] / max(totals["rows"], 1)
        if how == "average":
            return average
        if how not in ("most played", "leader"):
            raise ValueError(
                f"how={how!r} is not valid: how must be 'average', 'most played' or 'leader'"
            )
        return np.eye(len(average))[(average if how == "most played" else self.regret_).argmax()]

    @reads_fit_snapshot
    def summary(self) -> str:
        """Return the rule, its weights, and its errors next to those of the uniform mean, as text."""
        return summary_text(self)

    def __str__(self) -> str:
        return self.summary() if self.__sklearn_is_fitted__() else repr(self)

    def save(self, path: str | os.PathLike[str], key: bytes | None = None) -> None:
        """Write the mixture to a file; the mixture that ``bosquet.load`` returns continues from this state.

        An open step is written too. The recorded rows are not written. With a `key` the file is signed.
        """
        super().save(path, key)


def _check_truth(y: ArrayLike | None) -> Any:
    """Return y if it is a number, by a fast check; raise a ValueError otherwise."""
    if type(y) is float or isinstance(y, int | float | np.number):
        return y
    raise ValueError(f"y={y!r} is not valid: y must be one number, the truth of this step")


def play(
    losses: ArrayLike,
    rule: str | ExpertRule = "ewa",
    *,
    prior: ArrayLike | None = None,
    loss_range: float | None = None,
    randomised: bool = False,
    awake: ArrayLike | None = None,
    random_state: RandomState = None,
) -> Mixture:
    """Play a game given by the losses of the experts, without forecasts.

    Parameters
    ----------
    losses : array of shape (n_rows, n_experts)
        One step per row.
    rule : str or rule, default="ewa"
    prior, loss_range, randomised, random_state
        As in `Mixture`.
    awake : array of shape (n_rows, n_experts), optional

    Returns
    -------
    Mixture
        Fitted with loss="linear". Its loss at a step is the weighted mean of the losses of the experts, or
        the loss of the drawn expert.

    Examples
    --------
    >>> from bosquet.experts import play
    >>> game = play([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]], "adahedge")
    >>> game.weight_history_.round(2)
    array([[0.5 , 0.5 ],
           [0.8 , 0.2 ],
           [0.92, 0.08]])
    >>> game.regret_.round(2)
    array([ 0.62, -0.38])
    """
    mixture = Mixture(
        rule,
        "linear",
        prior=prior,
        loss_range=loss_range,
        randomised=randomised,
        random_state=random_state,
    )
    return mixture.fit(losses, awake=awake)
