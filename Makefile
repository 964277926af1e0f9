# Siding. `make help` lists what can be made.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV = .venv/bin
ARGS ?=
PARALLEL = --numprocesses=2 --dist=worksteal
# Fast tests wait for servers a third of their time; so three processes on two cores.
PARALLEL_FAST = --numprocesses=3 --dist=worksteal
# Assertions that pytest has rewritten once are kept for the next run, also where the environment says otherwise: 4 s per process.
TESTS = env -u PYTHONDONTWRITEBYTECODE $(VENV)/python -m tests
.DEFAULT_GOAL := help

help: ## this list
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo '  ARGS="…"          is passed on to test, fast, mutants and screenshots;  PYTHON=…  chooses the interpreter'

setup: ## makes .venv from requirements.lock; needs only Python 3.11 (the other targets call it)
	@test -n "$(PYTHON)" || { echo "No python3.11 or python3 on the PATH: install Python 3.11, or set PYTHON=/path/to/python"; exit 1; }
	@$(PYTHON) bin/setup

demo: setup ## PostgreSQL, Redis, Kafka, Siding and a sample service; prints the URL. CHECK=1 runs the whole story and checks it
	@exec $(VENV)/python -m console.demo $(if $(CHECK),--check)

servers: setup ## only PostgreSQL, Redis and Kafka, for development; prints their addresses
	@exec $(VENV)/python -m console.embedded

test: setup ## all tests, on real servers and both cores. ARGS="tests/parking -k intake" chooses, in one process
	@exec $(TESTS) $(if $(findstring tests/,$(ARGS)),,$(PARALLEL)) $(ARGS)

fast: setup ## the tests that are not marked slow, in about three minutes: every module's core, before each commit
	@exec $(TESTS) $(PARALLEL_FAST) -m "not slow" $(ARGS)

check: lint types layers migrations templates dependencies ## all of these: lint, types, layers, migrations, templates, dependencies

lint: setup
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .

types: setup
	$(VENV)/mypy .

layers: setup
	$(VENV)/lint-imports --no-logo

migrations: setup
	$(VENV)/python -W ignore manage.py makemigrations --check --dry-run
	$(VENV)/python manage.py check --offline --fail-level WARNING

templates: setup
	find templates -name '*.html' -print0 | xargs -0r $(VENV)/djade --check --target-version 5.2
	$(VENV)/python -m tests.templates

dependencies: setup
	$(VENV)/deptry .

bench-intake: setup ## how fast intake is, on Apache Kafka and PostgreSQL; QUICK=1: a tenth of the records, under two minutes
	@exec $(VENV)/python -m tests.benchmarks.intake $(if $(QUICK),--quick)

bench-consumer: setup ## what the consumer kit costs per event, on Apache Kafka; QUICK=1: a tenth of the events
	@exec $(VENV)/python -m tests.benchmarks.consumer

mutants: setup ## breaks the code behind each guarantee and shows that its test fails
	@exec $(VENV)/python -m tests.mutants $(ARGS)

chaos: setup ## kills processes and servers at random under load, then proves that nothing was lost, doubled or overtaken. CHAOS_MINUTES=3
	@exec $(VENV)/python -m tests.chaos

guarantees: setup ## writes the table of docs/guarantees.md from tests/mutants/
	@exec $(VENV)/python -m tests.mutants.table

settings: setup ## writes .env.example and docs/settings.md from console/environment.py
	@exec $(VENV)/python -m console.variables

screenshots: setup ## every page, light and dark, wide and narrow, into screenshots/
	@exec $(VENV)/python -m tests.screenshots $(ARGS)

format: setup ## puts Python and templates into shape
	@$(VENV)/ruff check --quiet --fix . || true
	@$(VENV)/ruff format --quiet .
	@find templates -name '*.html' -print0 | xargs -0r $(VENV)/djade --target-version 5.2 || true

lock: setup ## writes requirements.lock anew from pyproject.toml
	@$(VENV)/python -m pip install --quiet --disable-pip-version-check uv
	@$(VENV)/uv pip compile --quiet --upgrade --universal --generate-hashes --python-version 3.11 --all-extras \
		--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" -o requirements.lock pyproject.toml
	@$(VENV)/python -m console.embedded.lock

clean: ## removes .venv and everything that the demo and the tests left here
	@rm -rf .venv .demo .pytest_cache .mypy_cache .ruff_cache .hypothesis screenshots test-results

.PHONY: help setup demo servers test fast check lint types layers migrations templates dependencies bench-intake bench-consumer mutants chaos guarantees settings screenshots format lock clean
