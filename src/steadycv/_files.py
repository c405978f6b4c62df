"""Files that are written whole or not at all."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

__all__ = ["write_whole"]


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, and its folder if need be; who reads it sees the old content or the new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".writing-", dir=path.parent) as folder:
        part = Path(folder) / path.name
        part.write_bytes(content)
        part.replace(path)
