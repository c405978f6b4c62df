"""The executor: every task once, cells in the order of a task, by every backend."""

import joblib
import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

from steadycv.executor import Executor
from steadycv.lattice import Lattice
from steadycv.losses import LOSSES
from steadycv.measures import MeanLoss
from steadycv.paths.separate import SEPARATE
from steadycv.scoring import Judging
from steadycv.tasks import Problem, Task

X = np.random.default_rng(0).normal(size=(12, 2))
LATTICE = Lattice(KFold(3).split(X), 12)
MEASURE = MeanLoss.of(LOSSES["squared_error"], X[:, 0])
PROBLEM = Problem(
    Ridge(), X, X[:, 0], LATTICE, Judging(MEASURE, None, 0.0, None, MEASURE.loss, None, None)
)
TASKS = [
    Task(
        np.array([c]), [{"alpha": 1.0 + c}], [np.array([0])], [3, 1, 0], path=SEPARATE, estimator=Ridge()
    )
    for c in range(5)
]


def run(n_jobs=None, tasks=TASKS):
    found = [
        (
            int(task.candidates[0]),
            cells.training_sets[0],
            is_last,
            {e: v[0] for e, v in cells.errors.items()},
        )
        for task, cells, is_last in Executor(n_jobs, "2*n_jobs").run(PROBLEM, tasks)
    ]
    return sorted(found, key=lambda each: each[0])


def test_one_after_the_other():
    found = run()
    assert [each[:3] for each in found] == [
        (c, training_set, training_set == 0) for c in range(5) for training_set in (3, 1, 0)
    ]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")  # Python 3.12 on, of fork
@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
def test_in_parallel(backend):
    with joblib.parallel_config(backend):
        assert run(n_jobs=2) == run()


def test_it_does_not_wait_for_the_end():
    drawn = []

    def tasks():
        for task in TASKS:
            drawn.append(task)
            yield task

    cells = Executor(None, "all").run(PROBLEM, tasks())
    next(cells)
    assert len(drawn) == 1


def test_number_of_workers():
    assert Executor(None, 1).n_workers == 1
    assert Executor(2, 1).n_workers == 2
    with joblib.parallel_config("threading", n_jobs=3):
        assert Executor(None, 1).n_workers == 3
