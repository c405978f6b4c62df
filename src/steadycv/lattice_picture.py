"""The lattice as a picture: a cell for each candidate and training set, coloured by the error there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

import numpy as np
from sklearn.utils.validation import check_is_fitted

from steadycv.shades import N_SHADES, shades_of, upper_limit
from steadycv.split_words import SplitWords

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.ledger import Ledger
    from steadycv.search import StabilitySearchCV

__all__ = ["LatticeErrors", "lattice_svg"]

TOP, FOOT = 22, 26
APART = 8  # between training sets of one kind and of the next
MOST_LINES, MOST_COLUMNS = 100, 120  # of more, each cell stands for several


@dataclass(frozen=True)
class LatticeErrors:
    """What is known of each candidate on each training set.

    Attributes
    ----------
    error : ndarray of shape (n_candidates, n_training_sets)
        The mean error on rows that models of the training set are judged on; infinite where they failed,
        NaN where nothing is known, and of models of all data, whom no row is left to judge.
    is_fitted : ndarray of bool of the same shape
        Whether models were trained.
    depth : ndarray of int of shape (n_training_sets,)
        0 for all data, 1 for the training set of a split, 2 for those inside another one.
    words : SplitWords
        How splits are told.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from steadycv import StabilitySearchCV
    >>> from steadycv.lattice_picture import LatticeErrors
    >>> search = StabilitySearchCV(Ridge(), {"alpha": [0.01, 0.1, 1]})
    >>> LatticeErrors.from_search(search.fit(*load_diabetes(return_X_y=True))).error.shape
    (3, 16)
    """

    error: NDArray[np.float64]
    is_fitted: NDArray[np.bool_]
    depth: NDArray[np.intp]
    words: SplitWords

    @classmethod
    def of(cls, ledger: Ledger) -> LatticeErrors:
        """What a ledger knows by now."""
        lattice = ledger.lattice
        sets = range(lattice.n_training_sets)
        error = np.full((len(ledger), len(sets)), np.nan)
        is_fitted = np.zeros(error.shape, dtype=bool)
        for training_set in sets:
            evaluations = lattice.evaluations_of[training_set]
            if evaluations:
                error[:, training_set] = ledger.error[:, evaluations].mean(axis=1)
            compared = [position for position, _ in lattice.comparisons_of[training_set]]
            known = ~np.isnan(ledger.change[:, compared]).all(axis=1) if compared else False
            is_fitted[:, training_set] = ~np.isnan(error[:, training_set]) | known
        depth = [0 if not each else 1 if lattice.splits_of(each) else 2 for each in sets]
        return cls(error, is_fitted, np.array(depth), SplitWords.of(lattice))

    @classmethod
    def from_search(cls, search: StabilitySearchCV) -> LatticeErrors:
        """What a fitted search knows."""
        check_is_fitted(search)
        return cls.of(search.ledger_)

    @property
    def ends(self) -> tuple[float, float]:
        """The errors of the strongest and of the faintest shade; NaN before there are any."""
        known = self.error[np.isfinite(self.error)]
        return (float(known.min()), upper_limit(known)) if len(known) else (np.nan, np.nan)

    @property
    def names(self) -> list[str]:
        """What the training sets of each depth are."""
        if self.words.are_folds:
            return ["all", "without one fold", "without two folds"]
        return ["all", "of splits", "of splits inside splits"]

    @property
    def explained(self) -> str:
        """What lines and columns are, in a sentence."""
        size = -(-len(self.error) // MOST_LINES)
        line = "a candidate" if size <= 1 else f"the best of {size} candidates"
        return (
            f"A line is {line}, a column a training set; no row is left to judge models of all data on."
        )


def lattice_svg(data: LatticeErrors, width: int = 660) -> str:
    """The picture as SVG; its colours are those of the classes ``heat0``, ... and ``fitted``."""
    error, is_fitted, depth = _coarse(data)
    n_lines, n_columns = error.shape
    first = np.append(True, depth[1:] != depth[:-1])
    shift = APART * (np.cumsum(first) - 1)
    cell = (width - float(shift[-1])) / n_columns
    left = cell * np.arange(n_columns) + shift
    tall = min(18.0, max(2.2, 260 / max(1, n_lines)))
    gaps = [0.0 if size < 5 else 1.0 for size in (cell, tall)]
    wide, high = cell - gaps[0], tall - gaps[1]
    height = TOP + tall * n_lines + FOOT
    shades = np.where(np.isposinf(error), -1, shades_of(error, *data.ends))
    kinds = np.where(np.isposinf(error), N_SHADES + 1, np.where(shades >= 0, shades, N_SHADES))
    kinds = np.where(is_fitted, kinds, -1)
    shapes = []
    for kind in np.unique(kinds).tolist():
        places = "".join(
            f"M{left[j]:.1f} {TOP + i * tall:.1f}h{wide:.1f}v{high:.1f}h-{wide:.1f}z"
            for i, j in np.argwhere(kinds == kind).tolist()
        )
        name = {-1: "open", N_SHADES: "fitted", N_SHADES + 1: "failed"}.get(kind, f"heat{kind}")
        shapes.append(f'<path class="{name}" d="{places}"/>')
    heads = []
    for number, name in enumerate(data.names):
        columns = np.flatnonzero(depth == number)
        if len(columns) * cell > 7 * len(name) or (number == 0 and len(columns)):
            heads.append(f'<text x="{left[columns[0]]:.1f}" y="14">{name}</text>')
    n_done, n = int(data.is_fitted.sum()), data.is_fitted.size
    label = quoteattr(
        f"{len(data.error)} candidates by {len(data.depth)} training sets, {n_done} of {n} cells "
        "fitted; strong colours are good."
    )
    key = "".join(
        f'<rect class="heat{shade}" x="{38 + 14 * shade}" y="{height - 16:.1f}" width="14" height="11"/>'
        for shade in range(N_SHADES)
    )
    return (
        f'<svg viewBox="0 0 {width} {height:.0f}" role="img" aria-label={label}>{"".join(heads)}'
        f'{"".join(shapes)}<text x="0" y="{height - 6:.1f}">good</text>{key}'
        f'<text x="{44 + 14 * N_SHADES}" y="{height - 6:.1f}">poor</text></svg>'
    )


def _coarse(
    data: LatticeErrors,
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.intp]]:
    """Several candidates, or training sets, in one cell where there are too many to see."""
    n_lines, n_columns = data.error.shape
    lines = np.arange(0, n_lines, max(1, -(-n_lines // MOST_LINES)))
    columns = np.arange(0, n_columns, max(1, -(-n_columns // MOST_COLUMNS)))
    if len(lines) == n_lines and len(columns) == n_columns:
        return data.error, data.is_fitted, data.depth
    filled = np.where(np.isnan(data.error), np.inf, data.error)
    best = np.minimum.reduceat(np.minimum.reduceat(filled, lines, axis=0), columns, axis=1)
    is_fitted = np.logical_or.reduceat(
        np.logical_or.reduceat(data.is_fitted, lines, axis=0), columns, axis=1
    )
    has_error = ~np.isnan(data.error)
    is_known = np.logical_or.reduceat(np.logical_or.reduceat(has_error, lines, axis=0), columns, axis=1)
    return np.where(is_known, best, np.nan), is_fitted, data.depth[columns]
