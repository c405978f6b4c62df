"""`SparseRidge` and `SparseRidgeCV` as estimators: scikit-learn's checks, kinds of data, bad input."""

import pickle
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from enumeration import plain_objective
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from steadycv import SparseRidge, SparseRidgeCV, sparse_ridge_path
from steadycv.sparse.solvers import SOLVERS

SMALL_GRID = {"sparsities": [1, 2], "gammas": [0.1, 1.0], "cv": 3}


@pytest.mark.parametrize(
    "estimator",
    [
        *(SparseRidge(1, solver=solver) for solver in SOLVERS),
        SparseRidge(2, 10.0, fit_intercept=False, beam_width=1, swaps=False),
        SparseRidge(2, 0.1, standardize=True),
        SparseRidgeCV(sparsities=[1], gammas=[0.1, 1.0], cv=3),
        SparseRidgeCV(sparsities=[1], gammas=[1.0], cv=3, search="coordinate", rescale_gamma=True),
    ],
    ids=str,
)
def test_scikit_learn(estimator):
    results = check_estimator(estimator, on_skip=None)
    assert sum(result["status"] == "passed" for result in results) >= 50


# Data.

N, P = 40, 6
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, P))
Y = X @ [3.0, 0.0, -2.0, 0.0, 1.0, 0.0] + 0.1 * RNG.normal(size=N) + 5.0
solvers = pytest.mark.parametrize("solver", SOLVERS)
intercepts = pytest.mark.parametrize("fit_intercept", [True, False])


def fitted(X=X, y=Y, weight=None, sparsity=2, gamma=1.0, **options):
    return SparseRidge(sparsity, gamma, **options).fit(X, y, weight)


def assert_same(model, other, rtol=1e-9):
    np.testing.assert_array_equal(model.support_, other.support_)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=rtol)
    assert model.intercept_ == pytest.approx(other.intercept_, rel=rtol, abs=rtol)
    assert model.objective_ == pytest.approx(other.objective_, rel=rtol)
    # The others' bounds are as good as their tolerance.
    assert model.lower_bound_ == pytest.approx(
        other.lower_bound_, rel=rtol if model.solver == "beam" else 1e-3
    )


@solvers
@intercepts
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_is_ridge_on_its_columns(solver, fit_intercept, standardize, weighted):
    weight = RNG.uniform(0.5, 2.0, N) if weighted else None
    model = fitted(
        weight=weight, gamma=0.3, solver=solver, fit_intercept=fit_intercept, standardize=standardize
    )
    some = X[:, model.support_]
    mean = np.average(some, axis=0, weights=weight)
    scale = (
        np.sqrt(np.average((some - mean) ** 2, axis=0, weights=weight)) if standardize else np.ones(2)
    )
    ridge = Ridge(1 / 0.3, fit_intercept=fit_intercept).fit(some / scale, Y, weight)
    np.testing.assert_allclose(model.coef_[model.support_], ridge.coef_ / scale, rtol=1e-9)
    assert model.intercept_ == pytest.approx(ridge.intercept_, abs=1e-12)
    np.testing.assert_allclose(model.predict(X), X @ model.coef_ + model.intercept_, rtol=1e-12)
    everywhere = np.ones(P)
    everywhere[model.support_] = scale
    assert model.objective_ == pytest.approx(plain_objective(model, X, Y, weight, everywhere))


@solvers
@intercepts
def test_weights_are_repeated_rows(solver, fit_intercept):
    weight = RNG.integers(0, 4, N)
    often = np.repeat(np.arange(N), weight)
    options = {"solver": solver, "fit_intercept": fit_intercept, "standardize": True}
    assert_same(fitted(weight=weight, **options), fitted(X[often], Y[often], **options))


@solvers
@intercepts
@pytest.mark.parametrize("kind", ["csr_matrix", "csc_matrix", "coo_matrix", "csr_array", "csc_array"])
def test_sparse_data(solver, fit_intercept, kind):
    few = np.where(np.abs(X) > 0.7, X, 0.0)
    options = {"solver": solver, "fit_intercept": fit_intercept}
    for standardize in (False, True):
        dense = fitted(few, standardize=standardize, **options)
        model = fitted(getattr(sparse, kind)(few), standardize=standardize, **options)
        assert_same(model, dense)
        np.testing.assert_allclose(model.predict(getattr(sparse, kind)(few)), dense.predict(few))
        weight = RNG.uniform(0, 1, N)
        assert_same(fitted(sparse.csr_matrix(few), weight=weight), fitted(few, weight=weight))


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.bool_, np.float32])
def test_sparse_data_of_another_type(dtype):
    few = (np.abs(X) > 1).astype(dtype)
    assert_same(fitted(sparse.csr_matrix(few)), fitted(few.astype(float)))


