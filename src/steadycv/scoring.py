"""Scores: which of them drives the selection, and how all of them are computed.

Common scores are computed for all models at once; any other scorer is called for each model.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from traceback import format_exc
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import get_scorer
from sklearn.utils.metadata_routing import MetadataRequest
from sklearn.utils.multiclass import type_of_target

from steadycv._arrays import one_column, plain
from steadycv._compat import (
    check_method_params,
    n_samples_of,
    own_score,
    parts_of_scorer,
    response_methods,
    safe_split,
    scores_itself,
    sends_sample_weight_where_accepted,
    several_scorers,
    some_scorers,
    to_numpy,
    without_sample_weight,
)
from steadycv._scores_of_classes import UNNAMED
from steadycv.estimators import ANSWERS
from steadycv.losses import Loss, default_loss, get_loss
from steadycv.measures import MeanLoss, SampleScores, Scored
from steadycv.metadata import weight_of
from steadycv.outputs import Replay
from steadycv.scores import BEYOND, Score, find_score, loss_of, why_not_ranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.measures import Measure, Rows
    from steadycv.outputs import OutputsOfModels
    from steadycv.scores import LossOf

__all__ = ["Judging", "LossScorer", "NotAnsweredError", "OwnScorer", "Scores", "find_judging"]

REMEDIES = {
    "samples of one class only": "stratified, shuffled or larger test sets have more",
    "more than two classes": "roc_auc_ovr and f1_macro, for example, take them",
    "targets that are no labels": "r2 and neg_mean_absolute_error, for example, take numbers",
    UNNAMED: "make_scorer(..., pos_label=...) names it; loss='brier' needs no name",
}
LOSSES_OF_LABELS = ("zero_one", "log_loss", "brier")


class NotAnsweredError(Exception):
    """A scorer asked for more than the outputs that a path has: the models themselves are needed."""


@dataclass(frozen=True)
class LossScorer:
    """Minus the mean loss, as a scikit-learn scorer, for a search that no score drives.

    Attributes
    ----------
    loss : Loss
        The loss.
    """

    loss: Loss

    def __call__(
        self, estimator: Any, X: Any, y: Any, sample_weight: NDArray[Any] | None = None
    ) -> float:
        """Score a fitted estimator."""
        # New data need not have every class: the columns are the estimator's.
        measure = MeanLoss.of(self.loss, y, getattr(estimator, "classes_", None))
        outputs = plain(to_numpy(getattr(estimator, measure.method)(X)))
        if measure.method != "predict_proba":  # a column of these may be the only class
            outputs = one_column(outputs)
        losses = np.asarray(self.loss(measure.y, outputs), dtype=np.float64)
        weight = None if sample_weight is None else to_numpy(sample_weight)
        return -float(np.average(losses, weights=weight))

    def get_metadata_routing(self) -> MetadataRequest:
        """Ask for the sample weights, under scikit-learn's metadata routing."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=True)
        return request


@dataclass(frozen=True)
class OwnScorer:
    """What an estimator's ``score`` says, as a scikit-learn scorer, for a search without `scoring`.

    Unlike scikit-learn's it asks for sample weights under metadata routing, as the losses have them too.
    """

    _estimator: Any  # named as scikit-learn does

    def __call__(
        self, estimator: Any, X: Any, y: Any = None, sample_weight: NDArray[Any] | None = None
    ) -> float:
        """Score a fitted estimator."""
        weighted = {} if sample_weight is None else {"sample_weight": sample_weight}
        score: float = estimator.score(X, *(() if y is None else (y,)), **weighted)
        return score

    def get_metadata_routing(self) -> MetadataRequest:
        """Ask for the sample weights, if the score takes some."""
        request = MetadataRequest(owner=self)
        if not without_sample_weight(self):
            request.score.add_request(param="sample_weight", alias=True)
        return request


