"""Every loss finds its minimum for targets of any magnitude, from 10⁻⁶ to 10⁶."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from core_fit import fit_core
from loss_cases import REGRESSION, TRAITS, Array, cases, core_loss, parameters_of, targets_near
from scipy.optimize import minimize_scalar

import bosquet
from bosquet import GradientBoostingRegressor, _core
from bosquet.reference.losses import Loss, loss_named

every_loss = pytest.mark.parametrize(("name", "parameter"), cases())
every_scale = pytest.mark.parametrize("centre", [1e-6, 1.0, 1e3, 1e6])


def smallest_loss(loss: _core.Loss, in_target_unit: bool, y: Array, w: Array) -> float:
    """Return the loss of the best constant, found by a bounded scalar minimisation."""
    ends = (y.min(), y.max()) if in_target_unit else (-35.0, 35.0)
    found = minimize_scalar(
        lambda c: loss.value(y[None], np.full((1, y.size), c), w),
        bounds=ends,
        method="bounded",
        options={"xatol": 1e-12 * abs(ends[1]), "maxiter": 5000},
    )
    return float(found.fun)


def assert_minimal(loss: _core.Loss, reference: Loss, constant: float, y: Array, w: Array) -> None:
    """Check that no constant has a smaller loss. The minimiser may differ from that of the reference."""
    found = loss.value(y[None], np.full((1, y.size), constant), w)
    best = reference.minimiser(y, np.zeros(y.size), w)
    reference_loss = np.sum(w * reference.value(y, np.full(y.size, best)))
    for smallest in (smallest_loss(loss, reference.in_target_unit, y, w), reference_loss):
        assert found <= smallest + 1e-12 * max(abs(smallest), 1e-2)


@every_loss
@every_scale
def test_the_best_constant_minimises_the_loss(name: str, parameter: float, centre: float) -> None:
    y, w = targets_near(name, centre)
    loss, reference = core_loss(name, parameter), loss_named(name, parameter)
    constant = loss.best_constants(y[None], w)[0]
    if name == "huber":  # starts from the median: there are no residuals yet to set delta
        assert constant == reference.best_constant(y, w)
    else:
        assert_minimal(loss, reference, constant, y, w)


@every_loss
@every_scale
def test_the_value_of_a_leaf_minimises_the_loss(name: str, parameter: float, centre: float) -> None:
    y, w = targets_near(name, centre)
    core = fit_core(
        np.zeros((y.size, 1)), y, name, parameters=parameters_of(name, parameter), weight=w,
        newton=False, max_leaf_nodes=1,
    )  # fmt: skip
    loss, reference = core_loss(name, parameter), loss_named(name, parameter)
    loss.start_round(y[None], np.zeros((1, y.size)), w)
    reference.start_round(y, np.zeros(y.size), w)
    assert_minimal(loss, reference, core.raw[0, 0], y, w)


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e-3, 1e3, 1e12])
def test_a_leaf_of_huber_scales_with_the_targets(scale: float) -> None:
    y, w = targets_near("huber", 1.0)

    def leaf(y: Array) -> float:
        rows = np.zeros((y.size, 1))
        options = {"newton": False, "max_leaf_nodes": 1}
        return float(fit_core(rows, y, "huber", parameters=[0.7], weight=w, **options).raw[0, 0])

    assert leaf(scale * y) == pytest.approx(scale * leaf(y), rel=1e-9)


@pytest.mark.parametrize("step", ["newton", "gradient"])
@pytest.mark.parametrize("centre", [1e3, 1e6])
@pytest.mark.parametrize("name", REGRESSION)
def test_boosting_fits_targets_far_from_zero(name: str, centre: float, step: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = centre * (1 + 0.1 * np.tanh(X[:, 0]))
    model = GradientBoostingRegressor(
        name, step=step, n_estimators=60, max_leaf_nodes=8, learning_rate=0.2, random_state=0
    ).fit(X, y)
    assert model.score(X, y) > 0.9


@every_loss
def test_core_and_reference_declare_the_same_unit(name: str, parameter: float) -> None:
    in_target_unit = loss_named(name, parameter).in_target_unit
    assert in_target_unit == (TRAITS[name]["scale"] == "target")


@pytest.mark.parametrize("name", [name for name, loss in TRAITS.items() if loss["parameter"]])
def test_a_parameter_out_of_range_is_rejected(name: str) -> None:
    low, high = TRAITS[name]["parameter"]
    for parameter in (low, high, np.nan, -np.inf):
        with pytest.raises(_core.InputError, match=f"parameter of loss='{name}'"):
            _core.Loss(name, 1, 1, [parameter])
    for wrong in ([], [(low + high) / 2] * 3):
        with pytest.raises(_core.InputError, match="one parameter"):
            _core.Loss(name, 2, 1, wrong)


@pytest.mark.parametrize("name", [name for name, loss in TRAITS.items() if not loss["parameter"]])
def test_parameters_of_a_loss_without_any_are_rejected(name: str) -> None:
    with pytest.raises(_core.InputError, match=f"'{name}' takes no parameters"):
        _core.Loss(name, 1, 1, [0.5])


@pytest.mark.parametrize("name", REGRESSION)
def test_a_model_with_every_loss_can_be_saved_and_loaded(name: str, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = GradientBoostingRegressor(name, n_estimators=2).fit(X, targets_near(name, 1.0, 60)[0])
    model.save(tmp_path / "model.bosquet")
    loaded = bosquet.load(tmp_path / "model.bosquet")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_the_docstring_names_every_loss() -> None:
    for name in REGRESSION:
        assert f'"{name}"' in (GradientBoostingRegressor.__doc__ or "")
