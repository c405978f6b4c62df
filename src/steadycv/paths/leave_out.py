"""Ridge regression without a row or two, in closed form, from the spectrum of all rows.

With the hat matrix ``H`` of a penalty and the residuals ``r`` of all rows, the outputs at all rows of
the model that knows all but the rows ``S`` are ``f - H[:, S] (I - H[S, S])^-1 r[S]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MOST_LEFT_OUT", "LeaveOut", "Spectrum"]

MOST_LEFT_OUT = 2
NUMBERS_AT_ONCE = 2**17  # of outputs
MOST_COLUMNS = 2**21  # numbers of hat matrices that are held


@dataclass(frozen=True)
class Spectrum:
    """All rows as ridge regression sees them.

    Attributes
    ----------
    left, right : ndarray of shape (n_samples, rank)
        The hat matrix of penalty a is ``left @ diag(1 / (values + a)) @ right.T``.
    values : ndarray of shape (rank,)
        Eigenvalues in increasing order.
    centred : bool
        Whether there is an intercept, which adds ``1 / n_samples`` to each number of the hat matrix.
    """

    left: NDArray[np.float64]
    right: NDArray[np.float64]
    values: NDArray[np.float64]
    centred: bool


class LeaveOut:
    """Ridge regression without a row or two, for several penalties.

    Parameters
    ----------
    spectrum : Spectrum
        Of all rows.
    y : ndarray of shape (n_samples, n_targets)
        The targets of all rows.
    penalties : ndarray
        The penalties.
    worst_condition : float
        A system beyond it is not exact.

    Attributes
    ----------
    at_once : int
        How many choices of rows to ask about at a time.
    """

    def __init__(
        self,
        spectrum: Spectrum,
        y: NDArray[np.float64],
        penalties: NDArray[np.float64],
        worst_condition: float,
    ) -> None:
        shifted = spectrum.values + penalties[:, np.newaxis]
        self._sound = shifted[:, 0] * worst_condition > shifted[:, -1]
        shifted[~self._sound] = 1.0  # not used
        self._limit = shifted[:, -1] / (worst_condition * shifted[:, 0])
        self._hat = _Hat(spectrum, shifted)
        mean = y.mean(axis=0) if spectrum.centred else np.zeros(y.shape[1])
        parts = spectrum.right.T @ (y - mean)
        self._fitted = np.stack(
            [(spectrum.left @ (parts / row[:, np.newaxis]) + mean).T for row in shifted]
        )
        self._residuals = (y.T - self._fitted).transpose(2, 0, 1)
        self.at_once = max(1, NUMBERS_AT_ONCE // self._fitted.size)

    def without(self, left_out: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Outputs of the models that do not know some rows, and which penalties are exact.

        No bit of them depends on what else is left out in the same call.

        Parameters
        ----------
        left_out : ndarray of shape (n, 2)
            The rows that are left out, a single one twice.

        Returns
        -------
        values : ndarray of shape (n, n_penalties, n_targets, n_samples)
            At all samples.
        exact : ndarray of bool of shape (n, n_penalties)
            Which are.
        """
        first, second = left_out.T
        is_single = (first == second)[:, np.newaxis]
        of_first, of_second = self._hat.columns(first), self._hat.columns(second)
        at = np.arange(len(first))
        # I - H[S, S] is [[a, b], [b, d]].
        a = 1 - of_first[at, :, first]
        b = np.where(is_single, 0.0, -of_first[at, :, second])
        d = np.where(is_single, 1.0, 1 - of_second[at, :, second])
        lowest = (a + d) / 2 - np.sqrt((a - d) ** 2 / 4 + b**2)
        exact = self._sound & (lowest > self._limit)
        a, b, d, det = (each[..., np.newaxis] for each in (a, b, d, np.where(exact, a * d - b**2, 1.0)))
        r = self._residuals[first]
        s = np.where(is_single[..., np.newaxis], 0.0, self._residuals[second])
        u, v = (d * r - b * s) / det, (a * s - b * r) / det
        values = self._fitted - of_first[:, :, np.newaxis] * u[..., np.newaxis]
        values -= of_second[:, :, np.newaxis] * v[..., np.newaxis]
        return values, exact


class _Hat:
    """Hat matrices of some penalties, column by column."""

    def __init__(self, spectrum: Spectrum, shifted: NDArray[np.float64]) -> None:
        self._spectrum = spectrum
        self._shifted = shifted
        self._known: dict[int, NDArray[np.float64]] = {}

    def columns(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """By row and penalty, its column: how much its target counts at every sample."""
        return np.stack([self._column(row) for row in rows.tolist()])

    def _column(self, row: int) -> NDArray[np.float64]:
        if row not in self._known:
            left, right = self._spectrum.left, self._spectrum.right
            if len(self._known) * len(self._shifted) * len(left) > MOST_COLUMNS:
                self._known.clear()
            column: NDArray[np.float64] = (right[row] / self._shifted) @ left.T
            if self._spectrum.centred:
                column += 1 / len(left)
            self._known[row] = column
        return self._known[row]
