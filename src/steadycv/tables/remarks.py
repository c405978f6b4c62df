"""What is to be told of how a table is read: lines made from the readings of its columns."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING

from steadycv.tables.preparation import MOST_WORDS
from steadycv.tables.readings import LARGEST, MOST_CATEGORIES, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steadycv.tables.readings import Reading

__all__ = ["in_words", "listed", "remarks"]

MOST_NAMES = 5
_KINDS = {Kind.NUMBER: "numeric", Kind.DATE: "date", Kind.CATEGORY: "text", Kind.WORDS: "text"}
_WHAT_IS_MADE = {
    Kind.CATEGORY: f"one column for each of at most {MOST_CATEGORIES} categories, found inside each "
    "training set; missing values are a category.",
    Kind.WORDS: f"one column for each of the {MOST_WORDS} commonest words, found inside each training "
    "set.",
}


def keep_by_option(name: str) -> str:
    """How the command line is asked to keep a column."""
    return f"--keep {shlex.quote(name)}"


def remarks(readings: Sequence[Reading], to_keep: Callable[[str], str] = keep_by_option) -> list[str]:
    """What is done with columns, and what is odd about them; `to_keep` says how to ask for one."""
    used = [each for each in readings if not each.left_out]
    lines = [_count(used), *_examples(used), *_dates(used), *_missing(used), *_too_large(used)]
    for kind, what in _WHAT_IS_MADE.items():
        names = [each.name for each in used if each.kind is kind]
        if names:
            lines.append(f"{listed(names)}: {what}")
    lines += [
        f"{listed([each.name for each in used if note in each.notes])} {note}."
        for note in dict.fromkeys(note for each in used for note in each.notes)
    ]
    return [*lines, *_left_out(readings, to_keep)]


def in_words(example: tuple[str, str]) -> str:
    """What a text is read as."""
    return f"{example[0]!r} is {example[1]}"


def listed(names: Sequence[str]) -> str:
    """The first few names."""
    some = ", ".join(names[:MOST_NAMES])
    return f"{some} and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else some


def _count(used: Sequence[Reading]) -> str:
    n = Counter(_KINDS[each.kind] for each in used)
    kinds = [f"{n[kind]} {kind}" for kind in dict.fromkeys(_KINDS.values()) if n[kind]]
    *first, last = kinds
    words = f"{', '.join(first)} and {last}" if first else last
    return f"{words} column{' is' if len(used) == 1 else 's are'} used."


def _examples(used: Sequence[Reading]) -> list[str]:
    """What texts were read as numbers."""
    examples = {each.name: each.example for each in used if each.example is not None}
    if not examples:
        return []
    some = [f"{name} ({in_words(example)})" for name, example in examples.items()]
    return [f"Read as numbers: {listed(some)}."]


def _dates(used: Sequence[Reading]) -> list[str]:
    dates = {each.name: each.date for each in used if each.date is not None}
    parts = {name: ", ".join(date.parts) for name, date in dates.items()}
    return [
        f"{listed([name for name in parts if parts[name] == some])}: dates, used as {some}."
        for some in dict.fromkeys(parts.values())
    ]


def _missing(used: Sequence[Reading]) -> list[str]:
    numeric = [each for each in used if each.is_numeric]
    lines = [
        f"{each.name} has texts where others have {each.kind}s, taken as missing: "
        f"{listed([repr(text) for text in each.missing])}."
        for each in numeric
        if each.missing
    ]
    missing = [each for each in numeric if each.n_missing]
    if missing:
        total = sum(each.n_missing for each in missing)
        lines.append(
            f"{total} missing values in {listed([each.name for each in missing])} are replaced by the "
            "column's median, inside each training set."
        )
    return lines


def _too_large(used: Sequence[Reading]) -> list[str]:
    return [
        f"{each.name} is infinite, or beyond {LARGEST:g}, in {each.n_too_large} "
        f"row{'s' * (each.n_too_large > 1)}, taken as missing."
        for each in used
        if each.n_too_large
    ]


def _left_out(readings: Sequence[Reading], to_keep: Callable[[str], str]) -> list[str]:
    lines = []
    for reason in dict.fromkeys(each.left_out for each in readings if each.left_out):
        names = [each.name for each in readings if each.left_out == reason]
        lines.append(f"Not used, {reason}: {listed(names)}.")
    kept = [each.name for each in readings if each.left_out and each.can_be_kept]
    if kept:
        lines.append(f"{to_keep(kept[0])} uses such a column nevertheless.")
    return lines
