"""Outputs that are looked up are those that are written out."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from steadycv.outputs import ModelsOfPath
from steadycv.paths.looked_up import LookedUp

RNG = np.random.default_rng(0)
ENDS = np.array([[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 2, 3]])
PLACE = RNG.integers(0, 4, size=20).astype(np.uint8)
ROWS = np.array([3, 0, 17])


@pytest.mark.parametrize("value", [RNG.normal(size=4), RNG.normal(size=(4, 2)), np.array(list("abcd"))])
def test_looked_up_as_written_out(value):
    outputs, expected = LookedUp(value, ENDS, PLACE), value[ENDS][:, PLACE]
    assert len(outputs) == 3
    assert_array_equal(outputs, expected)
    assert_array_equal(outputs[1], expected[1])
    assert_array_equal(outputs[2, ROWS], expected[2, ROWS])
    assert_array_equal(outputs[1:, ROWS], expected[1:, ROWS])
    assert_array_equal(outputs[1:], expected[1:])
    assert_array_equal(outputs[np.array([True, False, True])], expected[[0, 2]])
    assert_array_equal(outputs.on(ROWS), expected[:, ROWS])


def test_models_say_what_is_looked_up():
    classes, known = np.array(["a", "b", "c"]), np.array(["a", "c"])
    shares = RNG.dirichlet([1, 1], size=4)
    labels = known.astype(object)[shares.argmax(axis=1)]
    values = {"predict_proba": shares, "predict": labels}
    looked_up = {method: LookedUp(value, ENDS, PLACE) for method, value in values.items()}
    written = {method: np.asarray(said) for method, said in looked_up.items()}
    one, other = (
        ModelsOfPath(said, ROWS, classes=classes, known=known) for said in (looked_up, written)
    )
    assert one.are_looked_up
    assert not other.are_looked_up
    for method in looked_up:
        assert_array_equal(one.says((method,)), other.says((method,)))
        assert_array_equal(one.says((method,), ROWS), other.says((method,), ROWS))
        assert_array_equal(one.only(1).says((method,)), other.only(1).says((method,)))
        assert_array_equal(one.kept(method, ROWS), other.kept(method, ROWS))
        assert_array_equal(getattr(one.model(2, ROWS).about(0), method)(0), written_of(other, method))


def written_of(models, method):
    return getattr(models.model(2, ROWS).about(0), method)(0)
