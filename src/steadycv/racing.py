"""Racing: a candidate leaves a view as soon as what that view may know speaks against it.

The views look at their evaluations in rounds, a few training sets at a time. After each round a view
compares the candidates that it still holds with its best one, loss by loss on the same rows, and lets
go of those that are clearly behind. It knows nothing but its own evaluations, so its choice stays
honest. The final view takes up what any of the others holds in the end.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr, stdtrit

from steadycv import rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steadycv.lattice import Lattice, View
    from steadycv.ledger import Ledger
    from steadycv.planning import Planner

__all__ = ["Race", "asks_for_race", "new_race", "rounds_of"]

MANY = 20  # candidates, beyond which a search races by itself

TOLERANCE = 2.0  # standard errors behind the best, of the paired difference
SHARE = 0.25  # of all candidates, that a view holds after its first round; half of it after the second
FEWEST = 3  # candidates that a view holds, if they are within the tolerance
ROWS = 10  # that a view is shown in a round, at least


class Race:
    """Lets candidates leave views, round by round.

    Parameters
    ----------
    ledger : Ledger
        What the fits left behind, with parts; who left is written into its ``left``.
    weights : sequence of float
        The stability weights at which a candidate may hold its place.
    tolerance : float
        How many standard errors of the paired difference it may be behind the best.
    share : float
        How many of all candidates a view holds after the first round, as a share; after round r one r-th
        of it.

    Attributes
    ----------
    rounds : list of list of View
        By round, the views that look at something new, as far as they have looked by then.
    """

    def __init__(
        self, ledger: Ledger, weights: Sequence[float], *, tolerance: float, share: float
    ) -> None:
        self._ledger = ledger
        self._weights = weights
        self._tolerance = tolerance
        self._share = share
        self.rounds = rounds_of(ledger.lattice)
        self._looked = dict.fromkeys((view.split for view in racing_views(ledger.lattice)), 0)
        if not any(weights):  # nobody asks for changes
            self.rounds = [
                [replace(view, comparisons=view.comparisons[:0]) for view in views]
                for views in self.rounds
            ]

    def held(self, view: View) -> NDArray[np.intp]:
        """The candidates that a view still holds."""
        return np.flatnonzero(self._ledger.left_from(view) == 0)

    def are_out(self) -> NDArray[np.bool_]:
        """Which candidates no view holds any more."""
        left = [self._ledger.left_from(view) for view in racing_views(self._ledger.lattice)]
        are_out: NDArray[np.bool_] = np.logical_and.reduce([rounds > 0 for rounds in left])
        return are_out

    def judge(self, number: int) -> None:
        """Let candidates leave after a round."""
        for view in self.rounds[number]:
            self._looked[view.split] += 1
            candidates = self.held(view)
            stays = self._stays(view, candidates)
            self._ledger.left_from(view)[candidates[~stays]] = number + 1

    def finish(self) -> None:
        """Leave to the final view what some view holds."""
        ledger = self._ledger
        others = [ledger.left_from(view) for view in ledger.lattice.views]
        if others:
            is_held = np.logical_or.reduce([left == 0 for left in others])
            ledger.left_from(ledger.lattice.final)[:] = np.where(is_held, 0, np.maximum.reduce(others))

    def _stays(self, view: View, candidates: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which of the candidates that a view holds it goes on holding."""
        error = rules.error(self._ledger, view, candidates)
        works = np.flatnonzero(np.isfinite(error))
        stays = np.zeros(len(candidates), dtype=bool)
        if not len(works):
            return ~stays  # nobody is better than anybody
        some = candidates[works]
        instability = rules.instability(self._ledger, view, some) if any(self._weights) else error[works]
        parts = self._ledger.parts_of(some, view)
        most = max(FEWEST, np.ceil(self._share * len(self._ledger) / self._looked[view.split]))
        for weight in self._weights:
            value = rules.regularized_error(error[works], instability, weight)
            best = rules.first_minimum(value)
            limit = value[best] + self._tolerance_at(parts.shape[1]) * _standard_error(
                parts - parts[best]
            )
            rank = np.empty(len(some), dtype=np.intp)
            rank[np.argsort(rules.rank(value), kind="stable")] = np.arange(len(some))
            stays[works] |= (rules.less_a_tie(value) <= limit) & (rank < most)
        return stays

    def _tolerance_at(self, n_parts: int) -> float:
        """The tolerance where the standard error rests on so many differences."""
        if n_parts < 2:
            return np.inf
        return float(stdtrit(n_parts - 1, ndtr(self._tolerance)))


