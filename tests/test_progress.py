"""Progress: a line for every fit says what was fitted, on what, and what came of it."""

from types import SimpleNamespace

import numpy as np
from sklearn.model_selection import KFold

from steadycv.lattice import Lattice
from steadycv.progress import FitLines, ProgressBar
from steadycv.scores import BEYOND
from steadycv.steps import tell

LATTICE = Lattice(KFold(3).split(range(12)), 12)
TASK = SimpleNamespace(
    candidates=np.array([4, 5]), training_sets=[0, 1, 2], settings=[{"b": 1, "a": 2}, {"a": 3}]
)
CELLS = SimpleNamespace(
    training_sets=[2],
    failures={1: "ValueError"},
    test_scores={("r2", 1): np.array([0.25, np.inf])},
    train_scores={},
)


def lines(capsys, cells=CELLS, *, with_scores=True):
    FitLines(LATTICE, with_scores=with_scores).fitted(TASK, cells)
    return capsys.readouterr().out.splitlines()


def test_lines(capsys):
    assert lines(capsys) == ["split 1; a=2, b=1; r2=0.250", "split 1; a=3; failed"]
    assert lines(capsys, with_scores=False)[0] == "split 1; a=2, b=1"


def test_scores_on_the_training_set(capsys):
    cells = SimpleNamespace(**vars(CELLS) | {"train_scores": {("r2", 1): np.array([BEYOND, 0.0])}})
    assert lines(capsys, cells)[0].endswith("r2=(train=inf, test=0.250)")


def test_what_is_to_come(capsys):
    FitLines(LATTICE, with_scores=False).start([TASK, TASK])
    assert capsys.readouterr().out == "Fitting 12 models for 2 candidates\n"


def test_bar_counts_training_sets(capsys):
    with ProgressBar() as bar:
        bar.start([TASK])
        bar.fitted(TASK, CELLS)
    assert "1/3" in capsys.readouterr().err


def test_the_bar_tells_of_steps_within_a_task():
    with ProgressBar() as bar:
        tell("epoch", 3, 200)
        assert bar._progress.tasks[0].fields["step"] == "(epoch 3 of 200)"
        bar.fitted(TASK, CELLS)
        assert bar._progress.tasks[0].fields["step"] == ""
    tell("epoch", 4, 200)
    assert bar._progress.tasks[0].fields["step"] == ""
