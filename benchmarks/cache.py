"""Scores stored between runs of the accuracy study, so that only changed configurations are fitted again."""

import json
import os
from pathlib import Path


class ScoreCache:
    """A JSON file of {data set: {library: {split: record}}}; without a path, memory only."""

    def __init__(self, path=None):
        self.path = Path(path) if path else None
        self.scores = self._read()

    def _read(self):
        if self.path is None or not self.path.exists():
            return {}
        return json.loads(self.path.read_text())

    def get(self, dataset, library, split):
        """Return the stored record of one fit, or None."""
        return self.scores.get(dataset, {}).get(library, {}).get(str(split))

    def put(self, dataset, library, split, record):
        """Store a record and write the file atomically.

        The file is read again first, so that two parallel studies keep each other's scores.
        """
        if self.path is not None:
            self.scores = self._read()
        self.scores.setdefault(dataset, {}).setdefault(library, {})[str(split)] = record
        if self.path is not None:
            partial = self.path.with_suffix(f".{os.getpid()}.partial")
            partial.write_text(json.dumps(self.scores, indent=1, sort_keys=True))
            partial.replace(self.path)
