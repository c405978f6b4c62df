"""Stopping: as many rounds as it takes, found by each view from what it may know.

A view looks at one number of rounds after the other until the best is a patience behind, as an eval set
would have it; but what it looks at is its cross-validation error (with a stability weight its
regularized error), so no rows are given up, and the view's own rows have no say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadycv import rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steadycv.early_stopping import Series
    from steadycv.lattice import View
    from steadycv.ledger import Ledger

__all__ = ["Stops"]

NEVER = 1  # the round in which those leave that a view never came to


class Stops:
    """How far each view looks along each series; beyond that, all candidates have left it.

    Which candidates a view has in the end depends on its own numbers alone: in every series those up to
    the first number of rounds at which the best is the patience behind, at each weight given. How
    far the fits go at a time is another matter, and only of what they cost.

    Parameters
    ----------
    ledger : Ledger
        What the fits left behind; who is not looked at is written into its ``left``.
    series : sequence of Series
        Where to stop early.
    weights : sequence of float
        The stability weights.
    """

    def __init__(self, ledger: Ledger, series: Sequence[Series], weights: Sequence[float]) -> None:
        self._ledger = ledger
        self._series = series
        self._weights = weights
        self._views = (ledger.lattice.final, *ledger.lattice.views)
        # By view and series, how many of its candidates the view has come to.
        self._ends = np.zeros((1 + len(ledger.lattice.splits), len(series)), dtype=np.intp)
        for view in self._views:
            for number, each in enumerate(series):
                self._end(view, number, _further(each, 0), NEVER)

    def go_on(self, views: Sequence[View]) -> bool:
        """Let those views look further that have to; whether there are some."""
        is_further = False
        for view in views:
            for number, series in enumerate(self._series):
                end = self._ends[_column(view), number]
                held = self._held(view, series)
                # Where a race has taken the last ones there is nothing behind them to look for.
                if end == len(series.rounds) or not len(held) or held[-1] < end - 1:
                    continue
                if self._stop(view, series, held) is None:
                    self._end(view, number, _further(series, end), NEVER)
                    is_further = True
        return is_further

    def settle(self, views: Sequence[View]) -> None:
        """Let all views begin with as many rounds as some views have, who looked at a part."""
        for number, series in enumerate(self._series):
            stops = [self._stop(view, series, self._held(view, series)) for view in views]
            end = max(len(series.rounds) if stop is None else stop + 1 for stop in stops)
            for view in self._views:
                self._end(view, number, end, NEVER)

    def stop(self, views: Sequence[View], round_number: int = NEVER) -> None:
        """Let views leave what is behind the number of rounds at which they stop."""
        for view in views:
            for number, series in enumerate(self._series):
                stop = self._stop(view, series, self._held(view, series))
                if stop is not None:
                    self._end(view, number, stop + 1, round_number)

    def are_out(self, candidates: NDArray[np.intp]) -> NDArray[np.bool_]:
        """By split, which of the candidates neither the final view nor that of the split looks at."""
        left = self._ledger.left[candidates]
        are_out: NDArray[np.bool_] = (left[:, 1:] > 0).T & (left[:, 0] > 0)
        return are_out

    def _end(self, view: View, number: int, end: int, round_number: int) -> None:
        """Let a view look at so many candidates of a series, without taking back who left before."""
        candidates, left = self._series[number].candidates, self._ledger.left_from(view)
        before = self._ends[_column(view), number]
        left[candidates[before:end]] = 0
        behind = candidates[end:]
        left[behind] = np.where(left[behind] > 0, left[behind], round_number)
        self._ends[_column(view), number] = end

    def _held(self, view: View, series: Series) -> NDArray[np.intp]:
        """The positions of the candidates that a view holds."""
        return np.flatnonzero(self._ledger.left_from(view)[series.candidates] == 0)

    def _stop(self, view: View, series: Series, held: NDArray[np.intp]) -> int | None:
        """The position at which a view may stop, at all weights; None where it has to look further."""
        candidates = series.candidates[held]
        error = rules.error(self._ledger, view, candidates)
        # Who has looked at a few training sets may know of no change yet.
        weights = self._weights if len(view.comparisons) else [0.0]
        instability = rules.instability(self._ledger, view, candidates) if any(weights) else error
        last = 0
        for weight in weights:
            value = rules.regularized_error(error, instability, weight)
            stop = _first_stop(series.rounds[held], value, series.patience)
            if stop is None:
                return None
            last = max(last, stop)
        return int(held[last])


def _column(view: View) -> int:
    return 0 if view.split is None else 1 + view.split


def _further(series: Series, end: int) -> int:
    """How many candidates there are up to twice as many rounds."""
    target = 2 * (series.rounds[end - 1] if end else series.patience)
    return max(
        int(np.searchsorted(series.rounds, target, side="right")), min(end + 1, len(series.rounds))
    )


def _first_stop(rounds: NDArray[np.intp], value: NDArray[np.float64], patience: int) -> int | None:
    """The first position at which the best before it is the patience behind, if there is one."""
    value = np.where(np.isnan(value), np.inf, value)
    lowest = np.minimum.accumulate(value)
    is_better = np.append(True, value[1:] < rules.less_a_tie(lowest[:-1]))
    best = np.maximum.accumulate(np.where(is_better, np.arange(len(value)), 0))
    late = np.flatnonzero(rounds - rounds[best] >= patience)
    return int(late[0]) if len(late) else None