@dataclass(frozen=True)
class Scores:
    """Some scores of models.

    Attributes
    ----------
    X, y : data
        All samples.
    common : dict of str to Score
        Those that are computed for all models at once.
    equal : dict of str to callable
        The scorers that those are equal to, to be asked why one is NaN.
    weights : dict of str to ndarray or None
        Their sample weights.
    scorer : callable or None
        The others: a number, or numbers by name.
    labels : dict of str to str
        What people call a score, where that is not its name.
    names : tuple of str
        The names of the others, as far as they are known before it is called.
    params : dict
        Metadata for the scorer.
    classes : ndarray or None
        The classes of a classifier, as the columns of probabilities have them.
    raises : bool
        Whether a scorer that fails stops the search.
    """

    X: Any
    y: Any
    common: dict[str, Score] = field(default_factory=dict)
    equal: dict[str, Any] = field(default_factory=dict)
    weights: dict[str, NDArray[np.float64] | None] = field(default_factory=dict)
    scorer: Any = None
    labels: dict[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    params: dict[str, Any] = field(default_factory=dict)
    classes: NDArray[Any] | None = None
    raises: bool = False

    def methods(self, estimator: Any) -> list[tuple[str, ...]]:
        """What its models are asked for: of each tuple the first method that there is."""
        asked = [score.methods for score in self.common.values()]
        for scorer in self._others().values():
            # A function may ask for anything, as far as anybody knows.
            asked += response_methods(scorer) or [
                (method,) for method in ANSWERS if hasattr(estimator, method)
            ]
        return asked

    def undefined(self, rows: Rows) -> str | None:
        """Why a score is not defined on these rows, whatever a model says."""
        if self.y is None:
            return None
        y = to_numpy(self.y)[rows.rows]
        for name, score in {**self.common, **self._others()}.items():
            weight = self._weight(name, rows)
            if isinstance(score, Score):
                reason = score.undefined(y, weight, self.classes)
            else:
                reason = why_not_ranked(score, y, weight, self.classes)
            if reason is not None:
                remedy = REMEDIES.get(reason)
                why = f"{self.labels.get(name, name)} is not defined there: {reason}"
                return f"{why} ({remedy})" if remedy else why
        return None

    def _others(self) -> dict[str, Any]:
        """The scorers that are called, by name."""
        return {} if self.scorer is None else several_scorers(self.scorer) or {"score": self.scorer}

    def _weight(self, name: str, rows: Rows) -> NDArray[np.float64] | None:
        weight = self.weights.get(name)
        return None if weight is None else weight[rows.rows]

    def of(
        self, models: OutputsOfModels, rows: Rows, failed: NDArray[np.bool_] | None = None
    ) -> tuple[dict[str, NDArray[np.float64]], dict[int, str]]:
        """Scores by name, one a model, and the tracebacks of scorers that failed.

        Infinity stands for a score that failed, and `BEYOND` for one that is infinity; `failed` models
        are passed over.
        """
        failures: dict[int, str] = {}
        tables = {name: self._common(name, models, rows, failed, failures) for name in self.common}
        if self.scorer is not None:
            for name in self.names:
                tables[name] = np.full(models.n_models, np.inf)
            for i in range(models.n_models):
                if failed is None or not failed[i]:
                    scores, error = self._called(models, i, rows)
                    for name, value in scores.items():
                        tables.setdefault(name, np.full(models.n_models, np.inf))[i] = value
                    if error is not None:
                        failures[i] = error
        return tables, failures

    def parts(self, name: str, models: OutputsOfModels, rows: Rows) -> NDArray[np.float64] | None:
        """By model and row, numbers whose mean is a score; None for scores that have no such."""
        score = self.common.get(name)
        if score is None or score.share is None:
            return None
        outputs = models.says(score.methods, rows.rows)
        return score.parts(to_numpy(self.y)[rows.rows], outputs, self._weight(name, rows), self.classes)

    def _common(
        self,
        name: str,
        models: OutputsOfModels,
        rows: Rows,
        failed: NDArray[np.bool_] | None,
        failures: dict[int, str],
    ) -> NDArray[np.float64]:
        """A common score of all models; of each by itself where one spoils all."""
        some = [i for i in range(models.n_models) if failed is None or not failed[i]]
        try:
            scores = self._common_at_once(name, models, rows)
        except Exception:
            if self.raises:
                raise
            if models.n_models == 1:
                failures[0] = format_exc()
                return np.array([np.inf])
            scores = np.full(models.n_models, np.inf)
            for i in some:
                try:
                    scores[i] = self._common_at_once(name, models.only(i), rows)[0]
                except Exception:
                    failures[i] = format_exc()
        for i in some:
            if name in self.equal and np.isnan(scores[i]):
                scores[i], error = self._asked(name, models, i, rows)
                failures |= {} if error is None else {i: error}
        return scores

    def _common_at_once(self, name: str, models: OutputsOfModels, rows: Rows) -> NDArray[np.float64]:
        score = self.common[name]
        outputs = models.says(score.methods, rows.rows)
        y = to_numpy(self.y)[rows.rows]
        return np.minimum(score(y, outputs, self._weight(name, rows), self.classes), BEYOND)

    def _asked(self, name: str, models: OutputsOfModels, i: int, rows: Rows) -> tuple[float, str | None]:
        """What the scorer says of a model whose common score is NaN: NaN as well, or that it fails."""
        model, X, y = self._model(models, i, rows)
        weight = self._weight(name, rows)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a score that is not defined
                weighted = {} if weight is None else {"sample_weight": weight}
                return _number(self.equal[name](model, X, y, **weighted), name), None
        except Exception as error:
            # What the score takes is there, and it refuses that: no other model would do better.
            if isinstance(model, Replay) and not isinstance(error, ValueError):
                raise NotAnsweredError from error
            if self.raises:
                raise
            return np.inf, format_exc()

    def _model(self, models: OutputsOfModels, i: int, rows: Rows) -> tuple[Any, Any, Any]:
        """A model, and what it is judged on."""
        model = models.model(i, rows.rows)
        X, y = safe_split(model, self.X, self.y, rows.rows, models.trained_on)
        if isinstance(model, Replay):
            model.about(X)
        return model, X, y

    def _called(
        self, models: OutputsOfModels, i: int, rows: Rows
    ) -> tuple[dict[str, float], str | None]:
        """Scores of one model by name, without those that failed, and a traceback if some did."""
        model, X, y = self._model(models, i, rows)
        params = check_method_params(self.X, params=self.params, indices=rows.rows)
        try:
            scores = self._call(model, X, *(() if y is None else (y,)), **params)
        except Exception as error:
            if isinstance(model, Replay):
                raise NotAnsweredError from error
            if self.raises:
                raise
            return {}, format_exc()
        scores = scores if isinstance(scores, dict) else {"score": scores}
        errors = {}
        if several_scorers(self.scorer) is not None:  # text is the traceback of one of them
            errors = {name: value for name, value in scores.items() if isinstance(value, str)}
        if errors and isinstance(model, Replay):
            raise NotAnsweredError
        known = {name: _number(v, name) for name, v in scores.items() if name not in errors}
        return known, next(iter(errors.values()), None)

    def _call(self, *args: Any, **params: Any) -> Any:
        """A number, or by name a number or the traceback of a scorer that failed."""
        several = several_scorers(self.scorer)
        weighted = "sample_weight" in params
        if several is None or not weighted or sends_sample_weight_where_accepted(self.scorer):
            return self.scorer(*args, **params)
        # scikit-learn's cannot weight a function among several, so each is called by itself.
        scores = {}
        for name, scorer in several.items():
            try:
                scores[name] = scorer(*args, **params)
            except Exception:
                if self.raises:
                    raise
                scores[name] = format_exc()
        return scores


def _number(score: Any, name: str) -> float:
    try:
        return min(float(score + 0), BEYOND)  # no text, even where it looks like a number
    except (TypeError, ValueError):
        raise ValueError(
            f"scoring must return a number, got {score!r} ({type(score)}) instead for {name!r}."
        ) from None


class Judging(NamedTuple):
    """What drives the selection, and what is reported besides.

    Attributes
    ----------
    measure : Measure
        What errors and changes are.
    name : str or None
        The reported score that is `best` minus the error; None where no score is.
    best : float
        See `name`.
    reported : Scores or None
        The other reported scores.
    loss : Loss or None
        The per-sample loss in which changes are measured.
    weight : ndarray or None
        Weighs the samples in every mean.
    classes : ndarray or None
        The classes of a classifier, as the columns of probabilities have them.
    """

    measure: Measure
    name: str | None
    best: float
    reported: Scores | None
    loss: Loss | None
    weight: NDArray[np.float64] | None
    classes: NDArray[Any] | None


def find_judging(
    search: Any, scorers: Any, X: Any, y: Any, score_params: dict[str, Any], params: dict[str, Any]
) -> Judging:
    """Find what drives a selection, as the parameters of a search say.

    `scorers` is what scikit-learn made of `scoring`, `score_params` what goes to them of the `params` of
    ``fit``.
    """
    return _Finder(search, scorers, X, y, score_params, params).judging()


class _Finder:
    """Puts together what the parameters of a search say about scores and losses."""

    def __init__(
        self,
        search: Any,
        scorers: Any,
        X: Any,
        y: Any,
        score_params: dict[str, Any],
        params: dict[str, Any],
    ) -> None:
        self._search = search
        self._estimator = search.estimator
        self._scorers = scorers
        self._X, self._y = X, y
        self._score_params = score_params
        self._params = params
        several = several_scorers(scorers)
        self._by_name = {"score": scorers} if several is None else several
        self._is_several = several is not None
        self._classes = _classes(self._estimator, y)

    def judging(self) -> Judging:
        """What the parameters come to."""
        driving = self._driving()
        if driving is None:
            return self._by_loss()
        known = self._loss_behind(driving)
        if known is not None and self._search.loss in (
            None,
            known.loss,
            getattr(known.loss, "name", None),
        ):
            loss, best = known
            return self._judging(self._mean_loss(loss), loss, driving, best)
        loss_of_changes = self._loss_of_changes()
        scores = self._scores(only=driving)
        assert scores is not None
        measure = Scored(scores, driving, self._changes(loss_of_changes))
        return self._judging(measure, loss_of_changes, driving)

    def _loss_behind(self, name: str) -> LossOf | None:
        """The loss of which a score is the mean, where the score takes these targets."""
        found = None if self._is_open else loss_of(self._by_name[name])
        of_labels = getattr(getattr(found, "loss", None), "name", None) in LOSSES_OF_LABELS
        if found is None or self._y is None or not of_labels:
            return found
        score = self._common(name)
        if score is None:  # there are several targets
            says_labels = getattr(found.loss, "response_method", "predict") == "predict"
            is_known = says_labels and type_of_target(to_numpy(self._y)) == "multilabel-indicator"
        else:
            is_known = score.undefined(to_numpy(self._y), None, self._classes) is None
        return found if is_known and not is_regressor(self._estimator) else None

    def _judging(
        self, measure: Measure, loss: Loss | None, name: str | None, best: float = 0.0
    ) -> Judging:
        reported = self._scores(without=name)
        return Judging(measure, name, best, reported, loss, self._weight(name), self._classes)

    def _driving(self) -> str | None:
        """The name of the score that drives; None if a loss does."""
        search, names = self._search, list(self._by_name)
        if isinstance(search.refit, str) and search.scoring is None and search.loss is not None:
            raise ValueError(f"refit={search.refit!r} names no score: without scoring= the loss drives.")
        if isinstance(search.refit, str) and search.scoring is not None:
            if self._is_open or search.refit in names:
                return search.refit
            if search.refit == search.scoring:
                return "score"
            if self._is_several or search.loss is not None:
                raise ValueError(f"refit={search.refit!r} names no score: scoring= has {names}.")
        if search.scoring is None:
            usual = self._has_default_loss and not scores_itself(self._estimator)
            return None if search.loss is not None or usual else "score"
        if len(names) == 1:
            return names[0]
        if search.loss is not None:
            return None
        raise ValueError(
            f"With several scores and refit={search.refit!r} nothing says which of {names} drives "
            "the selection: name it in refit=, or pass loss=."
        )

    @property
    def _is_open(self) -> bool:
        """Whether a function of the user's gives the scores, by names that only its result tells."""
        return callable(self._search.scoring) and not response_methods(self._scorers)

    @property
    def _has_default_loss(self) -> bool:
        return bool(is_classifier(self._estimator) or is_regressor(self._estimator))

    def _by_loss(self) -> Judging:
        search = self._search
        loss = default_loss(self._estimator) if search.loss is None else get_loss(search.loss)
        own = own_score(self._estimator) if search.scoring is None else None
        if own == "accuracy" and getattr(loss, "name", None) == "zero_one":
            return self._judging(self._mean_loss(loss), loss, "score", best=1.0)
        return self._judging(self._mean_loss(loss), loss, None)

    def _mean_loss(self, loss: Loss) -> MeanLoss:
        if self._y is None:
            raise ValueError(
                f"{type(self._search).__name__} requires y to be passed, but the target y is None."
            )
        return MeanLoss.of(loss, self._y)

    def _loss_of_changes(self) -> Loss | None:
        """What changes are measured in where a score drives; None for models without targets."""
        if self._search.loss is not None:
            return get_loss(self._search.loss)
        return default_loss(self._estimator) if self._has_default_loss else None

    def _changes(self, loss: Loss | None) -> MeanLoss | SampleScores | None:
        if loss is not None:
            return self._mean_loss(loss)
        return SampleScores() if hasattr(self._estimator, "score_samples") else None

    def _weight(self, driving: str | None) -> NDArray[np.float64] | None:
        scorer = None if driving is None else self._by_name.get(driving, self._scorers)
        return weight_of(scorer, self._params, n_samples_of(self._X))

    def _weight_in(self, name: str) -> NDArray[np.float64] | None:
        """The weights in a score; some take none."""
        return None if without_sample_weight(self._by_name[name]) else self._weight(name)

    def _scores(self, *, only: str | None = None, without: str | None = None) -> Scores | None:
        """The scores to compute, common ones apart from the others."""
        names = [name for name in self._by_name if name != without and only in (None, name)]
        if self._is_open and not self._is_several:
            names = [] if without is not None else ["score"]
        if not names:
            return None
        common: dict[str, Score] = {}
        if set(self._score_params) <= {"sample_weight"} and self._y is not None:
            found = {name: self._common(name) for name in names}
            common = {name: score for name, score in found.items() if score is not None}
        others = [name for name in names if name not in common]
        of_metrics = [name for name in names if parts_of_scorer(self._by_name[name]) or name in common]
        return Scores(
            X=self._X,
            y=self._y,
            common=common,
            equal={name: self._named(name) for name in common},
            weights={name: self._weight_in(name) for name in of_metrics},
            labels={"score": self._search.scoring} if isinstance(self._search.scoring, str) else {},
            scorer=some_scorers(self._scorers, others) if others else None,
            names=() if self._is_open else tuple(others),
            params=self._score_params,
            classes=self._classes,
            raises=self._search.error_score == "raise",
        )

    def _common(self, name: str) -> Score | None:
        n_targets = 1 if np.ndim(self._y) < 2 else np.shape(self._y)[1]
        return find_score(self._named(name), n_targets)

    def _named(self, name: str) -> Any:
        """A scorer; for an estimator's own score the one that is the same, if one is."""
        own = own_score(self._estimator) if self._search.scoring is None else None
        return self._by_name[name] if own is None else get_scorer(own)


def _classes(estimator: Any, y: Any) -> NDArray[Any] | None:
    if y is None or not is_classifier(estimator):
        return None
    labels = one_column(to_numpy(y))
    return np.unique(labels) if labels.ndim == 1 else None
