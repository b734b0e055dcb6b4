# Everything here starts from a fresh clone with Python 3.11 or newer, a C++20 compiler and make.
# Everything that a target needs is installed into .venv once; the core is compiled again when its sources change.

PYTHON ?= python3
VENV ?= .venv
OLDEST_PYTHON ?= python3.11
ARGS ?=
SEED ?= 0
DATA ?= ../shared/data

PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check install --quiet
# Stamps are stored in the environment that they describe, and are deleted with it.
DONE := $(VENV)/.done
CPP := $(sort $(shell find cpp -name '*.cpp' -o -name '*.hpp'))
PYTHON_DIRS := $(wildcard src tests benchmarks reproduce soak tools examples docs)

# Writes the requirements under a key of pyproject.toml to a file, one per line, and installs them.
define install_from_pyproject
	@$(PY) -c "import tomllib; t = tomllib.load(open('pyproject.toml', 'rb')); print('\n'.join($(1)))" > $(DONE)/$(2).txt
	$(PIP) $(3) -r $(DONE)/$(2).txt
endef

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Installations must not run in parallel.
.NOTPARALLEL:
.PHONY: help demo test test-all test-oldest fuzz sanitize soak lint format bench bench-trees bench-explain bench-boosting bench-experts bench-trust bench-vision bench-detect bench-study bench-study-rare bench-busy bench-scale bench-cluster docs reproduce peers browser stubs clean distclean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo "PYTHON=python3.12 chooses the interpreter; ARGS='-k save' is passed to pytest, demo or bench."

demo: $(DONE)/package $(DONE)/extra-study  ## study a built-in data set, write demo.html; ARGS='--data wines'
	$(PY) -m bosquet demo $(ARGS)

# Tests run in as many processes as there are cores. Additional BLAS threads would spin while they wait: on the
# small matrices of the tests they took half of the time of scikit-learn's checks.
test test-all fuzz: export OPENBLAS_NUM_THREADS := 1

test: $(DONE)/package $(DONE)/extra-test  ## run the everyday tests
	$(PY) -m pytest -n auto --dist loadgroup $(ARGS)

test-all: $(DONE)/package $(DONE)/extra-test  ## run all tests, the slow ones too
	$(PY) -m pytest -n auto --dist loadgroup -m "" $(ARGS)

fuzz: $(DONE)/package $(DONE)/extra-test  ## mutate files of every kind, check for crashes; SECONDS=60 SEED=0 KIND=trees CASE=trees:0:17
	$(PY) tests/fuzz/run.py --seconds $(or $(SECONDS),60) --seed $(SEED) \
	  $(addprefix --kind ,$(KIND)) $(addprefix --case ,$(CASE)) $(addprefix --file ,$(FILE)) $(ARGS)

sanitize: $(DONE)/package $(DONE)/extra-test  ## test the core with sanitizers; ARGS='thread' for one of them
	$(PY) tools/sanitize.py $(ARGS)

soak: $(DONE)/package $(DONE)/extra-test  ## endurance test: random work for an hour, memory and resources must not grow; SECONDS=60
	$(PY) -m soak --seconds $(or $(SECONDS),3600) --seed $(SEED) $(ARGS)

# A separate environment; pip reads the versions from the file that PIP_CONSTRAINT names.
test-oldest: OLDEST := $(MAKE) VENV=.venv-oldest PYTHON=$(OLDEST_PYTHON)
test-oldest: export SKBUILD_BUILD_DIR := build/oldest/{wheel_tag}
test-oldest:  ## run the everyday tests on the lowest versions that pyproject.toml allows
	$(OLDEST) .venv-oldest/.done/lowest.txt
	PIP_CONSTRAINT=.venv-oldest/.done/lowest.txt $(OLDEST) test

lint: $(DONE)/package $(DONE)/extra-lint  ## check style, types and import layers
	$(PY) -m ruff check $(PYTHON_DIRS)
	$(PY) -m ruff format --check $(PYTHON_DIRS)
	$(PY) -m mypy
	$(VENV)/bin/lint-imports
	$(PY) tools/check_layers.py --objects build
	@echo clang-format --dry-run --Werror cpp
	@$(VENV)/bin/clang-format --dry-run --Werror $(CPP)

format: $(DONE)/extra-lint  ## format all sources
	$(PY) -m ruff check --fix --select I $(PYTHON_DIRS)
	$(PY) -m ruff format $(PYTHON_DIRS)
	$(VENV)/bin/clang-format -i $(CPP)

bench: $(DONE)/package $(DONE)/extra-bench  ## compare speed with the peers
	$(PY) -m benchmarks.run $(ARGS)

bench-trees: $(DONE)/package $(DONE)/extra-bench  ## the same for single trees and forests
	$(PY) -m benchmarks.trees $(ARGS)

bench-boosting: $(DONE)/package $(DONE)/extra-bench  ## the same for AdaBoost and its variants
	$(PY) -m benchmarks.boosting $(ARGS)

bench-experts: $(DONE)/package $(DONE)/extra-bench  ## the same for experts; ARGS='--opera folder' for opera's port
	$(PY) -m benchmarks.experts $(ARGS)