def test_sparse_columns_far_from_zero():
    """They have no zeros, and their variance is lost in their squares."""
    far = np.column_stack([1e7 + X[:, :2], np.where(X[:, 2:] > 0, X[:, 2:], 0.0)])
    options = {"sparsity": 4, "standardize": True}
    assert_same(fitted(sparse.csc_matrix(far), **options), fitted(far, **options), rtol=1e-7)
    without = fitted(sparse.csr_matrix(far), fit_intercept=False, **options)
    np.testing.assert_allclose(
        without.coef_, fitted(far, fit_intercept=False, **options).coef_, rtol=1e-7
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.uint8, np.bool_, object])
def test_other_types(dtype):
    other = (np.abs(X) > 1).astype(dtype)
    assert_same(fitted(other), fitted(other.astype(float)))
    assert_same(fitted(y=np.round(Y).astype(np.int64)), fitted(y=np.round(Y)))


@solvers
def test_layout_does_not_matter(solver):
    expected = fitted(solver=solver)
    wide = np.zeros((2 * N, 3 * P))
    wide[::2, ::3] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    frozen_y = np.repeat(Y, 2)[::2]
    frozen_y.flags.writeable = False
    for other in (np.asfortranarray(X), wide[::2, ::3], X[::-1][::-1], X.tolist(), frozen):
        model = fitted(other, solver=solver)
        assert_same(model, expected)
        np.testing.assert_allclose(model.predict(other), expected.predict(X), rtol=1e-12)
    assert_same(fitted(frozen, frozen_y, solver=solver), expected)
    swapped = X.astype(X.dtype.newbyteorder()), Y.astype(Y.dtype.newbyteorder())
    assert_same(fitted(*swapped, solver=solver), expected)


@solvers
def test_data_are_left_as_they_were(solver):
    before = X.copy(), Y.copy()
    weight = np.full(N, 2.0)
    fitted(weight=weight, solver=solver, standardize=True)
    fitted(1e6 + X, solver=solver)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(Y, before[1])
    assert (weight == 2.0).all()


def test_data_frames():
    names = [f"column {j}" for j in range(P)]
    expected = fitted()
    for frame, target in (
        (pd.DataFrame(X, columns=names), pd.Series(Y)),
        (pl.DataFrame(X, schema=names), pl.Series(Y)),
    ):
        model = fitted(frame, target)
        assert_same(model, expected)
        assert model.feature_names_in_.tolist() == names
        np.testing.assert_allclose(model.predict(frame), expected.predict(X))
        chosen = SparseRidgeCV(**SMALL_GRID).fit(frame, target)
        assert chosen.feature_names_in_.tolist() == names
        np.testing.assert_allclose(
            chosen.predict(frame), SparseRidgeCV(**SMALL_GRID).fit(X, Y).predict(X)
        )


@pytest.mark.parametrize("make", [lambda: SparseRidge(2), lambda: SparseRidgeCV(**SMALL_GRID)])
def test_nothing_is_left_of_an_earlier_fit(make):
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = make().fit(frame, Y).fit(X[:, :4], Y)
    fresh = make().fit(X[:, :4], Y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 4
    assert vars(model).keys() == vars(fresh).keys()
    np.testing.assert_array_equal(model.predict(X[:, :4]), fresh.predict(X[:, :4]))


@pytest.mark.parametrize("make", [lambda: SparseRidge(2), lambda: SparseRidgeCV(**SMALL_GRID)])
def test_pickle_and_clone(make):
    model = make().fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    cloned = clone(model)
    assert not hasattr(cloned, "n_features_in_")
    assert cloned.get_params() == model.get_params()


def test_get_and_set_params():
    params = {
        "sparsity": 3,
        "gamma": 2.0,
        "solver": "beam",
        "fit_intercept": False,
        "standardize": True,
        "beam_width": 2,
        "swaps": False,
        "tol": 0.1,
        "time_limit": 1.0,
    }
    assert SparseRidge(1).set_params(**params).get_params() == params
    assert_same(
        SparseRidge(1).set_params(**params).fit(X, Y),
        SparseRidge(params.pop("sparsity"), params.pop("gamma"), **params).fit(X, Y),
    )


@solvers
def test_units_do_not_matter_when_standardized(solver):
    units = np.array([1e-3, 1.0, 1e4, 7.0, 1e-6, 1e2])
    model = fitted(X * units, solver=solver, standardize=True)
    expected = fitted(StandardScaler().fit_transform(X), solver=solver)
    np.testing.assert_array_equal(model.support_, expected.support_)
    np.testing.assert_allclose(model.coef_ * units * X.std(axis=0), expected.coef_, rtol=1e-8)
    assert model.objective_ == pytest.approx(expected.objective_)
    assert model.lower_bound_ == pytest.approx(expected.lower_bound_, rel=1e-3)


@solvers
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("by", [1.0, 99.0, 1e4, 1e8])
def test_where_zero_is_does_not_matter(solver, standardize, by):
    far = X + by * np.array([1.0, -1.0, 1.0, 2.0, 0.0, 0.5])
    near = far - by * np.array([1.0, -1.0, 1.0, 2.0, 0.0, 0.5])  # as exact as `far`
    options = {"sparsity": 3, "solver": solver, "standardize": standardize}
    model, expected = fitted(far, Y + 1e6, **options), fitted(near, Y, **options)
    np.testing.assert_array_equal(model.support_, expected.support_)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-7)
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-5)


