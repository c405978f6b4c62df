"""The part of a search that says what it takes, before it begins."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from steadycv._compat import check_params
from steadycv.executor import Executor
from steadycv.prices import price_of_too_many, seconds_a_fit
from steadycv.splits import TooManySplitsError
from steadycv.strategies import get_proposals

if TYPE_CHECKING:
    from steadycv.candidates import Candidates
    from steadycv.planning import Planner
    from steadycv.prices import Price
    from steadycv.tasks import Problem

__all__ = ["Priced"]


class Priced:
    """Adds `price` to a search."""

    n_jobs: int | None
    pre_dispatch: int | str
    search: Any

    @abstractmethod
    def _asked(self, X: Any, y: Any, params: dict[str, Any]) -> Any:
        """What a fit is asked."""

    @abstractmethod
    def _grouped(self, asked: Any) -> tuple[Problem, Planner, bool]:
        """What is fitted together."""

    @abstractmethod
    def _price(self, asked: Any, problem: Problem, planner: Planner, *, races: bool) -> Price:
        """The price of what is planned."""

    @abstractmethod
    def _candidates(self) -> Candidates:
        """The candidates that there are before anything is fitted."""

    def price(self, X: Any, y: Any = None, *, timed: int = 0, **params: Any) -> Price:
        """How many fits a search takes, how much memory, and about how long.

        Nothing is fitted but what is timed.

        Parameters
        ----------
        X, y, **params
            As for `fit`.
        timed : int, default=0
            How many fits to try, spread over the candidates, for a time.

        Returns
        -------
        price : Price
            A text when it is printed, see :class:`steadycv.prices.Price`. Of splits that would need too
            many training sets, and that a fit refuses, it is told too; they are not made for that.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import GradientBoostingRegressor
        >>> from sklearn.model_selection import ShuffleSplit
        >>> from steadycv import StabilitySearchCV
        >>> X, y = load_diabetes(return_X_y=True)
        >>> grid = {"max_depth": [1, 2, 3], "n_estimators": [50, 100, 200]}
        >>> print(StabilitySearchCV(GradientBoostingRegressor(), grid).price(X, y))
        9 candidates on 16 training sets of 5 splits: 48 fits, where GridSearchCV makes 45; less than
        1 MB.
        >>> splits = ShuffleSplit(20, random_state=0)
        >>> print(StabilitySearchCV(GradientBoostingRegressor(), grid, cv=splits).price(X, y))
        9 candidates on 211 training sets of 20 splits: 633 fits, where GridSearchCV makes 180; 2 MB.
        That is 11 times as many training sets as plain cross-validation has: KFold(5) has 16,
        KFold(10) 56, and nested=False 21.
        """
        check_params(self)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fit says it
            try:
                asked = self._asked(X, y, params)
            except TooManySplitsError as error:
                proposals = get_proposals(self.search)
                n_candidates = len(self._candidates()) if proposals is None else proposals.n_trials
                return price_of_too_many(error, n_candidates)
            problem, planner, races = self._grouped(asked)
            price = self._price(asked, problem, planner, races=races)
            if not timed or not planner.lines:
                return price
            seconds = price.n_fits * seconds_a_fit(problem, planner, timed)
        return replace(price, seconds=seconds / Executor(self.n_jobs, self.pre_dispatch).n_workers)
