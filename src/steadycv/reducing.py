"""Reducing: what the models of one training set say, as the few numbers that the ledger keeps."""

from __future__ import annotations

import time
from traceback import format_exc
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steadycv.measures import Found, MeanLoss
from steadycv.outputs import ModelsOfPath
from steadycv.waiting import Judge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from steadycv.lattice import Lattice
    from steadycv.measures import Rows
    from steadycv.outputs import OutputsOfModels
    from steadycv.scoring import Judging
    from steadycv.waiting import Held

__all__ = ["Cells", "Fit", "Keep", "Reducer"]

MOST_LOSSES = 2**15  # that are reduced together: what is in a processor's cache is the quickest


class Keep(NamedTuple):
    """What is kept: outputs by these methods, of splits' models or of all committees' members."""

    methods: tuple[str, ...] = ()
    of_members: bool = False
    of_all: bool = False  # candidates, and not of those alone that may still be chosen
    parts: bool = False  # of errors, for a race


class Fit(NamedTuple):
    """The models of some candidates on one training set.

    Attributes
    ----------
    models : OutputsOfModels or None
        What they say; None if all failed.
    n_candidates : int
        How many there are, with those that failed.
    failures : dict of int to str
        The tracebacks of those that failed, by row.
    seconds : float
        How long it took.
    n_fits : int
        How many models were fitted; one of a path.
    """

    models: OutputsOfModels | None
    n_candidates: int
    failures: dict[int, str]
    seconds: float
    n_fits: int = 1


class Cells(NamedTuple):
    """What the models of a task on one training set leave behind, one row a candidate.

    Attributes
    ----------
    training_sets : list of int
        The training set; or several that no split has, so that there are errors and changes alone.
    errors, changes : dict of int to ndarray
        By evaluation and by comparison; infinity where a model failed.
    parts : dict of int to ndarray
        By evaluation, numbers whose mean is the error, a row a candidate.
    test_scores, train_scores : dict of (str, int) to ndarray
        The reported scores by name and split; infinity where the scorer failed.
    kept : dict of (int, str) to ndarray or LookedUp
        By split and method, the outputs on its test rows.
    fit_time, score_time : float
        Seconds for each candidate.
    n_fits : int
        How many models were fitted.
    failures, scoring_failures : dict of int to str
        Tracebacks by row.
    waiting : dict of int to (ndarray or ModelsOfPath, set of int)
        By training set, losses that comparisons with training sets of other tasks wait for, or the
        models that they are of; with the last cells of a task.
    """

    training_sets: list[int]
    errors: dict[int, NDArray[np.float64]]
    changes: dict[int, NDArray[np.float64]]
    parts: dict[int, NDArray[np.float64]]
    test_scores: dict[tuple[str, int], NDArray[np.float64]]
    train_scores: dict[tuple[str, int], NDArray[np.float64]]
    kept: dict[tuple[int, str], Any]
    fit_time: float
    score_time: float
    n_fits: int
    failures: dict[int, str]
    scoring_failures: dict[int, str]
    waiting: dict[int, tuple[Held, set[int]]]


