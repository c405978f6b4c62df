"""Measures: what turns outputs into errors, and what changes between two models are measured in.

A measure first makes a table of *losses*, one row a model: most often a loss for every sample. Errors
are read off a model's outputs and losses on some rows; a change is the mean absolute difference between
the losses of two models over the rows of a reference. Infinity stands for what a failed model leaves
unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from steadycv._arrays import one_column, plain
from steadycv._compat import to_numpy
from steadycv.scores import BEYOND

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.lattice import Lattice
    from steadycv.losses import Loss
    from steadycv.outputs import OutputsOfModels
    from steadycv.scoring import Scores

__all__ = ["Found", "MeanLoss", "Measure", "Rows", "SampleScores", "Scored"]

COLUMNS_AT_ONCE = 4096  # half of einsum's buffer


class Rows:
    """Some rows, and the weighted mean over them."""

    def __init__(
        self, rows: NDArray[np.intp], weight: NDArray[np.float64] | None, n_samples: int
    ) -> None:
        self.rows = rows
        self.weight = None if weight is None else weight[rows]
        share = np.ones(len(rows)) if self.weight is None else self.weight
        self._total = float(share.sum())
        # Of most rows it is cheaper to count the others as nothing than to leave them out.
        self._most = 2 * len(rows) > n_samples
        if self._most:
            counts = np.bincount(rows, self.weight, n_samples)
            # Rows that are chosen once count one, which a byte holds.
            share = counts.astype(bool if self.weight is None and counts.max() == 1 else np.float64)
        self._share: NDArray[np.float64] | NDArray[np.bool_] = share

    def mean(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean of each row of a table over the chosen columns; infinity where it is not known."""
        chosen = table if self._most else table.take(self.rows, axis=1)
        found: NDArray[np.float64] = _sums(chosen, self._share) / self._total
        unknown = np.isnan(found)
        if unknown.any():  # infinity in a column that counts nothing is no matter
            counts = np.flatnonzero(self._share)
            found[unknown] = _sums(chosen[unknown][:, counts], self._share[counts]) / self._total
            found[np.isnan(found)] = np.inf
        return found

    def parts(self, values: NDArray[np.float64], n_parts: int) -> NDArray[np.float64]:
        """Numbers whose mean is that of some values of these rows: of rows that follow each other."""
        share = np.ones(len(self.rows)) if self.weight is None else self.weight
        starts = np.arange(n_parts) * len(self.rows) // n_parts
        sums: NDArray[np.float64] = np.add.reduceat(values * share, starts, axis=1)
        return sums * (n_parts / self._total)


