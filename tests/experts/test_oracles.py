"""Oracles are exact, and reproduce the figures of opera."""

import itertools
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from bosquet import Mixture
from bosquet.experts import oracle, oracle_table, regret
from bosquet.experts.losses import loss_matrix
from bosquet.reference import experts as reference

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("BOSQUET_DATA", ROOT.parent / "shared" / "data"))
ELECTRIC = DATA / "opera_electric_load"


def some_forecasts(steps=60, n=3, seed=0):
    rng = np.random.default_rng(seed)
    y = 5 + rng.normal(size=steps)
    F = (
        y[:, None]
        + rng.normal(size=(steps, n)) * np.linspace(0.5, 1, n)
        + np.linspace(-0.4, 0.5, n)
    )
    return F, y


def simplex_grid(n, parts):
    for cut in itertools.combinations(range(parts + n - 1), n - 1):
        edges = np.array([-1, *cut, parts + n - 1])
        yield (np.diff(edges) - 1) / parts


LOSSES = ["square", "absolute", "percentage", "pinball"]


@pytest.mark.parametrize("loss", LOSSES)
def test_no_grid_of_weights_beats_the_best_convex_combination(loss):
    F, y = some_forecasts()
    found = oracle(F, y, "convex", loss=loss, quantile=0.8)
    assert found.weights.sum() == pytest.approx(1)
    assert (found.weights >= 0).all()
    every = [loss_matrix((F @ w)[:, None], y, loss, 0.8).mean() for w in simplex_grid(3, 60)]
    assert found.loss <= min(every) + 1e-9
    assert found.loss >= min(every) - 0.01 * abs(min(every))
    assert found.losses.mean() == pytest.approx(found.loss)


@pytest.mark.parametrize("loss", LOSSES)
def test_no_neighbour_beats_the_best_linear_combination(loss):
    F, y = some_forecasts()
    found = oracle(F, y, "linear", loss=loss, quantile=0.8)
    rng = np.random.default_rng(1)
    for size in (1e-4, 1e-2, 1):
        for _ in range(100):
            w = found.weights + size * rng.normal(size=3)
            assert found.loss <= loss_matrix((F @ w)[:, None], y, loss, 0.8).mean() + 1e-9
    assert found.loss <= oracle(F, y, "convex", loss=loss, quantile=0.8).loss + 1e-9


def test_the_best_mixture_of_probabilities_is_found():
    rng = np.random.default_rng(0)
    F = rng.dirichlet(np.ones(3), size=(80, 4))
    y = rng.integers(3, size=80)
    F[np.arange(80), 2, y] += 0.3
    F /= F.sum(axis=2, keepdims=True)
    for loss in ("log", "square", "absolute"):
        found = oracle(F, y, "convex", loss=loss, classes=3)
        best = min(
            loss_matrix(np.tensordot(F, w, axes=(1, 0))[:, None], y, loss, 0.5).mean()
            for w in simplex_grid(4, 20)
        )
        assert best - 0.01 <= found.loss <= best + 1e-9
    # An expert that alone gives a row a positive probability must keep some weight.
    P = np.array([[0.9, 0.1], [0.0, 0.4], [0.8, 0.1]])
    found = oracle(P, np.ones(3), "convex", loss="log")
    assert 0 < found.weights[1] < 1


def test_a_convex_custom_loss_has_a_best_combination():
    F, y = some_forecasts()

    def quartic(x, y):
        return (x - y) ** 4

    found = oracle(F, y, "convex", loss=quartic)
    every = [quartic(F @ w, y).mean() for w in simplex_grid(3, 60)]
    assert found.loss <= min(every) * (1 + 1e-6)


def test_with_sleeping_experts_there_is_a_best_expert_and_sequence_but_no_combination():
    F, y = some_forecasts()
    awake = np.random.default_rng(0).random(F.shape) < 0.7
    awake[:, 0] |= ~awake.any(axis=1)
    for kind in ("convex", "linear"):
        with pytest.raises(ValueError, match="requires a forecast of every expert"):
            oracle(F, y, kind, awake=awake)
    path = oracle(F, y, "shifts", shifts=40, awake=awake).sequence
    assert awake[np.arange(len(F)), path].all()
    assert oracle(F, y, "uniform", awake=awake).rmse > 0
    table = oracle_table(F, y, ["boa"], shifts=[], awake=awake)
    assert [row["name"] for row in table.rows] == ["uniform", "best expert", "boa"]
    mixture = Mixture("boa").fit(F, y, awake=awake)
    found = regret(mixture, F, y, awake=awake)
    assert found.total == pytest.approx(mixture.regret_.max())
    assert found.total <= found.bound


