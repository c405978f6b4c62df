"""Which selection served best on test data, and how sure that is, in numbers and in words."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steadycv.experiments.bootstrap import mean_ratio, resamples
from steadycv.experiments.models import NESTED, PLAIN
from steadycv.experiments.sheets import Sheet, interval, number, percent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.experiments.bootstrap import Ratio
    from steadycv.experiments.summary import Results

__all__ = ["Verdict", "judge"]

SURE, LIKELY = 0.95, 0.8


class Verdict(NamedTuple):
    """Selections side by side, which has the lowest mean test error, and what to make of it.

    `best` has several where these had the same test error on every split. `sureness` is the share of
    bootstrap resamples of the splits in which it is the lowest.
    """

    sheet: Sheet
    best: list[str]
    sureness: float
    words: list[str]


def judge(results: Results, dataset: str, model: str, selections: tuple[str, ...]) -> Verdict:
    """Compare the selections on the splits of one data set."""
    test, reported, same = (
        {name: results.values(dataset, model, name, column) for name in selections}
        for column in ("test_error", "reported_error", "same_choice")
    )
    table = np.array([test[name] for name in selections])
    shares = _shares_of_lowest(table)
    ratios = {name: mean_ratio([test[name]], [test[PLAIN]]) for name in selections}
    promises = {name: mean_ratio([reported[name]], [test[name]]) for name in selections}
    sheet = Sheet(
        f"{model} on {table.shape[1]} random splits, nine tenths to tune on and one tenth to test on",
        (
            *("selection", "test MSE", "over kCV's (95 %)"),
            *("lowest", "same choice", "promised / test"),
        ),
        [
            (
                name,
                number(float(test[name].mean())),
                _with_interval(ratios[name]),
                percent(share),
                percent(float(same[name].mean())),
                _digits(promises[name].value),
            )
            for name, share in zip(selections, shares, strict=True)
        ],
    )
    lowest = table[int(np.argmin(table.mean(axis=1)))]
    is_best = (np.abs(table - lowest) <= 1e-12 * lowest).all(axis=1)
    best = [name for name, is_it in zip(selections, is_best, strict=True) if is_it]
    sureness = float(shares[is_best].sum())
    if len(best) == len(selections):
        words = "All selections led to the same test errors on every split: here it does not matter."
    else:
        words = f"{_lead(best, ratios)} {_sureness(sureness)}"
    return Verdict(sheet, best, sureness, [words, *_on_promises(promises)])


def _shares_of_lowest(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """How often each row has the lowest mean, over resamples of the columns; ties are shared."""
    means = table[:, resamples(table.shape[1])].mean(axis=2)
    lowest = means <= means.min(axis=0) * (1 + 1e-12)
    shares: NDArray[np.float64] = (lowest / lowest.sum(axis=0)).mean(axis=1)
    return shares


def _with_interval(ratio: Ratio) -> str:
    if ratio.low == ratio.high or isnan(ratio.low):
        return _digits(ratio.value)
    return f"{ratio.value:.3f} ({ratio.low:.2f} to {ratio.high:.2f})"


def _lead(best: list[str], ratios: dict[str, Ratio]) -> str:
    names = ", ".join(map(repr, best))
    lowest = f"{names} had the {'same and ' if len(best) > 1 else ''}lowest mean test error"
    if PLAIN in best:
        second = min((name for name in ratios if name not in best), key=lambda name: ratios[name].value)
        if isnan(ratios[second].value):
            return f"{lowest}: none at all."
        return f"{lowest}; the next, {second!r}, was {ratios[second].value - 1:.1%} above it."
    ratio = ratios[best[0]]
    if isnan(ratio.value):
        return f"{lowest}: none at all."
    between = f"95 % interval of the ratio: {interval(ratio.low, ratio.high)}"
    return f"{lowest}, {1 - ratio.value:.1%} below that of {PLAIN!r} ({between})."


def _sureness(share: float) -> str:
    lowest = f"That was the lowest in {share:.0%} of the bootstrap resamples of the splits"
    if share >= SURE:
        return f"{lowest}, so it is fairly sure, though the splits share most of their samples."
    if share >= LIKELY:
        return f"{lowest}, so it is likely, but not sure: the splits share most of their samples."
    return f"{lowest}, so it may well be chance: no selection is shown to be the best here."


def _on_promises(promises: dict[str, Ratio]) -> list[str]:
    parts = []
    for name in (PLAIN, NESTED):
        value = promises[name].value
        if not isnan(value):
            side = "below" if value < 1 else "above"
            parts.append(f"that of {name!r} was {abs(value - 1):.1%} {side} its test error")
    return [f"Promised errors: {', '.join(parts)}."] if parts else []


def _digits(ratio: float) -> str:
    return "-" if isnan(ratio) else f"{ratio:.3f}"
