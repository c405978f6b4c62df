"""What an import costs beside that of scikit-learn's searches: CPU seconds, medians of runs in turns.

Each run is a process of its own. What is imported is in the file system's cache after the first round,
which does not count.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RESULTS = Path(__file__).parent / "results" / "imports.json"
BASELINE = "import sklearn.model_selection"
MOST = 0.15  # seconds more than the baseline
CASES = {
    "python alone": "pass",
    "scikit-learn": BASELINE,
    "steadycv": "import steadycv",
    "steadycv and scikit-learn": f"{BASELINE}; import steadycv",
    "the search": "from steadycv import StabilitySearchCV",
    "steadycv tune --help": (
        "import sys; sys.argv = ['steadycv', 'tune', '--help']; from steadycv.cli import main; main()"
    ),
    "steadycv tune, to the first fit": (
        "import os, sys; import steadycv.search as s; s.StabilitySearchCV.fit = lambda *_: os._exit(0); "
        "sys.argv = ['steadycv', 'tune', 'table.csv', '--target', 'y']; "
        "from steadycv.cli import main; main()"
    ),
}
TABLE = "a,b,y\n" + "".join(f"${i * 7 % 83},{i * 11 % 31},{i * i % 17}.5\n" for i in range(200))


def seconds(code: str) -> float:
    before = _of_children()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "table.csv").write_text(TABLE)
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    return _of_children() - before


def medians(rounds: int) -> dict[str, float]:
    found: dict[str, list[float]] = {name: [] for name in CASES}
    for number in range(rounds + 1):
        for name, code in CASES.items():
            spent = seconds(code)
            if number:
                found[name].append(spent)
    return {name: round(statistics.median(times), 3) for name, times in found.items()}


def _of_children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    spent = medians(rounds)
    for name, median in spent.items():
        more = median - spent["scikit-learn"]
        print(f"{name:32} {median:6.3f} s  {median / spent['scikit-learn']:5.2f}  {more:+6.3f} s")
    results = {
        "python": platform.python_version(),
        "rounds": rounds,
        "seconds": spent,
        "search over scikit-learn": round(spent["the search"] / spent["scikit-learn"], 3),
        "search more than scikit-learn": round(spent["the search"] - spent["scikit-learn"], 3),
        "first fit over scikit-learn": round(
            spent["steadycv tune, to the first fit"] / spent["scikit-learn"], 3
        ),
        "target": MOST,
    }
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
