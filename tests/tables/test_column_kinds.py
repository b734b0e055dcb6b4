"""The kind of a column that is read in blocks is that of the whole column."""

import numpy as np
import pyarrow as pa
import pytest

from bosquet.tables.column_kinds import ColumnKind
from bosquet.tables.numerals import missing_to_null, numbers_of

# Cells of one notation, and of some that contradict it.
CELLS = [
    ["1", "12", "-3"],
    ["1.5", "2.25", "7"],
    ["1,5", "2,25", "7"],
    ["1,234", "5,678", "12"],
    ["1.234", "5.678", "12"],
    ["1,234.5", "7,001.25"],
    ["1.234,5", "7.001,25"],
    ["1 234,5", "12 %", "3 €"],
    ["inf", "nan", "1e5"],
    ["-", ".", "NA"],
    ["007", "12"],
    ["true", "FALSE"],
    ["red", "12"],
    ["", "?"],
]


def kind_of_blocks(blocks, decimal):
    kind = ColumnKind(decimal)
    for block in blocks:
        kind.add(block)
    n_passes = 1
    while not kind.is_settled:
        kind.begin_pass()
        for block in blocks:
            kind.add(block)
        n_passes += 1
    return kind, n_passes


@pytest.mark.parametrize("decimal", [".", ","])
def test_blocks_have_the_kind_and_the_numbers_of_the_whole_column(decimal):
    random = np.random.default_rng(0)
    kinds, most_passes = set(), 0
    for _ in range(600):
        used = random.choice(len(CELLS), random.integers(1, 4), replace=False)
        blocks = [
            pa.array(random.choice(CELLS[random.choice(used)], random.integers(1, 4)), pa.string())
            for _ in range(random.integers(1, 5))
        ]
        kind, n_passes = kind_of_blocks(blocks, decimal)
        most_passes = max(most_passes, n_passes)
        values = missing_to_null(pa.concat_arrays(blocks))
        numbers = numbers_of(values, decimal)
        expected = numbers
        if numbers is None:
            present = {value.lower() for value in values.drop_null().to_pylist()}
            if not present:
                expected = pa.nulls(len(values))
            elif present <= {"true", "false"}:
                truth = [
                    None if value is None else value.lower() == "true"
                    for value in values.to_pylist()
                ]
                expected = pa.array(truth)
            else:
                expected = values
        found = pa.concat_arrays([kind.convert(block) for block in blocks])
        assert str(found.type) == str(expected.type), blocks
        np.testing.assert_array_equal(found.to_pylist(), expected.to_pylist(), str(blocks))
        kinds.add(str(found.type))
    assert kinds == {"int64", "double", "bool", "string", "null"}
    assert most_passes > 1
