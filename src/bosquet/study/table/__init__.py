"""The table of a study: read, its target, its design (time, groups, weights), its splits."""
