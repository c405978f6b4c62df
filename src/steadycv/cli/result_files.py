"""What ``steadycv tune`` writes about its searches: a table of candidates, and everything as JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv.candidates import Grid
from steadycv.cli.saved_model import versions
from steadycv.words import short_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadycv.cli.tuning import Problem
    from steadycv.offers import Offer
    from steadycv.report.content import Content
    from steadycv.search import StabilitySearchCV
    from steadycv.tables.readings import Reading

__all__ = ["FORMAT_VERSION", "candidates_csv", "plain", "results_json"]

FORMAT_VERSION = 3
"""Of the JSON file; it grows when something in it is renamed, removed or changes its meaning."""

MEASURES = ("cv_error", "instability", "regularized_error")


def results_json(problem: Problem, ranking: list[Content]) -> str:
    """All results, the best model first; what is not known is null."""
    request, readings, target = problem.request, problem.readings, problem.target
    content = {
        "format": "steadycv tune",
        "format_version": FORMAT_VERSION,
        "command": request.command(),
        "versions": versions(),
        "data": {
            "name": problem.name,
            "n_rows": len(problem.X),
            "target": target.name,
            "task": target.task,
            "classes": target.classes or None,
            "columns": [_of_column(each) for each in readings],
        },
        "folds": request.folds,
        "repeats": request.repeats,
        "groups": request.groups,
        "time": request.time,
        "splits": request.splits,
        "seed": request.seed,
        "loss": getattr(ranking[0].search.loss_, "name", None),
        "scoring": request.scoring,
        "errors_are": _what_errors_are(ranking[0]),
        "notes": problem.notes,
        "best_model": ranking[0].name,
        "models": [_of_model(each) for each in ranking],
    }
    return json.dumps(plain(content), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def candidates_csv(ranking: list[Content]) -> str:
    """A row for each candidate of each model, in the order of the grids."""
    names = list(
        dict.fromkeys(
            name for each in ranking for name in _short(dict.fromkeys(each.columns)) if each.columns
        )
    )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["model", *names, *MEASURES, "score", "rank", "chosen_by"])
    for each in ranking:
        results = each.search.cv_results_
        for i, params in enumerate(results["params"]):
            short = _short(params)
            errors = [plain(results[measure][i]) for measure in MEASURES]
            score = plain(results["mean_test_score"][i])
            rank = None if errors[-1] is None else int(results["rank_regularized_error"][i])
            values = [short.get(name) for name in names]
            chosen_by = _chosen_by(each.search, i)
            writer.writerow([each.name, *map(plain, values), *errors, score, rank, chosen_by])
    return text.getvalue()


def _of_column(reading: Reading) -> dict[str, Any]:
    return reading.to_dict() | {"n_missing": reading.n_missing, "notes": list(reading.notes)}


def _of_model(content: Content) -> dict[str, Any]:
    search = content.search
    weights = search.weights_
    errors = weights.get("mean_error", np.full(len(weights["weight"]), np.nan))
    return {
        "model": content.name,
        "steady": _of_choice(content, "steady", search.best_index_, content.nested_error),
        "plain": _of_choice(content, "plain", search.kfold_index_, content.plain_nested_error),
        "promise": content.promised.error,
        "promise_interval": content.promised.interval,
        "promise_reason": content.promised.reason,
        "baseline": None if search.baseline_ is None else search.baseline_._asdict(),
        "delivered": _of_delivered(search),
        "threshold": _of_threshold(search),
        "edges": [asdict(edge) for edge in search.edges_],
        "offers": [_of_offer(search, offer) for offer in search.offers_.values()],
        "rule": search.rule,
        "stability_weight": search.stability_weight_,
        "weights": [
            {"weight": weight, "nested_error": error, "params": _of_candidate(search, choice)}
            for weight, error, choice in zip(weights["weight"], errors, weights["index"], strict=True)
        ],
        "n_views": content.n_views,
        "n_candidates": len(Grid(search.param_grid)),
        "n_failed": content.n_failed,
        "n_fits": search.n_fits_,
    }


def _of_threshold(search: StabilitySearchCV) -> dict[str, Any] | None:
    try:
        found = search.threshold_
    except AttributeError:
        return None
    return {
        "value": found.value,
        "helps": found.helps,
        "error": found.error,
        "error_at_half": found.error_at_half,
        "by_view": found.by_view.tolist(),
        "confusion": found.confusion.tolist(),
        "confusion_at_half": found.confusion_at_half.tolist(),
    }


def _of_delivered(search: StabilitySearchCV) -> dict[str, Any]:
    delivered = search.delivered_._asdict()
    return delivered | {"params": [_short(params) for params in delivered["params"]]}


def _of_offer(search: StabilitySearchCV, offer: Offer) -> dict[str, Any]:
    return {
        "deliver": offer.deliver,
        "promise": offer.promise,
        "params": [_of_candidate(search, candidate) for candidate in offer.candidates],
        "weights": offer.weights,
        "share": offer.share,
    }


def _of_choice(
    content: Content, name: str, candidate: int, nested_error: float | None
) -> dict[str, Any]:
    results = content.search.cv_results_
    cv_error = float(results["cv_error"][candidate])
    nested_scores = getattr(content.search, "nested_scores_", {})
    return {
        "params": _of_candidate(content.search, candidate),
        "cv_error": cv_error,
        "nested_error": nested_error,
        "expected_disappointment": content.words.disappointment(cv_error, nested_error),
        "instability": results["instability"][candidate],
        "cv_score": results["mean_test_score"][candidate],
        "nested_score": getattr(nested_scores.get("score"), name, None),
    }


def _what_errors_are(content: Content) -> str:
    """What the fields called errors have in them."""
    words = content.words
    return f"minus {words.name}" if words.is_score else words.name


def _of_candidate(search: StabilitySearchCV, candidate: int) -> dict[str, Any] | None:
    return None if candidate < 0 else _short(search.cv_results_["params"][candidate])


def _short(params: Mapping[str, Any]) -> dict[str, Any]:
    names = short_names(params)
    return {names[name]: value for name, value in params.items()}


def _chosen_by(search: StabilitySearchCV, candidate: int) -> str:
    steady, plain = candidate == search.best_index_, candidate == search.kfold_index_
    return "both" if steady and plain else "steady" if steady else "plain" if plain else ""


def plain(value: Any) -> Any:
    """A value without numpy's numbers, and None for those that are not finite."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
