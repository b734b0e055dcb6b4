"""The table of a study: reading, target, design (time, groups, weights, offset) and splits."""
