# Two commands are all a newcomer needs: `make demo` and `make test`. Each makes its own environment in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SERVERS := .venv-servers
PEERS := .venv-peers

.PHONY: demo test test-all check fuzz theory queries listing rules tables values peers memory bill endpoint clusters engines architecture site clean

demo: $(VENV)/.demo  ## explain one real declined mortgage application
	@$(BIN)/flipset demo
	@echo "(The command is $(BIN)/flipset; to call it by its name: . $(BIN)/activate)"

test: check  ## lint, format, types, tests, documentation examples
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not campaign and not clusters"

test-all: test $(VENV)/.clusters $(SERVERS)/.installed  ## and with real servers, Spark (which needs Java 17) and Dask
	$(BIN)/python -m pytest -q -m clusters tests

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

listing: $(VENV)/.dev  ## measure too many flip sets against ball search, and write docs/listing.md
	$(BIN)/python -m benchmarks.listing

rules: $(VENV)/.dev  ## measure what rules between columns cost, on tables in a folder DATA, and write docs/rules.md
	$(BIN)/python -m benchmarks.rules --data "$(DATA)"

tables: $(VENV)/.dev  ## measure how fast tables are explained, and write docs/tables.md
	$(BIN)/python -m benchmarks.tables $(if $(DATA),--data "$(DATA)")

peers: $(PEERS)/.installed  ## compare with other tools, and write docs/peers.md
	$(PEERS)/bin/python -m benchmarks.peers $(if $(DATA),--data "$(DATA)")

values: $(VENV)/.dev  ## measure what values take beside the sets, and write docs/values.md (DATA=... adds tables)
	$(BIN)/python -m benchmarks.values $(if $(DATA),--data "$(DATA)")

memory: $(VENV)/.dev  ## measure how much memory tables take, and write it into docs/reliability.md
	$(BIN)/python -m benchmarks.memory

bill: $(VENV)/.dev  ## check predictions of --estimate, count answers that follow (DATA=folder), and write docs/bill.md
	$(BIN)/python -m benchmarks.bill $(if $(DATA),--data $(DATA))

endpoint: $(VENV)/.dev  ## measure what an endpoint 20 ms away costs, and write docs/endpoint.md
	$(BIN)/python -m benchmarks.endpoint

clusters: $(VENV)/.clusters  ## count rows a second in Spark and Dask, and write docs/clusters.md (half an hour)
	$(BIN)/python -m benchmarks.clusters

engines: clusters  # the name before

architecture: $(VENV)/.dev  ## draw the rooms and their imports for docs/architecture.md
	$(BIN)/python -m benchmarks.architecture

site: $(VENV)/.dev  ## build the documentation into site/
	$(BIN)/zensical build --strict --config-file mkdocs.yml

clean:
	rm -rf $(VENV) $(SERVERS) $(PEERS) .mypy_cache .ruff_cache .pytest_cache .hypothesis

# A stamp is newer than pyproject.toml exactly when the environment holds what it asks for.
$(VENV)/bin/python:
	@echo "Making the environment in $(VENV) (once)..."
	@$(PYTHON) -c 'import sys; sys.exit("flipset needs Python 3.11 or later; try: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.%: $(VENV)/bin/python pyproject.toml
	@echo "Installing flipset[$*] (once)..."
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@

# Servers have their own environment: they ask for other versions than we do. What they serve is fitted with ours.
$(SERVERS)/.installed: $(VENV)/.dev
	@echo "Installing model servers in $(SERVERS) (once)..."
	@$(PYTHON) -m venv $(SERVERS)
	@$(SERVERS)/bin/python -m pip install --quiet --quiet --disable-pip-version-check mlserver==1.7.1 \
		mlserver-sklearn==1.7.1 mlserver-lightgbm==1.7.1 "mlflow-skinny>=3.5,<3.18" "uvloop<0.22" \
		$$($(BIN)/python -m pip freeze | grep -iE '^(scikit-learn|lightgbm|numpy|pandas)==')
	@touch $@

# The tools that flipset is compared with have their own environment: DiCE needs another build of XGBoost. NICE asks for
# old versions of NumPy and pandas, but runs with new ones.
$(PEERS)/.installed: pyproject.toml
	@echo "Installing other tools in $(PEERS) (once)..."
	@$(PYTHON) -m venv $(PEERS)
	@$(PEERS)/bin/python -m pip install --quiet --quiet --disable-pip-version-check --editable '.[demo,peers,tables]'
	@$(PEERS)/bin/python -m pip install --quiet --quiet --disable-pip-version-check --no-deps "NICEx>=0.2.3"
	@touch $@
