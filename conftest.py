"""Which docstrings are run: those of parts whose packages are there; and how processes are started."""

import os
from importlib.util import find_spec

# Clusters' clients leave threads behind, and a process with threads is not to be forked.
os.environ.setdefault("JOBLIB_START_METHOD", "spawn")

NEEDS = {
    "torch": "src/steadycv/networks/*",
    "distributed": "src/steadycv/engines/of_dask.py",
    "ray": "src/steadycv/engines/of_ray.py",
}
collect_ignore_glob = [files for package, files in NEEDS.items() if find_spec(package) is None]
