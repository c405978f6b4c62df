"""Checks of what a search is given: a clear error before the first fit, not one from deep inside."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from functools import partial
from itertools import product
from numbers import Number, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import TimeSeriesSplit
from sklearn.utils.metadata_routing import get_routing_for_object

from steadycv._arrays import one_column
from steadycv._compat import to_numpy
from steadycv.drawing import SAMPLERS
from steadycv.early_stopping import EarlyStopping
from steadycv.estimators import new_estimator
from steadycv.offers import DELIVER
from steadycv.paths.plan import in_one_fit
from steadycv.rules import CHOOSE_WEIGHT, HAVE_WEIGHT, OF_CANDIDATES
from steadycv.strategies import are_apart

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence, Set

    from numpy.typing import NDArray

    from steadycv.candidates import Candidates
    from steadycv.early_stopping import Series

__all__ = [
    "check_candidates",
    "check_delivery",
    "check_distributions",
    "check_early_stopping",
    "check_grid",
    "check_groups",
    "check_methods",
    "check_names",
    "check_order",
    "check_race",
    "check_rule",
    "check_series",
    "check_setting",
    "check_target",
    "check_weights",
]

A_LIST = "Pass a list of numbers, such as [0, 0.1, 1]."


def check_delivery(search: Any, y: Any) -> None:
    """What is delivered besides a model needs a nested search, and a refit that is its own."""
    if search.deliver not in DELIVER:
        raise ValueError(f"deliver must be {', '.join(map(repr, DELIVER))}, got {search.deliver!r}.")
    if search.deliver == "model":
        return
    asked = f"deliver={search.deliver!r}"
    if are_apart(search.search):
        raise ValueError(
            f"{asked} is made of candidates that all views know, and here each has its own: take "
            "OptunaSearch(..., per_view=False)."
        )
    if not search.nested:
        raise ValueError(
            f"{asked} needs nested=True: committees are judged by the models that nesting fits."
        )
    if search.refit is False:
        raise ValueError(f"{asked} delivers best_estimator_, which refit=False asks not to have.")
    if callable(search.refit):
        raise ValueError(
            f"{asked} chooses by itself what is delivered, and so does the function refit: pass one of "
            "them."
        )
    if not (is_classifier(search.estimator) or is_regressor(search.estimator)):
        raise ValueError(
            f"{asked} averages regressors or classifiers, and "
            f"{type(search.estimator).__name__} is neither."
        )
    if is_classifier(search.estimator) and y is not None and one_column(to_numpy(y)).ndim > 1:
        raise ValueError(
            f"{asked} averages classifiers of one target, and y has {np.shape(y)[1]}: search for each "
            "by itself."
        )


def check_weights(stability_weights: Any, *, nested: bool = True) -> NDArray[np.float64]:
    """The stability weights to choose from, sorted, each once; refused if they make no sense.

    Examples
    --------
    >>> check_weights([1, 0, 1])
    array([0., 1.])
    >>> len(check_weights("auto"))
    11
    """
    if isinstance(stability_weights, str):
        if stability_weights != "auto":
            raise ValueError(
                f"stability_weights must be 'auto', a number or numbers, got {stability_weights!r}."
            )
        weights = np.concatenate([[0.0], np.logspace(-4, 4, 10)])
    else:
        weights = np.unique(_numbers(stability_weights))
    if not len(weights) or not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError(
            f"stability_weights must be finite numbers from 0 on, got {stability_weights!r}."
        )
    if len(weights) > 1 and not nested:
        raise ValueError(
            "nested=False needs a single stability weight, because weights are chosen by "
            f"nested cross-validation; got stability_weights={stability_weights!r}."
        )
    return weights


def check_rule(rule: Any, stability_weights: Any, *, whole_grid: bool) -> None:
    """Refuse a rule that is not known, or that does not go with the weights or with the search."""
    named = (*HAVE_WEIGHT, *OF_CANDIDATES)
    if isinstance(rule, str) and rule not in named:
        names = ", ".join(map(repr, named))
        raise ValueError(f"rule must be {names} or a function of a ledger and a view, got {rule!r}.")
    is_auto = isinstance(stability_weights, str) and stability_weights == "auto"
    if not is_auto and rule not in CHOOSE_WEIGHT:
        raise ValueError(
            f"rule={rule!r} chooses among no stability weights, got "
            f"stability_weights={stability_weights!r}. Leave that out, or take rule='steady' or "
            "rule='paper', which choose a weight."
        )
    if not whole_grid and rule not in HAVE_WEIGHT:
        raise ValueError(
            f"rule={rule!r} compares all candidates, and this search does not look at all of them. Take "
            "search='grid', or one of the rules " + ", ".join(map(repr, HAVE_WEIGHT)) + "."
        )


def check_race(search: Any, *, whole_grid: bool) -> None:
    """Refuse a race that is not known, or that does not go with the rule or with the search."""
    race = search.race
    is_number = isinstance(race, Real) and not isinstance(race, (bool, np.bool_))
    if not (race == "auto" if isinstance(race, str) else not is_number or 0 < float(race) < np.inf):
        raise ValueError(
            f"race must be 'auto', True, False or a number of standard errors above 0, got {race!r}."
        )
    if isinstance(race, str) or not race:
        return
    asked = f"race={race!r} is for searches that"
    if not whole_grid:
        raise ValueError(f"{asked} look at the whole grid: take search='grid', or race=False.")
    if search.rule not in HAVE_WEIGHT:
        raise ValueError(
            f"{asked} choose the lowest error, and rule={search.rule!r} compares all candidates: take "
            "one of the rules " + ", ".join(map(repr, HAVE_WEIGHT)) + ", or race=False."
        )
    if search.deliver != "model":
        raise ValueError(
            f"{asked} deliver a model, and deliver={search.deliver!r} is made of all candidates: take "
            "race=False."
        )


def _numbers(given: Any) -> NDArray[np.float64]:
    """What is given as numbers; text is no number, even where it looks like one."""
    wrong = f"stability_weights must be 'auto', a number or numbers, got {given!r}. {A_LIST}"
    try:
        array = np.asarray(given)
    except ValueError:  # lists of unequal lengths
        raise TypeError(wrong) from None
    if array.ndim > 1:
        raise ValueError(
            f"stability_weights must be one number or one list of them, got {given!r}, "
            f"an array of shape {array.shape}. {A_LIST}"
        )
    if not array.size:  # an empty list may have any type
        return np.empty(0)
    if given is None or array.dtype.kind not in "biufO":
        raise TypeError(wrong)
    if array.dtype.kind == "O" and any(isinstance(each, (str, bytes)) for each in array.flat):
        raise TypeError(wrong)
    try:
        return array.astype(np.float64)
    except OverflowError:  # an integer beyond all floats
        return np.array([np.inf])
    except (TypeError, ValueError):
        raise TypeError(wrong) from None


def check_groups(groups: Any, splitter: Any = None) -> None:
    """Refuse groups that cannot be told apart: of mixed types, with missing ones, or a table.

    With a `splitter`, only if it is one that splits by groups in scikit-learn's way. Others ignore
    groups, or know best what theirs may be.
    """
    if groups is None or (splitter is not None and not _splits_by_groups(splitter)):
        return
    # Objects, because NumPy makes text of numbers (and of None) where a list has some text.
    array = groups if isinstance(groups, np.ndarray) else np.asarray(groups, dtype=object)
    if array.ndim > 1:
        raise ValueError(
            "groups must be one label for each sample, got an array of shape "
            f"{array.shape}. Pass one column; where several define a group, join them into one label: "
            "['-'.join(map(str, row)) for row in groups]."
        )
    if array.ndim == 0 or array.dtype.kind in "biuUS":
        return
    labels = array.tolist() if array.dtype.kind == "O" else list(array)
    missing = [row for row, label in enumerate(labels) if _is_missing(label)]
    if missing:
        raise ValueError(
            f"groups must have a label for each sample, and {len(missing)} of {len(labels)} have none: "
            f"groups[{missing[0]}] is {labels[missing[0]]!r}. Drop these samples, or give each a label: "
            "one of its own if it belongs to no group."
        )
    examples: dict[str, Any] = {}
    for label in labels:
        examples.setdefault(_kind(label), label)
    if len(examples) > 1:
        (one, a), (other, b) = list(examples.items())[:2]
        raise ValueError(
            f"groups must be labels of one type, got {one} and {other}, {a!r} and {b!r}: they cannot be "
            "compared. Make text of all: [str(group) for group in groups]."
        )


def _splits_by_groups(splitter: Any) -> bool:
    if not hasattr(splitter, "get_metadata_routing"):
        return False
    request = get_routing_for_object(splitter)
    return hasattr(request, "split") and request.split.requests.get("groups") is True


def _is_missing(label: Any) -> bool:
    if label is None or type(label).__name__ in ("NAType", "NaTType"):  # pandas'
        return True
    if isinstance(label, np.datetime64):
        return bool(np.isnat(label))
    return isinstance(label, (float, np.floating)) and bool(np.isnan(label))


def _kind(label: Any) -> str:
    """Labels of one kind can be sorted."""
    if isinstance(label, (str, bytes)):
        return "text" if isinstance(label, str) else "bytes"
    if isinstance(label, (Number, np.bool_)):
        return "numbers"
    if isinstance(label, (date, np.datetime64)):
        return "dates"
    return f"{type(label).__name__} objects"


def check_grid(param_grid: Any) -> None:
    """Refuse a grid whose keys are not names, or that has distributions.

    All else scikit-learn's ParameterGrid checks.
    """
    if callable(param_grid):
        raise TypeError(
            "param_grid is a dict of lists of values, or a list of such dicts. A function of a trial "
            f"({getattr(param_grid, '__name__', param_grid)}) goes with search=OptunaSearch(...)."
        )
    for key, values in _axes(param_grid, "param_grid"):
        if (kind := _distribution(values)) is not None:
            raise TypeError(
                f"param_grid has lists of values, and {key!r} is a distribution, {kind}. "
                "StabilityRandomizedSearchCV(estimator, param_distributions, n_iter=...) draws from "
                "distributions; StabilitySearchCV takes them with search=OptunaSearch(n_trials=...)."
            )


def check_distributions(search: Any) -> Collection[str]:
    """Refuse what a random search cannot draw from; the parameters that lines are drawn of."""
    names = []
    if search.param_distributions == []:
        raise ValueError("param_distributions has no candidates: it is an empty list.")
    for key, values in _axes(search.param_distributions, "param_distributions"):
        names.append(key)
        if (kind := _distribution(values)) is not None and not hasattr(values, "rvs"):
            raise TypeError(
                f"param_distributions has distributions that can be drawn from, as scipy.stats' can, "
                f"and {key!r} is {kind} of Optuna: StabilitySearchCV takes it, with "
                "search=OptunaSearch(n_trials=...)."
            )
    if search.sampler not in SAMPLERS:
        known = ", ".join(map(repr, SAMPLERS))
        raise ValueError(f"sampler must be {known}, got {search.sampler!r}.")
    if search.line_length == 1:
        return ()
    asked = f"line_length={search.line_length}"
    if not search.use_paths:
        raise ValueError(f"{asked} makes use of paths: set use_paths=True, or line_length=1.")
    free = in_one_fit(search.estimator)
    if not set(free) & set(names):
        which = f"those are {', '.join(map(repr, sorted(free)))}" if free else "it has none"
        raise ValueError(
            f"{asked} draws values of parameters that come with one fit of "
            f"{type(search.estimator).__name__}, and {which}: none of them is in param_distributions, "
            f"which has {', '.join(map(repr, dict.fromkeys(names)))}. Leave line_length out."
        )
    return free


def check_names(estimator: Any, space: Any, name: str) -> None:
    """Refuse a space whose keys are not names of parameters, also of those that come late."""
    names = {key for key, _ in _axes(space, name)}
    # A class is refused later, and what takes the place of a step has parameters of its own.
    replaces = any(other.startswith(f"{each}__") for each in names for other in names)
    if not isinstance(estimator, type) and not replaces:
        for each in sorted(names - estimator.get_params(deep=True).keys()):
            new_estimator(estimator, {each: None})  # says which parameters there are


def _axes(space: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The axes of all dicts by name; keys that are no names are refused."""
    for axes in [space] if isinstance(space, dict) else space:
        if not isinstance(axes, dict):
            continue  # scikit-learn's to report
        for key, values in axes.items():
            if not isinstance(key, str):
                raise TypeError(
                    f"{name} must have names of parameters as keys, got {key!r} in {{{key!r}: "
                    f"{values!r}}}. Write the name as text, such as 'max_depth'; estimator.get_params() "
                    "has them all."
                )
            yield key, values


