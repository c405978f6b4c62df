import re
from pathlib import Path

import pytest

from steadycv.experiments import FIGURES, TABLES
from steadycv.experiments.pages import PageError, fill

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reproduction.md"


def test_what_is_between_the_markers_is_replaced(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Before.\n<!-- a -->\nold\n<!-- end of a -->\n<!-- b -->\nkept\n<!-- end of b -->\n")
    for text in (r"new \1 text", "newer"):
        fill(page, {"a": text, "not there": "-"})
        assert page.read_text() == (
            f"Before.\n<!-- a -->\n\n{text}\n\n<!-- end of a -->\n<!-- b -->\nkept\n<!-- end of b -->\n"
        )


def test_page_without_markers_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Nothing.\n")
    with pytest.raises(PageError, match="has no lines '<!-- a -->'"):
        fill(page, {"a": "text"})


def test_the_page_has_all_places():
    names = re.findall(r"^<!-- end of (.*) -->$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert names == ["in short", *TABLES, *FIGURES]
