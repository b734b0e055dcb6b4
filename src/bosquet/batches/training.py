"""The arguments of `fit`: a table in memory or in batches, with the names of its target and weights."""

from __future__ import annotations

import os
import re
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bosquet._progress import shown_pass
from bosquet._suggestions import first_names, hint
from bosquet._targets import CodedLabels, and_more
from bosquet.data import MAX_CATEGORIES, BatchedColumns, BinMemory, Columns, TableEncoder
from bosquet.data.table import CodedColumn, Column

from .opening import open_batches
from .reading import check_column_names, read_columns
from .source import BatchSource, Progress

if TYPE_CHECKING:
    import pyarrow

    from bosquet._types import CategoricalFeatures

_X_DOC = """NumPy array, pandas or polars frame, Arrow table, SciPy sparse matrix or nested lists.
            NaN, null and pd.NA are missing values; entries that a sparse matrix does not store are 0, not
            missing. With `target`, X may also be a table that does not fit into memory: the path of Parquet,
            Arrow or delimited text files (a file, a folder, a pattern with ``*``, or a list), a pyarrow
            Dataset, a polars LazyFrame, an Arrow stream or an iterable of tables. It is read in batches, and
            the model is the same as for the whole table in memory."""
_TARGET_DOC = """target : str, optional
            Name of the column of X that is the target, instead of y."""
_TARGETS_DOC = """target : str or list of str, optional
            Name of the column of X that is the target, instead of y; a list of names for several targets."""
_MEMORY_DOC = """memory_limit : int, float or str, optional
            Memory for the binned features of a table that is read in batches, such as "4GB"; beyond it they
            are kept in a temporary file. Default: half of the available memory."""
_DOCS = {
    "X": _X_DOC,
    "target": _TARGET_DOC,
    "targets": _TARGETS_DOC,
    "memory_limit": _MEMORY_DOC,
}

Fit = TypeVar("Fit", bound=Callable[..., object])

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
# Without memory_limit, bins may take this share of the memory that is available.
_SHARE_OF_MEMORY = 0.5


def with_batch_docs(fit: Fit) -> Fit:
    """Replace "{X}", "{target}" or "{targets}", and "{memory_limit}" in the docstring of a method `fit`."""
    doc = fit.__doc__ or ""
    for name, text in _DOCS.items():
        doc = doc.replace("{" + name + "}", text)
    fit.__doc__ = doc
    return fit


class TrainingBatches(ABC):
    """The features of a training table that is not in memory as a whole."""

    @abstractmethod
    def fit_encoder(
        self,
        *,
        categorical_features: CategoricalFeatures,
        owner: str,
        max_categories: int | None = MAX_CATEGORIES,
    ) -> TableEncoder:
        """Fit an encoder to the features: the same as for the whole table in memory."""

    @abstractmethod
    def encoded(self, encoder: TableEncoder, owner: str) -> BatchedColumns:
        """Return the columns that the encoder makes of the features."""


@dataclass
class Passes:
    """The passes of a fit over a source; their progress is shown if `verbose`."""

    source: BatchSource
    verbose: bool
    n_passes: int = 0

    def batches(self, columns: Sequence[str], title: str) -> Iterator[pyarrow.RecordBatch]:
        """Read all batches of these columns; the title is what they are read for."""
        with self.show(title) as progress:
            yield from self.source.batches(columns, progress)

    @contextmanager
    def show(self, title: str) -> Iterator[Progress | None]:
        """Show the progress of the next pass, and count it unless it is given up before its end."""
        title = f"pass {self.n_passes + 1}: {title}"
        n_rows, n_bytes = self.source.n_rows, self.source.n_bytes
        with shown_pass(title, n_rows, n_bytes, shown=self.verbose) as progress:
            yield progress
        self.n_passes += 1


