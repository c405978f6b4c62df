"""Which score drives: what ``--scoring`` may name for a target and some models."""

from __future__ import annotations

import warnings
from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import get_scorer, get_scorer_names

from steadycv._compat import parts_of_scorer
from steadycv.cli.errors import UserError
from steadycv.scores import find_score

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sklearn.pipeline import Pipeline

    from steadycv._compat import ScorerParts
    from steadycv.tables.targets import Target

__all__ = ["check_scoring", "check_threshold"]


def check_scoring(scoring: str, target: Target, pipelines: Mapping[str, Pipeline]) -> None:
    """Refuse a score that nobody knows, that is not for such a target, or that a model cannot have."""
    names = get_scorer_names()
    if scoring not in names:
        close = get_close_matches(scoring, names, n=3)
        hint = f"Did you mean {' or '.join(close)}?" if close else _suitable(target)
        raise UserError(f"There is no score {scoring!r}. {hint}")
    problem = _problem(scoring, target)
    if problem is not None:
        variants = [name for name in names if name.startswith(f"{scoring}_") and _fits(name, target)]
        hint = f"Use {' or '.join(variants)}." if variants else _suitable(target)
        raise UserError(f"--scoring {scoring} cannot drive {problem}. {hint}")
    for name, pipeline in pipelines.items():
        if not any(hasattr(pipeline, method) for method in _parts(scoring).methods):
            raise UserError(
                f"--scoring {scoring} needs probabilities, and the model {name} has none: use "
                "--scoring accuracy."
            )


def check_threshold(scoring: str | None, target: Target, pipelines: Mapping[str, Pipeline]) -> None:
    """Refuse a threshold that no score wants, or that a model cannot have."""
    if len(target.classes) != 2:
        n = f"{len(target.classes)} classes" if target.classes else "numbers"
        raise UserError(f"--tune-threshold is for two classes, and {target.name!r} has {n}.")
    if scoring is not None and tuple(_parts(scoring).methods) != ("predict",):
        raise UserError(
            f"--tune-threshold needs a score that looks at labels, and {scoring} looks at probabilities "
            "or ranks: use --scoring f1 or balanced_accuracy."
        )
    for name, pipeline in pipelines.items():
        if not hasattr(pipeline, "predict_proba"):
            raise UserError(f"--tune-threshold needs probabilities, and the model {name} has none.")


def _problem(scoring: str, target: Target) -> str | None:
    """Why a score is not for a target: that of a dummy tells."""
    scorer = get_scorer(scoring)
    score = find_score(scorer)
    of_numbers = score is not None and score.kind == "numbers"
    if of_numbers != (target.task == "regression") or _compares_clusters(scoring):
        return f"a {target.task}"
    X = np.zeros((len(target.y), 1))
    dummy = DummyRegressor() if of_numbers else DummyClassifier()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scorer(dummy.fit(X, target.y), X, target.y)
    except ValueError as error:
        return f"the search for such a target: {str(error).strip().rstrip('.')}"
    return None


def _compares_clusters(scoring: str) -> bool:
    return _parts(scoring).function.__module__.startswith("sklearn.metrics.cluster")


def _parts(scoring: str) -> ScorerParts:
    parts = parts_of_scorer(get_scorer(scoring))
    assert parts is not None
    return parts


def _fits(scoring: str, target: Target) -> bool:
    return _problem(scoring, target) is None


def _suitable(target: Target) -> str:
    return f"These can: {', '.join(name for name in get_scorer_names() if _fits(name, target))}."
