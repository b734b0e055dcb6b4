"""What a model is asked to make small."""

from bosquet.losses._custom import CustomLoss
from bosquet.losses._native import NativeLoss, classification_loss, regression_loss

__all__ = ["CustomLoss", "NativeLoss", "classification_loss", "regression_loss"]
