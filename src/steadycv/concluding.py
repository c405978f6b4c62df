"""Concluding: what a search sets when its fits are done, for `conclusions` to tell."""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from steadycv import rules
from steadycv._arrays import one_column
from steadycv._compat import select_index, several_scorers, to_numpy
from steadycv._later import Later
from steadycv.averages import FoldJudge, NotJudgedError, answers
from steadycv.baseline import baseline
from steadycv.bootstrap import BootstrapPromise, bootstrap_promise
from steadycv.conclusions import OF_VIEWS, Conclusions, Evidence
from steadycv.delivery import Delivery, said_by_models
from steadycv.kept import in_order_of_samples
from steadycv.measures import Scored
from steadycv.offers import Offer, choices_without_own, model_offer
from steadycv.promises import promise_of_model
from steadycv.results import (
    choice_of,
    grid_search_results,
    nested_scores,
    weights_table,
    why_no_choice,
)
from steadycv.thresholds import NoThresholdError, find_threshold
from steadycv.weights import table_weights

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from steadycv.averages import Averages, Tables
    from steadycv.candidates import Candidates
    from steadycv.executor import Executor
    from steadycv.ledger import Ledger
    from steadycv.ledger_file import LedgerFile
    from steadycv.scoring import Judging
    from steadycv.selection import Choices, Selector, State
    from steadycv.tasks import Problem
    from steadycv.thresholds import Threshold

__all__ = ["Concluding"]

STACK = 6  # from a warning here to the caller of ``fit``
MUCH_WORSE = (
    "The promise is {:.4g}, the CV error of the choice: it is clearly larger than {:.4g}, the error of "
    "what was chosen without each part of the data. What is chosen on all data does worse than what was "
    "tried; look at split0_index, ... in weights_, and at offers_ for an average that does not hang on "
    "one choice."
)


