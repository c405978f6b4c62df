"""What contributors are told to do works."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_hooks_call_make_and_fetch_nothing():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    [local] = config["repos"]
    assert local["repo"] == "local"
    for hook in local["hooks"]:
        make, target = hook["entry"].split()
        assert (make, hook["language"]) == ("make", "system")
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE)


def test_notes_have_names_that_are_collected():
    kinds = "|".join(kind["directory"] for kind in PROJECT["tool"]["towncrier"]["type"])
    names = [path.name for path in (ROOT / "changes").iterdir() if path.suffix != ".jinja"]
    assert [name for name in names if not re.fullmatch(rf"[a-z0-9-]+\.({kinds})\.md", name)] == []


def test_notes_become_a_part_of_the_changelog(tmp_path):
    pytest.importorskip("towncrier")
    notes = tmp_path / "changes"
    notes.mkdir()
    for source in ("pyproject.toml", "CHANGELOG.md", "changes/template.jinja"):
        shutil.copy(ROOT / source, tmp_path / source)
    (notes / "a-name.added.md").write_text("Something new.\n")
    (notes / "another.changed.md").write_text("Something else.\n")
    before = (tmp_path / "CHANGELOG.md").read_text("utf-8")
    command = ["towncrier", "build", "--yes", "--version", "1.2.3", "--date", "2000-01-01"]
    subprocess.run([sys.executable, "-m", *command], cwd=tmp_path, check=True, capture_output=True)
    section = "\n## 1.2.3 (2000-01-01)\n\n- Something new.\n- **Changed**: Something else.\n"
    after = (tmp_path / "CHANGELOG.md").read_text("utf-8")
    assert section in after
    assert "".join(after.split(section)).split() == before.split()
    assert [path.name for path in notes.iterdir()] == ["template.jinja"]


@pytest.mark.parametrize("decorator", ["kernel", "fast_kernel", "kernel_part", "fast_kernel_part"])
def test_coverage_leaves_compiled_functions_out(decorator):
    parsers = pytest.importorskip("coverage.parser")
    text = f"@{decorator}\ndef f(x):\n    if x:\n        x = 1\n    return x\n\ndef g():\n    return 1\n"
    excluded = "|".join(PROJECT["tool"]["coverage"]["report"]["exclude_also"])
    parser = parsers.PythonParser(text=text, exclude=excluded)
    parser.parse_source()
    assert parser.statements == {7, 8}
