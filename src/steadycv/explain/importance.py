"""What columns are worth: how much worse the outer models do where a column is shuffled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.inspection import permutation_importance
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from steadycv._compat import check_method_params, is_pairwise, n_samples_of, safe_split
from steadycv.estimators import new_estimator
from steadycv.losses import default_loss
from steadycv.scoring import LossScorer
from steadycv.split_words import SplitWords

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.search import StabilitySearchCV

__all__ = ["ColumnImportance", "column_importance"]


@dataclass(frozen=True)
class ColumnImportance:
    """How much higher the error is on rows where a column is shuffled.

    Attributes
    ----------
    columns : list of str
        Their names; ``"column 0"``, ... where they have none.
    by_view : ndarray of shape (n_views, n_columns)
        By view, the rise of the error (the fall of the score) of the view's own choice on rows that it
        was neither chosen nor trained with; a mean over the shuffles.
    split_word : str
        What a view leaves out: ``"fold"`` or ``"split"``.
    """

    columns: list[str]
    by_view: NDArray[np.float64]
    split_word: str

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean over the views."""
        mean: NDArray[np.float64] = self.by_view.mean(axis=0)
        return mean

    @property
    def order(self) -> NDArray[np.intp]:
        """The columns, those that matter most first."""
        return np.argsort(-self.mean, kind="stable")


def column_importance(
    search: StabilitySearchCV,
    X: Any,
    y: Any,
    *,
    n_repeats: int = 5,
    random_state: int = 0,
    **fit_params: Any,
) -> ColumnImportance:
    """Find out what columns are worth to what was chosen without a part of the data.

    Each view's own choice is fitted again on the view's training rows, and judged on its test rows with
    one column after the other shuffled. So the importance is that of columns on new rows, of the models
    that the nested error is about, and its spread over the views says how sure it is. Columns that say
    the same stand in for each other, and each looks worth less than both together.

    Parameters
    ----------
    search : StabilitySearchCV
        A fitted search with a nested error.
    X, y : data
        What it was fitted on.
    n_repeats : int, default=5
        How often each column is shuffled.
    random_state : int, default=0
        The seed of the shuffles.
    **fit_params : dict
        What `fit` was given for the estimator besides, such as ``sample_weight``.

    Returns
    -------
    importance : ColumnImportance
        By view and column.

    See Also
    --------
    sklearn.inspection.permutation_importance : Of one model, on rows of your choice.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from steadycv import StabilitySearchCV
    >>> from steadycv.explain import column_importance
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> search = StabilitySearchCV(Ridge(), {"alpha": [0.01, 0.1]}).fit(X, y)
    >>> importance = column_importance(search, X, y)
    >>> [importance.columns[i] for i in importance.order[:3]]
    ['s5', 'bmi', 's1']
    """
    check_is_fitted(search)
    search._require_nested_error()
    X, y = indexable(X, y)
    _check(search, X)
    params = check_method_params(X, params=fit_params)
    weight = search._evidence.weight
    settings, scorer = search.cv_results_["params"], _driving_scorer(search)
    found = []
    for view, chosen in zip(search.lattice_.views, search._taken.view_candidates.tolist(), strict=True):
        model = new_estimator(search.estimator, settings[chosen])
        train = search.lattice_.rows(view.reference)
        test = search.lattice_.splits[view.test_split].test
        own = check_method_params(X, params=params, indices=train)
        model.fit(*safe_split(model, X, y, train), **own)
        shuffled = permutation_importance(
            model,
            *safe_split(model, X, y, test),
            scoring=scorer,
            n_repeats=n_repeats,
            random_state=random_state,
            sample_weight=None if weight is None else weight[test],
        )
        found.append(shuffled.importances_mean)
    names = list(map(str, getattr(X, "columns", [f"column {i}" for i in range(np.shape(X)[1])])))
    return ColumnImportance(names, np.array(found), SplitWords.of(search.lattice_).word)


def _check(search: StabilitySearchCV, X: Any) -> None:
    if n_samples_of(X) != search.lattice_.n_samples:
        raise ValueError(
            f"X has {n_samples_of(X)} rows, and the search was fitted on {search.lattice_.n_samples}: "
            "pass the same data."
        )
    if issparse(X) or is_pairwise(search.estimator, X) or type(X).__module__.startswith("polars"):
        what = "a sparse matrix" if issparse(X) else type(X).__name__
        raise TypeError(
            f"Columns are shuffled in arrays and in data frames of pandas, and X is {what}"
            f"{' of samples by samples' if is_pairwise(search.estimator, X) else ''}."
        )


def _driving_scorer(search: StabilitySearchCV) -> Any:
    """What is minus the error that drives."""
    if search.driving_score_ is None:
        return LossScorer(default_loss(search.estimator) if search.loss_ is None else search.loss_)
    scorer = search.scorer_
    return scorer[search.driving_score_] if isinstance(scorer, dict) else scorer
