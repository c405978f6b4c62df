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

    from numpy.typing import NDArray

__all__ = ["Columns", "as_model_takes_them", "as_numbers", "find_columns", "listed", "prepared"]

MISSING = "(missing)"
MOST_CATEGORIES = 20


@dataclass(frozen=True)
class Columns:
    """The columns that are used, and what was found in them.

    Attributes
    ----------
    numeric, text : list of str
        The columns that are used as numbers, and as categories.
    left_out : dict of str to str
        Those that are not used, and why.
    n_missing : dict of str to int
        How many values are missing in the columns that have any missing.
    """

    numeric: list[str]
    text: list[str]
    left_out: dict[str, str]
    n_missing: dict[str, int]

    @property
    def fewest(self) -> int:
        """The number of columns that a model sees at the least."""
        return len(self.numeric) + len(self.text)

    def in_words(self) -> list[str]:
        """What is done with them, to be told."""
        kinds = {"numeric": len(self.numeric), "text": len(self.text)}
        used = " and ".join(f"{n} {kind}" for kind, n in kinds.items() if n)
        words = [f"{used} column{' is' if self.fewest == 1 else 's are'} used."]
        numbers = [name for name in self.n_missing if name in self.numeric]
        if numbers:
            total = sum(self.n_missing[name] for name in numbers)
            words.append(
                f"{total} missing values in {listed(numbers)} are replaced by the column's median, "
                "inside each training set."
            )
        if self.text:
            words.append(
                f"{listed(self.text)}: one column for each of at most {MOST_CATEGORIES} categories, "
                "found inside each training set; missing values are a category."
            )
        for reason in dict.fromkeys(self.left_out.values()):
            names = [name for name, why in self.left_out.items() if why == reason]
            words.append(f"Not used, {reason}: {listed(names)}.")
        return words


def find_columns(X: Any) -> tuple[Any, Columns]:
    """Look at the columns; the data frame returned has those that are used, as a model takes them."""
    columns = Columns([], [], {}, {})
    for name in X.columns:
        column = X[name]
        n_missing = int(column.isna().sum())
        if n_missing == len(X):
            columns.left_out[name] = "as empty"
        elif _is_numeric(column):
            if name.startswith("Unnamed: ") and _counts_rows(column):
                columns.left_out[name] = "as it just counts the rows"
                continue
            n_missing = int((~np.isfinite(as_numbers(column))).sum())
            columns.numeric.append(name)
        elif not _is_text(column):
            columns.left_out[name] = "as neither numbers nor text"
        elif column.astype(str).nunique() > max(MOST_CATEGORIES, 0.5 * (len(X) - n_missing)):
            columns.left_out[name] = "as text that differs in most rows"
        else:
            columns.text.append(name)
        if n_missing and name not in columns.left_out:
            columns.n_missing[name] = n_missing
    if not columns.fewest:
        reasons = "; ".join(columns.in_words()[1:])
        raise UserError(
            "No column besides the target can be used: none has numbers or text for categories."
            f"{' ' if reasons else ''}{reasons}"
        )
    return as_model_takes_them(X, columns.numeric, columns.text), columns


def as_model_takes_them(X: Any, numeric: list[str], text: list[str]) -> Any:
    """A data frame of the columns that are used, as numbers and as texts; infinite is missing."""
    import pandas

    columns = {name: as_numbers(X[name]) for name in numeric} | {
        name: _as_texts(X[name]) for name in text
    }
    return pandas.DataFrame(columns)


def as_numbers(column: Any) -> NDArray[np.float64]:
    """A column of numbers or truth values; what is missing or infinite is NaN."""
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.where(np.isfinite(values), values, np.nan)


def prepared(columns: Columns, model: Callable[[], Any], *, scaled: bool) -> Pipeline:
    """A pipeline of the preparation and a model; the model's step is called ``model``."""
    # Data to predict can have missing values where the data to tune on have none.
    numbers: list[Any] = [SimpleImputer(strategy="median", keep_empty_features=True)]
    if scaled:
        numbers.append(StandardScaler())
    parts: list[tuple[str, Any, list[str]]] = [("numbers", make_pipeline(*numbers), columns.numeric)]
    if columns.text:
        encoder = OneHotEncoder(
            handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES, sparse_output=False
        )
        parts.append(("text", encoder, columns.text))
    return Pipeline([("prepare", ColumnTransformer(parts)), ("model", model())])


def _as_texts(column: Any) -> NDArray[np.object_]:
    texts = column.astype(object).where(column.notna(), MISSING).map(str)
    return np.asarray(texts.to_numpy(dtype=object))


def _is_numeric(column: Any) -> bool:
    import pandas

    return bool(pandas.api.types.is_numeric_dtype(column))  # truth values are numbers, too


def _is_text(column: Any) -> bool:
    import pandas

    types = pandas.api.types
    return bool(
        types.is_string_dtype(column)
        or types.is_object_dtype(column)
        or isinstance(column.dtype, pandas.CategoricalDtype)
    )


def _counts_rows(column: Any) -> bool:
    values = as_numbers(column)
    return any(np.array_equal(values, np.arange(first, first + len(values))) for first in (0, 1))


def listed(names: list[str]) -> str:
    """The first few names."""
    some = ", ".join(names[:5])
    return f"{some} and {len(names) - 5} more" if len(names) > 5 else some
