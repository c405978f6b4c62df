"""What ``steadycv compare`` tunes on and tests on: other parts of the rows, or later ones."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv.cli.errors import UserError
from steadycv.cli.folds import find_folds, forward_in_time, partition
from steadycv.cli.request import PARTS

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from steadycv.cli.preparing import Prepared
    from steadycv.cli.request import CompareRequest
    from steadycv.tables.targets import Target

    Pair: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]

__all__ = ["inner_folds", "outer_splits"]

USUAL = 50
FEWEST = 2
IDLE = 3  # repeats, after which there is nothing more to find


def outer_splits(problem: Prepared, n_splits: int | None) -> list[Pair]:
    """Training and test rows; as many as are asked for, or 50, or as there are if that is less.

    At random they are parts of repeated partitions, so that all rows are tested on about equally often,
    and the first ones do not depend on their number. No test part comes twice.
    """
    target, groups = problem.target, problem.groups
    wanted = n_splits or USUAL
    if problem.request.time is not None:
        return _forward(len(target.y), wanted, n_splits)
    n_parts = min(PARTS, _most_parts(target, groups))
    found: dict[bytes, Pair] = {}
    n_idle = 0  # repeats in a row that brought nothing new
    for repeat in count():
        pairs = _partition(target, groups, n_parts, [problem.request.seed, repeat])
        new = {test.tobytes(): (train, test) for train, test in pairs if len(test)}
        n_idle = n_idle + 1 if new.keys() <= found.keys() else 0
        found |= {rows: pair for rows, pair in new.items() if rows not in found}
        if len(found) >= wanted:
            return list(found.values())[:wanted]
        if n_idle == IDLE:
            break
    if n_splits is not None or len(found) < FEWEST:
        of_what = "rows" if groups is None else "groups"
        raise UserError(
            f"--splits {wanted} is too many: there are {len(found)} ways to put {of_what} aside evenly."
        )
    return list(found.values())


def inner_folds(problem: Prepared, request: CompareRequest, splits: list[Pair]) -> Any:
    """How the rows to tune on are split; refused where those of some split do not suffice."""
    target, groups = problem.target, problem.groups
    splitter: Any = None
    for number, (train, _) in enumerate(splits, 1):
        part = replace(target, y=target.y[train])
        inside = None if groups is None else groups[train]
        try:
            splitter = (
                find_folds(part, inside, request.folds, 1, request.seed)
                if request.time is None
                else forward_in_time(part, request.folds)
            )
        except UserError as error:
            where = f"split {number}, of {len(train)} of {len(target.y)} rows to tune on"
            raise UserError(f"In {where}: {error}") from None
    return splitter


def _partition(target: Target, groups: Any, n_parts: int, seed: list[int]) -> list[Pair]:
    [state] = np.random.SeedSequence(seed).generate_state(1)
    by_class = target.task == "classification"
    splitter = partition(n_parts, int(state), by_class=by_class, grouped=groups is not None)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")  # not in every part
        return list(splitter.split(target.y, target.y, groups))


def _most_parts(target: Target, groups: Any) -> int:
    """In how many parts the rows can be at most."""
    if groups is not None:
        return len(np.unique(groups))
    return int(np.bincount(target.y).max()) if target.task == "classification" else len(target.y)


def _forward(n_rows: int, wanted: int, asked: int | None) -> list[Pair]:
    """The second half of the rows in blocks, each tested by what came before it."""
    most = n_rows // 2
    if asked is not None and asked > most:
        raise UserError(
            f"--splits {asked} is too many: the later half of {n_rows} rows is tested on, in {most} "
            "splits at most."
        )
    ends = np.linspace(n_rows - most, n_rows, min(wanted, most) + 1).astype(int)
    rows = np.arange(n_rows)
    return [(rows[:start], rows[start:end]) for start, end in pairwise(ends.tolist())]
