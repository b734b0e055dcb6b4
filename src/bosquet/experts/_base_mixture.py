"""State of a mixture: starting it, playing steps, its fitted attributes and its pickle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._core import ExpertMixture
from bosquet._fitted import reads_fit_snapshot
from bosquet._parameters import Check, boolean, check_parameters, choice, integer, number
from bosquet._sklearn import BaseEstimator, RegressorMixin, seed_from
from bosquet._warnings import warn_user
from bosquet.experts._custom_loss import close_custom_loss_step
from bosquet.experts._history import History
from bosquet.experts._reading import read_classes, read_mask, read_prior, read_truths
from bosquet.experts.losses import CLASS_LOSSES, CustomExpertLoss, as_loss
from bosquet.experts.rules import as_rule

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._sklearn import Tags
    from bosquet.experts._rule import ExpertRule


CHECKS: dict[str, Check] = {
    "gradient": boolean(),
    "randomised": boolean(),
    "loss_range": number(0, open_low=True, none=True),
    "quantile": number(0, 1, open_low=True, open_high=True),
    "block": integer(1, 2**32 - 1),  # row numbers have 32 bits in the core
    "history": choice("fit", True, False),
}


def open_step(core: ExpertMixture) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the forecasts and the mask of the open step, or None if no step is open."""
    return (core.open_forecasts(), core.open_awake()) if core.is_open else None


class RangeWarning(UserWarning):
    """Warning that the losses of a step exceed `loss_range`, so that the bound for it no longer holds."""