class Concluding(Conclusions):
    """The part of a search that reads its fitted attributes off what its fits left behind."""

    def _conclude(
        self,
        candidates: Candidates,
        ledger: Ledger,
        weights: NDArray[np.float64],
        choices: Choices,
        judging: Judging,
        scorers: Any,
    ) -> None:
        """Set the fitted attributes that are read off the ledger."""
        lattice = ledger.lattice
        ledger.freeze()
        self.lattice_, self.ledger_, self._boxes = lattice, ledger, candidates.boxes
        self.multimetric_ = set(ledger.test_scores) != {"score"}
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric(ledger.test_scores)
        self.scorer_ = several_scorers(scorers) or scorers
        self.loss_ = judging.loss
        self.driving_score_ = judging.name if isinstance(judging.measure, Scored) else None
        self.n_splits_ = len(lattice.splits)

        self.weights_ = weights_table(ledger, table_weights(lattice, weights), choices)
        self._taken = choice_of(self.rule, ledger, candidates, self.weights_)
        if self._taken.candidate < 0 or np.isinf(self._taken.nested_error):
            raise ValueError(why_no_choice(ledger))
        self.stability_weight_ = self._taken.weight
        self.kfold_index_ = choices.final[0.0]
        self.kfold_params_ = candidates[self.kfold_index_]

        seen = ledger if choices.looked_at.all() else ledger.only(choices.looked_at)
        cv_error = rules.error(seen, lattice.final)
        instability = rules.instability(seen, lattice.final)
        weight = 0.0 if np.isnan(self.stability_weight_) else self.stability_weight_
        regularized = rules.regularized_error(cv_error, instability, weight)
        self.cv_results_ = grid_search_results(self, candidates, seen, judging.name)
        if ledger.with_parts:
            self.cv_results_["left_in_round"] = ledger.left_from(lattice.final)
        self.cv_results_["cv_error"] = cv_error
        self.cv_results_["instability"] = instability
        self.cv_results_["regularized_error"] = regularized
        self.cv_results_["rank_regularized_error"] = rules.rank(regularized)

        if callable(self.refit):
            self.best_index_ = select_index(self, self.cv_results_)
        else:
            self.best_index_ = self._taken.candidate
        self.best_params_ = candidates[self.best_index_]
        self.cv_error_ = float(cv_error[self.best_index_])
        self._instability = float(instability[self.best_index_])
        if not callable(self.refit):
            self.best_score_ = self._best_score(judging)

    def _best_score(self, judging: Judging) -> float:
        name = judging.name or ("score" if not self.multimetric_ else None)
        if name is None:
            return -self.cv_error_  # a loss drives, and no score is more than another
        return float(self.cv_results_[f"mean_test_{name}"][self.best_index_])

    def _predictions(
        self, problem: Problem, selector: Selector, ledger: Ledger, choices: Choices
    ) -> None:
        """Set what is told from outputs that were kept."""
        lattice = ledger.lattice
        labels = is_classifier(self.estimator) and problem.keep.methods[:1] != ("predict_proba",)
        best = dict.fromkeys(np.flatnonzero(lattice.evaluation_of_split >= 0).tolist(), self.best_index_)
        self.out_of_fold_predictions_ = in_order_of_samples(
            lattice, selector.outputs_of(best), labels=labels
        )
        if lattice.views and not callable(self.refit):
            steady = self._taken.view_candidates
            self.nested_scores_ = nested_scores(ledger, steady, choices.inner.get(0.0))
            chosen = {
                view.split: int(c)
                for view, c in zip(lattice.views, steady, strict=True)
                if view.split is not None
            }
            self.nested_predictions_ = in_order_of_samples(
                lattice, selector.outputs_of(chosen), labels=labels
            )

    def _offer(
        self,
        problem: Problem,
        candidates: Candidates,
        state: State,
        selector: Selector,
        executor: Executor,
        file: LedgerFile | None,
    ) -> None:
        """Set what is promised of the choice, and of what is delivered in its place."""
        lattice = problem.lattice
        self._delivery, self._offers = None, {}
        if lattice.views and not callable(self.refit):
            self._offers["model"] = self._model_offer(problem, selector)
        if problem.keep.of_members or self.deliver != "model":
            self._delivery = Delivery(
                *(problem, candidates, state, selector, executor), use_paths=self.use_paths, file=file
            )
            self._delivery.complete()
            if self.deliver != "model":
                self._offers[self.deliver] = self._delivery.offer(self.deliver)
                self._delivery.failures.report(
                    self.error_score, any_worked=True, in_full=self.verbose > 0
                )

    def _keep_evidence(self, problem: Problem, selector: Selector, groups: Any, splitter: type) -> None:
        """Keep what later conclusions take."""
        lattice = problem.lattice
        judging = problem.judging._replace(reported=None)
        self._baseline = Later(partial(baseline, self.estimator, judging, lattice, problem.y))
        members = {}
        self._bootstrap = "" if self._offers else self._bootstrapped(problem, selector, groups)
        said: dict[str, Averages | None] = {}
        if self._offers:
            said = {kind: offer.said for kind, offer in self._offers.items()}
            said[OF_VIEWS] = said_by_models(problem, selector, self._taken.view_candidates.tolist())
        judge = FoldJudge(problem.judging, lattice)
        if self.deliver == "committee":
            [candidate] = self._offers["committee"].candidates
            tested = np.flatnonzero(lattice.evaluation_of_split >= 0).tolist()
            members = selector.outputs_of(dict.fromkeys(tested, candidate))
        targets = None if problem.y is None else one_column(to_numpy(problem.y))
        self._threshold = Later(
            partial(_threshold, judge, said.get(self.deliver), targets, self.estimator)
        )
        self._evidence = Evidence(
            targets=targets,
            weight=problem.judging.weight,
            groups=None if groups is None else to_numpy(groups),
            splitter=splitter,
            losses=Later(partial(_losses, judge, said)),
            members=members,
            package=type(problem.X).__module__.partition(".")[0],
        )

    def _bootstrapped(
        self, problem: Problem, selector: Selector, groups: Any
    ) -> Callable[[], BootstrapPromise] | str:
        """What finds the promise where there is no nested error, when it is asked for; or why not."""
        if callable(self.refit):
            return "a callable refit cannot be asked to choose again without a part of the data."
        if self.rule not in rules.HAVE_WEIGHT:
            return f"rule={self.rule!r} looks at single splits: set nested=True."
        if problem.keep.parts:
            return "candidates that left the race are not known everywhere: set race=False."
        if not problem.keep.of_all:
            return "the outputs of all candidates would take more than 256 MB: set nested=True."
        results, weight, lattice = self.cv_results_, self.stability_weight_, problem.lattice
        penalty = results["instability"] * weight if weight else np.zeros(len(results["cv_error"]))
        judged = lattice.evaluation_of_split[lattice.evaluation_of_split >= 0]
        is_known = np.isfinite(results["cv_error"])  # of an adaptive search not all are
        is_known &= np.isfinite(self.ledger_.error[:, judged]).all(axis=1)  # and some failed
        if not is_known[self.best_index_]:
            return "the choice failed on some training set. With error_score=nan another one is chosen."
        penalty = np.where(is_known, penalty, np.inf)
        candidates = np.flatnonzero(np.isfinite(penalty))
        said = selector.out_of_fold(candidates)
        positions = np.cumsum(np.isfinite(penalty)) - 1

        def outputs(split: int, chosen: NDArray[np.intp]) -> Tables:
            tables = {method: table[positions[chosen]] for method, table in said[split].items()}
            return answers(tables, problem.judging.classes)

        return partial(
            bootstrap_promise, lattice, problem.judging, outputs, penalty=penalty, groups=groups
        )

    def _model_offer(self, problem: Problem, selector: Selector) -> Offer:
        """What is promised of the choice: of what was chosen without the rows that it is judged on."""
        lattice, taken = problem.lattice, self._taken
        chosen, errors = choices_without_own(self.rule, lattice, self.weights_, taken)
        of_choice = rules.judged_errors(self.ledger_, np.full(len(lattice.views), self.best_index_))
        won = bool((taken.view_candidates == self.best_index_).any())
        promise = promise_of_model(errors, of_choice, won_in_a_view=won)
        if promise.is_about_the_choice:
            if self.refit and self.deliver == "model":
                warnings.warn(
                    MUCH_WORSE.format(promise.error, errors.mean()), UserWarning, stacklevel=STACK
                )
            chosen, errors = np.full(len(chosen), self.best_index_), of_choice
        said = said_by_models(problem, selector, chosen.tolist())
        return model_offer(self.best_index_, errors, promise, chosen.tolist(), said)

    def _deliver(self) -> None:
        start = time.perf_counter()
        assert self._delivery is not None
        offer = self._offers[self.deliver]
        self.best_estimator_, self.delivered_ = self._delivery.fitted(offer, self.cv)
        self.refit_time_ = time.perf_counter() - start
        self.n_fits_ += self._delivery.failures.n_fits
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_


def _threshold(judge: FoldJudge, said: Averages | None, targets: Any, estimator: Any) -> Threshold | str:
    """The threshold, or why there is none."""
    if said is None:
        return "nothing is known of rows by what was chosen without them."
    try:
        return find_threshold(judge, said, targets, estimator)
    except (NoThresholdError, NotJudgedError) as reason:
        return str(reason)


def _losses(
    judge: FoldJudge, said: dict[str, Averages | None]
) -> dict[str, list[NDArray[np.float64]] | None]:
    """By kind of delivery, the losses of what is said of the views' rows."""
    return {kind: judge.losses(each) for kind, each in said.items() if each is not None}
