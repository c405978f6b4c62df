"""The picture of the architecture: `python docs/architecture.py` writes architecture.svg beside it.

The tests hold it to the package: every module is in one box, and the boxes keep to their directions.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import NamedTuple


class Part(NamedTuple):
    """A box: where it stands, what it is called, and its modules with a few words on each."""

    x: int
    y: int
    width: int
    title: str
    modules: dict[str, str]
    columns: int = 1

    @property
    def height(self) -> int:
        """Room for a title and the lines of modules."""
        return 42 + 24 * (len(self.modules) // self.columns)


WIDTH, HEIGHT = 1120, 532
TOP, MIDDLE, BOTTOM = 20, 240, 392
PARTS = [
    Part(
        *(20, TOP, 250, "What is asked"),
        {
            "candidates": "the grid",
            "folds": "the lattice",
            "losses": "a number a sample",
            "scoring": "scores to losses",
            "metadata": "weights, groups",
        },
    ),
    Part(
        *(300, TOP, 250, "Fitting"),
        {
            "fitting": "each training set once",
            "paths": "one fit for many",
        },
    ),
    Part(
        *(580, TOP, 240, "What is left of it"),
        {
            "ledger": "errors, changes",
            "ledger_file": "those on disk",
            "fingerprint": "whose they are",
        },
    ),
    Part(
        *(850, TOP, 250, "Choosing"),
        {
            "rules": "from numbers",
            "selection": "weights, folds",
            "strategies": "where to look",
        },
    ),
    Part(
        *(20, MIDDLE, 1080, "The face"),
        {
            "search": "StabilitySearchCV, as thin as it can be",
            "results": "the tables of a fitted search",
            "progress": "the bar and the lines",
            "summary": "both choices side by side, as a text",
            "notebook": "the same in a notebook",
            "bound": "Theorem 1 of the paper",
        },
        columns=2,
    ),
    Part(
        *(20, BOTTOM, 340, "For people"),
        {
            "plotting": "StabilityDisplay",
            "report": "one HTML page",
            "cli": "the command line",
        },
    ),
    Part(
        *(390, BOTTOM, 340, "Built on it, and beside it"),
        {
            "sparse": "sparse ridge regression",
            "testing": "holds a path to its promise",
            "words": "numbers as people read them",
        },
    ),
    Part(
        *(760, BOTTOM, 340, "The paper"),
        {
            "datasets": "its data",
            "experiments": "its tables and figures",
        },
    ),
]

STYLE = """
text { font: 14px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #24292f }
.title { font-weight: 600; font-size: 15px }
.module { font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #0b5394 }
.note { fill: #57606a; font-size: 13px }
.box { fill: #f6f8fa; stroke: #8c959f; stroke-width: 1.2 }
.arrow { fill: none; stroke: #24292f; stroke-width: 1.6; marker-end: url(#head) }
.back { stroke-dasharray: 5 4; stroke: #bc4c00; marker-end: url(#headback) }
.backnote { fill: #bc4c00; font-size: 13px }
"""


def svg() -> str:
    """The picture."""
    question, fitting, ledger, choosing, face, *users = PARTS
    arrows = [
        _arrow(f"M{a.x + a.width} {TOP + 56} H{b.x - 4}")
        for a, b in ((question, fitting), (fitting, ledger), (ledger, choosing))
    ]
    arrows.append(_arrow(f"M{question.x + 125} {MIDDLE} V{_below(question)}"))
    arrows.append(_arrow(f"M{choosing.x + 180} {_below(choosing) - 4} V{MIDDLE - 4}"))
    arrows += [_arrow(f"M{part.x + part.width // 2} {BOTTOM} V{_below(face)}") for part in users]
    # The one loop: an adaptive search asks for what the ledger does not have.
    right, left, low = choosing.x + 60, fitting.x + 125, TOP + 166
    arrows.append(
        _arrow(f"M{right} {_below(choosing) - 4} V{low} H{left} V{_below(fitting)}", " back")
        + f'<text class="backnote" x="{left + 14}" y="{low - 8}">candidates still missing</text>'
    )
    body = "\n".join([*arrows, *map(_box, PARTS)])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-labelledby="title"><title id="title">The modules of steadycv and how they build on each '
        f"other</title>\n<style>{STYLE}</style>\n<defs>{_head('head', '#24292f')}"
        f"{_head('headback', '#bc4c00')}</defs>\n"
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="#ffffff"/>\n{body}\n</svg>\n'
    )


def write(path: Path) -> None:
    """Write the picture, unless it is there already."""
    if not path.exists() or path.read_text("utf-8") != svg():
        path.write_text(svg(), "utf-8")


def _below(part: Part) -> int:
    """Where an arrow from below ends."""
    return part.y + part.height + 4


def _arrow(way: str, kind: str = "") -> str:
    return f'<path class="arrow{kind}" d="{way}"/>'


def _box(part: Part) -> str:
    names = 8 * max(map(len, part.modules)) + 12
    rows = len(part.modules) // part.columns
    lines = []
    for number, (name, what) in enumerate(part.modules.items()):
        column, row = divmod(number, rows)
        x, y = part.x + 14 + column * part.width // part.columns, part.y + 50 + 24 * row
        lines.append(
            f'<text class="module" x="{x}" y="{y}">{escape(name)}</text>'
            f'<text class="note" x="{x + names}" y="{y}">{escape(what)}</text>'
        )
    return (
        f'<rect class="box" x="{part.x}" y="{part.y}" width="{part.width}" height="{part.height}" '
        f'rx="8"/>'
        f'<text class="title" x="{part.x + 14}" y="{part.y + 25}">{escape(part.title)}</text>'
        + "".join(lines)
    )


def _head(name: str, color: str) -> str:
    return (
        f'<marker id="{name}" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" '
        f'orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="{color}"/></marker>'
    )


if __name__ == "__main__":
    write(Path(__file__).with_suffix(".svg"))
