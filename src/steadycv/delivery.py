"""Delivery: the committee, the ensemble or the student that the fits of a search come to."""

from __future__ import annotations

import warnings
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.base import is_classifier, is_regressor

from steadycv import rules
from steadycv._compat import n_samples_of
from steadycv._compat.mlflow import without_autologging
from steadycv.averages import Averages, FoldJudge, NotJudgedError, averages
from steadycv.committees import Committee
from steadycv.estimators import new_estimator
from steadycv.failures import Failures
from steadycv.kept import Heard, n_numbers
from steadycv.linear_models import is_linear
from steadycv.made_rows import can_make_rows, with_made_rows
from steadycv.offers import committee_offer, ensemble_offer, others, student_offer
from steadycv.strategies import are_apart
from steadycv.student_fits import Course, Students
from steadycv.students import NO_TEACHER, TEACHINGS, Lesson, can_learn, fitted_student
from steadycv.tasks import model_of
from steadycv.weights import FEWEST_VIEWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steadycv.averages import Tables
    from steadycv.candidates import Candidates
    from steadycv.executor import Executor
    from steadycv.ledger_file import LedgerFile
    from steadycv.offers import Offer
    from steadycv.reducing import Keep
    from steadycv.selection import Selector, State
    from steadycv.students import Teaching
    from steadycv.tasks import Problem

__all__ = [
    "MOST_BYTES",
    "Delivered",
    "Delivery",
    "bytes_kept",
    "check_committees",
    "has_committees",
    "said_by_models",
    "what_to_keep",
]

_Known: TypeAlias = "tuple[NDArray[np.intp], NDArray[np.float64], Averages]"

STACK = 7  # from a warning here to the caller of ``fit``
UNTAUGHT = (
    "{} takes no sample weights for single rows, by which classifiers learn from soft labels: the "
    "student has no teacher and is the plain choice."
)
MOST_OFFERED = 250  # training sets: of more, committees are heard only where they are to be delivered
MOST_BYTES = {"offered": 2**24, "delivered": 2**28}  # of outputs that are kept for committees


class Delivered(NamedTuple):
    """What ``best_estimator_`` is.

    Attributes
    ----------
    deliver : str
        ``"model"``, ``"committee"``, ``"ensemble"`` or ``"student"``.
    params : tuple of dict
        The parameters of the candidates that it is made of.
    weights : tuple of float
        The share of each candidate.
    n_members : int
        How many fitted models it is made of.
    share : float
        Of a student, how much of its target is what the committee says; else 0.
    n_made_rows : int
        How many made rows it was fitted on besides.
    """

    deliver: str
    params: tuple[dict[str, Any], ...]
    weights: tuple[float, ...] = (1.0,)
    n_members: int = 1
    share: float = 0.0
    n_made_rows: int = 0


def has_committees(search: Any, problem: Problem) -> bool:
    """Whether there are committees that can be judged and delivered."""
    is_asked = search.refit is not False and not callable(search.refit)
    has_classes = problem.judging.classes is not None  # and one target
    has_average = has_classes if is_classifier(search.estimator) else is_regressor(search.estimator)
    has_views = len(problem.lattice.views) >= FEWEST_VIEWS
    return bool(is_asked and has_average and has_views and _not_averaged(problem) is None)


def _not_averaged(problem: Problem) -> tuple[str, ...] | None:
    """Of what the score takes, the first that averages of all candidates cannot answer."""
    answered = {"predict", *problem.keep.methods}
    several = (some for some in problem.judging.measure.methods(problem.estimator) if len(some) > 1)
    return next((some for some in several if answered.isdisjoint(some)), None)


def check_committees(search: Any, problem: Problem) -> None:
    """Refuse to deliver what no committee could be judged by, before anything is fitted."""
    if search.deliver == "model" or has_committees(search, problem):
        return
    n_views = len(problem.lattice.views)
    if n_views < FEWEST_VIEWS:
        raise ValueError(
            f"deliver={search.deliver!r} needs three or more views to judge committees by, and these "
            f"splits have {n_views}: KFold(5), for example, has five."
        )
    if (methods := _not_averaged(problem)) is not None:
        raise ValueError(
            f"deliver={search.deliver!r} averages what the score asks for, {' or '.join(methods)}, and "
            "not all candidates have the same of these. Take a score of labels, such as "
            "scoring='accuracy', or candidates that all have it."
        )
    raise ValueError(
        f"deliver={search.deliver!r} averages classifiers of one target, and y has several."
    )