def test_a_sequence_without_shifts_is_the_best_expert():
    F, y = some_forecasts()
    fixed = oracle(F, y, "shifts", shifts=0)
    assert np.array_equal(fixed.losses, oracle(F, y, "expert").losses)
    assert (fixed.sequence == oracle(F, y, "expert").expert).all()
    free = oracle(F, y, "shifts", shifts=1000)
    assert free.loss == pytest.approx(((F - y[:, None]) ** 2).min(axis=1).mean())
    losses = [oracle(F, y, "shifts", shifts=m).loss for m in range(6)]
    assert (np.diff(losses) <= 1e-12).all()


def test_the_table_of_a_study_has_a_line_for_each_competitor():
    F, y = some_forecasts(steps=200, n=5)
    table = oracle_table(F, y, ["ewa", Mixture("boa", gradient=False)], shifts=[1, 3])
    names = [row["name"] for row in table.rows]
    assert names == [
        "uniform",
        "best expert",
        "best convex",
        "best linear",
        "best with 1 shift",
        "best with 3 shifts",
        "ewa",
        "boa",
    ]
    rmse = {row["name"]: row["rmse"] for row in table.rows}
    assert rmse["best linear"] <= rmse["best convex"] <= rmse["best expert"]
    assert rmse["best with 3 shifts"] <= rmse["best with 1 shift"] <= rmse["best expert"]
    lines = str(table).splitlines()
    assert lines[0].split() == ["mean", "loss", "rmse", "total", "regret", "its", "bound"]
    assert len(lines) == 9
    assert table["ewa"]["regret"] <= table["ewa"]["bound"]
    with pytest.raises(KeyError):
        table["nobody"]


@pytest.mark.parametrize("kind", ["nothing", "shifts"])
def test_invalid_arguments_are_named_in_the_error(kind):
    F, y = some_forecasts()
    with pytest.raises(ValueError, match=r"kind=|shifts="):
        oracle(F, y, kind, shifts=-1)
    with pytest.raises(ValueError, match="not convex"):
        oracle(F, y, "convex", loss="zero-one")
    with pytest.raises(ValueError, match=r"must have shape \(n_rows, n_experts\)"):
        oracle(y, y)
    with pytest.raises(ValueError, match="has recorded"):
        regret(Mixture().fit(F, y), F[:10], y[:10])


# ----------------------------------------------------------------- opera's figures
def electric_load():
    """Return the three forecasts of opera's vignette, or a simulated series like them."""
    if ELECTRIC.exists():
        F = np.loadtxt(ELECTRIC / "vignette_experts.csv", delimiter=",", skiprows=1)
        return F, np.loadtxt(ELECTRIC / "vignette_targets.csv", delimiter=",", skiprows=1)
    rng = np.random.default_rng(0)
    weeks = np.arange(112)
    y = 5e4 + 1e4 * np.cos(2 * np.pi * weeks / 52) + 1500 * rng.normal(size=112)
    errors = rng.normal(size=(112, 3)) * [1400, 1600, 2300] + [300, -400, 100]
    return y[:, None] + errors, y


def test_mixtures_of_electric_loads_agree_with_the_reference_and_a_general_minimiser():
    F, y = electric_load()
    mixture = Mixture("ml-poly").fit(F, y)
    weights = reference.mix(reference.ml_poly(3), F, y, lambda x, y: 2 * (x - y))
    np.testing.assert_allclose(mixture.weight_history_, weights[:-1], atol=1e-9)
    scale = 1e4
    found = minimize(
        lambda w: ((F @ w - y) ** 2).mean() / scale,
        np.full(3, 1 / 3),
        bounds=[(0, 1)] * 3,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    convex = oracle(F, y, "convex")
    np.testing.assert_allclose(convex.weights, found.x, atol=1e-4)
    assert convex.loss <= scale * found.fun * (1 + 1e-12)


@pytest.mark.skipif(not ELECTRIC.exists(), reason=f"{ELECTRIC} is not there")
def test_the_figures_of_operas_vignette_agree_to_three_decimals():
    F, y = electric_load()
    experts = np.sqrt(((F - y[:, None]) ** 2).mean(axis=0))
    assert experts.round(3).tolist() == [1479.796, 1697.604, 2334.390]
    assert round(oracle(F, y, "uniform").rmse, 3) == 1560.170
    convex = oracle(F, y, "convex")
    assert round(convex.rmse, 3) == 1442.428
    assert convex.weights.round(6).tolist() == [0.719170, 0.200884, 0.079946]
    assert round(oracle(F, y, "linear").rmse, 3) == 1395.349
    mixture = Mixture("ml-poly").fit(F, y)
    assert round(float(np.sqrt(mixture.losses_.mean())), 3) == 1457.476
    assert mixture.final_weights_.round(6).tolist() == [0.577114, 0.422886, 0]
