"""What the documentation shows is what happens."""

import ast
import importlib
import json
import re
import runpy
from pathlib import Path

import pytest

from steadycv.datasets.catalogue import DATASETS

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "steadycv"
ARCHITECTURE = runpy.run_path(str(ROOT / "docs" / "architecture.py"))
README = (ROOT / "README.md").read_text("utf-8")
REFERENCE = (ROOT / "docs" / "api.md").read_text("utf-8")


def test_path_of_the_documentation_works():
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "paths.md").read_text(), re.DOTALL)
    exec(code, {"__name__": "documentation"})


def test_readme_can_be_pasted(capsys):
    [code] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names = {}
    exec(code, names)
    assert capsys.readouterr().out.strip() == names["search"].summary()


def test_readme_tells_what_was_measured():
    cases = json.loads((ROOT / "benchmarks" / "results" / "paths.json").read_text("utf-8"))["cases"]
    times = {row["case"]: f"{row['grid_search_over_ours']:.0f}" for row in cases}
    tree, ridge, neighbours, net = (
        times[f"{case}, 442x10"]
        for case in ("CART, 10 x 9", "ridge, 50", "kNN, 40 x 2", "elastic net, 20 x 5")
    )
    words = " ".join(README.split())
    assert f"takes {tree} times *less* time than `GridSearchCV` for 90 decision trees" in words
    assert (
        f"{ridge} for 50 ridge penalties, {neighbours} for neighbours, {net} for an elastic net" in words
    )
    delivered = json.loads((ROOT / "experiments" / "results" / "delivered.json").read_text("utf-8"))
    committee, student = (
        f"{delivered['cart'][kind]['test_over_plain'][0]:.2f}" for kind in ("committee", "student")
    )
    assert f"for decision trees {committee} and {student} of the plain choice's error" in words


def test_quickstart_shows_what_the_demo_prints(capsys):
    runpy.run_path(str(ROOT / "examples" / "demo.py"))
    page = (ROOT / "docs" / "quickstart.md").read_text("utf-8")
    assert capsys.readouterr().out.strip() in page.replace("<BLANKLINE>\n", "\n")


def test_time_to_compile_that_is_told_was_measured():
    measured = json.loads((ROOT / "benchmarks" / "results" / "compiling.json").read_text("utf-8"))
    beam, rounding, exact = (
        f"{measured[f'SparseRidge, {solver}']:.0f} s" for solver in ("beam", "rounding", "exact")
    )
    told = f'{beam} of CPU time for `"beam"`, {rounding} for `"rounding"`, {exact} for `"exact"`'
    assert told in (ROOT / "docs" / "sparse.md").read_text("utf-8")


def test_disappointment_that_is_told_was_measured():
    results = json.loads((ROOT / "experiments" / "results" / "disappointment.json").read_text("utf-8"))
    measured = results["figures"]["plain: promised over new data"].replace("+-", "±")
    assert measured in (ROOT / "docs" / "too_good.md").read_text("utf-8")
    page = (ROOT / "docs" / "evidence.md").read_text("utf-8")
    for name, figure in results["figures"].items():
        assert figure.replace("+-", "±") in page, name


def test_intervals_of_promises_that_are_told_were_measured(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "experiments")
    script = runpy.run_path(str(ROOT / "experiments" / "promise_coverage.py"))
    page = (ROOT / "docs" / "promises.md").read_text("utf-8")
    assert script["told"](script["read_table"]()) in page
    assert script["told_of_others"](script["read_table"]()) in page


def test_adversarial_cases_that_are_told_were_measured():
    script = runpy.run_path(str(ROOT / "experiments" / "adversarial.py"))
    table = script["table"](json.loads(script["RESULTS"].read_text("utf-8")))
    assert "\n".join(table) in (ROOT / "docs" / "promises.md").read_text("utf-8")


def test_deliveries_that_are_told_were_measured():
    script = runpy.run_path(str(ROOT / "experiments" / "delivered.py"))
    results = json.loads((script["RESULTS"] / "delivered.json").read_text("utf-8"))
    assert results == json.loads(json.dumps(script["summary"]()))
    page = (ROOT / "docs" / "delivering.md").read_text("utf-8")
    assert "\n".join(script["table"](results)) in page


