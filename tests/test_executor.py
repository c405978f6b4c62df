"""The executor: every task once, cells in the order of a task, by every backend."""

from dataclasses import replace

import joblib
import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

from steadycv import executor
from steadycv.engines.protocol import Died
from steadycv.executor import Executor
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
TASKS = [
    Task(
        np.array([c]), [{"alpha": 1.0 + c}], [np.array([0])], [3, 1, 0], path=SEPARATE, estimator=Ridge()
    )
    for c in range(5)
]


def run(n_jobs=None, tasks=TASKS, engine=None):
    with Executor(n_jobs, engine=engine) as executor:
        found = [
            (
                int(task.candidates[0]),
                cells.training_sets[0],
                is_last,
                {e: v[0] for e, v in cells.errors.items()},
            )
            for task, cells, is_last in executor.run(PROBLEM, tasks)
        ]
    return sorted(found, key=lambda each: each[0])


def run_here():
    """By no engine at all."""
    found = [
        (
            int(task.candidates[0]),
            cells.training_sets[0],
            cells.training_sets[0] == 0,
            {e: v[0] for e, v in cells.errors.items()},
        )
        for task in TASKS
        for cells in run_task(PROBLEM, task)
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

    cells = Executor(pre_dispatch="all").run(PROBLEM, tasks())
    next(cells)
    assert len(drawn) == 1


def test_number_of_workers():
    assert Executor().n_workers == 1
    assert Executor(2).n_workers == 2
    with joblib.parallel_config("threading", n_jobs=3):
        assert Executor().n_workers == 3


class Unreliable:
    """An engine whose worker dies as often as a task's candidate says."""

    shares = is_far = False
    n_workers = 1

    def __init__(self, deaths):
        self.deaths = deaths
        self.together = []

    def run(self, jobs):
        jobs = list(jobs)
        self.together.append(len(jobs))
        for task, _, problem, prepared in jobs:
            candidate = int(task.candidates[0])
            self.deaths[candidate] -= 1
            dies = self.deaths[candidate] >= 0
            left = Died("Of hunger.") if dies else run_task(problem, task.with_prepared(prepared))
            yield task, left if dies else list(left)

    def close(self):
        pass


def test_what_died_is_done_again_together_and_then_one_by_one(monkeypatch):
    engine = Unreliable([0, 1, 2, 2, 9])
    monkeypatch.setattr(executor, "find_engine", lambda *_: engine)
    with pytest.warns(UserWarning, match="4 tasks were done again, as their worker died"):
        found = run()
    assert engine.together == [5, 4, 1, 1, 1]
    assert found[:12] == run_here()[:12]
    assert all(error == np.inf for _, _, _, errors in found[12:] for error in errors.values())


@pytest.mark.filterwarnings("ignore:.* tasks were done again")
def test_where_errors_end_the_search_it_says_whose_worker_died(monkeypatch):
    monkeypatch.setattr(executor, "find_engine", lambda *_: Unreliable([0, 0, 0, 0, 9]))
    raising = replace(PROBLEM, error_score="raise")
    with Executor() as made, pytest.raises(RuntimeError, match=r"3 times .*Of hunger.*'alpha': 5.0"):
        list(made.run(raising, TASKS))


WHOLE = Task(np.arange(2), [{}, {}], [np.arange(2)], [0, 1, 2, 3], path=SEPARATE, estimator=Ridge())


@pytest.mark.parametrize(
    ("n_workers", "one_by_one", "n_tasks", "n_parts"),
    [(None, False, 1, 1), (None, True, 1, 4), (2, False, 1, 4), (2, False, 4, 4), (2, True, 4, 16)],
)
def test_training_sets_apart(n_workers, one_by_one, n_tasks, n_parts):
    with Executor(n_workers) as made:
        parts = list(made.parted([WHOLE] * n_tasks, n_losses=9, one_by_one=one_by_one))
    assert len(parts) == n_parts
    assert sum(len(part.training_sets) for part in parts) == 4 * n_tasks


def test_far_workers_send_losses_where_fits_are_slow(monkeypatch):
    engine = Unreliable([0] * 5)
    engine.is_far = True
    engine.check = lambda versions: None
    monkeypatch.setattr(executor, "find_engine", lambda *_: engine)
    with Executor() as made:
        assert len(list(made.parted([WHOLE] * 4, n_losses=10**6, one_by_one=False))) == 16
        list(made.run(PROBLEM, TASKS))  # quick ones, by which it knows
        assert len(list(made.parted([WHOLE] * 4, n_losses=10**6, one_by_one=False))) == 4
        made._seconds *= 1e9
        assert len(list(made.parted([WHOLE] * 4, n_losses=10**6, one_by_one=False))) == 16
