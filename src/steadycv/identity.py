"""Identity: what the numbers in a ledger file depend on."""

from __future__ import annotations

from functools import cache
from importlib.metadata import packages_distributions, version
from typing import TYPE_CHECKING, Any

from steadycv.estimators import new_estimator
from steadycv.fingerprint import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from steadycv.candidates import Candidates
    from steadycv.planning import Line
    from steadycv.tasks import Problem

__all__ = ["candidate_keys", "identity"]

_PACKAGES = ("steadycv", "scikit-learn", "numpy", "scipy", "joblib", "numba")


def identity(problem: Problem, scoring: Any, candidates: Candidates) -> dict[str, str]:
    """Fingerprints of the parts of a search that all its numbers depend on."""
    judging, lattice = problem.judging, problem.lattice
    splits = [(split.train, split.test) for split in lattice.splits]
    return {
        "data": fingerprint(problem.X, problem.y, problem.fit_params),
        "folds": fingerprint(splits, lattice.rows(lattice.final.reference)),
        "estimator": fingerprint(problem.estimator),
        "scoring": fingerprint(
            judging.loss, judging.name, judging.weight, scoring, problem.return_train_score, problem.keep
        ),
        "set of versions": _versions([problem.estimator, *(v for c in candidates for v in c.values())]),
    }


def candidate_keys(estimator: Any, candidates: Candidates, lines: Sequence[Line]) -> list[str]:
    """A fingerprint of each candidate, and of what else its numbers depend on: path and line."""
    alone = [fingerprint(new_estimator(estimator, params)) for params in candidates]
    keys = list(alone)
    for line in lines:
        path = line.group.path
        if path is not None:
            company = [alone[c] for c in line.candidates.tolist()]
            for c in line.candidates.tolist():
                name = f"{type(path).__module__}.{type(path).__qualname__}"
                keys[c] = fingerprint(alone[c], name, company)
    return keys


def _versions(things: Iterable[Any]) -> str:
    """The versions of our packages, and of those that estimators come from."""
    names = set(_PACKAGES)
    for module in {module for thing in things for module in _modules(thing)}:
        names.update(_distributions().get(module, ()))
    return " ".join(f"{name} {version(name)}" for name in sorted(names))


def _modules(thing: Any) -> Iterator[str]:
    """The top-level modules that an estimator, or a function, and what is inside it come from."""
    inside = list(thing.get_params().values()) if _is_estimator(thing) else []
    for each in [thing, *inside]:
        if _is_estimator(each) or callable(each):
            module = getattr(each, "__module__", None) or type(each).__module__
            yield module.partition(".")[0]


def _is_estimator(thing: Any) -> bool:
    return hasattr(thing, "get_params") and not isinstance(thing, type)


@cache
def _distributions() -> Mapping[str, list[str]]:
    return packages_distributions()
