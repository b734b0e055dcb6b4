"""Simulated tables for the speed benchmark, with any number of rows.

The target is a sum of smooth functions, of interactions that also have main effects, and of logistic or
heavy-tailed noise; many columns are irrelevant. This is intended: for a target of pure products (such as
XOR) greedy trees find the first split by chance, and the losses of the libraries differ by chance.

Rows are generated in blocks with separate seeds, so a short table is the beginning of a longer one, and
a table of ten million rows needs only its own memory and that of one block.
"""

from dataclasses import dataclass, field

import numpy as np

BLOCK = 10_000
HELD_OUT_SEED = 977


@dataclass
class Table:
    """Columns and target; `categorical` names the category columns of a frame."""

    X: object
    y: np.ndarray
    task: str
    categorical: list = field(default_factory=list)


def _in_blocks(rows, columns, seed, make, block=BLOCK):
    """Stack blocks of `make(rng, size) -> (X, y)` up to `rows` rows."""
    X = np.empty((rows, columns), dtype=np.float32)
    y = None
    for number, start in enumerate(range(0, rows, block)):
        size = min(block, rows - start)
        block_X, block_y = make(np.random.default_rng([seed, number]), block)
        X[start : start + size] = block_X[:size]
        if y is None:
            y = np.empty(rows, dtype=block_y.dtype)
        y[start : start + size] = block_y[:size]
    return X, y


def collisions(rng, rows):
    """Simulate 28 columns of a particle detector: momenta, angles, tags, pair masses."""
    X = np.empty((rows, 28), dtype=np.float32)
    z = rng.standard_normal((rows, 7), dtype=np.float32)
    X[:, 0:7] = np.exp(0.5 * z + 0.2 * z[:, :1])
    X[:, 7:14] = rng.standard_normal((rows, 7), dtype=np.float32)
    X[:, 14:18] = np.pi * (2 * rng.random((rows, 4), dtype=np.float32) - 1)
    tag = rng.random((rows, 3), dtype=np.float32)
    X[:, 18:21] = (tag > 0.5) * np.float32(1.0) + (tag > 0.85) * np.float32(1.0)
    for k in range(7):  # the invariant mass of two of the particles, measured with an error
        a, b = k, (k + 1 + k % 3) % 7
        gap = np.cosh(np.clip(X[:, 7 + a] - X[:, 7 + b], -4, 4)) - np.cos(X[:, 14 + k % 4])
        smear = np.exp(0.1 * rng.standard_normal(rows, dtype=np.float32))
        X[:, 21 + k] = np.sqrt(2 * X[:, a] * X[:, b] * (gap + 0.05)) * smear
    return X


def _effects(X):
    """Return ten smooth functions of the 28 columns, with mean about 0 and standard deviation about 1."""
    momentum, angle, tag = np.log(X[:, 0:7]), X[:, 7:14], X[:, 18:21]
    mass = np.log(X[:, 21:28])
    return np.column_stack(
        [
            1.3 * np.tanh(1.5 * momentum[:, 0]),
            3.0 * np.exp(-2.0 * (mass[:, 0] - 0.6) ** 2) - 1.6,
            2.5 * (np.exp(-(angle[:, 0] ** 2)) - 0.58),
            1.4 * np.sin(1.3 * angle[:, 1]),
            1.4 * (tag[:, 0] - 0.65) * (1.0 + 0.5 * np.tanh(momentum[:, 4])),
            1.6 * np.tanh(momentum[:, 1]) * (1.0 + 0.7 * np.tanh(angle[:, 2])),
            1.3 * np.tanh(mass[:, 1] - mass[:, 2]),
            1.2 * (np.abs(angle[:, 3]) - 0.8) * (0.6 + 0.6 * tag[:, 1]),
            2.5 / (1.0 + np.exp(-3.0 * (momentum[:, 2] + 0.5 * momentum[:, 3]))) - 1.25,
            1.2 * np.cos(X[:, 14]) * (0.6 + 0.4 * tag[:, 2]),
        ]
    )


