"""Scores: which of them drives the selection, and the loss behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.metadata_routing import MetadataRequest

from steadycv._compat import same_scorer, several_scorers
from steadycv.losses import LOSSES, Loss, Response, as_response, default_loss, get_loss

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Driver", "LossScorer", "find_driver"]


class _LossOf(NamedTuple):
    """Score = `best` minus the mean of the loss."""

    loss: str
    best: float = 0.0


SCORES_OF_LOSSES = {
    "neg_mean_squared_error": _LossOf("squared_error"),
    "neg_mean_absolute_error": _LossOf("absolute_error"),
    "neg_log_loss": _LossOf("log_loss"),
    "accuracy": _LossOf("zero_one", best=1.0),
    "neg_brier_score": _LossOf("brier"),
    "neg_mean_poisson_deviance": _LossOf("poisson_deviance"),
    "neg_mean_gamma_deviance": _LossOf("gamma_deviance"),
}


class Driver(NamedTuple):
    """What drives the selection.

    `name` is the key of the score in ``cv_results_`` that is `best` minus the mean of the loss, or
    None where the loss drives and the scores are only reported.
    """

    loss: Loss
    name: str | None
    best: float = 0.0

    def response(self, y: Any) -> Response:
        """How the loss sees the targets and a fitted model."""
        return as_response(self.loss, y)


@dataclass(frozen=True)
class LossScorer:
    """Minus the mean loss, as a scikit-learn scorer: what is reported when `scoring` is None.

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
        response = as_response(self.loss, y, getattr(estimator, "classes_", None))
        [losses] = response.losses(response.outputs(estimator, X)[np.newaxis])
        return -float(np.average(losses, weights=sample_weight))

    def get_metadata_routing(self) -> MetadataRequest:
        """Ask for the sample weights, under scikit-learn's metadata routing."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=True)
        return request


def find_driver(
    estimator: Any, y: Any, scoring: Any, scorers: Any, refit: Any, loss: str | Loss | None
) -> Driver:
    """Find the loss that drives the selection, as the parameters of a search say.

    `scorers` is the scorer that scikit-learn made of `scoring`.
    """
    if loss is not None:
        return Driver(get_loss(loss), "score" if scoring is None else None)
    if scoring is None:
        return Driver(default_loss(estimator, y), "score")
    by_name = several_scorers(scorers)
    if by_name is None:
        return _driver("score", scoring, scorers)
    if len(by_name) == 1:
        [(name, scorer)] = by_name.items()
        return _driver(name, name, scorer)
    if not isinstance(refit, str):
        raise ValueError(
            f"With several scores and refit={refit!r} nothing says which of {list(by_name)} drives "
            "the selection: name it in refit=, or pass loss=."
        )
    return _driver(refit, refit, by_name[refit])


def _driver(key: str, label: Any, scorer: Any) -> Driver:
    for name, (loss, best) in SCORES_OF_LOSSES.items():
        if same_scorer(scorer, name):
            return Driver(LOSSES[loss], key, best)
    raise ValueError(
        f"scoring={label!r} cannot drive the selection: it is not a mean of per-sample losses, "
        "and the method compares losses sample by sample. These scores can: "
        f"{', '.join(map(repr, SCORES_OF_LOSSES))}. Or pass loss= to drive the selection "
        f"(one of {', '.join(map(repr, LOSSES))}, or a function of y_true and y_pred); "
        "the score is then still reported in cv_results_."
    )
