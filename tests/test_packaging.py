"""What is released: built as releases are, installed where nothing was, and what is said of it."""

import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
import yaml

from steadycv.cli import NEEDED

for name in ("build", "hatchling", "hatch_vcs", "twine"):
    pytest.importorskip(name)

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
RECIPE = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text("utf-8"))
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))


def run(*command, **options):
    done = subprocess.run(
        [str(each) for each in command], capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def tracked(*folders):
    return set(run("git", "ls-files", *folders, cwd=ROOT).splitlines())


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """The sdist, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    [sdist], [wheel] = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


def test_index_takes_them(released):
    said = run(sys.executable, "-m", "twine", "check", "--strict", *released)
    assert said.count("PASSED") == 2


def test_wheel_has_the_package_and_nothing_else(released):
    names = zipfile.ZipFile(released[1]).namelist()
    package = {name for name in names if ".dist-info/" not in name}
    assert package == {name.removeprefix("src/") for name in tracked("src")}


def test_sdist_has_what_builds_and_tests_it(released):
    with tarfile.open(released[0]) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert tracked("src", "tests", "LICENSE", "README.md", "CITATION.cff", "pyproject.toml") <= names


def test_wheel_works_where_nothing_of_it_was(released, tmp_path):
    """In an environment of its own, which has the dependencies from this one."""
    environment = venv.EnvBuilder(symlinks=True)
    environment.create(tmp_path)
    context = environment.ensure_directories(tmp_path)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(tmp_path)}))
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    pip = [sys.executable, "-m", "pip", "--python", context.env_exe, "install", "--quiet"]
    run(*pip, "--no-deps", "--no-index", "--disable-pip-version-check", released[1])
    version = released[1].name.split("-")[1]
    clean = {"PATH": context.bin_path}
    where = run(context.env_exe, "-c", "import steadycv; print(steadycv.__file__)", env=clean)
    assert Path(where).is_relative_to(site)
    assert run(Path(context.bin_path) / "steadycv", "--version", env=clean) == f"steadycv {version}"


@pytest.mark.parametrize(
    ("tag", "expected"), [("v9.8.7", r"9\.8\.7"), (None, r"0\.1\.dev1\+g[0-9a-f]+(\.d\d+)?")]
)
def test_version_is_the_tag(tmp_path, tag, expected):
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-C", tmp_path]
    run(*git, "init", "--quiet")
    run(*git, "add", ".")
    run(*git, "commit", "--quiet", "-m", "all", "--no-gpg-sign")
    if tag is not None:
        run(*git, "tag", tag)
    version = run(sys.executable, "-m", "hatchling", "version", cwd=tmp_path)
    assert re.fullmatch(expected, version)


def test_a_copy_without_its_history_has_a_version(tmp_path):
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    alone = {"PATH": "", "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    assert run(sys.executable, "-m", "hatchling", "version", cwd=tmp_path, env=alone) == "0.1.dev0"


def test_extras_that_messages_name_are_there():
    named = set()
    for path in (ROOT / "src").rglob("*.py"):
        named |= set(re.findall(r"steadycv\[([\w,]+)\]'", path.read_text("utf-8")))
    assert {extra for each in named for extra in each.split(",")} <= set(
        PROJECT["optional-dependencies"]
    )


def test_recipe_runs_on_what_the_package_depends_on():
    ours = {tuple(re.split("(?=>=)", each)) for each in PROJECT["dependencies"]}
    python, *others = RECIPE["requirements"]["run"]
    assert {tuple(each.split(" ")) for each in others} == ours
    assert python == "python >=${{ python_min }}"
    assert f">={RECIPE['context']['python_min']}" == PROJECT["requires-python"]
    _, *for_the_command = RECIPE["tests"][1]["requirements"]["run"]
    cli = {re.split("(?=>=)", each)[0]: each for each in PROJECT["optional-dependencies"]["cli"]}
    names = {"pyyaml" if name == "yaml" else name for name in NEEDED}
    assert {each.replace(" ", "") for each in for_the_command} == {cli[name] for name in names}


def test_recipe_builds_with_what_builds_the_package():
    system = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]
    assert set(system["requires"]) <= set(RECIPE["requirements"]["host"])
    [(name, target)] = PROJECT["scripts"].items()
    assert RECIPE["build"]["python"]["entry_points"] == [f"{name} = {target}"]


def test_recipe_and_citation_say_what_the_package_says():
    assert RECIPE["schema_version"] == 1
    assert RECIPE["package"]["name"] == PROJECT["name"]
    about = RECIPE["about"]
    assert (about["summary"], about["license"]) == (PROJECT["description"], PROJECT["license"])
    assert [about["license_file"]] == PROJECT["license-files"]
    assert CITATION["license"] == PROJECT["license"]
    assert CITATION["keywords"] == PROJECT["keywords"]
    assert CITATION["authors"] == PROJECT["authors"]


def test_citation_is_of_the_paper():
    assert CITATION["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "type"} <= CITATION.keys()
    paper = CITATION["preferred-citation"]
    assert paper["title"] == "Stability Regularized Cross-Validation"
    names = [f"{each['given-names']} {each['family-names']}" for each in paper["authors"]]
    assert f"*{paper['title']}* by {' and '.join(names)}" in (ROOT / "docs" / "index.md").read_text(
        "utf-8"
    )
