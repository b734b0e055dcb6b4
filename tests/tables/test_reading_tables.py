"""Files of all kinds are read as tables; other files raise an error of one line."""

import bz2
import gzip
import io
import lzma
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bosquet.study.table.reading import read_study_table
from bosquet.tables import TableError, read_table, reading, tidy


def read(text, encoding="utf-8", **options):
    return read_table(io.BytesIO(text.encode(encoding)), **options)


def error_of(data):
    data = data.encode() if isinstance(data, str) else data
    with pytest.raises(TableError) as caught:
        read_table(io.BytesIO(data))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("delimiter", "decimal"), [(d, p) for d in ",;\t|" for p in ".," if d != p]
)
def test_delimiter_and_decimal_mark_are_found(delimiter, decimal):
    rows = [
        f"{1.5 * i:.2f}".replace(".", decimal) + f"{delimiter}w{i % 3}{delimiter}{i}"
        for i in range(9)
    ]
    frame = read(f"x{delimiter}word{delimiter}n\n" + "\n".join(rows))
    assert frame["x"].tolist() == [1.5 * i for i in range(9)]
    assert frame["n"].dtype == np.int64
    assert frame["word"].astype(str).tolist() == [f"w{i % 3}" for i in range(9)]
    assert frame.attrs["reading"]["delimiter"] == delimiter
    assert frame.attrs["reading"]["decimal"] == decimal


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252"]
)
def test_the_encoding_is_found(encoding):
    frame = read("städte;größe\nKöln;1\nNîmes;2\nMálaga;3\n", encoding)
    assert frame.columns.tolist() == ["städte", "größe"]
    assert frame["städte"].tolist() == ["Köln", "Nîmes", "Málaga"]


def test_numbers_with_thousands_units_and_signs_are_numbers():
    frame = read("a;b;c;d;e\n1.234,5;12 %;$3;1 000;+2\n2.000.000;7 %;$4;20;-3\n")
    assert frame["a"].tolist() == [1234.5, 2000000.0]
    assert frame["b"].tolist() == [12, 7]
    assert frame["c"].tolist() == [3, 4]
    assert frame["d"].tolist() == [1000, 20]
    assert frame["e"].tolist() == [2, -3]
    english = read('a,b\n"1,234.5",x\n"2,000",y\n')
    assert english["a"].tolist() == [1234.5, 2000.0]


def test_digits_of_identifiers_stay_text():
    frame = read("zip,long\n00123,12345678901234567890\n04567,12345678901234567891\n")
    assert frame["zip"].tolist() == ["00123", "04567"]
    assert frame["long"].tolist() == ["12345678901234567890", "12345678901234567891"]


def test_words_for_missing_values_are_missing():
    frame = read("x,y,z\n1,NA,a\n?,2,\n-,3,c\n4,null,d\n")
    assert frame["x"].isna().tolist() == [False, True, True, False]
    assert frame["y"].isna().tolist() == [True, False, False, True]
    assert frame["z"].isna().tolist() == [False, True, False, False]


def test_truth_values_are_booleans():
    frame = read("a,b\ntrue,TRUE\nfalse,\ntrue,False\n")
    assert frame["a"].dtype == bool
    assert frame["a"].tolist() == [True, False, True]
    assert frame["b"].isna().tolist() == [False, True, False]


def test_quoted_cells_may_hold_delimiters_quotes_and_line_ends():
    frame = read('id,say\n1,"a, ""b""\nc"\n2,"d,e"\n3,plain\n')
    assert frame["say"].tolist() == ['a, "b"\nc', "d,e", "plain"]
    single = read("id,say\n1,'a, b'\n2,'c, d'\n3,'e, f'\n")
    assert single["say"].tolist() == ["a, b", "c, d", "e, f"]


def test_a_header_is_detected():
    assert read("a,b\n1,2\n3,4\n").columns.tolist() == ["a", "b"]
    assert read("1,2\n3,4\n5,6\n").columns.tolist() == ["column_1", "column_2"]
    assert read("x,red\ny,blue\nx,blue\n").shape == (3, 2)
    assert read("name,colour\nx,red\ny,blue\nx,blue\n").columns.tolist() == ["name", "colour"]
    assert read("day,n\n2024-01-01,1\n2024-01-02,2\n").columns.tolist() == ["day", "n"]
    assert read("1,2\n3,4\n", header=True).columns.tolist() == ["1", "2"]
    assert read("a,b\n1,2\n", header=False).shape == (2, 2)


