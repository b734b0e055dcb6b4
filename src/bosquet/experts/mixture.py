"""Aggregation of experts: a stream, a batch, a scikit-learn estimator."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from bosquet._fitted import Saved, fits_aside, reads_one_fit
from bosquet.experts._game import Game, RangeWarning
from bosquet.experts._reading import (
    class_number,
    forecast_dimensions,
    other_experts,
    read_classes,
    read_forecasts,
    read_mask,
    read_truths,
)
from bosquet.experts._summary import summary_text
from bosquet.experts.losses import UserLoss

__all__ = ["Mixture", "RangeWarning", "play"]


class Mixture(Saved, Game):
    r"""Experts weighed by how they did: nearly as good as the best of them, whatever comes.

    At each step the experts predict, the rule turns their past losses into weights p, the mixture
    predicts :math:`\hat x = \sum_j p(j) f(j)`, the truth arrives. Nothing is assumed about the truths.
    The regret :math:`\sum_t \ell(\hat x_t, y_t) - \sum_t \ell(f_t(j), y_t)` stays below the bound
    of the rule.

    As a stream, ``predict(f)`` and then ``update(y)`` for each step; memory is that of one step. As
    a batch, ``fit(F, y)`` plays all steps in order. ``partial_fit`` plays more of them. Both ways
    give the same bits. Every call counts all of its steps or, with an error or an interrupt, none.

    Parameters
    ----------
    rule : str or rule, default="ml-poly"
        "ewa" (exponential weights), "adahedge", "squint", "fixed-share", "ml-poly", "ml-prod", "boa",
        "ridge", "ogd", "ftrl", "exp3", "exp3-ix", "ftl"; or one with parameters of its own, such as
        ``ExponentialWeights(learning_rate=0.1)``.
    loss : str, callable, pair of callables or object, default="square"
        "square", "absolute", "percentage", "pinball" (of `quantile`), "log" (forecasts are the
        probability that the truth is 1), "zero-one" (forecasts are labels, weighed by a vote),
        "linear" (the forecasts are themselves losses); or a function ``value(forecasts, truth)``, or
        with its derivative ``(value, gradient)``.
    gradient : bool, default=True
        Tell the rule the linearised losses ℓ'(x̂) f(j) in place of ℓ(f(j)). The regret is then bounded
        against the best fixed *combination* of experts, not only the best expert. Without effect
        where nothing is mixed: on zero-one loss, with `randomised`, and for bandits.
    randomised : bool, default=False
        Follow one expert drawn by the weights, in place of the weighted mean. The bound is then on the
        expected loss.
    prior : array of shape (n_experts,), default=None
        Weights before the first step, above 0; None: all the same.
    loss_range : float, default=None
        M: how far apart the losses that the rule sees may lie at a step (linearised ones, where they
        are). Some rules use it to tune themselves, bounds are stated for it, and a `RangeWarning` is
        given when losses exceed it. None: learned on the way; 1 for the zero-one loss.
    quantile : float in (0, 1), default=0.5
        For loss="pinball".
    classes : int or list of labels, default=None
        Forecasts are probabilities of these classes, and truths are labels. Losses "log", "square"
        (Brier's), "absolute", "zero-one".
    block : int, default=1
        Rows in a step: weights change after every `block` rows. A stream then calls ``predict_step``
        and ``update`` with `block` rows at a time.
    history : {"fit", True, False}, default="fit"
        Whether weights, predictions and losses of every step are kept: by ``fit`` alone, by
        ``partial_fit`` and ``update`` too, or never.
    random_state : int, RandomState instance or None, default=None
        For drawing experts.

    Attributes
    ----------
    final_weights_ : array of shape (n_experts,)
        Weights of the next step, were every expert awake.
    weights_, expert_losses_ : arrays of shape (n_steps, n_experts)
        Of each step, if history was kept; the loss of an expert asleep is NaN.
    predictions_, losses_ : arrays of shape (n_steps,)
        Of the mixture; predictions of classes have a column each.
    chosen_ : array of shape (n_steps,)
        Numbers of the experts drawn, where they are.
    regret_ : array of shape (n_experts,)
        Loss of the mixture less that of each expert, over the steps at which it was awake.
    bound_ : array of shape (n_experts,)
        What the rule guarantees of `regret_`; NaN where it guarantees nothing: rules bound the mean of
        the zero-one loss by the weights, and a vote may lose twice that, so it needs `randomised`.
    bounds_ : array of shape (n_steps,)
        After each step, the bound against the expert that leads so far.
    loss_, expected_loss_ : float
        Total loss of the mixture, and its mean over the draws.
    n_steps_ : int
        Rows played so far.
    learning_rate_ : float
        Of the next step; NaN where a rule has several, or an infinite one.
    n_features_in_ : int
        Number of experts.

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
    ...     said = stream.predict(f)
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
        rule: Any = "ml-poly",
        loss: Any = "square",
        *,
        gradient: bool = True,
        randomised: bool = False,
        prior: Any = None,
        loss_range: float | None = None,
        quantile: float = 0.5,
        classes: Any = None,
        block: int = 1,
        history: Any = "fit",
        random_state: Any = None,
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
    @fits_aside
    def fit(self, F: Any, y: Any = None, awake: Any = None) -> Any:
        """Play all steps in order, from the beginning.

        Parameters
        ----------
        F : table of shape (n_steps, n_experts), or with `classes` (n_steps, n_experts, n_classes)
            Forecasts; NaN for an expert that is asleep.
        y : array of shape (n_steps,)
            Truths. Not needed for loss="linear".
        awake : array of shape (n_steps, n_experts), optional
            Who is awake; the forecasts of the others are not looked at.

        Returns
        -------
        self
        """
        return self._begin_with(F, y, awake, tuned=True, keep=self.history is not False)

    @fits_aside
    def partial_fit(self, F: Any, y: Any = None, awake: Any = None) -> Any:
        """Play more steps. Parameters as for ``fit``.

        All steps count, or with an error or an interrupt none: the call may then be repeated.
        """
        if not self.__sklearn_is_fitted__():
            return self._begin_with(F, y, awake, tuned=False, keep=self.history is True)
        self._check_unchanged()
        if self._core.is_open:
            raise ValueError("a step is open: close it with update(y) before partial_fit")
        forecasts = read_forecasts(self, F, self._n_classes, reset=False)
        self._core = self._core.copy()
        self._play(forecasts, y, awake, keep=self.history is True)
        return self

    def _begin_with(self, F: Any, y: Any, awake: Any, *, tuned: bool, keep: bool) -> Any:
        classes = read_classes(self.classes)
        forecasts = read_forecasts(self, F, 0 if classes is None else len(classes), reset=True)
        self._start(forecasts.shape[1], len(forecasts) if tuned else None)
        self._play(forecasts, y, awake, keep=keep)
        return self

    # -------------------------------------------------------------------- stream
    def predict(self, F: Any, awake: Any = None) -> Any:
        """Predict: a step of a stream, or many rows with the present weights.

        With ``block=1`` the forecasts of one step, of shape (n_experts,) (with `classes` (n_experts,
        n_classes)), open the step that ``update`` will close, as ``predict_step`` does. A table is
        predicted with the weights as they are, whatever its length, and nothing is opened.

        Parameters
        ----------
        F : array of shape (n_experts,), or table of shape (n_rows, n_experts)
        awake : array of the same shape, optional

        Returns
        -------
        float, or array with one prediction a row; with `classes`, of one probability a class
        """
        dimensions = F.ndim if type(F) is np.ndarray else forecast_dimensions(F)
        if self.block == 1 and dimensions == (1 if self.classes is None else 2):
            return self.predict_step(F, awake)
        return self._predict_table(F, awake)

    @reads_one_fit
    def _predict_table(self, F: Any, awake: Any) -> np.ndarray:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"nothing was played yet: call fit, or open the first step of a stream with {self._opens}"
            )
        forecasts = read_forecasts(self, F, self._n_classes, reset=False)
        said = self._core.predict(forecasts, read_mask(awake, forecasts.shape[:2]))
        return said if self._classes is not None else said[:, 0]

    def predict_step(self, F: Any, awake: Any = None) -> Any:
        """Predict the next step of a stream, which ``update`` will close.

        A step that is still open gives way, so that forecasts may be tried.

        Parameters
        ----------
        F : array of shape (n_experts,), with `classes` (n_experts, n_classes)
            With `block` above 1, as many rows of them.
        awake : array of the same shape, optional

        Returns
        -------
        float, or array with one prediction a row; with `classes`, of one probability a class
        """
        forecasts = np.ascontiguousarray(F, dtype=float)
        shape = forecasts.shape if self.block == 1 else forecasts.shape[1:]
        if "_core" not in self.__dict__:
            self._begin_stream(shape)
        if shape != self._step_shape or (self.block > 1 and len(forecasts) != self.block):
            raise self._wrong_step(forecasts.shape)
        if awake is not None:
            rows = () if self.block == 1 else (int(self.block),)
            awake = read_mask(awake, (*rows, self.n_features_in_))
        return self._core.open(forecasts, awake)

    @fits_aside
    def _begin_stream(self, shape: tuple[int, ...]) -> None:
        if not shape:
            raise ValueError("a step has forecasts of all experts, not one number")
        self._start(shape[0], None)

    def _wrong_step(self, shape: tuple[int, ...]) -> ValueError:
        experts = self.n_features_in_
        wanted = self._step_shape if self.block == 1 else (int(self.block), *self._step_shape)
        if len(shape) == len(wanted) and shape[len(wanted) - len(self._step_shape)] != experts:
            return other_experts(shape[len(wanted) - len(self._step_shape)], experts)
        return ValueError(f"a step has forecasts of shape {wanted}, not {shape}")

    def update(self, y: Any = None, *, loss: float | None = None, losses: Any = None) -> Any:
        """Learn from the truth of the step that ``predict`` or ``predict_step`` opened.

        A truth that is not sound raises an error and leaves the step open.

        Parameters
        ----------
        y : float, label, or array of `block` of them
            Not needed for loss="linear", whose forecasts are losses.
        loss : float, optional
            In place of y, for bandits: the loss of the expert that was drawn, all that is seen.
        losses : array of shape (n_experts,), optional
            In place of y, for loss="linear": what each expert lost in this step. No ``predict`` is
            needed before; ``final_weights_`` are the weights that are judged.

        Returns
        -------
        self
        """
        if losses is not None:
            self._open_losses(losses)
            y = 0.0
        elif "_core" not in self.__dict__:
            raise ValueError(f"update closes a step: call {self._opens} before it")
        core = self._core
        if y is None and self._loss == "linear":
            y = 0.0 if self.block == 1 else np.zeros(core.open_rows)
        if y is None and loss is None:
            raise ValueError("update needs the truth y; a bandit may be given loss= instead")
        if loss is None and (self.history is True or isinstance(self._loss, UserLoss)):
            return self._close_and_keep(y)
        # The step is closed by an assignment, not by a call: Python raises KeyboardInterrupt after calls,
        # and who gets one here would not know that the step has counted.
        if loss is not None:
            core.bandit_loss = loss
        elif self.block == 1:
            core.truth = _one_truth(y) if self._classes is None else class_number(y, self._classes)
        else:
            core.truths = read_truths(y, core.open_rows, self._classes)
        if not core.in_range:
            self._warn_of_range()
        return self

    @property
    def _opens(self) -> str:
        return "predict(forecasts)" if self.block == 1 else "predict_step(forecasts)"

    def _open_losses(self, losses: Any) -> None:
        if "_core" not in self.__dict__:
            self._begin_stream(np.shape(losses))
        if self._loss != "linear" or self.block > 1:
            raise ValueError("losses= is for loss='linear' and block=1; give the truth y")
        self.predict_step(losses)

    @fits_aside
    def _close_and_keep(self, y: Any) -> Any:
        if not self._core.is_open:
            raise ValueError(f"there is no step to close: call {self._opens} first")
        self._core = core = self._core.copy()
        if isinstance(self._loss, UserLoss):
            played = self._judge([y] if self.block == 1 else y)
        else:
            truths = read_truths([y] if self.block == 1 else y, core.open_rows, self._classes)
            forecasts, awake = core.open_forecasts(), core.open_awake()
            played = core.run(forecasts, truths, awake, core.open_rows, True)
        if self.history is True:
            self._played = self._played.plus(played)
        if not core.in_range:
            self._warn_of_range()
        return self

    # ------------------------------------------------------------ looking, saving
    @reads_one_fit
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the present weights on some rows; with `classes`, the share of labels they get right."""
        if self.classes is None:
            return super().score(X, y, sample_weight)
        said = self.predict(X).argmax(axis=1)
        right = said == read_truths(y, len(said), self._classes)
        return float(np.average(right, weights=sample_weight))

    @reads_one_fit
    def recommend(self, how: str = "average") -> np.ndarray:
        """Weights to go on with when the game is over (pure exploration).

        Parameters
        ----------
        how : {"average", "most played", "leader"}, default="average"
            The mean of the weights of all steps: on independent rows its expected loss exceeds that
            of the best expert by no more than regret / n. Or all weight to the expert that had most of
            it, or to the one that lost least.

        Returns
        -------
        array of shape (n_experts,)
        """
        totals = self._now.totals
        played = totals["played"] / max(totals["rows"], 1)
        if how == "average":
            return played
        if how not in ("most played", "leader"):
            raise ValueError(f"how={how!r} must be 'average', 'most played' or 'leader'")
        return np.eye(len(played))[(played if how == "most played" else self.regret_).argmax()]

    @reads_one_fit
    def summary(self) -> str:
        """The rule, its weights, and its errors beside those of the uniform mean."""
        return summary_text(self)

    def __str__(self) -> str:
        return self.summary() if self.__sklearn_is_fitted__() else repr(self)

    def save(self, path: str | os.PathLike[str], key: bytes | None = None) -> None:
        """Write the mixture to a file that ``bosquet.load`` reads, to go on from where it is.

        In mid-stream too: a step that is open stays open. The history of past steps is not written. With a
        `key` the file is signed.
        """
        super().save(path, key)


def _one_truth(y: Any) -> Any:
    """A number as the core takes it, told apart at little cost from what is none."""
    if type(y) is float or isinstance(y, int | float | np.number):
        return y
    raise ValueError(f"the truth of a step is one number, not {y!r}")


def play(
    losses: Any,
    rule: Any = "ewa",
    *,
    prior: Any = None,
    loss_range: float | None = None,
    randomised: bool = False,
    awake: Any = None,
    random_state: Any = None,
) -> Mixture:
    """The bare game: experts that lose, and a rule that is to lose little more than the best.

    Parameters
    ----------
    losses : array of shape (n_steps, n_experts)
    rule : str or rule, default="ewa"
    prior, loss_range, randomised, random_state
        As in `Mixture`.
    awake : array of shape (n_steps, n_experts), optional

    Returns
    -------
    Mixture
        Fitted with loss="linear": its loss at a step is the weighted mean of the experts', or that of
        the expert drawn.

    Examples
    --------
    >>> from bosquet.experts import play
    >>> game = play([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]], "adahedge")
    >>> game.weights_.round(2)
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
