"""Identity: what the numbers in a ledger file depend on."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from steadycv._compat import several_scorers
from steadycv.estimators import new_estimator
from steadycv.fingerprint import fingerprint
from steadycv.paths.separate import SEPARATE
from steadycv.versions import PACKAGES, is_estimator, is_installed, parts_of, versions_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steadycv.candidates import Candidates
    from steadycv.planning import Line
    from steadycv.tasks import Problem

__all__ = ["candidate_keys", "identity", "student_keys"]


def identity(problem: Problem, scoring: Any) -> dict[str, str]:
    """Fingerprints of the parts of a search that all its numbers depend on."""
    judging, lattice = problem.judging, problem.lattice
    splits = [(split.train, split.test) for split in lattice.splits]
    scorers = several_scorers(scoring) or {"score": scoring}
    return {
        "data": fingerprint(problem.X, problem.y, problem.fit_params),
        "folds": fingerprint(splits, lattice.rows(lattice.final.reference)),
        "estimator": fingerprint(problem.estimator, _own_code([problem.estimator])),
        "scoring": fingerprint(
            judging.loss,
            judging.name,
            judging.weight,
            scoring,
            problem.return_train_score,
        ),
        "set of versions": _in_a_line(
            versions_of([problem.estimator, judging.loss, *scorers.values()], PACKAGES)
        ),
    }


def candidate_keys(
    estimator: Any, candidates: Candidates, lines: Sequence[Line], first: int = 0
) -> list[str]:
    """A fingerprint of each candidate from `first` on, and of what else its numbers depend on.

    That are the path that serves it and the candidates of its line, and the versions of what its
    settings come from.
    """
    settings = [candidates[c] for c in range(first, len(candidates))]
    alone = [
        fingerprint(
            new_estimator(estimator, each),
            _own_code(each.values()),
            _in_a_line(versions_of(each.values())),
        )
        for each in settings
    ]
    keys = list(alone)
    for line in lines:
        path, members = line.group.path, [c - first for c in line.candidates.tolist()]
        if path is SEPARATE or members[0] < 0:
            continue
        company = [alone[c] for c in members]
        name = f"{type(path).__module__}.{type(path).__qualname__}"
        for c in members:
            keys[c] = fingerprint(alone[c], name, _in_a_line(versions_of([path])), company)
    return keys


def student_keys(
    estimator: Any, students: Candidates, lines: Sequence[Line], taught: tuple[Any, ...]
) -> list[str]:
    """A fingerprint of each student: of the candidate that it is, and of what it was taught."""
    return [fingerprint(key, taught) for key in candidate_keys(estimator, students, lines)]


def _in_a_line(found: dict[str, str]) -> str:
    return " ".join(f"{name} {version}" for name, version in found.items())


def _own_code(things: Iterable[Any]) -> list[Any]:
    """The code of estimator classes that are in no package with a version."""
    found = []
    for each in [part for thing in things for part in parts_of(thing)]:
        for cls in type(each).__mro__ if is_estimator(each) else ():
            if not is_installed(cls):
                functions = [getattr(v, "fget", getattr(v, "__func__", v)) for v in vars(cls).values()]
                found.append((cls, [f for f in functions if _is_of(cls, f)]))
    return found


def _is_of(cls: type, function: Any) -> bool:
    """Whether a function was written in the class, and not put there later."""
    return isinstance(function, FunctionType) and function.__qualname__.startswith(cls.__qualname__)
