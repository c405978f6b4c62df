"""The bootstrap of out-of-fold outputs: an honest error at no fit beyond plain cross-validation.

The CV error of a choice is too low, as it is computed on the rows that it was chosen by. So rows are
drawn again, with replacement; the same rule chooses by the errors on the rows drawn, and the choice is
judged on those left out. The mean over 200 resamples is the promise. This is BBC-CV of Tsamardinos,
Greasidou and Borboudakis, *Bootstrapping the out-of-sample predictions for efficient and accurate
cross-validation* (Machine Learning 107, 2018).
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steadycv import rules
from steadycv._arrays import plain
from steadycv._compat import to_numpy
from steadycv.measures import MeanLoss, Rows, Scored
from steadycv.outputs import ModelsOfPath
from steadycv.scoring import NotAnsweredError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import ArrayLike, NDArray

    from steadycv.lattice import Lattice
    from steadycv.paths.protocol import Outputs
    from steadycv.scoring import Judging

    OutputsOfSplit: TypeAlias = Callable[[int, NDArray[np.intp]], Outputs]

__all__ = ["BootstrapPromise", "NoBootstrapError", "bootstrap_promise"]

N_RESAMPLES = 200
MOST_DRAWN = 2000  # where the score is often not defined
SEED = 0
NUMBERS_AT_ONCE = 2**22  # of one number a sample: 32 MB

IN_TIME_ORDER = (
    "No bootstrap in time order: rows that are drawn have neighbours in time among those left out, so a "
    "choice would be judged on what it knows, and not on the future. nested=True gives an honest error "
    "there, at one fit more for each candidate."
)
TOO_FEW = (
    "No bootstrap: {} of {} resamples of {} could be judged, and {} are needed. On the others the score "
    "is not defined, of what was drawn or of what was left out, or the scorer asks for more than what "
    "models say of rows that they were not trained on. nested=True gives an honest error."
)


class NoBootstrapError(ValueError):
    """There is no bootstrap; the message says why."""


class BootstrapPromise(NamedTuple):
    """What to expect of the choice.

    Attributes
    ----------
    promise : float
        The mean of `errors`.
    errors : ndarray of shape (200,)
        The error of each resample's choice, on the rows that were not drawn.
    """

    promise: float
    errors: NDArray[np.float64]

    def interval(self, coverage: float = 0.9) -> tuple[float, float]:
        """Between these quantiles lies that share of `errors`: the authors' interval for the promise."""
        tail = (1 - coverage) / 2
        low, high = np.quantile(self.errors, [tail, 1 - tail])
        return float(low), float(high)


