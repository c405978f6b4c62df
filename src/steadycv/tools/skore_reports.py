"""skore: its report of a cross-validation, with what was chosen without each split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv._compat import n_samples_of, safe_split, to_numpy
from steadycv._compat.mlflow import without_autologging
from steadycv.estimators import new_estimator

if TYPE_CHECKING:
    from steadycv.search import StabilitySearchCV

__all__ = ["skore_report"]


def skore_report(search: StabilitySearchCV, X: Any, y: Any, *, pos_label: Any = None) -> Any:
    """Give a fitted search's nested cross-validation to skore.

    ``skore.evaluate(search, X, y)`` would run the whole search again for each of its splits. Here the
    report of a split is that of the model that this search chose without it, trained without it and
    judged on it. So all that skore says is honest, and its mean squared error, say, is the search's
    nested error. skore asks models and takes no predictions: two models are trained for each split,
    the choice and what was chosen there.

    Parameters
    ----------
    search : StabilitySearchCV
        A fitted search with a nested error.
    X, y : array-like or data frame
        The data that it was fitted on.
    pos_label : int, float, bool or str, default=None
        The positive class, as in skore.

    Returns
    -------
    report : skore.CrossValidationReport
        With a report for each split that has a view.

    Examples
    --------
    >>> report = skore_report(search, X, y)  # doctest: +SKIP
    >>> report.metrics.summarize().frame()  # doctest: +SKIP
    """
    try:
        import skore
    except ImportError as error:
        raise ImportError("skore_report needs skore: pip install 'steadycv[skore]'.") from error
    chosen = _chosen(search, X, y)
    model = new_estimator(search.estimator, search.best_params_)
    lattice = search.lattice_
    splits = [
        (lattice.rows(view.reference), lattice.splits[view.test_split].test) for view in lattice.views
    ]
    with without_autologging():
        report = skore.CrossValidationReport(model, X, y, pos_label=pos_label, splitter=splits)
        reports = []
        for params, (train, test) in zip(chosen, splits, strict=True):
            of_view = new_estimator(search.estimator, params)
            X_train, y_train = safe_split(of_view, X, y, train)
            X_test, y_test = safe_split(of_view, X, y, test, train)
            reports.append(
                skore.EstimatorReport(
                    of_view,
                    X_train=X_train,
                    y_train=y_train,
                    X_test=X_test,
                    y_test=y_test,
                    pos_label=pos_label,
                )
            )
    report.reports_ = reports
    return report


def _chosen(search: StabilitySearchCV, X: Any, y: Any) -> list[dict[str, Any]]:
    """What each view chose; or what stands against a report."""
    search._require_nested_error()
    evidence, n_rows = search._evidence, search.lattice_.n_samples
    is_same = evidence.targets is None or np.array_equal(evidence.targets, to_numpy(y))
    if n_samples_of(X) != n_rows or not is_same:
        raise ValueError(
            f"X and y must be the {n_rows} rows that the search was fitted on, in their order."
        )
    if evidence.weight is not None:
        raise ValueError("skore knows no sample weights, with which this search was fitted.")
    candidates = search.rules_[search.rule].view_candidates.tolist()
    if min(candidates) < 0:
        raise ValueError(
            "Without one of the splits all candidates failed: there is no model to report on."
        )
    return [search.cv_results_["params"][candidate] for candidate in candidates]
