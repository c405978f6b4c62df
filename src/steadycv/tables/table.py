"""A table as people have it, read so that models can take it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv.tables import hints
from steadycv.tables.errors import TableError
from steadycv.tables.files import name_of, read_file
from steadycv.tables.preparation import preparation
from steadycv.tables.readings import Kind, find_readings
from steadycv.tables.remarks import remarks
from steadycv.tables.targets import features_and_target, find_column

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray
    from sklearn.compose import ColumnTransformer

    from steadycv.tables.readings import Reading
    from steadycv.tables.targets import Target, Task

__all__ = ["Table", "as_models_take_them", "find_used", "is_polars", "read", "texts_of"]


@dataclass(frozen=True)
class Table:
    """A table that was read: its columns as models take them, and how that was decided.

    Attributes
    ----------
    X : DataFrame
        The columns that are used: numbers, texts of categories and words, and the parts of dates. Of
        polars where a frame of polars was read, else of pandas.
    y : ndarray or None
        The numbers or classes of the target; None without a target.
    readings : list of Reading
        How each column is read, in the order of the table.
    remarks : list of str
        The same and what else to look at, in sentences.
    target : Target or None
        What is known of the target.

    See Also
    --------
    read : Makes one.
    """

    X: Any
    readings: list[Reading]
    remarks: list[str]
    target: Target | None

    @property
    def y(self) -> NDArray[Any] | None:
        """The numbers or classes of the target."""
        if self.target is None or not self.target.classes:
            return None if self.target is None else self.target.y
        return np.asarray(np.array(self.target.classes)[self.target.y])

    def preparation(self, *, scaled: bool = False) -> ColumnTransformer:
        """What comes before a model in a pipeline: it is learned anew in each training set.

        Missing numbers become the median, each of at most 20 categories and 100 words a column.

        Parameters
        ----------
        scaled : bool, default False
            Whether numbers get mean 0 and variance 1, as linear models, neighbours and support vector
            machines want it.

        Returns
        -------
        ColumnTransformer
            Not fitted.
        """
        return preparation(self.readings, scaled=scaled)

    def read_alike(self, source: Any, *, table: str | None = None) -> Any:
        """The columns of another table as models take them, read as those of this one.

        Parameters
        ----------
        source : path or DataFrame
            The other table, with the columns that are used here.
        table : str, optional
            The sheet, table or query of a file that has several.

        Returns
        -------
        DataFrame
            To predict with.

        Raises
        ------
        TableError
            If a column is not there, or is no such column.
        """
        frame, _, polars = _frame(source, table, texts_of(self.readings))
        X = as_models_take_them(frame, self.readings)
        return _as_polars(X) if polars else X

    def frame(self) -> Any:
        """How each column is read, as a data frame with a row for each of them."""
        import pandas

        rows = [
            {
                "column": each.name,
                "read as": each.kind.value,
                "used": not each.left_out,
                "missing": each.n_missing,
                "remark": "; ".join(filter(None, (each.left_out, *each.notes))),
                "example": "" if each.example is None else " = ".join(each.example),
            }
            for each in self.readings
        ]
        return _as_polars(pandas.DataFrame(rows)) if is_polars(self.X) else pandas.DataFrame(rows)


def read(
    source: Any,
    *,
    target: str | None = None,
    task: Task | None = None,
    keep: Collection[str] = (),
    table: str | None = None,
) -> Table:
    """Read a table as people have it: numbers in disguise, dates, identifiers, text.

    Parameters
    ----------
    source : path or DataFrame
        A file of text with separators, Parquet, Excel, SQLite or DuckDB, or a data frame of pandas or
        polars.
    target : str, optional
        The column to predict.
    task : {"classification", "regression"}, optional
        What the target is; by default it tells.
    keep : collection of str, default ()
        Columns to use although they count rows, are identifiers, or are text that differs in most rows,
        whose words are used then.
    table : str, optional
        The sheet of an Excel file, the table of a database, or a query that begins with SELECT; it calls
        a file of another kind ``data``.

    Returns
    -------
    Table
        The columns as models take them, and how each was read.

    Raises
    ------
    TableError
        If there is no such table or column, or nothing that a model could use.

    Examples
    --------
    >>> import pandas as pd
    >>> from steadycv import tables
    >>> prices, days = ["$1,200", "$950", "n/a"], ["3.1.2024", "14.2.2024", "2.3.2024"]
    >>> frame = pd.DataFrame({"price": prices, "sold": days})
    >>> table = tables.read(frame)
    >>> table.X
        price  sold: month  sold: day of week  sold: days since 2024-01-03
    0  1200.0          1.0                2.0                          0.0
    1   950.0          2.0                2.0                         42.0
    2     NaN          3.0                5.0                         59.0
    >>> print(table.remarks[1])
    Read as numbers: price ('$1,200' is 1200).
    """
    frame, about, polars = _frame(source, table)
    found = None
    if target is not None:
        frame, found = features_and_target(frame, target, task)
    X, readings = find_used(frame, keep)
    lines = [*about, *remarks(readings, "keep=[{!r}]".format)]
    if found is not None:
        lines += [*found.notes, *hints.leaks(X, readings, found)]
        lines += hints.order(frame, readings, found, "TimeSeriesSplit on rows sorted by {}")
    return Table(_as_polars(X) if polars else X, readings, lines, found)


def find_used(frame: Any, keep: Collection[str] = ()) -> tuple[Any, list[Reading]]:
    """The columns that models get of the features of a table, and how each column is read."""
    for name in keep:
        find_column(frame, name)
    readings = find_readings(frame, keep)
    if not any(each.columns for each in readings):
        reasons = "; ".join(f"{each.name} is left out {each.left_out}" for each in readings[:5])
        raise TableError(
            "No column besides the target can be used: none has numbers, dates or text for categories."
            f"{' ' if reasons else ''}{reasons}"
        )
    return as_models_take_them(frame, readings), readings


def as_models_take_them(frame: Any, readings: Sequence[Reading]) -> Any:
    """The columns that models get of a table; what is not used need not be there."""
    import pandas

    used = [each for each in readings if not each.left_out]
    missing = [each.name for each in used if each.name not in frame.columns]
    if missing:
        raise TableError(f"The table lacks columns that the model needs: {', '.join(missing)}.")
    columns = {name: values for each in used for name, values in each.values(frame[each.name]).items()}
    return pandas.DataFrame(columns)


def texts_of(readings: Sequence[Reading]) -> list[str]:
    """The columns that are texts also where all of them look like plain numbers."""
    return [each.name for each in readings if each.kind is not Kind.NUMBER or each.number is not None]


def is_polars(source: Any) -> bool:
    """Whether something is a data frame of polars."""
    return type(source).__module__.partition(".")[0] == "polars"


def _frame(source: Any, part: str | None, as_text: Collection[str] = ()) -> tuple[Any, list[str], bool]:
    """A data frame of pandas, what is to be told of its file, and whether it came from polars."""
    import pandas

    if isinstance(source, str | Path):
        frame, about = read_file(Path(source), part, as_text)
        return frame, [f"{name_of(Path(source))}: {line}" for line in about], False
    if is_polars(source):
        return source.to_pandas(), [], True
    if not isinstance(source, pandas.DataFrame):
        raise TypeError(
            "source must be a path, or a data frame of pandas or polars; got "
            f"{type(source).__module__}.{type(source).__qualname__}."
        )
    return source.rename(columns=str).reset_index(drop=True), [], False


def _as_polars(frame: Any) -> Any:
    import polars

    return polars.from_pandas(frame)
