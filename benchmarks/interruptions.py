"""What is lost when a search is killed: `python benchmarks/interruptions.py`.

A search that writes a ledger is killed (SIGKILL) at a random moment, again and again, and then goes on
to its end. Counted are the fits that are done a second time: those that were running, and no more.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

from steadycv import StabilitySearchCV
from steadycv.paths import find_path, register_path

RESULTS = Path(__file__).parent / "results" / "interruptions.json"

pace = SimpleNamespace(seconds=0.05)  # that a fit takes


class Slow(RegressorMixin, BaseEstimator):
    """Ridge regression that takes its time."""

    share = 1.0

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def fit(self, X: Any, y: Any) -> Slow:
        time.sleep(pace.seconds * self.share)
        self.ridge_ = Ridge(alpha=self.alpha).fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        return self.ridge_.predict(X)


class Quick(Slow):
    """The same, as quick as the fits of small tables are."""

    share = 0.08


@cache
def slow_path() -> None:
    """Let the path of ridge regression take its time as well."""
    fast = type(find_path(Ridge()))

    class SlowPath(fast):  # type: ignore[valid-type,misc]
        def outputs(self, *args: Any) -> Any:
            time.sleep(pace.seconds)
            return super().outputs(*args)

    SlowPath.__module__, SlowPath.__qualname__ = fast.__module__, fast.__qualname__
    register_path(Ridge, SlowPath())


CASES = {
    "separate fits, one core": (Slow(), {"alpha": [0.1, 1.0, 10.0]}, 1),
    "separate fits, two cores": (Slow(), {"alpha": [0.1, 1.0, 10.0]}, 2),
    "quick separate fits, one core": (Quick(), {"alpha": np.logspace(-2, 2, 30).tolist()}, 1),
    "a path, one core": (Ridge(), {"alpha": np.logspace(-2, 2, 20)}, 1),
}


def search(case: str, ledger: str | None, progress: str | None = None) -> StabilitySearchCV:
    estimator, grid, n_jobs = CASES[case]
    slow_path()
    if progress is not None:
        note_progress(Path(progress))
    options = {"cv": 5, "n_jobs": n_jobs, "refit": False, "ledger": ledger}
    return StabilitySearchCV(estimator, grid, **options).fit(*load_diabetes(return_X_y=True))


def note_progress(path: Path) -> None:
    """Note every fit whose numbers have reached the search."""
    from steadycv.selection import Selector

    take = Selector._take

    def noting(self: Selector, *args: Any, **kwargs: Any) -> None:
        take(self, *args, **kwargs)
        with path.open("a") as file:
            file.write("x")

    Selector._take = noting  # type: ignore[method-assign]


def kills(case: str, n_kills: int, rng: np.random.Generator) -> dict[str, Any]:
    """Kill searches until they have been killed so many times; those that end begin anew."""
    whole = search(case, None)
    again: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        ledger, progress, turn = Path(folder) / "0.ledger", Path(folder) / "progress", 0
        known = 0
        while len(again) < n_kills:
            progress.write_text("")
            call = f"search({case!r}, {str(ledger)!r}, {str(progress)!r})"
            code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); "
            code += f"from interruptions import *; {call}"
            process = subprocess.Popen(
                [sys.executable, "-c", code], stderr=subprocess.DEVNULL, start_new_session=True
            )
            while process.poll() is None and not progress.stat().st_size:
                time.sleep(0.005)
            try:
                process.wait(rng.uniform(0, 1.2))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                with suppress(ProcessLookupError):  # its workers would wait for ever
                    os.killpg(process.pid, signal.SIGKILL)
                done = known + progress.stat().st_size
                left = fits_left(case, ledger)
                again.append(left - (whole.n_fits_ - done))
                known = whole.n_fits_ - left
                continue
            turn, known = turn + 1, 0
            ledger = Path(folder) / f"{turn}.ledger"
        resumed = search(case, str(ledger))
    same = all(
        np.array_equal(resumed.cv_results_[name], whole.cv_results_[name])
        for name in ("cv_error", "instability")
    )
    return {
        "case": case,
        "kills": n_kills,
        "fits_done_again": {str(n): again.count(n) for n in sorted(set(again))},
        "same_numbers": same,
    }


def fits_left(case: str, ledger: Path) -> int:
    """How many fits a search would still do with a copy of the ledger."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.ledger"
        copy.write_bytes(ledger.read_bytes())
        for more in ("-journal", "-wal"):  # what is written and not in the file yet
            journal = ledger.with_name(f"{ledger.name}{more}")
            if journal.exists():
                copy.with_name(f"{copy.name}{more}").write_bytes(journal.read_bytes())
        return search(case, str(copy)).n_fits_


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("only", nargs="*", help="beginnings of the cases to run; others stay as stored")
    parser.add_argument("--kills", type=int, default=100)
    given = parser.parse_args()
    only = tuple(given.only)
    rng = np.random.default_rng(0)
    # By name, as in the processes that are killed: a ledger knows an estimator by its class.
    import interruptions

    interruptions.pace.seconds = 0.0  # what is only counted takes no time
    rows = {row["case"]: row for row in json.loads(RESULTS.read_text())} if only else {}
    for case in CASES:
        if not only or case.startswith(only):
            rows[case] = interruptions.kills(case, given.kills, rng)
            print(rows[case], flush=True)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(list(rows.values()), indent=1) + "\n")
