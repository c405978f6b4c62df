"""Everything this package takes from scikit-learn that scikit-learn does not export.

Kept in one place so that a new release is one file to check.
"""

from __future__ import annotations

import inspect
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import _fit_context as fit_context
from sklearn.metrics import get_scorer
from sklearn.model_selection._search import BaseSearchCV
from sklearn.tree import DecisionTreeRegressor
from sklearn.tree._tree import NODE_DTYPE, Tree
from sklearn.tree._tree import _build_pruned_tree_ccp as build_pruned_tree
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params as check_method_params
from sklearn.utils.validation import _check_sample_weight as check_sample_weight
from sklearn.utils.validation import _num_samples as n_samples_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = [
    "NODE_DTYPE",
    "BaseSearchCV",
    "FitTask",
    "TaskTree",
    "Tree",
    "build_pruned_tree",
    "check_method_params",
    "check_params",
    "check_sample_weight",
    "fit_context",
    "is_pairwise",
    "n_samples_of",
    "safe_split",
    "same_scorer",
    "sends_sample_weight_where_accepted",
    "several_scorers",
    "tie_width",
    "without_sample_weight",
]


@cache
def tie_width() -> np.float32:
    """How close two values of a feature are to a tree that takes them as one."""
    # Up to 1.7 the width is zero by mistake: that shows in a split between values closer than it.
    apart = DecisionTreeRegressor().fit(np.array([[0.0], [5e-8]], dtype=np.float32), [0, 1])
    return np.float32(0.0 if apart.tree_.node_count > 1 else 1e-7)


def check_params(estimator: Any) -> None:
    """Raise a ValueError where a parameter has a value that the estimator says it does not take."""
    if hasattr(estimator, "_parameter_constraints"):
        estimator._validate_params()


def is_pairwise(estimator: Any, X: Any) -> bool:
    """Whether X is a kernel or distance matrix of the samples."""
    square = X.shape[0] == X.shape[1] if hasattr(X, "shape") and len(X.shape) == 2 else True
    return square and bool(get_tags(estimator).input_tags.pairwise)


def safe_split(
    estimator: Any, X: Any, y: Any, rows: NDArray[np.intp], train: NDArray[np.intp] | None = None
) -> tuple[Any, Any]:
    """Some rows of the data; of a pairwise X, the columns of the training rows."""
    if type(X) is np.ndarray and type(y) is np.ndarray and not is_pairwise(estimator, X):
        return X[rows], y[rows]  # the common case, at a tenth of the cost
    some: tuple[Any, Any] = _safe_split(estimator, X, y, rows, train)
    return some


def several_scorers(scorer: Any) -> dict[str, Any] | None:
    """The scorers by name inside a multi-metric scorer, or None for a single one."""
    return getattr(scorer, "_scorers", None)


def same_scorer(scorer: Any, name: str) -> bool:
    """Whether a scorer made by hand computes exactly what the scorer called `name` does."""
    parts = ("_score_func", "_sign", "_kwargs", "_response_method")
    if not all(hasattr(scorer, part) for part in parts):
        return False
    named = get_scorer(name)
    return all(getattr(scorer, part) == getattr(named, part) for part in parts)


def without_sample_weight(scorer: Any) -> dict[str, Any]:
    """The scores, by how to call them, that cannot be weighted."""
    scorers = several_scorers(scorer)
    if scorers is not None:
        return {f"{k}={v}": v for k, v in scorers.items() if without_sample_weight(v)}
    function = getattr(scorer, "_score_func", None)
    if function is None:
        inner = getattr(scorer, "_estimator", None)
        function = scorer if inner is None else inner.score
    weighted = "sample_weight" in inspect.signature(function).parameters
    return {} if weighted else {str(scorer): scorer}


def sends_sample_weight_where_accepted(scorer: Any) -> bool:
    """Whether a scorer of several metrics passes weights just to those that take them."""
    return hasattr(scorer, "_accept_sample_weight") and bool(scorer._accept_sample_weight())


class FitTask:
    """One fit in scikit-learn's task tree (1.9 on), reported to the callbacks of a search."""

    def __init__(self, context: Any, search: Any) -> None:
        self._context = context
        self._search = search

    @contextmanager
    def around(self, estimator: Any, X: Any, y: Any, fit_params: dict[str, Any]) -> Iterator[None]:
        """Report the start and the end of the fit that happens inside."""
        data = {"estimator": self._search, "X": X, "y": y, "metadata": _weights(fit_params)}
        try:
            with self._context.propagate_callback_context(estimator):
                self._context.call_on_fit_task_begin(**data)
                yield
        finally:
            self._context.call_on_fit_task_end(**data)


class TaskTree(AbstractContextManager["TaskTree"]):
    """The tasks of a search, for scikit-learn's callbacks.

    Without callbacks on the search, or before scikit-learn 1.9, it hands out None for
    every task, and fits cost nothing extra.
    """

    def __init__(
        self, search: Any, X: Any, y: Any, fit_params: dict[str, Any], n_fits: int | None
    ) -> None:
        self._search = search
        self._root: Any = None
        self._n_tasks = 0
        self._data = {"X": X, "y": y, "metadata": _weights(fit_params)}
        if getattr(search, "_skl_callbacks", None) or hasattr(search, "_parent_callback_ctx"):
            self._root = search._init_callback_context(
                max_subtasks=1 + (search.refit is not False)
            ).call_on_fit_task_begin(estimator=search, **self._data)
            self._fits = self._root.subcontext(
                task_name="search", max_subtasks=n_fits, sequential_subtasks=False
            ).call_on_fit_task_begin(estimator=search)

    def fit_task(self) -> FitTask | None:
        """The task of the next fit."""
        if self._root is None:
            return None
        self._n_tasks += 1
        context = self._fits.subcontext(
            task_name="candidate-split-evaluation", task_id=self._n_tasks - 1
        )
        return FitTask(context, self._search)

    def refit(
        self, estimator: Any, X: Any, y: Any, fit_params: dict[str, Any]
    ) -> AbstractContextManager[None]:
        """Around the refit; the search itself is over by then."""
        self._close_search()
        if self._root is None:
            return nullcontext()
        context = self._root.subcontext(task_name="refit-with-best-params")
        return FitTask(context, self._search).around(estimator, X, y, fit_params)

    def _close_search(self) -> None:
        if self._root is not None and self._fits is not None:
            self._fits.call_on_fit_task_end(estimator=self._search)
            self._fits = None

    def __exit__(self, kind: object, *rest: object) -> None:
        if self._root is not None and kind is None:
            self._close_search()
            self._root.call_on_fit_task_end(estimator=self._search, **self._data)


def _weights(fit_params: dict[str, Any]) -> dict[str, Any] | None:
    sample_weight = fit_params.get("sample_weight")
    return None if sample_weight is None else {"sample_weight": sample_weight}
