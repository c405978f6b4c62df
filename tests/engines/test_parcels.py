"""Parcels: what is in them comes out, X is in one of them only, and nothing is opened twice."""

import warnings

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

from steadycv.engines.parcels import MOST_OPENED, Errand, Parcel, Refused, other_versions, run_job
from steadycv.lattice import Lattice
from steadycv.losses import LOSSES
from steadycv.measures import MeanLoss
from steadycv.paths.separate import SEPARATE
from steadycv.scoring import Judging
from steadycv.tasks import Problem, Task, run_task

X = np.random.default_rng(0).normal(size=(12, 2))
LATTICE = Lattice(KFold(3).split(X), 12)
MEASURE = MeanLoss.of(LOSSES["squared_error"], X[:, 0])
PROBLEM = Problem(
    Ridge(), X, X[:, 0], LATTICE, Judging(MEASURE, None, 0.0, None, MEASURE.loss, None, None)
)
TASK = Task(np.arange(1), [{"alpha": 2.0}], [np.arange(1)], [0, 1], path=SEPARATE, estimator=Ridge())


def test_what_is_in_it_comes_out():
    parcel = Parcel.of({"a": X, "b": "text"})
    np.testing.assert_array_equal(parcel.opened()["a"], X)
    assert parcel.opened() is parcel.opened()


def test_x_is_in_one_parcel_only():
    large = np.zeros(10_000)
    parcel = Parcel.of([large, "and more"], large)
    assert len(parcel.header) + sum(map(len, parcel.buffers)) < 1000
    other = np.ones(3)
    assert parcel.opened(other)[0] is other


def test_those_that_were_not_asked_for_as_long_are_let_go():
    first, often = Parcel.of(["first"]), Parcel.of(["often"])
    kept, gone = often.opened(), first.opened()
    for number in range(MOST_OPENED):
        Parcel.of([number]).opened()
        assert often.opened() is kept
    assert first.opened() is not gone


def test_functions_without_a_name():
    assert Parcel.of(lambda x: 2 * x).opened()(3) == 6


def test_what_cannot_be_sent_is_told():
    with pytest.raises(TypeError, match=r"cannot be sent to workers: .*n_jobs=1"):
        Parcel.of(each for each in "abc")


def test_a_job_is_the_task():
    parcels = Parcel.of(X), Parcel.of(Errand.of(PROBLEM, {}), X)
    for found, cells in zip(run_job(TASK, *parcels, None), run_task(PROBLEM, TASK), strict=True):
        assert found.training_sets == cells.training_sets
        assert found.errors == cells.errors


def test_a_job_that_nobody_wants_any_more_ends_between_two_fits():
    parcels = Parcel.of(X), Parcel.of(Errand.of(PROBLEM, {}), X)
    assert run_job(TASK, *parcels, None, is_wanted=lambda: False) == []


def test_settings_of_scikit_learn_travel():
    class Asks(Ridge):
        def fit(self, X, y):
            assert sklearn.get_config()["assume_finite"]
            return super().fit(X, y)

    task = Task(np.arange(1), [{}], [np.arange(1)], [0], path=SEPARATE, estimator=Asks())
    problem = Problem(Asks(), X, X[:, 0], LATTICE, PROBLEM.judging)
    with sklearn.config_context(assume_finite=True):
        errand = Parcel.of(Errand.of(problem, {}), X)
    [cells] = run_job(task, Parcel.of(X), errand, None)
    assert not cells.failures


def test_filters_of_warnings_travel_where_their_kind_is_everywhere():
    class Mine(UserWarning):
        pass

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Mine)
        warnings.simplefilter("ignore", ConvergenceWarning)
        kinds = {each[2] for each in Errand.of(PROBLEM, {}).filters}
    assert ConvergenceWarning in kinds
    assert Mine not in kinds


def test_other_versions():
    assert other_versions({"numpy": np.__version__}) == ""
    assert other_versions({"numpy": "0.1", "no-such-package": "2"}) == (
        f"numpy {np.__version__} for 0.1, no-such-package (not installed) for 2"
    )


def test_a_worker_with_other_versions_refuses():
    errand = Parcel.of(Errand.of(PROBLEM, {"numpy": "0.1"}), X)
    assert run_job(TASK, Parcel.of(X), errand, None) == Refused(other_versions({"numpy": "0.1"}))