def _sums(
    table: NDArray[np.float64], share: NDArray[np.float64] | NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The weighted sum of each row, to the last bit the same whatever other rows there are.

    That of BLAS depends on their number, and so does that of einsum where a row is longer than its
    buffer.
    """
    sums = _sums_at_once(table[:, :COLUMNS_AT_ONCE], share[:COLUMNS_AT_ONCE])
    for start in range(COLUMNS_AT_ONCE, len(share), COLUMNS_AT_ONCE):
        columns = slice(start, start + COLUMNS_AT_ONCE)
        sums += _sums_at_once(table[:, columns], share[columns])
    return sums


def _sums_at_once(
    table: NDArray[np.float64], share: NDArray[np.float64] | NDArray[np.bool_]
) -> NDArray[np.float64]:
    counts = share.astype(np.float64, copy=False)
    sums: NDArray[np.float64] = np.einsum("ci,i->c", np.ascontiguousarray(table), counts)
    return sums


class Found(NamedTuple):
    """Errors, the reasons by model why some are not known, and scores that were computed on the way."""

    errors: NDArray[np.float64]
    failures: dict[int, str] = {}  # noqa: RUF012 - never changed
    scores: dict[str, NDArray[np.float64]] = {}  # noqa: RUF012


class Measure(Protocol):
    """What drives a selection."""

    def methods(self, estimator: Any) -> list[tuple[str, ...]]:
        """What its models are asked for: of each tuple the first method that there is."""

    def undefined(self, rows: Rows) -> str | None:
        """Why no model can be judged on these rows, or None."""

    def n_losses(self, lattice: Lattice) -> int:
        """How many losses a model has."""

    def losses(self, models: OutputsOfModels, lattice: Lattice) -> NDArray[np.float64]:
        """The table of losses, one row a model."""

    def errors(self, models: OutputsOfModels, losses: NDArray[np.float64], rows: Rows) -> Found:
        """The errors of models on some rows."""

    def parts(
        self, models: OutputsOfModels, losses: NDArray[np.float64], rows: Rows, n_parts: int
    ) -> NDArray[np.float64] | None:
        """So many numbers for each model, whose mean is its error on some rows; or None."""

    def change(
        self, losses: NDArray[np.float64], others: NDArray[np.float64], reference: int, rows: Rows
    ) -> NDArray[np.float64]:
        """The mean absolute change of losses over the rows of a reference."""


def _mean_change(
    losses: NDArray[np.float64], others: NDArray[np.float64], rows: Rows
) -> NDArray[np.float64]:
    difference = losses - others
    return rows.mean(np.abs(difference, out=difference))


def _no_weight(rows: Rows) -> str | None:
    return "their sample weights sum to 0" if rows.weight is not None and not rows.weight.any() else None


@dataclass(frozen=True)
class MeanLoss:
    """The paper's: the mean of a per-sample loss.

    Attributes
    ----------
    loss : Loss
        The loss.
    method : str
        The estimator's method whose outputs the loss takes.
    y : ndarray
        The targets as the loss takes them.
    """

    loss: Loss
    method: str
    y: NDArray[Any]

    @classmethod
    def of(cls, loss: Loss, y: Any, classes: NDArray[Any] | None = None) -> MeanLoss:
        """Prepare the targets for a loss; `classes` are those of y unless given."""
        method = getattr(loss, "response_method", "predict")
        targets = plain(one_column(to_numpy(y)))
        if method != "predict_proba":
            return cls(loss, method, targets)
        if targets.ndim != 1:
            raise ValueError(
                f"a loss of probabilities needs a y with one column, got shape {targets.shape}; "
                "use loss='zero_one'."
            )
        if classes is None:
            classes = np.unique(targets)
        elif not np.isin(targets, classes := to_numpy(classes)).all():
            unknown = np.unique(targets[~np.isin(targets, classes)])
            raise ValueError(f"y has classes that the estimator does not know: {unknown.tolist()}")
        return cls(loss, method, np.searchsorted(classes, targets))

    def methods(self, estimator: Any) -> list[tuple[str, ...]]:  # noqa: ARG002
        """The loss's."""
        return [(self.method,)]

    def undefined(self, rows: Rows) -> str | None:
        """A mean needs weight."""
        return _no_weight(rows)

    def n_losses(self, lattice: Lattice) -> int:
        """One a sample."""
        return lattice.n_samples

    def losses(self, models: OutputsOfModels, lattice: Lattice) -> NDArray[np.float64]:  # noqa: ARG002
        """The loss at every sample. Raises where one is no finite non-negative number."""
        outputs = models.says((self.method,))
        n_models, n_samples = outputs.shape[:2]
        y = self.y if n_models == 1 else np.tile(self.y, (n_models, *[1] * (self.y.ndim - 1)))
        losses = np.asarray(self.loss(y, outputs.reshape(-1, *outputs.shape[2:])), dtype=np.float64)
        if losses.shape != (n_models * n_samples,):
            raise ValueError(
                f"the loss must return one number for each of the {len(y)} samples, got an "
                f"array of shape {losses.shape}"
            )
        losses = losses.reshape(n_models, n_samples)
        if not np.isfinite(losses.sum()) and not np.isfinite(losses).all():
            raise ValueError(f"{int((~np.isfinite(losses)).sum())} losses are not finite")
        if losses.min() < 0:
            raise ValueError(f"a loss must not be negative, got {losses.min():g}")
        return losses

    def errors(self, models: OutputsOfModels, losses: NDArray[np.float64], rows: Rows) -> Found:  # noqa: ARG002
        """The mean loss."""
        return Found(rows.mean(losses))

    def parts(
        self,
        models: OutputsOfModels,  # noqa: ARG002
        losses: NDArray[np.float64],
        rows: Rows,
        n_parts: int,
    ) -> NDArray[np.float64]:
        """Losses."""
        return rows.parts(losses[:, rows.rows], n_parts)

    def change(
        self,
        losses: NDArray[np.float64],
        others: NDArray[np.float64],
        reference: int,  # noqa: ARG002
        rows: Rows,
    ) -> NDArray[np.float64]:
        """The mean absolute change of the loss."""
        return _mean_change(losses, others, rows)


@dataclass(frozen=True)
class SampleScores:
    """For changes only: what ``score_samples`` says of every sample, of models that have no loss."""

    def methods(self, estimator: Any) -> list[tuple[str, ...]]:  # noqa: ARG002
        """Just that."""
        return [("score_samples",)]

    def n_losses(self, lattice: Lattice) -> int:
        """One a sample."""
        return lattice.n_samples

    def losses(self, models: OutputsOfModels, lattice: Lattice) -> NDArray[np.float64]:  # noqa: ARG002
        """What it says."""
        return np.asarray(models.says(("score_samples",)), dtype=np.float64)


@dataclass(frozen=True)
class Scored:
    """The error is minus a score; changes are those of a per-sample loss.

    Where the score is NaN or infinite the error is minus infinity, and infinity where it failed.

    Attributes
    ----------
    scores : Scores
        Computes the score.
    name : str
        Its name among them.
    changes : MeanLoss or SampleScores or None
        What changes are measured in; None for the score itself.
    """

    scores: Scores
    name: str
    changes: MeanLoss | SampleScores | None

    def methods(self, estimator: Any) -> list[tuple[str, ...]]:
        """The score's and the loss's."""
        return self.scores.methods(estimator) + (
            [] if self.changes is None else self.changes.methods(estimator)
        )

    def undefined(self, rows: Rows) -> str | None:
        """A mean of losses needs weight, and a score may need more."""
        return _no_weight(rows) or self.scores.undefined(rows)

    def n_losses(self, lattice: Lattice) -> int:
        """One a sample; or one a reference."""
        return lattice.n_samples if self.changes is not None else len(_references(lattice))

    def losses(self, models: OutputsOfModels, lattice: Lattice) -> NDArray[np.float64]:
        """The loss at every sample; or the score on the rows of every reference."""
        if self.changes is not None:
            return self.changes.losses(models, lattice)
        columns = [
            self._score(models, Rows(lattice.rows(reference), None, lattice.n_samples)).errors
            for reference in _references(lattice)
        ]
        return np.stack(columns, axis=1)

    def errors(self, models: OutputsOfModels, losses: NDArray[np.float64], rows: Rows) -> Found:
        """Minus the score."""
        failed: NDArray[np.bool_] = np.logical_and.reduce(np.isnan(losses), axis=1)
        return self._score(models, rows, failed)

    def parts(
        self,
        models: OutputsOfModels,
        losses: NDArray[np.float64],  # noqa: ARG002
        rows: Rows,
        n_parts: int,
    ) -> NDArray[np.float64] | None:
        """What every row has to do with the score, where that is known."""
        found = self.scores.parts(self.name, models, rows)
        return None if found is None else rows.parts(-found, n_parts)

    def _score(
        self, models: OutputsOfModels, rows: Rows, failed: NDArray[np.bool_] | None = None
    ) -> Found:
        tables, failures = self.scores.of(models, rows, failed)
        if failures and not tables:
            return Found(np.full(models.n_models, np.inf), failures, tables)
        if self.name not in tables:
            raise ValueError(
                f"scoring gives {sorted(tables)}, none of which is {self.name!r}: refit= is to name the "
                "one that drives the selection."
            )
        values = tables[self.name]
        is_number = np.isfinite(values) & (values < BEYOND)
        errors = np.where(is_number, -values, -np.inf)
        has_failed = np.isposinf(values) if failed is None else np.isposinf(values) | failed
        return Found(np.where(has_failed, np.inf, errors), failures, tables)

    def change(
        self, losses: NDArray[np.float64], others: NDArray[np.float64], reference: int, rows: Rows
    ) -> NDArray[np.float64]:
        """The mean absolute change."""
        if self.changes is not None:
            return _mean_change(losses, others, rows)
        with np.errstate(invalid="ignore"):
            change = np.abs(losses[:, reference] - others[:, reference])
        return np.where(np.isnan(change), np.inf, change)  # known to be no number


def _references(lattice: Lattice) -> list[int]:
    """The references of all views: the first training sets of the lattice."""
    return list(range(1 + max((view.reference for view in (lattice.final, *lattice.views)), default=0)))
