"""Which docstrings are run: those of parts whose packages are there."""

from importlib.util import find_spec

NEEDS = {
    "torch": "src/steadycv/networks/*",
    "distributed": "src/steadycv/engines/of_dask.py",
    "ray": "src/steadycv/engines/of_ray.py",
}
collect_ignore_glob = [files for package, files in NEEDS.items() if find_spec(package) is None]
