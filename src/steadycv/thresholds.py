"""Thresholds: of two classes, from which probability on to say the second, as the chosen score wants it.

All of it is read off what was said of rows by what was chosen and trained without them; nothing is
fitted. A threshold that is tried on the rows that chose it looks better than it is. So each view is
judged at the threshold that the *other* views choose, and what these come to is what to expect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv import rules
from steadycv.averages import Averages, answers
from steadycv.measures import Scored
from steadycv.offers import others

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.averages import FoldJudge

__all__ = ["HALF", "NoThresholdError", "Threshold", "find_threshold"]

HALF = 0.5
MOST_TRIED = 200  # thresholds
ONLY_LABELS = {("predict",)}


class NoThresholdError(ValueError):
    """There is no threshold to choose; the message says why."""


@dataclass(frozen=True)
class Threshold:
    """The operating point of a classifier of two classes, beside 0.5.

    Attributes
    ----------
    value : float
        From this probability of the second class on, it is predicted.
    classes : ndarray
        Both classes.
    error : float
        The error to expect at such a threshold: of each view at the one that the others choose. Minus
        the score where one drives.
    error_at_half : float
        The error on the same rows as the model predicts by itself.
    by_view : ndarray
        The threshold that each view is judged at.
    confusion, confusion_at_half : ndarray of shape (2, 2)
        How many rows of a class (by row) are predicted as which (by column), each view at its threshold,
        and as the model predicts by itself. A row counts for each view that is judged on it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from steadycv import StabilitySearchCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> grid = {"max_depth": [2, 3], "min_samples_leaf": [10]}
    >>> search = StabilitySearchCV(DecisionTreeClassifier(), grid, scoring="balanced_accuracy")
    >>> threshold = search.fit(X, y).threshold_
    >>> f"{-threshold.error_at_half:.3f} at 0.5, {-threshold.error:.3f} at {threshold.value:.2f}"
    '0.930 at 0.5, 0.931 at 0.85'
    """

    value: float
    classes: NDArray[Any]
    error: float
    error_at_half: float
    by_view: NDArray[np.float64]
    confusion: NDArray[np.intp]
    confusion_at_half: NDArray[np.intp]

    @property
    def helps(self) -> bool:
        """Whether it does better than 0.5 on rows that had no say in it."""
        return self.value != HALF and self.error < self.error_at_half


def find_threshold(judge: FoldJudge, said: Averages, targets: NDArray[Any], estimator: Any) -> Threshold:
    """The threshold that the measure of a search wants, and what it is worth.

    Parameters
    ----------
    judge : FoldJudge
        Judges labels in each view.
    said : Averages
        What was chosen without a view's rows says of them.
    targets : ndarray
        The targets of all samples.
    estimator : estimator
        That of the search.

    Raises
    ------
    NoThresholdError
        Where there are not two classes, no probabilities, or a score that looks at no labels.
    """
    classes, measure = judge.classes, judge.measure
    if classes is None or len(classes) != 2:
        raise NoThresholdError("a threshold is for a classifier of two classes.")
    if not all("predict_proba" in tables for tables in said.by_view):
        raise NoThresholdError("the model says no probabilities, and a threshold is one.")
    asked = (measure.scores if isinstance(measure, Scored) else measure).methods(estimator)
    if set(asked) != ONLY_LABELS:
        raise NoThresholdError(
            "the score that drives looks at probabilities or ranks and not at labels, so it wants none: "
            "search by one of labels, as scoring='f1' or 'balanced_accuracy'."
        )
    if len(said.by_view) < 2:
        raise NoThresholdError("one view alone cannot choose a threshold for another.")
    shares = [tables["predict_proba"][0][:, 1] for tables in said.by_view]
    tried = _tried(np.concatenate(shares))
    # As the model predicts by itself comes first: it is taken where nothing is better.
    by_itself = [
        answers({"predict_proba": t["predict_proba"][:1]}, classes)["predict"] for t in said.by_view
    ]
    labels = [
        np.concatenate([own, classes[(share >= tried[:, np.newaxis]).astype(np.intp)]])
        for own, share in zip(by_itself, shares, strict=True)
    ]
    values = np.concatenate([[HALF], tried])
    errors = judge.errors(Averages([{"predict": each} for each in labels]))
    best = rules.first_minimum(errors.mean(axis=1))
    chosen = [rules.first_minimum(errors[:, rest].mean(axis=1)) for rest in others(judge.lattice)]
    happened = [targets[rows] for rows in judge.rows]
    return Threshold(
        value=float(values[best]),
        classes=classes,
        error=float(errors[chosen, np.arange(len(chosen))].mean()),
        error_at_half=float(errors[0].mean()),
        by_view=values[chosen],
        confusion=_confusion(
            happened, [each[c] for each, c in zip(labels, chosen, strict=True)], classes
        ),
        confusion_at_half=_confusion(happened, [each[0] for each in labels], classes),
    )


def _tried(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Thresholds between the probabilities that there are, those near to 0.5 first."""
    known = np.unique(shares)
    between = (known[1:] + known[:-1]) / 2
    if len(between) > MOST_TRIED:
        at = np.linspace(0, len(between) - 1, MOST_TRIED).round().astype(np.intp)
        between = between[at]
    return between[np.argsort(np.abs(between - HALF), kind="stable")]


def _confusion(
    happened: list[NDArray[Any]], predicted: list[NDArray[Any]], classes: NDArray[Any]
) -> NDArray[np.intp]:
    true, said = (np.searchsorted(classes, np.concatenate(each)) for each in (happened, predicted))
    return np.bincount(2 * true + said, minlength=4).reshape(2, 2)
