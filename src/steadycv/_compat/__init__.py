"""Everything this package takes from other packages that they do not export.

Kept in one place so that a new release is one folder to check. What only some estimators need is in
modules of its own, imported where it is used.
"""

from __future__ import annotations

import inspect
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, clone, is_classifier
from sklearn.base import _fit_context as fit_context
from sklearn.metrics import get_scorer
from sklearn.metrics._scorer import _Scorer
from sklearn.model_selection import RandomizedSearchCV
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils._array_api import _convert_to_numpy, get_namespace
from sklearn.utils.metaestimators import _safe_split, available_if
from sklearn.utils.validation import _check_method_params as check_method_params
from sklearn.utils.validation import _check_sample_weight as check_sample_weight
from sklearn.utils.validation import _num_samples as n_samples_of

try:
    from sklearn.utils._repr_html.estimator import _VisualBlock as VisualBlock
except ImportError:  # scikit-learn 1.6
    from sklearn.utils._estimator_html_repr import _VisualBlock as VisualBlock

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from numpy.typing import NDArray

__all__ = [
    "PRIVATE_TYPES_OF_MODELS",
    "FitTask",
    "ScorerParts",
    "SearchBase",
    "TaskTree",
    "VisualBlock",
    "bin_once",
    "check_method_params",
    "check_params",
    "check_refit",
    "check_sample_weight",
    "constraints_of_random_search",
    "fit_context",
    "format_results",
    "has_callbacks",
    "is_foreign",
    "is_pairwise",
    "n_samples_of",
    "own_score",
    "parts_of_scorer",
    "response_methods",
    "safe_split",
    "same_scorer",
    "scorers_of",
    "scores_itself",
    "select_index",
    "sends_sample_weight_where_accepted",
    "several_scorers",
    "some_scorers",
    "to_numpy",
    "without_sample_weight",
]


def to_numpy(array: Any) -> NDArray[Any]:
    """An array of any library, from any device, as NumPy's."""
    if type(array) is np.ndarray:
        return array
    namespace, is_array_api = get_namespace(array)
    return np.asarray(_convert_to_numpy(array, namespace) if is_array_api else array)


def _delivered(name: str) -> Any:
    """A method of scikit-learn's searches, which is there before `fit` where it is after it."""
    inherited = inspect.getattr_static(BaseSearchCV, name)

    def check(search: Any) -> bool:
        inherited.check(search)  # or an AttributeError
        return hasattr(search, "best_estimator_") or search._will_have(name)

    return available_if(check)(inherited.fn)


class SearchBase(BaseSearchCV):  # type: ignore[misc]  # scikit-learn has no types
    """scikit-learn's searches; a subclass lists its own parameters in `parameter_constraints`."""

    parameter_constraints: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._parameter_constraints = super(cls, cls)._parameter_constraints | cls.parameter_constraints

    predict_proba = _delivered("predict_proba")
    predict_log_proba = _delivered("predict_log_proba")
    decision_function = _delivered("decision_function")
    score_samples = _delivered("score_samples")
    transform = _delivered("transform")
    inverse_transform = _delivered("inverse_transform")

    def _will_have(self, method: str) -> bool:  # noqa: ARG002
        """Whether what is going to be fitted has a method that the estimator has."""
        return True


def constraints_of_random_search() -> dict[str, Any]:
    """What scikit-learn takes for the parameters that its random search alone has."""
    names = ("param_distributions", "n_iter", "random_state")
    return {name: RandomizedSearchCV._parameter_constraints[name] for name in names}


def scorers_of(search: Any) -> Any:
    """What scikit-learn makes of the `scoring` of a search: a scorer, or one of several metrics."""
    scorers, _ = BaseSearchCV._get_scorers(search)
    return scorers


def check_refit(search: Any, scores: Collection[str]) -> None:
    """Raise where the `refit` of a search is to name one of several scores."""
    BaseSearchCV._check_refit_for_multimetric(search, scores)


def select_index(search: Any, results: dict[str, Any]) -> int:
    """The choice of a callable `refit`."""
    index: int = search._select_best_index(search.refit, None, results)
    return index


