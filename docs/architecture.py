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
        return 42 + 24 * self.n_rows

    @property
    def n_rows(self) -> int:
        """How many lines of modules there are."""
        return -(-len(self.modules) // self.columns)


WIDTH = 1120
TOP, MIDDLE, KNOWN, TOLD, BOTTOM = 54, 294, 526, 742, 964
PARTS = [
    Part(
        *(20, TOP, 250, "What is asked"),
        {
            "splits": "as given",
            "lattice": "rows, views",
            "candidates": "the settings",
            "drawing": "at random",
            "early_stopping": "of boosting",
            "metadata": "weights, groups",
        },
    ),
    Part(
        *(20, TOP + 200, 250, "What it is judged by"),
        {
            "scoring": "which score drives",
            "measures": "errors and changes",
            "losses": "a number a sample",
            "scores": "of many at once",
        },
    ),
    Part(
        *(300, TOP, 240, "Planning"),
        {
            "planning": "what is missing",
            "prices": "what it will take",
            "pricing": "and who says it",
            "paths": "one fit for many",
        },
    ),
    Part(
        *(570, TOP, 250, "Fitting, where it runs"),
        {
            "executor": "here or in workers",
            "engines": "whose they are",
            "tasks": "models are trained",
            "estimators": "each fresh, seeded",
            "outputs": "what models say",
            "reducing": "in a few numbers",
            "waiting": "losses to compare",
        },
    ),
    Part(
        *(850, TOP, 250, "What is left of it"),
        {
            "ledger": "errors, changes",
            "kept": "outputs",
            "ledger_file": "both on disk",
            "identity": "whose they are",
            "fingerprint": "how that is known",
            "versions": "of what packages",
        },
    ),
    Part(
        *(850, MIDDLE, 250, "Choosing"),
        {
            "rules": "from numbers",
            "strategies": "where to look",
            "optuna_search": "and asked of it",
            "weights": "which is taken",
            "selection": "in every view",
            "racing": "who may leave",
            "stopping": "when to stop",
        },
    ),
    Part(
        *(300, MIDDLE + 8, 520, "The face"),
        {
            "search": "StabilitySearchCV",
            "base_search": "what searches share",
            "checks": "errors before any fit",
            "results": "tables, nested scores",
            "failures": "counted, told once",
            "concluding": "at the end of fit",
            "conclusions": "what it tells",
        },
        columns=2,
    ),
    Part(
        *(20, KNOWN, 1080, "What the fits know besides"),
        {
            "averages": "what committees say",
            "committees": "an estimator",
            "linear_models": "whose average is one",
            "students": "learn from these",
            "student_fits": "and are judged",
            "made_rows": "for these to learn from",
            "offers": "what each promises",
            "delivery": "what is delivered",
            "promises": "of what was saved",
            "baseline": "without any column",
            "promise_intervals": "how sure",
            "bootstrap": "no fit more",
            "intervals": "of predictions",
            "bound": "with a proof",
            "families": "grids compared",
            "thresholds": "of two classes",
            "grid_edges": "and what is beyond",
        },
        columns=3,
    ),
    Part(
        *(20, TOLD, 1080, "How it is told"),
        {
            "summary": "both choices told",
            "words": "numbers and names",
            "error_words": "errors, or scores",
            "split_words": "folds, or splits",
            "human_units": "what people use",
            "expectations": "what to expect",
            "suggestions": "for the next search",
            "model_cards": "for a model's users",
            "progress": "the bar and the lines",
            "steps": "within a task",
            "notebook": "in a notebook",
            "notebook_style": "how it looks there",
            "lattice_view": "fills while it works",
            "lattice_picture": "of all fits",
            "colors": "of all pictures",
            "shades": "of errors",
        },
        columns=3,
    ),
    Part(
        *(20, BOTTOM, 340, "For people"),
        {
            "explain": "nested predictions told",
            "plotting": "pictures",
            "report": "one HTML page",
            "cli": "the command line",
            "tables": "as they come",
            "tools": "MLflow, ONNX, Optuna, ...",
        },
    ),
    Part(
        *(390, BOTTOM, 340, "Built on it, and beside it"),
        {
            "sparse": "sparse ridge regression",
            "large": "more than fits into memory",
            "networks": "neural networks",
            "model_catalogue": "models by name",
            "testing": "holds a path to its promise",
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
HEIGHT = max(part.y + part.height for part in PARTS) + 18

STYLE = """
text { font: 14px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #24292f }
.title { font-weight: 600; font-size: 15px }
.module { font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #0b5394 }
.note { fill: #57606a; font-size: 13px }
.box { fill: #f6f8fa; stroke: #8c959f; stroke-width: 1.2 }
.arrow { fill: none; stroke: #24292f; stroke-width: 1.6; marker-end: url(#head) }
.floor { stroke: #8c959f; stroke-width: 1.2 }
.back { stroke-dasharray: 5 4; stroke: #bc4c00; marker-end: url(#headback) }
.backnote { fill: #bc4c00; font-size: 13px }
"""


def svg() -> str:
    """The picture."""
    question, judging, planning, fitting, ledger, choosing, face, known, told, *users = PARTS
    arrows = [
        _arrow(f"M{a.x + a.width} {TOP + 56} H{b.x - 4}")
        for a, b in ((question, planning), (planning, fitting), (fitting, ledger))
    ]
    high, low, floor = judging.y + 24, MIDDLE + 56, BOTTOM - 22
    arrows += [
        _arrow(
            f"M{judging.x + judging.width} {high} H{fitting.x + 40} V{fitting.y + fitting.height + 4}"
        ),
        f'<text class="note" x="{planning.x}" y="{high - 8}">errors and changes, taken there</text>',
        _arrow(f"M{ledger.x + 125} {ledger.y + ledger.height} V{choosing.y - 4}"),
        _arrow(f"M{choosing.x} {low} H{face.x + face.width + 4}"),
        _arrow(f"M{face.x} {low} H{judging.x + judging.width + 4}"),
        _arrow(f"M{choosing.x + 125} {choosing.y + choosing.height} V{known.y - 4}"),
        _arrow(f"M{face.x + 260} {known.y} V{face.y + face.height + 4}"),
        _arrow(f"M{known.x + 540} {known.y + known.height} V{told.y - 4}"),
        f'<path class="floor" d="M20 {floor} H{WIDTH - 20}"/>',
    ]
    arrows += [_arrow(f"M{part.x + part.width // 2} {BOTTOM} V{floor + 5}") for part in users]
    arrows.append(
        f'<text class="note" x="20" y="{floor - 6}">above: the way of a candidate; below: who '
        "builds on it</text>"
    )
    # The one loop: an adaptive search asks for what the ledger does not have.
    right, left = WIDTH - 20, planning.x + 120
    arrows.append(
        _arrow(f"M{right} {low} H{right + 10} V{TOP - 26} H{left} V{TOP - 4}", " back")
        + f'<text class="backnote" x="{left + 14}" y="{TOP - 33}">candidates still missing</text>'
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


def _arrow(way: str, kind: str = "") -> str:
    return f'<path class="arrow{kind}" d="{way}"/>'


def _box(part: Part) -> str:
    names = list(part.modules)
    rows = part.n_rows
    lines = []
    for number, (name, what) in enumerate(part.modules.items()):
        column, row = divmod(number, rows)
        widest = max(map(len, names[column * rows : (column + 1) * rows]))
        x, y = part.x + 14 + column * part.width // part.columns, part.y + 50 + 24 * row
        lines.append(
            f'<text class="module" x="{x}" y="{y}">{escape(name)}</text>'
            f'<text class="note" x="{x + 8 * widest + 12}" y="{y}">{escape(what)}</text>'
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
