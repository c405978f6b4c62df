"""Arrays as what they mean."""

import numpy as np

from steadycv._arrays import one_column, plain


def test_objects_become_what_they_are():
    assert plain(np.array(["a", "bc"], dtype=object)).dtype.kind == "U"
    assert plain(np.array([1, 2], dtype=object)).dtype.kind == "i"


def test_other_arrays_are_left_alone():
    numbers = np.zeros(3)
    assert plain(numbers) is numbers


def test_one_column_is_a_vector():
    assert one_column(np.zeros((3, 1))).shape == (3,)
    assert one_column(np.zeros((3, 2))).shape == (3, 2)