def _distribution(values: Any) -> str | None:
    """What to call a distribution, of scipy's kind or Optuna's; None for anything else."""
    if hasattr(values, "rvs"):
        return str(getattr(getattr(values, "dist", None), "name", type(values).__name__))
    is_optunas = type(values).__module__.startswith("optuna.")
    return type(values).__name__ if is_optunas else None


def check_early_stopping(space: Any, candidates: Candidates, *, is_grid: bool) -> None:
    """Refuse to stop early where something else decides how far to look, and lists of it."""
    grids = [space] if isinstance(space, dict) else space if isinstance(space, list) else []
    for name, values in [item for axes in grids for item in axes.items()]:
        if isinstance(values, list | tuple) and any(isinstance(v, EarlyStopping) for v in values):
            raise TypeError(
                f"param_grid of {name!r} has EarlyStopping in a list: pass it itself, it is the list of "
                "the numbers to try."
            )
        if isinstance(values, EarlyStopping) and not (is_grid and candidates.series):
            raise ValueError(
                f"{name!r} has EarlyStopping, which goes with the whole grid of StabilitySearchCV: "
                "other searches decide how far they look. Give them numbers, as range(50, 1001, 50)."
            )


def check_series(estimator: Any, series: Sequence[Series], run_of: NDArray[np.intp]) -> str | None:
    """A line where every number of rounds of a series takes a run of its own."""
    candidates = [each.candidates for each in series if len(each.candidates) > 1]
    if all(len(np.unique(run_of[some])) < len(some) for some in candidates):
        return None
    return (
        f"EarlyStopping: each number of rounds takes a fit of its own, as no path serves this "
        f"{type(estimator).__name__}. A larger step takes fewer of them. Where the class has a path, "
        "early stopping of its own must be off (of scikit-learn's on histograms, early_stopping=False)."
    )


