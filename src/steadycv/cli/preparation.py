"""What is done to a user's columns before a model sees them, inside each training set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from steadycv.cli.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Columns", "find_columns", "prepared"]

MISSING = "(missing)"
MOST_CATEGORIES = 20


@dataclass(frozen=True)
class Columns:
    """The columns that are used, and what was found in them.

    Attributes
    ----------
    numeric, text : list of str
        The columns that are used as numbers, and as categories.
    left_out : list of str
        Those that are not used: empty, or neither numbers nor text.
    n_missing : dict of str to int
        How many values are missing in the columns that have any missing.
    """

    numeric: list[str]
    text: list[str]
    left_out: list[str]
    n_missing: dict[str, int]

    @property
    def fewest(self) -> int:
        """The number of columns that a model sees at the least."""
        return len(self.numeric) + len(self.text)

    def in_words(self) -> list[str]:
        """What is done with them, to be told."""
        words = [f"{len(self.numeric)} numeric and {len(self.text)} text columns are used."]
        numbers = [name for name in self.n_missing if name in self.numeric]
        if numbers:
            total = sum(self.n_missing[name] for name in numbers)
            words.append(
                f"{total} missing values in {_listed(numbers)} are replaced by the column's median, "
                "inside each training set."
            )
        if self.text:
            words.append(
                f"{_listed(self.text)}: one column for each of at most {MOST_CATEGORIES} categories, "
                "found inside each training set; missing values are a category."
            )
        if self.left_out:
            words.append(f"Not used, as neither numbers nor text or as empty: {_listed(self.left_out)}.")
        return words


def find_columns(X: Any) -> tuple[Any, Columns]:
    """Look at the columns; the data frame returned has those that are used, as a model takes them."""
    import pandas

    types = pandas.api.types
    columns = Columns([], [], [], {})
    used = {}
    for name in map(str, X.columns):
        column = X[name]
        if types.is_numeric_dtype(column) or types.is_bool_dtype(column):
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
            values = np.where(np.isinf(values), np.nan, values)
            n_missing, kind = int(np.isnan(values).sum()), columns.numeric
        elif (
            types.is_string_dtype(column)
            or types.is_object_dtype(column)
            or isinstance(column.dtype, pandas.CategoricalDtype)
        ):
            values = column.astype(object).where(column.notna(), MISSING).map(str).to_numpy(dtype=object)
            n_missing, kind = int(column.isna().sum()), columns.text
        else:
            n_missing = len(X)
        if n_missing == len(X):
            columns.left_out.append(name)
            continue
        kind.append(name)
        used[name] = values
        if n_missing:
            columns.n_missing[name] = n_missing
    if not used:
        raise UserError("No column besides the target can be used: none has numbers or text.")
    return pandas.DataFrame(used), columns


def prepared(columns: Columns, model: Callable[[], Any], *, scaled: bool) -> Pipeline:
    """A pipeline of the preparation and a model; the model's step is called ``model``."""
    numbers: list[Any] = []
    if any(name in columns.numeric for name in columns.n_missing):
        numbers.append(SimpleImputer(strategy="median", keep_empty_features=True))
    if scaled:
        numbers.append(StandardScaler())
    parts: list[tuple[str, Any, list[str]]] = [
        ("numbers", make_pipeline(*numbers) if numbers else "passthrough", columns.numeric)
    ]
    if columns.text:
        encoder = OneHotEncoder(
            handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES, sparse_output=False
        )
        parts.append(("text", encoder, columns.text))
    return Pipeline([("prepare", ColumnTransformer(parts)), ("model", model())])


def _listed(names: list[str]) -> str:
    some = ", ".join(names[:5])
    return f"{some} and {len(names) - 5} more" if len(names) > 5 else some
