"""Conclusions: what a fitted search tells of what its fits left behind."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit
from sklearn.utils.validation import check_is_fitted

from steadycv import rules
from steadycv.averages import NotJudgedError
from steadycv.bootstrap import BootstrapPromise, NoBootstrapError
from steadycv.bound import generalization_bound, nested_bound
from steadycv.checks import check_weights
from steadycv.families import families
from steadycv.intervals import (
    check_cv_plus,
    cv_plus_interval,
    residual_interval,
    sets_by_surprise,
    surprises,
)
from steadycv.kept import in_order_of_samples
from steadycv.offers import DELIVER, Offer
from steadycv.promise_intervals import inner_errors, promise_interval
from steadycv.results import (
    choice_of,
    grid_table,
)
from steadycv.scores import find_score
from steadycv.strategies import exhaustive, get_strategy
from steadycv.suggestions import Suggestions
from steadycv.weights import NO_VIEW, table_weights

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from steadycv._later import Later
    from steadycv.baseline import Baseline
    from steadycv.candidates import Box
    from steadycv.committees import Committee
    from steadycv.delivery import Delivery
    from steadycv.families import Family
    from steadycv.lattice import Lattice
    from steadycv.ledger import Ledger
    from steadycv.losses import Loss
    from steadycv.results import RuleChoice
    from steadycv.rules import Rule

__all__ = ["OF_VIEWS", "Conclusions", "Evidence"]

DRAWN_BLINDLY = (KFold, RepeatedKFold, ShuffleSplit, LeaveOneOut)  # themselves, no subclasses
OF_VIEWS = "views"  # their own choices; the choice that is promised may have another weight
NO_PROMISE = "There is no promise: "
BOOTSTRAPPED = (
    "the mean error, on rows that were not drawn, of what the same rule chooses by rows drawn with "
    "replacement"
)


class Evidence(NamedTuple):
    """What a fitted search keeps of its data, to conclude from.

    Attributes
    ----------
    targets : ndarray or None
        The targets.
    weight : ndarray or None
        The weights of the samples in every mean.
    groups : ndarray or None
        What the splitter was to keep together.
    splitter : type
        The class of the splitter.
    losses : Later of dict of str to list of ndarray or None
        By kind of delivery and view, the losses of what was chosen without the view's rows on these
        rows; and of the views' own choices. None where there is no loss of a sample.
    members : dict of int to ndarray
        By split, what the model without it that a committee has says of its test rows.
    package : str
        The package that the data came from, as ``"polars"``.
    """

    targets: NDArray[Any] | None
    weight: NDArray[np.float64] | None
    groups: NDArray[Any] | None
    splitter: type
    losses: Later[dict[str, list[NDArray[np.float64]] | None]]
    members: dict[int, NDArray[Any]]
    package: str


class Conclusions(Suggestions):
    """The part of a fitted search that concludes from what its fits left behind."""

    # What a search has of its own, and what was set when its fits were done.
    best_estimator_: Any
    best_index_: int
    cv_error_: float
    cv_results_: dict[str, Any]
    driving_score_: str | None
    kfold_index_: int
    lattice_: Lattice
    ledger_: Ledger
    loss_: Loss | None
    n_splits_: int
    scorer_: Any
    weights_: dict[str, NDArray[Any]]
    _boxes: list[Box]
    _instability: float
    _taken: RuleChoice
    estimator: Any
    n_fits_: int
    predict: Callable[[Any], NDArray[Any]]
    predict_proba: Callable[[Any], NDArray[Any]]
    use_paths: bool
    verbose: int
    _check_refit_for_multimetric: Callable[[Any], None]
    cv: Any
    deliver: str
    error_score: float | str
    nested: bool
    refit: Any
    rule: str | Rule
    scoring: Any
    search: Any
    stability_weights: Any
    _baseline: Later[Baseline | None]
    _bootstrap: Callable[[], BootstrapPromise] | str  # or why there is none
    _offers: dict[str, Offer]
    _delivery: Delivery | None
    _evidence: Evidence

    def __dir__(self) -> list[str]:
        """What can be asked for, but for what is fitted then: notebooks ask for all that is listed."""
        names = [name for name in object.__dir__(self) if name != "outer_committee_"]
        return [name for name in names if hasattr(self, name)]

    @property
    def nested_error_(self) -> float:
        """Mean error on the outer folds of what was chosen without them: what to expect on new data.

        With several stability weights it had a part in choosing one of them and is thereby slightly low;
        the lowest of all, with ``rule="paper"``, most of all. There is none with ``nested=False``, with
        a callable `refit`, and of splits that cannot be nested.
        """
        self._require_nested_error()
        return self._taken.nested_error

    def _require_nested_error(self) -> None:
        check_is_fitted(self)
        if not self.nested:
            raise AttributeError(
                "There is no nested error with nested=False: it needs the models trained without "
                "two folds. Set nested=True."
            )
        if callable(self.refit):
            raise AttributeError(
                "There is no nested error with a callable refit: its choice was made outside the "
                "nested cross-validation. weights_ has the outer errors of the weights."
            )
        if not self.lattice_.views:
            raise AttributeError(f"There is no nested error: {NO_VIEW}")

    @property
    def rules_(self) -> dict[str | Rule, RuleChoice]:
        """What every rule chooses on this search's ledger, and what that is worth; fits nothing.

        A function that was given as `rule` is its own key, so that ``rules_[search.rule]`` is always
        what was taken. Of an adaptive search only what it looked at is told. There are none with
        ``nested=False``.
        """
        check_is_fitted(self)
        if not self.nested:
            raise AttributeError(
                "There is nothing to compare rules by with nested=False: it takes their nested errors. "
                "Set nested=True."
            )
        ledger, candidates = self.ledger_, self.cv_results_["params"]
        if get_strategy(self.search) is exhaustive:
            weights = table_weights(self.lattice_, check_weights(self.stability_weights))
            table, plain = grid_table(ledger, weights), grid_table(ledger, [0.0])
            all_known = not self.ledger_.with_parts  # and nobody left a race
            names = [*rules.HAVE_WEIGHT, *(rules.OF_CANDIDATES if all_known else ())]
        else:
            table, plain = self.weights_, {"weight": np.zeros(1), "index": np.array([self.kfold_index_])}
            plain = table if table["weight"][0] == 0 else plain
            names = [] if self.rule == "plain" else [*rules.HAVE_WEIGHT]
        found = {
            name: choice_of(name, ledger, candidates, plain if name == "plain" else table)
            for name in names
        }
        return found | {self.rule: self._taken}

    @property
    def families_(self) -> list[Family]:
        """Of a list of grids, what is chosen in each, and what that is worth: the best first.

        Nothing is fitted for it. An adaptive search does not know enough of each.
        """
        self._require_nested_error()
        if len(self._boxes) < 2 or get_strategy(self.search) is not exhaustive:
            raise AttributeError(
                "families_ compares the grids of a search of the whole of them, where param_grid is a "
                "list of two grids or more."
            )
        if self.ledger_.with_parts:
            raise AttributeError(
                "families_ compares grids that were searched to the end, and here candidates left a "
                "race: set race=False."
            )
        weights = table_weights(self.lattice_, check_weights(self.stability_weights))
        return families(self.ledger_, self.cv_results_["params"], self._boxes, self.rule, weights)

    @property
    def instability_(self) -> float:
        """Instability of the choice: the largest, over splits, mean absolute change in loss.

        The change is that between training on a split and on all data.
        """
        check_is_fitted(self)
        if np.isnan(self._instability):
            raise AttributeError(
                "The instability is not known with nested=False and a weight of 0: it needs the "
                "model fitted on all data. Set nested=True."
            )
        return self._instability

    def generalization_bound(
        self, loss_bound: float, delta: float = 0.05, *, kind: str = "nested"
    ) -> float:
        """Bound on the error on new data that holds with probability ``1 - delta``.

        Parameters
        ----------
        loss_bound : float
            No loss of any model at any point is larger.
        delta : float, default=0.05
            How often the bound may fail.
        kind : {"nested", "theorem1"}, default="nested"
            ``"nested"`` is about `outer_committee_`, the average of the views' own choices, for a loss
            that is convex in the outputs, or about one of them drawn at random; a majority vote has at
            most twice the zero-one error. ``"theorem1"`` is the paper's, about the choice; it is loose.

        Returns
        -------
        bound : float
            See :func:`steadycv.nested_bound` and :func:`steadycv.generalization_bound`.
        """
        check_is_fitted(self)
        if kind == "theorem1":
            return self._theorem1(loss_bound, delta)
        if kind != "nested":
            raise ValueError(f"kind must be 'nested' or 'theorem1', got {kind!r}.")
        losses = self._losses_for_a_bound()
        n_choices = [1] * len(losses)
        if self.rule in rules.CHOOSE_WEIGHT:
            indices = [self.weights_[f"split{view.split}_index"] for view in self.lattice_.views]
            n_choices = [len(set(index.tolist())) for index in indices]
        return nested_bound(losses, n_choices, loss_bound=loss_bound, delta=delta)

    def _losses_for_a_bound(self) -> list[NDArray[Any]]:
        """The losses of the views' choices, where nothing stands against a bound."""
        self._require_nested_error()
        evidence = self._evidence
        if evidence.splitter not in DRAWN_BLINDLY:
            raise ValueError(
                "The bound is for splits that are drawn without a look at the targets, of rows that are "
                f"independent, and not for {evidence.splitter.__name__}: pass "
                "cv=KFold(5, shuffle=True)."
            )
        if evidence.groups is not None or evidence.weight is not None:
            what = "groups" if evidence.groups is not None else "sample_weight"
            raise ValueError(f"The bound is for independent rows that count alike, and not with {what}.")
        losses = evidence.losses().get(OF_VIEWS)
        if losses is None:
            raise ValueError("The bound is for a loss of every sample, and here is none: pass loss=.")
        is_zero_one = getattr(self.loss_, "name", None) == "zero_one"
        return [each.astype(bool) for each in losses] if is_zero_one else losses

    def _theorem1(self, loss_bound: float, delta: float) -> float:
        sizes = np.unique([len(split.test) for split in self.lattice_.splits])
        if len(sizes) > 1:
            raise ValueError(
                f"The theorem is for folds of equal size, and these have {sizes.tolist()} samples."
            )
        tested = np.concatenate([split.test for split in self.lattice_.splits])
        if len(tested) != self.lattice_.n_samples or len(np.unique(tested)) != len(tested):
            repeats = (
                "this search has repeats" if self.lattice_.n_repeats > 1 else "these splits are none"
            )
            raise ValueError(f"The theorem is for one partition, and {repeats}.")
        return generalization_bound(
            self.cv_error_,
            self.instability_,
            loss_bound=loss_bound,
            n_folds=self.n_splits_,
            delta=delta,
        )

    @property
    def outer_committee_(self) -> Committee:
        """The average of the views' own choices, each chosen and trained without its fold.

        Its members are what the nested error is about, so the promise of that is strictly honest for
        their mean error. They are fitted again when it is first asked for; not after pickling.
        """
        self._require_nested_error()
        if self._delivery is None:
            raise AttributeError(
                "outer_committee_ is there where offers_ has a committee, and not after pickling: it "
                "takes the data to fit its members again."
            )
        return self._delivery.outer_committee(self._taken.view_candidates.tolist(), self.cv)

    @property
    def baseline_(self) -> Baseline | None:
        """The error of the best model that looks at no column; None where no constant is an answer."""
        check_is_fitted(self)
        return self._baseline()

    @property
    def promise_(self) -> float:
        """The error to expect on new data of what was delivered.

        It is made of errors on rows that what they judge was chosen without, so it is no minimum. It has
        the error's sign: minus a score that drives.
        """
        return self._offered().promise

    @property
    def promise_reason_(self) -> str:
        """Why the promise is that figure."""
        return self._offered().reason

    @property
    def promise_interval_(self) -> tuple[float, float]:
        """An interval for the error on new data that should contain it nine times in ten.

        It is made of the losses on rows that they were chosen without; where there is no nested error,
        of bootstrap resamples. It does not go beyond the best value of a score that is known.
        """
        offer, evidence, lattice = self._offered(), self._evidence, self.lattice_
        if offer.reason == BOOTSTRAPPED:
            return BootstrapPromise(offer.promise, offer.errors).interval()
        low, high = promise_interval(
            offer.errors,
            [lattice.splits[view.test_split].test for view in lattice.views],
            [lattice.n_rows(view.reference) for view in lattice.views],
            evidence.losses().get(offer.deliver) if self.driving_score_ is None else None,
            inner=inner_errors(self.ledger_, offer.chosen) if offer.chosen else None,
            sample_weight=evidence.weight,
            groups=evidence.groups,
        )
        return max(low, self._lowest_error()), high

    def _lowest_error(self) -> float:
        """The error of the best that there could be."""
        if self.driving_score_ is None:
            return 0.0
        several = isinstance(self.scorer_, dict)
        score = find_score(self.scorer_[self.driving_score_] if several else self.scorer_)
        return -np.inf if score is None else score.lowest_error

    @property
    def nested_residuals_(self) -> NDArray[np.float64]:
        """How far each row was from what would have been delivered without it.

        Of regressors the target less the prediction; of classifiers, which need probabilities, one minus
        that of the row's class. Of shape (n_samples,) or (n_repeats, n_samples); NaN for rows that are
        never judged. Intervals for single predictions are made of them.
        """
        try:
            return self._residuals()
        except ValueError as none:  # which is no answer to whether there are some
            raise AttributeError(str(none)) from None

    def _residuals(self) -> NDArray[np.float64]:
        self._require_nested_error()
        has_numbers, targets = is_regressor(self.estimator), self._evidence.targets
        if targets is None or not (has_numbers or self._has_nested_probabilities()):
            raise AttributeError(
                f"{type(self.estimator).__name__} has no residuals: it predicts no numbers, and no "
                "probabilities of classes, or not all candidates do."
            )
        said = self._said_without(self._offered())
        if has_numbers:
            residuals: NDArray[np.float64] = targets - said
            return residuals
        return surprises(said, np.searchsorted(np.unique(targets), targets))

    def predict_interval(
        self, X: Any, coverage: float = 0.9, *, method: str = "residuals"
    ) -> NDArray[np.float64]:
        """Intervals that should contain the targets of new rows; nothing is fitted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The new rows.
        coverage : float, default=0.9
            The share of targets that should be in their interval.
        method : {"residuals", "cv+"}, default="residuals"
            ``"residuals"`` takes what is delivered, less and plus a quantile of the residuals of what
            was chosen and trained without each row. ``"cv+"`` is the jackknife's cousin of Barber and
            others, which is wider; it is for ``deliver="committee"``, whose members it needs.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2)
            The lower and the upper ends.

        See Also
        --------
        predict_set : Sets of classes.
        """
        self._require_nested_error()
        evidence = self._evidence
        if not is_regressor(self.estimator):
            raise ValueError("Intervals are for regressors; predict_set gives classifiers' sets.")
        if method == "residuals":
            return residual_interval(self.predict(X), self._residuals(), coverage, evidence.weight)
        if method != "cv+":
            raise ValueError(f"method must be 'residuals' or 'cv+', got {method!r}.")
        if self.deliver != "committee":
            raise ValueError(
                "method='cv+' takes the models without a part of the data: pass deliver='committee' to "
                f"the search, which delivers them, and not deliver={self.deliver!r}."
            )
        check_cv_plus(self.lattice_)
        assert evidence.targets is not None
        said = in_order_of_samples(self.lattice_, evidence.members, labels=False)
        said = said if self.lattice_.n_repeats == 1 else said.mean(axis=0)
        return cv_plus_interval(
            np.stack(list(self.best_estimator_.predictions_of_members(X))),
            [self._tested_without(t) for t in self.lattice_.members(self.lattice_.final)],
            evidence.targets - said,
            coverage,
            evidence.weight,
        )

    def predict_set(self, X: Any, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Sets of classes that should contain those of new rows; nothing is fitted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The new rows.
        coverage : float, default=0.9
            The share of rows whose class should be in their set.

        Returns
        -------
        sets : ndarray of bool of shape (n_samples, n_classes)
            Whether a class is in the set; the most probable one always is. Columns are as in
            ``classes_``.

        See Also
        --------
        predict_interval : The same for regressors.
        """
        self._require_nested_error()
        if not is_classifier(self.estimator):
            raise ValueError("Sets of classes are for classifiers; predict_interval is for regressors.")
        assert self._evidence.targets is not None
        if self._evidence.targets.ndim > 1:
            raise ValueError(
                f"Sets of classes are for one target, and there are {self._evidence.targets.shape[1]}: "
                "search for each by itself."
            )
        if not (hasattr(self, "predict_proba") and self._has_nested_probabilities()):
            raise ValueError(
                f"Sets of classes are made of probabilities, which {type(self.estimator).__name__} does "
                "not have, or not all candidates: search for a classifier with predict_proba."
            )
        return sets_by_surprise(
            self.predict_proba(X), self._residuals(), coverage, self._evidence.weight
        )

    def _has_nested_probabilities(self) -> bool:
        said = self._offered().said
        return is_classifier(self.estimator) and (said is None or "predict_proba" in said.by_view[0])

    def _said_without(self, offer: Offer) -> NDArray[Any]:
        """What was chosen and trained without each row says of it, in the order of the samples."""
        if offer.said is None:
            raise ValueError(
                "What was chosen without some fold failed there, so nothing is known of its rows."
            )
        lattice = self.lattice_
        said = {
            view.test_split: next(iter(tables.values()))[0]
            for view, tables in zip(lattice.views, offer.said.by_view, strict=True)
        }
        return in_order_of_samples(lattice, said, labels=False)

    def _tested_without(self, training_set: int) -> NDArray[np.intp]:
        """The rows that the models of a training set are tested on."""
        splits = self.lattice_.splits_of(training_set)
        return np.unique(np.concatenate([self.lattice_.splits[split].test for split in splits]))

    @property
    def offers_(self) -> dict[str, Offer]:
        """By kind of delivery, what it would promise; a student only where it was delivered.

        Nothing is fitted for it. Committees are there where their members' outputs were kept: with three
        views or more and at most 250 training sets, if they take 16 MB or less; and where the score that
        drives is one of outputs, and not of fitted models.
        """
        check_is_fitted(self)
        if self._delivery is not None:
            for kind in ("committee", "ensemble"):
                if kind not in self._offers:
                    with suppress(NotJudgedError):
                        self._offers[kind] = self._delivery.offer(kind)
        return {kind: self._offers[kind] for kind in DELIVER if kind in self._offers}

    def delivered_as(self, deliver: str) -> Any:
        """One of `offers_`, fitted: what the search would have delivered with another `deliver`.

        Nothing of the search is fitted again, only what is delivered.

        Parameters
        ----------
        deliver : str
            A key of `offers_`.

        Returns
        -------
        estimator : estimator object
            The model, the committee, the ensemble or the student.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> from steadycv import StabilitySearchCV
        >>> search = StabilitySearchCV(DecisionTreeRegressor(), {"max_depth": range(1, 8)})
        >>> search = search.fit(*load_diabetes(return_X_y=True))
        >>> len(search.delivered_as("committee").estimators_)
        5
        """
        if deliver not in self.offers_:
            raise ValueError(
                f"deliver must be one of offers_, {', '.join(self.offers_)}; got {deliver!r}."
            )
        if deliver == self.deliver and self.refit:
            return self.best_estimator_
        if self._delivery is None:
            raise AttributeError(
                "delivered_as is there where offers_ has a committee, and not after pickling: it takes "
                "the data to fit what is delivered."
            )
        return self._delivery.fitted(self._offers[deliver], self.cv)[0]

    def _offered(self) -> Offer:
        check_is_fitted(self)
        if self.deliver not in self._offers:
            self._offers["model"] = self._offer_of_bootstrap()
        return self._offers[self.deliver]

    def _offer_of_bootstrap(self) -> Offer:
        """The promise where there is no nested error."""
        if isinstance(self._bootstrap, str):
            raise AttributeError(NO_PROMISE + self._bootstrap)
        try:
            found = self._bootstrap()
        except NoBootstrapError as error:
            raise AttributeError(f"{NO_PROMISE}{error}") from None
        return Offer("model", found.promise, found.errors, (self.best_index_,), reason=BOOTSTRAPPED)

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        if not hasattr(self, "_offers"):
            return state
        reason = ""
        try:
            self._offered()
        except Exception as error:  # to be told when the promise is asked for
            reason = str(error).removeprefix(NO_PROMISE)
        # The data are not sent along.
        return state | {"_offers": self.offers_, "_delivery": None, "_bootstrap": reason}
