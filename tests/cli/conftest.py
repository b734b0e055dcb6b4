"""Tables to run commands on."""

import numpy as np
import pandas as pd
import pytest

from bosquet.cli import main


@pytest.fixture
def run_command(capsys):
    """Return a function that runs a command in this process and returns exit code, stdout and stderr."""

    def run(*words):
        code = main([str(word) for word in words])
        stdout = capsys.readouterr()
        return code, stdout.out, stdout.err

    return run


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="session")
def sales(folder):
    """A typical table: semicolons, decimal commas, dates, a column of names."""
    random = np.random.default_rng(0)
    n = 240
    size, day = random.uniform(0, 10, n), pd.Timestamp("2024-01-01")
    price = 3 * size + random.normal(size=n)
    frame = pd.DataFrame(
        {
            "order": [f"o{i}" for i in range(n)],
            "size": size.round(3),
            "colour": random.choice(["red", "green", "blue"], n),
            "ordered": [
                (day + pd.Timedelta(days=int(d))).strftime("%d.%m.%Y")
                for d in random.integers(0, 300, n)
            ],
            "price": price.round(2),
            "sold": np.where(size + random.normal(size=n) > 5, "yes", "no"),
        }
    )
    path = folder / "sales.csv"
    frame.to_csv(path, index=False, sep=";", decimal=",")
    return path


@pytest.fixture(scope="session")
def model(folder, sales):
    path = folder / "sold.bosquet"
    words = [
        "fit",
        sales,
        "--target",
        "sold",
        "--drop",
        "price",
        "--out",
        path,
        "--set",
        "n_estimators=20",
        "-q",
    ]
    assert main([str(word) for word in words]) == 0
    return path


@pytest.fixture(scope="session")
def counted_study():
    """The arguments of a short study of one method, without a time limit."""

    def words(table, target, method, repeats):
        how = ["--methods", method, "--budget", "none", "--repeats", str(repeats)]
        return ["study", str(table), "-t", target, *how]

    return words