def test_lines_above_a_table_are_skipped():
    frame = read("# made by hand, with care\n\nsep=;\na;b\n1;2\n3;4\n")
    assert (frame.columns.tolist(), frame.shape) == (["a", "b"], (2, 2))
    frame = read("Sales of the year\n\na;b;c\n1;2;3\n3;4;5\n")
    assert (frame.columns.tolist(), frame.shape) == (["a", "b", "c"], (2, 3))
    assert "1 title line" in frame.attrs["reading"]["notes"][0]


def test_blank_delimiters_row_names_and_trailing_delimiters_are_read():
    assert read(" a   b  c\n 1  22   3\n44   5   6\n")["b"].tolist() == [22, 5]
    assert read('"x","y"\n"r1",1,2\n"r2",3,4\n').columns.tolist() == ["column_1", "x", "y"]
    assert read("a;b;\n1;2;\n3;4;\n").columns.tolist() == ["a", "b"]


def test_repeated_names_become_distinct_with_a_note():
    frame = read("a,b,a,a_2\n1,2,3,4\n5,6,7,8\n")
    assert len(set(frame.columns)) == 4
    assert frame.columns[0] == "a"
    assert "'a' occurs 2 times" in frame.attrs["reading"]["notes"][0]


def test_a_copy_of_the_target_raises_for_any_number_of_repeated_names(tmp_path):
    table = "a,a,b,b,c,c,d,d,e,e,y,y\n" + "1,2,3,4,5,6,7,8,9,1,2,2\n0,3,4,5,6,7,8,9,1,2,3,3\n" * 20
    with pytest.raises(TableError, match="more than one column"):
        tidy(read(table), "y")
    (tmp_path / "t.csv").write_text(table)
    with pytest.raises(ValueError, match="2 columns are named 'y'"):
        read_study_table(tmp_path / "t.csv", "y", "auto")
    tidied = tidy(read(table).drop(columns="y_2"), "y")
    assert "y_2" not in tidied.frame


def test_taking_a_column_does_not_copy_the_list_of_repeated_names():
    frame = read("a,b,a\n1,2,3\n")
    assert frame["a"].attrs["reading"]["repeated"] is frame.attrs["reading"]["repeated"]


def test_old_line_ends_are_read():
    assert read("a,b\r1,2\r3,4\r").shape == (2, 2)
    assert read("a,b\r\n1,2\r\n3,4\r\n").shape == (2, 2)


def test_parquet_arrow_feather_and_compressed_files_are_read(tmp_path):
    frame = pd.DataFrame({"x": [1.5, 2.5], "w": ["a", "b"]})
    frame.to_parquet(tmp_path / "no_ending")
    frame.to_feather(tmp_path / "t.feather")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    frame.to_csv(tmp_path / "t.bz2", index=False, sep="|")
    for name in ("no_ending", "t.feather", "t.csv.gz", "t.bz2"):
        found = read_table(tmp_path / name)
        assert found["x"].tolist() == [1.5, 2.5]
        assert found["w"].astype(str).tolist() == ["a", "b"]


def test_an_arrow_stream_is_read():
    import pyarrow as pa

    table, sink = pa.table({"x": [1, 2]}), io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    assert read_table(io.BytesIO(sink.getvalue()))["x"].tolist() == [1, 2]


