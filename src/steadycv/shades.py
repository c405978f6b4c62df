"""Errors as shades of a heat map, and how far a picture reaches.

One hopeless candidate is not to squeeze all others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["N_SHADES", "shades_of", "upper_limit"]

N_SHADES = 9  # from the best, see colors.py


def upper_limit(values: NDArray[np.float64], must_show: ArrayLike = ()) -> float:
    """The largest value that is no outlier, or that must be shown.

    Examples
    --------
    >>> upper_limit(np.array([1.0, 2.0, 3.0, 4.0])), upper_limit(np.array([1.0, 2.0, 3.0, 4e6]))
    (4.0, 3.0)
    """
    quarter, three_quarters = np.quantile(values, [0.25, 0.75], method="lower")
    reach = three_quarters + 3 * (three_quarters - quarter)
    return float(np.max(np.append(values[values <= reach], must_show)))


def shades_of(error: NDArray[np.float64], low: float, top: float) -> NDArray[np.intp]:
    """The shade of each error, from 0 for the best; -1 where nothing is known.

    The square root leaves more shades for the good candidates, which are the ones to compare.

    Examples
    --------
    >>> shades_of(np.array([1.0, 1.1, 2.0, np.nan]), low=1.0, top=2.0).tolist()
    [0, 2, 8, -1]
    """
    share = np.sqrt(np.clip((error - low) / (top - low), 0, 1)) if top > low else error * 0
    shades = np.minimum(np.nan_to_num(share) * N_SHADES, N_SHADES - 1)
    return np.where(np.isnan(share), -1, shades).astype(np.intp)
