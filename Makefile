# `make serve` and `make test` do all the set-up they need; `make help` lists the rest.
#
#   PYTHON=python3.12 make setup         another interpreter (3.11 or later)
#   make serve ARGS="--port 9000"        flags for the server
#   make setup-cosyvoice TORCH=… TORCH_INDEX=…   another build of torch than the CPU's, for a GPU

SHELL := /bin/sh
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PROJECTS := pyproject.toml clients/python/pyproject.toml

PYTHON ?=
# Most tests wait for speech to be spoken, so more of them run than there are cores.
WORKERS ?= 4
ARGS ?=
# A plain torch from PyPI brings gigabytes of CUDA on Linux. The name with +cpu is only in torch's
# own index and its mirrors: where none can be reached this fails, and no other build comes instead.
TORCH ?= torch==2.13.0$(if $(filter Darwin,$(shell uname -s)),,+cpu)
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu

# The distribution's own python3 comes first: it is the one that python3-venv belongs to.
PYTHONS := $(if $(PYTHON),$(PYTHON),python3 python3.13 python3.12 python3.11)
CHROMIUMS := chromium chromium-browser google-chrome google-chrome-stable

.PHONY: help setup setup-dev setup-mandarin setup-cosyvoice serve test test-web lint bench constraints browser clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/.base ## the environment in .venv, with the server and the `cosystream` command

setup-dev: $(VENV)/.dev ## the same with the tools for tests and linting

setup-mandarin: $(VENV)/.mandarin ## a Mandarin voice, a preview (75 MB)

setup-cosyvoice: $(VENV)/.cosyvoice ## what the CosyVoice models need (torch for the CPU, or the one there)

serve: $(VENV)/.base ## the server and its page at http://127.0.0.1:8000
	@[ -e $(VENV)/.mandarin ] || echo "For a Mandarin voice (a preview): make setup-mandarin"
	@exec $(BIN)/python -m server $(ARGS)

# Hundreds of servers are started: each would compile all its modules where no bytecode is kept.
test: $(VENV)/.dev $(VENV)/.mandarin $(VENV)/.cosyvoice browser test-web ## every test
	PYTHONDONTWRITEBYTECODE= CHROMIUM="$${CHROMIUM:-$$(for name in $(CHROMIUMS); do command -v $$name && break; done)}" \
	  $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

lint: $(VENV)/.dev $(VENV)/.cosyvoice ## ruff, mypy, import contracts, links in the documents
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q tests/project/test_documents.py

bench: $(VENV)/.dev ## load on a server that runs: make bench ARGS="--sessions 50 --seconds 30"
	$(BIN)/python -m benchmarks.load $(ARGS)

clean: ## remove the environment and everything built
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	rm -rf clients/web/node_modules *.egg-info clients/python/src/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- the environment ----------------------------------------------------------------------

$(BIN)/python:
	@set -e; found=; \
	for python in $(PYTHONS); do \
	  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	  found=$$python; "$$python" -c 'import ensurepip, venv' 2>/dev/null && break; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "No Python 3.11 or later among: $(PYTHONS). Name one: PYTHON=/path/to/python make" >&2; exit 1; \
	fi; \
	if ! "$$found" -c 'import ensurepip, venv' 2>/dev/null; then \
	  package=$$("$$found" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'); \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "Installing $$package, which $$found lacks"; \
	    apt-get update -qq && apt-get install -qq -y --no-install-recommends $$package >/dev/null; \
	  else \
	    echo "$$found cannot make virtual environments. Run: sudo apt install $$package" >&2; exit 1; \
	  fi; \
	fi; \
	echo "Making $(VENV) with $$("$$found" --version)"; \
	"$$found" -m venv $(VENV)

# A stamp is older than what it was made from only after an edit: pip runs once.
$(VENV)/.base: $(PROJECTS) constraints.txt | $(BIN)/python
	@echo "Installing the server and its client into $(VENV)"
	@$(PIP) install -c constraints.txt -e . -e clients/python
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	@echo "Installing the tools for tests into $(VENV)"
	@$(PIP) install -c constraints.txt -e '.[dev]'
	@touch $@

$(VENV)/.mandarin: $(VENV)/.base
	@echo "Installing the Mandarin voice into $(VENV)"
	@$(PIP) install -c constraints.txt -e '.[mandarin]'
	@echo "Start the server again, then: $(BIN)/cosystream say --voice mandarin \"你好\" --out hello.wav"
	@touch $@

# A torch that is there stays, whatever build it is: it is named to pip with its exact version.
$(VENV)/.cosyvoice: $(VENV)/.base
	@set -e; \
	torch=$$($(BIN)/python -c 'import importlib.metadata as m; print(m.version("torch"))' 2>/dev/null) || torch=; \
	if [ -n "$$torch" ]; then \
	  echo "Keeping the torch $$torch that is in $(VENV)"; \
	else \
	  echo "Installing $(TORCH) into $(VENV) (the CPU's build has 200 MB, no CUDA;" \
	    "for another see TORCH in the Makefile)"; \
	  $(PIP) install --no-deps --timeout 15 --retries 1 \
	    --extra-index-url '$(TORCH_INDEX)' '$(TORCH)' || { \
	    echo "$(TORCH) could not be had from $(TORCH_INDEX). Where that is out of reach, name a" \
	      "mirror of it (TORCH_INDEX=…), or put a torch of 2.11 or later into $(VENV) yourself" >&2; \
	    exit 1; }; \
	  torch=$$($(BIN)/python -c 'import importlib.metadata as m; print(m.version("torch"))'); \
	fi; \
	echo "Installing what else the CosyVoice models need into $(VENV)"; \
	$(PIP) install -c constraints.txt "torch==$$torch" -e '.[cosyvoice]'
	@touch $@

constraints: ## pin the newest releases that pyproject.toml allows, from a new environment
	rm -rf build/constraints && $(firstword $(PYTHONS)) -m venv build/constraints
	build/constraints/bin/python -m pip --quiet install --extra-index-url '$(TORCH_INDEX)' '$(TORCH)'
	build/constraints/bin/python -m pip --quiet install -e '.[dev,mandarin,cosyvoice]' -e clients/python
	@{ sed -n '1,/^[^#]/ s/^#/#/p' constraints.txt; \
	  build/constraints/bin/python -m pip freeze --exclude-editable | while read -r pin; do \
	    case $$pin in \
	      torch==*|triton==*) ;; \
	      onnxruntime==*) sed -n '/Intel/p; /^onnxruntime.* == "x86_64"/p' constraints.txt; \
	        echo "$$pin; sys_platform != \"darwin\" or platform_machine != \"x86_64\"" ;; \
	      *) echo "$$pin" ;; \
	    esac; \
	  done; } >build/constraints.txt
	mv build/constraints.txt constraints.txt

# --- what the tests need beyond pip -------------------------------------------------------

browser:
	@if [ -n "$$CHROMIUM" ]; then exit 0; fi; \
	for name in $(CHROMIUMS); do command -v $$name >/dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing Chromium for the tests of the page"; \
	  apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium >/dev/null; \
	else \
	  echo "The tests of the page need Chromium: sudo apt install chromium," \
	    "or name one: CHROMIUM=/path/to/it make test" >&2; exit 1; \
	fi

test-web:
	@if [ ! -f clients/web/package.json ]; then exit 0; fi; \
	if ! command -v npm >/dev/null; then \
	  echo "LEFT OUT: the unit tests of clients/web, since there is no npm here" >&2; exit 0; \
	fi; \
	cd clients/web && npm ci --no-audit --no-fund --loglevel=error && npm run check && npm test
