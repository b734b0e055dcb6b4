"""Why the chosen model predicts what it predicts, where it fails, how far to trust it."""
