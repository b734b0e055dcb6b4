"""Tables in text files, Parquet, Arrow and Feather: their mutations, and the checks of the readers."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import tempfile
import zlib
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import mutate_bytes
import numpy as np
from limits import FAST, MEGABYTE, Meter
from rows import expect

from bosquet import DecisionTreeClassifier, DecisionTreeRegressor
from bosquet.io import model_bytes, model_from_bytes
from bosquet.tables import TableError, TableModel, read_table, tidy

# Two bytes of text may be a column, and preparing a pandas column takes about 10 KB and 2 ms.
BYTES_PER_BYTE, CONSTANT_BYTES = 6000, 64 * MEGABYTE
SECONDS_PER_BYTE, CONSTANT_SECONDS = 1e-3, 5.0
MAX_CHARACTERS = 20_000  # limit of a text, so that a case takes at most seconds
# A compressed buffer states its size, and Arrow allocates this size before it decompresses.
ADDRESS_SPACE = 16 << 30

BY_COMMAND = 0.02  # share of the tables that are passed to the command line

TEXTS = (
    "when|how much|who\n2024-01-05|1,250.5|Ann\n2024-02-07|80|Bob\n2024-03-01|7|Ann\n",
    "name;height;born\nAnn;1,71;3.2.1990\nBob;1,8;14.7.1985\nCara;1,65;1.1.2000\n",
    'a,b,c\n1,"x, y",true\n2,"say ""no""",false\n,NA,true\n4,?,\n',
    "# a comment\nTitle of the table\nx\ty\n1\t2\n3\t4\n5\t6.5\n",
    "sep=;\nid;price\n1;12 %\n2;13 %\n3;€ 14\n",
    "x y  z\n1 2  3\n4 5  6\n7 8  9\n",
    "only\n1\n2\n3\n2\n",
    "é,ü\nä,ö\nß,ä\nä,ö\n",
    "y,"
    + ",".join(f"x{i}" for i in range(40))
    + "\n"
    + "\n".join(",".join("1" * 41) for _ in "ab"),
)
CELLS = (
    "", " ", "NA", "null", "?", "-", "nan", "inf", "-inf", "1e400", "-0", "1_000", "1,5", "1.5", "1.234,5",
    "1 234", "12 %", "€ 5", "$-3", "(5)", "0x10", "true", "FALSE", "2024-02-30", "31.12.9999", "0001-01-01",
    "12:61", "1/2/3", "2024-01-01T25:00", "9" * 30, "9" * 400, "1e308", "x" * 5000, "\x00", "\ufeff", "é",
    "𝄞", "\u202e", "=1+1", '"', '""', '"a\nb"', "'", "\\", "a\tb", "#", "\x1a", "\x85", "\u2028", "٣", "½",
)  # fmt: skip
DELIMITERS = (",", ";", "\t", "|", " ", ":", "a", '"', "\\", "é", "\n")
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252")
PACKERS: tuple[Callable[[bytes], bytes], ...] = (
    partial(gzip.compress, mtime=0),  # without the time, so that a case is the same in every run
    bz2.compress,
    lzma.compress,
)


def make_text(rng: Random) -> bytes:
    """Return a text table with changed cells, lines, delimiters, encodings or bytes."""
    text = rng.choice(TEXTS)
    for _ in range(rng.choice((1, 1, 2, 3, 4))):
        text = rng.choice((_other_cell, _other_cell, _other_line, _other_delimiter))(text, rng)
    text = text[:MAX_CHARACTERS]
    data = text.encode(rng.choice(ENCODINGS) if rng.random() < 0.3 else "utf-8", "replace")
    if rng.random() < 0.25:
        data = mutate_bytes.mutated(data, rng.choice(TEXTS).encode(), rng)
    if rng.random() < 0.05:
        data = rng.choice(PACKERS)(data)
        data = mutate_bytes.mutated(data, data, rng) if rng.random() < 0.7 else data
    return data


