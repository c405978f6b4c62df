"""Intervals for single predictions, and sets of classes.

Arithmetic on what models said of rows that had no say in them. Nothing here fits a model.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv.rules import TIE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from steadycv.lattice import Lattice

__all__ = [
    "check_cv_plus",
    "class_sets",
    "covering_quantile",
    "cv_plus_interval",
    "residual_interval",
    "sets_by_surprise",
    "surprises",
]

MAX_TABLE = 2**22  # numbers in the table of a block of new rows by all training rows


def residual_interval(
    predictions: NDArray[Any],
    residuals: NDArray[np.float64],
    coverage: float = 0.9,
    sample_weight: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Predictions, less and plus a quantile of the absolute residuals.

    Parameters
    ----------
    predictions : ndarray of shape (n_new,)
        What the delivered model says of new rows.
    residuals : ndarray of shape (n_samples,) or (n_repeats, n_samples)
        Targets less what would have been delivered without the row; NaN for rows never judged.
    coverage : float, default=0.9
        The share of new rows whose target is to be in its interval.
    sample_weight : ndarray of shape (n_samples,), default=None
        How much each row counts.

    Returns
    -------
    interval : ndarray of shape (n_new, 2)
        The lower and the upper ends.

    Examples
    --------
    >>> residuals = np.array([0.5, -1.0, 2.0, -0.2])
    >>> residual_interval(np.array([10.0, 20.0]), residuals, coverage=0.6)
    array([[ 9., 11.],
           [19., 21.]])
    """
    predictions = _one_number_a_row(predictions)
    width = covering_quantile(np.abs(residuals), coverage, sample_weight)
    return np.column_stack([predictions - width, predictions + width])


