"""Scores of many models at once, equal to scikit-learn's scorers up to rounding.

A search asks for a score for every candidate, training set and view. A scorer takes half a
millisecond for each, which is more than many a fit; here one call serves all models that were
judged on the same samples. What is not computed here, `find_score` says, and the scorer is called.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from sklearn import metrics

from steadycv import _scores_of_classes as classes_
from steadycv import _scores_of_labels as labels_
from steadycv import _scores_of_numbers as numbers_
from steadycv._arrays import plain
from steadycv._compat import ScorerParts, parts_of_scorer
from steadycv._samples import Samples
from steadycv.losses import LOSSES, Loss, _Pinball, tweedie

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

__all__ = ["BEYOND", "LossOf", "Score", "find_score", "loss_of", "why_not_ranked"]

# Stands for a score of infinity where infinity itself stands for a score that failed.
BEYOND = float(np.finfo(np.float64).max)

Kind = Literal["numbers", "labels", "values"]


class LossOf(NamedTuple):
    """The loss behind a score: the score is `best` minus the mean of the loss."""

    loss: Loss
    best: float = 0.0


@dataclass(frozen=True)
class Score:
    """A score of many models at once; greater is better.

    Attributes
    ----------
    methods : tuple of str
        The methods of an estimator that the score takes the outputs of: the first that it has.
    kind : {"numbers", "labels", "values"}
        What those are: predicted numbers, predicted labels, or probabilities and decision values.
    value, why : callable
        The functions behind the score.
    sign : int
        1, or -1 where what they return is better when it is lower.
    parameters : dict
        What they are called with.
    share : callable or None
        The function behind `parts`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics import get_scorer
    >>> from steadycv.scores import find_score
    >>> score = find_score(get_scorer("roc_auc"))
    >>> y = np.array(["no", "no", "yes", "yes"])
    >>> score(y, np.array([[0.1, 0.2, 0.3, 0.4], [0.1, 0.3, 0.2, 0.3]]))
    array([1.   , 0.625])
    >>> score.undefined(y[:2])
    'samples of one class only'
    """

    methods: tuple[str, ...]
    kind: Kind
    value: Callable[..., NDArray[np.float64]]
    why: Callable[..., str | None] | None = None
    sign: int = 1
    parameters: Mapping[str, Any] = field(default_factory=dict)
    share: Callable[..., NDArray[np.float64] | None] | None = None

    @property
    def lowest_error(self) -> float:
        """Minus the best value: all scores that are better when larger end at 1, all errors at 0."""
        return -1.0 if self.sign > 0 else 0.0

    def __call__(
        self,
        y: NDArray[Any],
        outputs: NDArray[Any],
        weight: NDArray[Any] | None = None,
        classes: NDArray[Any] | None = None,
    ) -> NDArray[np.float64]:
        """Score models on samples.

        A model's score does not depend on which others are scored with it. Everything is computed
        in double precision, where scikit-learn computes in the precision of its arguments; and all
        `classes` are known, where scikit-learn knows those of the samples if not told in `labels`.

        Parameters
        ----------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            The true targets.
        outputs : ndarray of shape (n_models, n_samples), (n_models, n_samples, n_targets) or \
                (n_models, n_samples, n_classes)
            What the models say: numbers, labels, decision values of the last of two classes, or a
            value for each class.
        weight : ndarray of shape (n_samples,), optional
            Weights of the samples.
        classes : ndarray of shape (n_classes,), optional
            All classes of the whole data, sorted; `y` may lack some of them. Those of `y` if not
            given.

        Returns
        -------
        scores : ndarray of shape (n_models,)
            NaN for a model where scikit-learn raises, or says NaN.
        """
        samples = self._samples(y, weight, classes)
        outputs = self._outputs(samples, outputs)
        scores = np.full(len(outputs), np.nan)
        sound = _sound(outputs, self.kind)
        if _nothing_judged(samples, self.kind) is None and sound.any():
            some = outputs if sound.all() else outputs[sound]
            with np.errstate(all="ignore"):
                if self.kind == "numbers":  # which hardly ever are equal
                    scores[sound] = self.value(samples, some, **self.parameters)
                else:
                    first, same = _distinct(some)
                    scores[sound] = self.value(samples, some[first], **self.parameters)[same]
        return self.sign * scores

    def parts(
        self,
        y: NDArray[Any],
        outputs: NDArray[Any],
        weight: NDArray[Any] | None = None,
        classes: NDArray[Any] | None = None,
    ) -> NDArray[np.float64] | None:
        """What every sample has to do with the scores: numbers whose weighted mean is the score.

        The spread of their differences between two models tells how well the difference of the scores is
        known: for areas under the curve it is DeLong's.

        Parameters
        ----------
        y, outputs, weight, classes : ndarray
            As in a call.

        Returns
        -------
        parts : ndarray of shape (n_models, n_samples) or None
            None for scores of which it is not known.
        """
        if self.share is None:
            return None
        samples = self._samples(y, weight, classes)
        with np.errstate(all="ignore"):
            found = self.share(samples, self._outputs(samples, outputs), **self.parameters)
        return None if found is None else self.sign * found

    def undefined(
        self,
        y: NDArray[Any],
        weight: NDArray[Any] | None = None,
        classes: NDArray[Any] | None = None,
    ) -> str | None:
        """Why the score says nothing on these samples, whatever a model says; else None.

        Parameters
        ----------
        y, weight, classes : ndarray
            As in a call.

        Returns
        -------
        why : str or None
            A few words. The score itself is then NaN, or the constant that scikit-learn warns of.
        """
        samples = self._samples(y, weight, classes)
        nothing = _nothing_judged(samples, self.kind)
        if nothing is not None or self.why is None:
            return nothing
        return self.why(samples, **self.parameters)

    def _outputs(self, samples: Samples, outputs: NDArray[Any]) -> NDArray[Any]:
        """What models say, in the numbers that scores take."""
        outputs = plain(np.ascontiguousarray(outputs))
        if self.kind == "numbers":
            return outputs.astype(np.float64, copy=False).reshape(len(outputs), *samples.y.shape)
        if self.kind == "values" and outputs.dtype.kind != "f":
            return outputs.astype(np.float64)
        return outputs

    def _samples(self, y: Any, weight: Any, classes: Any) -> Samples:
        """Targets as numbers with a column for each, or as labels in one row."""
        y = plain(np.ascontiguousarray(y))
        if self.kind == "numbers":
            y = y.astype(np.float64, copy=False).reshape(len(y), -1)
        else:
            y = y.reshape(len(y))
        return Samples(
            y,
            None if weight is None else np.ascontiguousarray(weight, dtype=np.float64),
            None if classes is None else plain(np.asarray(classes)),
        )


def find_score(scorer: Any, n_targets: int = 1) -> Score | None:
    """Find the score of many models at once that equals a scorer.

    Parameters
    ----------
    scorer : callable
        What `sklearn.metrics.get_scorer` or `sklearn.metrics.make_scorer` returned.
    n_targets : int, default=1
        How many targets are predicted together.

    Returns
    -------
    score : Score or None
        None where it is not known to be the same: the scorer itself is to be called then.

    Examples
    --------
    >>> from sklearn.metrics import fbeta_score, make_scorer
    >>> from steadycv.scores import find_score
    >>> score = find_score(make_scorer(fbeta_score, beta=2, average="macro"))
    >>> score.methods, score.parameters
    (('predict',), {'beta': 2, 'average': 'macro'})
    >>> find_score(make_scorer(lambda y, p: 0.0)) is None
    True
    """
    parts = _parts(scorer)
    if parts is None:
        return None
    name = parts.function.__name__
    if name in _LOSSES_OF_NUMBERS:
        loss = _loss_behind(parts)
        if loss is None or (n_targets > 1 and name not in _OF_SEVERAL_TARGETS):
            return None
        how = {"loss": loss}
        value, why = numbers_.mean_of_loss, numbers_.loss_undefined
        return Score(parts.methods, "numbers", value, why, parts.sign, how)
    metric = _METRICS.get(name)
    if metric is None or not set(parts.methods) <= set(metric.methods):
        return None
    if n_targets > 1 and name not in _OF_SEVERAL_TARGETS:
        return None
    for keyword, value in parts.keywords.items():
        if keyword not in metric.accepts or not metric.accepts[keyword](value):
            return None
    return Score(
        parts.methods,
        metric.kind,
        metric.value,
        metric.why,
        parts.sign,
        parts.keywords,
        _SHARES_OF_SAMPLES.get(name),
    )


def loss_of(scorer: Any) -> LossOf | None:
    """Find the loss behind a score that is a mean of per-sample losses.

    Parameters
    ----------
    scorer : callable
        What `sklearn.metrics.get_scorer` or `sklearn.metrics.make_scorer` returned.

    Returns
    -------
    loss_of : LossOf or None
        The loss, and the best score, from which its mean is subtracted; None for other scores.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer, make_scorer, mean_pinball_loss
    >>> from steadycv.scores import loss_of
    >>> loss_of(get_scorer("accuracy")).best
    1.0
    >>> loss_of(make_scorer(mean_pinball_loss, alpha=0.9, greater_is_better=False))
    LossOf(loss=_Pinball(alpha=0.9), best=0.0)
    """
    parts = _parts(scorer)
    loss = None if parts is None else _loss_behind(parts)
    if parts is None or loss is None:
        return None
    maker = _LOSSES_OF_SCORES[parts.function.__name__]
    return LossOf(loss, maker.best) if parts.sign == maker.sign else None


def why_not_ranked(
    scorer: Any,
    y: NDArray[Any],
    weight: NDArray[Any] | None = None,
    classes: NDArray[Any] | None = None,
) -> str | None:
    """Why samples cannot be ranked, by an area or average precision with whatever keywords; else None.

    Parameters
    ----------
    scorer : callable
        Any scorer; of others than these, None is said.
    y, weight, classes : ndarray
        As in a call of a `Score`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics import make_scorer, roc_auc_score
    >>> from steadycv.scores import why_not_ranked
    >>> of_few = make_scorer(roc_auc_score, max_fpr=0.2, response_method="predict_proba")
    >>> why_not_ranked(of_few, np.array([1, 1]))
    'samples of one class only'
    """
    parts = _parts(scorer)
    name = None if parts is None else parts.function.__name__
    if parts is None or name not in _RANKINGS or (y.ndim > 1 and y.shape[1] > 1):
        return None
    samples = Samples(plain(y).reshape(len(y)), weight, None if classes is None else plain(classes))
    if name == "roc_auc_score":
        return "samples of one class only" if len(samples.there) < 2 else None
    pos_label = parts.keywords.get("pos_label", 1)
    two = len(samples.known) <= 2 and np.isscalar(pos_label)
    return classes_.average_precision_undefined(samples, pos_label=pos_label) if two else None


def _loss_behind(parts: ScorerParts) -> Loss | None:
    """The loss of which a metric is the mean, or one minus that."""
    maker = _LOSSES_OF_SCORES.get(parts.function.__name__)
    if maker is None:
        return None
    try:
        loss = maker.make(**parts.keywords)
    except (TypeError, ValueError):  # a keyword that is not known here, or a value no loss takes
        return None
    return loss if parts.methods == (getattr(loss, "response_method", "predict"),) else None


def _parts(scorer: Any) -> ScorerParts | None:
    """The parts of a scorer of one of scikit-learn's own metrics, without usual keywords."""
    parts = parts_of_scorer(scorer)
    name = None if parts is None else getattr(parts.function, "__name__", None)
    if parts is None or name is None or getattr(metrics, name, None) is not parts.function:
        return None
    usual = {n: p.default for n, p in inspect.signature(parts.function).parameters.items()}
    keywords = {n: v for n, v in parts.keywords.items() if n not in usual or not _is(v, usual[n])}
    return parts._replace(keywords=keywords)