def test_bounds_that_are_told_were_measured():
    script = runpy.run_path(str(ROOT / "experiments" / "bounds.py"))
    results = json.loads(script["RESULTS"].read_text("utf-8"))
    page = (ROOT / "docs" / "bound.md").read_text("utf-8")
    for table in (script["table"], script["table_of_made"]):
        assert "\n".join(table(results)) in page


def test_proposals_that_are_told_were_measured():
    script = runpy.run_path(str(ROOT / "experiments" / "proposals.py"))
    assert script["table"]() in (ROOT / "docs" / "searching.md").read_text("utf-8")


def test_early_stops_that_are_told_were_measured():
    script = runpy.run_path(str(ROOT / "experiments" / "early_stopping.py"))
    results = json.loads(script["SUMMARY"].read_text("utf-8"))
    assert results == json.loads(json.dumps(script["summary"]()))
    assert "\n".join(script["table"](results)) in (ROOT / "docs" / "early_stopping.md").read_text(
        "utf-8"
    )


def test_networks_that_are_told_were_measured(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "experiments")
    script = runpy.run_path(str(ROOT / "experiments" / "networks.py"))
    results = json.loads((script["RESULTS"] / "table4.json").read_text("utf-8"))
    assert results == json.loads(json.dumps(script["summary"]()))
    page = (ROOT / "docs" / "networks.md").read_text("utf-8")
    assert "\n".join(script["table"](results)) in page
    pytest.importorskip("torch")
    speed = runpy.run_path(str(ROOT / "benchmarks" / "networks.py"))
    assert "\n".join(speed["table"](json.loads(speed["RESULTS"].read_text("utf-8")))) in page


def test_rules_that_are_told_were_measured():
    script = runpy.run_path(str(ROOT / "experiments" / "rules.py"))
    page = (ROOT / "docs" / "rules.md").read_text("utf-8")
    assert script["table"](script["read_results"](script["RESULTS"])).to_markdown() in page
    results = json.loads((ROOT / "experiments" / "results" / "disappointment.json").read_text("utf-8"))
    for rule in ("paper", "steady"):
        assert results["figures"][f"new data: {rule} over plain"].replace("+-", "±") in page


def test_races_that_are_told_were_run():
    page = (ROOT / "docs" / "racing.md").read_text("utf-8")
    assert "\n".join(runpy.run_path(str(ROOT / "experiments" / "racing.py"))["table"]()) in page
    timed = runpy.run_path(str(ROOT / "benchmarks" / "racing.py"))
    assert timed["table"](json.loads(timed["RESULTS"].read_text("utf-8"))) in page


def test_engines_that_are_told_of_were_measured():
    pytest.importorskip("psutil")
    machines = runpy.run_path(str(ROOT / "benchmarks" / "machines.py"))
    page = (ROOT / "docs" / "machines.md").read_text("utf-8")
    assert machines["table"](json.loads(machines["RESULTS"].read_text("utf-8"))) in page


def test_sizes_that_are_told_were_measured():
    sizes = runpy.run_path(str(ROOT / "benchmarks" / "sizes.py"))
    page = (ROOT / "docs" / "machines.md").read_text("utf-8")
    assert sizes["table"](json.loads(sizes["RESULTS"].read_text("utf-8"))) in page


def test_the_largest_scale_that_is_told_was_simulated():
    scale = runpy.run_path(str(ROOT / "experiments" / "scale.py"))
    page = (ROOT / "docs" / "scale.md").read_text("utf-8")
    for text in scale["told"](json.loads(scale["RESULTS"].read_text("utf-8"))).values():
        assert text in page


