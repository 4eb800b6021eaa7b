# make lab         set up, then make, renew and open your workbook in JupyterLab;
#                  make lab WORKBOOK=../mine PORT=9000: another folder and port
# make test        set up and run the tests (about ten minutes the first time)
# make test-long   run the tests that take long
# make test-all    run all of both, and the exhaustive ones (hours)
# make notebooks   the same as lab without a person: execute every notebook
# make lint types  check the code with ruff and mypy
# make format      let ruff fix what it can
# make bench       time gpukit against NumPy
# make conformance run numba-cuda's own test suite
# make torch       compare the functions of the book with PyTorch's
# make mutation    break every kernel and see what the checker says (hours)
# make codegen     compile every kernel for GPUs, without one; ARCH=sm_90 for one
# make clean       delete what make and the tests left; answers and grades stay
# PYTHON=python3.12 chooses the Python (3.10 or newer) that .venv is made with.

# The first of these that is new enough. Only asked when .venv has to be made.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && echo $$p && break; done)
# Test processes at a time. Each begins with one half; who is done takes of the other's. A kernel that
# one has compiled comes from the disk in the other.
JOBS ?= 2
# The reader's own copy of the lessons, which `make lab` opens, and where Lab is served.
WORKBOOK ?= workbook
PORT ?=
PYTEST_FLAGS ?=
# Compile for this GPU in `make codegen`, such as sm_90; for all if empty.
ARCH ?=
# What `make test` leaves out, by pytest's marks (pyproject.toml says what they mean): `make
# test-long` runs all of them but the exhaustive ones, `make test-answers` and so on all of a mark.
LONG := answers watched programs corpus random browser slow

VENV := .venv
BIN := $(VENV)/bin
# What the lessons need, and what the tests and tools need besides.
LAB := $(VENV)/.lab
READY := $(VENV)/.ready
CONFORMANCE := .venv-conformance
CODEGEN := .venv-codegen
TORCH := .venv-torch
GRADERS := .venv-graders
# numba-cuda's test suite as it was measured; its pytest is older than ours.
CONFORMANCE_NEEDS := numba==0.68.1 numba-cuda==0.30.4 'numpy<2.5' 'pytest<9' pytest-xdist \
	pytest-benchmark filecheck ml_dtypes psutil cffi cuda-core
# JupyterLab refuses to run as root (a container's usual user) unless told.
ROOT_FLAG = $(if $(filter 0,$(shell id -u)),--allow-root)

.DEFAULT_GOAL := help
.PHONY: help lab notebooks test test-long test-all $(LONG:%=test-%) lint types format bench mutation conformance codegen torch hooks clean

help:
	@sed -n '/^$$/q; s/^# //p' Makefile

# FOLDER/.made: a virtual environment with pip in it, or a message that says what is missing.
%/.made:
	@test -n "$(PYTHON)" && $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
		echo "gpukit needs Python 3.10 or newer. On Debian: sudo apt-get install python3 python3-venv"; \
		echo "Another one can be named: make PYTHON=/path/to/python3.12"; exit 1; }
	@$(PYTHON) -m venv $* >$*.log 2>&1 && $*/bin/python -m pip --version >/dev/null 2>&1 || { \
		cat $*.log; rm -rf $* $*.log; echo; \
		echo "$(PYTHON) cannot make a virtual environment with pip in it."; \
		echo "On Debian and Ubuntu: sudo apt-get install python3-venv"; \
		echo "Then run make again."; exit 1; }
	@rm -f $*.log
	@touch $@

INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: \
	--constraint constraints.txt

$(LAB): $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing gpukit and JupyterLab into $(VENV): some minutes the first time"
	@$(INSTALL) --editable '.[lab,parallel]'
	@echo "Compiling the checker: about ten seconds on two cores, so that the first check in a lesson is quick"
	@$(BIN)/python -c "from gpukit.checked.engine import entries; entries.compile_all()"
	@touch $@

$(READY): $(LAB)
	@echo "Installing what the tests need"
	@$(INSTALL) --editable '.[lab,parallel,test,dev]'
	@touch $@

$(CONFORMANCE)/.ready: $(CONFORMANCE)/.made Makefile pyproject.toml
	@echo "Installing numba-cuda and what its tests need into $(CONFORMANCE)"
	@$(CONFORMANCE)/bin/python -m pip install --quiet --disable-pip-version-check \
		$(CONFORMANCE_NEEDS) --editable .
	@touch $@

