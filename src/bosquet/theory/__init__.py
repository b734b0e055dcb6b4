"""What can be said of learners before and after they are fitted."""

from bosquet.theory.games import Game, MaximalMargin, game_value, maximal_margin

__all__ = ["Game", "MaximalMargin", "game_value", "maximal_margin"]