def asks_for_race(search: Any, planner: Planner, n_candidates: int, *, whole_grid: bool) -> bool:
    """Whether a search races; by itself where many candidates take fits of their own.

    It does not where it is held to the paper's algorithm, or to GridSearchCV's.
    """
    if search.race != "auto":
        return bool(search.race)
    is_ours = search.nested and search.rule in ("steady", "plain")
    return is_ours and whole_grid and n_candidates > MANY and planner.solves_each


def new_race(search: Any, ledger: Ledger, weights: NDArray[np.float64]) -> Race:
    """The race that a search asks for, at some stability weights.

    Where these are to be chosen by the search itself, candidates race for the lowest error alone.
    """
    is_auto = isinstance(search.stability_weights, str)
    at = [0.0] if is_auto else np.union1d([0.0], weights).tolist()
    if isinstance(search.race, (str, bool, np.bool_)):
        return Race(ledger, at, tolerance=TOLERANCE, share=SHARE)
    return Race(ledger, at, tolerance=float(search.race), share=np.inf)


def racing_views(lattice: Lattice) -> Sequence[View]:
    """The views that let candidates leave: those inside the splits; without such the final one."""
    return lattice.views or (lattice.final,)


def rounds_of(lattice: Lattice) -> list[list[View]]:
    """By round, the views that look at something new, as far as they have looked by then.

    In a round every view gets an evaluation more, and ten rows at least, from as few training sets as
    serve all of them.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> from steadycv.lattice import Lattice
    >>> rounds = rounds_of(Lattice(KFold(5).split(range(100)), n_samples=100))
    >>> [[len(view.evaluations) for view in views] for views in rounds]
    [[2, 1, 1, 1, 1], [3, 3, 2, 2, 2], [4, 4, 4, 3, 3], [4, 4]]
    """
    views = racing_views(lattice)
    waiting = _served(lattice, views)
    looked: list[list[int]] = [[] for _ in views]
    rounds = []
    while waiting:
        before = [len(positions) for positions in looked]
        rows = np.zeros(len(views))
        needs = {number for served in waiting.values() for number in served}
        # Training sets that serve nobody but those in need first, and then the others.
        for is_useful in (needs.issuperset, lambda served, needs=needs: not needs.isdisjoint(served)):
            for training_set in list(waiting):
                if not needs or not is_useful(waiting[training_set]):
                    continue
                for number, positions in waiting.pop(training_set).items():
                    looked[number] += positions
                    evaluations = views[number].evaluations[positions].tolist()
                    rows[number] += sum(lattice.n_rows_judged(e) for e in evaluations)
                    if rows[number] >= ROWS:
                        needs.discard(number)
        rounds.append(
            [
                _as_far_as(view, sorted(positions))
                for view, positions, n in zip(views, looked, before, strict=True)
                if len(positions) > n
            ]
        )
    return rounds


def _served(lattice: Lattice, views: Sequence[View]) -> dict[int, dict[int, list[int]]]:
    """By training set, the numbers of the views that look at its models, and at which evaluations."""
    found: dict[int, dict[int, list[int]]] = {}
    for number, view in enumerate(views):
        for position, evaluation in enumerate(view.evaluations.tolist()):
            training_set = lattice.evaluations[evaluation].training_set
            found.setdefault(training_set, {}).setdefault(number, []).append(position)
    return dict(sorted(found.items()))


def _as_far_as(view: View, positions: list[int]) -> View:
    """A view that has looked at some of its evaluations, and is not judged."""
    return replace(
        view,
        evaluations=view.evaluations[positions],
        comparisons=view.comparisons[positions],
        repeats=view.repeats[positions],
        judged=None,
    )


def _standard_error(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of the mean of each row; 0 of a single number."""
    n = differences.shape[1]
    if n < 2:
        return np.zeros(len(differences))
    found: NDArray[np.float64] = differences.std(axis=1, ddof=1) / np.sqrt(n)
    return found
