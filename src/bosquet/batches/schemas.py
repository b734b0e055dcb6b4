"""CommonSchema: the same columns, each with one type, in all parts of a table.

| types in different parts | common type |
|---|---|
| no type (all values missing) and T | T |
| integers | int64; uint64 if all are unsigned |
| numbers, some of them floating-point | float64; an integer that float64 cannot hold is an error |
| text, and unordered categories of text | unordered categories of text |
| unordered categories | unordered categories of the common type of their values |
| ordered categories with the same levels | the same |

Any other mixture is an error. Types that hold the same values are not distinguished: large_string and
string_view become string, half-precision numbers float32, decimals float64 (unless `exact_decimals`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bosquet._suggestions import first_names

from .parts import naming

if TYPE_CHECKING:
    import pyarrow


@dataclass
class _CommonColumn:
    type: pyarrow.DataType
    origin: str  # the part that has this type
    levels: pyarrow.Array | None = None  # of an ordered category type
    levels_from: str = ""


class CommonSchema:
    """The columns that all parts of a table share; each part is added before its batches are converted."""

    def __init__(self, *, exact_decimals: bool = False) -> None:
        self._exact_decimals = exact_decimals
        self._columns: dict[str, _CommonColumn] = {}
        self._origin = ""
        self._last_added: pyarrow.Schema | None = None

    @property
    def names(self) -> list[str]:
        """Column names, in the order of the first part."""
        return list(self._columns)

    def select(self, names: list[str]) -> pyarrow.Schema:
        """Return the common types of some columns."""
        import pyarrow

        return pyarrow.schema([(name, self._columns[name].type) for name in names])

    def add(self, part: str, schema: pyarrow.Schema) -> None:
        """Widen the common types to those of a part; an error names the part, the column and both types."""
        if self._last_added is not None and schema.equals(self._last_added):
            return
        with naming(part):  # a name may not be UTF-8
            types = {field.name: self._type_of(field) for field in schema}
        _check_distinct(part, schema)
        if not self._columns:
            self._columns = {name: _CommonColumn(kind, part) for name, kind in types.items()}
            self._origin = part
        else:
            self._check_same_columns(part, list(types))
            for name, kind in types.items():
                self._widen(name, kind, part)
        self._last_added = schema

    def convert(
        self, batch: pyarrow.RecordBatch, names: list[str], part: str
    ) -> pyarrow.RecordBatch:
        """Return these columns of a batch, in this order and with the common types."""
        import pyarrow

        schema = self.select(names)
        arrays = []
        for name, kind in zip(names, schema.types, strict=True):
            try:
                array = convert_array(batch.column(name), kind)
            except pyarrow.ArrowException as error:
                raise ValueError(
                    f"column {name!r} of {part} cannot be converted to {type_name(kind)}, its type in"
                    f" {self._columns[name].origin}: {error}; write both with the same type"
                ) from error
            if pyarrow.types.is_dictionary(kind) and kind.ordered:
                array = self._with_levels(array, name, part)
            arrays.append(array)
        return pyarrow.RecordBatch.from_arrays(arrays, schema=schema)

    def without_levels(self) -> list[str]:
        """Return the columns of ordered categories whose levels no batch has shown yet."""
        import pyarrow

        return [
            name
            for name, column in self._columns.items()
            if pyarrow.types.is_dictionary(column.type)
            and column.type.ordered
            and column.levels is None
        ]

    def _type_of(self, field: pyarrow.Field) -> pyarrow.DataType:
        import pyarrow

        keeps = self._exact_decimals and pyarrow.types.is_decimal(field.type)
        return field.type if keeps else plain_type(field)

    def _check_same_columns(self, part: str, names: list[str]) -> None:
        missing = [name for name in self._columns if name not in names]
        added = [name for name in names if name not in self._columns]
        if missing:
            instead = f" (but has {first_names(added)})" if added else ""
            raise ValueError(
                f"{part} has no column {missing[0]!r}{instead}, which {self._origin} has; all must have the"
                f" same columns: write {part} again with this column, or leave it out"
            )
        if added:
            raise ValueError(
                f"{part} has a column {added[0]!r}, which {self._origin} does not have; all must have the"
                f" same columns: remove it from {part}, or add it to the others"
            )

    def _widen(self, name: str, kind: pyarrow.DataType, part: str) -> None:
        column = self._columns[name]
        common = common_type(column.type, kind)
        if common is None:
            raise ValueError(
                f"column {name!r} has type {type_name(kind)} in {part}, but {type_name(column.type)} in"
                f" {column.origin}; a column must have one type: write one of them again with the type of the"
                " other"
            )
        if common != column.type:
            column.type, column.origin = common, part

    def _with_levels(
        self, array: pyarrow.DictionaryArray, name: str, part: str
    ) -> pyarrow.DictionaryArray:
        """Check that the levels are those of the other parts; give them to an array that has none."""
        import pyarrow

        column = self._columns[name]
        if len(array.dictionary) == 0:
            levels = array.dictionary if column.levels is None else column.levels
            return pyarrow.DictionaryArray.from_arrays(array.indices, levels, ordered=True)
        if column.levels is None:
            column.levels, column.levels_from = array.dictionary, part
        elif not array.dictionary.equals(column.levels):
            found, expected = array.dictionary.to_pylist(), column.levels.to_pylist()
            raise ValueError(
                f"column {name!r} has the ordered levels {first_names(found)} in {part}, but"
                f" {first_names(expected)} in {column.levels_from}; ordered levels must be the same"
                " everywhere: write both with one category type"
            )
        return array


def plain_type(field: pyarrow.Field) -> pyarrow.DataType:
    """Return the type that a column is converted to if all parts have this field."""
    import pyarrow

    kind = field.type
    if pyarrow.types.is_dictionary(kind):
        # Older versions of polars do not mark an Enum as ordered.
        ordered = kind.ordered or any(
            key.startswith(b"_PL_ENUM_VALUES") for key in field.metadata or ()
        )
        return pyarrow.dictionary(pyarrow.int32(), _plain_value_type(kind.value_type), ordered)
    return _plain_value_type(kind)


def _plain_value_type(kind: pyarrow.DataType) -> pyarrow.DataType:
    import pyarrow
    from pyarrow import types

    if types.is_run_end_encoded(kind):
        return _plain_value_type(kind.value_type)
    if types.is_large_string(kind) or types.is_string_view(kind):
        return pyarrow.string()
    if types.is_float16(kind):
        return pyarrow.float32()
    if types.is_decimal(kind):
        return pyarrow.float64()
    return kind


def common_type(a: pyarrow.DataType, b: pyarrow.DataType) -> pyarrow.DataType | None:
    """Return the type that holds the values of both types, None if the types are incompatible."""
    import pyarrow
    from pyarrow import types

    if a == b or types.is_null(b):
        return a
    if types.is_null(a):
        return b
    if types.is_dictionary(a) and types.is_dictionary(b):
        values = common_type(a.value_type, b.value_type)
        if values is None or a.ordered != b.ordered:
            return None
        return pyarrow.dictionary(pyarrow.int32(), values, a.ordered)
    for one, other in ((a, b), (b, a)):
        if types.is_dictionary(one) and not one.ordered and types.is_string(other):
            return one if types.is_string(one.value_type) else None
    if types.is_integer(a) and types.is_integer(b):
        unsigned = types.is_unsigned_integer(a) and types.is_unsigned_integer(b)
        return pyarrow.uint64() if unsigned else pyarrow.int64()
    if all(map(_is_number, (a, b))):
        return pyarrow.float64()
    return None


def _is_number(kind: pyarrow.DataType) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def convert_array(array: pyarrow.Array, kind: pyarrow.DataType) -> pyarrow.Array:
    """Return the array with another type; raise an ArrowException for a value that does not fit."""
    import pyarrow
    from pyarrow import compute, types

    if array.type == kind and not types.is_dictionary(kind):
        return array
    if types.is_null(array.type):
        return pyarrow.nulls(len(array), kind)
    if types.is_run_end_encoded(array.type):
        return convert_array(compute.run_end_decode(array), kind)
    if types.is_dictionary(kind):
        if not types.is_dictionary(array.type):
            return convert_array(array.cast(kind.value_type).dictionary_encode(), kind)
        return _convert_categories(array, kind)
    if types.is_decimal(array.type):
        # Arrow rounds text, but not decimals, to the nearest double.
        return array.cast(pyarrow.string()).cast(kind)
    return array.cast(kind)


def _convert_categories(
    array: pyarrow.DictionaryArray, kind: pyarrow.DictionaryType
) -> pyarrow.DictionaryArray:
    import pyarrow

    if array.dictionary.null_count and not kind.ordered:
        # Arrow cannot join batches whose levels contain a missing value.
        array = array.dictionary_decode().dictionary_encode()
    if array.type == kind:
        return array
    return pyarrow.DictionaryArray.from_arrays(
        array.indices.cast(kind.index_type),
        convert_array(array.dictionary, kind.value_type),
        ordered=kind.ordered,
    )


def type_name(kind: pyarrow.DataType) -> str:
    """Return the name of a type in messages."""
    import pyarrow

    if not pyarrow.types.is_dictionary(kind):
        return str(kind)
    return f"{'ordered' if kind.ordered else 'unordered'} categories of {kind.value_type}"


def _check_distinct(part: str, schema: pyarrow.Schema) -> None:
    if len(schema) == 0:
        raise ValueError(f"{part} has no columns; a table must have at least one: leave it out")
    seen: set[str] = set()
    for name in schema.names:
        if name in seen:
            raise ValueError(
                f"{part} has two columns {name!r}; column names must be distinct: rename one of them"
            )
        seen.add(name)