@dataclass(frozen=True)
class SourceBatches(TrainingBatches):
    """The features of a training table that is read in batches."""

    source: BatchSource
    features: list[str]
    n_rows: int
    memory: BinMemory
    passes: Passes

    def fit_encoder(
        self,
        *,
        categorical_features: CategoricalFeatures,
        owner: str,
        max_categories: int | None = MAX_CATEGORIES,
    ) -> TableEncoder:
        def read(columns: Sequence[int] | None) -> Iterator[pyarrow.RecordBatch]:
            names = self.features if columns is None else [self.features[i] for i in columns]
            return self.passes.batches(names, "categories and integers")

        return TableEncoder.fit_batches(
            read,
            categorical_features=categorical_features,
            max_categories=max_categories,
            owner=owner,
        )

    def encoded(self, encoder: TableEncoder, owner: str) -> BatchedColumns:
        def read() -> Iterator[Columns]:
            batches = self.passes.batches(self.features, "features")
            return (encoder.transform(batch, owner=owner) for batch in batches)

        return BatchedColumns(read, self.n_rows, self.memory)


@dataclass
class TrainingInput:
    """The arguments of `fit` after columns that are named were taken out of X."""

    X: Any
    y: Any
    sample_weight: Any = None
    offset: Any = None
    exposure: Any = None


class DividedTable(ABC):
    """A table whose rows are divided among machines, given to `fit` as X."""

    @abstractmethod
    def training_input(
        self,
        y: Any,
        *,
        target: str | list[str] | None,
        memory_limit: float | str | None,
        **by_row: Any,
    ) -> AbstractContextManager[TrainingInput]:
        """Do what the function `training_input` does for other tables."""


@contextmanager
def training_input(
    X: Any,
    y: Any,
    *,
    target: str | list[str] | None,
    memory_limit: float | str | None,
    verbose: bool = False,
    **by_row: Any,
) -> Iterator[TrainingInput]:
    """Open X, and read the columns that `target` and the arguments `by_row` name.

    With `verbose`, the progress of each pass over a table in batches is shown. An argument by row
    (sample_weight, offset, exposure) is an array or the name of a column of X.
    """
    if isinstance(X, DividedTable):
        with X.training_input(y, target=target, memory_limit=memory_limit, **by_row) as given:
            yield given
        return
    limit = bytes_of_limit(memory_limit)
    with shown_pass("copying to a temporary file", None, None, shown=verbose) as progress:
        source = open_batches(X, progress)
    if source is not None:
        try:
            yield _from_batches(Passes(source, verbose), y, target, limit, by_row)
        finally:
            if source is not X:
                source.close()
        return
    names = _argument_names(target) | by_row
    named = {argument: name for argument, name in names.items() if isinstance(name, str)}
    if not named:
        yield TrainingInput(X, y, **by_row)
        return
    if target is not None and y is not None:
        raise ValueError(_BOTH_TARGETS.format(target=target))
    X, taken = _take_columns(X, named)
    if target is not None:
        y = [taken.pop(argument) for argument in _argument_names(target)]
        y = y[0] if isinstance(target, str) else np.column_stack(y)
    yield TrainingInput(X, y, **(by_row | taken))


_BOTH_TARGETS = (
    "y and target={target!r} were both passed; pass the target as an array y, or as the name of a"
    " column"
)


def _from_batches(
    passes: Passes, y: Any, target: str | list[str] | None, limit: int, by_row: dict[str, Any]
) -> TrainingInput:
    source = passes.source
    if target is None:
        raise ValueError(
            f"X is {source.description}, which needs target=, the name of its target column; its columns are"
            f" {first_names(source.column_names)}"
        )
    if y is not None:
        raise ValueError(_BOTH_TARGETS.format(target=target))
    features = check_column_names(source, _argument_names(target) | by_row)
    y, numbers = read_target_and_numbers(source, target, by_row, passes)
    n_rows = source.n_rows
    assert n_rows is not None  # known after the first pass
    memory = BinMemory(limit, tempfile.gettempdir())
    batches = SourceBatches(source, features, n_rows, memory, passes)
    return TrainingInput(batches, y, **numbers)


