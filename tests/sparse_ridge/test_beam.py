"""`SparseRidge` against all supports, and what the beam promises."""

from math import comb

import numpy as np
import pytest
from enumeration import centred, objectives, optimum, plain_objective, problem
from sklearn.linear_model import Ridge

from steadycv import SparseRidge, sparse_ridge_path
from steadycv.sparse.solvers import SOLVERS

N_PROBLEMS = {"beam": 1400, "rounding": 140, "exact": 140, "cuts": 7}
PROVE = ("exact", "cuts")
seeds = pytest.mark.parametrize("seed", range(20))


def rounding(y, objective=0.0):
    """What rounding may do to an objective."""
    return 1e-8 * objective + 1e-12 * (y @ y)


def gaussian(n_samples, n_features, seed, correlation=0.5):
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n_samples, 1))
    X = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * rng.normal(
        size=(n_samples, n_features)
    )
    beta = np.where(np.arange(n_features) % 3 == 0, rng.choice([-1.0, 1.0], n_features), 0.0)
    return X, X @ beta + rng.normal(size=n_samples) + 3.0, float(10.0 ** rng.uniform(-2, 2))


@pytest.mark.parametrize("solver", SOLVERS)
def test_against_all_supports(solver):
    for seed in range(N_PROBLEMS[solver]):
        X, y, gamma = problem(seed)
        options = {"fit_intercept": seed % 3 > 0, "standardize": seed % 5 == 0}
        weight = np.random.default_rng(seed).integers(0, 3, len(y)) + 0.5 if seed % 4 == 0 else None
        Xc, yc, scale = centred(X, y, weight, **options)
        for sparsity in range(1, min(X.shape[1], 4) + 1):
            model = SparseRidge(sparsity, gamma, solver=solver, **options).fit(X, y, weight)
            lowest, name = optimum(Xc, yc, gamma, sparsity), f"problem {seed}, sparsity {sparsity}"
            off = rounding(yc, lowest)
            assert model.objective_ >= lowest - off, name
            assert model.objective_ == pytest.approx(
                plain_objective(model, X, y, weight, scale), rel=1e-8, abs=off
            ), name
            assert 0 <= model.lower_bound_ <= min(lowest + off, model.objective_), name
            if model.objective_ > 0:
                assert model.gap_ == 1 - model.lower_bound_ / model.objective_, name
            if solver in PROVE:
                assert model.objective_ <= lowest / (1 - model.tol) + off, name
            assert len(model.support_) <= sparsity, name
            np.testing.assert_array_equal(np.flatnonzero(model.coef_), model.support_, name)


@pytest.mark.parametrize("solver", [solver for solver in SOLVERS if solver != "cuts"])
def test_twelve_columns(solver):
    X, y, gamma = gaussian(8, 12, 0)
    Xc, yc, _ = centred(X, y)
    for sparsity in (1, 5, 11):
        model = SparseRidge(sparsity, gamma, solver=solver).fit(X, y)
        lowest = optimum(Xc, yc, gamma, sparsity)
        assert model.lower_bound_ <= lowest * (1 + 1e-9)
        assert lowest * (1 - 1e-9) <= model.objective_ <= 1.2 * lowest


def test_mostly_optimal():
    """Of problems as they come, the beam solves most."""
    found = []
    for seed in range(100):
        X, y, gamma = gaussian(30, 10, seed)
        Xc, yc, _ = centred(X, y)
        found += [
            SparseRidge(k, gamma).fit(X, y).objective_ <= (1 + 1e-9) * optimum(Xc, yc, gamma, k)
            for k in (2, 4)
        ]
    assert np.mean(found) > 0.95


@seeds
def test_a_beam_of_all_supports_is_optimal(seed):
    X, y, gamma = gaussian(12, 8, seed, correlation=0.9)
    Xc, yc, _ = centred(X, y)
    for sparsity in (2, 4):
        model = SparseRidge(sparsity, gamma, beam_width=comb(8, 4), swaps=False).fit(X, y)
        assert model.objective_ == pytest.approx(optimum(Xc, yc, gamma, sparsity), rel=1e-9)


@seeds
def test_a_beam_of_one_is_forward_selection(seed):
    X, y, gamma = gaussian(15, 40, seed)
    Xc, yc, _ = centred(X, y)
    support = []
    for sparsity in range(1, 6):
        free = [j for j in range(40) if j not in support]
        support.append(free[np.argmin(objectives(Xc, yc, gamma, [[*support, j] for j in free]))])
        model = SparseRidge(sparsity, gamma, beam_width=1, swaps=False).fit(X, y)
        assert model.support_.tolist() == sorted(support)


@seeds
@pytest.mark.parametrize("shape", [(30, 9), (12, 100)])
def test_no_swap_and_no_addition_helps(seed, shape):
    X, y, gamma = gaussian(*shape, seed, correlation=0.8)
    Xc, yc, _ = centred(X, y)
    for sparsity in (1, 3, 6):
        model = SparseRidge(sparsity, gamma).fit(X, y)
        inside = model.support_.tolist()
        outside = [j for j in range(shape[1]) if j not in inside]
        assert len(inside) == sparsity  # noise: something can always be added
        swapped = [[*(i for i in inside if i != leave), j] for leave in inside for j in outside]
        assert objectives(Xc, yc, gamma, swapped).min() >= model.objective_ * (1 - 1e-8)


