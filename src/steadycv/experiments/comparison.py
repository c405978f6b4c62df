"""Choices and deliveries on one's own data: all of them from the fits of one search a split."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from steadycv.error_words import ErrorWords
from steadycv.estimators import new_estimator
from steadycv.experiments.result_file import ResultFile, Unit
from steadycv.experiments.running import fingerprint_of, run_units
from steadycv.measures import Rows, Scored
from steadycv.offers import DELIVER
from steadycv.scoring import LossScorer, find_judging
from steadycv.search import StabilitySearchCV

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["AVERAGES", "COLUMNS", "KEY", "PLAIN", "ComparedModel", "TrainTest", "run_comparison"]

PLAIN, STEADY, ONE_STANDARD_ERROR = "plain choice", "steady choice", "one standard error"
AVERAGES = DELIVER[1:]
KEY = ("data", "model", "split")
COLUMNS = (
    "served",
    "parameters",
    "promise",
    "test_error",
    "n_train",
    "n_test",
    "same_choice",
    "warnings",
    "seconds",
)


class TrainTest(NamedTuple):
    """The rows to tune on, and those to test on."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


class Served(NamedTuple):
    """Something that was chosen or delivered, what it promised, and how it did on the test rows."""

    served: str
    parameters: Any
    promise: float
    test_error: float
    same_choice: bool


@dataclass(frozen=True)
class ComparedModel:
    """A model whose choices and deliveries are compared.

    Attributes
    ----------
    name : str
        What it is called.
    estimator : estimator object
        The model.
    grid : callable
        The grid, given the data to tune on.
    cv : object
        How the rows to tune on are split, as in StabilitySearchCV.
    scoring : str, callable or None
        The score that drives, as there.
    deliver : tuple of str
        What is delivered besides the choices: of ``"committee"``, ``"ensemble"`` and ``"student"``.
    """

    name: str
    estimator: Any
    grid: Callable[[Any, Any], dict[str, list[Any]]]
    cv: Any = None
    scoring: Any = None
    deliver: tuple[str, ...] = AVERAGES

    @property
    def names(self) -> tuple[str, ...]:
        """What a run gives an outcome of."""
        return (PLAIN, STEADY, ONE_STANDARD_ERROR, *(each for each in AVERAGES if each in self.deliver))

    def configuration(self, X: Any, y: Any) -> Any:
        """What its results on some data depend on."""
        return (
            *(self.name, repr(self.estimator), self.grid(X, y)),
            *(repr(self.cv), repr(self.scoring), self.names),
        )

    def search(self, X: Any, y: Any) -> StabilitySearchCV:
        """The search on some data, of which all choices and deliveries are read."""
        return StabilitySearchCV(
            self.estimator,
            self.grid(X, y),
            scoring=self.scoring,
            cv=self.cv,
            race=False,  # committees and the rule of one standard error need all candidates
            deliver=self.names[-1] if self.deliver else "model",  # a student has to be asked for
        )

    def errors(self, X: Any, y: Any) -> tuple[ErrorWords, Callable[[NDArray[np.intp]], str | None]]:
        """The words for its errors; and what says why nobody can be judged on some rows, if so."""
        search = self.search(X, y)
        scorers, _ = search._get_scorers()
        judging = find_judging(search, scorers, X, y, {}, {})
        driving = judging.name if isinstance(judging.measure, Scored) else None
        words = ErrorWords.found(judging.loss, driving, scorers, self.scoring)
        return words, lambda rows: judging.measure.undefined(Rows(rows, None, len(y)))

    def run(self, X: Any, y: Any, split: TrainTest, groups: Any = None) -> list[Served]:
        """Tune on one part of the rows, and try everything that comes of it on the other."""
        rows = getattr(X, "iloc", X)
        X_train, y_train, X_test, y_test = (
            rows[split.train],
            y[split.train],
            rows[split.test],
            y[split.test],
        )
        params = {} if groups is None else {"groups": groups[split.train]}
        search = self.search(X_train, y_train).fit(X_train, y_train, **params)
        scorer = search.scorer_ if search.driving_score_ else LossScorer(search.loss_)
        chosen, candidates = search.rules_, search.cv_results_["params"]
        plain, close = chosen["plain"], chosen["one_standard_error"]
        choices = (
            (PLAIN, plain.candidate, plain.cv_error),
            (STEADY, search.best_index_, search.offers_["model"].promise),
            (ONE_STANDARD_ERROR, close.candidate, close.nested_error),
        )
        errors = {
            candidate: -scorer(
                new_estimator(self.estimator, candidates[candidate]).fit(X_train, y_train),
                X_test,
                y_test,
            )
            for candidate in {candidate for _, candidate, _ in choices}
        }
        return [
            Served(name, candidates[c], promise, errors[c], c == plain.candidate)
            for name, c, promise in choices
        ] + [
            Served(
                name,
                [candidates[candidate] for candidate in search.offers_[name].candidates],
                search.offers_[name].promise,
                -scorer(search.delivered_as(name), X_test, y_test),
                same_choice=False,
            )
            for name in self.names[len(choices) :]
        ]


def run_comparison(
    models: Sequence[ComparedModel],
    X: Any,
    y: NDArray[Any],
    splits: Sequence[TrainTest],
    path: Path,
    *,
    name: str = "data",
    groups: NDArray[Any] | None = None,
    only: Sequence[int] | None = None,
    jobs: int = 1,
    progress: bool = False,
) -> None:
    """Compare choices and deliveries on several splits, or go on with it; rows are in a CSV file.

    Parameters
    ----------
    models : sequence of ComparedModel
        The models.
    X, y : data
        The samples.
    splits : sequence of TrainTest
        The rows to tune on and to test on, in each split.
    path : Path
        The file, as that of :func:`run_table`.
    name : str, default="data"
        What the data are called.
    groups : ndarray, default=None
        What the splitters of the models keep together.
    only : sequence of int, default=None
        The numbers of the splits to do; all by default.
    jobs, progress
        As in :func:`run_table`.
    """
    described = X.to_csv() if hasattr(X, "to_csv") else X
    shared = fingerprint_of(described, y, groups)
    prints = {model.name: fingerprint_of(shared, model.configuration(X, y)) for model in models}
    # Splits in the outermost loop: when interrupted, all models have got equally far.
    units = [
        Unit(
            {"data": name, "model": model.name, "split": number},
            fingerprint_of(prints[model.name], split.train, split.test),
            len(model.names),
            partial(_rows, model, X, y, split, groups),
        )
        for number, split in enumerate(splits)
        if only is None or number in only
        for model in models
    ]
    with ResultFile(path, KEY, COLUMNS) as file:
        run_units(units, file, jobs=jobs, progress=progress)


def _rows(
    model: ComparedModel, X: Any, y: NDArray[Any], split: TrainTest, groups: Any
) -> list[dict[str, Any]]:
    sizes = {"n_train": len(split.train), "n_test": len(split.test)}
    return [
        sizes | each._asdict() | {"parameters": json.dumps(each.parameters, default=repr)}
        for each in model.run(X, y, split, groups)
    ]