def bootstrap_promise(
    lattice: Lattice,
    judging: Judging,
    outputs: OutputsOfSplit,
    *,
    penalty: ArrayLike,
    groups: Any = None,
) -> BootstrapPromise:
    """Promise an error for the candidate with the lowest error + penalty, by BBC-CV.

    Outputs of splits whose test rows do not overlap are pooled: of a partition all, of repeats those of
    each; of other splits, those that go together. An error is the mean over pools of the error on each
    one's rows. With a mean loss this is the CV error, up to folds of unequal size; a score is that of
    the pooled outputs and not the mean of those of folds. Rows that are never validated are left out.

    Where the splits keep groups together, whole groups are drawn, else rows. Resample b is drawn by
    NumPy's default generator with the seed (0, b). One that cannot be judged, since the score of the
    rows drawn or of those left out is not defined, is passed over, and the next is drawn.

    Parameters
    ----------
    lattice : Lattice
        The splits.
    judging : Judging
        What drives the selection.
    outputs : callable
        Of a split and some candidates, what their models say of its test rows: by method of the
        driving measure an array of shape (n_candidates, n_rows, ...).
    penalty : array-like of shape (n_candidates,)
        What the rule adds to each error: stability weight x instability, the same in every resample, as
        it compares models and not rows. Infinity for those that cannot be chosen: where a fit failed,
        and where an adaptive search did not look.
    groups : array-like of shape (n_samples,), optional
        The groups that the splitter was given.

    Returns
    -------
    promise : BootstrapPromise
        Errors; of scores, minus them.

    Raises
    ------
    NoBootstrapError
        In time order; and where too few resamples can be judged, or none, as a scorer needs the models.

    Examples
    --------
    Fifty guessers, the best of which looks better than it is:

    >>> import numpy as np
    >>> from sklearn.model_selection import KFold
    >>> from steadycv.lattice import Lattice
    >>> from steadycv.losses import LOSSES
    >>> from steadycv.measures import MeanLoss
    >>> from steadycv.scoring import Judging
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=100)
    >>> guesses = rng.integers(2, size=(50, 100))
    >>> lattice = Lattice(KFold(5).split(y), 100)
    >>> measure = MeanLoss.of(LOSSES["zero_one"], y)
    >>> judging = Judging(measure, "score", 1.0, None, measure.loss, None, np.array([0, 1]))
    >>> def outputs(split, candidates):
    ...     return {"predict": guesses[candidates][:, lattice.splits[split].test]}
    >>> found = bootstrap_promise(lattice, judging, outputs, penalty=np.zeros(50))
    >>> float((guesses != y).mean(axis=1).min()), round(found.promise, 2)
    (0.38, 0.49)
    """
    if lattice.in_time_order:
        raise NoBootstrapError(IN_TIME_ORDER)
    known = np.asarray(penalty, dtype=np.float64)
    candidates = np.flatnonzero(np.isfinite(known))
    resamples = _Resamples(lattice, groups)
    said = _OutOfFold(lattice, judging, outputs)
    errors = np.zeros(0)
    drawn = 0
    while len(errors) < N_RESAMPLES:
        numbers = np.arange(drawn, min(drawn + N_RESAMPLES - len(errors), MOST_DRAWN))
        if not len(numbers):
            raise NoBootstrapError(TOO_FEW.format(len(errors), drawn, resamples.units, N_RESAMPLES))
        drawn += len(numbers)
        found = _errors_of_choices(said, resamples, numbers, candidates, known[candidates])
        errors = np.append(errors, found[np.isfinite(found)])
    return BootstrapPromise(float(errors.mean()), errors)


