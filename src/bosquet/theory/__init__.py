"""What the theory says about a model at hand."""

from bosquet.theory.certificate import certificate
from bosquet.theory.games import Game, MaximalMargin, game_value, maximal_margin

__all__ = ["Game", "MaximalMargin", "certificate", "game_value", "maximal_margin"]
