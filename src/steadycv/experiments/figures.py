"""Figures 1 and 2 of the paper: errors of cross-validation and test errors over sparsity and gamma.

Data are generated as in the paper's Appendix A. The paper centres and scales all samples before they are
split, which tells each training set about the samples left out of it; `"inside"` does both inside
each training set.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steadycv.experiments.result_file import ResultFile, Unit
from steadycv.experiments.running import fingerprint_of, run_units
from steadycv.experiments.splits import N_FOLDS
from steadycv.sparse.path import sparse_ridge_path

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["FIGURES", "N_SEEDS", "SETTINGS", "STANDARDISATIONS", "Samples", "generate", "run_figure"]

FIGURES = {"figure1": "leave-one-out", "figure2": "five-fold"}
SETTINGS = {"overdetermined": (50, 10), "underdetermined": (10, 50)}  # samples, columns
STANDARDISATIONS = ("before", "inside")
N_SEEDS = 20
N_TEST = 10_000
TRUE_SPARSITY, CORRELATION, SIGNAL_TO_NOISE = 5, 0.3, 1.0
SPARSITIES = tuple(range(1, 11))  # the largest is the one that the paper's Figure 1 chooses
GAMMAS = tuple(np.logspace(-3, 3, 20).tolist())
KEY = ("figure", "setting", "standardisation", "seed")
COLUMNS = ("n", "p", "sparsity", "gamma", "cv_error", "test_error", "warnings", "seconds")


class Samples(NamedTuple):
    """Generated data to train and to test on."""

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.float64]


def run_figure(
    figure: str,
    path: Path,
    *,
    n_seeds: int = N_SEEDS,
    settings: Sequence[str] | None = None,
    jobs: int = 1,
    progress: bool = False,
    solver: str = "exact",
) -> None:
    """Compute what a figure shows, or go on with it; its rows are in a CSV file.

    Parameters
    ----------
    figure : {"figure1", "figure2"}
        Leave-one-out or five-fold cross-validation.
    path : Path
        The file. A row is a sparsity and a gamma for one seed, setting and way to standardise; errors
        are in units of the variance of the training target.
    n_seeds : int, default=20
        How many data sets are generated: with seeds 0, 1, ...
    settings : sequence of str, optional
        ``"overdetermined"``, ``"underdetermined"``; both by default.
    jobs : int, default=1
        How many processes work at a time.
    progress : bool, default=False
        Whether there is a bar on standard error.
    solver : str, default="exact"
        The solver of ``SparseRidge``.
    """
    unknown = [name for name in settings or () if name not in SETTINGS]
    if figure not in FIGURES or unknown:
        kind, name, known = ("setting", unknown[0], SETTINGS) if unknown else ("figure", figure, FIGURES)
        raise ValueError(f"There is no {kind} {name!r}; there are {', '.join(known)}.")
    units = [
        Unit(
            key={"figure": figure, "setting": setting, "standardisation": how, "seed": seed},
            configuration=fingerprint_of(figure, setting, how, seed, solver, SPARSITIES, GAMMAS),
            n_rows=len(SPARSITIES) * len(GAMMAS),
            work=partial(_errors, figure, *SETTINGS[setting], how, seed, solver),
        )
        for seed in range(n_seeds)
        for setting in settings or SETTINGS
        for how in STANDARDISATIONS
    ]
    with ResultFile(path, KEY, COLUMNS) as file:
        run_units(units, file, jobs=jobs, progress=progress)


def generate(n_samples: int, n_features: int, seed: int) -> Samples:
    """Data of the paper's Appendix A, before it is standardised.

    Columns are Gaussian with correlation 0.3^|i-j|; five coefficients are 1 or -1, the others 0; the
    noise has the length of the signal, in the training and in the test samples.

    Examples
    --------
    >>> samples = generate(10, 50, seed=0)
    >>> samples.X.shape, samples.X_test.shape
    ((10, 50), (10000, 50))
    """
    rng = np.random.default_rng([seed, n_samples, n_features])
    distance = np.abs(np.subtract.outer(np.arange(n_features), np.arange(n_features)))
    root = np.linalg.cholesky(CORRELATION**distance)
    coef = np.zeros(n_features)
    chosen = rng.permutation(n_features)[:TRUE_SPARSITY]
    coef[chosen] = rng.choice([-1.0, 1.0], TRUE_SPARSITY)

    def draw(n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        X = rng.standard_normal((n, n_features)) @ root.T
        signal, noise = X @ coef, rng.standard_normal(n)
        length = np.linalg.norm(signal) / np.linalg.norm(noise)
        return X, signal + noise * length / np.sqrt(SIGNAL_TO_NOISE)

    return Samples(*draw(n_samples), *draw(N_TEST))


def _errors(
    figure: str, n_samples: int, n_features: int, standardisation: str, seed: int, solver: str
) -> list[dict[str, Any]]:
    """Cross-validation and test error for every sparsity and gamma."""
    samples = generate(n_samples, n_features, seed)
    unit = float(np.var(samples.y))
    before = standardisation == "before"
    if before:
        samples, unit = _standardised(samples), 1.0
    folds = np.arange(n_samples)
    if figure == "figure2":
        folds = np.random.default_rng(seed).permutation(n_samples) % N_FOLDS

    def losses(train: NDArray[Any], X: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64]:
        path = sparse_ridge_path(
            samples.X[train],
            samples.y[train],
            SPARSITIES,
            GAMMAS,
            solver=solver,
            fit_intercept=not before,
            standardize=not before,
        )
        predictions = path.coef @ X.T + path.intercept[..., np.newaxis]
        means: NDArray[np.float64] = np.mean((predictions - y) ** 2, axis=2) / unit
        return means

    cv_error = np.mean(
        [losses(folds != t, samples.X[folds == t], samples.y[folds == t]) for t in np.unique(folds)],
        axis=0,
    )
    test_error = losses(folds >= 0, samples.X_test, samples.y_test)
    return [
        {
            "n": n_samples,
            "p": n_features,
            "sparsity": sparsity,
            "gamma": _digits(gamma),
            "cv_error": _digits(cv_error[t, g]),
            "test_error": _digits(test_error[t, g]),
        }
        for t, sparsity in enumerate(SPARSITIES)
        for g, gamma in enumerate(GAMMAS)
    ]


def _standardised(samples: Samples) -> Samples:
    """Centred and scaled to variance 1, by what the training samples have."""
    mean, scale = samples.X.mean(axis=0), samples.X.std(axis=0)
    y_mean, y_scale = samples.y.mean(), samples.y.std()
    return Samples(
        (samples.X - mean) / scale,
        (samples.y - y_mean) / y_scale,
        (samples.X_test - mean) / scale,
        (samples.y_test - y_mean) / y_scale,
    )


def _digits(value: float) -> float:
    """Five digits are enough for a picture, and keep the file small."""
    return float(f"{value:.5g}")
