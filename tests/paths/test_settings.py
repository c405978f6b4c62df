"""When settings are equal, and in what."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from steadycv.paths.settings import alike, key_of, together


def test_order_of_names():
    assert key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})


@pytest.mark.parametrize("other", [1.0, True, "1", None, np.int64(1)])
def test_values_of_different_types(other):
    assert key_of({"a": 1}) != key_of({"a": other})


def test_objects_are_equal_to_themselves_only():
    model, values = Ridge(), np.ones(3)
    assert key_of({"a": model, "b": values}) == key_of({"a": model, "b": values})
    assert key_of({"a": model}) != key_of({"a": Ridge()})


def test_what_may_differ():
    assert key_of({"a": 1, "b": 2}, but=["a"]) == key_of({"a": 5, "b": 2}, but=["a"])
    assert key_of({"a": 1, "b": 2}, but=["a"]) != key_of({"b": 2}, but=["a"])


def test_keys_are_hashable():
    assert isinstance(hash(key_of({"a": [1], "b": Ridge(), "c": np.ones(2)})), int)


def test_alike():
    settings = [{"a": 1, "b": 1}, {"a": 1, "b": 2}, {"a": 2, "b": 1}]
    assert alike(settings) == [[0], [1], [2]]
    assert alike(settings, but=["b"]) == [[0, 1], [2]]


def test_together():
    assert together("abca") == [[0, 3], [1], [2]]