def check_candidates(estimator: Any, candidates: Candidates) -> None:
    """Refuse parameters that the estimator does not have, before anything is fitted with them."""
    if isinstance(estimator, type):
        name = estimator.__name__
        raise TypeError(f"estimator is to be an estimator, and {name} is a class: pass {name}().")
    known = frozenset(estimator.get_params(deep=True))
    candidates.check = partial(check_setting, estimator, known)
    if not candidates.boxes:
        for setting in candidates:
            candidates.check(setting)
    for box in candidates.boxes:
        # What takes the place of a step has parameters of its own.
        replaced = [any(other.startswith(f"{name}__") for other in box.names) for name in box.names]
        if set(box.names) <= known and not any(replaced):
            continue
        axes = [range(n if each else 1) for n, each in zip(box.shape, replaced, strict=True)]
        for position in product(*axes):
            # Says what is wrong, and which parameters there are.
            new_estimator(estimator, candidates[box.candidate(position)])


def check_setting(estimator: Any, known: Set[str], setting: dict[str, Any]) -> None:
    """Refuse parameters that the estimator does not have; `known` are its own."""
    replaces = any(other.startswith(f"{name}__") for name in setting for other in setting)
    if replaces or not setting.keys() <= known:
        new_estimator(estimator, setting)


def check_target(estimator: Any, y: Any) -> None:
    """Refuse targets that nobody can be judged by: missing or infinite; no numbers for a regressor."""
    if y is None:
        return
    target = to_numpy(y)
    if target.dtype.kind == "f" and not np.isfinite(target).all():
        wrong = target[~np.isfinite(target)].flat[0]
        row = int(np.argwhere(~np.isfinite(target))[0][0])
        what = "NaN" if np.isnan(wrong) else "infinity"
        raise ValueError(f"Input y contains {what}: y[{row}] is {wrong}. Leave such samples out.")
    if target.dtype.kind == "O":
        missing = [row for row, value in enumerate(target.tolist()) if _is_missing(value)]
        if missing:
            raise ValueError(
                f"Input y contains NaN or None: y[{missing[0]}] is {target[missing[0]]!r}. Leave such "
                "samples out."
            )
    if target.dtype.kind == "c":
        raise ValueError(
            f"Complex data not supported: y is to be real numbers, and y[0] is {target[0]!r}."
        )
    if is_regressor(estimator) and target.dtype.kind in "OSUM":
        values = target.ravel()
        for row, value in enumerate(values if target.dtype.kind == "M" else values.tolist()):
            if not isinstance(value, Real | Decimal | np.bool_):
                raise ValueError(
                    f"y is to be numbers for the regressor {type(estimator).__name__}, and y[{row}] is "
                    f"{value!r}. Make numbers of it first: y.astype(float)."
                )


def check_methods(estimator: Any, candidates: Candidates, asked: Iterable[Sequence[str]]) -> None:
    """Refuse to ask for what none of the candidates can say, such as probabilities."""
    for methods in asked:
        if any(hasattr(estimator, method) for method in methods):
            continue
        for params in candidates:
            changed = new_estimator(estimator, params)
            if any(hasattr(changed, method) for method in methods):
                break
        else:
            raise ValueError(
                f"{type(estimator).__name__} has no {' or '.join(methods)}, which what drives the "
                "selection asks for. Take another scoring= or loss=, or an estimator that has it."
            )


def check_order(X: Any, splitter: Any) -> str | None:
    """A line on rows that TimeSeriesSplit takes as sorted, where their index says that they are not."""
    index: Any = getattr(X, "index", None)
    has_times = getattr(getattr(index, "dtype", None), "kind", "") == "M"
    if not isinstance(splitter, TimeSeriesSplit) or not has_times or index.is_monotonic_increasing:
        return None
    return (
        "TimeSeriesSplit takes the rows as sorted in time, and by their index they are not: sort them "
        "first, X = X.sort_index() and y likewise."
    )
