"""Names of scikit-learn in docstrings link to its documentation, without a downloaded inventory."""

from __future__ import annotations

from typing import Any

from docutils import nodes

_SITE = "https://scikit-learn.org/stable"
_LABELS = {  # in docstrings that we inherit
    "accuracy_score": "modules/model_evaluation.html#accuracy-score",
    "r2_score": "modules/model_evaluation.html#r2-score",
}


def setup(app: Any) -> dict[str, bool]:
    """Offer a link where Sphinx finds none."""
    app.connect("missing-reference", _link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _link(_app: Any, _env: Any, node: Any, content: Any) -> nodes.reference | None:
    page = _page(node.get("reftarget", ""), node["reftype"])
    return page and nodes.reference("", "", content, refuri=f"{_SITE}/{page}", internal=False)


def _page(target: str, kind: str) -> str | None:
    if target.startswith("sklearn.") and kind in ("class", "func", "obj"):
        return f"modules/generated/{target}.html"
    if kind == "term":
        return f"glossary.html#term-{target}"
    return _LABELS.get(target)
