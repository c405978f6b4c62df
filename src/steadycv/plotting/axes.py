"""What all of matplotlib's pictures share: an empty axes, colours for its background, and the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv.colors import DARK, LIGHT

if TYPE_CHECKING:
    from steadycv.colors import Palette

__all__ = ["finish", "heat_map", "is_dark", "literal", "new_axes", "palette_of"]


def new_axes(display: str) -> Any:
    """An axes on a new figure; `display` is what needs matplotlib."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(f"{display} needs matplotlib: pip install 'steadycv[plots]'.") from error
    _, ax = plt.subplots(layout="constrained")
    return ax


def is_dark(ax: Any) -> bool:
    """Whether the style in use has a dark background."""
    return bool(np.dot(ax.get_facecolor()[:3], (0.2126, 0.7152, 0.0722)) <= 0.4)


def palette_of(ax: Any) -> Palette:
    """The colours for the background and the words that the style in use has."""
    return (DARK if is_dark(ax) else LIGHT)._replace(ink=ax.xaxis.label.get_color())


def heat_map(palette: Palette, *, is_score: bool = False) -> Any:
    """From the best to the worst; scores are best where they are high."""
    from matplotlib.colors import LinearSegmentedColormap

    heat = palette.heat[::-1] if is_score else palette.heat
    return LinearSegmentedColormap.from_list("steadycv", heat)


def literal(text: str) -> str:
    """Dollars would start a formula."""
    return text.replace("$", r"\$")


def finish(ax: Any, title: str, *, legend: bool = True) -> None:
    """The title, the legend, and no more frame than the two axes."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.set_title(literal(title))
    if legend:
        ax.legend(frameon=False)
