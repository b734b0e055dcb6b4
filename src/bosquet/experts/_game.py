"""A game under way: the core that plays it, what is known of it, how it is pickled."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import ExpertMixture
from bosquet._fitted import reads_one_fit
from bosquet._parameters import Check, boolean, check_parameters, choice, integer, number
from bosquet._sklearn import BaseEstimator, RegressorMixin, seed_from
from bosquet._warnings import warn_user
from bosquet.experts._history import History
from bosquet.experts._judging import judge
from bosquet.experts._reading import read_classes, read_mask, read_prior, read_truths
from bosquet.experts.losses import OF_CLASSES, UserLoss, loss_of
from bosquet.experts.rules import rule_of

CHECKS: dict[str, Check] = {
    "gradient": boolean(),
    "randomised": boolean(),
    "loss_range": number(0, open_low=True, none=True),
    "quantile": number(0, 1, open_low=True, open_high=True),
    "block": integer(1),
    "history": choice("fit", True, False),
}


def open_step(core: ExpertMixture) -> tuple[np.ndarray, np.ndarray] | None:
    """Forecasts and mask of the step that is open, if one is."""
    return (core.open_forecasts(), core.open_awake()) if core.is_open else None


class RangeWarning(UserWarning):
    """Losses lie farther apart than `loss_range` promised, so that its bound no longer holds."""


class Game(RegressorMixin, BaseEstimator):
    """Starting, playing and looking at a game; `Mixture` adds the ways to call it."""

    rule: Any
    loss: Any
    gradient: Any
    randomised: Any
    prior: Any
    loss_range: Any
    quantile: Any
    classes: Any
    block: Any
    history: Any
    random_state: Any
    n_features_in_: int

    _core: ExpertMixture
    _played: History
    _loss: str | UserLoss
    _classes: np.ndarray | None

    # ------------------------------------------------------------------ starting
    def _start(self, n_experts: int, n_steps: int | None, seed: int | None = None) -> None:
        """A game with nothing played yet. `n_steps` is what a tuned rate is tuned for."""
        check_parameters(self, CHECKS)
        rule, loss = rule_of(self.rule), loss_of(self.loss)
        classes = read_classes(self.classes)
        self._check_together(rule, loss, classes)
        self._rule, self._begun = rule, self._settings()
        loss_range = self.loss_range
        if loss_range is None and loss == "zero-one":
            loss_range = 1.0
        updates = None if n_steps is None else -(-n_steps // int(self.block))
        self._seed = seed_from(self.random_state) if seed is None else seed
        self._horizon = n_steps
        self._core = ExpertMixture(
            rule.name,
            read_prior(self.prior, n_experts).tolist(),
            loss if isinstance(loss, str) else "given",
            range=0.0 if loss_range is None else float(loss_range),
            quantile=float(self.quantile),
            classes=0 if classes is None else len(classes),
            linearised=bool(self.gradient),
            randomised=bool(self.randomised),
            seed=self._seed,
            **rule.settings(n_experts, updates, loss_range),
        )
        self._loss, self._classes = loss, classes
        self._step_shape = (n_experts,) if classes is None else (n_experts, len(classes))
        self._linearised = self.gradient and not self._core.draws and loss != "zero-one"
        self._played, self._warned = History(), False
        self.n_features_in_ = n_experts
        if classes is not None:
            self.classes_ = classes

    def _settings(self) -> dict[str, str]:
        """What a game is played by, as text: all parameters but those that may change on the way."""
        given = self.get_params(deep=True)
        return {k: repr(v) for k, v in given.items() if k not in ("history", "random_state")}

    def _check_unchanged(self) -> None:
        """A game goes on by the parameters it began with, or not at all."""
        now = self._settings()
        changed = sorted(k for k in {*now, *self._begun} if now.get(k) != self._begun.get(k))
        if changed:
            name = changed[0]
            raise ValueError(
                f"{name} was {self._begun.get(name)} when the game began and is {now.get(name)} now; set it"
                " back, or begin anew with fit (or with clone(mixture))"
            )

    def _check_together(self, rule: Any, loss: Any, classes: Any) -> None:
        """Parameters that are right one by one, but not with each other."""
        if classes is not None and isinstance(loss, str) and loss not in OF_CLASSES:
            raise ValueError(
                f"loss={loss!r} is of numbers; with classes it must be one of"
                f" {', '.join(map(repr, OF_CLASSES))}"
            )
        if rule.name == "ridge" and (loss != "square" or self.randomised):
            raise ValueError(
                "rule='ridge' is least squares: it needs loss='square' and randomised=False"
            )
        if rule.bandit and self.block > 1:
            raise ValueError(f"rule={rule.name!r} draws one expert a step: it needs block=1")
        mixes = self.gradient and not (self.randomised or rule.bandit)
        if isinstance(loss, UserLoss) and loss.gradient is None and mixes:
            raise ValueError(
                "gradient=True needs the derivative of a loss of your own: give loss=(value, gradient),"
                " or gradient=False"
            )

    # ------------------------------------------------------------------- playing
    def _play(self, forecasts: np.ndarray, y: Any, awake: Any, *, keep: bool) -> None:
        """All of these steps. On a draft with a core of its own: after an error it is of no use."""
        if y is None and self._loss == "linear":
            y = np.zeros(len(forecasts))
        mask = read_mask(awake, forecasts.shape[:2])
        if isinstance(self._loss, UserLoss):
            played = self._play_judged(forecasts, y, mask)
        else:
            truths = read_truths(y, len(forecasts), self._classes)
            played = self._core.run(forecasts, truths, mask, int(self.block), keep)
        if keep:
            self._played = self._played.plus(played)
        self._warn_of_range()

    def _play_judged(self, forecasts: np.ndarray, y: Any, mask: Any) -> dict[str, np.ndarray]:
        """The same with a loss in Python, step by step."""
        if y is None or len(y) != len(forecasts):
            raise ValueError(f"there must be one truth for each of the {len(forecasts)} steps")
        truths, played = np.asarray(y), History()
        for begin in range(0, len(forecasts), int(self.block)):
            rows = slice(begin, begin + int(self.block))
            self._core.open(forecasts[rows], None if mask is None else mask[rows])
            played = played.plus(self._judge(truths[rows]))
        return played.merged()

    def _judge(self, truths: Any) -> dict[str, np.ndarray]:
        assert isinstance(self._loss, UserLoss)
        return judge(self._core, self._loss, truths, self._step_shape, bool(self._linearised))

    def _warn_of_range(self) -> None:
        if self._warned or self._core.in_range:
            return
        self._warned = True
        widest, promised = self._core.totals["widest"], self.loss_range or 1.0
        warn_user(
            f"losses lie {widest:g} apart, more than loss_range={promised:g}: the bound for that range no"
            " longer holds, and bounds are reported for the range seen where the rule has one",
            RangeWarning,
        )

    # ---------------------------------------------------------- what is known now
    def __sklearn_is_fitted__(self) -> bool:
        return "_core" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = getattr(self.rule, "name", self.rule) != "ridge"
        tags.target_tags.required = self.loss != "linear"
        # Columns that are no forecasts of y make no good experts.
        tags.regressor_tags.poor_score = True
        return tags

    @property
    def _now(self) -> ExpertMixture:
        if "_core" not in self.__dict__:
            raise AttributeError("nothing has been played yet: call fit, or predict and update")
        return self._core

    @property
    def _n_classes(self) -> int:
        return 0 if self._classes is None else len(self._classes)

    @property
    def final_weights_(self) -> np.ndarray:
        return self._now.weights()

    @property
    @reads_one_fit
    def regret_(self) -> np.ndarray:
        totals = self._now.totals
        return totals["regret"] if totals["blind"] == 0 else np.full(self._now.n_experts, np.nan)

    @property
    def _guarantees(self) -> bool:
        """Rules bound the mean loss by the weights; the loss of a vote may be twice that."""
        return self._now.draws or self._loss != "zero-one"

    @property
    @reads_one_fit
    def bound_(self) -> np.ndarray:
        bounds = self._now.bounds()
        return bounds if self._guarantees else np.full_like(bounds, np.nan)

    @property
    def loss_(self) -> float:
        return self._now.totals["loss"]

    @property
    def expected_loss_(self) -> float:
        return self._now.totals["expected"]

    @property
    def n_steps_(self) -> int:
        return self._now.totals["rows"]

    @property
    def learning_rate_(self) -> float:
        return self._now.rate

    @property
    @reads_one_fit
    def chosen(self) -> int:
        """The expert that the open step follows, where one is drawn."""
        if not self._now.draws:
            raise AttributeError("this mixture draws no expert: it has randomised=False")
        return int(self._now.open_chosen()[0])

    @property
    def weights_(self) -> np.ndarray:
        return self._history("weights")

    @property
    def predictions_(self) -> np.ndarray:
        return self._history("predictions")

    @property
    def losses_(self) -> np.ndarray:
        return self._history("losses")

    @property
    def expert_losses_(self) -> np.ndarray:
        return self._history("expert_losses")

    @property
    @reads_one_fit
    def bounds_(self) -> np.ndarray:
        bounds = self._history("bounds")
        return bounds if self._guarantees else np.full_like(bounds, np.nan)

    @property
    def chosen_(self) -> np.ndarray:
        return self._history("chosen")

    @reads_one_fit
    def _history(self, name: str) -> np.ndarray:
        return (self._now, self._played.get(name))[1]

    # ------------------------------------------------------------------ pickling
    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "_core" in state:
            core = state.pop("_core")
            state["_saved_core"] = (core.state(), open_step(core))
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        saved = state.pop("_saved_core", None)
        super().__setstate__(state)
        if saved is not None:
            kept = dict(self.__dict__)
            self._start(self.n_features_in_, self._horizon, self._seed)
            self.__dict__.update(kept)
            self._resume(*saved)

    def _resume(self, fields: dict[str, Any], pending: Any) -> None:
        """Go on from what the core of another game knew, and open the step it had open."""
        self._core.restore(fields)
        if pending is not None:
            forecasts, awake = pending
            self._core.open(np.ascontiguousarray(forecasts), np.ascontiguousarray(awake))
