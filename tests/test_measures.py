"""Measures: means that do not depend on company, losses that are refused, and what is not defined."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import get_scorer
from sklearn.model_selection import KFold

from steadycv.lattice import Lattice
from steadycv.losses import LOSSES
from steadycv.measures import MeanLoss, Rows, SampleScores, Scored
from steadycv.outputs import ModelsOfPath
from steadycv.scores import BEYOND, find_score
from steadycv.scoring import Scores

N = 101
RNG = np.random.default_rng(0)
Y = RNG.normal(size=N)
WEIGHT = RNG.uniform(size=N)
LATTICE = Lattice(KFold(3).split(range(N)), N)
SOME = {"few": np.arange(0, N, 7), "most": np.arange(5, N), "all": np.arange(N)}
SQUARED = MeanLoss.of(LOSSES["squared_error"], Y)


def says(numbers):
    return ModelsOfPath({"predict": np.atleast_2d(numbers)}, np.arange(N))


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
@pytest.mark.parametrize("rows", SOME.values(), ids=SOME)
def test_mean_is_the_weighted_mean(rows, weight):
    table = RNG.exponential(size=(4, N))
    expected = np.average(table[:, rows], axis=1, weights=None if weight is None else weight[rows])
    assert Rows(rows, weight, N).mean(table) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
@pytest.mark.parametrize("rows", SOME.values(), ids=SOME)
@pytest.mark.parametrize("n_models", [1, 2, 3, 17, 64])
def test_no_bit_depends_on_who_else_is_there(n_models, rows, weight):
    table, mean = RNG.exponential(size=(64, N)), Rows(rows, weight, N).mean
    alone = np.concatenate([mean(row[np.newaxis]) for row in table])
    for block in (table[:n_models], table[::-1][:n_models][::-1], table[:, ::-1][:, ::-1][:n_models]):
        expected = alone[:n_models] if block[0, 0] == table[0, 0] else alone[64 - n_models :]
        assert_array_equal(mean(block), expected)
        assert_array_equal(mean(np.asfortranarray(block)), expected)
    others = np.repeat(table[:1], n_models, axis=0)
    assert_array_equal(mean(others), np.repeat(alone[0], n_models))


@pytest.mark.parametrize("n_samples", [4096, 9000, 20_001])
def test_no_bit_depends_on_company_in_long_rows(n_samples):
    table = RNG.exponential(size=(19, n_samples))
    mean = Rows(np.arange(n_samples), None, n_samples).mean
    assert_array_equal(np.concatenate([mean(row[np.newaxis]) for row in table]), mean(table))
    assert mean(table) == pytest.approx(table.mean(axis=1), rel=1e-13)


def test_infinity_counts_where_it_is_looked_at():
    table = np.ones((3, 10))
    table[1, 0] = table[2, 5] = np.inf
    for rows in (np.arange(1, 10), np.array([4, 5, 6]), np.array([5, 5, *range(1, 9)])):
        assert_array_equal(Rows(rows, None, 10).mean(table), [1.0, 1.0, np.inf])


def test_mean_of_what_is_not_known():
    table = np.ones((2, N))
    table[1, 3] = np.nan
    assert_array_equal(Rows(np.arange(5), None, N).mean(table), [1.0, np.inf])


def test_rows_that_come_twice_count_twice():
    table = np.arange(4.0)[np.newaxis]
    assert Rows(np.array([0, 3, 3]), None, 4).mean(table) == [2.0]
    assert Rows(np.array([3, 3]), None, 100).mean(np.arange(100.0)[np.newaxis]) == [3.0]


def test_errors_and_changes_of_a_mean_loss():
    numbers = RNG.normal(size=(2, N))
    losses = SQUARED.losses(says(numbers), LATTICE)
    assert_array_equal(losses, (numbers - Y) ** 2)
    rows = Rows(SOME["few"], None, N)
    errors = SQUARED.errors(says(numbers), losses, rows).errors
    assert errors == pytest.approx(losses[:, SOME["few"]].mean(axis=1))
    change = SQUARED.change(losses[:1], losses[1:], 0, rows)
    assert change == pytest.approx(np.abs(losses[0] - losses[1])[SOME["few"]].mean())


def test_one_model_has_the_losses_that_it_has_among_others():
    numbers = RNG.normal(size=(5, N))
    together = SQUARED.losses(says(numbers), LATTICE)
    for i, row in enumerate(numbers):
        assert_array_equal(SQUARED.losses(says(row), LATTICE)[0], together[i])


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (lambda y, p: y * np.nan, "101 losses are not finite"),
        (lambda y, p: p - 1, "a loss must not be negative, got -1"),
        (lambda y, p: 1.0, r"an array of shape \(\)"),
        (lambda y, p: p[:-1], r"an array of shape \(100,\)"),
    ],
)
def test_losses_that_are_none(loss, message):
    with pytest.raises(ValueError, match=message):
        MeanLoss.of(loss, Y).losses(says(np.zeros(N)), LATTICE)


def test_targets_of_probabilities():
    measure = MeanLoss.of(LOSSES["log_loss"], np.array([["b"], ["a"], ["b"]], dtype=object))
    assert_array_equal(measure.y, [1, 0, 1])
    with pytest.raises(ValueError, match="needs a y with one column, got shape"):
        MeanLoss.of(LOSSES["brier"], np.zeros((3, 2)))


def test_what_is_asked_for():
    assert SQUARED.methods(None) == [("predict",)]
    assert MeanLoss.of(LOSSES["log_loss"], Y > 0).methods(None) == [("predict_proba",)]
    assert SampleScores().methods(None) == [("score_samples",)]
    scored = Scored(scores_of("roc_auc", Y > 0), "roc_auc", None)
    assert scored.methods(None) == [("decision_function", "predict_proba")]


def scores_of(name, y, **how):
    return Scores(np.zeros((N, 1)), y, common={name: find_score(get_scorer(name))}, **how)


def test_score_is_the_error_and_the_loss_the_change():
    measure = Scored(scores_of("r2", Y), "r2", SQUARED)
    models = says(RNG.normal(size=(2, N)))
    rows = Rows(SOME["most"], None, N)
    losses = measure.losses(models, LATTICE)
    found = measure.errors(models, losses, rows)
    assert_array_equal(found.errors, -found.scores["r2"])
    assert_array_equal(
        measure.change(losses[:1], losses[1:], 0, rows), SQUARED.change(losses[:1], losses[1:], 0, rows)
    )
    assert measure.n_losses(LATTICE) == N


def test_score_is_the_change_where_there_is_no_loss():
    measure = Scored(scores_of("r2", Y), "r2", None)
    models = says(RNG.normal(size=(2, N)))
    losses = measure.losses(models, LATTICE)
    assert losses.shape == (2, measure.n_losses(LATTICE)) == (2, 4)  # all data, and three folds less
    on_all = measure.errors(models, losses, Rows(np.arange(N), None, N)).errors
    assert_array_equal(losses[:, 0], on_all)
    assert_array_equal(measure.change(losses[:1], losses[1:], 0, None), [abs(on_all[0] - on_all[1])])


class SomeScores:
    """Scores as they are told."""

    def __init__(self, *values):
        self.values = np.array(values)

    def of(self, models, rows, failed):
        return {"own": self.values}, {}


def test_scores_that_are_no_numbers():
    measure = Scored(SomeScores(0.5, np.nan, np.inf, BEYOND, -np.inf, 0.7), "own", SQUARED)
    losses = np.zeros((6, N))
    losses[5] = np.nan  # the model failed
    found = measure.errors(says(np.zeros((6, N))), losses, Rows(np.arange(N), None, N))
    assert_array_equal(found.errors, [-0.5, -np.inf, np.inf, -np.inf, -np.inf, np.inf])


def test_change_of_scores_that_are_no_numbers():
    measure = Scored(SomeScores(), "own", None)
    scores, others = np.array([[-np.inf], [1.0], [2.0]]), np.array([[-np.inf], [-np.inf], [5.0]])
    assert_array_equal(measure.change(scores, others, 0, None), [np.inf, np.inf, 3.0])


def test_what_is_not_defined():
    weight = np.ones(N)
    weight[:5] = 0
    assert SQUARED.undefined(Rows(np.arange(9), weight, N)) is None
    assert SQUARED.undefined(Rows(np.arange(5), weight, N)) == "their sample weights sum to 0"
    auc = Scored(scores_of("roc_auc", Y > 0), "roc_auc", None)
    assert auc.undefined(Rows(np.flatnonzero(Y > 0), None, N)) == (
        "roc_auc is not defined there: samples of one class only (stratified, shuffled or larger test "
        "sets have more)"
    )
    assert auc.undefined(Rows(np.arange(N), None, N)) is None
