import os
import re

import pytest

pa = pytest.importorskip("pyarrow")

from example_tables import read_all, write_parquet, write_text  # noqa: E402
from pyarrow import dataset  # noqa: E402

from bosquet.batches import open_batches  # noqa: E402


def write(path, *values):
    path.parent.mkdir(parents=True, exist_ok=True)
    write_parquet(pa.table({"x": list(values)}), path)


def values_of(X):
    return read_all(open_batches(X)).column("x").to_pylist()


def test_the_files_of_a_folder_are_sorted_by_their_paths(tmp_path):
    for number in (2, 10, 1):
        write(tmp_path / f"part-{number}.parquet", number)
    write(tmp_path / "a" / "z.parquet", 0)
    assert values_of(tmp_path) == [0, 1, 10, 2]
    assert values_of(f"{tmp_path}/part-*.parquet") == [1, 10, 2]


def test_a_list_keeps_its_order(tmp_path):
    for number in (1, 2):
        write(tmp_path / f"part-{number}", number)
    write(tmp_path / "more" / "part-3", 3)
    assert values_of([tmp_path / "part-2", str(tmp_path / "more"), tmp_path / "part-1"]) == [
        2,
        3,
        1,
    ]


def test_hidden_files_and_those_that_begin_with_an_underscore_are_ignored(tmp_path):
    write(tmp_path / "a.parquet", 1)
    for name in (".a.crc", "_SUCCESS", "_temporary/b", ".hidden/c"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("not a table")
    assert values_of(tmp_path) == [1]
    assert values_of(f"{tmp_path}/**") == [1]


def test_a_folder_whose_own_name_begins_with_an_underscore_can_be_read(tmp_path):
    write(tmp_path / "_data" / "a.parquet", 1)
    assert values_of(tmp_path / "_data") == [1]
    assert values_of(f"{tmp_path}/_data/*.parquet") == [1]


def test_a_recursive_pattern_matches_files_in_all_folders(tmp_path):
    write(tmp_path / "a.parquet", 1)
    write(tmp_path / "b" / "c" / "d.parquet", 2)
    (tmp_path / "b" / "notes.txt").write_text("not a table")
    assert values_of(f"{tmp_path}/**/*.parquet") == [1, 2]


def test_a_path_relative_to_the_working_directory_is_found(tmp_path, monkeypatch):
    write(tmp_path / "data" / "a.parquet", 1)
    monkeypatch.chdir(tmp_path)
    assert values_of("data") == values_of("data/*") == values_of("**/a.*") == [1]
    assert open_batches("data/").description == "the Parquet file data/a.parquet"


def test_a_file_whose_name_looks_like_a_pattern_is_a_file(tmp_path):
    write(tmp_path / "a[1].parquet", 1)
    assert values_of(tmp_path / "a[1].parquet") == [1]


def test_linked_folders_are_followed(tmp_path):
    write(tmp_path / "elsewhere" / "a.parquet", 1)
    (tmp_path / "data").mkdir()
    os.symlink(tmp_path / "elsewhere", tmp_path / "data" / "linked")
    assert values_of(tmp_path / "data") == [1]


def test_folders_of_hive_partitions_become_columns_as_in_pyarrow(tmp_path):
    write(tmp_path / "year=2023" / "city=New%20York" / "a", 1, 2)
    write(tmp_path / "year=2024" / "city=__HIVE_DEFAULT_PARTITION__" / "a", 3)
    expected = dataset.dataset(tmp_path, partitioning="hive").to_table().to_pydict()
    for X in (tmp_path, f"{tmp_path}/year=*", f"{tmp_path}/**/a"):
        table = read_all(open_batches(X))
        assert table.to_pydict() == expected
        assert table.schema.types == [pa.int64(), pa.int64(), pa.string()]
    assert expected["city"] == ["New York", "New York", None]


def test_partition_columns_can_be_read_alone(tmp_path):
    write(tmp_path / "year=2023" / "a", 1, 2)
    assert read_all(open_batches(tmp_path), ["year"]).to_pydict() == {"year": [2023, 2023]}


def test_folders_above_the_one_that_is_given_are_not_partitions(tmp_path):
    write(tmp_path / "year=2023" / "a", 1, 2)
    for X in (tmp_path / "year=2023", tmp_path / "year=2023" / "*", tmp_path / "year=2023" / "a"):
        assert open_batches(X).column_names == ["x"]


def test_partition_values_that_are_not_all_numbers_are_text(tmp_path):
    write(tmp_path / "k=1" / "a", 1)
    write(tmp_path / "k=b" / "a", 2)
    assert read_all(open_batches(tmp_path)).to_pydict() == {"x": [1, 2], "k": ["1", "b"]}


def test_a_partition_column_that_the_files_contain_is_read_from_them(tmp_path):
    for year in (2023, 2024):
        (tmp_path / f"year={year}").mkdir()
        write_parquet(pa.table({"x": [1], "year": [year + 0.5]}), tmp_path / f"year={year}" / "a")
    assert read_all(open_batches(tmp_path)).column("year").to_pylist() == [2023.5, 2024.5]


def test_a_file_outside_the_partitions_is_an_error(tmp_path):
    write(tmp_path / "year=2023" / "a", 1)
    write(tmp_path / "z", 2)
    with pytest.raises(ValueError, match=r"z has no column 'year', which .*a has"):
        open_batches(tmp_path)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nothing.parquet", "nothing.parquet does not exist; check the path"),
        ("nothing/*.parquet", r"no file matches the pattern .*nothing/\*.parquet"),
        (
            "empty",
            r"folder .*empty contains no data files \(names that begin with a dot or an underscore",
        ),
    ],
)
def test_no_file_is_an_error_that_names_the_path(path, message, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "_SUCCESS").touch()
    with pytest.raises(FileNotFoundError, match=message):
        open_batches(tmp_path / path)


def test_a_url_is_an_error():
    with pytest.raises(
        ValueError, match=r"s3://bucket/a is a URL, .*; pass pyarrow.dataset.dataset\(url\)"
    ):
        open_batches("s3://bucket/a")


def test_files_of_different_formats_are_an_error_that_names_two_of_them(tmp_path):
    write(tmp_path / "a.parquet", 1)
    write_text(pa.table({"x": [1]}), tmp_path / "b.csv")
    message = f"{tmp_path}/a.parquet has the format Parquet, but {tmp_path}/b.csv the format text;"
    with pytest.raises(ValueError, match=re.escape(message)):
        open_batches(tmp_path)


def test_a_file_that_is_given_twice_is_an_error(tmp_path):
    write(tmp_path / "a", 1)
    for X in ([tmp_path / "a", tmp_path / "a"], [tmp_path, tmp_path / "a"]):
        with pytest.raises(
            ValueError, match=r"a is the same file as .*a; each file must be given once"
        ):
            open_batches(X)
