"""The documentation site: `make docs` builds it into build/docs, without a network."""

from __future__ import annotations

import sys
from importlib.metadata import metadata
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE)]

import architecture  # noqa: E402 - beside this file

project = "steadycv"
author = "The steadycv developers"
project_copyright = author
release = metadata("steadycv")["Version"]
version = release.partition("+")[0]  # of which commit is not for readers
for_machines_summary = metadata("steadycv")["Summary"]

extensions = [
    "myst_parser",  # pages are Markdown, which the forge shows too
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",  # the cards of the first page
    "sphinx_copybutton",
    "mathml",
    "scikit_learn_links",
    "gallery_links",
    "for_machines",
]
exclude_patterns = ["gallery/**/*.ipynb", "gallery/**/*.py", "gallery/**/*.json", "gallery/**/*.zip"]
suppress_warnings = ["config.cache"]  # the sorting of the gallery cannot be pickled

# Markdown
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

# The API reference
autosummary_generate = True
autosummary_context = {"of_texts": dir(str)}  # which what is a text besides is not to list
_WITHOUT_TORCH = find_spec("torch") is None
autodoc_mock_imports = ["torch"] if _WITHOUT_TORCH else []
templates_path = ["_templates"]
autodoc_typehints = "none"  # numpydoc says the types in words
numpydoc_show_class_members = False  # the template lists them
numpydoc_class_members_toctree = False
add_module_names = False
toc_object_entries_show_parents = "hide"

# The gallery
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "ignore_pattern": r"(demo|readme_picture|plot_network)\.py"
    if _WITHOUT_TORCH
    else r"(demo|readme_picture)\.py",
    "within_subsection_order": "sorting.GalleryOrder",
    "doc_module": ("steadycv",),
    "backreferences_dir": "gallery/uses",
    "reference_url": {"steadycv": None},
    "abort_on_example_error": True,
    "image_srcset": ["2x"],
    "thumbnail_size": (480, 320),
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "first_notebook_cell": "%pip install --quiet 'steadycv[plots,report]'",
    "min_reported_time": 60,
    "write_computation_times": False,  # its page needs a network
}

# The looks; the theme brings its fonts and scripts, so that pages need no network
html_theme = "pydata_sphinx_theme"
html_title = "steadycv"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "steadycv"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# Pages without pages under them need no list of them.
_ALONE = ("index", "guide", "gallery/index", "api", "comparison", "contributing", "changelog")
html_sidebars: dict[str, list[str]] = {page: [] for page in _ALONE}

architecture.write(HERE / "architecture.svg")
