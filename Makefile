# Each target does all its own set-up in .venv, on a machine that has python3 (3.11 or newer) and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
RESIT := $(BIN)/resit
SHELL := /bin/bash

.DEFAULT_GOAL := help
.PHONY: help demo test check check-slow lint types docs screenshots pictures bench format clean

help: ## Show what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

demo: $(STAMPS)/demo ## Compare published figures, and build a test set of digits with simulated people, offline
	$(RESIT) compare --published imagenetv2 -o demo-report/imagenetv2
	$(RESIT) compare --published cifar10.1 -o demo-report/cifar10.1
	rm -rf demo-report/digits
	$(RESIT) build simulate demo-report/digits

# All extras, torch among them, take gigabytes: without RESIT_REQUIRE_ALL=1 the tests of those that are missing are skipped.
TESTS := $(if $(filter 1,$(RESIT_REQUIRE_ALL)),$(STAMPS)/test-all,$(STAMPS)/test)

test: $(TESTS) ## Set up what the tests need, and pass them (RESIT_REQUIRE_ALL=1: with all extras)
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder -m "not slow"

check: lint types docs ## Everything that is checked without running the tests

lint: $(STAMPS)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMPS)/dev
	$(BIN)/mypy

docs: $(STAMPS)/docs ## Build the documentation, strictly, into docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -n -q -b html docs docs/_build/html

screenshots: $(STAMPS)/test ## Take the pictures of the web pages that the documentation shows (needs chromium)
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[web]'
	$(BIN)/python docs/screenshots.py

pictures: $(STAMPS)/test-all ## Draw the pictures of the hypotheses that the documentation shows
	$(BIN)/python docs/pictures.py

check-slow: $(STAMPS)/test-all ## The slow tests: coverage of intervals by simulation and other long runs
	$(BIN)/python -m pytest -n auto -m slow

bench: $(STAMPS)/test-all ## Measure speed and memory, as ratios within one run
	$(BIN)/python benchmarks/run.py

format: $(STAMPS)/dev ## Put the source in its one format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## Remove what the other targets made, except reports
	rm -rf $(VENV) docs/_build docs/reference/generated dist build .mypy_cache .ruff_cache .pytest_cache

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "resit needs Python 3.11 or newer: make PYTHON=python3.12 …" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(STAMPS)/demo $(STAMPS)/test $(STAMPS)/test-all $(STAMPS)/dev $(STAMPS)/docs: $(STAMPS)/%: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[$*]'
	@mkdir -p $(STAMPS) && touch $@
