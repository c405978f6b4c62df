import numpy as np
import pytest

from steadycv.experiments.bootstrap import mean_ratio, resamples, standard_error

RNG = np.random.default_rng(0)


def test_standard_error_of_a_mean():
    values = RNG.normal(size=50)
    assert standard_error(values) == pytest.approx(values.std() / np.sqrt(50), rel=0.06)


def test_ratio_by_hand():
    above = [np.array([1.0, 3.0]), np.array([6.0, 10.0, 8.0])]
    below = [np.array([1.0, 1.0]), np.array([1.0, 1.5, 0.5])]
    assert mean_ratio(above, below).value == pytest.approx(4.0)  # of 2 and 8


def test_methods_are_paired():
    values = RNG.uniform(1, 100, size=30)
    ratio = mean_ratio([1.1 * values], [values])
    assert [ratio.value, ratio.low, ratio.high] == pytest.approx([1.1] * 3)
    assert ratio.standard_error == pytest.approx(0, abs=1e-12)


def test_data_sets_are_resampled_independently():
    values = 1 + 0.1 * RNG.normal(size=40)
    ones = np.ones(40)
    one = mean_ratio([values], [ones])
    four = mean_ratio([values] * 4, [ones] * 4)
    assert one.standard_error == pytest.approx(values.std() / np.sqrt(40), rel=0.06)
    assert four.standard_error == pytest.approx(one.standard_error / 2, rel=0.06)


def test_interval_for_new_data_sets_sees_how_they_differ():
    ones = np.ones(20)
    ratio = mean_ratio([0.5 * ones, 2 * ones], [ones, ones])
    assert ratio.low == ratio.high == pytest.approx(1)
    assert (ratio.far_low, ratio.far_high) == pytest.approx((0.5, 2))


def test_resamples():
    assert np.array_equal(resamples(7), resamples(7))
    assert not np.array_equal(resamples(7), resamples(7, seed=1))
    assert np.bincount(resamples(3).ravel()).min() > 1800