$(CODEGEN)/.ready: $(CODEGEN)/.made pyproject.toml constraints.txt
	@echo "Installing NVIDIA's compilers into $(CODEGEN): 800 MB, a minute or two"
	@$(CODEGEN)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: \
		--constraint constraints.txt --editable '.[cuda13,test]'
	@touch $@

$(TORCH)/.ready: $(TORCH)/.made Makefile pyproject.toml constraints.txt
	@echo "Installing PyTorch into $(TORCH): 200 MB, or some GB where pip has no build for CPUs alone"
	@$(TORCH)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: \
		--constraint constraints.txt torch==2.13.0 --editable '.[test]'
	@touch $@

# What tests/classroom grades exports with; the tests are skipped without it.
$(GRADERS)/.ready: $(GRADERS)/.made Makefile pyproject.toml constraints.txt
	@echo "Installing nbgrader and otter-grader into $(GRADERS): 900 MB, a minute or two"
	@$(GRADERS)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: \
		--constraint constraints.txt nbgrader==0.9.6 otter-grader==7.0.0 --editable .
	@touch $@

# Lab gets a process group of its own (`set -m`), so that Ctrl-C ends Lab and not make. Its
# terminals have gpukit on their path.
lab: $(LAB)
	@if [ -n "$(PORT)" ] && ! [ "$(PORT)" -ge 1 -a "$(PORT)" -le 65535 ] 2>/dev/null; then \
		echo "make lab: expected PORT to be a number from 1 to 65535, got $(PORT)"; exit 2; fi
	@update=; if [ -f "$(WORKBOOK)/.gpukit-workbook.json" ]; then update=--update; fi; \
	$(BIN)/gpukit start --opened $$update "$(WORKBOOK)"
	@echo "Starting JupyterLab. To stop it, press Ctrl-C twice."
	@cd "$(WORKBOOK)" && export PATH="$(CURDIR)/$(BIN):$$PATH"; if [ -t 0 ]; then set -m; fi; \
	jupyter lab --config=lab.json $(ROOT_FLAG) $(if $(PORT),--port="$(PORT)")

notebooks: $(READY)
	$(BIN)/python -m pytest tests/notebooks -n $(JOBS) --dist loadgroup $(PYTEST_FLAGS)

PYTEST = $(BIN)/python -m pytest --ignore=tests/notebooks -n $(JOBS) $(PYTEST_FLAGS)
space := $(subst ,, )
ANY_LONG := $(subst $(space), or ,$(LONG))

test: $(READY)
	$(PYTEST) --dist worksteal -m "not ($(ANY_LONG) or exhaustive)"

test-long: $(READY)
	$(PYTEST) --dist worksteal -m "($(ANY_LONG)) and not exhaustive"

test-all: $(READY)
	$(PYTEST) --dist worksteal

$(LONG:%=test-%): $(READY)
	$(PYTEST) --dist worksteal -m "$(@:test-%=%)"

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/gpukit bench

mutation: $(READY)
	$(BIN)/python -m benchmarks.mutation.run --write

conformance: $(CONFORMANCE)/.ready
	$(CONFORMANCE)/bin/python -m benchmarks.conformance

codegen: $(CODEGEN)/.ready
	$(CODEGEN)/bin/python -m pytest tests/gpu_code tests/bench/test_codegen.py \
		tests/primitives tests/gpu -m compilers -n $(JOBS) --dist loadfile $(PYTEST_FLAGS)
	$(CODEGEN)/bin/gpukit codegen $(ARCH:%=--arch %)

torch: $(TORCH)/.ready
	$(TORCH)/bin/python -m pytest tests/against_torch -n $(JOBS) --dist loadfile $(PYTEST_FLAGS)

hooks: $(READY)
	$(BIN)/pre-commit install

# Answers, grades, notebooks, workbooks and checkpoints of trainings are the reader's: they stay.
clean:
	@test ! -x $(BIN)/gpukit || $(BIN)/gpukit doctor --clear || true
	rm -rf $(VENV) $(CONFORMANCE) $(CODEGEN) $(TORCH) $(GRADERS) .venv*.log .venv-*.txt
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis .benchmarks build dist *.egg-info
	find $(wildcard benchmarks exercises gpukit notebooks tests) /dev/null -type d \
		\( -name __pycache__ -o -name .ipynb_checkpoints \) -prune -exec rm -rf {} +
	@echo "Your answers (exercises/*/*/answer*.py) and grades (exercises/.progress.json) are still there."
