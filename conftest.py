"""Which docstrings are run: those of networks where PyTorch is there."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["src/steadycv/networks/*"]
