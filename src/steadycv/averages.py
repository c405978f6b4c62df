"""Averages: what committees say of the rows that their view is judged on, and how well.

The committee of a view are the models of its evaluations, none of which has seen those rows. So its
error is known from outputs that were kept, without another fit.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from steadycv.committees import EQUAL
from steadycv.kept import Heard
from steadycv.measures import MeanLoss, Rows, Scored
from steadycv.outputs import ModelsOfPath
from steadycv.scoring import NotAnsweredError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steadycv.kept import KeptOutputs
    from steadycv.lattice import Lattice
    from steadycv.measures import Measure
    from steadycv.scoring import Judging

    Tables: TypeAlias = dict[str, NDArray[Any]]
    """By method what committees say of some rows, in the order of the rows; one row a committee."""

__all__ = ["Averages", "FoldJudge", "NotJudgedError", "answers", "averages"]

VOTES = "votes"  # of members that say labels and no probabilities: the share of them for each class
ASKS_FOR_MODELS = (
    "Averages are judged by what they say, and the score that drives asks for more, such as the "
    "attributes of a fitted model: take another scoring=, or deliver='model'."
)


class NotJudgedError(ValueError):
    """Averages of models cannot be judged; the message says why."""


class Averages:
    """What the committees of all views say, each of the rows that its view is judged on.

    Attributes
    ----------
    by_view : list of dict of str to ndarray
        For each view, by method, an array of shape (n_committees, n_rows, ...).
    """

    def __init__(self, by_view: Sequence[Tables]) -> None:
        self.by_view = list(by_view)

    def __len__(self) -> int:
        return len(next(iter(self.by_view[0].values())))

    @property
    def n_bytes(self) -> int:
        """How much memory they take."""
        return sum(table.nbytes for tables in self.by_view for table in tables.values())

    def only(self, committees: NDArray[np.intp] | Sequence[int]) -> Averages:
        """Some of the committees."""
        chosen = np.asarray(committees, dtype=np.intp)
        return Averages([{m: table[chosen] for m, table in each.items()} for each in self.by_view])

    def joined(self, other: Averages) -> Averages:
        """These and others."""
        return Averages(
            [
                {m: np.concatenate([tables[m], more[m]]) for m in tables}
                for tables, more in zip(self.by_view, other.by_view, strict=True)
            ]
        )

    def mixed(self, weights: NDArray[np.float64]) -> Averages:
        """One committee that is a weighted average of these."""
        return Averages(
            [{m: _weighted(table, weights) for m, table in each.items()} for each in self.by_view]
        )

    def and_one_more(self, total: Averages, n_members: int) -> Averages:
        """Each of these joined to `n_members` others, whose sum is `total`."""
        return Averages(
            [
                {m: (tables[m] + sums[m]) / (n_members + 1) for m in tables}
                for tables, sums in zip(self.by_view, total.by_view, strict=True)
            ]
        )

    def plus(self, other: Averages) -> Averages:
        """The sum of these and of others."""
        return Averages(
            [
                {m: tables[m] + more[m] for m in tables}
                for tables, more in zip(self.by_view, other.by_view, strict=True)
            ]
        )


def _weighted(table: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    some = np.flatnonzero(weights)
    shares = (weights[some] / weights.sum()).reshape(-1, *[1] * (table.ndim - 1))
    total: NDArray[np.float64] = (shares * table[some]).sum(axis=0, keepdims=True)
    return total


def averages(
    kept: KeptOutputs,
    lattice: Lattice,
    candidates: NDArray[np.intp],
    methods: Sequence[str],
    classes: NDArray[Any] | None,
) -> Averages:
    """The committees of some candidates, whose members' outputs are all kept.

    Parameters
    ----------
    kept : KeptOutputs
        What the members say.
    lattice : Lattice
        Its views.
    candidates : ndarray of int
        The candidates, one committee each.
    methods : sequence of str
        Whose outputs were kept.
    classes : ndarray or None
        The classes of a classifier: labels become shares of votes.
    """
    by_view = []
    for view in lattice.views:
        tables: Tables = {}
        for method in methods:
            is_vote = method == "predict" and classes is not None
            total: NDArray[Any] | None = None
            members = lattice.members(view)
            for training_set in members:
                said = kept.table(candidates, Heard(training_set, view.test_split, method))
                if is_vote:
                    assert classes is not None
                    said = (said[..., np.newaxis] == classes).astype(np.float64)
                total = said.astype(np.float64) if total is None else total + said
            assert total is not None
            tables[VOTES if is_vote else method] = total / len(members)
        by_view.append(tables)
    return Averages(by_view)


def answers(tables: Tables, classes: NDArray[Any] | None) -> Tables:
    """What a committee answers that has these averages: labels are those of the largest share."""
    said = {method: table for method, table in tables.items() if method != VOTES}
    if classes is None or "predict" in said:
        return said
    if "predict_proba" in said:
        said["predict"] = classes[said["predict_proba"].argmax(axis=-1)]
    else:
        votes = tables[VOTES]
        most = votes > votes.max(axis=-1, keepdims=True) - EQUAL
        said["predict"] = classes[most.argmax(axis=-1)]
    return said


class FoldJudge:
    """Judges what is said of the rows of each view.

    Parameters
    ----------
    judging : Judging
        What errors are.
    lattice : Lattice
        Its views.
    """

    def __init__(self, judging: Judging, lattice: Lattice) -> None:
        self.lattice = lattice
        self.classes = judging.classes
        self.measure: Measure = judging.measure
        self.rows = [lattice.splits[view.test_split].test for view in lattice.views]
        self._weight = judging.weight

    @cached_property
    def _judged(self) -> list[Rows]:
        return [Rows(rows, self._weight, self.lattice.n_samples) for rows in self.rows]

    @cached_property
    def _layers(self) -> list[list[int]]:
        return _disjoint(self.rows)

    def errors(self, averages: Averages, views: Sequence[int] | None = None) -> NDArray[np.float64]:
        """The error of each committee in each view, or in some; infinity where there is none."""
        wanted = set(range(len(self.rows)) if views is None else views)
        found = np.full((len(averages), len(self.rows)), np.nan)
        for layer in self._layers:
            some = {number: averages.by_view[number] for number in layer if number in wanted}
            if some:
                self._judge(some, found)
        return found if views is None else found[:, list(views)]

    def errors_in(self, view: int, tables: Tables) -> NDArray[np.float64]:
        """The errors of those that say something of the rows of one view alone."""
        found = np.full((len(next(iter(tables.values()))), len(self.rows)), np.nan)
        self._judge({view: tables}, found)
        return found[:, view]

    def losses(self, averages: Averages) -> list[NDArray[np.float64]] | None:
        """The loss of the first committee at each row of each view; None where there is no such loss."""
        measure = self.measure.changes if isinstance(self.measure, Scored) else self.measure
        if not isinstance(measure, MeanLoss):
            return None
        found = []
        for rows, tables in zip(self.rows, averages.by_view, strict=True):
            said = answers({m: table[:1] for m, table in tables.items()}, self.classes)
            found.append(
                replace(measure, y=measure.y[rows]).losses(ModelsOfPath(said, rows), self.lattice)[0]
            )
        return found

    def _judge(self, by_view: dict[int, Tables], found: NDArray[np.float64]) -> None:
        """Fill in the errors in some views, no row of which is in two of them."""
        n = self.lattice.n_samples
        at = np.zeros(n, dtype=np.intp)  # of other rows nobody asks: they stand for the first
        rows = np.concatenate([self.rows[number] for number in by_view])
        at[rows] = np.arange(len(rows))
        tables = list(by_view.values())
        joined = {m: np.concatenate([t[m] for t in tables], axis=1)[:, at] for m in tables[0]}
        models = ModelsOfPath(answers(joined, self.classes), rows)
        if isinstance(self.measure, Scored):  # changes are no matter here
            losses = np.zeros((len(found), 1))
        else:
            losses = self.measure.losses(models, self.lattice)
        for number in by_view:
            try:
                judged = self.measure.errors(models, losses, self._judged[number])
            except NotAnsweredError:
                raise NotJudgedError(ASKS_FOR_MODELS) from None
            if judged.failures:
                raise NotJudgedError(next(iter(judged.failures.values())))
            found[:, number] = np.where(np.isfinite(judged.errors), judged.errors, np.inf)


def _disjoint(rows: Sequence[NDArray[np.intp]]) -> list[list[int]]:
    """Sets of rows by number, put together where they share none."""
    layers: list[tuple[set[int], list[int]]] = []
    for number, some in enumerate(rows):
        own = set(some.tolist())
        for taken, numbers in layers:
            if taken.isdisjoint(own):
                taken |= own
                numbers.append(number)
                break
        else:
            layers.append((own, [number]))
    return [numbers for _, numbers in layers]
