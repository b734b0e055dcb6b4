"""The study: from a table to a chosen and explained model, in seven steps."""
