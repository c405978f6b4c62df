"""Metadata: which of fit's parameters go to the fits, the splitter, the scorers and the losses."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn
from sklearn.pipeline import Pipeline
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import MetadataRouter, get_routing_for_object, process_routing

from steadycv._compat import (
    sends_sample_weight_where_accepted,
    to_numpy,
    without_sample_weight,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["route", "routes_weights", "weight_of", "weights_of_fit", "weights_of_last_step"]


def route(search: Any, params: dict[str, Any], scorers: Any) -> Any:
    """What goes to ``estimator.fit``, ``splitter.split`` and ``scorer.score``."""
    if _routing_enabled():
        return process_routing(search, "fit", **params)
    fit_params = dict(params)
    groups = fit_params.pop("groups", None)
    score_params = {}
    if params.get("sample_weight") is not None:
        unweighted = without_sample_weight(scorers)
        for name in unweighted:
            warnings.warn(
                f"The scoring {name} does not support sample_weight, so it is reported without weights.",
                UserWarning,
                stacklevel=4,
            )
        if not unweighted or sends_sample_weight_where_accepted(scorers):
            score_params["sample_weight"] = params["sample_weight"]
        fit_params[weights_of_last_step(search.estimator)] = fit_params.pop("sample_weight")
    return Bunch(
        estimator=Bunch(fit=fit_params),
        splitter=Bunch(split={"groups": groups}),
        scorer=Bunch(score=score_params),
    )


def weight_of(scorer: Any, params: dict[str, Any], n_samples: int) -> NDArray[np.float64] | None:
    """The sample weights that a scorer asks for; those of the losses where `scorer` is None."""
    name: Any = "sample_weight"
    if _routing_enabled() and scorer is not None:
        request = get_routing_for_object(scorer).score.requests.get("sample_weight")
        name = "sample_weight" if request is True else request
    if params.get(name) is None:
        return None
    weight = to_numpy(params[name]).astype(np.float64)
    if weight.shape != (n_samples,):
        raise ValueError(
            f"{name} must have one weight for each of the {n_samples} samples, got an array of shape "
            f"{weight.shape}."
        )
    wrong = weight[~(np.isfinite(weight) & (weight >= 0))]
    if len(wrong):
        raise ValueError(f"{name} must be finite numbers from 0 on, got {wrong[0]:g}.")
    return weight


def _routing_enabled() -> bool:
    return bool(sklearn.get_config()["enable_metadata_routing"])


def weights_of_fit(estimator: Any) -> str:
    """How sample weights are called in ``fit``; with metadata routing the estimator passes them on."""
    return "sample_weight" if _routing_enabled() else weights_of_last_step(estimator)


def routes_weights(estimator: Any) -> bool | None:
    """Whether an estimator passes sample weights on in ``fit``; None where routing does not tell."""
    routing = get_routing_for_object(estimator) if _routing_enabled() else None
    if not isinstance(routing, MetadataRouter):
        return None
    return bool(routing.consumes("fit", ["sample_weight"]))


def weights_of_last_step(estimator: Any) -> str:
    """How sample weights are called in ``fit``: a pipeline passes them to the step that is named."""
    step = ""
    while isinstance(estimator, Pipeline):
        name, estimator = estimator.steps[-1]
        step += f"{name}__"
    return f"{step}sample_weight"
