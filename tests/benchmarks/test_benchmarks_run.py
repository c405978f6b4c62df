"""Every benchmark runs, here with the least work that it has, on a copy: no stored figure changes."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SMALLEST = {
    "compiling": ["search over a tree"],
    "imports": ["--rounds", "1"],
    "interruptions": ["quick separate fits", "--kills", "1"],
    "machines": [
        "--rows",
        "speed",
        "--engines",
        "loky",
        "--candidates",
        "4",
        "--products",
        "1",
        "--store",
    ],
    "networks": ["--rows", "60", "--epochs", "2", "--turns", "1", "--store"],
    "paths": ["ridge, 50, 442x10", "--turns", "1"],
    "plot_growth": [],
    "racing": ["SVR", "--turns", "1", "--rows", "100"],
    "search": ["ridge", "--turns", "1"],
    "sizes": ["ridge", "--rows", "200", "--store"],
    "sparse": ["certificates 100x100, 5"],
}
NEEDED = {"machines": ["psutil"], "networks": ["torch"]}


def test_none_is_forgotten():
    assert SMALLEST.keys() == {path.stem for path in (ROOT / "benchmarks").glob("*.py")}


@pytest.mark.parametrize("name", SMALLEST)
def test_runs(name, tmp_path):
    for package in NEEDED.get(name, []):
        pytest.importorskip(package)
    if name == "sizes" and not Path("/proc/self/clear_refs").exists():
        pytest.skip("peaks are read from Linux")
    shutil.copytree(ROOT / "benchmarks", tmp_path / "benchmarks")
    shutil.copytree(
        ROOT / "docs",
        tmp_path / "docs",
        ignore=lambda _, names: [n for n in names if not n.endswith(".md")],
    )
    results = tmp_path / "benchmarks" / "results" / f"{name}.json"
    written = tmp_path / "docs" / "growth.png" if name == "plot_growth" else results
    before = written.read_bytes() if written.exists() else b""
    command = [sys.executable, str(tmp_path / "benchmarks" / f"{name}.py"), *SMALLEST[name]]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert written.read_bytes() != before
    if written == results:
        assert json.loads(results.read_text("utf-8"))
