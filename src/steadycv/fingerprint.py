"""Fingerprints: a short text that is equal exactly when two things are the same."""

from __future__ import annotations

import hashlib
from types import CodeType, FunctionType
from typing import Any

import joblib
import numpy as np

__all__ = ["fingerprint"]

# How much is printed and on how many cores does not change a result.
_NO_MATTER = ("n_jobs", "verbose")


def fingerprint(*things: Any) -> str:
    """Fingerprint of plain values, arrays, data frames, estimators and functions.

    An estimator is known by its class and its parameters, a function by its code. A numpy number
    is the same as the Python number; 1 and 1.0 are different, because estimators tell them apart.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> fingerprint(Ridge(alpha=1.0)) == fingerprint(Ridge(alpha=np.float64(1)))
    True
    >>> fingerprint(Ridge(alpha=1.0)) == fingerprint(Ridge(alpha=1))
    False
    """
    digest = hashlib.sha256()
    for thing in things:
        digest.update(_describe(thing).encode())
        digest.update(b"\\0")
    return digest.hexdigest()


def _describe(thing: Any) -> str:
    if isinstance(thing, np.generic):
        thing = thing.item()
    if thing is None or isinstance(thing, (bool, int, float, complex, str, bytes, slice, range)):
        return f"{type(thing).__name__}:{thing!r}"
    if isinstance(thing, dict):
        items = sorted((_describe(key), _describe(value)) for key, value in thing.items())
        return f"dict:{items}"
    if isinstance(thing, (list, tuple)):
        return f"{type(thing).__name__}:{[_describe(each) for each in thing]}"
    if isinstance(thing, type):
        return f"class:{thing.__module__}.{thing.__qualname__}"
    if isinstance(thing, FunctionType):
        closure = [cell.cell_contents for cell in thing.__closure__ or ()]
        parts = [thing.__module__, thing.__qualname__, thing.__defaults__, closure]
        return f"function:{_describe(parts)}{_code(thing.__code__)}"
    if hasattr(thing, "get_params"):
        params = {
            name: value for name, value in thing.get_params(deep=False).items() if name not in _NO_MATTER
        }
        return f"estimator:{_describe(type(thing))}{_describe(params)}"
    return f"{_describe(type(thing))}:{joblib.hash(thing, hash_name='sha1')}"


def _code(code: CodeType) -> str:
    constants = [
        _code(each)
        if isinstance(each, CodeType)
        else _describe(each)
        if not isinstance(each, frozenset)
        else sorted(map(repr, each))
        for each in code.co_consts
    ]
    return f"{code.co_code.hex()}{code.co_names}{constants}"
