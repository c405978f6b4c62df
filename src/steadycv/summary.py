"""The result of a search in a few lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steadycv.search import StabilitySearchCV

__all__ = ["summarize"]


def summarize(search: StabilitySearchCV) -> str:
    """Plain cross-validation's choice and the steady one, side by side."""
    table = [("", "plain cross-validation", "stability regularized")]
    names = sorted({*search.kfold_params_, *search.best_params_})
    for name in names:
        plain, steady = search.kfold_params_, search.best_params_
        table.append((name, _text(plain.get(name, "-")), _text(steady.get(name, "-"))))
    kfold, best = search.kfold_index_, search.best_index_
    results = search.cv_results_
    kfold_error = float(results["regularized_error"][kfold]) - (
        search.stability_weight_ * float(results["instability"][kfold])
        if search.stability_weight_
        else 0.0
    )
    table.append(("CV error", _text(kfold_error), _text(search.cv_error_)))
    table.append(
        ("instability", _text(results["instability"][kfold]), _text(results["instability"][best]))
    )
    table.append(("stability weight", "0", _text(search.stability_weight_)))
    return "\n".join(_lines(table))


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _lines(table: list[tuple[str, str, str]]) -> list[str]:
    widths = [max(len(row[i]) for row in table) for i in range(3)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(row[i].rjust(widths[i]) for i in (1, 2))]) for row in table
    ]
    return [lines[0], "-" * len(lines[0]), *lines[1:]]
