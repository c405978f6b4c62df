"""The ledger: what the fits left behind.

Every quantity of the method is a function of these numbers: one for each candidate and evaluation, and
one for each candidate and comparison, however many samples there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from steadycv.lattice import Lattice, View
    from steadycv.reducing import Cells

__all__ = ["Ledger"]


class Ledger:
    """Errors and changes of loss, a row a candidate.

    NaN stands for what is not known yet, infinity for what a failed fit or scorer leaves unknown; in
    `error`, minus infinity for a score that is no finite number: such a candidate is never chosen. In
    the tables of scores such a number stays as it is, and the largest float stands for infinity.

    Parameters
    ----------
    lattice : Lattice
        What the columns are.
    n_candidates : int, default=0
        The number of rows; more can be added.
    failed_error : float, default=inf
        The error that a failed fit counts as.
    with_parts : bool, default=False
        Whether there are the parts of errors, which candidates are compared by in a race.

    Attributes
    ----------
    error : ndarray of shape (n_candidates, n_evaluations)
        ``error[c, e]``: the error of candidate c in ``lattice.evaluations[e]``, on rows that it was not
        trained on.
    change : ndarray of shape (n_candidates, n_comparisons)
        ``change[c, q]``: the mean over the rows of the reference of the absolute change in the loss of
        candidate c between the training sets of ``lattice.comparisons[q]``.
    fit_time, score_time : ndarray of shape (n_candidates, n_splits)
        Seconds, of the models of each split.
    test_scores, train_scores : dict of str to ndarray of shape (n_candidates, n_splits)
        The reported scores on the test rows and on the training rows of each split; infinity where the
        scorer failed.
    parts : ndarray of shape (n_candidates, n_parts)
        Numbers whose mean is an error, for one evaluation after the other: losses of rows, or of a few
        rows together. Where a score has no such parts the first of them is the error, and the others are
        NaN.
    left : ndarray of int of shape (n_candidates, 1 + n_splits)
        The round of a race in which a candidate left a view, and 0 where it did not: the final view
        first, then those of the splits. 1 as well where it was proposed to other views only.

    Examples
    --------
    >>> from steadycv.lattice import Lattice
    >>> lattice = Lattice([([0, 1], [2, 3]), ([2, 3], [0, 1])], n_samples=4)
    >>> Ledger(lattice, n_candidates=3).error.shape
    (3, 2)
    """

    def __init__(
        self,
        lattice: Lattice,
        n_candidates: int = 0,
        failed_error: float = np.inf,
        *,
        with_parts: bool = False,
    ) -> None:
        self.lattice = lattice
        self.failed_error = failed_error
        self._n_candidates = 0
        self.error = self._unknown(len(lattice.evaluations))
        self.change = self._unknown(len(lattice.comparisons))
        self.fit_time = self._unknown(len(lattice.splits))
        self.score_time = self._unknown(len(lattice.splits))
        self.test_scores: dict[str, NDArray[np.float64]] = {}
        self.train_scores: dict[str, NDArray[np.float64]] = {}
        sizes = [lattice.n_parts(e) for e in range(len(lattice.evaluations))]
        self.with_parts = with_parts
        self._starts = np.cumsum([0, *(sizes if with_parts else ())])
        self.parts = self._unknown(int(self._starts[-1]))
        self.left = np.zeros((0, 1 + len(lattice.splits)), dtype=np.intp)
        self.grow(n_candidates)

    def __len__(self) -> int:
        return self._n_candidates

    def grow(self, n_more: int) -> None:
        """Add rows for more candidates, of which nothing is known."""
        self._n_candidates += n_more
        for name, table in list(self._tables()):
            more = np.full((n_more, table.shape[1]), np.nan)
            self._set(name, np.concatenate([table, more]))
        self.left = np.concatenate([self.left, np.zeros((n_more, self.left.shape[1]), dtype=np.intp)])

    def record(self, candidates: NDArray[np.intp], cells: Cells) -> None:
        """Take over what the models of some candidates on one training set left behind."""
        for table, columns in ((self.error, cells.errors), (self.change, cells.changes)):
            if columns:
                table[candidates[:, np.newaxis], list(columns)] = np.array(list(columns.values())).T
        for evaluation, parts in cells.parts.items():
            self.parts[candidates, self._columns(evaluation)] = parts
        for split in self.lattice.splits_of(cells.training_sets[0]):
            self.fit_time[candidates, split] = cells.fit_time
            self.score_time[candidates, split] = cells.score_time
        for tables, scores in (
            (self.test_scores, cells.test_scores),
            (self.train_scores, cells.train_scores),
        ):
            for (name, split), values in scores.items():
                if name not in tables:
                    tables[name] = self._unknown(len(self.lattice.splits))
                tables[name][candidates, split] = values

    def only(self, candidates: NDArray[np.bool_]) -> Ledger:
        """What it knows of some candidates; of the others nothing."""
        some = Ledger(self.lattice, len(self), self.failed_error)
        for name, table in self._tables():
            some._set(name, np.where(candidates[:, np.newaxis], table, np.nan))
        some.left = self.left
        return some

    def left_from(self, view: View) -> NDArray[np.intp]:
        """The round in which each candidate left a view, and 0 where it did not; it can be set."""
        return self.left[:, 0 if view.split is None else 1 + view.split]

    def parts_of(self, candidates: NDArray[np.intp], view: View) -> NDArray[np.float64]:
        """Numbers whose mean is the error of candidates in a view: every evaluation counts the same."""
        tables = [self.parts[candidates, self._columns(e)] for e in view.evaluations.tolist()]
        tables = [table[:, ~np.isnan(table).any(axis=0)] for table in tables]
        mean_size = sum(table.shape[1] for table in tables) / len(tables)
        return np.concatenate([table * (mean_size / table.shape[1]) for table in tables], axis=1)

    def _columns(self, evaluation: int) -> slice:
        return slice(self._starts[evaluation], self._starts[evaluation + 1])

    def first_parts(self) -> NDArray[np.float64]:
        """By candidate and evaluation the first of its parts, NaN where they are not known."""
        return self.parts[:, self._starts[:-1]]

    def seen_from(self, view: View) -> Ledger:
        """What a view sees: errors and changes where it looks for them, and how long fits took.

        The reported scores are on the whole test rows of the splits, so the final view alone sees them.
        """
        seen = Ledger(self.lattice, len(self), self.failed_error)
        seen.error[:, view.evaluations] = self.error[:, view.evaluations]
        seen.change[:, view.comparisons] = self.change[:, view.comparisons]
        seen.fit_time, seen.score_time = self.fit_time, self.score_time
        seen.left = self.left
        if view.split is None:
            seen.test_scores, seen.train_scores = self.test_scores, self.train_scores
        return seen

    def fields(self, candidate: int) -> Iterator[tuple[str, NDArray[np.float64]]]:
        """All numbers of a candidate, by name."""
        for name, table in self._tables():
            yield name, table[candidate]

    def restore(self, candidate: int, name: str, numbers: NDArray[np.float64]) -> None:
        """Take numbers that `fields` gave, of a lattice with or without views inside the splits."""
        kind, _, score = name.partition(":")
        if kind in ("test_scores", "train_scores"):
            getattr(self, kind).setdefault(score, self._unknown(len(self.lattice.splits)))
        table = dict(self._tables()).get(name)
        if table is None:
            return
        # The columns of the final view come first in every lattice of the same splits.
        known = min(len(numbers), table.shape[1])
        if known < min(len(self.lattice.splits), table.shape[1]):
            raise ValueError(
                f"{name} of candidate {candidate} has {len(numbers)} numbers, which are too few."
            )
        table[candidate, :known] = numbers[:known]

    def forget_failures(self, first: int = 0) -> None:
        """Take failed fits and failed scores of candidates from `first` on as not known."""
        is_new = np.arange(len(self))[:, np.newaxis] >= first
        for tables in (self.test_scores, self.train_scores):
            for table in tables.values():
                failed = np.isposinf(table) & is_new
                evaluations = np.broadcast_to(self.lattice.evaluation_of_split, table.shape)[failed]
                self.error[np.nonzero(failed)[0][evaluations >= 0], evaluations[evaluations >= 0]] = (
                    np.nan
                )
                table[failed] = np.nan
        for _, table in self._tables():
            table[np.isposinf(table) & is_new] = np.nan

    def freeze(self) -> None:
        """From now on the tables can only be read."""
        for table in (self.left, *(table for _, table in self._tables())):
            table.flags.writeable = False

    def _unknown(self, n_columns: int) -> NDArray[np.float64]:
        return np.full((self._n_candidates, n_columns), np.nan)

    def _tables(self) -> Iterator[tuple[str, NDArray[np.float64]]]:
        for name in ("error", "change", "fit_time", "score_time"):
            yield name, getattr(self, name)
        if self.with_parts:
            yield "parts", self.parts
        for kind in ("test_scores", "train_scores"):
            for score, table in getattr(self, kind).items():
                yield f"{kind}:{score}", table

    def _set(self, name: str, table: NDArray[np.float64]) -> None:
        kind, _, score = name.partition(":")
        if score:
            getattr(self, kind)[score] = table
        else:
            setattr(self, kind, table)
