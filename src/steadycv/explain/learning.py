"""The learning curve over the training sets that the lattice has anyway."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.search import StabilitySearchCV

__all__ = ["LearningCurve"]


@dataclass(frozen=True)
class LearningCurve:
    """The error on the same rows of the same choices, trained on fewer rows and on more.

    Each view's choice is judged on the view's rows, which had no part in choosing it: as the other views
    see it (with five folds trained on 60 % of the rows) and as the view trains it (80 %). What is
    delivered is trained on all rows, and no row is left to judge that on.

    Attributes
    ----------
    n_rows : ndarray of shape (2,)
        The mean sizes of these training sets.
    n_samples : int
        The number of all rows.
    errors : ndarray of shape (2, n_views)
        By size and view the error, minus the score where one drives.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from steadycv import StabilitySearchCV
    >>> from steadycv.explain import LearningCurve
    >>> search = StabilitySearchCV(KNeighborsRegressor(), {"n_neighbors": [5, 10, 20]})
    >>> curve = LearningCurve.from_search(search.fit(*load_diabetes(return_X_y=True)))
    >>> [f"{rows:.0f}: {error:.0f}" for rows, error in zip(curve.n_rows, curve.errors.mean(axis=1))]
    ['265: 3280', '354: 3254']
    """

    n_rows: NDArray[np.float64]
    n_samples: int
    errors: NDArray[np.float64]

    @classmethod
    def from_search(cls, search: StabilitySearchCV) -> LearningCurve | None:
        """That of a fitted search; None where no two training sets are judged on the same rows."""
        check_is_fitted(search)
        offer = search.offers_.get("model")
        if offer is None or not offer.chosen:
            return None
        lattice, error = search.lattice_, search.ledger_.error
        inside: dict[int, list[int]] = {}  # by rows to judge on, where views look for errors on them
        for view in lattice.views:
            for evaluation in view.evaluations.tolist():
                inside.setdefault(lattice.evaluations[evaluation].row_set, []).append(evaluation)
        sizes, errors = np.zeros((2, len(lattice.views))), np.full((2, len(lattice.views)), np.nan)
        for number, (view, chosen) in enumerate(zip(lattice.views, offer.chosen, strict=True)):
            assert view.judged is not None
            same_rows = inside.get(lattice.evaluations[view.judged].row_set, [])
            fewer = [e for e in same_rows if e != view.judged]
            for row, evaluations in enumerate((fewer, [view.judged])):
                if evaluations:
                    trained = [lattice.evaluations[e].training_set for e in evaluations]
                    sizes[row, number] = np.mean([lattice.n_rows(each) for each in trained])
                    errors[row, number] = error[chosen, evaluations].mean()
        if not np.isfinite(errors).all() or not (sizes[0] < sizes[1]).all():
            return None
        return cls(sizes.mean(axis=1), lattice.n_samples, errors)

    @property
    def shares(self) -> NDArray[np.float64]:
        """The sizes as shares of all rows."""
        shares: NDArray[np.float64] = self.n_rows / self.n_samples
        return shares
