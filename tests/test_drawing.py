"""What is drawn is scikit-learn's, or even, or lines."""

import numpy as np
import pytest
from scipy.stats import expon, loguniform, randint, uniform
from sklearn.model_selection import ParameterSampler

from steadycv.drawing import draw, draw_lines

SPACES = [
    {"a": uniform(0, 1), "b": [1, 2, 3], "c": randint(5, 9)},
    {"a": range(5), "b": ["x", "y", "z"]},
    [{"a": loguniform(1e-3, 1e3)}, {"b": [1, 2]}, {}],
]


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("n_iter", [1, 7])
def test_random_draws_are_scikit_learns(space, n_iter):
    assert draw(space, n_iter, random_state=3) == list(ParameterSampler(space, n_iter, random_state=3))


@pytest.mark.parametrize("sampler", ["sobol", "latin"])
@pytest.mark.parametrize("n_iter", [1, 16, 19])
def test_even_draws_have_one_value_in_each_part_of_an_axis(sampler, n_iter):
    space = {"a": uniform(0, 1), "b": loguniform(1e-4, 1e4), "c": randint(0, 16)}
    found = draw(space, n_iter, sampler=sampler, random_state=0)
    assert len(found) == n_iter
    n_parts = n_iter if sampler == "latin" else 1 << (n_iter.bit_length() - 1)  # Sobol's first 2^m
    columns = {
        "a": np.array([each["a"] for each in found]),
        "b": np.log10([each["b"] for each in found]) / 8 + 0.5,
    }
    for values in columns.values():
        assert len(set((values[:n_parts] * n_parts).astype(int).tolist())) == n_parts
    assert {type(each["c"]) for each in found} == {int}


@pytest.mark.parametrize("sampler", ["sobol", "latin"])
def test_even_draws_from_lists_have_all_values_and_each_candidate_once(sampler):
    found = draw({"a": range(4), "b": ["x", "y"]}, 64, sampler=sampler, random_state=0)
    assert len(found) == 8
    assert {(each["a"], each["b"]) for each in found} == {(a, b) for a in range(4) for b in "xy"}


@pytest.mark.parametrize("sampler", ["random", "sobol", "latin"])
def test_each_dict_of_a_list_is_drawn_from(sampler):
    found = draw([{"a": uniform(0, 1)}, {"b": expon()}], 32, sampler=sampler, random_state=0)
    names = [tuple(each) for each in found]
    assert set(names) == {("a",), ("b",)}
    assert sampler == "random" or names.count(("a",)) == 16
    assert all(np.isfinite(list(each.values())).all() for each in found)


@pytest.mark.parametrize("sampler", ["random", "sobol", "latin"])
@pytest.mark.parametrize("make", [int, np.random.RandomState])
def test_a_seed_gives_the_same_draws(sampler, make):
    first, again, other = (draw(SPACES[0], 9, sampler=sampler, random_state=make(s)) for s in (1, 1, 2))
    assert first == again != other


def test_a_distribution_without_quantiles_can_only_be_drawn_from():
    class Drawn:
        def rvs(self, random_state):
            return random_state.uniform()

    assert len(draw({"a": Drawn()}, 3, random_state=0)) == 3
    with pytest.raises(ValueError, match="Only sampler='random' draws from distributions without"):
        draw({"a": Drawn()}, 3, sampler="sobol")


@pytest.mark.parametrize("sampler", ["random", "sobol", "latin"])
def test_candidates_of_a_line_differ_in_the_free_parameters_alone(sampler):
    space = [{"a": uniform(0, 1), "n": uniform(0, 9), "m": range(3)}, {"b": uniform(0, 1)}]
    found = draw_lines(space, 10, 4, ["n", "m"], sampler=sampler, random_state=0)
    lines = {}
    for each in found:
        lines.setdefault((each.get("a"), each.get("b")), []).append(each)
    assert len(lines) == 10
    for (a, _), line in lines.items():
        assert len(line) == (1 if a is None else 4)
        assert len({each["n"] for each in line if a is not None}) == (0 if a is None else 4)
    assert found == [each for line in lines.values() for each in line]  # one after the other


def test_lines_of_lists_are_drawn_without_replacement():
    found = draw_lines({"a": [1, 2], "n": range(5)}, 9, 9, ["n"], random_state=0)
    assert sorted((each["a"], each["n"]) for each in found) == [(a, n) for a in (1, 2) for n in range(5)]


def test_where_all_parameters_are_free_there_is_one_line():
    assert len(draw_lines({"n": uniform(0, 1)}, 10, 6, ["n"], random_state=0)) == 6
