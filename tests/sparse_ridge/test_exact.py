"""Branch and bound against all supports and against the cuts, and its limits."""

import numpy as np
import pytest
from enumeration import centred, objectives, optimum, problem

from steadycv import SparseRidge
from steadycv.sparse import nodes
from steadycv.sparse.exact import branch_and_bound
from steadycv.sparse.gram import Gram, one_block


def search(X, y, sparsity, gamma, start=(0,), **options):
    """The search itself, from a bad support unless told otherwise."""
    gram = Gram(one_block(X, y, centre=False), centre=False, standardize=False)
    return branch_and_bound(gram, sparsity, gamma, np.array(start, dtype=np.int64), **options)


def gaussian(n_samples, n_features, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features)) + 0.5 * rng.normal(size=(n_samples, 1))
    y = X[:, :5].sum(axis=1) + 2 * rng.normal(size=n_samples)
    return X - X.mean(axis=0), y - y.mean()


def test_against_all_supports():
    for seed in range(200):
        X, y, gamma = problem(seed)
        X, y, _ = centred(X, y)
        for sparsity in range(1, X.shape[1] + 1):
            proof = search(X, y, sparsity, gamma, tol=1e-9)
            lowest, off = optimum(X, y, gamma, sparsity), 1e-12 * (y @ y)
            name = f"problem {seed}, sparsity {sparsity}"
            assert proof.status == "optimal", name
            assert proof.lower_bound <= proof.objective, name
            assert proof.lower_bound <= lowest * (1 + 1e-8) + off, name
            found = objectives(X, y, gamma, [proof.support])[0] if len(proof.support) else 0.5 * y @ y
            assert found <= lowest * (1 + 1e-8) + off, name
            assert proof.objective == pytest.approx(found, rel=1e-7, abs=off), name


@pytest.mark.parametrize("gamma", [0.01, 1.0, 100.0, 10_000.0])
def test_twelve_columns_fewer_rows(gamma):
    X, y = gaussian(8, 12, 1)
    for sparsity in range(1, 8):
        proof = search(X, y, sparsity, gamma, tol=0.0)
        assert proof.objective == pytest.approx(optimum(X, y, gamma, sparsity), rel=1e-8), sparsity


@pytest.mark.parametrize("sparsity", [6, 9])
@pytest.mark.parametrize("gamma", [30.0, 1000.0])
def test_few_nodes_where_bounds_are_hard_to_get(sparsity, gamma):
    X, y = gaussian(9, 50, 0)
    proof = search(X, y, sparsity, gamma)
    assert proof.status == "optimal"
    assert proof.n_nodes < 1500


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_cuts(seed):
    X, y = gaussian(40, 15, seed)
    models = [SparseRidge(4, 0.05, solver=solver).fit(X, y) for solver in ("exact", "cuts")]
    assert models[0].objective_ == pytest.approx(models[1].objective_, rel=1e-4)
    assert all(model.gap_ <= 1e-4 for model in models)


def test_a_limit_gives_a_true_gap():
    X, y = gaussian(60, 40, 2)
    best = search(X, y, 12, 10.0, start=range(12))
    assert best.status == "optimal"
    assert best.objective - best.lower_bound <= 1e-4 * best.objective
    for limit in ({"node_limit": 200}, {"time_limit": 0.0}):
        stopped = search(X, y, 12, 10.0, start=range(12), **limit)
        assert stopped.status == f"{next(iter(limit))}"
        assert stopped.lower_bound <= best.objective <= stopped.objective
        assert stopped.lower_bound < 0.99 * stopped.objective


def test_without_memory_it_goes_into_depth(monkeypatch):
    X, y = gaussian(30, 25, 3)
    best = search(X, y, 6, 1.0)
    monkeypatch.setattr(nodes, "MOST_BYTES", 0)
    monkeypatch.setattr(nodes, "ROOM", 16)
    narrow = search(X, y, 6, 1.0)
    assert narrow.status == best.status == "optimal"
    assert narrow.support.tolist() == best.support.tolist()
    assert narrow.n_nodes > 16


def test_few_rows_of_products_are_held(monkeypatch):
    X, y = gaussian(30, 200, 4)
    everything = search(X, y, 3, 0.05)
    monkeypatch.setattr("steadycv.sparse.gram.MOST_ROWS", 40)
    frugal = search(X, y, 3, 0.05)
    assert frugal.support.tolist() == everything.support.tolist()
    assert frugal.objective == pytest.approx(everything.objective)
