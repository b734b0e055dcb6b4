"""What a prediction is worth: metrics, and how their values are written."""
