"""Racing: a candidate leaves a view as soon as what that view may know speaks against it.

The views look at their evaluations in rounds, a few training sets at a time. After each round a view
compares the candidates that it still holds with its best one, loss by loss on the same rows, and lets
go of those that are clearly behind, and of those that too many others are ahead of. A view inside the
splits knows nothing but its own evaluations, so its choice stays honest; the final view may know
everything: it asks for nothing itself, and compares candidates where the others had them fitted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steadycv import rules
from steadycv.paths.settings import together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steadycv.lattice import Lattice, View
    from steadycv.ledger import Ledger
    from steadycv.planning import Planner

__all__ = ["Race", "asks_for_race", "new_race", "rounds_of"]

MANY = 20  # fits of a training set, beyond which a search races by itself
DEAR = 1.5  # times the training sets of plain cross-validation, beyond which it does

TOLERANCE = 1.0  # standard errors behind the best, of the paired difference
SHARE = 0.2  # of all fits, that a view holds after its first round; half of it after the second
FEWEST = 3  # fits whose candidates a view holds, if they are within the tolerance
ROWS = 10  # that a view is shown in a round, at least

NOTHING = np.zeros(0, dtype=np.intp)


class _Seen(NamedTuple):
    """Which of its evaluations and comparisons a view knows of some candidates."""

    evaluations: NDArray[np.bool_]
    comparisons: NDArray[np.bool_]

    def of(self, view: View) -> View:
        """The view, looking at these alone."""
        return replace(
            view,
            evaluations=view.evaluations[self.evaluations],
            comparisons=view.comparisons[self.comparisons],
            repeats=view.repeats[self.comparisons],
        )

    def __and__(self, other: _Seen) -> _Seen:
        return _Seen(*(one & another for one, another in zip(self, other, strict=True)))


class Race:
    """Lets candidates leave views, round by round.

    Parameters
    ----------
    ledger : Ledger
        What the fits left behind, with parts; who left is written into its ``left``.
    weights : sequence of float
        The stability weights at which a candidate may hold its place.
    run_of : ndarray of int
        By candidate, the number of the fit, or the solver's run, that it is a part of: nothing is saved
        before all candidates of a run have left.
    tolerance : float
        How many standard errors of the paired difference it may be behind the best.
    share : float
        How many of all runs a view holds after its first round, as a share; after each further
        round half as many.
    all_ask : bool, default=False
        Whether the final view asks for what it looks at, as the others do.

    Attributes
    ----------
    rounds : list of list of View
        By round, the views that look at something new, as far as they have looked by then.
    """

    def __init__(
        self,
        ledger: Ledger,
        weights: Sequence[float],
        run_of: NDArray[np.intp],
        *,
        tolerance: float,
        share: float,
        all_ask: bool = False,
    ) -> None:
        self._ledger = ledger
        self._run_of = run_of
        self._weights = weights
        self._tolerance = tolerance
        self._share = share
        self._n_rounds: dict[int | None, int] = {}  # that a view has been through
        lattice = ledger.lattice
        self._all_ask = all_ask or not lattice.views
        self._training_sets = np.array([t for t, _ in lattice.evaluations], dtype=np.intp)
        # What views have asked for; the ledger may know more, which is not looked at before its time.
        self._fitted = np.zeros((len(ledger), lattice.n_training_sets), dtype=bool)
        self._compared = np.zeros((len(ledger), len(lattice.comparisons)), dtype=bool)
        self.rounds = rounds_of(lattice)
        if not any(weights):  # nobody asks for changes
            self.rounds = [
                [replace(view, comparisons=NOTHING, repeats=NOTHING) for view in views]
                for views in self.rounds
            ]

    def asking(self, number: int) -> list[View]:
        """The views that have what they hold fitted in a round."""
        return [view for view in self.rounds[number] if self._all_ask or view.split is not None]

    def held(self, view: View) -> NDArray[np.intp]:
        """The candidates that a view still holds."""
        return np.flatnonzero(self._ledger.left_from(view) == 0)

    def are_out(self, candidates: NDArray[np.intp]) -> NDArray[np.bool_]:
        """By split, which of the candidates neither the final view nor that of the split holds."""
        left = self._ledger.left[candidates]
        are_out: NDArray[np.bool_] = (left[:, 1:] > 0).T & (left[:, 0] > 0)
        return are_out

    def judge(self, number: int) -> None:
        """Let candidates leave after a round."""
        for view in self.asking(number):
            held = self.held(view)
            self._fitted[np.ix_(held, self._training_sets[view.evaluations])] = True
            self._compared[np.ix_(held, view.comparisons)] = True
        for view in self.rounds[number]:
            self._n_rounds[view.split] = self._n_rounds.get(view.split, 0) + 1
            candidates = self.held(view)
            stays = self._stays(view, candidates)
            self._ledger.left_from(view)[candidates[~stays]] = number + 1

    def _stays(self, view: View, candidates: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which of the candidates that a view holds it goes on holding."""
        known = self._known(view, candidates)
        error = np.empty(len(candidates))
        for seen, at in known:
            error[at] = rules.error(self._ledger, seen.of(view), candidates[at])
        works = np.isfinite(error)
        if not works.any():
            return np.ones(len(candidates), dtype=bool)  # nobody is better than anybody
        stays = np.zeros(len(candidates), dtype=bool)
        for weight in self._weights:
            stays[works] |= self._is_close(view, candidates[works], weight)
        return stays

    def _is_close(self, view: View, candidates: NDArray[np.intp], weight: float) -> NDArray[np.bool_]:
        """Which of the candidates keep up with the best, at a stability weight.

        The best is one of those that most is known of; others are compared with it on what is known of
        both.
        """
        known = self._known(view, candidates)
        most, among = max(known, key=lambda each: np.count_nonzero(each[0].evaluations))
        values = self._values(most.of(view), candidates[among], weight)
        at_best = rules.first_minimum(values)
        best, lowest = candidates[among[at_best]], values[at_best]
        value, margin = np.empty(len(candidates)), np.empty(len(candidates))
        for seen, at in known:
            common, pairs = (seen & most).of(view), np.append(candidates[at], best)
            values, parts = self._values(common, pairs, weight), self._ledger.parts_of(pairs, common)
            value[at] = lowest + (values[:-1] - values[-1])
            margin[at] = self._margins(parts[:-1] - parts[-1], common)
        order = np.argsort(rules.rank(value), kind="stable")
        is_among_best = _places(self._run_of[candidates], order) < self._most(view)
        is_close: NDArray[np.bool_] = is_among_best & (rules.less_a_tie(value) <= lowest + margin)
        return is_close

    def _values(self, view: View, candidates: NDArray[np.intp], weight: float) -> NDArray[np.float64]:
        """By candidate, what a view goes by."""
        error = rules.error(self._ledger, view, candidates)
        instability = rules.instability(self._ledger, view, candidates) if weight else error
        return rules.regularized_error(error, instability, weight)

    def _known(self, view: View, candidates: NDArray[np.intp]) -> list[tuple[_Seen, NDArray[np.intp]]]:
        """What a view knows, and the positions of the candidates of which it knows that."""
        evaluations = self._fitted[np.ix_(candidates, self._training_sets[view.evaluations])]
        comparisons = self._compared[np.ix_(candidates, view.comparisons)]
        equal = together(row.tobytes() for row in np.hstack([evaluations, comparisons]))
        return [(_Seen(evaluations[at[0]], comparisons[at[0]]), np.array(at)) for at in equal]

    def _most(self, view: View) -> float:
        """How many runs a view goes on holding."""
        share = self._share / 2 ** (self._n_rounds[view.split] - 1)
        return max(FEWEST, float(np.ceil(share * len(np.unique(self._run_of)))))

    def _margins(self, differences: NDArray[np.float64], view: View) -> NDArray[np.float64]:
        """The tolerance as a difference of errors, by a row of differences of their parts for each."""
        n = differences.shape[1]
        if n < 2:  # which says nothing of the spread
            return np.full(len(differences), np.inf)
        # The same rows more than once, by models of other training sets, count once.
        lattice = self._ledger.lattice
        rows = [lattice.row_sets[lattice.evaluations[e].row_set] for e in view.evaluations.tolist()]
        times = sum(map(len, rows)) / np.count_nonzero(np.bincount(np.concatenate(rows)))
        margins: NDArray[np.float64] = differences.std(axis=1, ddof=1) * np.sqrt(times / n)
        return self._tolerance * margins