@solvers
def test_constant_columns_are_never_chosen(solver):
    some = np.column_stack([np.full(N, 0.1), X[:, :2], np.full(N, 1e9), np.zeros(N)])
    model = fitted(some, sparsity=5, gamma=100.0, solver=solver)
    assert model.support_.tolist() == [1, 2]
    only = fitted(some[:, [0, 3, 4]], sparsity=2, solver=solver)
    assert len(only.support_) == 0
    assert only.intercept_ == pytest.approx(Y.mean())
    assert only.objective_ == pytest.approx(0.5 * N * Y.var())
    assert only.gap_ == pytest.approx(0, abs=1e-12)


@solvers
def test_constant_columns_without_intercept(solver):
    """They may be chosen; when columns are standardized, they stay as they are."""
    some = np.column_stack([np.full(N, 0.1), X])
    options = {"sparsity": 3, "gamma": 100.0, "fit_intercept": False, "solver": solver}
    plain, standardized = fitted(some, **options), fitted(some, standardize=True, **options)
    scale = np.concatenate([[1.0], X.std(axis=0)])
    np.testing.assert_allclose(standardized.coef_ * scale, fitted(some / scale, **options).coef_)
    assert {0} < set(plain.support_)
    assert {0} < set(standardized.support_)


@solvers
def test_columns_constant_where_the_weight_is(solver):
    weight = np.where(np.arange(N) < 20, 1.0, 0.0)
    some = X.copy()
    some[:20, 0] = 3.0
    model = fitted(some, weight=weight, sparsity=P, solver=solver)
    assert model.coef_[0] == 0
    assert_same(model, fitted(some[:20], Y[:20], sparsity=P, solver=solver))


@solvers
def test_a_constant_target(solver):
    model = fitted(y=np.full(N, 0.1), solver=solver)
    assert model.intercept_ == 0.1
    assert (model.support_.tolist(), model.objective_, model.gap_) == ([], 0.0, 0.0)


@solvers
def test_one_sample(solver):
    """With an intercept all columns are constant; without, it can be fitted."""
    model = fitted(X[:1], Y[:1], solver=solver)
    assert (model.support_.tolist(), model.intercept_) == ([], Y[0])
    assert len(fitted(X[:1], Y[:1], solver=solver, fit_intercept=False).support_) == 2


@solvers
def test_one_column(solver):
    model = fitted(X[:, :1], sparsity=1, solver=solver)
    np.testing.assert_allclose(model.coef_, Ridge(1.0).fit(X[:, :1], Y).coef_)
    assert model.gap_ == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("sparsity", [np.int8(2), np.uint8(2), np.int64(2)])
@pytest.mark.parametrize("gamma", [3, np.float16(3), np.float32(3), np.longdouble(3), Fraction(3)])
def test_other_kinds_of_numbers(sparsity, gamma):
    many = np.tile(X, 60) + 0.01 * np.random.default_rng(0).normal(size=(N, 60 * P))
    assert_same(fitted(many, sparsity=sparsity, gamma=gamma), fitted(many, sparsity=2, gamma=3.0))


@pytest.mark.parametrize("gamma", [1e-300, 1e-30, 1e30, 1e300])
def test_extreme_penalties(gamma):
    model = fitted(gamma=gamma, sparsity=P)
    assert np.isfinite(model.coef_).all()
    assert 0 <= model.lower_bound_ <= model.objective_
    if gamma > 1:
        np.testing.assert_allclose(model.coef_, np.linalg.lstsq(X - X.mean(axis=0), Y)[0])
    else:  # no column explains anything
        assert model.objective_ == pytest.approx(0.5 * N * Y.var())


