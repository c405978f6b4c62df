"""Pages for machines, in a small site; and the notebooks of the gallery."""

import ast
import json
import re
import runpy
import tomllib
import warnings
from pathlib import Path

import pytest

pytest.importorskip("myst_parser")
pytest.importorskip("sphinx_gallery")

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]
GUIDE = """# Guide

## Begin

- [First](first.md): the first page.

```{toctree}
:hidden:

first
gallery/plot_one
api/thing
```
"""
FIRST = """---
hidden: true
---

# First

See [one](../examples/plot_one.py) and [the guide](guide.md).

![A dot](dot.svg)
"""
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["\n# One example\n", "It has *words*.\n"]},
        {"cell_type": "code", "source": ["a = 1\n", "if a:\n", "    print(a)"]},
    ]
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A site of four pages, built."""
    source = tmp_path_factory.mktemp("site")
    pages = {
        "index.md": "# Site\n\n```{toctree}\nguide\n```\n",
        "guide.md": GUIDE,
        "first.md": FIRST,
        "gallery/plot_one.rst": "One example\n===========\n\nIt has *words*.\n",
        "gallery/plot_one.ipynb": json.dumps(NOTEBOOK),
        "api/thing.rst": "thing\n=====\n\n.. py:function:: thing(x)\n\n   Does it.\n",
        "dot.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
    }
    for name, text in pages.items():
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text(text, "utf-8")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what Sphinx's extensions ask of Sphinx
        patch.syspath_prepend(ROOT / "docs" / "_ext")
        app = Sphinx(
            *(source, None, source / "out", source / "trees", "html"),
            confoverrides={
                "project": "small",
                "extensions": ["myst_parser", "gallery_links", "for_machines"],
                "exclude_patterns": ["gallery/*.ipynb"],
                "for_machines_summary": "A small site.",
            },
            status=None,
            warning=None,
        )
        app.build()
    return source / "out"


def text(site, name):
    return (site / name).read_text("utf-8")


def test_every_page_has_a_text_beside_it_and_says_so(site):
    for page in ("index", "guide", "first", "gallery/plot_one", "api/thing"):
        name = Path(page).name
        assert f'type="text/markdown" href="{name}.md"' in text(site, f"{page}.html")
        assert text(site, f"{page}.md").strip()


def test_links_of_a_page_lead_somewhere_in_the_site(site):
    page = text(site, "first.md")
    assert page.startswith("# First\n")
    links = re.findall(r"\]\(([^)]+)\)", page)
    assert links == ["gallery/plot_one.md", "guide.md", "_images/dot.svg"]
    assert all((site / link).exists() for link in links)


def test_an_example_has_the_cells_of_its_notebook(site):
    said = "# One example\nIt has *words*.\n\n```python\na = 1\nif a:\n    print(a)\n```\n"
    assert text(site, "gallery/plot_one.md") == said


def test_what_is_made_when_the_site_is_built_is_plain_text(site):
    assert "thing(x)" in text(site, "api/thing.md")


def test_list_of_pages(site):
    listed = text(site, "llms.txt")
    assert listed.startswith(
        "# small\n\n> A small site.\n\n## Begin\n\n- [First](first.md): the first page.\n"
    )
    assert "toctree" not in listed
    assert "## Examples\n\n- [One example](gallery/plot_one.md)\n" in listed
    assert "## Reference\n\n- [thing](api/thing.md)\n" in listed


def test_notebooks_of_the_gallery_install_what_they_import(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(ROOT / "docs")
    conf = runpy.run_path(str(ROOT / "docs" / "conf.py"))["sphinx_gallery_conf"]
    assert ".py" in conf.get("notebook_extensions", {".py"})
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    [extras] = re.findall(r"^%pip install --quiet 'steadycv\[(.+)\]'$", conf["first_notebook_cell"])
    installed = [
        *project["dependencies"],
        *(each for extra in extras.split(",") for each in project["optional-dependencies"][extra]),
    ]
    known = {re.split("[>=]", each)[0].replace("scikit-learn", "sklearn") for each in installed}
    imported = {
        name.partition(".")[0]
        for path in (ROOT / "examples").glob("plot_*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names])
    }
    assert imported - {"pathlib", "tempfile"} <= known | {"steadycv"}
