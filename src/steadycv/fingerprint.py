"""Fingerprints: a short text that is equal exactly when two things are the same."""

from __future__ import annotations

import functools
import hashlib
from types import CodeType, FunctionType
from typing import Any

import joblib
import numpy as np
import scipy.sparse

__all__ = ["fingerprint"]

# How much is printed and on how many cores does not change a result.
_NO_MATTER = ("n_jobs", "verbose")


def fingerprint(*things: Any) -> str:
    """Fingerprint of plain values, arrays, data frames, estimators, functions and scorers.

    An estimator is known by its class and its parameters, a function by its code and that of the
    functions of its module that it calls. A numpy number is the same as the Python number; 1 and
    1.0 are different, because estimators tell them apart.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> fingerprint(Ridge(alpha=1.0)) == fingerprint(Ridge(alpha=np.float64(1)))
    True
    >>> fingerprint(Ridge(alpha=1.0)) == fingerprint(Ridge(alpha=1))
    False
    """
    return hashlib.sha256(_describe(things, ()).encode()).hexdigest()


def _describe(thing: Any, inside: tuple[int, ...]) -> str:
    """A text for a thing; `inside` are the ids of the things that it was reached through."""
    if isinstance(thing, np.generic):
        thing = thing.item()
    if thing is None or isinstance(thing, (bool, int, float, complex, str, bytes, slice, range)):
        return f"{type(thing).__name__}:{thing!r}"
    if isinstance(thing, type):
        return f"class:{thing.__module__}.{thing.__qualname__}"
    if isinstance(thing, CodeType):
        parts: Any = (thing.co_code, thing.co_names, thing.co_varnames, thing.co_consts)
        return f"code:{_describe(parts, inside)}"
    if id(thing) in inside:
        return f"again:{len(inside) - inside.index(id(thing))}"
    inside = (*inside, id(thing))
    if isinstance(thing, dict):
        items = sorted((_describe(k, inside), _describe(v, inside)) for k, v in thing.items())
        return f"dict:{items}"
    if isinstance(thing, (list, tuple)):
        return f"{type(thing).__name__}:{[_describe(each, inside) for each in thing]}"
    if isinstance(thing, (set, frozenset)):
        return f"set:{sorted(_describe(each, inside) for each in thing)}"
    return f"{_describe(type(thing), ())}:{_describe_object(thing, inside)}"


def _describe_object(thing: Any, inside: tuple[int, ...]) -> str:
    parts: Any
    if isinstance(thing, FunctionType):
        parts = [_of_function(each) for each in _reached(thing)]
    elif isinstance(thing, functools.partial):
        parts = (thing.func, thing.args, thing.keywords)
    elif hasattr(thing, "get_params"):
        params = thing.get_params(deep=False)
        parts = {name: value for name, value in params.items() if name not in _NO_MATTER}
    elif scipy.sparse.issparse(thing):
        # Not the object itself: it caches flags about itself when looked at.
        rows = thing.tocsr()
        parts = (thing.format, thing.shape, rows.data, rows.indices, rows.indptr)
    elif isinstance(thing, np.ndarray):
        return str(joblib.hash(np.asarray(thing), hash_name="sha1"))
    elif hasattr(thing, "__dict__") and not hasattr(thing, "shape"):
        parts = vars(thing)  # scorers, losses, splitters: what they were made of
    else:
        return str(joblib.hash(thing, hash_name="sha1"))
    return _describe(parts, inside)


def _reached(function: FunctionType) -> list[FunctionType]:
    """A function and all functions that it may call: those of its module, and those closed over."""
    found: dict[int, FunctionType] = {}
    waiting = [function]
    while waiting:
        each = waiting.pop()
        if id(each) in found:
            continue
        found[id(each)] = each
        of_module = [each.__globals__.get(name) for name in each.__code__.co_names]
        closed_over = [cell.cell_contents for cell in each.__closure__ or ()]
        waiting += [
            f for f in of_module if isinstance(f, FunctionType) and f.__module__ == each.__module__
        ]
        waiting += [f for f in closed_over if isinstance(f, FunctionType)]
    return list(found.values())


def _of_function(function: FunctionType) -> tuple[Any, ...]:
    """What makes a function, apart from other functions."""
    closure = [cell.cell_contents for cell in function.__closure__ or ()]
    return (
        function.__module__,
        function.__qualname__,
        function.__code__,
        function.__defaults__,
        function.__kwdefaults__,
        [value for value in closure if not isinstance(value, FunctionType)],
    )
