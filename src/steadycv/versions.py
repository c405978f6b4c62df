"""Versions: of which packages, and which, numbers depend on."""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import packages_distributions, version
from numbers import Real
from types import FunctionType
from typing import TYPE_CHECKING, Any

from steadycv._compat import parts_of_scorer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

__all__ = ["PACKAGES", "is_estimator", "is_installed", "parts_of", "versions_of"]

PACKAGES = ("steadycv", "scikit-learn", "numpy", "scipy", "joblib", "numba")


def versions_of(things: Iterable[Any], packages: Collection[str] = ()) -> dict[str, str]:
    """The versions of some packages, and of those that estimators and functions come from."""
    names = set(packages)
    for module in {module for thing in things for module in _modules(thing)}:
        names.update(_distributions().get(module, ()))
    return {name: _version(name) for name in sorted(names)}


def is_installed(cls: type) -> bool:
    """Whether a class comes with a package that has a version, or with Python."""
    module = cls.__module__.partition(".")[0]
    return module in sys.stdlib_module_names or module in _distributions()


def parts_of(thing: Any) -> list[Any]:
    """An estimator, or a function, and what is inside it."""
    return [thing, *(thing.get_params().values() if is_estimator(thing) else ())]


def _modules(thing: Any) -> Iterator[str]:
    """The top-level modules that an estimator, or a function, and what is inside it come from."""
    for each in parts_of(thing):
        if isinstance(each, Real | str):
            continue
        names = [cls.__module__ for cls in type(each).__mro__]
        names += [each.__module__] if isinstance(each, FunctionType | type) else []
        scorer = parts_of_scorer(each)
        names += [] if scorer is None else [scorer.function.__module__]
        yield from {name.partition(".")[0] for name in names}


def is_estimator(thing: Any) -> bool:
    """Whether something has parameters as estimators have them."""
    return hasattr(thing, "get_params") and not isinstance(thing, type)


@cache
def _version(name: str) -> str:
    return version(name)


@cache
def _distributions() -> Mapping[str, list[str]]:
    return packages_distributions()
