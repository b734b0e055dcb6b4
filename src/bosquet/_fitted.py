"""What every estimator does with a fit: keeps it whole, remembers its columns, writes it to a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


@contextmanager
def unchanged_on_failure(estimator: Any) -> Iterator[None]:
    """An error or an interrupt inside leaves the estimator as it was, never half fitted."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__ = before
        raise


def remember_columns(estimator: Any, encoder: Any) -> None:
    """The encoder of the table fitted on, and what scikit-learn wants to know of its columns."""
    estimator._encoder = encoder
    estimator.n_features_in_ = encoder.n_features
    if encoder.feature_names is not None:
        estimator.feature_names_in_ = np.asarray(encoder.feature_names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


class Saved:
    """`model.save(path)`."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `bosquet.load` reads; docs/format.md tells what it holds.

        A model made of others can be written if they are Bosquet's own.
        """
        from bosquet.io import save_model

        save_model(self, path)
