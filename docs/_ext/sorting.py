"""The order of the gallery."""

from __future__ import annotations


class GalleryOrder:
    """From the first search to the special cases; what is not named comes last."""

    NAMES = (
        "plot_first_search.py",
        "plot_explained.py",
        "plot_too_good.py",
        "plot_lattice.py",
        "plot_folds_and_repeats.py",
        "plot_models_compared.py",
        "plot_classification.py",
        "plot_groups.py",
        "plot_sparse.py",
        "plot_network.py",
    )

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, name: str) -> tuple[int, str]:
        """The place of an example."""
        place = self.NAMES.index(name) if name in self.NAMES else len(self.NAMES)
        return place, name
