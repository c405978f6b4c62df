"""The result of a search in a few lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from steadycv.search import StabilitySearchCV

__all__ = ["summarize"]


def summarize(search: StabilitySearchCV) -> str:
    """Plain cross-validation's choice and the steady one, side by side."""
    plain, steady = search.kfold_index_, search.best_index_
    results, weights = search.cv_results_, search.weights_
    names = sorted({*search.kfold_params_, *search.best_params_})
    rows: list[tuple[str, Any, Any]] = [
        (name, search.kfold_params_.get(name, "-"), search.best_params_.get(name, "-")) for name in names
    ]
    rows += [
        ("CV error (promised)", results["cv_error"][plain], results["cv_error"][steady]),
        ("instability", results["instability"][plain], results["instability"][steady]),
        ("stability weight", 0, search.stability_weight_),
    ]
    closing = ""
    if "mean_error" in weights and not callable(search.refit):
        is_plain = weights["weight"] == 0
        of_plain = weights["mean_error"][is_plain][0] if is_plain.any() else "-"
        rows.append(("nested error (to expect)", of_plain, search.nested_error_))
        low = 1 - search.cv_error_ / search.nested_error_ if search.nested_error_ else 0.0
        closing = (
            f"\n\nOn new data expect an error of about {_text(search.nested_error_)}; the CV error of "
            f"the choice is {abs(low):.1%} {'lower' if low >= 0 else 'higher'} than that."
        )
    heading = ("", "plain cross-validation", "stability regularized")
    texts = [heading, *((name, _text(left), _text(right)) for name, left, right in rows)]
    width, left, right = (max(len(text[i]) for text in texts) for i in range(3))
    lines = [f"{a:{width}}  {b:>{left}}  {c:>{right}}" for a, b, c in texts]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]]) + closing


def _text(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return "not known" if np.isnan(value) else f"{value:.4g}"
    return str(value)
