import bz2
import gzip

import pytest

pa = pytest.importorskip("pyarrow")

from example_tables import read_all  # noqa: E402

from bosquet.batches import open_batches  # noqa: E402


@pytest.fixture
def small_blocks(monkeypatch):
    """Let the first 2 kB decide the types."""
    monkeypatch.setattr("bosquet.batches.text_files._TYPES_FROM", 1 << 11)


def opened(folder, *texts):
    for number, text in enumerate(texts):
        data = text if isinstance(text, bytes) else text.encode()
        (folder / f"part-{number}.csv").write_bytes(data)
    return open_batches(folder)


def read(folder, *texts):
    return read_all(opened(folder, *texts)).to_pydict()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_detected(delimiter, tmp_path):
    text = "a,b,c\n1,x,0.5\n2,y,1.5\n".replace(",", delimiter)
    assert read(tmp_path, text) == {"a": [1, 2], "b": ["x", "y"], "c": [0.5, 1.5]}


def test_a_delimiter_within_quotes_of_the_header_does_not_count(tmp_path):
    assert read(tmp_path, '"a,b,c";d\n1;2\n') == {"a,b,c": [1], "d": [2]}


def test_a_file_with_one_column_is_read(tmp_path):
    assert read(tmp_path, "a\n1\n2\n") == {"a": [1, 2]}


def test_decimal_commas_are_detected(tmp_path):
    assert read(tmp_path, "a;b\n1,5;x\n2;y\n") == {"a": [1.5, 2.0], "b": ["x", "y"]}


def test_empty_cells_and_words_for_missing_values_are_missing(tmp_path):
    assert read(tmp_path, "a,b\n1,x\n,NA\nnull,\n") == {
        "a": [1, None, None],
        "b": ["x", None, None],
    }


def test_line_ends_within_quotes_belong_to_the_value(tmp_path):
    assert read(tmp_path, 'a,b\n1,"x\ny"\n') == {"a": [1], "b": ["x\ny"]}


def test_a_byte_order_mark_and_blank_lines_at_the_top_are_skipped(tmp_path):
    assert read(tmp_path, "\ufeffa,b\n1,2\n") == {"a": [1], "b": [2]}
    assert read(tmp_path, "\n\na;b\n1;2\n") == {"a": [1], "b": [2]}


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
def test_compressed_files_are_read(compress, tmp_path):
    assert read(tmp_path, compress(b"a,b\n1,x\n")) == {"a": [1], "b": ["x"]}


def test_integers_in_one_file_and_decimals_in_another_are_decimals(tmp_path):
    assert read(tmp_path, "a\n1\n", "a\n0.5\n", "a\n") == {"a": [1.0, 0.5]}


def test_a_column_that_is_empty_in_one_file_has_the_type_of_the_others(tmp_path):
    assert read(tmp_path, "a,b\n,1\n", "a,b\nx,1\n") == {"a": [None, "x"], "b": [1, 1]}


def test_numbers_in_one_file_and_text_in_another_are_an_error(tmp_path):
    with pytest.raises(
        ValueError, match=r"'a' has type string in .*part-1.csv, but int64 in .*part-0.csv"
    ):
        opened(tmp_path, "a\n1\n", "a\nx\n")


@pytest.mark.parametrize(("value", "first"), [("x", "1"), ("0.5", "1"), ("x", "0.5"), ("1", "")])
def test_a_later_value_of_another_type_is_an_error_that_names_it(
    value, first, tmp_path, small_blocks
):
    source = opened(tmp_path, "b,a\n" + f"7,{first}\n" * 2000 + f"7,{value}\n")
    assert sum(batch.num_rows for batch in source.batches(["b"])) == 2001
    message = (
        f"column 'a' of .*part-0.csv contains '{value}'.*, but its type is .* correct the value"
    )
    with pytest.raises(ValueError, match=message) as caught:
        list(source.batches(["a", "b"]))
    assert "in line 2002" in str(caught.value)


def test_a_row_with_too_few_cells_is_an_error_that_names_the_file(tmp_path, small_blocks):
    source = opened(tmp_path, "a,b\n" + "1,2\n" * 2000 + "1\n")
    with pytest.raises(ValueError, match=r"part-0.csv cannot be read: .*Expected 2 columns, got 1"):
        list(source.batches())


def test_a_compressed_file_that_is_truncated_is_an_error(tmp_path):
    lines = "".join(f"{number},{number**2}\n" for number in range(5000))
    data = gzip.compress(b"a,b\n" + lines.encode())
    with pytest.raises(ValueError, match=r"part-0.csv cannot be read: Truncated compressed stream"):
        list(opened(tmp_path, data[:-1000]).batches())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2\n3,4\n", "part-0.csv has no column names: its first line is '1,2'"),
        ("a,a\n3,4\n", "part-0.csv has two columns 'a'"),
        ("", r"part-0.csv is empty \(0 bytes\)"),
        ("\n\n", "part-0.csv is empty"),
        ("a,b\n", "part-0.csv has no rows; a table must have at least one"),
        ('{"a": 1}\n', "part-0.csv contains JSON or markup"),
        ("<html>", "part-0.csv contains JSON or markup"),
        (b"PK\x03\x04\0\0\0\0", "part-0.csv contains binary data of an unknown format"),
        (
            "a,b\n1,é\n".encode("latin-1"),
            "column 'b' of .*part-0.csv contains text that is not encoded in UTF",
        ),
    ],
)
def test_a_file_that_is_not_a_text_table_is_an_error(text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        list(opened(tmp_path, text).batches())