def format_results(
    search: Any, settings: list[dict[str, Any]], n_splits: int, rows: Any
) -> dict[str, Any]:
    """``cv_results_``."""
    results: dict[str, Any] = search._format_results(settings, n_splits, rows)
    return results


def check_params(estimator: Any) -> None:
    """Raise a ValueError where a parameter has a value that the estimator says it does not take."""
    if hasattr(estimator, "_parameter_constraints"):
        estimator._validate_params()


def bin_once(model: Any, shared: dict[str, Any]) -> None:
    """Let XGBoost models that are given the same `shared` bin their training set once.

    Without it every model would bin the data anew.
    """

    def bins(*args: Any, **kwargs: Any) -> Any:
        if "bins" not in shared:
            shared["bins"] = type(model)._create_dmatrix(model, *args, **kwargs)
        return shared["bins"]

    model._create_dmatrix = bins


def is_foreign(array: Any) -> bool:
    """Whether an array is of another library than NumPy, with array API dispatch on."""
    return not isinstance(array, np.ndarray) and bool(get_namespace(array)[1])


def is_pairwise(estimator: Any, X: Any) -> bool:
    """Whether X is a kernel or distance matrix of the samples."""
    square = X.shape[0] == X.shape[1] if hasattr(X, "shape") and len(X.shape) == 2 else True
    return square and bool(get_tags(estimator).input_tags.pairwise)


def safe_split(
    estimator: Any, X: Any, y: Any, rows: NDArray[np.intp], train: NDArray[np.intp] | None = None
) -> tuple[Any, Any]:
    """Some rows of the data; of a pairwise X, the columns of the training rows."""
    if type(X) is np.ndarray and type(y) is np.ndarray and not is_pairwise(estimator, X):
        # The common case, at a tenth of the cost.
        return X.take(rows, axis=0), y.take(rows, axis=0)
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


def some_scorers(scorer: Any, names: Collection[str]) -> Any:
    """Some scorers of a multi-metric scorer; a single one as it is."""
    scorers = several_scorers(scorer)
    if scorers is None:
        return scorer
    return type(scorer)(scorers={name: scorers[name] for name in names}, raise_exc=scorer._raise_exc)


def response_methods(scorer: Any) -> list[tuple[str, ...]]:
    """What a scorer asks a model for, in the order in which it tries; nothing if that is not known."""
    if hasattr(scorer, "_estimator"):
        return [("score",)]
    methods = getattr(scorer, "_response_method", ())
    return [(methods,) if isinstance(methods, str) else tuple(methods)] if methods else []


def own_score(estimator: Any) -> str | None:
    """The name of the score that an estimator's ``score`` is, where that is scikit-learn's own."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    score = getattr(type(estimator), "score", None)
    names = {RegressorMixin.score: "r2", ClassifierMixin.score: "accuracy"}
    if getattr(score, "__module__", None) in _SAME_SCORE:
        return "accuracy" if is_classifier(estimator) else "r2"
    return names.get(score)


def scores_itself(estimator: Any) -> bool:
    """Whether an estimator's ``score`` is another than the usual one, accuracy or R²."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    module = getattr(getattr(type(estimator), "score", None), "__module__", None)
    if module is None or own_score(estimator) is not None:
        return False
    # Of scikit-learn's others, all but these hand on the usual one of what is inside them.
    others = module.startswith("sklearn.linear_model._glm")
    is_told = getattr(estimator, "scoring", None) not in (None, "warn")
    return others or is_told or not module.startswith("sklearn.")


# What fitted estimators hold besides what skops trusts itself.
PRIVATE_TYPES_OF_MODELS = (
    "sklearn.compose._column_transformer._RemainderColsList",
    "sklearn.metrics._dist_metrics.ChebyshevDistance64",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.metrics._dist_metrics.ManhattanDistance64",
    "sklearn.metrics._dist_metrics.MinkowskiDistance64",
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.tree._tree.Tree",
)

# Where ``score`` is what the mixin's is, for all X but None.
_SAME_SCORE = ("sklearn.dummy", "sklearn.neighbors._classification", "catboost.core")


class ScorerParts(NamedTuple):
    """What ``make_scorer`` put together."""

    function: Callable[..., Any]
    sign: int
    keywords: dict[str, Any]
    methods: tuple[str, ...]