def what_to_keep(search: Any, problem: Problem, n_candidates: int, *, races: bool) -> Keep:
    """Which outputs are kept; their sizes are known before any fit."""
    keep, lattice = problem.keep._replace(parts=races), problem.lattice
    if races or (lattice.views and are_apart(search.search)):
        return keep  # those that leave, or that not all views know, have no committees
    if not lattice.views:  # for the bootstrap
        size = n_candidates * bytes_kept(problem, with_members=False)
        return keep._replace(of_all=size <= MOST_BYTES["delivered"])
    is_offered = search.deliver == "model"
    is_few = lattice.n_training_sets <= MOST_OFFERED or not is_offered
    most = MOST_BYTES["offered" if is_offered else "delivered"]
    of_members = (
        has_committees(search, problem)
        and is_few
        and n_candidates * bytes_kept(problem, with_members=True) <= most
    )
    return keep._replace(of_members=of_members, of_all=of_members)


def bytes_kept(problem: Problem, *, with_members: bool) -> int:
    """The size of a candidate's outputs that are kept."""
    classes, y = problem.judging.classes, problem.y
    width = 1 if y is None or np.ndim(y) < 2 else int(np.shape(y)[1])
    if classes is not None and problem.keep.methods[:1] == ("predict_proba",):
        width = len(classes)
    return 8 * width * n_numbers(problem.lattice, with_members=with_members)


def said_by_models(problem: Problem, selector: Selector, candidates: Sequence[int]) -> Averages | None:
    """What one candidate for each view says of the view's rows, each trained on the view's.

    None where some failed, or say nothing of rows.
    """
    views = problem.lattice.views
    chosen = {view.test_split: c for view, c in zip(views, candidates, strict=True)}
    said = selector.outputs_of(chosen)
    if len(said) < len(views):
        return None
    first = problem.keep.methods[0]
    return Averages([{first: said[view.test_split][np.newaxis]} for view in views])


