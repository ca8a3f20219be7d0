# Every task of development. Needs make, Python 3.11 or newer, and an index that pip can install from;
# environments are made on first use, and again when pyproject.toml changes.

PYTHON ?= python3
VENV := .venv
ARGS :=
COV := --cov
WORKERS := auto
SECONDS ?= 20

PIP = $(VENV)/bin/python -m pip --quiet --quiet --disable-pip-version-check

# Tests also run on a second Python: the first one that works and is of another version than the environment's.
OTHERS = python3.13 $(wildcard $(HOME)/.pyenv/versions/3.13*/bin/python) \
         python3.11 $(wildcard $(HOME)/.pyenv/versions/3.11*/bin/python)
IF_OTHER = import sys; sys.version.split(".")[:2] != sys.argv[1].split(".")[:2] and print(sys.executable)
MINE = $(shell $(VENV)/bin/python -c 'import platform; print(platform.python_version())')
SECOND = $(firstword $(foreach python,$(OTHERS),$(shell $(python) -c '$(IF_OTHER)' $(MINE) 2>/dev/null)))

# Stamps of an environment whose interpreter is gone mean nothing.
$(shell test -x $(VENV)/bin/python || rm -f $(VENV)/.ready*)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test quick golden docs lint types format check wheel test-second fuzz faults check-producers bench clean

help:  ## list these tasks
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.ready  ## compare the two runs in examples/terminal-bench
	cd examples/terminal-bench && "$(CURDIR)/$(VENV)/bin/gym" dev compare old/rollouts.jsonl new/rollouts.jsonl

test: $(VENV)/.ready-test  ## run the tests, all branches covered; a part, uncovered: make test COV= ARGS='-k join'
	$(VENV)/bin/python -m pytest -n $(WORKERS) --dist worksteal $(COV) $(ARGS)

quick: $(VENV)/.ready-test  ## run a useful part of the tests: half a minute on four cores, minutes on fewer
	$(VENV)/bin/python -m pytest -n $(WORKERS) --dist worksteal --quick -q $(ARGS)

golden: $(VENV)/.ready-test  ## rewrite what golden stories expect, then read the difference: git diff tests/golden
	$(VENV)/bin/python -m tests.rewrite golden $(ARGS)

docs: $(VENV)/.ready-test  ## rewrite the output in the documents' console blocks, then read the difference
	$(VENV)/bin/python -m tests.rewrite docs $(ARGS)

lint: $(VENV)/.ready-dev  ## check style and layout
	$(VENV)/bin/python -m ruff check .
	$(VENV)/bin/python -m ruff format --check .
	$(VENV)/bin/check-jsonschema -qq --builtin-schema vendor.github-workflows docs/recipes/github-actions.yml
	$(VENV)/bin/check-jsonschema -qq --builtin-schema vendor.gitlab-ci docs/recipes/gitlab-ci.yml

types: $(VENV)/.ready-dev  ## check types
	$(VENV)/bin/python -m mypy

format: $(VENV)/.ready-dev  ## lay the code out, fix what can be fixed
	$(VENV)/bin/python -m ruff format .
	$(VENV)/bin/python -m ruff check --fix .

check: lint types wheel test-second test fuzz  ## everything a change must pass

wheel: $(VENV)/.ready-dev  ## build sdist and wheel, try the wheel in fresh environments: a few minutes
	rm -rf dist
	$(VENV)/bin/python -m build --outdir dist . >/dev/null
	$(VENV)/bin/python tools/try_wheel.py dist/*.whl

test-second: $(VENV)/.ready-test  ## run the tests on a second Python, where there is one: few examples, no browser
	$(if $(SECOND),$(MAKE) --no-print-directory test VENV='.venv-beside-$(MINE)' PYTHON='$(SECOND)' COV= \
	ARGS='--hypothesis-profile=few --ignore=tests/browser -m "not slow"',\
	@echo 'tests on a second Python skipped: found neither 3.13 nor 3.11 beside $(MINE)')

fuzz: $(VENV)/.ready-test  ## compare made-up pairs of runs; longer, or on a second Python too: SECONDS=3600 ARGS='--also PYTHON'
	$(VENV)/bin/python tools/fuzz.py --seconds $(SECONDS) $(ARGS)

faults: $(VENV)/.ready-test  ## compare in bad surroundings (full disks, signals, ...), and count what is left behind
	$(VENV)/bin/python tools/faults.py $(ARGS)

check-producers: $(VENV)/.ready-test  ## hold how runs of other producers are read against their own figures: RUNS=DIR
	$(VENV)/bin/python tools/check_producers.py '$(RUNS)' --own .venv-producers $(ARGS)

bench: $(VENV)/.ready-bench  ## run the benchmarks
	$(VENV)/bin/python bench/run.py $(ARGS)

clean:  ## remove environments, caches and whatever was built
	rm -rf .venv* build dist htmlcov .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find bench examples src tests tools -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

define MAKE_VENV
@test -x $(VENV)/bin/python || $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo 'Python 3.11 or newer is needed; name one: make PYTHON=python3.12 ...' >&2; exit 1; }
@test -x $(VENV)/bin/python || $(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }
endef

$(VENV)/.ready: pyproject.toml
	$(MAKE_VENV)
	$(PIP) install --editable .
	@touch $@

# The extra `dev` holds `test`, and either holds what `demo` needs.
$(VENV)/.ready-%: pyproject.toml
	$(MAKE_VENV)
	$(PIP) install --editable '.[$*]'
	@touch $@ $(VENV)/.ready $(if $(filter dev,$*),$(VENV)/.ready-test)