class BaseMixture(RegressorMixin, BaseEstimator):
    """Base class of `Mixture`: its state, its fitted attributes and its pickle."""

    rule: str | ExpertRule
    loss: Any
    gradient: Any
    randomised: Any
    prior: Any
    loss_range: Any
    quantile: float
    classes: Any
    block: Any
    history: Any
    random_state: Any
    n_features_in_: int

    _core: ExpertMixture
    _recorded: History
    _loss: str | CustomExpertLoss
    _classes: np.ndarray | None

    # ------------------------------------------------------------------ starting
    def _start(self, n_experts: int, n_rows: int | None, seed: int | None = None) -> None:
        """Start without any step played. A tuned learning rate is tuned for the steps of `n_rows` rows."""
        check_parameters(self, CHECKS)
        rule, loss = as_rule(self.rule), as_loss(self.loss)
        classes = read_classes(self.classes)
        self._check_compatible(rule, loss, classes)
        self._rule, self._params_at_start = rule, self._parameters_text()
        loss_range = self.loss_range
        if loss_range is None and loss == "zero-one":
            loss_range = 1.0
        n_steps = None if n_rows is None else -(-n_rows // int(self.block))
        self._seed = seed_from(self.random_state) if seed is None else seed
        self._horizon = n_rows
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
            **rule.core_options(n_experts, n_steps, loss_range),
        )
        self._loss, self._classes = loss, classes
        self._step_shape = (n_experts,) if classes is None else (n_experts, len(classes))
        self._linearised = self.gradient and not self._core.draws and loss != "zero-one"
        self._recorded, self._warned = History(), False
        self.n_features_in_ = n_experts
        if classes is not None:
            self.classes_ = classes

    def _parameters_text(self) -> dict[str, str]:
        """Return the parameters that must not change between steps, as text."""
        params = self.get_params(deep=True)
        return {k: repr(v) for k, v in params.items() if k not in ("history", "random_state")}

    def _check_unchanged(self) -> None:
        """Raise a ValueError if a parameter was changed after the first step."""
        now = self._parameters_text()
        changed = sorted(
            k for k in {*now, *self._params_at_start} if now.get(k) != self._params_at_start.get(k)
        )
        if changed:
            name = changed[0]
            raise ValueError(
                f"{name} was {self._params_at_start.get(name)} at the first step and is {now.get(name)} now;"
                " set it back, or start again with fit or with clone(mixture)"
            )

    def _check_compatible(self, rule: ExpertRule, loss: Any, classes: ArrayLike | None) -> None:
        """Raise a ValueError for parameters that cannot be combined."""
        if classes is not None and isinstance(loss, str) and loss not in CLASS_LOSSES:
            raise ValueError(
                f"loss={loss!r} is not defined for classes; with classes, loss must be one of"
                f" {', '.join(map(repr, CLASS_LOSSES))}"
            )
        if rule.name == "ridge" and (loss != "square" or self.randomised):
            raise ValueError(
                f"rule='ridge' cannot be combined with loss={self.loss!r} and randomised={self.randomised!r};"
                " pass loss='square' and randomised=False, or use another rule"
            )
        if rule.bandit and self.block > 1:
            raise ValueError(
                f"block={self.block} cannot be combined with rule={rule.name!r}, which draws one expert per"
                " step; pass block=1 or use another rule"
            )
        mixes = self.gradient and not (self.randomised or rule.bandit)
        if isinstance(loss, CustomExpertLoss) and loss.gradient is None and mixes:
            raise ValueError(
                "gradient=True requires the gradient of a custom loss; pass loss=(value, gradient), or set"
                " gradient=False"
            )

    # ------------------------------------------------------------------- playing
    def _play(
        self, forecasts: np.ndarray, y: ArrayLike | None, awake: ArrayLike | None, *, keep: bool
    ) -> None:
        """Play all of these rows. Works on a draft with its own core, which an error leaves unusable."""
        if y is None and self._loss == "linear":
            y = np.zeros(len(forecasts))
        mask = read_mask(awake, forecasts.shape[:2])
        if isinstance(self._loss, CustomExpertLoss):
            played = self._play_custom_loss(forecasts, y, mask)
        else:
            truths = read_truths(y, len(forecasts), self._classes)
            played = self._core.run(forecasts, truths, mask, int(self.block), keep)
        if keep:
            self._recorded = self._recorded.extended(played)
        self._warn_if_out_of_range()

    def _play_custom_loss(
        self, forecasts: np.ndarray, y: Any, mask: np.ndarray | None
    ) -> dict[str, np.ndarray]:
        """Play all of these rows with a custom loss, one step at a time."""
        if y is None or len(y) != len(forecasts):
            raise ValueError(
                f"y must have one value per row: there are {len(forecasts)} rows, and y"
                f" {'is None' if y is None else f'has length {len(y)}'}"
            )
        truths, played = np.asarray(y), History()
        for begin in range(0, len(forecasts), int(self.block)):
            rows = slice(begin, begin + int(self.block))
            self._core.open(forecasts[rows], None if mask is None else mask[rows])
            played = played.extended(self._close_custom_loss_step(truths[rows]))
        return played.merged()

    def _close_custom_loss_step(self, truths: Any) -> dict[str, np.ndarray]:
        assert isinstance(self._loss, CustomExpertLoss)
        return close_custom_loss_step(
            self._core, self._loss, truths, self._step_shape, bool(self._linearised)
        )

    def _warn_if_out_of_range(self) -> None:
        if self._warned or self._core.in_range:
            return
        self._warned = True
        spread, expected = self._core.totals["largest_spread"], self.loss_range or 1.0
        warn_user(
            f"the losses of a step differ by {spread:g}, which exceeds loss_range={expected:g}, so the regret"
            " bound for loss_range does not hold; pass a larger loss_range, or None to estimate it from the"
            " data",
            RangeWarning,
        )

    # -------------------------------------------------------- fitted attributes
    def __sklearn_is_fitted__(self) -> bool:
        return "_core" in self.__dict__

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = getattr(self.rule, "name", self.rule) != "ridge"
        tags.target_tags.required = self.loss != "linear"
        # The columns of the data sets of check_estimator are features and not forecasts of y.
        tags.regressor_tags.poor_score = True
        return tags

    @property
    def _fitted_core(self) -> ExpertMixture:
        self._check_fitted()
        return self._core

    def _check_fitted(self) -> None:
        if "_core" not in self.__dict__:
            raise AttributeError("this mixture is not fitted yet; call fit, or predict and update")

    @property
    def _n_classes(self) -> int:
        return 0 if self._classes is None else len(self._classes)

    @property
    def final_weights_(self) -> np.ndarray:
        return self._fitted_core.weights()

    @property
    @reads_fit_snapshot
    def regret_(self) -> np.ndarray:
        totals = self._fitted_core.totals
        return (
            totals["regret"]
            if totals["bandit_rows"] == 0
            else np.full(self._fitted_core.n_experts, np.nan)
        )

    @property
    def _has_bound(self) -> bool:
        """Whether the bound of the rule holds: not for a vote, which may lose twice the expected loss."""
        return self._fitted_core.draws or self._loss != "zero-one"

    @property
    @reads_fit_snapshot
    def bound_(self) -> np.ndarray:
        bounds = self._fitted_core.bounds()
        return bounds if self._has_bound else np.full_like(bounds, np.nan)

    @property
    def loss_(self) -> float:
        return self._fitted_core.totals["loss"]

    @property
    def expected_loss_(self) -> float:
        return self._fitted_core.totals["expected_loss"]

    @property
    def n_rows_(self) -> int:
        return self._fitted_core.totals["rows"]

    @property
    def n_steps_(self) -> int:
        return self._fitted_core.totals["updates"]

    @property
    def learning_rate_(self) -> float:
        return self._fitted_core.rate

    @property
    @reads_fit_snapshot
    def chosen(self) -> int:
        """Index of the expert drawn for the open step; only for mixtures that draw one."""
        if not self._fitted_core.draws:
            raise AttributeError(
                "chosen is only defined for mixtures that draw an expert; set randomised=True, or use a"
                " bandit rule"
            )
        return int(self._fitted_core.open_chosen()[0])

    @property
    def weight_history_(self) -> np.ndarray:
        return self._from_history("weights", "weight_history_")

    @property
    def predictions_(self) -> np.ndarray:
        return self._from_history("predictions")

    @property
    def losses_(self) -> np.ndarray:
        return self._from_history("losses")

    @property
    def expert_losses_(self) -> np.ndarray:
        return self._from_history("expert_losses")

    @property
    @reads_fit_snapshot
    def bounds_(self) -> np.ndarray:
        bounds = self._from_history("bounds")
        return bounds if self._has_bound else np.full_like(bounds, np.nan)

    @property
    def chosen_(self) -> np.ndarray:
        steps = self._recorded.merged()
        if steps and "chosen" not in steps:
            raise AttributeError(
                "chosen_ is recorded only if one expert is drawn per step; this mixture weights all experts"
            )
        return self._from_history("chosen")

    @reads_fit_snapshot
    def _from_history(self, name: str, attribute: str | None = None) -> np.ndarray:
        self._check_fitted()
        return self._recorded.get(name, attribute or f"{name}_")

    # ------------------------------------------------------------------ pickling
    def __getstate__(self) -> dict[str, object]:
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
            restored = dict(self.__dict__)
            self._start(self.n_features_in_, self._horizon, self._seed)
            self.__dict__.update(restored)
            self._resume(*saved)

    def _resume(self, fields: dict[str, Any], pending: Any) -> None:
        """Restore the state of another core, and open the step that it had open."""
        self._core.restore(fields)
        if pending is not None:
            forecasts, awake = pending
            self._core.open(np.ascontiguousarray(forecasts), np.ascontiguousarray(awake))
