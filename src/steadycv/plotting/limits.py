"""How far a picture reaches, so that one hopeless candidate does not squeeze all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["upper_limit"]


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
