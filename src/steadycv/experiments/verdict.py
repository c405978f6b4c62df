"""Which choice or delivery served best on test rows, and how sure that is, in numbers and in words.

Splits share most of their rows, so means over them vary more than their spread says. Nadeau and
Bengio's correction is in every interval and probability here: the variance of a mean is the splits'
variance times ``1 / n_splits + n_test / n_train``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import t as student_t

from steadycv.error_words import with_article
from steadycv.experiments.comparison import AVERAGES, COLUMNS, KEY, PLAIN
from steadycv.experiments.result_file import read_frame
from steadycv.human_units import HumanUnits
from steadycv.words import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from steadycv.error_words import ErrorWords

__all__ = [
    "FEWEST_SPLITS",
    "Beside",
    "Line",
    "Verdict",
    "beside_mean",
    "interval_of_mean",
    "judge",
    "probabilities_of_lowest",
    "verdict",
]

SURE, LIKELY, POSSIBLE = 0.95, 0.8, 0.05
FEWEST_SPLITS = 20
"""Of fewer no verdict is called likely."""
COVERAGE = 0.95
N_DRAWS = 20_000
TIE = 1e-12


class Beside(NamedTuple):
    """A mean beside another one, and where the truth should be 95 times in 100.

    Errors are told as ratios; scores, and errors beside none at all, as differences.
    """

    value: float
    low: float
    high: float
    is_ratio: bool

    def in_words(self) -> str:
        """How far it is below or above.

        Examples
        --------
        >>> Beside(0.8, 0.7, 0.9, is_ratio=True).in_words(), Beside(0.02, -0.01, 0.05, False).in_words()
        ('20.0% below', '0.02 above')
        """
        gap = self.value - 1 if self.is_ratio else self.value
        amount = f"{abs(gap):.1%}" if self.is_ratio else number(abs(gap), 2)
        return f"{amount} {'below' if gap < 0 else 'above'}"

    def shown(self) -> str:
        """The number."""
        return f"{self.value:.3f}" if self.is_ratio else number(self.value, 2)

    def range(self) -> str:
        """The interval."""
        if self.is_ratio:
            return f"{self.low:.2f} to {self.high:.2f}"
        return f"{number(self.low, 2)} to {number(self.high, 2)}"


class Line(NamedTuple):
    """One that was compared.

    Attributes
    ----------
    model, name : str
        Which model it is of, and what was chosen or delivered.
    errors : ndarray
        The error on the test rows of each split.
    over_plain : Beside
        Its mean beside that of the model's plain choice.
    lowest : float
        The probability that it is the best; with all others beside.
    same_choice : float
        The share of splits in which it was the plain choice.
    promised : Beside
        What it promised, beside the test error.
    """

    model: str
    name: str
    errors: NDArray[np.float64]
    over_plain: Beside
    lowest: float
    same_choice: float
    promised: Beside

    @property
    def is_choice(self) -> bool:
        """Whether it is one of the candidates, and not made of several models."""
        return self.name not in AVERAGES


@dataclass(frozen=True)
class Verdict:
    """All that were compared, which served best, and what to make of it.

    Attributes
    ----------
    lines : list of Line
        All that were compared.
    best : list of int
        Those with the lowest mean test error; several where they were equal on every split.
    n_splits : int
        How many splits there are.
    words : ErrorWords
        The words for errors.
    """

    lines: list[Line]
    best: list[int]
    n_splits: int
    words: ErrorWords

    @property
    def sureness(self) -> float:
        """The probability that what served best is the best."""
        return float(sum(self.lines[i].lowest for i in self.best))

    @property
    def is_enough(self) -> bool:
        """Whether there are splits enough to say how sure it is."""
        return self.n_splits >= FEWEST_SPLITS

    @property
    def is_all(self) -> bool:
        """Whether all did the same."""
        return len(self.best) == len(self.lines)

    def plain_of(self, line: Line) -> Line:
        """The plain choice of a line's model."""
        return next(each for each in self.lines if (each.model, each.name) == (line.model, PLAIN))

    def title(self, line: Line) -> str:
        """What a line is called, where models are compared with the model."""
        return line.name if len(self.names_of_models) == 1 else f"{line.name} of {line.model}"

    @property
    def names_of_models(self) -> list[str]:
        """The models, each once."""
        return list(dict.fromkeys(line.model for line in self.lines))

    def sentences(self) -> list[str]:
        """What it comes to."""
        if self.is_all:
            return ["All led to the same test errors on every split: here it does not matter."]
        return [f"{self._lead()} {self._surely()}", *self._on_promises()]

    def _lead(self) -> str:
        best, words = self.lines[self.best[0]], self.words
        names = listed([self.title(self.lines[i]) for i in self.best])
        error = float(best.errors.mean())
        units = HumanUnits.of(words)
        told = f"{with_article(units.noun)} of {units.text(error)}{units.unit}"
        served = f"Served best: the {names}, with {told} on test rows."
        its = f"Its {words.name} of {number(error)}" if units.is_other_number else "That"
        if any(self.lines[i].name == PLAIN for i in self.best):
            rest = [line for i, line in enumerate(self.lines) if i not in self.best]
            second = min(rest, key=lambda line: float(line.errors.mean()))
            beside = beside_mean(second.errors, best.errors, 0.0, words)
            of_what = f"The {words.name} of the next" if units.is_other_number else "The next"
            return f"{served} {of_what}, the {self.title(second)}, was {beside.in_words()}."
        over = best.over_plain
        own = self.title(self.plain_of(best))
        beside_own = f"{over.in_words()} that of the {own} ({over.range()}, 95 times in 100)"
        return f"{served} {its} is {beside_own}."

    def _surely(self) -> str:
        if not self.is_enough:
            return (
                f"{self.n_splits} splits are too few to say how sure that is: it takes "
                f"{FEWEST_SPLITS} or more."
            )
        chance = (
            f"By these {self.n_splits} splits it is the best with a probability of {self.sureness:.0%}"
        )
        others = [
            f"{self.title(line)} ({line.lowest:.0%})"
            for i, line in sorted(enumerate(self.lines), key=lambda each: -each[1].lowest)
            if i not in self.best and line.lowest >= POSSIBLE
        ]
        plain = sum(line.lowest for line in self.lines if line.name == PLAIN)
        hardly = f", and hardly a plain choice ({plain:.0%})" if plain < POSSIBLE else ""
        also = f" It may also be the {listed(others, 'or')}{hardly}." if others else ""
        if self.sureness >= SURE:
            return f"{chance}: that is fairly sure."
        if self.sureness >= LIKELY:
            return f"{chance}: likely, and not sure.{also}"
        return f"{chance}, so none is shown to be the best of all here.{also}"

    def _on_promises(self) -> list[str]:
        shown = dict.fromkeys([PLAIN, self.lines[self.best[0]].name])
        model = self.lines[self.best[0]].model
        told = [
            f"of the {self.title(line)} {line.promised.in_words()}"
            for line in self.lines
            if line.model == model and line.name in shown
        ]
        return [f"Promises beside what came on test rows: {', '.join(told)}."]


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names in a sentence.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"], "or")
    ('a', 'a and b', 'a, b or c')
    """
    *first, end = names
    return f"{', '.join(first)} {last} {end}" if first else end


def judge(
    path: Path,
    names: Mapping[str, Sequence[str]],
    words: ErrorWords,
    *,
    data: str,
    splits: Sequence[int],
) -> Verdict:
    """Judge what :func:`run_comparison` left in a file.

    Parameters
    ----------
    path : Path
        The file.
    names : mapping of str to sequence of str
        What was compared of each model.
    words : ErrorWords
        The words for errors.
    data : str
        What the data are called in the file.
    splits : sequence of int
        The splits to judge by.
    """
    frame = read_frame(path, KEY, COLUMNS, kind="model")
    frame = frame[(frame["data"] == data) & frame["split"].isin(list(splits))].sort_values("split")
    of_one = {
        (model, name): frame[(frame["model"] == model) & (frame["served"] == name)]
        for model in names
        for name in names[model]
    }
    return verdict(
        {key: each["test_error"].to_numpy(float) for key, each in of_one.items()},
        {key: each["promise"].to_numpy(float) for key, each in of_one.items()},
        {key: float(each["same_choice"].mean()) for key, each in of_one.items()},
        float((frame["n_test"] / frame["n_train"]).mean()),
        words,
    )


def verdict(
    errors: Mapping[tuple[str, str], NDArray[np.float64]],
    promises: dict[tuple[str, str], NDArray[np.float64]],
    same: dict[tuple[str, str], float],
    overlap: float,
    words: ErrorWords,
) -> Verdict:
    """Judge errors by model and name; `overlap` is the mean of ``n_test / n_train``."""
    table = np.array(list(errors.values()))
    shares = probabilities_of_lowest(table, overlap)
    lines = [
        Line(
            *key,
            errors[key],
            beside_mean(errors[key], errors[key[0], PLAIN], overlap, words),
            share,
            same[key],
            beside_mean(promises[key], errors[key], overlap, words),
        )
        for key, share in zip(errors, shares.tolist(), strict=True)
    ]
    lowest = table[int(np.argmin(table.mean(axis=1)))]
    is_best = (np.abs(table - lowest) <= TIE * np.abs(lowest)).all(axis=1)
    return Verdict(lines, np.flatnonzero(is_best).tolist(), table.shape[1], words)


def beside_mean(
    errors: NDArray[np.float64], others: NDArray[np.float64], overlap: float, words: ErrorWords
) -> Beside:
    """The mean of errors on some splits beside that of others on the same."""
    differences, mean = errors - others, float(others.mean())
    value, (low, high) = float(differences.mean()), interval_of_mean(differences, overlap)
    if words.is_score:
        return Beside(0.0 - value, 0.0 - high, 0.0 - low, is_ratio=False)
    if mean <= 0:
        return Beside(value, low, high, is_ratio=False)
    return Beside(1 + value / mean, max(0.0, 1 + low / mean), 1 + high / mean, is_ratio=True)


def probabilities_of_lowest(errors: NDArray[np.float64], overlap: float) -> NDArray[np.float64]:
    """The probability of each row to have the lowest mean, where columns are splits; ties are shared.

    The means are taken to have a t distribution around those that were seen, of the splits' covariance
    and with Nadeau and Bengio's variance. For two rows that is one less the one-sided p-value of their
    test.

    Examples
    --------
    >>> errors = np.array([[1.0, 2.0, 3.0], [1.5, 2.6, 3.4]])
    >>> probabilities_of_lowest(errors, 1 / 9).round(2)
    array([0.99, 0.01])
    """
    mean, n = errors.mean(axis=1, keepdims=True), errors.shape[1]
    rng = np.random.default_rng([n, len(errors)])
    noise = rng.standard_normal((N_DRAWS, n)) @ (errors - mean).T
    scale = np.sqrt((1 / n + overlap) / rng.chisquare(n - 1, size=(N_DRAWS, 1)))
    drawn = mean.T + noise * scale
    lowest = drawn.min(axis=1, keepdims=True)
    is_lowest = drawn <= lowest + TIE * np.abs(lowest)
    shares: NDArray[np.float64] = (is_lowest / is_lowest.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares


def interval_of_mean(differences: NDArray[np.float64], overlap: float) -> tuple[float, float]:
    """Where the mean of differences should be, 95 times in 100: the corrected resampled t test's.

    Examples
    --------
    >>> [round(end, 2) for end in interval_of_mean(np.array([1.0, 2.0, 3.0, 2.0]), 1 / 9)]
    [0.44, 3.56]
    """
    n, mean = len(differences), float(differences.mean())
    error = float(np.sqrt((1 / n + overlap) * differences.var(ddof=1)))
    reach = float(student_t.ppf((1 + COVERAGE) / 2, n - 1)) * error
    return mean - reach, mean + reach
