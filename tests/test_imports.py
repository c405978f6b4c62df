"""What importing costs, and which module may import which."""

import subprocess
import sys
from importlib.metadata import version

import pytest

import steadycv


def imported_by(code):
    """The modules of a process that has run some code."""
    code = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def packages(modules):
    names = {name.partition(".")[0] for name in modules} - set(sys.stdlib_module_names)
    return {name for name in names if not name.startswith("_")}  # those of Cython


@pytest.mark.parametrize(
    "code",
    [
        "import steadycv",
        "from steadycv import StabilitySearchCV",
        "import steadycv.model_catalogue",
    ],
)
def test_no_more_packages_than_scikit_learn_imports_itself(code):
    of_scikit_learn = packages(imported_by("import sklearn.model_selection"))
    assert packages(imported_by(code)) <= of_scikit_learn | {"steadycv"}


def test_command_line_imports_what_computes_when_it_computes():
    found = imported_by("from steadycv.cli.app import app")
    assert not packages(found) & {"numpy", "sklearn", "pandas", "numba", "matplotlib", "jinja2"}
    of_its_own = {name.split(".")[1] for name in found if name.startswith("steadycv.")}
    assert of_its_own == {"cli", "model_catalogue"}


@pytest.mark.parametrize("name", steadycv.__all__)
def test_public_names(name):
    found = getattr(steadycv, name)
    assert found.__name__ == name
    assert found.__module__.startswith("steadycv.")
    assert name in dir(steadycv)


def test_public_modules_are_there_without_an_import_of_their_own():
    names = [
        "datasets",
        "experiments",
        "explain",
        "losses",
        "paths",
        "plotting",
        "report",
        "sparse",
        "strategies",
        "tables",
        "testing",
        "tools",
    ]
    assert set(names) <= set(dir(steadycv))
    code = "; ".join(["import steadycv", *(f"steadycv.{name}" for name in names)])
    assert {f"steadycv.{name}" for name in names} <= imported_by(code)


def test_networks_say_what_they_need():
    code = "import sys; sys.modules['torch'] = None; import steadycv.networks"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    said = "ImportError: steadycv.networks needs PyTorch: pip install 'steadycv[networks]'."
    assert done.stderr.splitlines()[-1] == said


def test_version():
    assert steadycv.__version__ == version("steadycv")
    assert "__version__" in dir(steadycv)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="module 'steadycv' has no attribute 'StabilitySearch'"):
        steadycv.StabilitySearch  # noqa: B018
