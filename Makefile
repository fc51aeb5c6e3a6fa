.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

help: ## Print this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

# torch goes first and alone: resolved together with verl, pip may prefer a several-GB CUDA build.
$(VENV)/.done: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet -e '.[rehearsal,dev]'
	@$(BIN)/npurun stacks fetch || true # without internet: said, and checks say what they could not look at
	@touch $@

setup: $(VENV)/.done ## Make .venv with .venv/bin/npurun

rehearse: setup ## Run the main job on this machine: 4 local Ray nodes, the real verl trainer on CPU
	$(BIN)/npurun rehearse qwen3_5_122b_a10b_32k

browser: ## Debian's Chromium, which opens npurun's pages in the tests
	@command -v chromium > /dev/null || { apt-get update -qq && apt-get install -y -qq chromium > /dev/null; }

test: setup browser ## Fast tests and one real case per mechanism (at most 15 minutes)
	$(BIN)/python -m pytest -n 2
	$(BIN)/python -m pytest -m real

proof: setup browser ## The longer cases on real clusters (at most 35 minutes)
	$(BIN)/python -m pytest -m proof

FAULTS ?= 10
SEED ?= $(shell echo $$RANDOM)
chaos: setup ## Faults in a random order against real runs: FAULTS=10 SEED=1 (at most 8 minutes)
	$(BIN)/python -m tests.chaos --faults $(FAULTS) --seed $(SEED)

lint: setup ## Format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: setup ## Write docs/checks.md, docs/reasons.md and docs/alerts.md from the tables that the code uses
	$(BIN)/python -m tests.make_checks_doc
	$(BIN)/python -m tests.make_reasons_doc
	$(BIN)/python -m tests.make_alerts_doc

bench: setup ## Print the measured figures side by side
	$(BIN)/python -m tests.bench
	$(BIN)/python -m tests.bench_diagnose
	$(BIN)/python -m tests.bench_ledger

.PHONY: help setup browser rehearse test proof chaos lint docs bench
