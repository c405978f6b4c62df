"""The data sets as arrays or data frames, and their descriptions."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import Bunch

from steadycv.datasets.catalogue import DATASETS, Dataset
from steadycv.datasets.files import get_data_home, read_raw_files
from steadycv.datasets.sources import SOURCES

if TYPE_CHECKING:
    import os

__all__ = ["describe", "load"]


def load(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    as_frame: bool = False,
    return_X_y: bool = False,
    download_if_missing: bool = True,
) -> Any:
    """Load one of the paper's data sets; its raw files are fetched where they are missing.

    Needs pandas and, for files of R, rdata: ``pip install 'steadycv[datasets]'``.

    Parameters
    ----------
    name : str
        One of ``steadycv.datasets.NAMES``.
    data_home : path-like, optional
        The folder of the raw files, see :func:`get_data_home`.
    as_frame : bool, default=False
        Data frames and series of pandas instead of arrays.
    return_X_y : bool, default=False
        Only ``(data, target)`` instead of everything.
    download_if_missing : bool, default=True
        If False, nothing is fetched, and a file that is missing is an error.

    Returns
    -------
    dataset : Bunch
        With these attributes:

        - ``data``: array of shape (n_samples, n_features), or data frame; nothing is standardised.
        - ``target``: the response, array of shape (n_samples,), or series.
        - ``frame``: both as a data frame, with `as_frame`; the response is the last column. Else None.
        - ``feature_names``: list of str.
        - ``target_names``: list of one str.
        - ``DESCR``: sources, licences, every step of preprocessing, and how sure the agreement with
          the paper's data is.
        - ``filenames``: the raw files on this machine, list of str.
        - ``urls``: where they come from, list of str.
    (data, target) : tuple
        With `return_X_y`.

    Raises
    ------
    OSError
        If a raw file is missing and cannot be fetched, or has the wrong checksum. The message says
        which file to put where.

    Examples
    --------
    >>> from steadycv import datasets
    >>> X, y = datasets.load("prostate", return_X_y=True)  # doctest: +SKIP
    >>> datasets.load("glass")
    Traceback (most recent call last):
    ...
    ValueError: name='glass' is no data set. There are wine, housing, autompg, hitters, prostate, servo,
    toxicity, steam, alcohol2, topgear, bardet, vessel, riboflavin.
    """
    dataset = _find(name)
    _require_pandas()
    home = get_data_home(data_home)
    sources = [SOURCES[file] for file in dataset.files]
    frame = dataset.reader.read(read_raw_files(sources, home, download=download_if_missing))
    for step in dataset.steps:
        frame = step.apply(frame)
    target = frame[dataset.response].rename(dataset.target)
    data = frame.drop(columns=dataset.response)
    bunch = Bunch(
        data=data,
        target=target,
        frame=data.join(target) if as_frame else None,
        feature_names=list(data.columns),
        target_names=[dataset.target],
        DESCR=describe(name),
        filenames=[str(home / source.name) for source in sources],
        urls=[source.url for source in sources],
    )
    if not as_frame:
        bunch.data = np.ascontiguousarray(data, dtype=np.float64)
        bunch.target = target.to_numpy(dtype=np.float64)
    return (bunch.data, bunch.target) if return_X_y else bunch


def describe(name: str) -> str:
    """The description of a data set, without loading it.

    Parameters
    ----------
    name : str
        One of ``steadycv.datasets.NAMES``.

    Returns
    -------
    description : str
        What ``load(name).DESCR`` is.

    Examples
    --------
    >>> from steadycv import datasets
    >>> for name in datasets.NAMES[:3]:
    ...     print(datasets.describe(name).splitlines()[0])
    wine: Quality of red and white Portuguese wines, judged by tasters
    housing: Median value of homes in the suburbs of Boston
    autompg: Miles per gallon of cars of the years 1970 to 1982
    """
    dataset = _find(name)
    title = f"{name}: {dataset.title}"
    steps = [dataset.reader.text, *(step.text for step in dataset.steps), _response(dataset)]
    return "\n".join(
        [
            title,
            "=" * len(title),
            "",
            f"{dataset.n_samples} samples, {dataset.n_features} features. Response: {dataset.target}.",
            "",
            "Raw files, with the licence that the repository states (of an R package: of all of it):",
            "",
            *(f"- {SOURCES[file].url}\n  licence: {SOURCES[file].licence}" for file in dataset.files),
            "",
            "Preprocessing:",
            "",
            *(_paragraph(f"{number}. {step}", "   ") for number, step in enumerate(steps, start=1)),
            "",
            "Nothing is standardised.",
            "",
            _paragraph(f"Certain: n and p are the paper's. {dataset.certain}"),
            "",
            _paragraph(f"Not certain: {dataset.uncertain}"),
            "",
            _paragraph(
                "Used in: Cory-Wright, R. and Gomez, A. Stability Regularized Cross-Validation. Source "
                f"given there: {dataset.reference}"
            ),
            "",
        ]
    )


def _find(name: str) -> Dataset:
    if name not in DATASETS:
        raise ValueError(f"name={name!r} is no data set. There are {', '.join(DATASETS)}.")
    return DATASETS[name]


def _require_pandas() -> None:
    try:
        import pandas  # noqa: F401
    except ImportError as error:
        raise ImportError("Data sets are read with pandas: pip install 'steadycv[datasets]'.") from error


def _response(dataset: Dataset) -> str:
    name = "" if dataset.response == dataset.target else f", called {dataset.target},"
    return f"{dataset.response}{name} is the response; the other columns are the features."


def _paragraph(text: str, indent: str = "") -> str:
    return textwrap.fill(text, width=100, subsequent_indent=indent, break_on_hyphens=False)
