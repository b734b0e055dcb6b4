"""Methods on splits: schedule, time limits, trials, outcomes, checkpoint, the final model."""