def _is(value: Any, usual: Any) -> bool:
    return value is usual or (isinstance(value, (str, Real)) and bool(value == usual))


def _nothing_judged(samples: Samples, kind: Kind) -> str | None:
    if len(samples.y) == 0:
        return "no samples"
    if samples.weight is not None and samples.weight.sum() == 0:
        return "no sample has a weight"
    is_label = kind == "numbers" or samples.y.dtype.kind != "f" or (samples.y % 1 == 0).all()
    return None if is_label else "targets that are no labels"


def _distinct(outputs: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first of the models that say the same, and the number of each model among these."""
    rows = np.ascontiguousarray(outputs).reshape(len(outputs), -1)
    if rows.dtype == object:
        return np.arange(len(rows)), np.arange(len(rows))
    words = rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize)))[:, 0]
    _, first, same = np.unique(words, return_index=True, return_inverse=True)
    return first, same


def _sound(outputs: NDArray[Any], kind: Kind) -> NDArray[np.bool_]:
    """The models whose outputs scikit-learn takes: finite, and of labels whole."""
    if outputs.dtype.kind != "f":
        return np.ones(len(outputs), dtype=np.bool_)
    sound = outputs == np.rint(outputs) if kind == "labels" else np.isfinite(outputs)
    return np.asarray(sound.all(axis=tuple(range(1, outputs.ndim))))


class _LossMaker(NamedTuple):
    """How the loss behind a metric is made from its keywords; a scorer of it has this sign."""

    make: Callable[..., Loss]
    sign: int = -1
    best: float = 0.0


class _Metric(NamedTuple):
    """A metric: its function here, and which keywords with which values it takes."""

    kind: Kind
    value: Callable[..., NDArray[np.float64]]
    why: Callable[..., str | None] | None = None
    accepts: Mapping[str, Callable[[Any], bool]] = {}
    methods: tuple[str, ...] = ("predict",)


def _pinball(alpha: float) -> Loss:
    """That of a quantile; unlike `pinball_loss`, also of the lowest and of the highest, 0 and 1."""
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha must be from 0 to 1, got {alpha!r}.")
    return _Pinball(float(alpha))


def _named(name: str) -> _LossMaker:
    return _LossMaker(lambda: LOSSES[name])


def _one_of(*values: Any) -> Callable[[Any], bool]:
    return lambda value: any(value is v or (type(value) is type(v) and value == v) for v in values)


def _is_zero_division(value: Any) -> bool:
    return isinstance(value, (int, float)) and (value in (0, 1) or np.isnan(value))


def _is_label(value: Any) -> bool:
    return value is None or bool(np.isscalar(value))


def _is_flat_list(value: Any) -> bool:
    return value is not None and 0 < len(np.unique(value)) == np.size(value) == len(value)


_LOSSES_OF_NUMBERS = {
    "mean_squared_error": _named("squared_error"),
    "mean_absolute_error": _named("absolute_error"),
    "mean_squared_log_error": _named("squared_log_error"),
    "mean_absolute_percentage_error": _named("absolute_percentage_error"),
    "mean_pinball_loss": _LossMaker(lambda alpha=0.5: _pinball(alpha)),
    "mean_poisson_deviance": _named("poisson_deviance"),
    "mean_gamma_deviance": _named("gamma_deviance"),
    "mean_tweedie_deviance": _LossMaker(lambda power=0: tweedie(power)),
}
_LOSSES_OF_SCORES = {
    **_LOSSES_OF_NUMBERS,
    "accuracy_score": _LossMaker(lambda: LOSSES["zero_one"], sign=1, best=1.0),
    "zero_one_loss": _named("zero_one"),
    "log_loss": _named("log_loss"),
    "brier_score_loss": _named("brier"),
}
_OF_SEVERAL_TARGETS = {
    "mean_squared_error",
    "mean_absolute_error",
    "mean_squared_log_error",
    "mean_absolute_percentage_error",
    "mean_pinball_loss",
    "root_mean_squared_error",
    "root_mean_squared_log_error",
    "median_absolute_error",
    "r2_score",
    "explained_variance_score",
    "d2_pinball_score",
    "d2_absolute_error_score",
}

_AVERAGES = {
    "average": _one_of("binary", "macro", "micro", "weighted"),
    "pos_label": _is_label,
    "labels": _is_flat_list,
    "zero_division": _is_zero_division,
}
_FBETA = {**_AVERAGES, "beta": lambda beta: isinstance(beta, Real) and 0 <= float(beta) < np.inf}
_JACCARD = {**_AVERAGES, "zero_division": _one_of(0, 0.0, 1, 1.0)}
_OVER_CLASSES = {"average": _one_of("macro", "weighted"), "pos_label": _is_label}
_AREA = {"multi_class": _one_of("ovr", "ovo"), "average": _one_of("macro", "weighted")}
_VALUES = ("decision_function", "predict_proba")
_SHARES = ("predict_proba",)
_RANKINGS = ("roc_auc_score", "average_precision_score")

_SHARES_OF_SAMPLES: dict[str, Callable[..., NDArray[np.float64] | None]] = {
    "roc_auc_score": classes_.roc_auc_by_sample,
    "r2_score": numbers_.r2_by_sample,
    "root_mean_squared_error": numbers_.root_mean_squared_error_by_sample,
}

_METRICS = {
    "root_mean_squared_error": _Metric("numbers", numbers_.root_mean_squared_error),
    "root_mean_squared_log_error": _Metric(
        "numbers", numbers_.root_mean_squared_log_error, numbers_.log_undefined
    ),
    "median_absolute_error": _Metric("numbers", numbers_.median_absolute_error),
    "max_error": _Metric("numbers", numbers_.max_error),
    "r2_score": _Metric("numbers", numbers_.r2, numbers_.one_sample),
    "explained_variance_score": _Metric("numbers", numbers_.explained_variance),
    "d2_pinball_score": _Metric(
        *("numbers", numbers_.d2_pinball, numbers_.one_sample),
        {"alpha": lambda alpha: isinstance(alpha, Real) and 0 < float(alpha) < 1},
    ),
    "d2_absolute_error_score": _Metric("numbers", numbers_.d2_pinball, numbers_.one_sample),
    "d2_tweedie_score": _Metric(
        *("numbers", numbers_.d2_tweedie, numbers_.d2_tweedie_undefined),
        {"power": lambda power: isinstance(power, Real) and not 0 < float(power) < 1},
    ),
    "accuracy_score": _Metric("labels", labels_.accuracy),
    "zero_one_loss": _Metric("labels", labels_.share_wrong),
    "hamming_loss": _Metric("labels", labels_.share_wrong),
    "balanced_accuracy_score": _Metric(
        *("labels", labels_.balanced_accuracy, labels_.one_class_adjusted),
        {"adjusted": _one_of(True)},
    ),
    "matthews_corrcoef": _Metric("labels", labels_.matthews_corrcoef),
    "cohen_kappa_score": _Metric(
        "labels", labels_.cohen_kappa, None, {"weights": _one_of("linear", "quadratic")}
    ),
    "precision_score": _Metric("labels", labels_.precision, labels_.of_one_label_undefined, _AVERAGES),
    "recall_score": _Metric("labels", labels_.recall, labels_.recall_undefined, _AVERAGES),
    "f1_score": _Metric("labels", labels_.fbeta, labels_.of_one_label_undefined, _AVERAGES),
    "fbeta_score": _Metric("labels", labels_.fbeta, labels_.of_one_label_undefined, _FBETA),
    "jaccard_score": _Metric("labels", labels_.jaccard, labels_.of_one_label_undefined, _JACCARD),
    "roc_auc_score": _Metric("values", classes_.roc_auc, classes_.roc_auc_undefined, _AREA, _VALUES),
    "average_precision_score": _Metric(
        *("values", classes_.average_precision, classes_.average_precision_undefined),
        *(_OVER_CLASSES, _VALUES),
    ),
    "top_k_accuracy_score": _Metric(
        *("values", classes_.top_k_accuracy, classes_.one_known),
        *({"k": lambda k: isinstance(k, Integral) and int(k) >= 1}, _VALUES),
    ),
    "log_loss": _Metric("values", classes_.log_loss, classes_.one_known, {}, _SHARES),
    "brier_score_loss": _Metric(
        *("values", classes_.brier, classes_.brier_undefined),
        *({"scale_by_half": _one_of(True, False)}, _SHARES),
    ),
    "d2_log_loss_score": _Metric("values", classes_.d2_log_loss, classes_.one_there, {}, _SHARES),
    "d2_brier_score": _Metric("values", classes_.d2_brier, classes_.d2_brier_undefined, {}, _SHARES),
}
