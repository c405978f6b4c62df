"""The raw files: kept below a data home, fetched once, checked before every use."""

from __future__ import annotations

import hashlib
import os
import time
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.request import urlopen

from steadycv._files import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadycv.datasets.sources import Source

__all__ = ["get_data_home", "read_raw_files"]

VARIABLE = "STEADYCV_DATA"
TRIES = 3
SECONDS_TO_WAIT = 30.0  # for an answer
SECONDS_BETWEEN_TRIES = 1.0


def get_data_home(data_home: str | os.PathLike[str] | None = None) -> Path:
    """The folder of the raw files.

    Parameters
    ----------
    data_home : path-like, optional
        The folder. By default the one that the environment variable ``STEADYCV_DATA`` names, else
        ``~/steadycv_data``.

    Returns
    -------
    data_home : Path
        The folder; it is made when the first file is fetched. Below it a file has the place that it
        has on GitHub: owner, repository, path.

    Examples
    --------
    >>> from steadycv.datasets import get_data_home
    >>> get_data_home("data/raw").as_posix()
    'data/raw'
    """
    if data_home is None:
        data_home = os.environ.get(VARIABLE) or "~/steadycv_data"
    return Path(data_home).expanduser()


def read_raw_files(sources: Sequence[Source], data_home: Path, *, download: bool) -> list[bytes]:
    """The content of each file, from the data home or from the network, with the right checksum."""
    missing = [source for source in sources if not (data_home / source.name).exists()]
    if missing and not download:
        raise FileNotFoundError(
            f"{len(missing)} of {len(sources)} raw files are not in {str(data_home)!r}, and "
            f"download_if_missing is False.{_remedy(sources, data_home)}"
        )
    for source in missing:
        try:
            content = _download(source)
        except (OSError, HTTPException) as error:
            raise OSError(
                f"{source.url} could not be fetched: {type(error).__name__}: {error}."
                f"{_remedy(sources, data_home)}"
            ) from error
        _keep(content, data_home / source.name)
    return [_read(source, data_home / source.name) for source in sources]


def _download(source: Source) -> bytes:
    for attempt in range(TRIES):
        try:
            with urlopen(source.url, timeout=SECONDS_TO_WAIT) as response:
                content: bytes = response.read()
            break
        except (OSError, HTTPException) as error:
            # What is not there, or not allowed, will not be a second later.
            final = isinstance(error, HTTPError) and error.code < 500 and error.code != 429
            if final or attempt == TRIES - 1:
                raise
            time.sleep(SECONDS_BETWEEN_TRIES * 2**attempt)
    if (checksum := hashlib.sha256(content).hexdigest()) != source.sha256:
        raise OSError(
            f"what came, {len(content)} bytes with sha256 {checksum}, is not the file, whose sha256 is "
            f"{source.sha256}; it was not kept"
        )
    return content


def _keep(content: bytes, path: Path) -> None:
    try:
        write_whole(path, content)
    except OSError as error:
        raise OSError(
            f"A file was fetched but could not be kept as {str(path)!r}: {error}. Name a folder that "
            f"can be written to, by data_home= or the environment variable {VARIABLE}."
        ) from error


def _read(source: Source, path: Path) -> bytes:
    content = path.read_bytes()
    if (checksum := hashlib.sha256(content).hexdigest()) != source.sha256:
        raise OSError(
            f"{str(path)!r} is not the file it should be: its sha256 is {checksum}, and that of "
            f"{source.url} is {source.sha256}. It was left as it is; move it away to have the right one "
            "fetched, or put that one in its place."
        )
    return content


def _remedy(sources: Sequence[Source], data_home: Path) -> str:
    places = {source.url: data_home / source.name for source in sources}
    files = "".join(
        f"\n    {url}\n        as {path}" for url, path in places.items() if not path.exists()
    )
    return (
        f" To go on without a network, save these files:{files}\n"
        f"or name a folder that has them, by data_home= or the environment variable {VARIABLE}."
    )