bench-explain: $(DONE)/package $(DONE)/extra-bench  ## the same for SHAP values and partial dependence
	$(PY) -m benchmarks.explain $(ARGS)

bench-trust: $(DONE)/package $(DONE)/extra-bench  ## measure the additional time of calibration and intervals
	$(PY) -m benchmarks.trust $(ARGS)

bench-vision: $(DONE)/package  ## boosting on Haar features: time and memory, compared with sorting in NumPy
	$(PY) -m benchmarks.vision $(ARGS)

bench-detect: $(DONE)/package $(DONE)/extra-test  ## compare detection with cascades with OpenCV
	$(PY) -m benchmarks.vision_detect $(ARGS)

# FLAML and AutoGluon need other versions than the project does: one environment each. If they are missing, the other systems are run.
bench-study: $(DONE)/package $(DONE)/extra-bench $(DONE)/extra-study  ## compare studies with a tuned LightGBM, FLAML and AutoGluon; DATA=folder ARGS='--tables final'
	@for peer in flaml autogluon; do \
	  $(MAKE) .venv-peers/$$peer/.done || echo "$$peer could not be installed; it is left out."; done
	$(PY) -m benchmarks.study --data $(DATA) $(ARGS)

bench-study-rare: $(DONE)/package $(DONE)/extra-bench $(DONE)/extra-study  ## compare studies of tables with a rare class with imbalanced-learn; DATA=folder
	$(PY) -m benchmarks.study_rare --data $(DATA) $(ARGS)

bench-busy: $(DONE)/package $(DONE)/extra-bench  ## fits and predictions on a busy machine relative to an idle one, for all libraries
	$(PY) -m benchmarks.busy $(ARGS)

bench-scale: $(DONE)/package $(DONE)/extra-bench  ## tables larger than memory: seconds per row and peak memory of fits from Parquet files
	$(PY) -m benchmarks.scale $(ARGS)

bench-cluster: $(DONE)/package $(DONE)/extra-bench $(DONE)/extra-test  ## the same for fits on a Dask cluster, compared with XGBoost and LightGBM
	$(PY) -m benchmarks.cluster $(ARGS)

docs: $(DONE)/package $(DONE)/extra-docs  ## build docs/_build/html, running every example; a warning is an error
	$(PY) -m sphinx -b html -W --keep-going -q docs docs/_build/html $(ARGS)
	@echo "open docs/_build/html/index.html"

reproduce: $(DONE)/package $(DONE)/extra-test  ## recompute figures of papers and books; DATA=folder
	$(PY) -m reproduce --data $(DATA) $(ARGS)

peers: $(DONE)/extra-bench  ## install the peers, so that `bosquet bench` compares with all of them

browser:  ## install the browser that the tests of the study's page run in (Debian, as root)
	tools/install_browser.sh

stubs: $(DONE)/package  ## regenerate src/bosquet/_core.pyi
	$(PY) tools/make_stubs.py

clean:  ## remove build files, keep .venv
	rm -rf build build-sanitize dist demo.html $(DONE)/package
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks reproduce soak tools examples docs -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

distclean: clean  ## remove the environments too
	rm -rf $(VENV) .venv-oldest .venv-peers

$(DONE)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Bosquet needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1)."; \
	  echo "Name a newer one, for example: make $(or $(MAKECMDGOALS),test) PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@mkdir -p $(DONE)
	@touch $@

$(DONE)/lowest.txt: pyproject.toml tools/lowest_versions.py | $(DONE)/venv
	$(PY) tools/lowest_versions.py test > $@

# The build runs in .venv itself, not in a temporary environment: its paths stay the same, so that only
# changed files are compiled again.
$(DONE)/build-tools: pyproject.toml | $(DONE)/venv
	$(call install_from_pyproject,t['build-system']['requires'],build-tools,cmake ninja)
	@touch $@

# Editable: a changed Python file takes effect immediately, and doctests run on the sources themselves.
$(DONE)/package: pyproject.toml CMakeLists.txt $(CPP) $(DONE)/build-tools
	@command -v $${CXX:-c++} > /dev/null || command -v g++ > /dev/null || { \
	  echo "Bosquet needs a C++20 compiler (g++ 11 or newer, or clang 14 or newer)."; exit 1; }
	$(PIP) --no-build-isolation --editable .
	@touch $@

$(DONE)/extra-%: pyproject.toml | $(DONE)/venv
	$(call install_from_pyproject,t['project']['optional-dependencies']['$*'],$*)
	@touch $@

.venv-peers/%/.done: pyproject.toml | $(DONE)/venv
	$(PYTHON) -m venv .venv-peers/$*
	@$(PY) -c "import tomllib; t = tomllib.load(open('pyproject.toml', 'rb')); print('\n'.join(t['dependency-groups']['$*']))" > .venv-peers/$*/requirements.txt
	.venv-peers/$*/bin/python -m pip --disable-pip-version-check install --quiet -r .venv-peers/$*/requirements.txt
	@touch $@
