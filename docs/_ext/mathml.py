"""Formulas as MathML, which browsers draw themselves: no script, no font, no network."""

from __future__ import annotations

import re
from typing import Any

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer(
        "mathml", inline_renderers=(_inline, None), block_renderers=(_block, None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(translator: Any, node: Any) -> None:
    translator.body.append(_mathml(node, as_block=False))
    raise SkipNode


def _block(translator: Any, node: Any) -> None:
    translator.body.append(f'<div class="math-block">{_mathml(node, as_block=True)}</div>')
    raise SkipNode


def _mathml(node: Any, *, as_block: bool) -> str:
    tex = node.astext().replace(r"\dots", r"\ldots")  # the one command in use that is not known
    # Without braces, \frac12 would be read as twelve over what follows.
    tex = re.sub(r"\\(t?frac)(\d)(\d)", r"\\\1{\2}{\3}", tex)
    return str(tex2mathml(tex, as_block=as_block))
