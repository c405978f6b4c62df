"""Pages for machines: each as Markdown beside its HTML, and llms.txt, which lists them.

A page that is Markdown goes as it is, with its links to examples and pictures as they are in the site;
an example as its notebook's cells; the reference, which is made when the site is built, as plain text.
"""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePosixPath
from typing import Any

from sphinx.builders.text import TextBuilder
from sphinx.writers.text import TextTranslator

_TOCTREE = re.compile(r"^```\{toctree\}.*?^```\n*", re.MULTILINE | re.DOTALL)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n+", re.DOTALL)
_EXAMPLE = re.compile(r"\]\(\.\./examples/(plot_\w+)\.py(?:#\d)?\)")
_PICTURE = re.compile(r"(!\[[^\]]*\]\()([\w./-]+)\)")


class _Translator(TextTranslator):
    """Of what an extension shows in HTML alone, the words inside."""

    def unknown_visit(self, node: Any) -> None:
        """Nothing of its own."""

    def unknown_departure(self, node: Any) -> None:
        """Nothing of its own."""


class _Texts(TextBuilder):
    out_suffix = ".md"
    default_translator_class = _Translator


def setup(app: Any) -> dict[str, bool]:
    """Write them when the site is built; each page says where its text is."""
    app.add_config_value("for_machines_summary", "", "html", str)
    app.connect("html-page-context", _say_where)
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _say_where(app: Any, page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    if page in app.env.found_docs:
        link = f'<link rel="alternate" type="text/markdown" href="{PurePosixPath(page).name}.md">'
        context["metatags"] = context.get("metatags", "") + link


def _write(app: Any, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    pages = {page: Path(app.env.doc2path(page)) for page in sorted(app.env.found_docs)}
    texts = _Texts(app, app.env)
    texts.prepare_writing(set(pages))
    for page, source in pages.items():
        path, notebook = Path(app.outdir, f"{page}.md"), source.with_suffix(".ipynb")
        path.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            path.write_text(_in_the_site(app, page, source.read_text("utf-8")), "utf-8")
        elif notebook.exists():
            path.write_text(_of_notebook(json.loads(notebook.read_text("utf-8"))), "utf-8")
        else:
            texts.write_doc(page, app.env.get_and_resolve_doctree(page, texts))
    Path(app.outdir, "llms.txt").write_text(_index(app), "utf-8")


def _of_notebook(notebook: dict[str, Any]) -> str:
    """The cells of a notebook, with its code in blocks."""
    cells = [(cell["cell_type"], "".join(cell["source"]).strip()) for cell in notebook["cells"]]
    parts = [f"```python\n{text}\n```" if kind == "code" else text for kind, text in cells]
    return "\n\n".join(parts) + "\n"


def _in_the_site(app: Any, page: str, text: str) -> str:
    """A page of ours, with links that lead somewhere in the site."""
    root = "../" * page.count("/")

    def picture(found: re.Match[str]) -> str:
        name = str(PurePosixPath(page).parent / found[2])
        copied = app.env.images.get(name)
        return f"{found[1]}{root}_images/{copied[1]})" if copied else found[0]

    text = _TOCTREE.sub("", _FRONT_MATTER.sub("", text))
    return _PICTURE.sub(picture, _EXAMPLE.sub(rf"]({root}gallery/\1.md)", text))


def _index(app: Any) -> str:
    """The guide's own lists, and the pages that are made when the site is built."""
    guide = _in_the_site(app, "guide", Path(app.srcdir, "guide.md").read_text("utf-8"))
    _, _, sections = guide.partition("\n## ")
    lines = [
        f"# {app.config.project}",
        "",
        f"> {app.config.for_machines_summary}",
        "",
        f"## {sections.strip()}",
        "",
    ]
    for title, folder in (("Examples", "gallery/plot_"), ("Reference", "api/")):
        pages = [page for page in sorted(app.env.found_docs) if page.startswith(folder)]
        lines += [
            f"## {title}",
            "",
            *(f"- [{app.env.titles[page].astext()}]({page}.md)" for page in pages),
            "",
        ]
    return "\n".join(lines)
