"""Checks and conversions of SciPy's sparse matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scipy.sparse import issparse

if TYPE_CHECKING:
    from scipy.sparse import sparray, spmatrix


# Formats that store an index per entry. Others are converted without using such indices.
_COMPRESSED = ("csr", "csc", "bsr")


def check_sparse(X: sparray | spmatrix, format_: str = "csr") -> sparray | spmatrix:
    """Return a sparse matrix in CSR format (or `format_`); raise ValueError if an index is outside its shape.

    SciPy's conversions and scikit-learn's trees do not compare the indices with the shape: an invalid index
    in a matrix that was built by hand would crash the interpreter.
    """
    if X.format not in (*_COMPRESSED, "coo"):
        X = X.tocsr()
    try:
        # Check a new matrix that shares the arrays, because check_format modifies the matrix it is called on.
        if X.format == "coo":
            type(X)((X.data, (X.row, X.col)), shape=X.shape)
        else:
            arrays = (X.data, X.indices, X.indptr)
            type(X)(arrays, shape=X.shape).check_format(full_check=True)
    except ValueError as error:
        raise ValueError(
            f"X is a sparse matrix ({X.format.upper()}, shape {X.shape}) whose indices are invalid: {error};"
            " rebuild the matrix, for example with scipy.sparse.coo_array"
        ) from error
    return X.asformat(format_)


def as_indexable(X: Any) -> Any:
    """Return X, or its CSR form if X is a sparse matrix whose format cannot be indexed."""
    return check_sparse(X) if issparse(X) and X.format not in ("csr", "csc", "lil") else X
