"""Prices: how many fits a search takes, how much memory, and about how long, before it begins."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steadycv.delivery import bytes_kept
from steadycv.lattice import EXPENSIVE
from steadycv.students import TEACHINGS
from steadycv.tasks import run_task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadycv.planning import Planner
    from steadycv.splits import TooManySplitsError
    from steadycv.tasks import Problem, Task

__all__ = ["Price", "price_of", "price_of_too_many", "seconds_a_fit"]

FAST = 1.0  # seconds: of a fit that takes less, the first one may have been about something else
MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
SIZES = ((1.0, "s"), (MINUTE, "min"), (HOUR, "h"), (DAY, "days"))
MOST_OF_A_UNIT = 90


@dataclass(frozen=True)
class Price:
    """What a search takes.

    Attributes
    ----------
    n_candidates : int
        How many candidates there are, or at most come up.
    n_splits : int
        How many splits.
    n_training_sets : int
        How many distinct training sets: each candidate is fitted on all of them.
    n_fits : int
        How many fits that is, where one serves many candidates counted once; without the refit.
    n_plain_fits : int
        How many GridSearchCV makes for the same candidates and splits.
    n_bytes : int
        About how much memory is kept of what the models say, besides the data and the models.
    is_most : bool
        Whether that is an upper limit: candidates may leave a race, or not be looked at.
    too_many : str
        Why the search is refused; empty where it is not.
    seconds : float or None
        About how long it takes, from fits that were timed; None where none was.

    Examples
    --------
    >>> price = Price(50, 5, 16, 800, 250, 2_100_000, seconds=93.0)
    >>> print(price)
    50 candidates on 16 training sets of 5 splits: 800 fits, where GridSearchCV makes 250; about 2 min
    and 2 MB.
    """

    n_candidates: int
    n_splits: int
    n_training_sets: int
    n_fits: int
    n_plain_fits: int
    n_bytes: int
    is_most: bool = False
    too_many: str = ""
    seconds: float | None = None

    @property
    def is_dear(self) -> bool:
        """Whether nesting takes more than ten times the training sets of plain cross-validation."""
        return self.n_training_sets > EXPENSIVE * self.n_splits

    @property
    def cheaper(self) -> str:
        """What is cheaper, of what is dear; else empty."""
        if not self.is_dear:
            return ""
        return (
            f"That is {self.n_training_sets / self.n_splits:,.0f} times as many training sets as plain "
            "cross-validation has: KFold(5) has 16, KFold(10) 56, and nested=False "
            f"{self.n_splits + 1:,}."
        )

    def __str__(self) -> str:
        at_most = "at most " if self.is_most else ""
        took = "" if self.seconds is None else f"about {_duration(self.seconds)} and "
        plural = "" if self.n_candidates == 1 else "s"
        line = (
            f"{self.n_candidates:,} candidate{plural} on {self.n_training_sets:,} training sets of "
            f"{self.n_splits:,} splits: {at_most}{self.n_fits:,} fits, where GridSearchCV makes "
            f"{self.n_plain_fits:,}; {took}{_size(self.n_bytes)}."
        )
        return " ".join(filter(None, [line, self.cheaper, self.too_many]))


def price_of(
    problem: Problem, planner: Planner, n_candidates: int, *, is_most: bool, with_students: bool
) -> Price:
    """The price of a search that is planned.

    `n_candidates` are those that there are, or that are proposed later, one fit each.
    """
    lattice = problem.lattice
    n_later = n_candidates - len(planner.line_of)
    n_groups = planner.n_groups + n_later
    n_fits = n_groups * lattice.n_training_sets
    if with_students:
        n_fits += n_groups * (len(TEACHINGS) - 1) * len(lattice.views)
        n_fits += sum(len(lattice.members(view)) for view in (lattice.final, *lattice.views))
    return Price(
        n_candidates=n_candidates,
        n_splits=len(lattice.splits),
        n_training_sets=lattice.n_training_sets,
        n_fits=n_fits,
        n_plain_fits=n_candidates * len(lattice.splits),
        n_bytes=_n_bytes(problem, planner, n_candidates),
        is_most=is_most or with_students,
    )


def price_of_too_many(error: TooManySplitsError, n_candidates: int) -> Price:
    """The price of what is refused, as far as it is known without making the splits."""
    return Price(
        n_candidates=n_candidates,
        n_splits=error.n_splits,
        n_training_sets=error.n_training_sets,
        n_fits=n_candidates * error.n_training_sets,
        n_plain_fits=n_candidates * error.n_splits,
        n_bytes=8 * n_candidates * 2 * error.n_training_sets,  # errors and changes alone
        is_most=True,
        too_many="They are more than a search takes on.",
    )


def seconds_a_fit(problem: Problem, planner: Planner, n_timed: int) -> float:
    """The mean of a few fits that are spread over the candidates, on a training set of middling size."""
    groups = {id(line.group): line for line in planner.lines}
    lines = list(groups.values())
    sizes = [problem.lattice.n_rows(each) for each in range(problem.lattice.n_training_sets)]
    training_set = int(np.argsort(sizes, kind="stable")[len(sizes) // 2])
    at = np.unique(np.linspace(0, len(lines) - 1, n_timed).round().astype(int)).tolist()
    tasks = planner.tasks_of([lines[number] for number in at], training_set)
    seconds = [_seconds(problem, planner, tasks, number) for number in range(len(tasks))]
    if seconds[0] < FAST:
        seconds[0] = _seconds(problem, planner, tasks, 0)
    return float(np.mean(seconds))


def _seconds(problem: Problem, planner: Planner, tasks: Sequence[Task], number: int) -> float:
    [task] = planner.ready([tasks[number]], lambda: None)
    start = time.perf_counter()
    for _ in run_task(problem, task):
        pass
    return time.perf_counter() - start


def _n_bytes(problem: Problem, planner: Planner, n_candidates: int) -> int:
    """Errors and changes, the outputs that are kept, and the losses that wait for others."""
    lattice, keep = problem.lattice, problem.keep
    cells = n_candidates * (len(lattice.evaluations) + len(lattice.comparisons))
    outputs = 0
    if keep.of_members or keep.of_all:
        outputs = n_candidates * bytes_kept(problem, with_members=keep.of_members)
    sizes = np.unique([id(line.group) for line in planner.lines], return_inverse=True)[1]
    counts = np.bincount(sizes, [len(line.candidates) for line in planner.lines], minlength=1)
    waiting = counts.max() * (1 + len(lattice.splits)) * problem.judging.measure.n_losses(lattice)
    return int(8 * (cells + waiting) + outputs)


def _duration(seconds: float) -> str:
    """A time as people tell it.

    Examples
    --------
    >>> [_duration(seconds) for seconds in (0.034, 5.4, 93.0, 7500.0, 400000.0)]
    ['0.1 s', '5 s', '2 min', '2.1 h', '4.6 days']
    """
    if seconds < 1:
        return f"{max(seconds, 0.1):.1f} s"
    for size, unit in SIZES:
        if seconds < size * MOST_OF_A_UNIT or unit == "days":
            break
    value = seconds / size
    return f"{value:.1f} {unit}" if size > MINUTE and value < 10 else f"{value:.0f} {unit}"


def _size(n_bytes: int) -> str:
    """An amount of memory.

    Examples
    --------
    >>> [_size(n) for n in (2_000, 2_100_000, 3_450_000_000)]
    ['less than 1 MB', '2 MB', '3.5 GB']
    """
    if n_bytes < 10**6:
        return "less than 1 MB"
    return f"{n_bytes / 1e6:.0f} MB" if n_bytes < 10**9 else f"{n_bytes / 1e9:.1f} GB"