class Reducer:
    """Reduces the models of one training set after the other.

    Parameters
    ----------
    judging : Judging
        What errors and changes are, and what else is reported.
    lattice : Lattice
        Who looks at which training set.
    keep : Keep
        Which outputs are kept.
    train_scores : bool
        Whether the scores on the training sets of splits are wanted too.
    """

    def __init__(self, judging: Judging, lattice: Lattice, keep: Keep, *, train_scores: bool) -> None:
        self.judge = Judge(judging.measure, lattice, judging.weight)
        self._judging = judging
        self._lattice = lattice
        self._keep = keep
        self._train_scores = train_scores

    def reduce(self, training_set: int, fit: Fit, *, raises: bool) -> tuple[Cells, Held]:
        """The cells of a training set, and the losses, which are still to be compared."""
        parts = self.judge.parts(fit.n_candidates)
        if len(parts) > 1 and isinstance(fit.models, ModelsOfPath) and not fit.failures:
            found = self._in_parts(training_set, fit, fit.models, parts, raises=raises)
            if found is not None:
                return found
        return self._reduced(training_set, fit, raises=raises)

    def _in_parts(
        self, training_set: int, fit: Fit, models: ModelsOfPath, parts: list[slice], *, raises: bool
    ) -> tuple[Cells, Held] | None:
        """A few candidates after the other, so that not all losses need be there; None if one fails."""
        found: list[Cells] = []
        score_time = 0.0
        held: Held = models.anywhere()
        if not models.are_looked_up:
            held = np.empty((fit.n_candidates, self._n_losses()))
        for part in parts:
            some = models.some(part)
            share = some.n_models / fit.n_candidates
            own = fit._replace(models=some, n_candidates=some.n_models, seconds=share * fit.seconds)
            cells, losses = self._reduced(training_set, own, raises=raises, keeps=False)
            if cells.failures:
                return None
            if isinstance(held, np.ndarray):
                held[part] = losses
            found.append(cells)
            score_time += share * cells.score_time
        joined = _one_after_the_other(found, parts)._replace(score_time=score_time)
        self._keep_outputs(joined, training_set, models)
        return joined, held

    def _reduced(
        self, training_set: int, fit: Fit, *, raises: bool, keeps: bool = True
    ) -> tuple[Cells, NDArray[np.float64]]:
        """The same of all candidates at once."""
        losses, failures = self._losses(fit, raises=raises)
        failed = np.zeros(fit.n_candidates, dtype=bool)
        failed[list(failures)] = True
        some = None if fit.models is None or failed.all() else fit.models.without(failed)
        models = _Judged(some, losses, failed)
        cells = _no_cells([training_set], fit.seconds / fit.n_candidates, fit.n_fits, failures)
        start = time.perf_counter()
        found = {}
        for evaluation in self._lattice.evaluations_of[training_set]:
            rows = self.judge.row_set(self._lattice.evaluations[evaluation].row_set)
            found[evaluation] = self._errors(models, rows)
            cells.errors[evaluation] = found[evaluation].errors
            if self._keep.parts:
                parts = self._parts(models, found[evaluation].errors, rows, evaluation)
                cells.parts[evaluation] = parts
            cells.scoring_failures.update(found[evaluation].failures)
        for split in self._lattice.splits_of(training_set):
            if models.models is not None:
                self._report(cells, split, models, found[int(self._lattice.evaluation_of_split[split])])
            elif self._judging.name is not None:
                cells.test_scores[self._judging.name, split] = np.full(fit.n_candidates, np.inf)
        if some is not None and keeps:
            self._keep_outputs(cells, training_set, some)
        seconds = 0.0 if some is None else (time.perf_counter() - start) / fit.n_candidates
        return cells._replace(score_time=seconds), losses

    @property
    def takes_blocks(self) -> bool:
        """Whether training sets that no split has can be reduced together."""
        keep, judging = self._keep, self._judging
        return isinstance(judging.measure, MeanLoss) and judging.classes is None and not keep.parts

    def in_blocks(self, training_sets: list[int], n_candidates: int) -> Iterator[list[int]]:
        """Training sets in their order: several that are reduced together, or a single one."""
        lattice = self._lattice
        are_kept = self._keep.of_members and self._keep.methods
        size = MOST_LOSSES // (n_candidates * self._n_losses())
        block: list[int] = []
        for training_set in training_sets:
            is_alone = (
                lattice.splits_of(training_set)
                or training_set == lattice.final.reference
                or (are_kept and lattice.committees_of[training_set])
            )
            if block and (is_alone or len(block) >= size):
                yield block
                block = []
            block.append(training_set)
            if is_alone:
                yield block
                block = []
        if block:
            yield block

    def reduce_block(
        self, training_sets: list[int], models: OutputsOfModels, seconds: float
    ) -> tuple[Cells, NDArray[np.float64]]:
        """The cells of several training sets whose models all work, one training set after the other.

        The losses are of shape (n_training_sets, n_candidates, n_losses). Raises where some candidate
        has none.
        """
        n_sets, lattice = len(training_sets), self._lattice
        n_candidates = models.n_models // n_sets
        losses = self._judging.measure.losses(models, lattice)
        losses = losses.reshape(n_sets, n_candidates, -1)
        cells = _no_cells(training_sets, seconds / models.n_models, n_sets, {})
        by_rows: dict[int, list[tuple[int, int]]] = {}
        for at, training_set in enumerate(training_sets):
            for evaluation in lattice.evaluations_of[training_set]:
                row_set = lattice.evaluations[evaluation].row_set
                by_rows.setdefault(row_set, []).append((at, evaluation))
        for row_set, pairs in by_rows.items():
            some = losses[[at for at, _ in pairs]].reshape(len(pairs) * n_candidates, -1)
            found = self._judging.measure.errors(models, some, self.judge.row_set(row_set))
            errors = found.errors.reshape(len(pairs), n_candidates)
            cells.errors.update(zip([evaluation for _, evaluation in pairs], errors, strict=True))
        return cells, losses

    def _losses(self, fit: Fit, *, raises: bool) -> tuple[NDArray[np.float64], dict[int, str]]:
        """The losses of each candidate, and the traceback where they are none."""
        if fit.models is None:
            return np.full((fit.n_candidates, self._n_losses()), np.nan), dict(fit.failures)
        failures = dict(fit.failures)
        if not failures:
            try:
                return self._judging.measure.losses(fit.models, self._lattice), failures
            except Exception:
                if raises:
                    raise
                if fit.n_candidates == 1:
                    return np.full((1, self._n_losses()), np.nan), {0: format_exc()}
        # One of them spoils all: look at each by itself.
        losses = np.full((fit.n_candidates, self._n_losses()), np.nan)
        for i in range(fit.n_candidates):
            if i not in failures:
                try:
                    losses[i] = self._judging.measure.losses(fit.models.only(i), self._lattice)[0]
                except Exception:
                    if raises:
                        raise
                    failures[i] = format_exc()
        return losses, failures

    def _n_losses(self) -> int:
        return self._judging.measure.n_losses(self._lattice)

    def _errors(self, models: _Judged, rows: Rows) -> Found:
        """Errors on some rows; infinity where a model failed."""
        if models.models is None:
            return Found(np.full(len(models.failed), np.inf))
        found = self._judging.measure.errors(models.models, models.losses, rows)
        return found._replace(errors=np.where(models.failed, np.inf, found.errors))

    def _parts(
        self, models: _Judged, errors: NDArray[np.float64], rows: Rows, evaluation: int
    ) -> NDArray[np.float64]:
        """Numbers whose means are the errors on some rows; the error alone where it has no parts."""
        n_parts = self._lattice.n_parts(evaluation)
        parts = np.full((len(errors), n_parts), np.nan)
        parts[:, 0] = errors
        sound = np.isfinite(errors)
        if sound.any():
            found = self._judging.measure.parts(models.models, models.losses, rows, n_parts)
            if found is not None:
                parts[sound] = found[sound]
        return parts

    def _report(self, cells: Cells, split: int, models: _Judged, found: Found) -> None:
        """Scores and kept outputs of the models of a split."""
        assert models.models is not None
        test = self.judge.rows(self._lattice.splits[split].test)
        for name, scores in self._scores(cells, models, test, found).items():
            cells.test_scores[name, split] = scores
        if self._train_scores:
            train = self.judge.training_set(self._lattice.training_set_of(split))
            for name, scores in self._scores(cells, models, train, self._errors(models, train)).items():
                cells.train_scores[name, split] = scores

    def _keep_outputs(self, cells: Cells, training_set: int, models: OutputsOfModels) -> None:
        """Outputs on test rows that conclusions ask for."""
        keep, lattice = self._keep, self._lattice
        for split in lattice.heard_on(training_set, with_members=keep.of_members):
            for method in keep.methods:
                rows = lattice.splits[split].test
                if isinstance(models, ModelsOfPath):
                    cells.kept[split, method] = models.kept(method, rows)
                else:
                    cells.kept[split, method] = models.says((method,), rows)

    def _scores(
        self, cells: Cells, models: _Judged, rows: Rows, found: Found
    ) -> dict[str, NDArray[np.float64]]:
        """All reported scores on some rows."""
        judging = self._judging
        assert models.models is not None
        tables = dict(found.scores)
        if judging.name is not None and judging.name not in tables:
            unknown = np.isposinf(found.errors)
            tables[judging.name] = np.where(unknown, np.inf, judging.best - found.errors)
        if judging.reported is not None:
            others, failures = judging.reported.of(models.models, rows, models.failed)
            cells.scoring_failures.update(failures)
            tables |= others
        return {name: np.where(models.failed, np.inf, scores) for name, scores in tables.items()}


def _no_cells(training_sets: list[int], fit_time: float, n_fits: int, failures: dict[int, str]) -> Cells:
    return Cells(training_sets, {}, {}, {}, {}, {}, {}, fit_time, 0.0, n_fits, failures, {}, {})


def _one_after_the_other(cells: list[Cells], parts: list[slice]) -> Cells:
    """The cells of candidates of which none failed, from those of a few at a time."""

    def joined(name: str) -> dict[Any, Any]:
        tables: list[dict[Any, NDArray[Any]]] = [getattr(each, name) for each in cells]
        return {key: np.concatenate([table[key] for table in tables]) for key in tables[0]}

    return cells[0]._replace(
        errors=joined("errors"),
        parts=joined("parts"),
        test_scores=joined("test_scores"),
        train_scores=joined("train_scores"),
        scoring_failures={
            part.start + i: text
            for each, part in zip(cells, parts, strict=True)
            for i, text in each.scoring_failures.items()
        },
    )


class _Judged(NamedTuple):
    """Models with their losses; those that failed have none."""

    models: Any
    losses: NDArray[np.float64]
    failed: NDArray[np.bool_]