def cv_plus_interval(
    outputs: NDArray[Any],
    tests: Sequence[NDArray[np.intp]],
    residuals: NDArray[np.float64],
    coverage: float = 0.9,
    sample_weight: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Quantiles of what the models without a row say, less and plus its residual: CV+.

    By Barber and others, *Predictive inference with the jackknife+*. Where several models were trained
    without a row, with repeats, it is their mean.

    Parameters
    ----------
    outputs : ndarray of shape (n_models, n_new)
        What the models of the splits say of new rows.
    tests : sequence of ndarray
        The rows that each of them was trained without.
    residuals : ndarray of shape (n_samples,)
        Targets less the mean of what the models without the row say.
    coverage : float, default=0.9
        The share of new rows whose target is to be in its interval.
    sample_weight : ndarray of shape (n_samples,), default=None
        How much each row counts.

    Returns
    -------
    interval : ndarray of shape (n_new, 2)
        The lower and the upper ends.

    Examples
    --------
    >>> tests = [np.array([0, 1]), np.array([2, 3])]
    >>> residuals = np.array([0.5, -1.0, 2.0, -0.2])
    >>> cv_plus_interval(np.array([[10.0], [11.0]]), tests, residuals, coverage=0.6)
    array([[ 9. , 11.2]])
    """
    outputs = np.stack([_one_number_a_row(said) for said in outputs])
    share = np.zeros((len(outputs), len(residuals)))
    for model, rows in enumerate(tests):
        share[model, rows] = 1.0
    n_without = share.sum(axis=0)
    known = (n_without > 0) & ~np.isnan(residuals)
    share = share[:, known] / n_without[known]
    weight = _weights(known, sample_weight)
    needed = _needed_share(weight, coverage)
    away = np.abs(residuals[known])
    interval = np.empty((outputs.shape[1], 2))
    for block in _blocks(len(interval), len(away)):
        without = outputs[:, block].T @ share
        interval[block, 0] = -_smallest(away - without, weight, needed)
        interval[block, 1] = _smallest(away + without, weight, needed)
    return interval


def check_cv_plus(lattice: Lattice) -> None:
    """Refuse splits for which CV+ means nothing: those that train on less than all rows but the tested.

    Raises
    ------
    ValueError
        With the first such split.

    Examples
    --------
    >>> from sklearn.model_selection import TimeSeriesSplit
    >>> from steadycv.lattice import Lattice
    >>> check_cv_plus(Lattice(TimeSeriesSplit(3).split(range(20)), n_samples=20))
    Traceback (most recent call last):
    ...
    ValueError: CV+ compares models that were trained on all rows but those that they are tested on, and
    split 0 trains on 5 of 15 such rows, as in time order. Take the intervals of nested residuals.
    """
    for number, (train, test) in enumerate(lattice.splits):
        rest = lattice.n_samples - len(np.unique(test))
        if len(np.unique(train)) < rest:
            raise ValueError(
                "CV+ compares models that were trained on all rows but those that they are tested on, "
                f"and split {number} trains on {len(np.unique(train))} of {rest} such rows, as in time "
                "order. Take the intervals of nested residuals."
            )


def class_sets(
    probabilities: NDArray[np.float64],
    nested: NDArray[np.float64],
    classes: NDArray[np.intp],
    coverage: float = 0.9,
    sample_weight: NDArray[np.float64] | None = None,
) -> NDArray[np.bool_]:
    """The classes that are probable enough, of each new row; always the most probable one.

    Parameters
    ----------
    probabilities : ndarray of shape (n_new, n_classes)
        What the delivered model says of new rows.
    nested : ndarray of shape (n_samples, n_classes) or (n_repeats, n_samples, n_classes)
        What would have been delivered without the row says of it; NaN for rows never judged.
    classes : ndarray of int of shape (n_samples,)
        The column of each row's class.
    coverage : float, default=0.9
        The share of new rows whose class is to be in its set.
    sample_weight : ndarray of shape (n_samples,), default=None
        How much each row counts.

    Returns
    -------
    sets : ndarray of bool of shape (n_new, n_classes)
        Whether a class is in the set.

    Examples
    --------
    >>> nested = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]])
    >>> class_sets(np.array([[0.5, 0.5], [0.8, 0.2]]), nested, np.array([0, 1, 1, 1]), coverage=0.8)
    array([[ True,  True],
           [ True, False]])
    """
    if probabilities.ndim != 2 or nested.ndim < 2:
        raise ValueError(
            "Sets of classes are made from probabilities, and here are labels alone: search for a "
            "classifier that has predict_proba."
        )
    return sets_by_surprise(probabilities, surprises(nested, classes), coverage, sample_weight)


def surprises(nested: NDArray[np.float64], classes: NDArray[np.intp]) -> NDArray[np.float64]:
    """One minus the probability that was given to each row's class; as `class_sets` takes them.

    Examples
    --------
    >>> surprises(np.array([[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]]), np.array([0, 1, 0]))
    array([0.25, 0.5 , 0.75])
    """
    of_class = np.broadcast_to(classes, nested.shape[:-1])[..., np.newaxis]
    surprise: NDArray[np.float64] = 1 - np.take_along_axis(nested, of_class, axis=-1)[..., 0]
    return surprise


def sets_by_surprise(
    probabilities: NDArray[np.float64],
    surprise: NDArray[np.float64],
    coverage: float = 0.9,
    sample_weight: NDArray[np.float64] | None = None,
) -> NDArray[np.bool_]:
    """The same as `class_sets`, of what `surprises` has found.

    Examples
    --------
    >>> sets_by_surprise(np.array([[0.5, 0.5], [0.8, 0.2]]), np.array([0.1, 0.6, 0.3, 0.2]), 0.8)
    array([[ True,  True],
           [ True, False]])
    """
    # A mean of more models is summed in another order.
    sets = 1 - probabilities <= covering_quantile(surprise, coverage, sample_weight) + TIE
    sets[np.arange(len(sets)), probabilities.argmax(axis=1)] = True
    return sets


def covering_quantile(
    scores: NDArray[np.float64], coverage: float, sample_weight: NDArray[np.float64] | None = None
) -> float:
    """What the score of a new row does not exceed, with this probability.

    Of n rows it is the score of rank ``ceil((n + 1) coverage)``: the new row is any of n + 1.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,) or (n_repeats, n_samples)
        How far each row is from what was said of it; NaN for rows never judged. Those of repeats are
        taken together, and count as so many rows as there are.
    coverage : float
        The probability.
    sample_weight : ndarray of shape (n_samples,), default=None
        How much each row counts; the new one is taken to count as one of as many equal rows as these
        are worth, ``sum(w)**2 / sum(w**2)``.

    Returns
    -------
    quantile : float
        One of the scores.

    Examples
    --------
    >>> float(covering_quantile(np.arange(1.0, 100.0), 0.9))
    90.0
    """
    scores = np.atleast_2d(scores)
    known = ~np.isnan(scores.sum(axis=0))
    weight = _weights(known, sample_weight)
    needed = _needed_share(weight, coverage)
    return float(_smallest(scores[:, known].ravel(), np.tile(weight, len(scores)), needed))


def _one_number_a_row(predictions: NDArray[Any]) -> NDArray[np.float64]:
    if predictions.ndim != 1:
        raise ValueError(
            f"An interval is for one number a row, and there are {predictions.shape[-1]}: search for "
            "each target by itself."
        )
    return predictions.astype(np.float64, copy=False)


def _weights(known: NDArray[np.bool_], sample_weight: NDArray[np.float64] | None) -> NDArray[np.float64]:
    return np.ones(known.sum()) if sample_weight is None else sample_weight[known]


def _needed_share(weight: NDArray[np.float64], coverage: float) -> float:
    """The share of the rows' weight that the quantile must not be below."""
    if not 0 < coverage < 1:
        raise ValueError(f"coverage must be between 0 and 1, as 0.9 is; got {coverage!r}.")
    n = weight.sum() ** 2 / (weight**2).sum() if weight.any() else 0.0
    fewest = coverage / (1 - coverage)
    if n < fewest * (1 - TIE):
        worth = "" if math.isclose(n, len(weight)) else " by their weights"
        raise ValueError(
            f"A coverage of {coverage:g} takes {math.ceil(fewest * (1 - TIE))} judged rows, and there "
            f"are {n:.4g}{worth}, enough for {math.floor(100 * n / (n + 1)) / 100:g}: ask for less, or "
            "judge more rows."
        )
    return coverage * (n + 1) / n * (1 - TIE)


def _smallest(
    values: NDArray[np.float64], weight: NDArray[np.float64], share: float
) -> NDArray[np.float64]:
    """The smallest value with that share of the weight at or below it, along the last axis."""
    if (weight == weight[0]).all():  # no need to sort
        rank = math.ceil(share * len(weight))
        return np.partition(values, rank - 1, axis=-1)[..., rank - 1]
    order = np.argsort(values, axis=-1)
    reached = weight[order].cumsum(axis=-1)
    first = (reached < share * reached[..., -1:]).sum(axis=-1, keepdims=True)
    return np.take_along_axis(values, np.take_along_axis(order, first, axis=-1), axis=-1)[..., 0]


def _blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    size = max(1, MAX_TABLE // n_columns)
    return (slice(start, start + size) for start in range(0, n_rows, size))
