"""How long the first call after an installation compiles: CPU seconds, each with an empty cache."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

RESULTS = Path(__file__).parent / "results" / "compiling.json"
FIT = """
import time, warnings
import numpy as np
from sklearn.tree import DecisionTreeRegressor
from steadycv import SparseRidge, StabilitySearchCV
X = np.random.default_rng(0).normal(size=(40, 8))
y = X[:, 0] + X[:, 1]
start = time.process_time()
{fit}
print(time.process_time() - start)
"""
CASES = {
    **{
        f"SparseRidge, {solver}": f"SparseRidge(2, 1.0, solver={solver!r}).fit(X, y)"
        for solver in ("beam", "rounding", "exact")
    },
    "search over a tree": (
        "StabilitySearchCV(DecisionTreeRegressor(), {'max_depth': [1, 2, 3]}).fit(X, y)"
    ),
}


def seconds(fit: str) -> float:
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-c", FIT.format(fit=fit)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("only", nargs="*", help="beginnings of the cases to run; others stay as stored")
    only = tuple(parser.parse_args().only)
    found = json.loads(RESULTS.read_text()) if only else {}
    for name, fit in CASES.items():
        if not only or name.startswith(only):
            found[name] = seconds(fit)
            print(f"{name:24} {found[name]:6.1f} s", flush=True)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
