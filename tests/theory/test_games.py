"""Values and optimal strategies of zero-sum games."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bosquet.theory import game_value

sizes = st.tuples(st.integers(1, 6), st.integers(1, 6))
games = sizes.flatmap(
    lambda shape: arrays(float, shape, elements=st.floats(-100, 100, allow_subnormal=False))
)
# Few different payments make ties, dominated lines and saddle points.
coarse_games = sizes.flatmap(lambda shape: arrays(float, shape, elements=st.integers(-2, 2)))


def assert_strategies_prove_the_value(game, matrix):
    """Check the value with the strategies and the matrix only."""
    matrix = np.asarray(matrix, dtype=float)
    for strategy in (game.row_strategy, game.column_strategy):
        assert (strategy >= 0).all()
        assert strategy.sum() == pytest.approx(1)
    close = 1e-7 * (1 + np.abs(matrix).max())
    assert (game.row_strategy @ matrix).min() == pytest.approx(game.value, abs=close)
    assert (matrix @ game.column_strategy).max() == pytest.approx(game.value, abs=close)


@settings(max_examples=60, deadline=None)
@given(games | coarse_games)
def test_both_players_guarantee_the_value(matrix):
    game = game_value(matrix)
    assert_strategies_prove_the_value(game, matrix)
    assert game.gap == pytest.approx(0, abs=1e-7 * (1 + np.abs(matrix).max()))


@settings(max_examples=40, deadline=None)
@given(games | coarse_games)
def test_the_players_can_change_sides(matrix):
    mine, theirs = game_value(matrix), game_value(-matrix.T)
    assert theirs.value == pytest.approx(-mine.value, abs=1e-6 * (1 + np.abs(matrix).max()))


@settings(max_examples=40, deadline=None)
@given(games, st.floats(-50, 50), st.floats(0.1, 10))
def test_payments_can_be_shifted_and_scaled(matrix, shift, scale):
    value, moved = game_value(matrix).value, game_value(scale * matrix + shift).value
    assert moved == pytest.approx(scale * value + shift, abs=1e-5)


@settings(max_examples=60, deadline=None)
@given(coarse_games)
def test_saddle_points_are_where_the_pure_guarantees_meet(matrix):
    game = game_value(matrix)
    assert game.is_pure == (game.pure_maximin == game.pure_minimax)
    for i, j in game.saddle_points:
        assert matrix[i, j] == matrix[i].min() == matrix[:, j].max() == game.value
    assert game.pure_maximin - 1e-9 <= game.value <= game.pure_minimax + 1e-9


def test_paper_scissors_rock_is_played_evenly():
    game = game_value([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    assert game.value == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(game.row_strategy, 1 / 3)
    np.testing.assert_allclose(game.column_strategy, 1 / 3)
    assert not game.is_pure


def test_a_game_of_two_by_two_without_saddle_point_has_the_textbook_value():
    a, b, c, d = 3.0, -1.0, -2.0, 4.0
    game = game_value([[a, b], [c, d]])
    assert game.value == pytest.approx((a * d - b * c) / (a + d - b - c))
    np.testing.assert_allclose(game.row_strategy[0], (d - c) / (a + d - b - c))


def test_a_game_with_thousands_of_rows_is_solved():
    matrix = np.random.default_rng(0).normal(size=(3000, 5))
    assert_strategies_prove_the_value(game_value(matrix), matrix)
    assert_strategies_prove_the_value(game_value(matrix.T), matrix.T)


def test_the_printed_game_has_value_strategies_and_certificate():
    text = repr(game_value([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]))
    assert "value            0\n" in text
    assert "rows earn >= 0, columns pay <= 0" in text
    assert "0: 0.333, 1: 0.333, 2: 0.333" in text
    assert "saddle points    (0, 1)" in repr(game_value([[3, 2], [1, 0]]))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1.0, np.nan]], r"matrix\[0, 1\] is nan"),
        ([1.0, 2.0], r"matrix has shape \(2,\); pass"),
        (np.empty((0, 3)), r"matrix has shape \(0, 3\)"),
        ([["a"]], "not a matrix of numbers"),
        ([[1.0], [1.0, 2.0]], "not a matrix of numbers"),
    ],
)
def test_an_invalid_matrix_raises_an_error(matrix, message):
    with pytest.raises(ValueError, match=message):
        game_value(matrix)


@pytest.mark.parametrize("size", [1e308, 1e-300, 5e-324, 1.0])
def test_payments_of_any_size_have_a_value(size):
    found = game_value(np.array([[1, -1], [-1, 1]]) * size)
    assert found.value == 0
    assert found.row_strategy == pytest.approx([0.5, 0.5])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**16), st.integers(2, 12), st.integers(2, 12))
def test_the_gap_of_a_game_is_never_below_0(seed, rows, columns):
    matrix = np.random.default_rng(seed).normal(size=(rows, columns))
    assert 0 <= game_value(matrix).gap <= 1e-6


def test_guarantees_that_differ_raise_an_error(monkeypatch):
    from bosquet.theory import games

    monkeypatch.setattr(games, "_mixed_strategies", lambda _: (np.array([1.0, 0]),) * 2)
    with pytest.raises(RuntimeError, match="rows earn -1, columns pay 1; both should be equal"):
        game_value([[1, -1], [-1, 1]])
