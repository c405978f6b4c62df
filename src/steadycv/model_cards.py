"""Model cards: what a model is, what it was made of, what to expect of it, and what to keep in mind."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from steadycv.expectations import Expected
from steadycv.summary import (
    about,
    also_offered,
    beside_baseline,
    in_markdown,
    model_name,
    much_worse,
    on_edges,
    on_threshold,
    table_in_markdown,
    what_was_delivered,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadycv.search import StabilitySearchCV

__all__ = ["model_card"]

FEW_ROWS = 100
PACKAGES = ("steadycv", "scikit-learn", "numpy")


def model_card(
    search: StabilitySearchCV,
    *,
    name: str = "",
    data: Sequence[str] = (),
    caveats: Sequence[str] = (),
    classes: Sequence[Any] | None = None,
) -> str:
    """A model card of a fitted search, as Markdown.

    Parameters
    ----------
    search : StabilitySearchCV
        The search, fitted.
    name : str, default=""
        What to call the model; empty for the class of the estimator.
    data : sequence of str, default=()
        What is to be said of the data, a sentence each: where they come from, what is predicted.
    caveats : sequence of str, default=()
        What else is to be kept in mind, a sentence each.
    classes : sequence, default=None
        The names of the classes, where the target has their numbers.

    Returns
    -------
    card : str
        Its parts: data, choice, promise, caveats.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from steadycv import StabilitySearchCV, model_card
    >>> X, y = load_diabetes(return_X_y=True)
    >>> search = StabilitySearchCV(Ridge(), {"alpha": [0.01, 0.1, 1.0]}).fit(X, y)
    >>> card = model_card(search, data=["Diabetes, of 442 patients."])
    >>> [line for line in card.splitlines() if line.startswith("#")]
    ['# Model card: Ridge', '## Data', '## Choice', '## What to expect', '## Caveats', '## Made with']
    """
    check_is_fitted(search)
    expected = Expected.of(search)
    delivered = what_was_delivered(search)
    n_columns = getattr(search, "n_features_in_", None)
    columns = f" They have {n_columns:,} columns." if n_columns is not None else ""
    parts = {
        "Data": [*data, f"{about(search)}{columns}"],
        "Choice": [
            f"This model is {delivered}." if delivered else "The choice was not fitted on all data.",
            table_in_markdown(search),
        ],
        "What to expect": [
            expected.sentence,
            f"This is {expected.reason}." if expected.error is not None else "",
            beside_baseline(search),
            on_threshold(search, "", classes),
            also_offered(search),
        ],
        "Caveats": "\n".join(
            f"- {in_markdown(line)}" for line in [*_caveats(search, expected), *caveats]
        ),
        "Made with": ", ".join(f"{each} {version(each)}" for each in PACKAGES),
    }
    lines = [f"# Model card: {in_markdown(name or model_name(search))}"]
    for title, said in parts.items():
        paragraphs = [said] if isinstance(said, str) else _paragraphs(said)
        lines += [f"## {title}", *paragraphs]
    return "\n\n".join(lines) + "\n"


def _paragraphs(said: Sequence[str]) -> list[str]:
    """Sentences as Markdown shows them; a table is one already."""
    return [text if text.startswith("|") else in_markdown(text) for text in said if text]


def _caveats(search: StabilitySearchCV, expected: Expected) -> list[str]:
    """What is to be kept in mind of a search."""
    lattice, errors = search.lattice_, search.cv_results_["cv_error"]
    n_failed = int(np.isposinf(errors).sum())
    baseline = search.baseline_
    told = [
        "The figures are for new rows that come about as these did, and differ from them as the splits "
        "do from each other: rows of one person, machine or day on both sides of a split make them too "
        "good.",
        expected.over_splits
        and f"From {expected.split} to {expected.split} the {expected.human.noun} was "
        f"{expected.human.range(expected.by_view)}: new data of that size may differ as much.",
        much_worse(search) if expected.is_of_choice else "",
        f"{lattice.n_samples} rows are few: another sample can lead to another choice."
        if lattice.n_samples < FEW_ROWS
        else "",
        "No column helps: the model is to be taken for no more than what predicts without any."
        if baseline is not None and expected.error is not None and expected.error >= baseline.error
        else "",
        f"{n_failed} candidates failed on some rows and could not be chosen." if n_failed else "",
        on_edges(search),
    ]
    return [line for line in told if line]
