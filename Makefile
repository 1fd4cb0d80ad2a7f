# Every target sets up what it needs: a virtual environment, packages, node for the scripts, Chromium for the pages.
PYTHON ?= python3
PORT ?= 8501
WORKERS ?= 2
N ?= 400
SEED ?= 0
CORPUS ?= $(BARTVIZ_CORPUS)
VENV := .venv
BIN := $(VENV)/bin
export PYTHONUTF8 = 1
# Empty: what is compiled is kept, whatever the environment says. Tests start dozens of Pythons.
export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.PHONY: help run quick test thorough check format lock bench load fuzz pictures docs evaluate records atlases dist installed copies clean

help: ## Show what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

run: $(VENV)/.app ## Set everything up and serve the app on 127.0.0.1 (PORT=8501)
	@$(BIN)/python -m bartviz app --port $(PORT) $(ARGS)

test: $(VENV)/.dev $(VENV)/.node $(VENV)/.browser ## Set everything up and run the tests, a real browser included
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --durations=20 -m "not thorough" $(ARGS)

thorough: $(VENV)/.dev $(VENV)/.node $(VENV)/.browser ## Run all tests: also every page, family and size, and what takes long
	BARTVIZ_CORPUS="$(CORPUS)" OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --durations=20 --hypothesis-profile=thorough $(ARGS)

quick: $(VENV)/.dev ## Run the tests that need neither a browser nor long
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m "not browser and not slow and not thorough" $(ARGS)

check: $(VENV)/.dev $(VENV)/.node ## Check style, types, imports between folders, translations of prose, the scripts and the lock files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m scripts.layers
	$(BIN)/python -m scripts.prose
	$(BIN)/python -m scripts.node run --silent check
	$(BIN)/python -m scripts.lock --check

format: $(VENV)/.dev $(VENV)/.node ## Format Python and the scripts
	$(BIN)/ruff check --fix --select I .
	$(BIN)/ruff format .
	$(BIN)/python -m scripts.node run --silent format

lock: $(BIN)/uv ## Renew the lock files from pyproject.toml (ARGS=--upgrade takes the newest versions)
	$(BIN)/python -m scripts.lock $(ARGS)

bench: $(VENV)/.dev $(VENV)/.browser ## Measure everything beside the peers in one run, and write benchmarks/RESULTS.md (ARGS=capture: one part)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks $(ARGS)

load: $(VENV)/.dev ## Measure how many visitors one server carries (ARGS="start paced burst heavy slam soak --minutes 2")
	$(BIN)/python -m benchmarks.load $(ARGS)

fuzz: $(VENV)/.dev ## Spoil files and addresses and see that only our own errors come out (N=2000 SEED=0 ARGS=records)
	nice -n 15 $(BIN)/python -m tests.fuzz --n $(N) --seed $(SEED) $(ARGS)

pictures: $(VENV)/.dev $(VENV)/.browser ## Make the README's pictures from the running app
	$(BIN)/python -m scripts.pictures

docs: $(VENV)/.dev ## Build the documentation site in build/docs/html (ARGS=--fast leaves out what notebooks draw)
	$(BIN)/python -m scripts.site $(ARGS)

evaluate: $(VENV)/.dev ## Measure the models that ship (CORPUS=folder with the data)
	$(BIN)/python -m training.evaluate --corpus "$(CORPUS)" $(ARGS)

records: $(VENV)/.dev ## Make the saved records and numbers that the start page, the lessons and the textbook show
	$(BIN)/python -m training.records
	$(BIN)/python -m training.judged
	$(BIN)/python -m training.measured

atlases: $(VENV)/.dev ## Measure every head of the shipped models over sentences held out (CORPUS=folder with the data)
	$(BIN)/python -m training.atlases --corpus "$(CORPUS)"

dist: $(VENV)/.dev ## Build the source archive and the wheel in dist/
	rm -rf dist
	$(BIN)/python -m build --no-isolation

installed: dist $(VENV)/.browser ## Install the wheel in empty environments, five ways, and use it (ARGS="library app corpus notebook ray"; needs an index)
	$(BIN)/python -m scripts.installed $(ARGS)

copies: $(VENV)/.dev $(VENV)/.browser ## Serve copies of the app behind Caddy and visit them in a browser (ARGS="plain tls"; needs caddy)
	$(BIN)/python -m scripts.copies $(ARGS)

clean: ## Remove the virtual environment, every cache and what was built
	rm -rf $(VENV) scripts/js/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
	find . -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/bin/python:
	PYTHON="$(PYTHON)" sh scripts/environment.sh $(VENV)

# Everything but torch is installed from files whose hashes are known; then torch, in the build that the index has.
$(VENV)/.app: scripts/requirements.lock requirements.txt pyproject.toml | $(VENV)/bin/python
	sed '/^# For developers/,$$d' scripts/requirements.lock >$(VENV)/app.lock
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps -r $(VENV)/app.lock
	$(BIN)/python -m pip install --quiet -r requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.app
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps -r scripts/requirements.lock
	@touch $@

# What checks the scripts; node and npm themselves come with the packages for developers.
$(VENV)/.node: scripts/js/package.json scripts/js/package-lock.json $(VENV)/.dev
	$(BIN)/python -m scripts.node ci --no-audit --no-fund --loglevel=error
	@touch $@

$(BIN)/uv: | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet "uv>=0.13,<1" packaging

$(VENV)/.browser: scripts/browser.sh | $(VENV)/bin/python
	sh scripts/browser.sh
	@touch $@