def test_a_simulated_search_takes_as_long_as_its_fits():
    scale = runpy.run_path(str(ROOT / "experiments" / "scale.py"))
    case = scale["Case"]("few", 5_000, 1)
    found = scale["simulate"](case, 100.0, 0.001, seed=0)
    assert 5_000 * 100 / 1_000 / 3600 < found.hours < 2 * 5_000 * 100 / 1_000 / 3600
    assert found.busy + found.scheduler <= 1
    waited_for = scale["simulate"](case._replace(again=False), 100.0, 0.001, seed=0)
    assert found.hours < waited_for.hours
    slow = scale["simulate"](case, 0.1, 1.0, seed=0)
    assert slow.scheduler > 0.99
    assert slow.hours >= 5_000 / 3600


def test_honesty_of_the_bootstrap_that_is_told_was_measured():
    measured = runpy.run_path(str(ROOT / "experiments" / "bootstrap_promise.py"))
    page = (ROOT / "docs" / "bootstrap.md").read_text("utf-8")
    assert measured["table"]() in page
    assert measured["cost"]() in page


def test_coverage_that_is_told_was_measured():
    page = (ROOT / "docs" / "intervals.md").read_text("utf-8")
    told = runpy.run_path(str(ROOT / "experiments" / "coverage.py"))["told"]()
    assert [line for line in told if line not in page] == []


def test_documentation_lists_the_data_sets():
    rows = re.findall(
        r"\n\| (\w+) \| (\d+) \| (\d+) \| (\S+)", (ROOT / "docs" / "datasets.md").read_text()
    )
    assert rows == [(d.name, str(d.n_samples), str(d.n_features), d.target) for d in DATASETS.values()]


def test_every_module_is_in_one_box_of_the_architecture():
    drawn = [name for part in ARCHITECTURE["PARTS"] for name in part.modules]
    modules = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert sorted(drawn) == sorted(name for name in modules if not name.startswith("_"))


def test_picture_of_the_architecture_is_up_to_date():
    assert (ROOT / "docs" / "architecture.svg").read_text("utf-8") == ARCHITECTURE["svg"]()


def imported_by(name):
    """The modules of the package that a module imports when it runs, not only for its types."""
    tree = ast.parse((PACKAGE / f"{name}.py").read_text("utf-8"))
    found = [line for line in tree.body if isinstance(line, ast.ImportFrom)]
    names = [f"{line.module}.{alias.name}" for line in found for alias in line.names]
    return {name.split(".")[1] for name in names if name.startswith("steadycv.")}


WHO_FITS = [
    *("lattice", "candidates", "metadata", "losses", "scores", "scoring", "measures", "planning"),
    *("executor", "tasks", "estimators", "outputs", "reducing", "waiting"),
]
WHO_CHOOSES = ["ledger", "kept", "rules", "strategies", "selection", "results"]


@pytest.mark.parametrize("name", WHO_FITS)
def test_who_fits_knows_nothing_of_choosing(name):
    assert not imported_by(name) & {*WHO_CHOOSES, "ledger_file", "search"}


@pytest.mark.parametrize("name", WHO_CHOOSES)
def test_who_chooses_knows_nothing_of_estimators(name):
    assert not imported_by(name) & {"tasks", "executor", "estimators", "outputs", "paths", "scoring"}


@pytest.mark.parametrize("name", [*WHO_FITS, *WHO_CHOOSES])
def test_nothing_knows_of_the_face(name):
    faces = [
        part.modules for part in ARCHITECTURE["PARTS"] if {"search", "summary"} & part.modules.keys()
    ]
    assert not imported_by(name) & {module for modules in faces for module in modules}


@pytest.mark.parametrize(
    "module",
    [
        *("", "datasets", "experiments", "networks", "paths", "plotting", "report", "sparse"),
        *("tables", "testing", "tools"),
    ],
)
def test_reference_has_all_public_names(module):
    if module == "networks":
        pytest.importorskip("torch")
    full_name = f"steadycv.{module}".rstrip(".")
    listed = set(re.findall(r"^ {3}([\w.]+)$|data:: ([\w.]+)$", REFERENCE, re.MULTILINE))
    listed = {name.rpartition(".")[2] for pair in listed for name in pair if name}
    assert set(importlib.import_module(full_name).__all__) <= listed