def read_target_and_numbers(
    source: BatchSource,
    target: str | list[str],
    by_row: dict[str, str | None],
    passes: Passes | None = None,
) -> tuple[Any, dict[str, np.ndarray]]:
    """Read the target columns, and the columns that other arguments of `fit` name (None: not given)."""
    named = {argument: name for argument, name in by_row.items() if name is not None}
    targets = [target] if isinstance(target, str) else list(target)
    with (passes or Passes(source, verbose=False)).show("target and weights") as progress:
        columns = read_columns(source, [*targets, *named.values()], progress)
    numbers = {
        argument: _numbers_of(source, argument, name, columns[name])
        for argument, name in named.items()
    }
    y: list[Any] = [_target_of(source, name, columns[name]) for name in targets]
    return (y[0] if isinstance(target, str) else np.column_stack(y)), numbers


def _argument_names(target: str | list[str] | None) -> dict[str, Any]:
    """The names of the target columns by the name of the argument in messages."""
    if isinstance(target, list):
        return {f"target[{index}]": name for index, name in enumerate(target)}
    return {"target": target}


def _numbers_of(source: BatchSource, argument: str, name: str, column: Column) -> np.ndarray:
    if isinstance(column, CodedColumn):
        raise ValueError(
            f"{argument}={name!r} is a column of text in {source.description}; convert the column to numbers"
        )
    return column.as_quantities()


def _target_of(source: BatchSource, name: str, column: Column) -> np.ndarray | CodedLabels:
    """The target: an array of numbers, or text as numbers of sorted classes."""
    if isinstance(column, CodedColumn):
        missing = column.codes < 0
        # The array of the levels decides the order of the classes, as for a target in memory.
        levels = np.array(column.levels, dtype=object)
        if not missing.any():
            classes, number_of_code = np.unique(levels, return_inverse=True)
            return CodedLabels(classes, number_of_code[column.codes])
    else:
        values = column.as_quantities()
        missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(0, dtype=bool)
        if not missing.any():
            return values
    rows = np.flatnonzero(missing)
    raise ValueError(
        f"target column {name!r} has no value in {source.row_name(int(rows[0]))}"
        f"{and_more(rows.size - 1, 'row')}; drop these rows or fill in their targets"
    )


def _take_columns(X: Any, named: dict[str, str]) -> tuple[Any, dict[str, Any]]:
    """Return a data frame without these columns, and their values."""
    import narwhals

    frame = narwhals.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, narwhals.DataFrame):
        argument, name = next(iter(named.items()))
        raise ValueError(
            f"{argument}={name!r} names a column, but X is a {type(X).__name__}, which has no column names;"
            " pass an array, or X as a data frame"
        )
    for argument, name in named.items():
        if name not in frame.columns:
            raise ValueError(
                f"{argument}={name!r} is not a column of X; {hint(name, frame.columns)}"
            )
    taken = {argument: frame[name].to_native() for argument, name in named.items()}
    return frame.drop(list(named.values())).to_native(), taken


def bytes_of_limit(memory_limit: float | str | None) -> int:
    """Return the bytes of a limit such as 2e9 or "2GB"; None: half of the available memory."""
    if memory_limit is None:
        return int(_SHARE_OF_MEMORY * available_memory())
    if isinstance(memory_limit, str):
        match = re.fullmatch(r"\s*([\d.]+)\s*([KMGT]?B?)\s*", memory_limit, re.IGNORECASE)
        unit = _UNITS.get(match[2].upper()) if match else None
        try:
            if match is not None and unit is not None:
                return int(float(match[1]) * unit)
        except ValueError:
            pass
    elif not isinstance(memory_limit, bool) and 0 <= memory_limit < float("inf"):
        return int(memory_limit)
    raise ValueError(
        f"memory_limit={memory_limit!r} is not valid: memory_limit must be a number of bytes, text such as"
        " '2GB', or None"
    )


def available_memory() -> int:
    """Return the bytes of memory that are available without swapping; 4 GB if the system does not tell."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 4 * 10**9
