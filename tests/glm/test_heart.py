"""The heart disease example of The Elements of Statistical Learning, if its table is available."""

import os
from pathlib import Path

import pandas as pd
import pytest

from bosquet import BinomialRegression

ROOT = Path(__file__).resolve().parents[2]
HEART = (
    Path(os.environ.get("BOSQUET_DATA", ROOT.parent / "shared" / "data"))
    / "sa_heart"
    / "data.parquet"
)

# Table 4.2: coefficient, standard error, Z score.
TABLE = {
    "Intercept": (-4.130, 0.964, -4.285),
    "sbp": (0.006, 0.006, 1.023),
    "tobacco": (0.080, 0.026, 3.034),
    "ldl": (0.185, 0.057, 3.219),
    "famhist[T.Present]": (0.939, 0.225, 4.178),
    "obesity": (-0.035, 0.029, -1.187),
    "alcohol": (0.001, 0.004, 0.136),
    "age": (0.043, 0.010, 4.184),
}


@pytest.fixture
def model():
    if not HEART.exists():
        pytest.skip(f"{HEART.parent.name} is not among the data sets here")
    formula = "chd ~ sbp + tobacco + ldl + famhist + obesity + alcohol + age"
    return BinomialRegression(formula).fit(pd.read_parquet(HEART))


def test_the_coefficients_match_the_table_of_the_book(model):
    found = model.coefficients()
    for name, (estimate, error, z) in TABLE.items():
        assert found.loc[name, "estimate"] == pytest.approx(estimate, abs=0.00051)
        assert found.loc[name, "std_error"] == pytest.approx(error, abs=0.00051)
        assert found.loc[name, "z"] == pytest.approx(z, abs=0.0041)


@pytest.mark.parametrize("criterion", ["aic", "lr", "wald"])
def test_backward_selection_ends_at_the_books_four_columns(model, criterion):
    chosen = model.backward(criterion)
    assert chosen.terms_ == ["Intercept", "tobacco", "ldl", "famhist", "age"]
    wanted = [0.081, 0.168, 0.924, 0.044]
    assert chosen.params_.iloc[1:].tolist() == pytest.approx(wanted, abs=0.00051)
