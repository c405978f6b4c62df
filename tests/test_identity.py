"""Identity: what is the same search, and what else a candidate's numbers depend on."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from steadycv import versions
from steadycv.candidates import Candidates
from steadycv.identity import candidate_keys, identity
from steadycv.lattice import Lattice
from steadycv.losses import get_loss
from steadycv.measures import MeanLoss
from steadycv.planning import Planner
from steadycv.scoring import Judging
from steadycv.tasks import Problem

X = np.random.default_rng(0).normal(size=(24, 2))
Y = X[:, 0]


def problem(estimator=None, X=X, k=3, loss="squared_error", **options):
    loss = get_loss(loss)
    judging = Judging(MeanLoss.of(loss, Y), None, 0.0, None, loss, None, None)
    lattice = Lattice(KFold(k).split(X), len(X))
    return Problem(estimator or Ridge(), X, Y, lattice, judging, **options)


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("data", problem(X=X + 1)),
        ("data", problem(fit_params={"sample_weight": np.ones(24)})),
        ("folds", problem(k=4)),
        ("estimator", problem(Ridge(fit_intercept=False))),
        ("scoring", problem(loss="absolute_error")),
    ],
)
def test_parts(part, other):
    mine, theirs = identity(problem(), None), identity(other, None)
    assert {name for name in mine if mine[name] != theirs[name]} == {part}


def test_what_does_not_matter():
    assert identity(problem(X=X.copy()), None) == identity(problem(), None)
    jobs = [problem(SVR(verbose=verbose)) for verbose in (True, False)]
    assert identity(jobs[0], None) == identity(jobs[1], None)


def test_versions_of_what_is_used(monkeypatch):
    before = identity(problem(), None)
    known = versions._version
    monkeypatch.setattr(versions, "_version", lambda name: "0" if name == "scipy" else known(name))
    after = identity(problem(), None)
    assert {name for name in before if before[name] != after[name]} == {"set of versions"}


def keys(estimator, settings, *, use_paths=True):
    candidates = Candidates(settings)
    planner = Planner(problem(estimator), candidates, use_paths=use_paths)
    return candidate_keys(estimator, candidates, planner.lines)


def test_separate_candidates_do_not_depend_on_others():
    few, many = ([{"gamma": g} for g in values] for values in ((0.1, 1.0), (0.1, 1.0, 5.0)))
    assert keys(SVR(), many, use_paths=False)[:2] == keys(SVR(), few, use_paths=False)


def test_candidates_of_a_line_depend_on_it():
    few, many = ([{"max_depth": d} for d in values] for values in ((2, 3), (2, 3, 9)))
    assert not set(keys(DecisionTreeRegressor(), few)) & set(keys(DecisionTreeRegressor(), many))


def test_a_path_is_part_of_it():
    settings = [{"alpha": 0.1}, {"alpha": 1.0}]
    assert not set(keys(Ridge(), settings)) & set(keys(Ridge(), settings, use_paths=False))
