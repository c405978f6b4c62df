"""Arrays that come in other shapes or types than they mean."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def plain(array: NDArray[Any]) -> NDArray[Any]:
    """Numbers or text that came as objects, as what they are; decimals and fractions as floats."""
    if array.dtype != object:
        return array
    found = np.array(array.tolist())
    is_number = found.dtype == object and all(isinstance(v, Real | Decimal) for v in found.flat)
    return found.astype(np.float64) if is_number else found


def one_column(array: NDArray[Any]) -> NDArray[Any]:
    """A column as a vector, so that it is not spread against one."""
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
