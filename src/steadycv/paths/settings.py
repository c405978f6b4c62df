"""When settings are equal, and in what: the keys by which they are put together."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Sequence

    Key: TypeAlias = Hashable

__all__ = ["alike", "is_plain", "key_of", "together"]


def key_of(setting: dict[str, Any], but: Collection[str] = ()) -> Key:
    """Equal for settings that set the same parameters, and those that are not in `but` to the same.

    That a parameter is set is a part of the key: where it is not, the estimator's own value counts.
    """
    key = [(name,) if name in but else (name, *_identity(setting[name])) for name in sorted(setting)]
    return tuple(key)


def _identity(value: Any) -> tuple[type, Any]:
    # Numbers and strings lose their identity when they are sent to a worker; other values may
    # have no equality, and are the same object in all candidates of a grid.
    return type(value), value if is_plain(value) else id(value)


def is_plain(value: Any) -> bool:
    """Whether a value is a number, a text or None."""
    return value is None or isinstance(value, str | Real)


def alike(settings: Sequence[dict[str, Any]], but: Collection[str] = ()) -> list[list[int]]:
    """Positions of settings that are equal in all parameters but some."""
    return together(key_of(setting, but) for setting in settings)


def together(keys: Iterable[Key]) -> list[list[int]]:
    """Positions of equal keys, by the first of them."""
    groups: dict[Key, list[int]] = {}
    for position, key in enumerate(keys):
        groups.setdefault(key, []).append(position)
    return list(groups.values())
