"""Parsers, one for each kind of raw file. Each gives a data frame with named columns."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

__all__ = ["Reader", "r_objects", "text_table"]


@dataclass(frozen=True)
class Reader:
    """Turns the raw files of a data set into one data frame.

    Attributes
    ----------
    text : str
        What is read, as a sentence.
    read : callable
        Takes the content of each file and returns the data frame.
    """

    text: str
    read: Callable[[Sequence[bytes]], pd.DataFrame]


def text_table(*columns: str, separator: str = ",") -> Reader:
    """Lines of text without a header, ``?`` where a value is missing; files follow one another."""

    def read(contents: Sequence[bytes]) -> pd.DataFrame:
        import pandas as pd

        tables = [
            pd.read_csv(
                BytesIO(content),
                sep=separator,
                header=None,
                names=list(columns),
                na_values="?",
                skipinitialspace=True,
            )
            for content in contents
        ]
        return pd.concat(tables, ignore_index=True)

    return Reader("Each line of the text is a row, file after file.", read)


def r_objects(*names: str | None) -> Reader:
    """From each file of R, one object or (None) all of them; side by side.

    Data frames and lists are taken apart: a vector is a column, a matrix is as many as it has.
    """

    def read(contents: Sequence[bytes]) -> pd.DataFrame:
        import pandas as pd

        columns = []
        for content, name in zip(contents, names, strict=True):
            objects = _parse_r(content)
            columns += _columns("", objects if name is None else objects[name])
        return pd.concat(columns, axis=1)

    objects = " and ".join(name or "all objects of the file" for name in names)
    return Reader(f"From the files of R: {objects}, side by side.", read)


def _parse_r(content: bytes) -> dict[str, Any]:
    try:
        import rdata
    except ImportError as error:
        raise ImportError(
            "This data set comes in a file of R, which is read with rdata: "
            "pip install 'steadycv[datasets]'."
        ) from error

    def as_it_is(value: Any, _attributes: Any) -> Any:
        return value

    # rdata's own data frames cannot have a matrix as a column.
    classes = {**rdata.conversion.DEFAULT_CLASS_MAP, "data.frame": as_it_is, "AsIs": as_it_is}
    objects: dict[str, Any] = rdata.read_rda(BytesIO(content), constructor_dict=classes)
    return objects


def _columns(name: str, value: Any) -> list[pd.DataFrame | pd.Series]:
    import pandas as pd

    if isinstance(value, dict):
        return [column for part in value for column in _columns(str(part), value[part])]
    if np.ndim(value) == 2:
        return [
            pd.DataFrame(value.values, columns=[str(label) for label in value.coords["dim_1"].values])
        ]
    column = pd.Series(value, name=name)
    return [column.astype(np.int64) if column.dtype.kind == "i" else column]
