"""`write_report`: one search, or several to compare, on one page."""

from __future__ import annotations

import hashlib
import platform
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import tostring

from sklearn.utils.validation import check_is_fitted

from steadycv._files import write_whole
from steadycv.colors import DARK, LIGHT
from steadycv.explain.differences import differences
from steadycv.plotting.titles import title_of
from steadycv.report import charts, nested_charts
from steadycv.report.content import MOST_ROWS, describe
from steadycv.summary import model_name
from steadycv.words import number, setting, short_names, value_text

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from xml.etree.ElementTree import Element

    from steadycv.colors import Palette
    from steadycv.explain.importance import ColumnImportance
    from steadycv.report.content import Content
    from steadycv.search import StabilitySearchCV

__all__ = ["render", "write_report"]

_TEMPLATES = Path(__file__).parent / "templates"
_PACKAGES = ("steadycv", "scikit-learn", "numpy", "scipy", "joblib")


def write_report(
    search: StabilitySearchCV | Mapping[str, StabilitySearchCV],
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    data_name: str | None = None,
    command: str | None = None,
    notes: Sequence[str] = (),
    importance: ColumnImportance | Mapping[str, ColumnImportance] | None = None,
) -> Path:
    """Write a report of a search as one HTML file that needs nothing else.

    It says in plain words what was chosen and why, and what to expect on new data; it has the pictures
    of :class:`~steadycv.NestedDisplay` and :class:`~steadycv.StabilityDisplay`, how often each candidate
    wins when a fold is left out, the table of candidates, and what is needed to repeat the search.

    Parameters
    ----------
    search : StabilitySearchCV or dict of str to StabilitySearchCV
        A fitted search, or several by the names of their models, to compare.
    path : path-like
        The file. It is replaced as a whole, so that nobody sees half a report; its folder is made if
        need be.
    title : str, default=None
        The heading. None makes one of the model and the data.
    data_name : str, default=None
        What to call the data.
    command : str, default=None
        What to run to repeat the search. None shows the search as Python writes it.
    notes : sequence of str, default=()
        What else a reader should know, such as what was done to the data beforehand.
    importance : ColumnImportance or dict of str to ColumnImportance, default=None
        What columns are worth, from :func:`~steadycv.explain.column_importance`; of several searches by
        their names. None for no such picture, as nothing is fitted for a report.

    Returns
    -------
    path : Path
        The file.

    See Also
    --------
    steadycv.NestedDisplay, steadycv.StabilityDisplay : The pictures, drawn with matplotlib.

    Notes
    -----
    Everything that comes from the data or the grid is shown as text and never as markup; besides, the
    page forbids the browser to load anything and to run any script but its own. The table shows the
    thousand best candidates and both choices.

    Examples
    --------
    >>> from tempfile import gettempdir
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from steadycv import StabilitySearchCV, write_report
    >>> search = StabilitySearchCV(DecisionTreeRegressor(), {"max_depth": range(1, 8)})
    >>> search = search.fit(*load_diabetes(return_X_y=True))
    >>> path = write_report(search, f"{gettempdir()}/report.html", data_name="diabetes")
    >>> path.name
    'report.html'
    """
    searches = dict(search) if isinstance(search, Mapping) else {model_name(search): search}
    if not searches:
        raise ValueError("There is no search to report on: the dict is empty.")
    for each in searches.values():
        check_is_fitted(each)
    of_columns = _by_name(importance, searches)
    if title is None:
        *others, last = searches
        title = f"{', '.join(others)} and {last} compared" if others else f"{last} tuned"
        title += f" on {data_name}" if data_name else ""
    models = [describe(each, name, of_columns.get(name)) for name, each in searches.items()]
    page = render(
        "page.html",
        title=title,
        models=models,
        ranking=_ranking(models),
        differences=differences(searches),
        data_name=data_name,
        command=command,
        notes=notes,
    )
    path = Path(path)
    # Half a surrogate pair, which a name of a column can have, is no character.
    write_whole(path, page.encode("utf-8", errors="replace"))
    return path


def _by_name(
    importance: ColumnImportance | Mapping[str, ColumnImportance] | None,
    searches: dict[str, StabilitySearchCV],
) -> dict[str, ColumnImportance]:
    """What columns are worth, by the name of the model."""
    if importance is None:
        return {}
    if not isinstance(importance, Mapping):
        if len(searches) > 1:
            raise ValueError(
                "importance must be a dict by the names of the searches, as there are several: "
                f"{list(searches)}."
            )
        return dict.fromkeys(searches, importance)
    if unknown := sorted(importance.keys() - searches.keys()):
        raise ValueError(f"importance names {unknown}, and the searches are {list(searches)}.")
    return dict(importance)


def render(template: str, **context: Any) -> str:
    """A page that needs nothing else, of a template."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise ImportError("write_report needs Jinja: pip install 'steadycv[report]'.") from error

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        lstrip_blocks=True,
    )

    def svg(chart: Element) -> Markup:
        return Markup(tostring(chart, encoding="unicode"))

    environment.filters |= {
        "count": lambda n, thing: f"{n} {thing}{'' if n == 1 else 's'}",
        "number": number,
        "percent": _percent,
        "setting": setting,
        "svg": svg,
        "value_text": value_text,
    }
    environment.globals |= {
        "charts": charts,
        "nested_charts": nested_charts,
        "title_of": title_of,
        "most_rows": MOST_ROWS,
        "short_names": short_names,
    }
    style, script = ((_TEMPLATES / name).read_text("utf-8") for name in ("style.css", "script.js"))
    style = _colours() + style
    page: str = environment.get_template(template).render(
        versions={"Python": platform.python_version(), **{name: version(name) for name in _PACKAGES}},
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        style=Markup(style),
        script=Markup(script),
        style_hash=_hash(style),
        script_hash=_hash(script),
        **context,
    )
    return page


def _colours() -> str:
    """Those of all pictures, as variables; paper is light."""
    light, dark = (f":root {{ {_variables(palette)} }}" for palette in (LIGHT, DARK))
    return f"{light}\n@media screen and (prefers-color-scheme: dark) {{ {dark} }}\n"


def _variables(palette: Palette) -> str:
    found = []
    for name, value in palette._asdict().items():
        name = name.replace("_", "-")
        several = enumerate((value,) if isinstance(value, str) else value)
        found += [f"--{name}{'' if isinstance(value, str) else i}: {each};" for i, each in several]
    return " ".join(found)


def _ranking(models: list[Content]) -> list[Content]:
    """The models by their promises; empty where that compares nothing."""
    if len(models) < 2 or len({model.words.name for model in models}) > 1:
        return []
    errors = {model.name: model.promised.error for model in models if model.promised.error is not None}
    if len(errors) < len(models):
        return []
    return sorted(models, key=lambda model: errors[model.name])


def _percent(share: float) -> str:
    return f"{share:.1%}" if share < 0.1 else f"{share:.0%}"


def _hash(text: str) -> str:
    """How a page tells the browser which of its parts may run."""
    return b64encode(hashlib.sha256(text.encode()).digest()).decode()
