"""What pictures are called, in matplotlib and in the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steadycv.error_words import ErrorWords

__all__ = ["title_of"]


def title_of(kind: str, words: ErrorWords, *, in_time: bool = False) -> str:
    """The title of a picture.

    Examples
    --------
    >>> from steadycv.error_words import ErrorWords
    >>> title_of("weights", ErrorWords("mean squared error"))
    'Error on new data for each weight'
    """
    name = words.kind.capitalize()
    return {
        "frontier": f"{name} and instability of all candidates",
        "weights": f"{name} on new data for each weight",
        "grid": f"{name}s over the grid",
        "lattice": f"The lattice: {words.kind}s of candidates by training set",
        "race": "The race",
        "wins": "How often each candidate wins",
        "predicted": "Predicted and actual",
        "rows": f"Errors of single rows, {'in time order' if in_time else 'in the order of the rows'}",
        "roc": "Found, and falsely suspected (ROC)",
        "precision_recall": "Precision and recall",
        "calibration": "Are the probabilities right? (calibration)",
        "confusion": "Predicted and actual classes (confusion matrix)",
        "learning": "Would more rows help? (learning curve)",
        "models": "Models compared",
        "importance": "What columns are worth (permutation importance)",
    }[kind]
