"""Nested predictions beside what happened: what all pictures of a model's quality are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from steadycv._arrays import one_column
from steadycv.averages import answers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.search import StabilitySearchCV

__all__ = ["Judged"]


@dataclass(frozen=True)
class Judged:
    """What would have been delivered without each row says of it, beside the row's target.

    Rows stand view by view; with repeats, or test rows that overlap, a row is there more than once.

    Attributes
    ----------
    rows : ndarray of int of shape (n,)
        The numbers of the samples.
    view : ndarray of int of shape (n,)
        By row, which of ``lattice_.views`` it is judged in.
    targets : ndarray of shape (n,)
        What happened.
    predicted : ndarray of shape (n,)
        What was predicted: numbers, or labels.
    probabilities : ndarray of shape (n, n_classes) or None
        Of classifiers that have them, in the order of `classes`.
    classes : ndarray or None
        The classes, sorted; None of regressors.
    weight : ndarray of shape (n,) or None
        How much each row counts, where rows have weights.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from steadycv import StabilitySearchCV
    >>> from steadycv.explain import Judged
    >>> search = StabilitySearchCV(Ridge(), {"alpha": [0.01, 0.1, 1]})
    >>> judged = Judged.from_search(search.fit(*load_diabetes(return_X_y=True)))
    >>> print(f"{(judged.residuals**2).mean():.0f}")
    3021
    """

    rows: NDArray[np.intp]
    view: NDArray[np.intp]
    targets: NDArray[Any]
    predicted: NDArray[Any]
    probabilities: NDArray[np.float64] | None
    classes: NDArray[Any] | None
    weight: NDArray[np.float64] | None

    @classmethod
    def from_search(cls, search: StabilitySearchCV) -> Judged | None:
        """Those of a fitted search; None without a nested error or a single target of each row."""
        check_is_fitted(search)
        targets, offer = search._evidence.targets, search.offers_.get(search.deliver)
        is_of_classes = is_classifier(search.estimator)
        if targets is None or targets.ndim > 1 or not (is_of_classes or is_regressor(search.estimator)):
            return None
        if offer is None or offer.said is None:
            return None
        classes = np.unique(targets) if is_of_classes else None
        views = search.lattice_.views
        rows = [search.lattice_.splits[view.test_split].test for view in views]
        said = [
            answers({method: table[:1] for method, table in tables.items()}, classes)
            for tables in offer.said.by_view
        ]
        at = np.concatenate(rows)
        has_shares = is_of_classes and all("predict_proba" in each for each in said)
        weight = search._evidence.weight
        return cls(
            rows=at,
            view=np.repeat(np.arange(len(views)), [len(each) for each in rows]),
            targets=targets[at],
            predicted=np.concatenate([one_column(each["predict"][0]) for each in said]),
            probabilities=np.concatenate([each["predict_proba"][0] for each in said])
            if has_shares
            else None,
            classes=classes,
            weight=None if weight is None else weight[at],
        )

    @property
    def residuals(self) -> NDArray[np.float64]:
        """How far each row was from what was said of it.

        Of numbers the target less the prediction; of classes one minus the probability of the row's own,
        or, without probabilities, 1 where the label is wrong.
        """
        if self.classes is None:
            return np.asarray(self.targets - self.predicted, dtype=np.float64)
        if self.probabilities is None:
            return np.asarray(self.targets != self.predicted, dtype=np.float64)
        own = np.searchsorted(self.classes, self.targets)
        missing: NDArray[np.float64] = 1 - self.probabilities[np.arange(len(own)), own]
        return missing

    def only(self, some: NDArray[Any]) -> Judged:
        """Some of the rows, by a mask or by their positions."""
        return Judged(
            rows=self.rows[some],
            view=self.view[some],
            targets=self.targets[some],
            predicted=self.predicted[some],
            probabilities=None if self.probabilities is None else self.probabilities[some],
            classes=self.classes,
            weight=None if self.weight is None else self.weight[some],
        )
