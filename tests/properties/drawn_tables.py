"""Tables, targets and weights that hypothesis draws, and the decorator of every test of a property.

Hypothesis draws a recipe: the kind of each column, where values are missing, the number of rows and a seed.
The cells follow from the recipe, so that a failing example is printed as a short line that can be pasted.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

THOROUGH = 20  # times as many examples in the variant that is marked slow

NUMERIC_KINDS = ("smooth", "tied", "whole", "skewed", "constant")
CATEGORY_KINDS = ("category", "ordered")
MISSING = ("none", "some", "most", "first", "all")
DTYPES = ("float64", "float32", "int64", "int16")
LEVELS = ("ash", "beech", "cedar", "elm", "fir")


def on_drawn_examples(
    examples: int, **strategies: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test on drawn arguments: on a few fixed examples, and if marked slow on many new ones."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def run(effort: str, **chosen: Any) -> None:
            def check(**drawn: Any) -> None:
                test(**chosen, **drawn)

            check.__name__ = test.__name__
            everyday = effort == "everyday"
            configured = settings(
                max_examples=examples if everyday else THOROUGH * examples,
                derandomize=everyday,
                database=None,
                deadline=None,
                print_blob=not everyday,
                suppress_health_check=list(HealthCheck),
            )
            configured(given(**strategies)(check))()

        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        run.pytestmark = list(getattr(test, "pytestmark", []))  # type: ignore[attr-defined]
        others = [p for n, p in inspect.signature(test).parameters.items() if n not in strategies]
        effort = inspect.Parameter("effort", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        run.__signature__ = inspect.Signature([effort, *others])  # type: ignore[attr-defined]
        slow = pytest.param("thorough", marks=pytest.mark.slow)
        return pytest.mark.parametrize("effort", ["everyday", slow])(run)

    return decorate


@dataclass(frozen=True)
class Column:
    """How a column is filled: its kind, which values are missing, its type in a data frame."""

    kind: str
    missing: str = "none"
    dtype: str = "float64"


@dataclass(frozen=True)
class Table:
    """A recipe of a table; the same recipe gives the same cells.

    `container` is "frame", in which each column has its own type, or "array", whose type is that of the
    first column.
    """

    rows: int
    columns: tuple[Column, ...]
    seed: int = 0
    container: str = "array"

    def generator(self, purpose: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, purpose])

    @property
    def cells(self) -> np.ndarray:
        """The table as float64, categories as codes and NaN where a value is missing."""
        cells = np.empty((self.rows, len(self.columns)))
        for place, column in enumerate(self.columns):
            random = self.generator(place)
            cells[:, place] = _values(column.kind, self.rows, random).astype(self.dtype(place))
            gaps = _gaps(column.missing, self.rows, random)
            if self.may_be_missing(place):
                cells[gaps, place] = np.nan
        return cells

    def dtype(self, place: int) -> np.dtype:
        """The type of a column's numbers; codes of categories are float64, since they may be missing."""
        if self.columns[place].kind in CATEGORY_KINDS:
            return np.dtype("float64")
        return np.dtype(self.columns[place if self.container == "frame" else 0].dtype)

    def may_be_missing(self, place: int) -> bool:
        return self.dtype(place).kind == "f"

    @property
    def X(self) -> Any:
        """Return the table in its container."""
        return self.filled(self.cells)

    def filled(self, cells: np.ndarray) -> Any:
        """A table of the same columns and types with these cells."""
        if self.container == "array":
            return cells.astype(self.dtype(0))
        import pandas as pd

        frame = {}
        for place, column in enumerate(self.columns):
            values = cells[:, place]
            if column.kind in CATEGORY_KINDS:
                codes = np.where(np.isnan(values), -1, values).astype(int)
                kind = pd.CategoricalDtype(LEVELS, ordered=column.kind == "ordered")
                frame[f"c{place}"] = pd.Categorical.from_codes(codes, dtype=kind)
            else:
                frame[f"c{place}"] = values.astype(self.dtype(place))
        return pd.DataFrame(frame)

    @property
    def signal(self) -> np.ndarray:
        """Return numbers that depend on each column, its missing values and an interaction, with noise."""
        cells, random = self.cells, self.generator(1000)
        gaps = np.isnan(cells)
        scale = np.nanmax(np.abs(np.where(gaps, 0, cells)), axis=0, initial=1e-9)
        share = np.where(gaps, 0, cells) / scale
        share[:, [c.kind == "category" for c in self.columns]] **= 2
        signal = share @ random.normal(size=share.shape[1]) + gaps @ random.normal(
            size=share.shape[1]
        )
        return signal + share[:, 0] * share[:, -1] + 0.3 * random.normal(size=self.rows)

    @property
    def numbers(self) -> np.ndarray:
        """Targets that are multiples of 1/8: sums of them are exact, in any order."""
        return np.round(8 * self.signal) / 8

    @property
    def counts(self) -> np.ndarray:
        return np.round(np.exp(np.clip(self.signal, -3, 3))) + 1

    def labels(self, classes: int = 2) -> np.ndarray:
        """Classes of about the same size; each has a row, and the names are text."""
        order = np.argsort(np.argsort(self.signal, kind="stable"), kind="stable")
        return np.array(["ant", "bee", "cicada"])[order * classes // self.rows]

    def target(self, kind: str) -> np.ndarray:
        """Of the kind "numbers", "counts", "two" or "three"."""
        if kind in ("two", "three"):
            return self.labels(2 if kind == "two" else 3)
        return self.numbers if kind == "numbers" else self.counts


def _values(kind: str, rows: int, random: np.random.Generator) -> np.ndarray:
    made = {
        "smooth": lambda: random.normal(size=rows).astype(np.float32),
        "tied": lambda: random.integers(-2, 3, size=rows),
        "whole": lambda: random.integers(-300, 300, size=rows),
        "skewed": lambda: np.exp(3 * random.normal(size=rows)).astype(np.float32).clip(0, 3e4),
        "constant": lambda: np.full(rows, 2.0),
        "category": lambda: random.integers(0, len(LEVELS), size=rows),
        "ordered": lambda: random.integers(0, len(LEVELS), size=rows),
    }
    return np.asarray(made[kind](), dtype=np.float64)


def _gaps(missing: str, rows: int, random: np.random.Generator) -> np.ndarray:
    share = {"none": 0.0, "some": 0.2, "most": 0.8, "first": 0.0, "all": 1.0}[missing]
    gaps = random.random(rows) < share
    if missing == "first":
        gaps[: rows // 3] = True
    return gaps


def numeric_columns(missing: tuple[str, ...] = MISSING) -> st.SearchStrategy[Column]:
    """A missing pattern has no effect on columns of integers, which cannot hold NaN."""
    return st.builds(
        Column, st.sampled_from(NUMERIC_KINDS), st.sampled_from(missing), st.sampled_from(DTYPES)
    )


@st.composite
def tables(
    draw: st.DrawFn,
    rows: tuple[int, int] = (12, 60),
    columns: tuple[int, int] = (1, 4),
    *,
    missing: tuple[str, ...] = MISSING,
    categories: bool = True,
) -> Table:
    """A table of any shape, types and missing values; with a category column it is a data frame."""
    number = draw(st.integers(*columns))
    one = numeric_columns(missing)
    if categories:
        gaps = st.sampled_from([m for m in missing if m != "all"])
        one = one | st.builds(Column, st.sampled_from(CATEGORY_KINDS), gaps)
    drawn = tuple(draw(st.lists(one, min_size=number, max_size=number)))
    is_frame = any(column.kind in CATEGORY_KINDS for column in drawn) or draw(st.booleans())
    return Table(draw(st.integers(*rows)), drawn, draw(seeds), "frame" if is_frame else "array")


seeds = st.integers(0, 2**32 - 1)


@dataclass(frozen=True)
class Weights:
    """A recipe of sample weights: "ones", "whole" (0 to 3), "halves" (0.5 to 4) or "uneven" (1 to 10⁴).

    Whole weights add up to a power of two, for which the first row may be heavier: means of targets that are
    multiples of 1/8 are exact then.
    """

    kind: str
    seed: int = 0

    def of(self, rows: int, least: int = 0) -> np.ndarray:
        """The weights of so many rows; whole weights are at least `least`."""
        random = np.random.default_rng([self.seed, 2000])
        if self.kind == "whole":
            weight = random.integers(least, 4, size=rows).astype(np.float64)
            weight[0] += 2.0 ** np.ceil(np.log2(weight.sum() + 1)) - weight.sum()
            return weight
        if self.kind == "halves":
            return random.integers(1, 9, size=rows) / 2
        if self.kind == "uneven":
            return 10.0 ** random.uniform(0, 4, size=rows)
        return np.ones(rows)

    def or_none(self, rows: int) -> np.ndarray | None:
        return None if self.kind == "ones" else self.of(rows)


def weights(*kinds: str) -> st.SearchStrategy[Weights]:
    return st.builds(Weights, st.sampled_from(kinds or ("ones", "halves", "uneven")), seeds)


def rows_of(X: Any, rows: Any) -> Any:
    """Some rows of an array or a data frame."""
    return X.iloc[rows].reset_index(drop=True) if hasattr(X, "iloc") else X[rows]


def columns_of(X: Any, places: Any) -> Any:
    """Some columns of an array or a data frame."""
    return X.iloc[:, places] if hasattr(X, "iloc") else X[:, places]
