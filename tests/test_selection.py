"""Selection: one loop for all weights and views, and outputs of those that may still be chosen."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

from steadycv.candidates import Grid
from steadycv.executor import Executor
from steadycv.failures import Failures
from steadycv.kept import Heard, KeptOutputs
from steadycv.lattice import Lattice
from steadycv.ledger import Ledger
from steadycv.losses import LOSSES
from steadycv.measures import MeanLoss
from steadycv.planning import Planner
from steadycv.reducing import Keep
from steadycv.scoring import Judging
from steadycv.selection import Selector, State
from steadycv.strategies import exhaustive
from steadycv.tasks import Problem
from steadycv.waiting import Waiting

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = X[:, 0] + RNG.normal(size=40)
LATTICE = Lattice(KFold(4).split(X), 40)
ALPHAS = {"alpha": [0.1, 10.0, 1000.0]}


class Notes:
    """An observer that notes what it is told."""

    def __init__(self):
        self.told = []

    def grown(self):
        self.told.append("grown")

    def start(self, tasks):
        self.told.append(len(tasks))

    def fitted(self, task, cells):
        self.told += [(each, task.candidates.tolist()) for each in cells.training_sets]


def selector(*, use_paths=False, one_by_one=False, grid=ALPHAS):
    measure = MeanLoss.of(LOSSES["squared_error"], Y)
    judging = Judging(measure, None, 0.0, None, measure.loss, None, None)
    problem = Problem(Ridge(), X, Y, LATTICE, judging, keep=Keep(("predict",)))
    grid = Grid(grid)
    state = State(Ledger(LATTICE, len(grid)), KeptOutputs(), Waiting(problem.reducer.judge))
    made = Selector(
        problem,
        grid,
        state,
        Planner(problem, grid, use_paths=use_paths),
        Executor(),
        Failures(),
        observers=[Notes()],
        callback=lambda: None,
        with_change=True,
        one_by_one=one_by_one,
    )
    return made, state


def test_choices_are_the_minima():
    made, state = selector()
    choices = made.run(exhaustive, [0.0, 1.0], [0.0])
    error = state.ledger.error
    assert choices.final[0.0] == error[:, LATTICE.final.evaluations].mean(axis=1).argmin()
    for view, choice in zip(LATTICE.views, choices.inner[0.0], strict=True):
        assert choice == error[:, view.evaluations].mean(axis=1).argmin()
    assert choices.looked_at.all()


def test_a_whole_grid_is_chosen_from_as_by_a_strategy_for_each_weight():
    def each_by_itself(grid):
        return (yield from exhaustive(grid))

    weights = [0.0, 0.01, 1.0, 100.0]
    whole, slow = (selector()[0].run(each, weights, weights) for each in (exhaustive, each_by_itself))
    assert whole.final == slow.final
    assert_array_equal([whole.inner[w] for w in weights], [slow.inner[w] for w in weights])
    assert_array_equal(whole.looked_at, slow.looked_at)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_observers_hear_of_every_training_set(one_by_one):
    made, _ = selector(use_paths=True, one_by_one=one_by_one)
    made.run(exhaustive, [0.0], [0.0])
    [notes] = made._observers
    [number, *fits] = notes.told
    assert number == 1  # task, whatever its parts
    assert sorted(fits) == [(t, [0, 1, 2]) for t in range(LATTICE.n_training_sets)]


def test_nothing_is_fitted_twice_in_a_later_round():
    def one_after_the_other(grid):
        errors = []
        for candidate in range(len(grid)):
            errors += list((yield [candidate]))
        return int(np.argmin(errors))

    made, state = selector()
    made.run(one_after_the_other, [0.0, 1.0], [0.0, 1.0])
    whole, known = selector()
    whole.run(exhaustive, [0.0], [0.0])
    assert made._failures.n_fits == whole._failures.n_fits == 3 * LATTICE.n_training_sets
    assert_array_equal(state.ledger.error, known.ledger.error)
    assert not list(state.waiting.blocks())


def test_added_candidates_are_announced():
    def adds(grid):
        yield [0]
        [new] = grid.add([{"alpha": 3.0}])
        yield [new]
        return new

    made, state = selector()
    choices = made.run(adds, [0.0], [0.0])
    assert (choices.final[0.0], len(state.ledger)) == (3, 4)
    assert choices.looked_at.tolist() == [True, False, False, True]
    assert made._observers[0].told.count("grown") == 1


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        (lambda grid: iter_of([5]), "asked for candidate 5, and there are 3"),
        (lambda grid: iter_of([0], choice=1), "chose candidate 1 without asking"),
    ],
)
def test_strategies_that_are_wrong(strategy, message):
    with pytest.raises(ValueError, match=message):
        selector()[0].run(strategy, [0.0], [])


def heard(split):
    return Heard(LATTICE.training_set_of(split), split, "predict")


def iter_of(asked, choice=0):
    yield asked
    return choice


def test_outputs_of_those_that_nobody_chooses_are_let_go(monkeypatch):
    monkeypatch.setattr("steadycv.selection.MOST_KEPT_BYTES", 0)
    made, state = selector()
    choices = made.run(exhaustive, [0.0], [0.0])
    made.let_go()
    wanted = {(choices.final[0.0], split) for split in range(4)}
    wanted |= {(int(c), view.split) for c, view in zip(choices.inner[0.0], LATTICE.views, strict=True)}
    assert {(candidate, heard.split) for candidate, heard in state.kept} == wanted


def test_what_is_kept_holds_no_more_than_it_counts():
    made, state = selector(use_paths=True)
    made.run(exhaustive, [0.0], [0.0])
    assert state.kept.n_bytes == sum(state.kept[key].nbytes for key in state.kept)
    made.let_go()
    held = {id(table): table.nbytes for table in (state.kept[key].base for key in state.kept)}
    assert state.kept.n_bytes == sum(held.values())


def test_outputs_that_were_let_go_are_fitted_again_and_nothing_is_recorded():
    made, state = selector()
    made.run(exhaustive, [0.0], [0.0])
    before, kept = state.ledger.error.copy(), state.kept[1, heard(2)].copy()
    state.kept.drop(list(state.kept))
    state.ledger.error.flags.writeable = False
    [found] = made.outputs_of({2: 1}).values()
    assert_array_equal(found, kept)
    assert_array_equal(state.ledger.error, before)