@pytest.mark.parametrize("factor", [1e-60, 1e60])
def test_large_and_small_data(factor):
    expected = fitted()
    model = fitted(y=factor * Y)
    np.testing.assert_allclose(model.coef_, factor * expected.coef_, rtol=1e-9)
    assert model.gap_ == pytest.approx(expected.gap_)
    model = fitted(factor * X, gamma=factor**-2)
    np.testing.assert_allclose(factor * model.coef_, expected.coef_, rtol=1e-9)


def test_column_vector_as_target():
    with pytest.warns(DataConversionWarning):
        assert_same(fitted(y=Y[:, np.newaxis]), fitted())


@solvers
def test_attributes(solver):
    model = fitted(solver=solver)
    assert model.support_.dtype.kind == "i"
    assert all(
        isinstance(getattr(model, a), float) for a in ("intercept_", "objective_", "lower_bound_")
    )
    assert isinstance(model.gap_, float)
    assert isinstance(model.n_iter_, int)
    assert model.n_iter_ >= 1


# Bad input.


def refuses(*parts, error=ValueError):
    """Every part is in the message, in this order."""
    return pytest.raises(error, match=".*".join(map(re.escape, parts)))


@solvers
@pytest.mark.parametrize(
    "sparsity", [0, -1, P + 1, 10**30, 2.0, np.nan, True, None, "2", [2], np.array([2])]
)
def test_bad_sparsity(solver, sparsity):
    with refuses("sparsity must be an integer from 1 to n_features=6; got", repr(sparsity)):
        fitted(sparsity=sparsity, solver=solver)


@pytest.mark.parametrize("sparsity", [0, -1, P + 1, 2.0, True, None, "2"])
def test_bad_sparsity_in_a_grid(sparsity):
    with refuses("sparsity must be an integer", "=6; got", repr(sparsity)):
        SparseRidgeCV(sparsities=[1, sparsity]).fit(X, Y)
    with refuses("sparsity must be an integer", "=6; got", repr(sparsity)):
        sparse_ridge_path(X, Y, [1, sparsity], [1.0])


BAD_GAMMAS = [0, 0.0, -1.0, np.inf, -np.inf, np.nan, 1e-310, 10**400, True, None, "1", 1j, [1.0]]


@solvers
@pytest.mark.parametrize("gamma", BAD_GAMMAS, ids=lambda gamma: repr(gamma)[:9])
def test_bad_gamma(solver, gamma):
    with refuses("gamma must be a positive, finite number; got", repr(gamma)):
        fitted(gamma=gamma, solver=solver)
    with refuses("gamma must be a positive, finite number; got", repr(gamma)):
        SparseRidgeCV(gammas=[1.0, gamma]).fit(X, Y)
    with refuses("gamma must be a positive, finite number; got", repr(gamma)):
        sparse_ridge_path(X, Y, [1], [1.0, gamma])


@pytest.mark.parametrize("name", ["sparsities", "gammas"])
@pytest.mark.parametrize("values", [1, 1.5, [], (), "12", np.array(1.0)], ids=repr)
def test_bad_axis(name, values):
    message = f"{name} must be a sequence of at least one number; got {values!r}"
    with refuses(message):
        SparseRidgeCV(**{name: values}).fit(X, Y)
    with refuses(message):
        sparse_ridge_path(X, Y, **{"sparsities": [1], "gammas": [1.0], name: values})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "newton"}, "solver must be one of ['beam'"),
        ({"solver": "newton"}, "got 'newton'"),
        ({"solver": None}, "got None"),
        ({"solver": ["beam"]}, "got ['beam']"),
        ({"beam_width": 0}, "beam_width must be an integer of at least 1; got 0"),
        ({"beam_width": -3}, "got -3"),
        ({"beam_width": 2.0}, "got 2.0"),
        ({"beam_width": True}, "got True"),
        ({"beam_width": None}, "got None"),
        ({"tol": -0.1}, "tol must be a number from 0 to below 1; got -0.1"),
        ({"tol": 1.0}, "got 1.0"),
        ({"tol": np.nan}, "got nan"),
        ({"tol": "small"}, "got 'small'"),
        ({"time_limit": 0}, "time_limit must be a positive number of seconds, or None; got 0"),
        ({"time_limit": -1.0}, "got -1.0"),
        ({"time_limit": np.nan}, "got nan"),
        ({"time_limit": "long"}, "got 'long'"),
    ],
)
def test_bad_options(options, message):
    with refuses(message):
        fitted(**options)
    with refuses(message):
        sparse_ridge_path(X, Y, [1], [1.0], **options)


