"""Metrics of predictions, and the formatting of scores."""
