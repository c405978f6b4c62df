"""Numbers in disguise: with thousands, currencies, per cent, units, or brackets for what is negative."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["COMMA", "POINT", "Candidate", "NumberFormat", "find_formats", "is_grouped"]

POINT, COMMA = ".", ","
LONGEST = 40  # characters of a number; what is longer is text
LONGEST_UNIT = 14
PER_CENT = "%"
CURRENCIES = (
    *(
        "US$",
        "A$",
        "C$",
        "R$",
        "$",
        "€",
        "£",
        "¥",
        "₹",
        "₩",
        "₽",
        "₺",
        "zł",
        "kr.",
        "kr",
        "Kč",
        "Rs.",
        "Rs",
    ),
    *("USD", "EUR", "GBP", "JPY", "CHF", "CAD", "AUD", "CNY", "INR", "SEK", "NOK", "DKK", "PLN", "BRL"),
    *("SFr.", "Fr."),
)
_MINUS = r"\-−"  # noqa: RUF001  # the second is the minus of typesetters
_APOSTROPHES = "'’"  # noqa: RUF001
_BLANKS = " \u00a0\u2009\u202f"
_MARKS = _APOSTROPHES + _BLANKS
_NUMBER = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[+{_MINUS}])?\s*(?P<prefix>{'|'.join(map(re.escape, CURRENCIES))})?\s*"
    rf"(?P<late>[+{_MINUS}])?(?P<digits>[0-9][0-9.,{_MARKS}]*|[.,][0-9]+)"
    r"(?P<exponent>[eE][-+]?[0-9]+)?"
    rf"\s*(?P<unit>[^0-9\s.,{_APOSTROPHES}()+{_MINUS}][^0-9()]{{0,{LONGEST_UNIT}}}[23]?)?\s*(?P<close>\))?"
    rf"(?P<after>[{_MINUS}])?"
)


def _of_digits(decimal: str, groups: str) -> re.Pattern[str]:
    """What digits may look like: plain, or in groups that one mark parts; also as in India."""
    decimals = rf"(?:\{decimal}[0-9]*)?"
    alike = rf"[1-9][0-9]{{0,2}}([{groups}{_MARKS}])[0-9]{{3}}(?:\1[0-9]{{3}})*{decimals}"
    lakhs = rf"[1-9][0-9]?(?:\{groups}[0-9]{{2}})+\{groups}[0-9]{{3}}{decimals}"
    return re.compile(f"[0-9]*{decimals}|{alike}|{lakhs}")


_DIGITS = {
    POINT: _of_digits(POINT, COMMA),
    COMMA: _of_digits(COMMA, POINT),
}
_GROUPS_ONLY = re.compile(r"\s*[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+\s*")


class _Parts(NamedTuple):
    """A number taken apart."""

    digits: str
    exponent: str
    negative: bool
    prefix: str
    unit: str


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of a column are written.

    Attributes
    ----------
    decimal : str
        The mark before the decimals, a point or a comma.
    prefix : str
        The currency that stands before some of them.
    unit : str
        What stands after some of them, in small letters and in the singular.
    """

    decimal: str = POINT
    prefix: str = ""
    unit: str = ""

    def number(self, text: str) -> float:
        """The number of a text, NaN if it is none of this format."""
        parts = _taken_apart(text)
        if parts is None or not _belongs(parts, self.prefix, self.unit):
            return nan
        return _value(parts, self.decimal)


class Candidate(NamedTuple):
    """A format, and how well it suits a column."""

    format: NumberFormat
    n_numbers: int  # values that it can read
    other_units: tuple[str, str] | None  # two texts whose units differ


def find_formats(counts: Mapping[str, int]) -> dict[str, Candidate]:
    """The format with each decimal mark, for texts and how often each is there."""
    parts = {text: each for text in counts if (each := _taken_apart(text)) is not None}
    found = {}
    for decimal in (POINT, COMMA):
        read = {
            text: each for text, each in parts.items() if _value(each, decimal) == _value(each, decimal)
        }
        prefix = _commonest({text: each.prefix for text, each in read.items()}, counts)
        unit = _commonest({text: each.unit for text, each in read.items()}, counts)
        n_numbers = sum(counts[text] for text, each in read.items() if _belongs(each, prefix, unit))
        found[decimal] = Candidate(
            NumberFormat(decimal, prefix, unit), n_numbers, _two_units(read, unit)
        )
    return found


def is_grouped(text: str) -> bool:
    """Whether a number with points, as 1.234, would be read as thousands where commas are decimal."""
    return _GROUPS_ONLY.fullmatch(text) is not None


def _taken_apart(text: str) -> _Parts | None:
    if len(text) > LONGEST:
        return None
    found = _NUMBER.fullmatch(text.strip())
    if found is None or bool(found["open"]) != bool(found["close"]):
        return None
    signs = [found["sign"], found["late"], found["after"], found["open"]]
    if sum(map(bool, signs)) > 1:
        return None
    unit = (found["unit"] or "").strip().rstrip(".").casefold()
    return _Parts(
        found["digits"].rstrip(_BLANKS),
        found["exponent"] or "",
        any(sign not in (None, "+") for sign in signs),
        found["prefix"] or "",
        unit.removesuffix("s") if len(unit) > 2 else unit,
    )


def _value(parts: _Parts, decimal: str) -> float:
    if _DIGITS[decimal].fullmatch(parts.digits) is None:
        return nan
    digits = "".join(c for c in parts.digits if c in f"0123456789{decimal}").replace(decimal, ".")
    number = float(digits + parts.exponent)
    return -number if parts.negative else number


def _belongs(parts: _Parts, prefix: str, unit: str) -> bool:
    """Whether a number has the marks of its column; per cent are not mixed with what is none."""
    if unit == PER_CENT and not parts.unit:
        return False
    return parts.prefix in ("", prefix) and parts.unit in ("", unit)


def _commonest(marks: Mapping[str, str], counts: Mapping[str, int]) -> str:
    """The mark of most values, of those that have one."""
    n: Counter[str] = Counter()
    for text, mark in marks.items():
        if mark:
            n[mark] += counts[text]
    return n.most_common(1)[0][0] if n else ""


def _two_units(parts: Mapping[str, _Parts], unit: str) -> tuple[str, str] | None:
    one = next((text for text, each in parts.items() if unit and each.unit == unit), None)
    other = next((text for text, each in parts.items() if each.unit not in ("", unit)), None)
    return None if one is None or other is None else (one, other)
