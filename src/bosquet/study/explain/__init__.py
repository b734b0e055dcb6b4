"""Explanation of the chosen model: importances, effects, notable rows, calibration and coverage."""
