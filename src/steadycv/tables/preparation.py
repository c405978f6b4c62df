"""What is done to the columns of a table inside each training set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from steadycv.tables.readings import MOST_CATEGORIES, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadycv.tables.readings import Reading

__all__ = ["MOST_WORDS", "preparation"]

MOST_WORDS = 100


def preparation(readings: Sequence[Reading], *, scaled: bool) -> ColumnTransformer:
    """Medians for missing numbers, a column for each category and for the commonest words."""
    # Data to predict can have missing values where the data to tune on have none.
    numbers: list[Any] = [SimpleImputer(strategy="median", keep_empty_features=True)]
    if scaled:
        numbers.append(StandardScaler())
    numeric = [name for each in readings if each.is_numeric for name in each.columns]
    parts: list[tuple[str, Any, Any]] = [("numbers", make_pipeline(*numbers), numeric)]
    categories = _of_kind(readings, Kind.CATEGORY)
    if categories:
        encoder = OneHotEncoder(
            handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES, sparse_output=False
        )
        parts.append(("text", encoder, categories))
    # A pattern that finds a word in every text that has one: a training set without any would fail.
    parts += [
        (
            f"words of {name}",
            TfidfVectorizer(max_features=MOST_WORDS, sublinear_tf=True, token_pattern=r"(?u)\w+"),
            name,
        )
        for name in _of_kind(readings, Kind.WORDS)
    ]
    return ColumnTransformer(parts, sparse_threshold=0)


def _of_kind(readings: Sequence[Reading], kind: Kind) -> list[str]:
    return [each.name for each in readings if each.kind is kind and not each.left_out]
