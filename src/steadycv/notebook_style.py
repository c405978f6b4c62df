"""How things look in a notebook: the colours of all pictures, light and dark as the notebook is."""

from __future__ import annotations

from steadycv.colors import DARK, LIGHT, Palette
from steadycv.shades import N_SHADES

__all__ = ["CLASS", "style"]

CLASS = "steadycv-results"
_RULES = """
.{0} {{color: var(--sc-ink); max-width: 46rem; font-size: 0.95em}}
.{0} table {{border-collapse: collapse; margin: 0.5em 0; color: inherit}}
.{0} caption {{text-align: left; font-weight: bold; padding: 0.25em 0; color: inherit}}
.{0} :is(th, td) {{padding: 0.2em 0.8em 0.2em 0; text-align: right}}
.{0} tbody th {{text-align: left; font-weight: normal}}
.{0} tr {{border-bottom: 1px solid var(--sc-line); background: none}}
.{0} .cards {{display: grid; grid-template-columns: repeat(auto-fit, minmax(13em, 1fr));
  gap: 0.8em; margin: 0.8em 0}}
.{0} .card {{background: var(--sc-raised); border-radius: 8px; padding: 0.7em 0.9em}}
.{0} .card b {{color: var(--sc-muted); font-weight: 600; font-size: 0.9em}}
.{0} .card p {{margin: 0.2em 0 0; overflow-wrap: anywhere}}
.{0} .card .big {{font-size: 1.7em; font-weight: 650; line-height: 1.2}}
.{0} svg {{display: block; width: 100%; height: auto; margin: 0.4em 0}}
.{0} svg text {{fill: var(--sc-muted); font: 12px system-ui, sans-serif}}
.{0} svg .end {{text-anchor: end}}
.{0} svg .open {{fill: var(--sc-raised)}}
.{0} svg .fitted {{fill: var(--sc-dot)}}
.{0} svg .failed {{fill: var(--sc-plain)}}
"""


def style() -> str:
    """A style element; a dark notebook is one of JupyterLab, of VS Code, or of a dark page."""
    dark = ("[data-jp-theme-light=false]", ".vscode-dark", "html[theme=dark]")
    rules = _RULES.format(CLASS) + "".join(
        f".{CLASS} svg .heat{shade} {{fill: var(--sc-heat{shade})}}\n" for shade in range(N_SHADES)
    )
    in_dark = ", ".join(f"{each} .{CLASS}" for each in dark)
    return f"<style>.{CLASS} {{{_variables(LIGHT)}}}\n{in_dark} {{{_variables(DARK)}}}\n{rules}</style>"


def _variables(palette: Palette) -> str:
    shades = "".join(f"--sc-heat{i}: {each};" for i, each in enumerate(palette.heat))
    some = ("raised", "ink", "muted", "line", "plain", "steady", "dot")
    return "".join(f"--sc-{name}: {getattr(palette, name)};" for name in some) + shades
