"""From a table to a chosen, explained model: the seven steps of a study."""