class Delivery:
    """Makes offers of what the fits left, and fits what is delivered.

    Parameters
    ----------
    problem : Problem
        What all fits share.
    candidates : Candidates
        The settings.
    state : State
        Errors, and what models said.
    selector : Selector
        Fits again whose outputs were not kept.
    executor : Executor
        Runs the fits of students.
    use_paths : bool
        Whether one of these may serve several candidates.
    file : LedgerFile or None
        Where these are written down.
    """

    def __init__(
        self,
        problem: Problem,
        candidates: Candidates,
        state: State,
        selector: Selector,
        executor: Executor,
        *,
        use_paths: bool,
        file: LedgerFile | None,
    ) -> None:
        self._problem = problem
        self._candidates = candidates
        self._ledger = state.ledger
        self._kept = state.kept
        self._selector = selector
        self._executor = executor
        self._use_paths = use_paths
        self._file = file
        self._models: dict[tuple[int, int], Any] = {}
        self._lattice = problem.lattice
        self._judge = FoldJudge(problem.judging, problem.lattice)
        self.failures = Failures()

    @cached_property
    def numbers(self) -> NDArray[np.intp]:
        """The candidates that have an error in all views; an adaptive search knows less of others."""
        lattice = self._lattice
        seen = [lattice.final.evaluations, *(view.evaluations for view in lattice.views)]
        at = np.unique(np.concatenate([*seen, lattice.judged]))
        return np.flatnonzero(np.isfinite(self._ledger.error[:, at]).all(axis=1))

    def offer(self, deliver: str) -> Offer:
        """What one kind of delivery promises."""
        of_kind = {"committee": self.committee, "ensemble": self.ensemble, "student": self.student}
        return of_kind[deliver]()

    # Committees.

    @cached_property
    def _committees(self) -> _Known:
        """Candidates, the errors of their committees by view, and what these say.

        Block by block where all outputs take more memory than they may. Then what is said is held of as
        many of the best as it may take.
        """
        most = MOST_BYTES["delivered"]
        held: _Known | None = None
        for some in self._blocks(max(1, most // bytes_kept(self._problem, with_members=True))):
            said = self._averages(some)
            block = (some, self._judge.errors(said), said)
            held = block if held is None else _best_of(held, block, most)
        order = np.argsort([] if held is None else held[0])
        if held is None or not len(order := order[np.isfinite(held[1][order]).all(axis=1)]):
            raise NotJudgedError("No average of models has an error in all views.")
        return held[0][order], held[1][order], held[2].only(order)

    def _blocks(self, size: int) -> list[NDArray[np.intp]]:
        """All candidates in blocks of about a size, lines in one piece."""
        lines = self._selector.lines_of(self.numbers)
        by_line = np.argsort(lines, kind="stable")
        block = np.arange(len(by_line)) // size
        first = np.searchsorted(lines[by_line], lines[by_line])  # where its line begins
        numbers = block[first]
        return [self.numbers[by_line[numbers == number]] for number in np.unique(numbers)]

    def complete(self) -> None:
        """Have the outputs of all members there, as far as they are kept at all."""
        if self._problem.keep.of_members:
            self._selector.hear(self._missing(self.numbers))

    def _missing(self, candidates: NDArray[np.intp]) -> list[tuple[int, Heard]]:
        return [
            key
            for view in self._lattice.views
            for training_set in self._lattice.members(view)
            for method in self._problem.keep.methods
            for key in self._kept.missing(candidates, Heard(training_set, view.test_split, method))
        ]

    def _averages(self, candidates: NDArray[np.intp]) -> Averages:
        problem = self._problem
        missing = self._missing(candidates)
        self._selector.hear(missing)
        said = averages(
            self._kept, self._lattice, candidates, problem.keep.methods, problem.judging.classes
        )
        if missing:
            self._kept.drop([key for key in self._kept if self._is_of_member(key[1])])  # to make room
        return said

    def _is_of_member(self, heard: Heard) -> bool:
        return heard.split not in self._lattice.splits_of(heard.training_set)

    def committee(self) -> Offer:
        """What the committee promises."""
        return committee_offer(self._lattice, *self._committees)

    def ensemble(self) -> Offer:
        """What the ensemble promises."""
        candidates, _, said = self._committees
        return ensemble_offer(self._lattice, candidates, said, self._judge)

    # Students.

    def student(self) -> Offer:
        """What the student promises; it takes a fit more of each candidate, share and view."""
        problem, lattice = self._problem, self._lattice
        teachings = self._teachings()
        if len(teachings) == 1:
            name = type(problem.estimator).__name__
            warnings.warn(UNTAUGHT.format(name), UserWarning, stacklevel=STACK)
        size = len(self._candidates) * bytes_kept(problem, with_members=False)
        students = Students(
            problem,
            self._candidates,
            self._judge,
            self._executor,
            self.failures,
            use_paths=self._use_paths,
            keeps=size * (len(teachings) - 1) <= MOST_BYTES["delivered"],
            file=self._file,
        )
        courses = [
            [self._course(number, teaching) for number in range(len(lattice.views))]
            for teaching in teachings[1:]
        ]
        by_share: list[NDArray[np.float64]] = [self._ledger.error[np.ix_(self.numbers, lattice.judged)]]
        for of_share in courses:
            errors = np.column_stack([students.errors(course) for course in of_share])
            errors[~np.isfinite(errors).all(axis=1)] = np.inf
            by_share.append(errors[self.numbers])

        def say(share: int, candidate: int, view: int) -> Tables:
            number = int(self.numbers[candidate])
            if share:
                return students.says(courses[share - 1][view], number)
            split = lattice.views[view].test_split
            said = self._selector.outputs_of({split: number})[split]  # none of `numbers` failed
            return {problem.keep.methods[0]: said[np.newaxis]}

        return student_offer(lattice, self.numbers, teachings, np.stack(by_share), say)

    def _teachings(self) -> tuple[Teaching, ...]:
        """What students are tried with; no made rows where an average is what a student is already."""
        problem = self._problem
        if not can_learn(problem):
            return (NO_TEACHER,)
        makes_rows = not is_linear(problem.estimator) and can_make_rows(problem.estimator, problem.X)
        return tuple(each for each in TEACHINGS if makes_rows or not each.with_made_rows)

    def _lesson(
        self,
        candidate: int,
        members: Sequence[int],
        rows: NDArray[np.intp],
        teaching: Teaching,
        *,
        blank: bool = False,
    ) -> Lesson:
        """What the committee of a candidate teaches on some rows; nothing yet, at no fit, if `blank`."""
        problem = self._problem
        X, source = problem.X, np.zeros(0, dtype=np.intp)
        if teaching.with_made_rows:
            X, source = with_made_rows(X, rows)
        n = self._lattice.n_samples
        made = np.arange(n, n + len(source))
        heard = np.concatenate([rows, made])
        taught = None if blank else self._says(candidate, members, heard, X)
        return Lesson.of(problem, X, taught, teaching.share, source)

    def _course(self, number: int, teaching: Teaching) -> Course:
        """What the students of a view have in common."""
        view = self._lattice.views[number]
        teacher = int(self._committees[0][self._teachers[number]])
        members, rows = self._lattice.members(view), self._lattice.rows(view.reference)
        lesson = partial(self._lesson, teacher, members, rows, teaching)
        return Course(number, teaching, self._candidates[teacher], lesson)

    @cached_property
    def _teachers(self) -> list[int]:
        """By view, the committee that does best on the rows of others."""
        errors = self._committees[1]
        return [rules.first_minimum(errors[:, rest].mean(axis=1)) for rest in others(self._lattice)]

    def _says(
        self, candidate: int, members: Sequence[int], rows: NDArray[np.intp], X: Any
    ) -> NDArray[np.float64]:
        """What the committee of a candidate says of some rows of X, in their order; 0 of others."""
        classes, method = self._problem.judging.classes, self._problem.keep.methods[0]
        total: Any = 0.0
        for training_set in members:
            said = self._model(candidate, training_set).elsewhere(X).says((method,), rows)[0]
            if classes is not None and method == "predict":
                said = said[:, np.newaxis] == classes
            total = total + said
        mean = np.asarray(total, dtype=np.float64) / len(members)
        everywhere = np.zeros((n_samples_of(X), *mean.shape[1:]))
        everywhere[rows] = mean
        return everywhere

    def _model(self, candidate: int, training_set: int) -> Any:
        key = (candidate, training_set)
        if key not in self._models:
            self._models[key] = model_of(self._problem, self._candidates[candidate], training_set)
            self.failures.count(1, [], [])
        return self._models[key]

    # What is delivered.

    def fitted(self, offer: Offer, cv: Any) -> tuple[Any, Delivered]:
        """What was offered, fitted, and what it is."""
        problem, lattice = self._problem, self._lattice
        params = tuple(self._candidates[candidate] for candidate in offer.candidates)
        members = lattice.members(lattice.final)
        if offer.deliver == "model":
            return self._fitted(offer.candidates[0], lattice.final.reference), Delivered("model", params)
        if offer.deliver == "student":
            lesson = Lesson(problem.X, problem.y, problem.fit_params, lattice.n_samples)
            if offer.teaching.share:
                teacher = int(self._committees[0][_best(self._committees[1])])
                rows = lattice.rows(lattice.final.reference)
                lesson = self._lesson(teacher, members, rows, offer.teaching)
            student = fitted_student(problem, params[0], lesson)
            return student, Delivered("student", params, share=offer.share, n_made_rows=lesson.n_made)
        fitted = [[self._fitted(c, training_set) for training_set in members] for c in offer.candidates]
        trained_on = [[lattice.rows(training_set) for training_set in members]] * len(params)
        committee = self._committee_of(params, fitted, trained_on, cv=cv, weights=offer.weights)
        n_members = len(members) * len(params)
        return committee, Delivered(offer.deliver, params, offer.weights, n_members)

    def outer_committee(self, candidates: Sequence[int], cv: Any) -> Committee:
        """The average of what each view chose, trained on the view's rows."""
        lattice = self._lattice
        references = [view.reference for view in lattice.views]
        with without_autologging():
            members = [[self._fitted(c, t)] for c, t in zip(candidates, references, strict=True)]
        return self._committee_of(
            [self._candidates[candidate] for candidate in candidates],
            members,
            [[lattice.rows(training_set)] for training_set in references],
            cv=cv,
        )

    def _committee_of(
        self,
        params: Sequence[dict[str, Any]],
        members: list[list[Any]],
        trained_on: list[list[NDArray[np.intp]]],
        *,
        cv: Any,
        weights: Sequence[float] | None = None,
    ) -> Committee:
        problem, lattice = self._problem, self._lattice
        return Committee.of_members(
            [new_estimator(problem.estimator, each) for each in params],
            members,
            weights=weights,
            cv=cv,
            voting=self._voting,
            classes=problem.judging.classes,
            training_rows=trained_on,
            n_features_in=lattice.n_samples,  # of a kernel, which alone is asked for it
        )

    @property
    def _voting(self) -> str:
        """How committees answer, as they were judged."""
        problem = self._problem
        votes = problem.judging.classes is not None and problem.keep.methods[0] != "predict_proba"
        return "hard" if votes else "soft"

    def _fitted(self, candidate: int, training_set: int) -> Any:
        return self._model(candidate, training_set).model(0, self._lattice.rows(training_set))


def _best_of(held: _Known, more: _Known, most: int) -> _Known:
    """Of both as many as memory may take: those that are the best for some choice."""
    candidates = np.concatenate([held[0], more[0]])
    errors = np.concatenate([held[1], more[1]])
    said = held[2].joined(more[2])
    n_kept = max(1, len(said) * most // max(1, said.n_bytes))
    if n_kept >= len(candidates):
        return candidates, errors, said
    total = errors.sum(axis=1, keepdims=True)
    without_one = np.column_stack([total, total - errors]).argsort(axis=0, kind="stable")
    rank = without_one.argsort(axis=0, kind="stable").min(axis=1)
    chosen = np.sort(np.argsort(rank, kind="stable")[:n_kept])
    return candidates[chosen], errors[chosen], said.only(chosen)


def _best(errors: NDArray[np.float64]) -> int:
    return rules.first_minimum(errors.mean(axis=1))