_WEIGHTS = np.array([0.9, 0.8, 0.6, 0.5, 0.6, 0.55, 0.6, 0.4, 0.5, 0.3])


def _bernoulli(rng, score):
    return (rng.random(len(score)) < 1.0 / (1.0 + np.exp(-score))).astype(np.int32)


def _binary(rng, rows):
    X = collisions(rng, rows)
    return X, _bernoulli(rng, _effects(X) @ _WEIGHTS)


def _regression(rng, rows):
    X = collisions(rng, rows)
    return X, (_effects(X) @ _WEIGHTS + 0.6 * rng.standard_t(5, rows)).astype(np.float32)


def _seven_classes(rng, rows):
    X = collisions(rng, rows)
    mix = np.random.default_rng(11).normal(size=(10, 7)) * 0.7
    score = _effects(X) @ mix + np.linspace(0.8, -0.8, 7)
    return X, np.argmax(score + rng.gumbel(size=score.shape), axis=1).astype(np.int32)


def _wide(rng, rows, columns=500, informative=40):
    """Simulate forty relevant columns, noisy copies of them, and as many irrelevant columns."""
    X = rng.standard_normal((rows, columns), dtype=np.float32)
    source = np.arange(columns - informative) % informative
    echo = np.arange(columns - informative) % 2 == 0
    X[:, informative:][:, echo] *= 0.8
    X[:, informative:][:, echo] += 0.6 * X[:, source[echo]]
    z = X[:, :informative]
    scale = 0.7 * 0.95 ** np.arange(informative)
    shapes = np.where(np.arange(informative) % 2 == 0, np.tanh(1.5 * z), np.sin(1.2 * z))
    pairs = np.tanh(z[:, 0:20:2]) * (1.0 + 0.5 * np.tanh(z[:, 1:20:2]))
    return np.exp(0.4 * X), _bernoulli(rng, shapes @ scale + 0.4 * pairs.sum(axis=1))


def _mixed(rng, rows, levels):
    """Simulate 28 numbers, 2 columns of noise, and one code per categorical column; frequent levels first."""
    X = np.empty((rows, 30 + len(levels)), dtype=np.float32)
    X[:, :28] = collisions(rng, rows)
    X[:, 28:30] = rng.standard_normal((rows, 2))
    score = 0.7 * (_effects(X[:, :28]) @ _WEIGHTS)
    effect = np.random.default_rng(23)
    for k, count in enumerate(levels):
        code = np.minimum((count * rng.random(rows) ** 1.5).astype(np.int64), count - 1)
        score += effect.normal(scale=0.35, size=count)[code]
        X[:, 30 + k] = code
    return X, _bernoulli(rng, score)


def binary(rows, seed):
    return Table(*_in_blocks(rows, 28, seed, _binary), "binary")


def regression(rows, seed):
    return Table(*_in_blocks(rows, 28, seed, _regression), "regression")


def seven_classes(rows, seed):
    return Table(*_in_blocks(rows, 28, seed, _seven_classes), "multiclass")


def wide(rows, seed):
    return Table(*_in_blocks(rows, 500, seed, _wide), "binary")


LEVELS = (5, 9, 16, 29, 53, 95, 171, 308, 555, 1000)


def categories(rows, seed):
    """Return a pandas frame of 30 float32 columns and ten categorical columns of 5 to 1000 levels."""
    import pandas as pd

    X, y = _in_blocks(rows, 30 + len(LEVELS), seed, lambda rng, n: _mixed(rng, n, LEVELS))
    frame = pd.DataFrame({f"x{j}": X[:, j].copy() for j in range(30)})
    names = []
    for k, count in enumerate(LEVELS):
        # The order of the levels is random, so using the codes as numbers has no advantage.
        label = np.random.default_rng(k).permutation(count)
        kind = pd.CategoricalDtype([f"v{j}" for j in range(count)])
        name = f"c{count}"
        codes = label[X[:, 30 + k].astype(np.int64)]
        frame[name] = pd.Categorical.from_codes(codes, dtype=kind)
        names.append(name)
    return Table(frame, y, "binary", names)