def test_the_standard_input_is_read(monkeypatch):
    class Input:
        buffer = io.BytesIO(b"a,b\n1,2\n")

    monkeypatch.setattr(sys, "stdin", Input)
    assert read_table("-").shape == (1, 2)
    with pytest.raises(TableError, match="standard input is empty"):
        read_table("-")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b" \n \n", "is empty"),
        (b"a,b,c\n", "header with 3 columns, but no rows"),
        (bytes(range(256)) * 30, "binary data"),
        (b"PK\x03\x04" + b"x" * 50, "Excel"),
        (b"%PDF-1.4 x", "PDF"),
        (b'{"a": 1}', "JSON"),
        (b"<!DOCTYPE html><p>", "HTML"),
        (b"\x89BSQ\r\n\x1a\n", "model file"),
        (b"\x1f\x8b\x08\x00damaged", "is a damaged gzip file"),
        (b"PAR1" + b"x" * 40, "not a valid Parquet file"),
        (b"ARROW1\0\0" + b"x" * 40, "not a valid Arrow file"),
        ("a,b\n1,2\n3,4,5\n6,7\n", "line 3: 3 cells, but the header has 2"),
        ('a,b\n"x\ny",2\n3\n6,7\n', "line 4: 1 cell, but the header has 2"),
        ("# top\na;b\n1;2\n\n3\n", "line 5: 1 cell"),
        ('a,b\n1,2\n3,"4\n5,6\n', "line 3: a quote that opens in this row is never closed"),
        (b"\xef\xbb\xbfa,b\n\x80,2\n3,4,5\n", "not encoded in utf-8-sig; save it again"),
        ("sep=é\na,b\n1,2\n", "delimiter='é' is not valid: delimiter must be one ASCII character"),
        ('sep="\na,b\n1,2\n', "delimiter='\"' is not valid: delimiter must be one ASCII character"),
    ],
)
def test_a_file_without_a_table_is_rejected_in_one_line(data, message):
    assert message in error_of(data)


def arrow_stream(table):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def test_arrow_columns_that_reach_outside_their_buffers_are_rejected():
    offsets = pa.py_buffer(np.array([0, 10**8, 2], np.int32))
    texts = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"ab")])
    assert "not a valid Arrow file" in error_of(arrow_stream(pa.table({"text": texts})))


def test_invalid_pandas_metadata_is_rejected():
    notes = {b"pandas": b'{"columns": [{}], "index_columns": []}'}
    table = pa.table({"n": [1, 2]}).replace_schema_metadata(notes)
    assert "not a valid Arrow file: KeyError" in error_of(arrow_stream(table))


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress], ids=["bz2", "xz"])
def test_a_small_file_does_not_decompress_to_fill_the_memory(pack, monkeypatch):
    monkeypatch.setattr(reading, "_MAX_DECOMPRESSED", 1000)
    packed = pack(b"0,0,0\n" * 1_000_000)
    assert "decompresses to more than" in error_of(packed)
    assert read_table(io.BytesIO(pack(b"a,b\n" + b"0,0\n" * 200))).shape == (200, 2)


def test_an_invalid_delimiter_raises():
    for wrong in ("é", "ab", "\n", '"'):
        with pytest.raises(TableError, match="delimiter must be one ASCII character"):
            read("a,b\n1,2\n", delimiter=wrong)


def test_a_missing_or_unreadable_file_is_named(tmp_path):
    with pytest.raises(TableError, match=r"gone\.csv does not exist"):
        read_table(tmp_path / "gone.csv")
    with pytest.raises(TableError, match="is a directory"):
        read_table(tmp_path)


def test_ten_thousand_columns_are_read():
    names = [f"v{i}" for i in range(10_000)]
    text = (
        ",".join(names) + "\n" + "\n".join(",".join([f"{j}.5"] * 9_999 + ["a"]) for j in range(3))
    )
    frame = read(text)
    assert frame.shape == (3, 10_000)
    assert frame["v7"].tolist() == [0.5, 1.5, 2.5]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(-(10**9), 10**9),
            st.floats(-1e6, 1e6),
            st.sampled_from(["ab", "c d", 'q"u', "x,y;z"]),
        ),
        min_size=3,
        max_size=12,
    ),
    st.sampled_from([",", ";", "\t", "|"]),
)
def test_what_pandas_writes_is_read_back(rows, delimiter):
    frame = pd.DataFrame(rows, columns=["n", "x", "w"])
    found = read(
        frame.to_csv(index=False, sep=delimiter), delimiter=delimiter, decimal=".", header=True
    )
    assert found["n"].tolist() == frame["n"].tolist()
    np.testing.assert_allclose(found["x"].to_numpy(float), frame["x"].to_numpy())
    assert found["w"].astype(str).tolist() == frame["w"].tolist()


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300))
def test_no_bytes_crash_the_reader(data):
    note = ""
    try:
        rows = len(read_table(io.BytesIO(data)))
    except TableError as error:
        rows, note = 0, str(error)
    assert rows > 0 or (note and "\n" not in note)
