"""SciPy's sparse matrices: their indices checked, in a format that rows can be taken from."""

from __future__ import annotations

from typing import Any

from scipy.sparse import issparse

# Formats that hold an index for each entry; all others are converted without trusting one.
_COMPRESSED = ("csr", "csc", "bsr")


def checked_sparse(X: Any, wanted: str = "csr") -> Any:
    """A sparse matrix as CSR (or as `wanted`), or a ValueError if an index points outside of its shape.

    SciPy's conversions and scikit-learn's trees read and write where the indices point without a look at
    the shape: a wrong index in a matrix made by hand would crash the interpreter.
    """
    if X.format not in (*_COMPRESSED, "coo"):
        X = X.tocsr()
    try:
        # The parts in a new frame: check_format tidies up the matrix that it is called on.
        if X.format == "coo":
            type(X)((X.data, (X.row, X.col)), shape=X.shape)
        else:
            parts = (X.data, X.indices, X.indptr)
            type(X)(parts, shape=X.shape).check_format(full_check=True)
    except ValueError as error:
        raise ValueError(
            f"X is a sparse matrix ({X.format.upper()}, shape {X.shape}) whose indices are invalid: {error};"
            " rebuild it, for example with scipy.sparse.coo_array"
        ) from error
    return X.asformat(wanted)


def indexable(X: Any) -> Any:
    """X itself; a sparse matrix of a format that cannot be indexed as CSR."""
    return checked_sparse(X) if issparse(X) and X.format not in ("csr", "csc", "lil") else X