def test_fewer_columns_only_if_none_helps():
    for seed in range(300):
        X, y, gamma = problem(seed)
        Xc, yc, _ = centred(X, y)
        model = SparseRidge(min(3, X.shape[1]), gamma).fit(X, y)
        inside = model.support_.tolist()
        if len(inside) < model.sparsity:
            more = [[*inside, j] for j in range(X.shape[1]) if j not in inside]
            least = objectives(Xc, yc, gamma, more).min()
            assert least >= model.objective_ - rounding(yc, model.objective_), seed


def test_more_columns_never_hurt():
    for seed in range(350):
        X, y, gamma = problem(seed)
        last = np.inf
        for sparsity in range(1, X.shape[1] + 1):
            model = SparseRidge(sparsity, gamma).fit(X, y)
            assert model.objective_ <= last + rounding(y - y.mean(), model.objective_), (seed, sparsity)
            last = model.objective_


def test_more_columns_never_hurt_when_the_best_support_explains_all():
    """The best support has no children then, but others have."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        X = rng.normal(size=(12, 8))
        y = X[:, rng.permutation(8)[:2]] @ [1.0, -1.0]
        path = sparse_ridge_path(X, y, range(1, 6), [1e12])
        errors = ((y[:, np.newaxis] - X @ path.coef[:, 0].T - path.intercept.T) ** 2).sum(axis=0)
        assert (errors[2:] <= errors[1] + 1e-12).all()


@pytest.mark.parametrize("shape", [(30, 9), (20, 90), (15, 300)])
@pytest.mark.parametrize("standardize", [False, True])
def test_no_matter_how_far_a_pass_goes(shape, standardize):
    X, y, _ = gaussian(*shape, 0)
    gammas = [1e-3, 1.0, 1e3]
    path = sparse_ridge_path(X, y, range(1, 10), gammas, standardize=standardize)
    for sparsity in range(1, 10):
        for g, gamma in enumerate(gammas):
            model = SparseRidge(sparsity, gamma, standardize=standardize).fit(X, y)
            np.testing.assert_allclose(path.coef[sparsity - 1, g], model.coef_, rtol=1e-9, atol=1e-12)
            assert path.intercept[sparsity - 1, g] == pytest.approx(model.intercept_, rel=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(30, 6), (5, 9)])
def test_all_columns_are_ridge(solver, shape):
    X, y, gamma = gaussian(*shape, 0)
    model = SparseRidge(shape[1], gamma, solver=solver).fit(X, y)
    ridge = Ridge(1 / gamma, solver="svd").fit(X, y)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-8)
    assert model.intercept_ == pytest.approx(ridge.intercept_)
    assert model.gap_ == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_orthogonal_columns_are_solved(solver):
    rng = np.random.default_rng(0)
    X = np.linalg.qr(np.column_stack([np.ones(20), rng.normal(size=(20, 8))]))[0][:, 1:]
    y = X @ rng.normal(size=8) + 0.1 * rng.normal(size=20)
    for sparsity in (1, 4):
        model = SparseRidge(sparsity, 10.0, solver=solver).fit(X, y)
        largest = np.argsort(-np.abs(X.T @ y))[:sparsity]
        assert model.support_.tolist() == sorted(largest)
        # The residuals prove it: the chosen columns are those most correlated with what is left.
        assert model.lower_bound_ <= optimum(*centred(X, y)[:2], 10.0, sparsity) * (1 + 1e-12)


@seeds
def test_first_of_equal_columns(seed):
    """A copy is chosen only with its original, which halves the penalty."""
    X, y, gamma = gaussian(20, 6, seed)
    copies = np.column_stack([X, -X, X])
    for sparsity in range(1, 6):
        chosen = set(SparseRidge(sparsity, gamma).fit(copies, y).support_.tolist())
        assert all(j - 6 in chosen for j in chosen if j >= 6), (sparsity, chosen)


def test_many_columns_and_a_large_sparsity():
    """More products at once than there was room for."""
    X, y, _ = gaussian(40, 700, 0)
    model = SparseRidge(300, 1.0).fit(X, y)
    assert len(model.support_) == 300
    assert model.objective_ == pytest.approx(plain_objective(model, X, y))


@pytest.mark.parametrize("gamma", [1e8, 1e16, 1e150, 1e300])
@pytest.mark.parametrize("noise", [0.0, 1e-12, 1e-8, 1e-6, 1e-3])
def test_almost_equal_columns_and_hardly_any_penalty(gamma, noise):
    """Gains are rounding here; the pass must end all the same, and its solution be sound."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(16, 1)) + noise * rng.normal(size=(16, 9))
        y = rng.normal(size=16)
        best_single = optimum(*centred(X, y)[:2], gamma, 1)
        for sparsity in (2, 5, 9):
            model = SparseRidge(sparsity, gamma).fit(X, y)
            assert model.objective_ <= best_single * (1 + 1e-6)
            assert model.objective_ == pytest.approx(plain_objective(model, X, y))


def test_residuals_prove_nothing_left_to_explain():
    X, _, _ = gaussian(10, 4, 0)
    model = SparseRidge(2).fit(X, np.full(10, 0.1))
    assert (len(model.support_), model.objective_, model.lower_bound_, model.gap_) == (0, 0, 0, 0)
    assert model.intercept_ == 0.1
