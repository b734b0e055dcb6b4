"""Losses of the core agree with the reference implementations, and these with numerical derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from instruction_sets import ISAS
from loss_cases import POSITIVE, TWO_CLASSES, Array, accepted, cases, core_loss

from bosquet import _core
from bosquet.reference.losses import (
    Huber,
    Quantile,
    Softmax,
    loss_named,
    rearranged,
    weighted_quantile,
)

NO_WEIGHTS = np.zeros(0)

every_loss = pytest.mark.parametrize(("name", "parameter"), cases())


def draw_sample(name: str, rows: int = 203, seed: int = 0) -> tuple[Array, Array, Array]:
    """Return targets in the domain of the loss, raw predictions and weights."""
    rng = np.random.default_rng(seed)
    f = rng.normal(scale=2, size=rows)
    y = accepted(name, rng.normal(scale=2, size=rows))
    return y, f, rng.choice([0.25, 1.0, 7.0], size=rows)


@every_loss
def test_gradients_and_hessians_are_those_of_the_reference(name: str, parameter: float) -> None:
    y, f, _ = draw_sample(name)
    reference = loss_named(name, parameter)
    g, h = core_loss(name, parameter).gradient_hessian(y[None], f[None])
    assert g.dtype == h.dtype == np.float32
    np.testing.assert_allclose(g[0], reference.gradient(y, f), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(h[0], reference.hessian(y, f), rtol=1e-6, atol=1e-12)


@every_loss
def test_values_are_those_of_the_reference(name: str, parameter: float) -> None:
    y, f, w = draw_sample(name)
    value = loss_named(name, parameter).value(y, f)
    loss = core_loss(name, parameter)
    assert loss.value(y[None], f[None], NO_WEIGHTS) == pytest.approx(value.sum(), rel=1e-12)
    assert loss.value(y[None], f[None], w) == pytest.approx((w * value).sum(), rel=1e-12)


@every_loss
@pytest.mark.parametrize("isa", ISAS)
def test_responses_are_those_of_the_reference(name: str, parameter: float, isa: str) -> None:
    _, f, _ = draw_sample(name)
    f[:2] = 40.0, -40.0
    expected = loss_named(name, parameter).response(f)
    responses = core_loss(name, parameter).responses(f[:, None], isa)
    np.testing.assert_allclose(responses[:, -1], expected, rtol=1e-14)
    if name in TWO_CLASSES:
        np.testing.assert_array_equal(responses[:, 0], 1 - responses[:, 1])
    else:
        assert responses.shape == (len(f), 1)


@pytest.mark.parametrize("isa", ISAS)
def test_responses_of_many_classes_are_probabilities(isa: str) -> None:
    f = np.random.default_rng(0).normal(scale=5, size=(50, 7))
    f[0] = [700, -700, 0, 0, 0, 0, 0]
    responses = core_loss("log_loss", 0.0, outputs=7).responses(f, isa)
    np.testing.assert_allclose(responses, Softmax(7).probability(f.T).T, rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(responses.sum(axis=1), 1, rtol=1e-15)


@every_loss
def test_best_constants_are_those_of_the_reference(name: str, parameter: float) -> None:
    y, _, w = draw_sample(name)
    loss, reference = core_loss(name, parameter), loss_named(name, parameter)
    for weight in (np.ones_like(y), w):
        given = NO_WEIGHTS if weight is not w else w
        (constant,) = loss.best_constants(y[None], given)
        assert constant == pytest.approx(reference.best_constant(y, weight), rel=1e-9, abs=1e-9)


@every_loss
def test_no_other_constant_is_better_than_the_best(name: str, parameter: float) -> None:
    y, f, w = draw_sample(name)
    reference = loss_named(name, parameter)

    def total(start: Array, c: float) -> float:
        return float(np.sum(w * reference.value(y, start + c)))

    # Huber's loss starts from the median, because there are no residuals yet to set delta.
    best = reference.best_constant(y, w)
    if name != "huber":
        zeros = np.zeros_like(y)
        assert total(zeros, best) <= min(total(zeros, best - 1e-4), total(zeros, best + 1e-4))
    step = reference.minimiser(y, f, w)
    assert total(f, step) <= min(total(f, step - 1e-4), total(f, step + 1e-4))


@every_loss
def test_the_gradient_of_a_reference_is_the_slope_of_its_value(name: str, parameter: float) -> None:
    y, f, _ = draw_sample(name)
    reference = loss_named(name, parameter)
    e = 1e-5
    slope = (reference.value(y, f + e) - reference.value(y, f - e)) / (2 * e)
    np.testing.assert_allclose(reference.gradient(y, f), slope, rtol=1e-5, atol=1e-6)


@every_loss
def test_the_hessian_of_a_reference_is_the_slope_of_its_gradient(
    name: str, parameter: float
) -> None:
    y, f, _ = draw_sample(name)
    reference = loss_named(name, parameter)
    if name in ("absolute_error", "quantile", "huber"):
        np.testing.assert_array_equal(reference.hessian(y, f), np.ones_like(f))
        return
    e = 1e-5
    slope = (reference.gradient(y, f + e) - reference.gradient(y, f - e)) / (2 * e)
    np.testing.assert_allclose(reference.hessian(y, f), slope, rtol=1e-5, atol=1e-6)


@every_loss
@pytest.mark.parametrize("rows", [1, 7, 8, 65, 1000])
def test_derivatives_have_the_same_bits_on_every_instruction_set(
    name: str, parameter: float, rows: int
) -> None:
    y, f, _ = draw_sample(name, rows, seed=rows)
    f[::5] *= 50
    loss = core_loss(name, parameter)
    results = [loss.gradient_hessian(y[None], f[None], isa) for isa in ISAS]
    for g, h in results[1:]:
        assert g.tobytes() == results[0][0].tobytes()
        assert h.tobytes() == results[0][1].tobytes()


@pytest.mark.parametrize("name", ["squared_error", "absolute_error", "log_cosh", "log_loss"])
def test_derivatives_are_finite_far_from_the_target(name: str) -> None:
    y = np.array([0.0, 1.0, 0.0, 1.0])
    f = np.array([-1e5, -1e5, 1e5, 1e5])
    g, h = core_loss(name, 0.0).gradient_hessian(y[None], f[None])
    assert np.all(np.isfinite(g))
    assert np.all(np.isfinite(h))
    assert np.all(h >= 0)
    assert np.isfinite(core_loss(name, 0.0).value(y[None], f[None], NO_WEIGHTS))


@pytest.mark.parametrize("name", TWO_CLASSES)
def test_the_best_constant_of_a_single_class_is_finite(name: str) -> None:
    for label in (0.0, 1.0):
        y = np.full(5, label)
        (constant,) = core_loss(name, 0.0).best_constants(y[None], NO_WEIGHTS)
        assert np.isfinite(constant)
        assert np.sign(constant) == 2 * label - 1
        assert constant == pytest.approx(loss_named(name).best_constant(y, np.ones(5)))


@pytest.mark.parametrize("name", POSITIVE)
def test_the_best_constant_of_targets_that_are_all_zero_is_finite(name: str) -> None:
    y = np.zeros(4)
    (constant,) = core_loss(name, 1.5).best_constants(y[None], NO_WEIGHTS)
    assert constant == pytest.approx(np.log(1e-15))


def test_the_median_of_an_even_number_of_targets_is_the_midpoint() -> None:
    for name in ("absolute_error", "quantile", "huber"):
        loss = core_loss(name, 0.5)
        assert loss.best_constants(np.array([[4.0, 1.0, 3.0, 100.0]]), NO_WEIGHTS)[0] == 3.5
        assert loss.best_constants(np.array([[4.0, 1.0, 3.0]]), NO_WEIGHTS)[0] == 3.0
        assert loss.best_constants(np.array([[4.0, 1.0]]), np.array([3.0, 1.0]))[0] == 4.0


@pytest.mark.parametrize("level", [0.05, 0.5, 0.9, 0.999])
def test_for_quantiles_a_weight_equals_repeated_rows(level: float) -> None:
    rng = np.random.default_rng(1)
    y = np.round(rng.normal(size=60), 1)
    w = rng.integers(1, 4, size=60).astype(np.float64)
    repeated = np.repeat(y, w.astype(int))
    expected = weighted_quantile(repeated, np.ones_like(repeated), level)
    assert weighted_quantile(y, w, level) == expected
    assert core_loss("quantile", level).best_constants(y[None], w)[0] == expected


@pytest.mark.parametrize("weighted", [False, True])
def test_the_delta_of_huber_is_a_quantile_of_the_residuals_of_the_round(weighted: bool) -> None:
    y, f, w = draw_sample("huber")
    loss, reference = core_loss("huber", 0.8), Huber(0.8)
    loss.start_round(y[None], f[None], w if weighted else NO_WEIGHTS)
    reference.start_round(y, f, w if weighted else np.ones_like(y))
    g, _ = loss.gradient_hessian(y[None], f[None])
    np.testing.assert_allclose(g[0], reference.gradient(y, f), rtol=1e-6)
    assert np.abs(g).max() == np.float32(reference.delta)


def test_several_quantiles_share_one_target() -> None:
    y, _, w = draw_sample("quantile")
    levels = [0.1, 0.5, 0.9]
    f = np.stack([np.full_like(y, level) for level in levels])
    loss = _core.Loss("quantile", 3, 1, levels)
    g, _ = loss.gradient_hessian(y[None], f)
    constants = loss.best_constants(y[None], w)
    for k, level in enumerate(levels):
        np.testing.assert_allclose(g[k], Quantile(level).gradient(y, f[k]), rtol=1e-6)
        assert constants[k] == Quantile(level).best_constant(y, w)
    total = sum(np.sum(w * Quantile(q).value(y, f[k])) for k, q in enumerate(levels))
    assert loss.value(y[None], f, w) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("name", ["quantile", "expectile"])
@pytest.mark.parametrize("isa", ISAS)
def test_responses_of_several_levels_are_those_of_the_reference(name: str, isa: str) -> None:
    rng = np.random.default_rng(0)
    for levels in (
        [0.1, 0.5, 0.9],
        [0.9, 0.1, 0.5, 0.2],
        rng.permutation(np.linspace(0.01, 0.99, 40)),
    ):
        raw = rng.normal(size=(200, len(levels)))
        raw[::3, 1] = raw[::3, 0]
        found = _core.Loss(name, len(levels), 1, list(levels)).responses(raw, isa)
        np.testing.assert_array_equal(found, rearranged(raw, np.asarray(levels)))
        assert (np.diff(found[:, np.argsort(levels)], axis=1) >= 0).all()


@pytest.mark.parametrize("name", ["quantile", "expectile"])
def test_the_rearrangement_never_increases_the_loss_of_a_row(name: str) -> None:
    rng = np.random.default_rng(0)
    levels = np.array([0.5, 0.1, 0.9])
    raw, y = rng.normal(size=(500, 3)), rng.normal(size=500)

    def losses(f: Array) -> Array:
        return sum(loss_named(name, q).value(y, f[:, k]) for k, q in enumerate(levels))

    ordered = rearranged(raw, levels)
    assert (losses(ordered) <= losses(raw) + 1e-12).all()
    crossed = (ordered != raw).any(axis=1)
    assert (losses(ordered) < losses(raw))[crossed].all()


def test_responses_of_several_targets_with_one_level_are_not_sorted() -> None:
    raw = np.array([[3.0, 1.0], [1.0, 3.0]])
    np.testing.assert_array_equal(_core.Loss("quantile", 2, 2, [0.3]).responses(raw), raw)


def test_responses_of_levels_with_nan_are_sorted_without_it() -> None:
    found = _core.Loss("quantile", 3, 1, [0.1, 0.5, 0.9]).responses(np.array([[np.nan, 2.0, 1.0]]))
    np.testing.assert_array_equal(found, [[1.0, 2.0, np.nan]])


@every_loss
@pytest.mark.parametrize("centre", [0.0, 45.0])
def test_best_constants_beside_an_offset_are_those_of_the_reference(
    name: str, parameter: float, centre: float
) -> None:
    y, f, w = draw_sample(name)
    loss, reference = core_loss(name, parameter), loss_named(name, parameter)
    (constant,) = loss.best_constants(y[None], w, f[None] + centre)
    expected = reference.best_shift(y, f, w) - centre
    assert constant == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_the_best_constant_of_counts_is_the_logarithm_of_their_rate() -> None:
    rng = np.random.default_rng(0)
    for scale in (1e-12, 1.0, 1e20):
        exposure, w = scale * rng.uniform(0.1, 9, 100), rng.uniform(0.5, 2, 100)
        y = rng.poisson(3, 100).astype(np.float64)
        (constant,) = core_loss("poisson", 0.0).best_constants(y[None], w, np.log(exposure)[None])
        assert constant == pytest.approx(np.log(np.sum(w * y) / np.sum(w * exposure)), abs=1e-11)


def test_best_constants_of_classes_beside_an_offset_are_those_of_the_reference() -> None:
    rng = np.random.default_rng(3)
    y, w = rng.integers(0, 4, size=300).astype(np.float64), rng.uniform(0.5, 2, 300)
    offset = rng.normal(scale=2, size=(4, 300))
    found = _core.Loss("log_loss", 4, 1, []).best_constants(y[None], w, offset)
    reference = Softmax(4)
    np.testing.assert_allclose(found, reference.best_shifts(y, offset, w), atol=1e-8)
    slope = reference.gradient(y, offset + found[:, None]) @ w
    np.testing.assert_allclose(slope, 0, atol=1e-6)
    without_the_last = _core.Loss("log_loss", 5, 1, []).best_constants(
        y[None], w, np.vstack([offset, np.zeros(300)])
    )
    assert np.isfinite(without_the_last).all()
    assert without_the_last[4] < -20


def test_each_of_several_targets_has_its_own_loss() -> None:
    y, f, w = draw_sample("poisson")
    targets, raw = np.stack([y, 2 * y]), np.stack([f, -f])
    loss, reference = _core.Loss("poisson", 2, 2, []), loss_named("poisson")
    g, h = loss.gradient_hessian(targets, raw)
    for k in range(2):
        np.testing.assert_allclose(g[k], reference.gradient(targets[k], raw[k]), rtol=1e-6)
        np.testing.assert_allclose(h[k], reference.hessian(targets[k], raw[k]), rtol=1e-6)
        assert loss.best_constants(targets, w)[k] == pytest.approx(
            reference.best_constant(targets[k], w), rel=1e-12
        )


@pytest.mark.parametrize("classes", [3, 7])
@pytest.mark.parametrize("rows", [1, 31, 32, 100])
def test_softmax_agrees_with_its_reference(classes: int, rows: int) -> None:
    rng = np.random.default_rng(classes + rows)
    y = rng.integers(0, classes, size=rows).astype(np.float64)
    f = rng.normal(scale=3, size=(classes, rows))
    w = rng.uniform(0.5, 2, size=rows)
    loss, reference = _core.Loss("log_loss", classes, 1, []), Softmax(classes)
    g, h = loss.gradient_hessian(y[None], f)
    np.testing.assert_allclose(g, reference.gradient(y, f), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(h, reference.hessian(y, f), rtol=1e-6, atol=1e-12)
    assert loss.value(y[None], f, w) == pytest.approx(np.sum(w * reference.value(y, f)), rel=1e-12)
    np.testing.assert_allclose(
        loss.best_constants(y[None], w), reference.best_constants(y, w), rtol=1e-12, atol=1e-12
    )
    for isa in ISAS:
        assert loss.gradient_hessian(y[None], f, isa)[0].tobytes() == g.tobytes()
        assert loss.gradient_hessian(y[None], f, isa)[1].tobytes() == h.tobytes()


def test_the_derivatives_of_the_softmax_reference_match_its_value() -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 4, size=50).astype(np.float64)
    f = rng.normal(size=(4, 50))
    reference, e = Softmax(4), 1e-5
    for k in range(4):
        step = np.zeros((4, 1))
        step[k] = e
        slope = (reference.value(y, f + step) - reference.value(y, f - step)) / (2 * e)
        np.testing.assert_allclose(reference.gradient(y, f)[k], slope, rtol=1e-5, atol=1e-8)
        curvature = (reference.gradient(y, f + step) - reference.gradient(y, f - step))[k] / (2 * e)
        np.testing.assert_allclose(
            reference.hessian(y, f)[k], curvature * 4 / 3, rtol=1e-5, atol=1e-8
        )


def test_softmax_probabilities_of_huge_scores_are_finite() -> None:
    loss = _core.Loss("log_loss", 3, 1, [])
    f = np.array([[1e4], [-1e4], [0.0]])
    g, h = loss.gradient_hessian(np.array([[1.0]]), f)
    np.testing.assert_array_equal(g[:, 0], [1.0, -1.0, 0.0])
    np.testing.assert_array_equal(h[:, 0], [0.0, 0.0, 0.0])
    assert loss.value(np.array([[1.0]]), f, NO_WEIGHTS) == pytest.approx(2e4)


def test_the_error_names_an_unknown_loss() -> None:
    with pytest.raises(
        _core.InputError, match="loss='squared_eror' is not valid: loss must be one of '"
    ):
        _core.Loss("squared_eror", 1, 1, [])


def test_a_class_number_out_of_range_is_rejected() -> None:
    loss = _core.Loss("log_loss", 3, 1, [])
    for label in (3.0, -1.0, np.nan):
        with pytest.raises(_core.InputError, match="class"):
            loss.gradient_hessian(np.array([[label]]), np.zeros((3, 1)))
