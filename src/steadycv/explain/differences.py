"""Models compared: how much more each promises than the best, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from steadycv.promise_intervals import errors_interval

if TYPE_CHECKING:
    from steadycv.search import StabilitySearchCV

__all__ = ["Difference", "differences"]


class Difference(NamedTuple):
    """How much higher the error of a model is than the best one's.

    Attributes
    ----------
    name : str
        The model.
    error : float
        What it promises: the mean error in the views of what was chosen without their rows.
    difference : float
        By how much that is above the lowest.
    interval : tuple of float
        Of the difference: Nadeau and Bengio's corrected t interval over the views, at 90 %.
    caution : str
        Why the interval is not to be relied on; empty where nothing is known to speak against it.
    """

    name: str
    error: float
    difference: float
    interval: tuple[float, float]
    caution: str = ""


def differences(searches: StabilitySearchCV | Mapping[str, StabilitySearchCV]) -> list[Difference]:
    """Models compared by what they promise, view by view, the best first.

    Parameters
    ----------
    searches : StabilitySearchCV or dict of str to StabilitySearchCV
        A fitted search of several grids, whose ``families_`` are compared; or fitted searches by name,
        of the same splits and the same loss or score.

    Returns
    -------
    found : list of Difference
        Empty where nothing can be compared pair by pair: fewer than two searches or views, other
        splits, other losses or scores, or no nested error.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from steadycv import StabilitySearchCV
    >>> from steadycv.explain import differences
    >>> tree = StabilitySearchCV(DecisionTreeRegressor(), {"max_depth": [2, 3]})
    >>> ridge = StabilitySearchCV(Ridge(), {"alpha": [0.1, 1]})
    >>> searches = {"tree": tree, "ridge": ridge}
    >>> for search in searches.values():
    ...     _ = search.fit(*load_diabetes(return_X_y=True))
    >>> [each.name for each in differences(searches)]
    ['ridge', 'tree']
    """
    if not isinstance(searches, Mapping):
        try:
            found_there = searches.families_
        except AttributeError:  # one grid, or too little is known of each
            return []
        return [
            Difference(each.name, each.nested_error, each.difference, each.interval, each.caution)
            for each in found_there
        ]
    for search in searches.values():
        check_is_fitted(search)
    if len(searches) < 2 or not _can_be_paired(list(searches.values())):
        return []
    lattice = next(iter(searches.values())).lattice_
    errors = {name: search.offers_[search.deliver].errors for name, search in searches.items()}
    order = sorted(errors, key=lambda name: float(errors[name].mean()))
    n_test = np.mean([len(lattice.splits[view.test_split].test) for view in lattice.views])
    n_train = np.mean([lattice.n_rows(view.reference) for view in lattice.views])
    found = []
    for name in order:
        apart = errors[name] - errors[order[0]]
        found.append(
            Difference(
                name,
                float(errors[name].mean()),
                float(apart.mean()),
                errors_interval(apart, float(n_test / n_train), 0.9),
            )
        )
    return found


def _can_be_paired(searches: list[StabilitySearchCV]) -> bool:
    """Whether the errors of all are of one kind, on the same rows."""
    first, *rest = searches
    if any(search.deliver not in search.offers_ for search in searches):
        return False
    if len(first.lattice_.views) < 2 or any(
        _what_is_measured(search) != _what_is_measured(first) for search in rest
    ):
        return False
    rows, *others = (_rows_of_views(search) for search in searches)
    return all(rows == other for other in others)


def _rows_of_views(search: StabilitySearchCV) -> list[tuple[bytes, bytes]]:
    """The rows that views train on and are judged on, to compare."""
    splits = [search.lattice_.splits[view.test_split] for view in search.lattice_.views]
    return [(split.train.tobytes(), split.test.tobytes()) for split in splits]


def _what_is_measured(search: StabilitySearchCV) -> tuple[object, ...]:
    if search.driving_score_ is None:
        return ("loss", getattr(search.loss_, "name", search.loss_))
    scoring = search.scoring if isinstance(search.scoring, str) else search.driving_score_
    return ("score", scoring)
