"""The pages show the results that are stored."""

import shutil
from pathlib import Path

import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

from steadycv.cli.app import app

TOP = Path(__file__).parents[2]
RESULTS = TOP / "experiments" / "results"


@pytest.mark.skipif(not RESULTS.exists(), reason="the stored results are in the repository only")
@pytest.mark.parametrize(
    ("page", "what"),
    [
        *(("reproduction", f"table{i}") for i in (1, 2, 3)),
        *(("reproduction", f"figure{i}") for i in (1, 2)),
        ("evidence", "table3"),
    ],
)
def test_pages_are_filled_from_the_stored_results(tmp_path, page, what):
    pytest.importorskip("matplotlib").use("Agg")
    shown = TOP / "docs" / f"{page}.md"
    copy = shutil.copy(shown, tmp_path)
    args = ["reproduce", what, "--summary-only", "--out", str(RESULTS), "--docs", str(copy)]
    result = CliRunner().invoke(app, args)
    assert result.exit_code == 0, result.output
    assert Path(copy).read_text(encoding="utf-8") == shown.read_text(encoding="utf-8")
