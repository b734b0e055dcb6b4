"""Gradient boosting: trees or other learners, each fitted to the gradient of the loss."""
