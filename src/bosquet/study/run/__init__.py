"""Running the methods of a study: schedule, time limits, trials, outcomes, checkpoint, final model."""
