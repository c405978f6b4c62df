"""Searching spaces with Optuna: it proposes candidates, and learns what the views find of them."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from steadycv.paths.settings import is_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steadycv.strategies import Found

    Suggest: TypeAlias = "Callable[[Any], dict[str, Any]]"

__all__ = ["OptunaSearch"]

TAILS = 1e-3  # of a distribution without ends, that are not proposed
WHICH = "number of the dict"  # the parameter of a trial that says which of several dicts it is from


@dataclass(eq=False)
class OptunaSearch:
    """Candidates that Optuna proposes, for ``search=`` of a :class:`~steadycv.StabilitySearchCV`.

    The space stands where a grid would. It is a dict, or a list of dicts, of lists of values, of
    distributions of Optuna or of :mod:`scipy.stats`; or a function of an Optuna trial that returns a
    dict of parameters, which may ask for one depending on another.

    Optuna is asked for a batch of candidates at a time, so that results do not depend on the number of
    cores. What it is told of each is its cross-validation error, without regard to its instability: all
    stability weights choose among the same candidates.

    Parameters
    ----------
    n_trials : int, default=100
        How many candidates are proposed.
    sampler : optuna.samplers.BaseSampler or None, default=None
        What proposes. None stands for the study's, or without one for a TPE sampler with a seed of 0.
    study : optuna.study.Study or None, default=None
        A study without trials, to which those of the search on all data are added: what Optuna's
        pictures and its dashboard show. Its values are cross-validation errors, minus the score where
        one drives; with the direction ``"maximize"`` the other way round. The errors on the splits are
        intermediate values, ``instability`` and ``candidate``, the number in ``cv_results_``, are user
        attributes. Trials that wait in it, by ``study.enqueue_trial``, are looked at first.
    per_view : bool, default=True
        Whether each view has a study of its own, that knows of no error on rows that the view is judged
        on. With False there is one for all, which knows the cross-validation errors on all data: fewer
        fits, a promise that is one or two percent lower, and committees and ensembles can be delivered.
    batch_size : int, default=10
        How many candidates Optuna is asked for at a time.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import Pipeline
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from steadycv import OptunaSearch, StabilitySearchCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> space = {"ccp_alpha": loguniform(1, 1e3), "min_samples_leaf": range(1, 100)}
    >>> proposals = OptunaSearch(n_trials=30)
    >>> search = StabilitySearchCV(DecisionTreeRegressor(), space, search=proposals).fit(X, y)
    >>> sorted(search.best_params_)
    ['ccp_alpha', 'min_samples_leaf']

    A function says what depends on what:

    >>> ridge, tree = Ridge(), DecisionTreeRegressor()
    >>> def space(trial):
    ...     if trial.suggest_categorical("model", ["ridge", "tree"]) == "ridge":
    ...         alpha = trial.suggest_float("alpha", 1e-3, 1e3, log=True)
    ...         return {"model": ridge, "model__alpha": alpha}
    ...     return {"model": tree, "model__max_depth": trial.suggest_int("max_depth", 1, 9)}
    >>> search = StabilitySearchCV(Pipeline([("model", ridge)]), space, search=proposals).fit(X, y)
    >>> search.best_params_["model"]
    Ridge()
    """

    n_trials: int = 100
    sampler: Any = None
    study: Any = None
    per_view: bool = True
    batch_size: int = 10

    def check(self, space: Any) -> None:
        """Refuse what Optuna could not be asked, before anything is fitted."""
        _import_optuna()
        for name in ("n_trials", "batch_size"):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or value < 1:
                raise ValueError(f"{name} of OptunaSearch must be a number from 1 on, got {value!r}.")
        if self.study is not None:
            if len(self.study.directions) > 1:
                raise ValueError(
                    f"A search has one objective, and the study has {len(self.study.directions)}: pass "
                    "optuna.create_study()."
                )
            if n_known := len(self.study.get_trials(deepcopy=False)) - len(self._waiting()):
                raise ValueError(
                    f"The study has {n_known} trials already, on which proposals would depend: pass a "
                    "new one, optuna.create_study(). An interrupted search goes on with ledger=."
                )
        suggesting(space)

    def proposer(self, space: Any, *, of_all: bool) -> Proposer:
        """What proposes to one view; to the one that knows all, by the study that was handed in."""
        optuna = _import_optuna()
        if of_all and self.study is not None:
            if self.sampler is not None:
                self.study.sampler = deepcopy(self.sampler)
            return Proposer(self.study, suggesting(space), self.n_trials, self.batch_size)
        sampler = self.sampler or (self.study and self.study.sampler)
        sampler = deepcopy(sampler) if sampler else optuna.samplers.TPESampler(seed=0)
        verbosity = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.WARNING)  # it tells of each new study
        study = optuna.create_study(sampler=sampler)
        optuna.logging.set_verbosity(verbosity)
        study.add_trials(self._waiting())
        return Proposer(study, suggesting(space), self.n_trials, self.batch_size)

    def _waiting(self) -> list[Any]:
        if self.study is None:
            return []
        waiting = _import_optuna().trial.TrialState.WAITING
        trials: list[Any] = self.study.get_trials(deepcopy=False, states=[waiting])
        return trials


class Proposer:
    """A study that proposes to one view.

    Parameters
    ----------
    study : optuna.study.Study
        Where trials are added.
    suggest : callable
        Makes the parameters of a candidate from a trial.
    n_trials, batch_size : int
        How many candidates there are, and how many at a time.
    """

    def __init__(self, study: Any, suggest: Suggest, n_trials: int, batch_size: int) -> None:
        self._study = study
        self._suggest = suggest
        self._n_left = n_trials
        self._batch_size = batch_size
        self._trials: list[Any] = []

    def ask(self) -> list[dict[str, Any]]:
        """The next candidates; none when there are enough."""
        self._trials, settings = [], []
        for _ in range(min(self._n_left, self._batch_size)):
            self._trials.append(self._study.ask())
            settings.append(self._suggest(self._trials[-1]))
        self._n_left -= len(settings)
        return settings

    def tell(self, found: Found) -> None:
        """What the view found of them."""
        optuna = _import_optuna()
        is_maximized = self._study.direction == optuna.study.StudyDirection.MAXIMIZE
        sign = -1 if is_maximized else 1
        for i, trial in enumerate(self._trials):
            trial.set_user_attr("candidate", int(found.candidates[i]))
            if np.isfinite(found.instability[i]):
                trial.set_user_attr("instability", float(found.instability[i]))
            for step, error in enumerate(found.by_evaluation[i].tolist()):
                if np.isfinite(error):
                    trial.report(sign * error, step)
            if np.isfinite(found.error[i]):
                self._study.tell(trial, sign * float(found.error[i]))
            else:
                self._study.tell(trial, state=optuna.trial.TrialState.FAIL)


def suggesting(space: Any) -> Suggest:
    """A function of a trial that returns the parameters of a candidate."""
    if callable(space):  # a function of a trial

        def checked(trial: Any) -> dict[str, Any]:
            found = space(trial)
            if not isinstance(found, dict):
                raise TypeError(
                    "A space returns a dict of parameters, and "
                    f"{getattr(space, '__name__', space)} returned {found!r}."
                )
            return found

        return checked
    spaces = [space] if isinstance(space, dict) else list(space)
    if not spaces:
        raise ValueError(f"param_grid has no candidates: {space!r}.")
    axes = [{name: _axis(name, values) for name, values in each.items()} for each in spaces]

    def suggest(trial: Any) -> dict[str, Any]:
        if len(axes) == 1:
            return {name: axis(trial, name) for name, axis in axes[0].items()}
        number = trial.suggest_categorical(WHICH, list(range(len(axes))))
        return {name: axis(trial, f"{number}: {name}") for name, axis in axes[number].items()}

    return suggest


def _axis(name: str, values: Any) -> Callable[[Any, str], Any]:
    """A function of a trial, and of the name there, that returns a value."""
    distributions = _import_optuna().distributions
    if hasattr(values, "rvs"):
        return _of_scipy(name, values)
    if isinstance(values, distributions.FloatDistribution):
        ends, step, log = (values.low, values.high), values.step, values.log
        return lambda trial, name: trial.suggest_float(name, *ends, step=step, log=log)
    if isinstance(values, distributions.IntDistribution):
        low, high, each, on_logs = values.low, values.high, values.step, values.log
        return lambda trial, name: trial.suggest_int(name, low, high, step=each, log=on_logs)
    if isinstance(values, distributions.CategoricalDistribution):
        values = values.choices
    if isinstance(values, str) or not hasattr(values, "__len__") or not len(values):
        raise TypeError(
            f"The space has lists of values and distributions of Optuna or scipy.stats, and {name!r} is "
            f"{values!r}."
        )
    if isinstance(values, range):
        first, last = sorted((values[0], values[-1]))
        width = abs(values.step)
        return lambda trial, name: trial.suggest_int(name, first, last, step=width)
    return _of_list(values)


def _of_list(values: Sequence[Any]) -> Callable[[Any, str], Any]:
    """One of some values; Optuna knows those by their numbers that are not plain."""
    choices = [value.item() if isinstance(value, np.generic) else value for value in values]
    if not all(map(is_plain, choices)) or len(set(choices)) < len(choices):
        choices = [f"{i}: {type(value).__name__}" for i, value in enumerate(values)]
    return lambda trial, name: values[choices.index(trial.suggest_categorical(name, choices))]


def _of_scipy(name: str, values: Any) -> Callable[[Any, str], Any]:
    """A distribution of scipy; Optuna proposes quantiles of those that it does not know itself."""
    known = getattr(getattr(values, "dist", None), "name", "")
    if known in ("uniform", "loguniform", "reciprocal"):
        low, high = map(float, values.support())
        return lambda trial, name: trial.suggest_float(name, low, high, log=known != "uniform")
    if known == "randint":
        first, last = map(int, values.support())
        return lambda trial, name: trial.suggest_int(name, first, last)
    if not hasattr(values, "ppf"):
        raise TypeError(
            f"Optuna takes distributions with quantiles (a method ppf), and {name!r} has none."
        )
    is_whole = hasattr(values, "pmf")

    def quantile(trial: Any, name: str) -> Any:
        value = values.ppf(trial.suggest_float(f"quantile of {name}", TAILS, 1 - TAILS))
        return int(value) if is_whole else float(value)

    return quantile


def _import_optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise ImportError("OptunaSearch needs optuna: pip install 'steadycv[optuna]'.") from error
    return optuna