def asks_for_race(search: Any, planner: Planner, lattice: Lattice) -> bool:
    """Whether a search races; by itself where its training sets take many fits, or solver's runs.

    It does not where somebody is to see all candidates, or where the paper's algorithm is asked for.
    """
    if search.race != "auto":
        return bool(search.race)
    is_for_one = search.deliver == "model" and not callable(search.refit) and search.search == "grid"
    is_ours = search.nested and search.rule in ("steady", "plain")
    is_dear = bool(lattice.views) and lattice.n_training_sets > DEAR * len(lattice.splits)
    return is_for_one and is_ours and is_dear and planner.n_runs > MANY


def new_race(
    search: Any, planner: Planner, ledger: Ledger, at: Sequence[float], *, all_ask: bool
) -> Race:
    """The race that a search asks for, at some stability weights."""
    run_of = planner.run_of if planner.n_runs else np.arange(len(ledger))
    if isinstance(search.race, (str, bool, np.bool_)):
        return Race(ledger, at, run_of, tolerance=TOLERANCE, share=SHARE, all_ask=all_ask)
    return Race(ledger, at, run_of, tolerance=float(search.race), share=np.inf, all_ask=all_ask)


def rounds_of(lattice: Lattice) -> list[list[View]]:
    """By round, the views that look at something new, as far as they have looked by then.

    In the first round every view inside the splits gets an evaluation, and ten rows at least, from as
    few training sets as serve all of them. Later no view gets more than that in a round, so that whom
    it lets go of is not fitted again for its sake; those who have looked least come first. The final
    view, the last one, gets all that there is. Without views inside the splits it looks at its own
    evaluations, a training set a round.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> from steadycv.lattice import Lattice
    >>> rounds = rounds_of(Lattice(KFold(5).split(range(100)), n_samples=100))
    >>> [[len(view.evaluations) for view in views] for views in rounds]
    [[2, 1, 1, 1, 1, 6], [2, 2, 2, 2, 10], [3, 3, 3, 3, 14], [4, 4, 4, 3, 18], [4, 4, 20]]
    """
    views = lattice.views or (lattice.final,)
    waiting = _served(lattice, views)
    looked: list[list[int]] = [[] for _ in views]
    rounds: list[list[View]] = []
    while waiting:
        before = [len(positions) for positions in looked]
        rows = np.zeros(len(views))
        in_need = {number for served in waiting.values() for number in served}
        least_first = sorted(waiting, key=lambda t: max(before[number] for number in waiting[t]))
        # Those that serve nobody but views in need; at first also others, where some view is left.
        for others_too in (False,) if rounds else (False, True):
            for training_set in [t for t in least_first if t in waiting]:
                served = waiting[training_set].keys()
                if not (served & in_need if others_too else served <= in_need):
                    continue
                for number, positions in waiting.pop(training_set).items():
                    looked[number] += positions
                    evaluations = views[number].evaluations[positions].tolist()
                    rows[number] += sum(lattice.n_rows_judged(e) for e in evaluations)
                    if rows[number] >= ROWS:
                        in_need.discard(number)
        seats = [_as_far_as(view, sorted(seen)) for view, seen in zip(views, looked, strict=True)]
        has_new = [len(seen) > n for seen, n in zip(looked, before, strict=True)]
        everything = [_everything(lattice.final, seats)] if lattice.views else []
        rounds.append([seat for seat, new in zip(seats, has_new, strict=True) if new] + everything)
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


def _everything(final: View, seats: Sequence[View]) -> View:
    """The final view, looking at what the others look at; its instability is the mean of theirs."""
    some = [seat for seat in seats if len(seat.evaluations)]
    return replace(
        final,
        evaluations=np.unique(np.concatenate([seat.evaluations for seat in some])),
        comparisons=np.concatenate([seat.comparisons for seat in some]),
        repeats=np.repeat(np.arange(len(some)), [len(seat.evaluations) for seat in some]),
    )


def _places(runs: NDArray[np.intp], order: NDArray[np.intp]) -> NDArray[np.intp]:
    """By candidate, the place of its run by the best candidate of each; candidates best first."""
    _, first, of_run = np.unique(runs[order], return_index=True, return_inverse=True)
    places = np.empty(len(runs), dtype=np.intp)
    places[order] = np.argsort(np.argsort(first))[of_run]
    return places
