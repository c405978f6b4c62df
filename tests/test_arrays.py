"""Arrays as what they mean."""

from decimal import Decimal
from fractions import Fraction

import numpy as np

from steadycv._arrays import one_column, plain


def test_objects_become_what_they_are():
    assert plain(np.array(["a", "bc"], dtype=object)).dtype.kind == "U"
    assert plain(np.array([1, 2], dtype=object)).dtype.kind == "i"
    assert plain(np.array([Decimal("0.5"), Fraction(1, 4), 2])).tolist() == [0.5, 0.25, 2.0]
    assert plain(np.array([1, None], dtype=object)).dtype == object


def test_other_arrays_are_left_alone():
    numbers = np.zeros(3)
    assert plain(numbers) is numbers


def test_one_column_is_a_vector():
    assert one_column(np.zeros((3, 1))).shape == (3,)
    assert one_column(np.zeros((3, 2))).shape == (3, 2)
