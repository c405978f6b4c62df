"""The directions of imports, read from the source of all modules; also of imports inside functions."""

import ast
import re
import sys
from collections import Counter
from itertools import chain
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src"
FILES = sorted((SOURCE / "steadycv").rglob("*.py"))

# Which part may import which besides itself. What is in no part of its own is the core.
DIRECTIONS = {
    "core": set(),
    "testing": {"core"},
    "sparse": {"core"},
    "large": {"core"},
    "networks": {"core"},
    "explain": {"core"},
    "plotting": {"core", "explain"},
    "report": {"core", "explain", "plotting"},
    "datasets": {"core"},
    "model_catalogue": {"sparse"},
    "tables": {"core"},
    "tools": {"core", "report", "sparse"},
    "experiments": {"core", "sparse", "datasets", "model_catalogue"},
    "cli": {
        "core",
        "explain",
        "plotting",
        "report",
        "sparse",
        "datasets",
        "experiments",
        "model_catalogue",
        "tables",
        "tools",
    },
}
RUNS_OF_EXPERIMENTS = {"steadycv.cli.run_compare", "steadycv.cli.run_reproduce"}
OF_NAMED_TUPLES = {"_asdict", "_fields", "_make", "_replace"}  # public in spite of their names
ENDS_THE_PROCESS = {"_exit"}  # of os


def module_of(path):
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def runs(node):
    """All nodes that do more than name types."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            later = ast.Module(body=child.orelse, type_ignores=[])
            yield from runs(later)
        else:
            yield child
            yield from runs(child)


TREES = {module_of(path): list(runs(ast.parse(path.read_text("utf-8")))) for path in FILES}


def imports(nodes):
    """The full names that are imported, ``from`` what and alone."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports have full names"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            [name, *_] = node.args
            if isinstance(name, ast.Constant):
                yield name.value


def part_of(module):
    """The part of the package that a module is in, or something in a module."""
    name = f"{module}.".split(".")[1]
    return name if name in DIRECTIONS else "core"


def own_imports(module):
    found = set(imports(TREES[module]))
    return {name for name in found if name.split(".")[0] == "steadycv"}


@pytest.mark.parametrize("module", [name for name in TREES if name != "steadycv"])
def test_imports_keep_to_their_directions(module):
    assert "steadycv" not in own_imports(module), "a module names the one that it needs"
    part = part_of(module)
    wrong = {name for name in own_imports(module) if part_of(name) not in DIRECTIONS[part] | {part}}
    assert not wrong


def test_package_itself_imports_what_is_asked_for():
    assert own_imports("steadycv") == set()


def test_what_there_is_to_name_is_in_a_module():
    """Not one of ``from steadycv import name``, which would go through the package's front door."""
    for module in TREES:
        for name in own_imports(module):
            home = name.rpartition(".")[0]
            assert name in TREES or home in TREES.keys() - {"steadycv"}, f"{module} imports {name}"


def test_experiments_are_run_by_two_modules_that_are_imported_late():
    users = {
        module
        for module in TREES
        if part_of(module) == "cli"
        and any(part_of(name) in ("experiments", "datasets") for name in own_imports(module))
    }
    assert users == RUNS_OF_EXPERIMENTS
    for path in FILES:
        lines = ast.parse(path.read_text("utf-8")).body
        at_once = set(imports(lines))
        at_once |= {name.rpartition(".")[0] for name in at_once}
        assert not at_once & RUNS_OF_EXPERIMENTS, module_of(path)


def is_private(name):
    """Whether a name is; those with underscores on both sides are what notebooks and Python ask for."""
    return name.startswith("_") and not name.endswith("_")


def is_foreign(full_name):
    root = full_name.split(".")[0]
    return root != "steadycv" and root not in sys.stdlib_module_names


def private_names_of_its_own():
    """Private names that some module defines: functions, classes, variables, fields and attributes."""
    for node in chain.from_iterable(TREES.values()):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                yield name


TIMES_DEFINED = Counter(
    name
    for nodes in TREES.values()
    for name in {n.name for n in nodes if isinstance(n, ast.FunctionDef)}
)
IN_TEXT = re.compile(r"(sklearn|scipy|numpy|xgboost|lightgbm)(\.\w+)*\._\w[\w.]*")
OWN = set(private_names_of_its_own()) | OF_NAMED_TUPLES | ENDS_THE_PROCESS


def private_names_of_others(nodes):
    """What is imported, named, asked of a class of another package, or defined nowhere in this one."""
    full_names = list(imports(nodes))
    for name in filter(is_foreign, full_names):
        if any(map(is_private, name.split("."))):
            yield name
    classes = {
        name.rpartition(".")[2]
        for name in full_names
        if is_foreign(name) or name.startswith("steadycv._compat.")
    }
    for node in nodes:
        if isinstance(node, ast.Attribute):
            of_other = ast.unparse(node.value) in classes
            # What a class gets from above is ours if another module of ours defines it too.
            alone = ast.unparse(node.value) == "super()" and TIMES_DEFINED[node.attr] < 2
            if is_private(node.attr) and (of_other or alone or node.attr not in OWN):
                yield node.attr
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "hasattr"):
            name = node.args[1]
            if isinstance(name, ast.Constant) and is_private(name.value) and name.value not in OWN:
                yield name.value
        elif isinstance(node, ast.Constant) and IN_TEXT.fullmatch(str(node.value)):
            yield node.value


ONE_PLACE = "steadycv._compat"


@pytest.mark.parametrize("module", sorted(m for m in TREES if not m.startswith(ONE_PLACE)))
def test_private_names_of_other_packages_are_taken_in_one_place(module):
    found = sorted(private_names_of_others(TREES[module]))
    assert found == []


@pytest.mark.parametrize(
    ("code", "imported", "private"),
    [
        ("def f():\n    from steadycv.report import write", {"steadycv.report.write"}, set()),
        ("if TYPE_CHECKING:\n    import sklearn._loss\nelse:\n    import numpy", {"numpy"}, set()),
        ("importlib.import_module('steadycv.cli')", {"steadycv.cli"}, set()),
        ("import a.b as _c", {"a.b"}, set()),
        ("from a.b import _c", {"a.b._c"}, {"a.b._c"}),
        ("from a._b import c", {"a._b.c"}, {"a._b.c"}),
        ("from a import b\nb._options", {"a.b"}, {"_options"}),
        ("module == 'sklearn.tree._tree'", set(), {"sklearn.tree._tree"}),
        ("scorer._score_func", set(), {"_score_func"}),
        ("getattr(scorer, '_score_func', None)", set(), {"_score_func"}),
        ("model._validate_params = None", set(), {"_validate_params"}),
        ("class A:\n    def _f(self):\n        super()._f()", set(), {"_f"}),
        ("model._options\nmodel.__class__\nmodel._repr_html_", set(), set()),
    ],
)
def test_what_is_found_in_source(code, imported, private):
    nodes = list(runs(ast.parse(code)))
    assert set(imports(nodes)) == imported
    assert set(private_names_of_others(nodes)) == private
