"""Running units of work, one after the other or several at a time, and storing each when it is done."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadycv.experiments.result_file import ResultFile, Unit

__all__ = ["fingerprint_of", "run_units"]

FORMAT_VERSION = 1  # of the results; raise it when the same settings come to mean something else


def run_units(units: Sequence[Unit], file: ResultFile, *, jobs: int = 1, progress: bool = False) -> None:
    """Do the units that the file does not have yet.

    Parameters
    ----------
    units : sequence of Unit
        All that is wanted.
    file : ResultFile
        Where the results are kept.
    jobs : int, default=1
        How many processes work at a time; results do not depend on it.
    progress : bool, default=False
        Whether there is a bar on standard error.
    """
    todo = file.missing(units)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("time left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not progress,
    )
    with bar:
        task = bar.add_task("Starting", total=len(units), completed=len(units) - len(todo))
        for number, rows in _results(todo, jobs):
            file.append(todo[number], rows)
            _, *last = todo[number].key.values()
            bar.update(task, advance=1, description=", ".join(map(str, last)))


def fingerprint_of(*parts: Any) -> str:
    """A short fingerprint of what results depend on; the same for numbers that differ by rounding."""
    parts = (FORMAT_VERSION, version("steadycv"), *parts)
    text = json.dumps(parts, default=_described)
    return hashlib.sha256(json.dumps(_rounded(json.loads(text))).encode()).hexdigest()[:12]


def _results(units: list[Unit], jobs: int) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """The rows of each unit, as soon as they are there."""
    calls = (delayed(_do)(number, unit) for number, unit in enumerate(units))
    if jobs == 1:
        yield from (function(*args) for function, args, _ in calls)
    else:
        yield from Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(calls)


def _do(number: int, unit: Unit) -> tuple[int, list[dict[str, Any]]]:
    start = time.process_time()  # of the processor, as others may use the machine too
    # One thread: with several, sums are taken in another order on another machine.
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rows = unit.work()
    seconds = time.process_time() - start
    return number, [row | {"warnings": len(caught), "seconds": round(seconds, 3)} for row in rows]


def _described(thing: Any) -> Any:
    if isinstance(thing, np.ndarray):
        return hashlib.sha256(np.ascontiguousarray(thing).tobytes()).hexdigest()
    if hasattr(thing, "tolist"):
        return thing.tolist()
    return repr(thing)


def _rounded(thing: Any) -> Any:
    if isinstance(thing, float):
        return float(f"{thing:.9g}")
    if isinstance(thing, list):
        return [_rounded(part) for part in thing]
    if isinstance(thing, dict):
        return {name: _rounded(part) for name, part in thing.items()}
    return thing
