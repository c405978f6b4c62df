# Everything runs in virtual environments of its own; only Python 3.11+ and make are needed.
PYTHON ?= python3
VENV := .venv
OLDEST := .venv-oldest
DEMO := .venv-demo
# Networks are tested with a build of PyTorch for the CPU, as others take gigabytes. Where this one is not to
# be had, their tests are skipped and say so; `make TORCH=torch` takes what the index has.
TORCH ?= torch==2.13.0+cpu
# BLAS with one thread: results are compared between runs, and fits run in parallel anyway.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
# Tested with the newest releases alone, to save time: what depends little or not at all on those of others.
ONCE := tests/benchmarks tests/cli/test_interruption.py tests/datasets tests/experiments tests/paths/test_registry.py \
	tests/sparse_ridge/test_beam.py tests/sparse_ridge/test_concave.py tests/sparse_ridge/test_cuts.py \
	tests/networks tests/sparse_ridge/test_exact.py tests/sparse_ridge/test_relaxation.py \
	tests/test_contributing.py tests/test_docs.py tests/test_import_directions.py tests/test_imports.py tests/test_packaging.py \
	tests/test_pages_for_machines.py tests/tools tests/engines/test_dask.py tests/engines/test_ray.py

.PHONY: demo test lint types tests coverage tests-oldest docs browser bench changelog clean

demo: $(DEMO)/installed
	$(DEMO)/bin/python examples/demo.py

test: lint types coverage tests-oldest docs

lint: $(VENV)/installed
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(VENV)/installed
	$(VENV)/bin/mypy

tests: $(VENV)/installed browser
	$(VENV)/bin/python -m pytest -n 2

# The same tests, and which lines and branches they run, in subprocesses too; less than 95 % is an error.
# (Processes that tests kill leave files that cannot be read, and coverage says so.)
coverage: $(VENV)/installed browser
	rm -rf build/coverage
	mkdir -p build/coverage
	$(VENV)/bin/python -m coverage run -m pytest -n 2
	$(VENV)/bin/python -m coverage combine --quiet
	$(VENV)/bin/python -m coverage report

tests-oldest: $(OLDEST)/installed browser
	$(OLDEST)/bin/python -m pytest -n 2 tests $(ONCE:%=--ignore=%)

# The site, in build/docs: warnings are errors, and so is a code block that does not do what it shows.
docs: $(VENV)/installed
	$(VENV)/bin/python -m pytest docs
	rm -rf build/docs docs/api docs/gallery
	$(VENV)/bin/sphinx-build -W --keep-going -q docs build/docs
	@echo "The site is in build/docs/index.html"

# Reports are tested in a browser. Where none can be had, those tests are skipped and say so.
browser:
	@if command -v chromedriver > /dev/null; then \
		exit 0; \
	elif command -v apt-get > /dev/null && [ "$$(id -u)" = 0 ]; then \
		export DEBIAN_FRONTEND=noninteractive; \
		apt-get update -qq; \
		apt-get install -qq --yes --no-install-recommends chromium chromium-driver > /dev/null \
			|| echo "No browser could be installed: the tests in a browser will be skipped." >&2; \
	else \
		echo "For the tests in a browser install Chromium and its driver, on Debian or Ubuntu:" >&2; \
		echo "    sudo apt-get install chromium chromium-driver" >&2; \
	fi

bench: $(VENV)/installed
	$(VENV)/bin/python benchmarks/search.py
	$(VENV)/bin/python benchmarks/paths.py
	$(VENV)/bin/python benchmarks/racing.py
	$(VENV)/bin/python benchmarks/sizes.py --store
	$(VENV)/bin/python benchmarks/sparse.py
	$(VENV)/bin/python benchmarks/networks.py --store
	$(VENV)/bin/python benchmarks/machines.py --store
	$(VENV)/bin/python benchmarks/compiling.py
	$(VENV)/bin/python benchmarks/imports.py
	$(VENV)/bin/python benchmarks/plot_growth.py

# At a release: the notes in changes/ become a part of CHANGELOG.md. `make changelog VERSION=1.2.3`
changelog: $(VENV)/installed
	$(VENV)/bin/towncrier build --version $(or $(VERSION),$(error Say VERSION=1.2.3))

clean:
	rm -rf $(VENV) $(OLDEST) $(DEMO) build docs/api docs/gallery

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv --clear $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check '$(TORCH)' \
		|| echo "$(TORCH) is not to be had here: the tests of networks will be skipped." >&2
	touch $@

# What the demo needs and nothing else: the package, and what it depends on.
$(DEMO)/installed: pyproject.toml
	$(PYTHON) -m venv --clear $(DEMO)
	$(DEMO)/bin/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(OLDEST)/installed: pyproject.toml requirements-oldest.txt
	$(PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check \
		--requirement requirements-oldest.txt --editable '.[test]'
	touch $@
