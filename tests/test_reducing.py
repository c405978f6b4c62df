"""Reducing: outputs of a training set become the ledger's cells, and failures stay their own."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import get_scorer, r2_score
from sklearn.model_selection import KFold

from steadycv.lattice import Lattice
from steadycv.losses import LOSSES
from steadycv.measures import MeanLoss
from steadycv.outputs import ModelsOfPath
from steadycv.reducing import Fit, Keep, Reducer
from steadycv.scores import find_score
from steadycv.scoring import Judging, Scores

N = 12
Y = np.random.default_rng(0).uniform(1, 2, size=N)
SAID = np.random.default_rng(1).uniform(1, 2, size=(3, N))
LATTICE = Lattice(KFold(3).split(range(N)), N)


def reduced(training_set, said=SAID, *, loss="squared_error", failures=None, raises=False, **how):
    measure = MeanLoss.of(LOSSES[loss], Y)
    r2 = Scores(np.zeros((N, 1)), Y, common={"r2": find_score(get_scorer("r2"))})
    judging = Judging(measure, how.pop("name", None), 0.0, r2, measure.loss, None, None)
    reducer = Reducer(judging, LATTICE, how.pop("keep", Keep()), train_scores=how.pop("train", False))
    models = None if said is None else ModelsOfPath({"predict": said}, LATTICE.rows(training_set))
    fit = Fit(models, 3, failures or {}, 0.6)
    return reducer.reduce(training_set, fit, raises=raises)


def test_errors_of_every_evaluation():
    cells, losses = reduced(1)
    assert_array_equal(losses, (SAID - Y) ** 2)
    assert sorted(cells.errors) == LATTICE.evaluations_of[1]
    for evaluation, errors in cells.errors.items():
        rows = LATTICE.row_sets[LATTICE.evaluations[evaluation].row_set]
        assert errors == pytest.approx(losses[:, rows].mean(axis=1))
    assert cells.fit_time == pytest.approx(0.2)
    assert cells.failures == cells.kept == cells.train_scores == {}


def test_scores_of_splits_only():
    cells, _ = reduced(2, train=True, name="score")
    test, train = LATTICE.splits[1].test, LATTICE.splits[1].train
    expected = [r2_score(Y[test], said[test]) for said in SAID]
    assert cells.test_scores["r2", 1] == pytest.approx(expected)
    assert cells.train_scores["r2", 1] == pytest.approx([r2_score(Y[train], s[train]) for s in SAID])
    assert_array_equal(cells.test_scores["score", 1], -cells.errors[1])
    assert not reduced(0)[0].test_scores
    assert not reduced(4)[0].test_scores


def test_outputs_are_kept():
    cells, _ = reduced(3, keep=Keep(("predict",)))
    assert_array_equal(cells.kept[2, "predict"], SAID[:, LATTICE.splits[2].test])
    assert not reduced(0, keep=Keep(("predict",)))[0].kept


def test_outputs_of_members_are_kept_where_their_views_are_judged():
    cells, _ = reduced(4, keep=Keep(("predict",), of_members=True))
    assert LATTICE.name(4) == "split 1 inside split 0"
    assert sorted(cells.kept) == [(0, "predict"), (1, "predict")]
    assert_array_equal(cells.kept[1, "predict"], SAID[:, LATTICE.splits[1].test])


def test_one_of_them_spoils_nothing_but_its_own():
    said = SAID.copy()
    said[1, 3] = -1.0
    cells, losses = reduced(1, said, loss="poisson_deviance", name="score", keep=Keep(("predict",)))
    expected, expected_losses = reduced(1, SAID, loss="poisson_deviance", name="score")
    assert list(cells.failures) == [1]
    assert "predictions above 0" in cells.failures[1]
    assert np.isnan(losses[1]).all()
    assert_array_equal(losses[[0, 2]], expected_losses[[0, 2]])
    for evaluation, errors in cells.errors.items():
        assert_array_equal(errors[[0, 2]], expected.errors[evaluation][[0, 2]])
        assert errors[1] == np.inf
    assert cells.test_scores["score", 0][1] == cells.test_scores["r2", 0][1] == np.inf


def test_or_all_if_asked():
    with pytest.raises(ValueError, match="predictions above 0"):
        reduced(1, -SAID, loss="poisson_deviance", raises=True)


def test_nothing_was_fitted():
    cells, losses = reduced(
        1, None, failures={0: "a", 1: "b", 2: "c"}, name="score", keep=Keep(("predict",))
    )
    assert np.isnan(losses).all()
    assert all((errors == np.inf).all() for errors in cells.errors.values())
    assert_array_equal(cells.test_scores["score", 0], [np.inf] * 3)
    assert cells.score_time == 0.0
    assert not cells.kept