def _other_cell(text: str, rng: Random) -> str:
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    mark = max(DELIMITERS[:5], key=lines[at].count)
    cells = lines[at].split(mark)
    cells[rng.randrange(len(cells))] = rng.choice(CELLS)
    lines[at] = mark.join(cells)
    return "\n".join(lines)


def _other_line(text: str, rng: Random) -> str:
    lines = text.split("\n")
    one, two, way = rng.randrange(len(lines)), rng.randrange(len(lines)), rng.randrange(6)
    if way == 0:
        del lines[one]
    elif way == 1:
        lines.insert(one, lines[two])
    elif way == 2:
        lines[one], lines[two] = lines[two], lines[one]
    elif way == 3:
        lines[one] = lines[one] * rng.choice((2, 200)) + rng.choice(DELIMITERS)
    elif way == 4:
        lines *= rng.choice((2, 30))
    else:
        return rng.choice(("\r\n", "\r", "\n\n", "\x0b", "")).join(lines)
    return "\n".join(lines)


def _other_delimiter(text: str, rng: Random) -> str:
    return text.replace(rng.choice(DELIMITERS), rng.choice(DELIMITERS), rng.choice((1, 3, -1)))


# ------------------------------------------------------------------------------------------- Arrow
class ArrowMutator:
    """Mutations of the bytes of Parquet, Feather and Arrow files with columns of many types."""

    def __init__(self) -> None:
        self.seeds = [data for table in _tables() for data in _written(table)]

    def make(self, rng: Random) -> bytes:
        data = rng.choice(self.seeds)
        head = data[:4]
        if rng.random() < 0.5:
            data = _other_number(data, rng)
        if rng.random() < 0.7:
            data = mutate_bytes.mutated(data, rng.choice(self.seeds), rng)
        # Otherwise it would be read as text, which is another kind.
        return head + data[4:]


