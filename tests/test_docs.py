"""What the documentation shows is what happens."""

import re
import runpy
from pathlib import Path

from steadycv.datasets.catalogue import DATASETS

ROOT = Path(__file__).parent.parent


def test_path_of_the_documentation_works():
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "paths.md").read_text(), re.DOTALL)
    exec(code, {"__name__": "documentation"})


def test_readme_shows_what_the_demo_prints(capsys):
    runpy.run_path(str(ROOT / "examples" / "demo.py"))
    assert capsys.readouterr().out.strip() in (ROOT / "README.md").read_text()


def test_documentation_lists_the_data_sets():
    rows = re.findall(
        r"\n\| (\w+) \| (\d+) \| (\d+) \| (\S+)", (ROOT / "docs" / "datasets.md").read_text()
    )
    assert rows == [(d.name, str(d.n_samples), str(d.n_features), d.target) for d in DATASETS.values()]