def parts_of_scorer(scorer: Any) -> ScorerParts | None:
    """The parts of a scorer of a metric, or None for one that is called in another way."""
    if type(scorer) is not _Scorer:
        return None
    methods = scorer._response_method
    methods = (methods,) if isinstance(methods, str) else tuple(methods)
    return ScorerParts(scorer._score_func, scorer._sign, dict(scorer._kwargs), methods)


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
    each = (several_scorers(scorer) or {"score": scorer}).values()
    if not all(hasattr(one, "_accept_sample_weight") for one in each):  # a function has none to ask
        return False
    return hasattr(scorer, "_accept_sample_weight") and bool(scorer._accept_sample_weight())


def has_callbacks(*things: Any) -> bool:
    """Whether estimators, at any depth of parameters, lists and dicts, have callbacks of their own.

    Before scikit-learn 1.9 none can have. A path, which fits what it likes, cannot tell callbacks of
    the iterations and fits that they wait for, so estimators that have some are fitted one by one.
    """
    for thing in things:
        if isinstance(thing, (str, bytes, type)):
            continue
        if getattr(thing, "_skl_callbacks", None):
            return True
        if isinstance(thing, dict):
            inside = thing.values()
        elif isinstance(thing, (list, tuple, set)) or _holds_objects(thing):
            inside = thing
        elif hasattr(thing, "get_params"):
            inside = thing.get_params(deep=False).values()
        else:
            continue
        if has_callbacks(*inside):
            return True
    return False


def _holds_objects(values: Any) -> bool:
    return isinstance(values, np.ndarray) and values.dtype == object and values.ndim > 0


def _parent_has_callbacks(search: Any) -> bool:
    """Whether the search is fitted inside something that reports to callbacks."""
    context = getattr(search, "_parent_callback_ctx", None)
    while context is not None and not context._callbacks:
        context = context.parent
    return context is not None


class FitTask:
    """One fit in scikit-learn's task tree (1.9 on), reported to callbacks."""

    def __init__(self, context: Any, search: Any) -> None:
        self._context = context
        self._search = search

    @contextmanager
    def around(self, estimator: Any, X: Any, y: Any, fit_params: dict[str, Any]) -> Iterator[None]:
        """Report the start and the end of the fit that happens inside.

        The estimator's own tasks and callbacks are joined to the search's. With None, for a path,
        which fits clones of its own, the fit is a single task.
        """
        data = {"estimator": self._search, "X": X, "y": y, "metadata": _weights(fit_params)}
        joined = (
            nullcontext() if estimator is None else self._context.propagate_callback_context(estimator)
        )
        try:
            with joined:
                self._context.call_on_fit_task_begin(**data)
                yield
        finally:
            self._context.call_on_fit_task_end(**data)


class TaskTree(AbstractContextManager["TaskTree"]):
    """The tasks of a search, for scikit-learn's callbacks.

    Without callbacks on the search, on what it fits or on what fits it, or before scikit-learn
    1.9, it hands out None for every task, and fits cost nothing extra.

    Parameters
    ----------
    search : estimator
        The search.
    X, y : data
        What it is fitted on.
    fit_params : dict
        What its `fit` was given besides.
    n_fits : int or None
        The number of fits, where it is known beforehand.
    candidates : object
        Where other estimators may be than the one that is tuned: the grid.

    Raises
    ------
    TypeError
        If the estimator has a callback that belongs on the search, in scikit-learn's words.
    """

    def __init__(
        self,
        search: Any,
        X: Any,
        y: Any,
        fit_params: dict[str, Any],
        n_fits: int | None,
        candidates: Any = (),
    ) -> None:
        self._search = search
        self._root: Any = None
        self._n_tasks = 0
        self._data = {"X": X, "y": y, "metadata": _weights(fit_params)}
        own = getattr(search, "_skl_callbacks", None) or _parent_has_callbacks(search)
        if own or has_callbacks(search.estimator, candidates):
            self._root = search._init_callback_context(max_subtasks=1 + (search.refit is not False))
            # Every fit refuses it, too: this is once, and before the first of them.
            probe = copy(self._root)
            probe._callbacks = []
            with probe.propagate_callback_context(clone(search.estimator)):
                pass
            self._root.call_on_fit_task_begin(estimator=search, **self._data)
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
