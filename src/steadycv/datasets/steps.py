"""Steps of preprocessing. Each says what it does, so that a description can list what was done."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

__all__ = [
    "Step",
    "drop_incomplete_rows",
    "indicators",
    "keep",
    "logarithm",
    "pairwise_products",
    "products_with_indicators",
    "rename",
    "squares",
]


@dataclass(frozen=True)
class Step:
    """One step.

    Attributes
    ----------
    text : str
        What is done, as a sentence.
    apply : callable
        Takes a data frame, features and response, and returns another.
    """

    text: str
    apply: Callable[[pd.DataFrame], pd.DataFrame]


def drop_incomplete_rows() -> Step:
    """Rows with a missing value go."""
    return Step(
        "Rows with a missing value are dropped.",
        lambda frame: frame.dropna().reset_index(drop=True),
    )


def keep(*columns: str, text: str | None = None) -> Step:
    """The other columns go; `text` says so where a list would be too long."""
    return Step(
        text or f"These columns are kept, in this order: {', '.join(columns)}.",
        lambda frame: frame[list(columns)],
    )


def rename(text: str, new_name: Callable[[str], str]) -> Step:
    """Columns get other names; `text` says which."""
    return Step(text, lambda frame: frame.rename(columns=new_name))


def indicators(*columns: str, drop_first: bool = False) -> Step:
    """A column of categories becomes one column of 0 and 1 for each category, in sorted order."""

    def apply(frame: pd.DataFrame) -> pd.DataFrame:
        new = {}
        for column in frame:
            if column not in columns:
                new[column] = frame[column]
                continue
            labels = frame[column].astype(str)
            for label in sorted(labels.unique())[drop_first:]:
                new[f"{column}_{label.replace('/', '_')}"] = (labels == label).astype(np.int64)
        return _frame(new)

    how_many = "each value but the first" if drop_first else "each value"
    return Step(f"One 0/1 column for {how_many} of {', '.join(columns)}.", apply)


def logarithm(base: str, *columns: str) -> Step:
    """Columns are replaced by their logarithms, natural (``"e"``) or of base ``"10"``.

    The logarithms are rounded correctly. Those of mathematical libraries are not always, so the last
    digit would depend on the machine.
    """

    def apply(frame: pd.DataFrame) -> pd.DataFrame:
        context = Context(prec=40)
        function = {"e": context.ln, "10": context.log10}[base]
        return frame.assign(
            **{
                column: [float(function(Decimal(value))) for value in frame[column]]
                for column in columns
            }
        )

    kind = {"e": "Natural logarithm", "10": "Logarithm of base 10"}[base]
    return Step(f"{kind} of {', '.join(columns)}.", apply)


def squares(*columns: str) -> Step:
    """The squares of columns are added."""
    return Step(
        f"Squares added of {', '.join(columns)}.",
        lambda frame: _with_more(frame, {f"{a}^2": frame[a] * frame[a] for a in columns}),
    )


def pairwise_products(*columns: str) -> Step:
    """The products of two different columns are added."""
    return Step(
        f"Products added of any two of {', '.join(columns)}.",
        lambda frame: _with_more(
            frame, {f"{a}:{b}": frame[a] * frame[b] for a, b in combinations(columns, 2)}
        ),
    )


def products_with_indicators(*columns: str) -> Step:
    """The products of each column and each 0/1 column are added."""

    def apply(frame: pd.DataFrame) -> pd.DataFrame:
        zero_one = [column for column in frame if frame[column].isin([0, 1]).all()]
        return _with_more(frame, {f"{a}:{b}": frame[a] * frame[b] for a in columns for b in zero_one})

    return Step(f"Products added of each of {', '.join(columns)} with each 0/1 column.", apply)


def _with_more(frame: pd.DataFrame, columns: dict[str, pd.Series]) -> pd.DataFrame:
    return _frame({**frame, **columns})


def _frame(columns: dict[str, pd.Series]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(columns)
