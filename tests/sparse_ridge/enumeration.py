"""Sparse ridge regression by trying every support, in plain formulas."""

from itertools import combinations

import numpy as np


def centred(X, y, weight=None, *, fit_intercept=True, standardize=False):
    """The columns and the target without intercept and weights, and the scale of the columns."""
    weight = np.ones(len(y)) if weight is None else weight
    X_mean, y_mean = np.average(X, axis=0, weights=weight), np.average(y, weights=weight)
    scale = np.ones(X.shape[1])
    if standardize:
        deviation = np.sqrt(np.average((X - X_mean) ** 2, axis=0, weights=weight))
        scale = np.where(deviation > 1e-12 * np.abs(X_mean), deviation, 1.0)
    if fit_intercept:
        X, y = X - X_mean, y - y_mean
        # What is constant is not exactly zero after that.
        X = np.where(np.abs(X).max(axis=0) > 1e-12 * np.abs(X_mean), X, 0.0)
        y = y if np.abs(y).max() > 1e-12 * np.abs(y_mean) else np.zeros(len(y))
    root = np.sqrt(weight)
    return root[:, np.newaxis] * X / scale, root * y, scale


def objectives(X, y, gamma, supports):
    """The objective of each support: what a least-squares fit to ridge's augmented rows leaves."""
    supports = np.asarray(supports, dtype=int)
    n_supports, size = supports.shape
    rows = np.zeros((n_supports, len(y) + size, size))
    rows[:, : len(y)] = X[:, supports].transpose(1, 0, 2)
    rows[:, len(y) :] = np.eye(size) / np.sqrt(gamma)
    basis, singular, _ = np.linalg.svd(rows, full_matrices=False)
    basis = basis * (singular > 1e-15 * singular[:, :1])[:, np.newaxis]
    rest = np.tile(np.concatenate([y, np.zeros(size)]), (n_supports, 1))[..., np.newaxis]
    for _ in range(2):  # the second time takes away what rounding left
        rest = rest - basis @ (basis.transpose(0, 2, 1) @ rest)
    return 0.5 * (rest**2).sum(axis=(1, 2))


def optimum(X, y, gamma, sparsity):
    """The lowest objective of all supports; those of full size are enough, as more never hurts."""
    supports = list(combinations(range(X.shape[1]), sparsity))
    return objectives(X, y, gamma, supports).min()


def plain_objective(model, X, y, weight=None, scale=1.0):
    """The objective of a fitted model, from its coefficients and intercept."""
    weight = np.ones(len(y)) if weight is None else weight
    squares = weight @ (y - X @ model.coef_ - model.intercept_) ** 2
    return 0.5 * squares + ((model.coef_ * scale) ** 2).sum() / (2 * model.gamma)


def problem(seed):
    """A random problem with something wrong with its columns: X, y and gamma."""
    rng = np.random.default_rng(seed)
    n_samples, n_features = int(rng.integers(2, 25)), int(rng.integers(1, 9))
    X = rng.normal(size=(n_samples, n_features))
    kind = seed % 7
    if kind == 1:  # correlated
        X = X @ (np.eye(n_features) + rng.normal(size=(n_features, n_features)))
    elif kind == 2:  # almost equal
        X = rng.normal(size=(n_samples, 1)) + 10.0 ** rng.integers(-6, 0) * X
    elif kind == 3:  # many ties
        X = rng.integers(-1, 2, size=(n_samples, n_features)).astype(float)
    elif kind == 4:  # some equal
        X = X[:, rng.integers(0, n_features, size=n_features)]
    elif kind == 5:  # of different size, not near zero
        X = X * 10.0 ** rng.integers(-2, 3, size=n_features) + 10.0 ** rng.integers(0, 3, n_features)
    elif kind == 6:  # of rank 2
        X = rng.normal(size=(n_samples, 2)) @ rng.normal(size=(2, n_features))
    if rng.random() < 0.3:
        X[:, rng.integers(n_features)] = rng.choice([0.0, 0.1, 7.0])
    y = X @ (rng.normal(size=n_features) * (rng.random(n_features) < 0.5))
    if rng.random() < 0.8:
        y = y + 10.0 ** rng.integers(-3, 2) * rng.normal(size=n_samples)
    return X, y + rng.choice([0.0, 100.0]), float(10.0 ** rng.uniform(-8, 8))