def _other_number(data: bytes, rng: Random) -> bytes:
    """Lengths and offsets of the metadata are numbers of four or eight bytes, at multiples of four."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        size = rng.choice((1, 2, 4, 8))
        at = rng.randrange(0, max(1, len(changed) - size), min(4, size))
        old = int.from_bytes(changed[at : at + size], "little")
        new = rng.choice(
            (0, 1, old + 1, old - 1, old * 2, 2 ** (8 * size - 1), 2 ** (8 * size) - 1, 7)
        )
        changed[at : at + size] = (new % 2 ** (8 * size)).to_bytes(size, "little")
    return bytes(changed)


def _tables() -> list[Any]:
    import pyarrow as pa

    numbers = pa.table(
        {
            "x": pa.array([1.5, None, -3.0, 4.0]),
            "n": pa.array([1, 2, None, 4], pa.int32()),
            "half": pa.array(np.array([1, 2, 3, 4], np.float16)),
            "flag": pa.array([True, None, False, True]),
        }
    )
    others = pa.table(
        {
            "text": pa.array(["a", None, "bb", "a"]),
            "level": pa.array(["u", "v", None, "u"]).dictionary_encode(),
            "day": pa.array([0, 1, None, 20_000], pa.date32()),
            "when": pa.array([0, 10**15, None, 5], pa.timestamp("us")),
            "money": pa.array([1, 2, 3, None]).cast(pa.decimal128(25, 2)),
        }
    )
    nested = pa.table(
        {
            "list": pa.array([[1, 2], None, [], [3]]),
            "pair": pa.array([{"a": 1, "b": "x"}, None, {"a": 2, "b": None}, {"a": 3, "b": "y"}]),
            "raw": pa.array([b"\x00", None, b"ab", b""]),
            "y": pa.array([1, 2, 3, 4]),
        }
    )
    import pandas as pd

    levels = pd.Categorical(["u", "v", None, "u"], ["v", "u"], ordered=True)
    days = pd.date_range("2024-01-01", periods=4, tz="UTC", name="day")
    frame = pd.DataFrame({"level": levels, "n": [1, 2, 3, 4]}, index=days)
    # The metadata of pandas in the schema determine the types of the columns.
    return [numbers, others, nested, pa.Table.from_pandas(frame)]


def _written(table: Any) -> list[bytes]:
    """Return the table in each format that Bosquet reads."""
    import pyarrow as pa
    from pyarrow import feather, parquet

    def kept(write: Callable[[Any], None]) -> bytes:
        sink = io.BytesIO()
        write(sink)
        return sink.getvalue()

    def stream(sink: Any) -> None:
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)

    found = [
        kept(lambda sink: feather.write_feather(table, sink, compression="uncompressed")),
        kept(lambda sink: feather.write_feather(table, sink, compression="lz4")),
        kept(stream),
    ]
    if "half" in table.column_names:
        table = table.drop_columns(["half"])  # older Parquet has no such type
    found.append(kept(lambda sink: parquet.write_table(table, sink, compression="none")))
    found.append(kept(lambda sink: parquet.write_table(table, sink, use_dictionary=False)))
    return found


# ------------------------------------------------------------------------------------------ checks
def unpacked_size(data: bytes) -> int:
    """Return the length of a text after decompression, up to the limit of the reader."""
    for unpack in (gzip.decompress, bz2.decompress, lzma.decompress):
        with contextlib.suppress(OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
            return len(unpack(data))
    return len(data)


def check_table(data: bytes, rng: Random, meter: Meter, phase: Callable[[str], None]) -> str:
    """Check that a table is rejected with one line, or that it can be prepared twice."""
    meter.start()
    phase("read")
    size = unpacked_size(data)
    limits = {
        "memory": CONSTANT_BYTES + BYTES_PER_BYTE * size,
        "seconds": CONSTANT_SECONDS + SECONDS_PER_BYTE * size,
        "virtual": ADDRESS_SPACE,
    }
    try:
        frame = read_table(io.BytesIO(data))
    except TableError as error:
        expect("\n" not in str(error), "the message has several lines")
        meter.check("reading a table", **limits)
        return "rejected"
    meter.check("reading a table", **limits)
    expect(len(frame) > 0 and len(frame.columns) > 0, "a table without rows or columns")
    phase("tidy")
    target = rng.choice((None, str(rng.choice(list(frame.columns)))))
    try:
        tidied = tidy(frame, target)
        phase("tidy again")
        again = tidied.tidier.transform(frame)
    except TableError as error:
        expect("\n" not in str(error), "the message has several lines")
    else:
        expect(list(again.columns) == tidied.tidier.feature_names, "other columns the second time")
        if target is not None:
            phase("learn")
            learn(frame, tidied)
    meter.check("using a table", **limits)
    if rng.random() < BY_COMMAND:
        phase("command line")
        run_commands(data)
    return "loaded"


def learn(frame: Any, tidied: Any) -> None:
    """Check that a model of the table predicts its rows, also after loading."""
    y = tidied.frame[tidied.tidier.target]
    kind = DecisionTreeRegressor if y.dtype.kind in "iuf" else DecisionTreeClassifier
    try:
        tree = kind(max_depth=2).fit(tidied.frame[tidied.tidier.feature_names], y)
    except ValueError as error:  # such as a target of 1e308
        expect("\n" not in str(error), "the message has several lines")
        return
    model = TableModel(tree, tidied.tidier)
    predictions = model.predict(frame)
    expect(len(predictions) == len(frame), "a prediction for each row")
    again = model_from_bytes(model_bytes(model)).predict(frame)
    expect(
        np.array_equal(predictions, again), "saved and loaded, the model predicts something else"
    )


def run_commands(data: bytes) -> None:
    """Check that `bosquet tree` reads the table, or returns 2 with one line."""
    from bosquet.cli import main

    with tempfile.NamedTemporaryFile(dir=FAST, suffix=".table") as file:
        file.write(data)
        file.flush()
        output, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            code = main(["tree", file.name, "--target", "a", "--quiet"])
        expect(code in (0, 2), f"bosquet tree: {errors.getvalue()}")
        expect(code == 0 or errors.getvalue().count("\n") == 1, "bosquet tree: several lines")
