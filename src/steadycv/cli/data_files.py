"""Reading a user's table: CSV, TSV or Parquet."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv.cli.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["features_and_target", "read_table"]

FEWEST_ROWS = 20


def read_table(path: Path) -> Any:
    """A data frame; the ending of the name says what kind of file it is."""
    import pandas

    kind = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    try:
        if kind in ("parquet", "pq"):
            return pandas.read_parquet(path)
        if kind in ("csv", "tsv"):
            return pandas.read_csv(path, sep="\t" if kind == "tsv" else ",")
    except (OSError, ValueError, ImportError) as error:
        reason = getattr(error, "strerror", None) or str(error).strip().partition("\n")[0]
        raise UserError(f"{path} cannot be read: {reason}") from None
    raise UserError(f"{path} cannot be read: its name must end in .csv, .tsv or .parquet.")


def features_and_target(frame: Any, target: str) -> tuple[Any, NDArray[np.float64]]:
    """The other columns, and the target as numbers."""
    if target not in frame.columns:
        names = [str(name) for name in frame.columns]
        close = get_close_matches(target, names, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else f"There are {', '.join(names[:10])}"
        more = f" and {len(names) - 10} more" if not close and len(names) > 10 else ""
        raise UserError(f"There is no column {target!r}. {hint}{more}{'' if close else '.'}")
    column = frame[target]
    numeric = [str(name) for name in frame.columns if _is_numeric(frame[name])]
    if not numeric:
        raise UserError("There is no numeric column: a target of numbers is needed.")
    if target not in numeric:
        raise UserError(
            f"The target {target!r} is not numeric. Numeric columns: {', '.join(numeric[:10])}."
        )
    n_missing = int(column.isna().sum())
    if n_missing:
        raise UserError(
            f"The target {target!r} is missing in {n_missing} of {len(frame)} rows: remove those first."
        )
    y = column.to_numpy(dtype=np.float64)
    if not np.isfinite(y).all():
        raise UserError(f"The target {target!r} is infinite in {int(np.isinf(y).sum())} rows.")
    if len(y) < FEWEST_ROWS:
        raise UserError(f"There are {len(y)} rows; {FEWEST_ROWS} are needed for folds and test data.")
    if np.ptp(y) == 0:
        raise UserError(
            f"The target {target!r} has one value only, {y[0]:g}: there is nothing to predict."
        )
    return frame.drop(columns=target), y


def _is_numeric(column: Any) -> bool:
    import pandas

    return bool(pandas.api.types.is_numeric_dtype(column) and not pandas.api.types.is_bool_dtype(column))
