# Two commands are all a newcomer needs: `make demo` and `make test`. Each makes its own environment in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check fuzz theory queries tables site clean

demo: $(VENV)/.demo  ## explain one real declined mortgage application
	@$(BIN)/flipset demo
	@echo "(The command is $(BIN)/flipset; to call it by its name: . $(BIN)/activate)"

test: check  ## lint, format, types, tests, documentation examples
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not campaign"

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

fuzz: $(VENV)/.dev  ## the long seeded campaigns against exhaustive enumeration
	$(BIN)/python -m pytest -q -n auto -m campaign

theory: $(VENV)/.dev  ## measure the paper's bounds and draw the figure of docs/theory.md
	$(BIN)/python -m benchmarks.theory

queries: $(VENV)/.dev  ## count questions and rounds, and write docs/queries.md
	$(BIN)/python -m benchmarks.queries

tables: $(VENV)/.dev  ## measure how fast tables are explained, and write docs/tables.md
	$(BIN)/python -m benchmarks.tables

site: $(VENV)/.dev  ## build the documentation into site/
	$(BIN)/zensical build --strict --config-file mkdocs.yml

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

# A stamp is newer than pyproject.toml exactly when the environment holds what it asks for.
$(VENV)/bin/python:
	@echo "Making the environment in $(VENV) (once)..."
	@$(PYTHON) -c 'import sys; sys.exit("flipset needs Python 3.11 or later; try: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.%: $(VENV)/bin/python pyproject.toml
	@echo "Installing flipset[$*] (once)..."
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@