def _errors_of_choices(
    said: _OutOfFold,
    resamples: _Resamples,
    numbers: NDArray[np.intp],
    candidates: NDArray[np.intp],
    penalty: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The error of each resample's choice where it was not made; NaN or infinity where there is none."""
    seen = said.errors(candidates, numbers, resamples.drawn) + penalty
    chosen = np.array([rules.first_minimum(errors) for errors in seen])
    has_choice = np.isfinite(seen[np.arange(len(numbers)), chosen])
    found = np.full(len(numbers), np.nan)
    for choice in np.unique(chosen[has_choice]):
        at = np.flatnonzero(has_choice & (chosen == choice))
        found[at] = said.errors(candidates[[choice]], numbers[at], resamples.left_out)[:, 0]
    return found


class _Resamples:
    """Rows, or whole groups, drawn again and again; from a number each time, so that none is held."""

    def __init__(self, lattice: Lattice, groups: Any) -> None:
        judged = np.flatnonzero(lattice.evaluation_of_split >= 0)
        self._rows = np.unique(np.concatenate([lattice.splits[i].test for i in judged]))
        labels = self._rows
        self._of = "rows"
        if groups is not None and _keeps_together(lattice, groups := plain(to_numpy(groups))):
            labels = groups[self._rows]
            self._of = "groups"
        units, self._unit_of = np.unique(labels, return_inverse=True)
        self._n_units = len(units)

    @property
    def units(self) -> str:
        """What is drawn."""
        return f"{self._n_units} {self._of}"

    def drawn(self, number: int) -> NDArray[np.intp]:
        """The rows of a resample, as often as they were drawn."""
        return np.repeat(self._rows, self._times(number))

    def left_out(self, number: int) -> NDArray[np.intp]:
        """The rows that were not drawn."""
        return np.compress(self._times(number) == 0, self._rows)

    def _times(self, number: int) -> NDArray[np.intp]:
        rng = np.random.default_rng((SEED, number))
        units = rng.integers(self._n_units, size=self._n_units)
        times: NDArray[np.intp] = np.bincount(units, minlength=self._n_units)[self._unit_of]
        return times


def _keeps_together(lattice: Lattice, groups: NDArray[Any]) -> bool:
    return not any(np.isin(groups[split.test], groups[split.train]).any() for split in lattice.splits)


class _OutOfFold:
    """The errors of candidates by what they say out of fold."""

    def __init__(self, lattice: Lattice, judging: Judging, outputs: OutputsOfSplit) -> None:
        self._n_samples = lattice.n_samples
        self._lattice = lattice
        self._judging = judging
        self._outputs = outputs
        self._measure = judging.measure
        if isinstance(self._measure, Scored):  # a score that fails on a resample stops no search
            scores = replace(self._measure.scores, raises=False)
            self._measure = replace(self._measure, scores=scores)
        self._pools = _pools(lattice)

    def errors(
        self,
        candidates: NDArray[np.intp],
        numbers: NDArray[np.intp],
        rows: Callable[[int], NDArray[np.intp]],
    ) -> NDArray[np.float64]:
        """For each number the errors on its rows, one a candidate; NaN where none is defined."""
        size = max(1, NUMBERS_AT_ONCE // self._n_samples)
        blocks = [candidates[i : i + size] for i in range(0, len(candidates), size)]
        found = [self._errors_of_block(block, numbers, rows) for block in blocks]
        return np.concatenate(found, axis=1)

    def _errors_of_block(
        self,
        candidates: NDArray[np.intp],
        numbers: NDArray[np.intp],
        rows: Callable[[int], NDArray[np.intp]],
    ) -> NDArray[np.float64]:
        total = np.zeros((len(numbers), len(candidates)))
        n_pools = np.zeros((len(numbers), 1))
        for pool in self._pools:
            models, losses, is_in_pool = self._models(pool, candidates)
            for i, number in enumerate(numbers.tolist()):
                drawn = rows(number)
                some = Rows(drawn[is_in_pool[drawn]], self._judging.weight, self._n_samples)
                errors = self._errors_on(some, models, losses)
                if errors is not None:
                    total[i] += errors
                    n_pools[i] += 1
        with np.errstate(invalid="ignore"):
            return total / n_pools

    def _errors_on(
        self, rows: Rows, models: ModelsOfPath, losses: NDArray[np.float64]
    ) -> NDArray[np.float64] | None:
        """The errors on some rows; None where they are not defined."""
        if not len(rows.rows) or self._measure.undefined(rows) is not None:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of scorers that have nothing to divide by
            try:
                errors = self._measure.errors(models, losses, rows).errors
            except NotAnsweredError:
                return None
        # Minus infinity is a score that is no finite number.
        return np.where(np.isneginf(errors), np.inf, errors)

    def _models(
        self, pool: list[int], candidates: NDArray[np.intp]
    ) -> tuple[ModelsOfPath, NDArray[np.float64], NDArray[np.bool_]]:
        """What some candidates say, their losses, and of which rows."""
        n_samples = self._n_samples
        rows = np.concatenate([self._lattice.splits[split].test for split in pool])
        parts = [self._outputs(split, candidates) for split in pool]
        tables = {}
        for method in parts[0]:
            said = np.concatenate([part[method] for part in parts], axis=1)
            # Of other rows nobody asks; a loss that is computed everywhere takes what is said of one.
            tables[method] = np.repeat(said[:, :1], n_samples, axis=1)
            tables[method][:, rows] = said
        models = ModelsOfPath(tables, np.arange(n_samples), classes=self._judging.classes)
        losses = np.zeros((len(candidates), 1))
        if isinstance(self._measure, MeanLoss):
            losses = self._measure.losses(models, self._lattice)
        is_in_pool = np.zeros(n_samples, dtype=np.bool_)
        is_in_pool[rows] = True
        return models, losses, is_in_pool


def _pools(lattice: Lattice) -> list[list[int]]:
    """The splits that somebody is judged on, each with the first others that test no row of its own."""
    pools: list[list[int]] = []
    tested: list[NDArray[np.bool_]] = []
    for split in np.flatnonzero(lattice.evaluation_of_split >= 0).tolist():
        rows = lattice.splits[split].test
        place = next((i for i, rows_of in enumerate(tested) if not rows_of[rows].any()), len(pools))
        if place == len(pools):
            pools.append([])
            tested.append(np.zeros(lattice.n_samples, dtype=np.bool_))
        pools[place].append(split)
        tested[place][rows] = True
    return pools
