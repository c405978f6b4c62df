"""Averages of members' outputs, and their errors on the rows of each view."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold, ShuffleSplit

from steadycv.averages import Averages, FoldJudge, answers, averages
from steadycv.kept import Heard, KeptOutputs
from steadycv.lattice import Lattice
from steadycv.losses import LOSSES
from steadycv.measures import MeanLoss
from steadycv.scoring import Judging

N = 12
Y = np.random.default_rng(0).normal(size=N)
LATTICE = Lattice(KFold(4).split(range(N)), N)


def heard(lattice, say, candidates=(0, 1), method="predict"):
    kept = KeptOutputs()
    for view in lattice.views:
        rows = lattice.splits[view.split].test
        for training_set in lattice.members(view):
            said = np.array([say(c, training_set, rows) for c in candidates])
            kept.keep(np.array(candidates), Heard(training_set, view.split, method), said)
    return kept


def judge(lattice, y=Y, weight=None):
    measure = MeanLoss.of(LOSSES["squared_error"], y)
    return FoldJudge(Judging(measure, None, 0.0, None, measure.loss, weight, None), lattice)


def test_the_mean_over_members():
    kept = heard(LATTICE, lambda c, training_set, rows: rows + 100.0 * c + 10 * training_set)
    found = averages(kept, LATTICE, np.array([1, 0]), ("predict",), None)
    for view, tables in zip(LATTICE.views, found.by_view, strict=True):
        rows, members = LATTICE.splits[view.split].test, LATTICE.members(view)
        assert len(members) == 3
        expected = rows + 10 * np.mean(members)
        assert_allclose(tables["predict"], [expected + 100, expected])


def test_labels_become_votes():
    labels = np.array(["a", "b"])
    kept = heard(LATTICE, lambda c, training_set, rows: np.full(len(rows), labels[training_set % 2]))
    found = averages(kept, LATTICE, np.array([0]), ("predict",), labels)
    for view, tables in zip(LATTICE.views, found.by_view, strict=True):
        of_b = np.mean([training_set % 2 for training_set in LATTICE.members(view)])
        assert_allclose(tables["votes"][0], [[1 - of_b, of_b]] * 3)
        assert_array_equal(answers(tables, labels)["predict"][0], [labels[int(of_b > 0.5)]] * 3)


def test_ties_go_to_the_first_class():
    tables = {"predict_proba": np.array([[[0.5, 0.5], [0.2, 0.8]]])}
    assert_array_equal(answers(tables, np.array(["a", "b"]))["predict"], [["a", "b"]])


def test_errors_are_those_of_the_rows_of_each_view():
    weight = np.arange(N) % 3 + 1.0
    said = [np.random.default_rng(v).normal(size=(2, 3)) for v in range(4)]
    found = judge(LATTICE, weight=weight).errors(Averages([{"predict": each} for each in said]))
    for view, (rows, each) in enumerate(zip([s.test for s in LATTICE.splits], said, strict=True)):
        expected = np.average((each - Y[rows]) ** 2, axis=1, weights=weight[rows])
        assert_allclose(found[:, view], expected)
    some = judge(LATTICE, weight=weight).errors(Averages([{"predict": e} for e in said]), [2, 0])
    assert_allclose(some, found[:, [2, 0]])


def test_rows_of_several_views():
    lattice = Lattice(ShuffleSplit(6, test_size=0.4, random_state=0).split(range(N)), N)
    rows = [lattice.splits[view.split].test for view in lattice.views]
    said = [np.full((1, len(each)), float(v)) for v, each in enumerate(rows)]
    found = judge(lattice).errors(Averages([{"predict": each} for each in said]))
    assert_allclose(found[0], [np.mean((v - Y[each]) ** 2) for v, each in enumerate(rows)])


def test_mixtures():
    made = Averages([{"predict": np.array([[1.0, 2.0], [3.0, 6.0]])}])
    assert_allclose(made.mixed(np.array([3.0, 1.0])).by_view[0]["predict"], [[1.5, 3.0]])
    total = made.only([0]).plus(made.only([1]))
    assert_allclose(total.by_view[0]["predict"], [[4.0, 8.0]])
    assert_allclose(
        made.and_one_more(total, 2).by_view[0]["predict"], [[5 / 3, 10 / 3], [7 / 3, 14 / 3]]
    )
    assert (len(made), made.n_bytes, len(made.joined(made))) == (2, 32, 4)
