"""Links to examples lead to their pages in the gallery; a link on a line of its own shows its picture.

Pages link to the scripts (``../examples/plot_groups.py``), which is right on the forge. With ``#2`` at
its end such a link shows the second picture of the example.
"""

from __future__ import annotations

import re
from typing import Any

_ALONE = re.compile(r"^\[([^\]]+)\]\(\.\./examples/(plot_\w+)\.py(?:#(\d))?\)$", re.MULTILINE)
_INSIDE = re.compile(r"\]\(\.\./examples/(plot_\w+)\.py\)")


def setup(app: Any) -> dict[str, bool]:
    """Rewrite pages as they are read."""
    app.connect("source-read", _rewrite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _rewrite(_app: Any, _page: str, source: list[str]) -> None:
    text = _ALONE.sub(_figure, source[0])
    source[0] = _INSIDE.sub(r"](gallery/\1.rst)", text)


def _figure(link: re.Match[str]) -> str:
    words, name, number = link.groups(default="1")
    return (
        f":::{{figure}} gallery/images/sphx_glr_{name}_00{number}_2_00x.png\n"
        f":target: gallery/{name}.html\n:alt: {words}\n\n[{words}](gallery/{name}.rst)\n:::"
    )