@solvers
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("value", "named"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")]
)
def test_bad_values(solver, kind, value, named):
    bad = X.copy()
    bad[3, 2] = value
    with refuses("X contains", named):
        fitted(kind(bad), solver=solver)
    with refuses("X contains", named):
        fitted(solver=solver).predict(kind(bad))
    bad_y = Y.copy()
    bad_y[3] = value
    with refuses("y contains", named):
        fitted(y=bad_y, solver=solver)


@solvers
@pytest.mark.parametrize("factor", [1e80, 1e154, 1e200, 1e307])
def test_too_large(solver, factor):
    """The squares overflow."""
    for bad in (X * (factor / np.abs(X).max()), sparse.csc_matrix(X * (factor / np.abs(X).max()))):
        with refuses("too large: the squares of a column or of y sum up to", "must stay below 1e+150"):
            fitted(bad, solver=solver)
    with refuses("too large"):
        fitted(y=Y * (factor / np.abs(Y).max()), solver=solver)
    with refuses("too large"):
        fitted(weight=np.full(N, factor * 1e100 if factor < 1e200 else factor), solver=solver)


@solvers
@pytest.mark.parametrize("value", [1e76, 1e155, -1e200, 2.0**1000])
def test_too_large_a_constant(solver, value):
    """Nothing is left of it when it is centred, but its square overflows before."""
    y = np.full(N, value)
    for weight in (None, np.full(N, 0.5)):
        with refuses("too large: the squares of a column or of y sum up to", "must stay below 1e+150"):
            fitted(y=y, weight=weight, solver=solver)
    for other in (np.r_[y[:-1], 0.0], np.r_[0.0 * y[:-1], value]):
        with refuses("too large"):
            fitted(y=other, solver=solver)


def test_too_large_for_the_path_and_the_choice():
    y = np.full(N, 1e200)
    for bad_X, bad_y in ((X, y), (X, 1e200 * Y), (1e200 * X, Y)):
        with refuses("too large: the squares of a column or of y sum up to", "must stay below 1e+150"):
            sparse_ridge_path(bad_X, bad_y, [1, 2], [1.0])
        with refuses("too large: the squares of a column or of y sum up to", "must stay below 1e+150"):
            SparseRidgeCV(sparsities=[1, 2], gammas=[1.0], cv=4).fit(bad_X, bad_y)


def test_large_targets_of_light_samples():
    """Their weighted squares are not large."""
    model = fitted(y=1e160 * Y, weight=np.full(N, 1e-300))
    np.testing.assert_allclose(model.coef_ / 1e160, fitted(weight=np.full(N, 1e-300)).coef_, rtol=1e-9)


def test_bad_shapes():
    with refuses("inconsistent numbers of samples: [40, 39]"):
        fitted(y=Y[:-1])
    with refuses("y should be a 1d array, got an array of shape (40, 2)"):
        fitted(y=np.column_stack([Y, Y]))
    with refuses("Expected 2D array, got 1D array"):
        fitted(X=Y)
    with refuses("0 sample(s)"):
        fitted(X[:0], Y[:0])
    with refuses("0 feature(s)"):
        fitted(X[:, :0])
    with refuses("requires y to be passed"):
        fitted(y=None)
    with refuses("X has 5 features, but SparseRidge is expecting 6"):
        fitted().predict(X[:, :5])
    with pytest.raises(NotFittedError):
        SparseRidge(1).predict(X)
    with pytest.raises(NotFittedError):
        SparseRidgeCV().predict(X)


@pytest.mark.parametrize("make", [lambda: SparseRidge(2), lambda: SparseRidgeCV(**SMALL_GRID)])
def test_bad_weights(make):
    with refuses("zero"):
        make().fit(X, Y, np.zeros(N))
    with refuses("Negative values", "sample_weight"):
        make().fit(X, Y, np.linspace(-1, 1, N))
    with refuses("(39,)"):
        make().fit(X, Y, np.ones(N - 1))
    with refuses("sample_weight contains NaN"):
        make().fit(X, Y, np.full(N, np.nan))


def test_bad_search_options():
    with refuses("search must be", "'random'"):
        SparseRidgeCV(search="random").fit(X, Y)
    with refuses("stability_weights must be", "-1"):
        SparseRidgeCV(stability_weights=-1).fit(X, Y)
    with refuses("solver must be one of", "'newton'"):
        SparseRidgeCV(solver="newton").fit(X, Y)
    with refuses("n_splits=5", "n_samples=3"):
        SparseRidgeCV().fit(X[:3], Y[:3])
    with refuses("'cv'", "1"):
        SparseRidgeCV(cv=1).fit(X, Y)
