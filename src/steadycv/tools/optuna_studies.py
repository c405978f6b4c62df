"""Optuna: what a search found, as a study that its pictures and its dashboard show."""

from __future__ import annotations

import math
from collections import Counter
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from steadycv.error_words import ErrorWords
from steadycv.paths.settings import is_plain
from steadycv.words import value_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steadycv.search import StabilitySearchCV

__all__ = ["add_to_study"]

WIDE = 8  # the largest value over the smallest, from where on a logarithmic scale may suit


def add_to_study(search: StabilitySearchCV, study: Any = None) -> Any:
    """Add the candidates of a fitted search to an Optuna study, as trials that are done.

    The value of a trial is its cross-validation error, or the score where one drives, and the errors on
    the splits are its intermediate values. Attributes of a trial are ``candidate``, the number in
    ``cv_results_``, ``instability``, ``regularized_error``, and ``chosen_without_a_split``: how many
    views chose it. Attributes of the study are ``promise``, ``promise_interval``, ``nested_error``,
    ``rule``, and ``steady_choice`` and ``plain_choice``, the numbers of their trials.

    Parameters
    ----------
    search : StabilitySearchCV
        A fitted search of any kind.
    study : optuna.study.Study, default=None
        A study with one objective, in whatever storage. None makes one in memory, which maximizes where
        a score drives and else minimizes.

    Returns
    -------
    study : optuna.study.Study
        The study. A candidate that failed is a failed trial, one that left a race a pruned one; what was
        not looked at is not there.

    See Also
    --------
    steadycv.OptunaSearch : Has Optuna propose the candidates.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from steadycv import StabilitySearchCV
    >>> search = StabilitySearchCV(DecisionTreeRegressor(), {"max_depth": range(1, 8)}, rule="plain")
    >>> study = add_to_study(search.fit(*load_diabetes(return_X_y=True)))
    >>> study.best_params
    {'max_depth': 2}
    """
    try:
        import optuna
    except ImportError as error:
        raise ImportError("add_to_study needs optuna: pip install 'steadycv[optuna]'.") from error
    check_is_fitted(search)
    if study is None:
        is_score = ErrorWords.of(search).is_score
        study = optuna.create_study(direction="maximize" if is_score else "minimize")
    if len(study.directions) > 1:
        raise ValueError(
            f"A search has one objective, and the study has {len(study.directions)}: pass "
            "optuna.create_study()."
        )
    sign = -1 if study.direction == optuna.study.StudyDirection.MAXIMIZE else 1
    first = len(study.get_trials(deepcopy=False))
    trials = _trials(search, sign)
    study.add_trials([trial for _, trial in trials])
    numbers = {candidate: first + place for place, (candidate, _) in enumerate(trials)}
    for name, value in _of_study(search, numbers).items():
        study.set_user_attr(name, value)
    return study


def _trials(search: StabilitySearchCV, sign: int) -> list[tuple[int, Any]]:
    """A trial for each candidate that was looked at."""
    from optuna.trial import TrialState, create_trial

    results, lattice, ledger = search.cv_results_, search.lattice_, search.ledger_
    settings = results["params"]
    axes = {
        name: _axis([setting[name] for setting in settings if name in setting])
        for name in dict.fromkeys(name for setting in settings for name in setting)
    }
    of_split = lattice.evaluation_of_split
    judged = np.flatnonzero(of_split >= 0)
    by_split = sign * ledger.error[:, of_split[judged]]
    left = ledger.left_from(lattice.final) > 0
    chosen = _chosen_without_a_split(search)
    trials = []
    for candidate, (setting, error) in enumerate(zip(settings, results["cv_error"], strict=True)):
        if np.isnan(error) and not left[candidate]:
            continue
        state = TrialState.COMPLETE if np.isfinite(error) else TrialState.FAIL
        attributes = {
            name: float(results[name][candidate]) for name in ("instability", "regularized_error")
        }
        steps = zip(judged.tolist(), by_split[candidate].tolist(), strict=True)
        trial = create_trial(
            state=TrialState.PRUNED if np.isnan(error) else state,
            value=sign * float(error) if np.isfinite(error) else None,
            params={name: axes[name][1](value) for name, value in setting.items()},
            distributions={name: axes[name][0] for name in setting},
            intermediate_values={step: value for step, value in steps if math.isfinite(value)},
            user_attrs={"candidate": candidate, "chosen_without_a_split": chosen[candidate]}
            | {name: value for name, value in attributes.items() if math.isfinite(value)},
        )
        trials.append((candidate, trial))
    return trials


def _chosen_without_a_split(search: StabilitySearchCV) -> Counter[int]:
    try:
        return Counter(search.rules_[search.rule].view_candidates.tolist())
    except AttributeError:  # with nested=False
        return Counter()


def _of_study(search: StabilitySearchCV, numbers: dict[int, int]) -> dict[str, Any]:
    """What is known of the search as a whole."""
    found: dict[str, Any] = {
        "steady_choice": numbers[search.best_index_],
        "plain_choice": numbers[search.kfold_index_],
        "rule": str(search.rule),
    }
    for name in ("promise", "nested_error"):
        value = getattr(search, f"{name}_", math.nan)
        if math.isfinite(value):
            found[name] = float(value)
    if "promise" in found:
        found["promise_interval"] = [float(end) for end in search.promise_interval_]
    return found


def _axis(values: Sequence[Any]) -> tuple[Any, Callable[[Any], Any]]:
    """The distribution of a parameter's values, and what Optuna knows each of them as."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    values = [_plain(value) for value in values]
    numeric = all(isinstance(each, Real) and not isinstance(each, bool) for each in values)
    if numeric and all(math.isfinite(each) for each in values):
        low, high = min(values), max(values)
        log = _is_even_on_logs(values)
        if all(isinstance(each, Integral) for each in values):
            return IntDistribution(int(low), int(high), log=log), int
        return FloatDistribution(float(low), float(high), log=log), float
    if all(is_plain(each) and each == each for each in values):  # all but NaN
        return CategoricalDistribution(list(dict.fromkeys(values))), _plain
    names: dict[int, str] = {}
    for each in values:
        names.setdefault(id(each), f"{len(names)}: {value_text(each)}")
    return CategoricalDistribution(list(names.values())), lambda value: names[id(_plain(value))]


def _plain(value: Any) -> Any:
    """Without NumPy's numbers."""
    return value.item() if isinstance(value, np.generic) else value


def _is_even_on_logs(values: Sequence[float]) -> bool:
    """Whether the median is nearer to the middle of all on a logarithmic scale."""
    low, high, median = min(values), max(values), float(np.median(values))
    if not (low > 0 and high >= WIDE * low):
        return False
    linear = (median - low) / (high - low)
    return abs(math.log(median / low, high / low) - 0.5) < abs(linear - 0.5)
