# make demo: see it work (no GPU). make test: all tests. make help: the rest.

VENV ?= .venv
BIN := $(VENV)/bin
PYTEST_FLAGS ?= -n 2 --dist loadfile
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints/core.txt

# The versions that constraints/core.txt is tested with; PYTHON=... overrides the choice.
CANDIDATES := python3 python3.13 python3.12 python3.11

.DEFAULT_GOAL := help
.PHONY: help demo test setup lint types format constraints clean

help:
	@echo "make demo         install into $(VENV), judge the example set, write out/demo/report.html"
	@echo "make test         install what tests need, run all tests"
	@echo "make setup        only install what tests need"
	@echo "make lint types   ruff, import floors; mypy --strict"
	@echo "make format       let ruff format the code"
	@echo "make constraints  write the versions in $(VENV) to constraints/core.txt"
	@echo "make clean        remove caches and outputs; keeps $(VENV)"
	@echo "Another Python: make test PYTHON=/usr/bin/python3.12"

demo: $(VENV)/.core
	$(BIN)/basanite embedded install
	rm -rf out/demo
	$(BIN)/basanite demo -o out/demo
	@test -f out/demo/report.html
	@echo "report: $(CURDIR)/out/demo/report.html"

test: setup
	@$(BIN)/basanite embedded install || echo "no embedded model: the tests that need it are skipped"
	$(BIN)/python -m pytest $(PYTEST_FLAGS)

setup: $(VENV)/.dev

lint: $(VENV)/.dev
	$(BIN)/ruff check src tests bench examples .ci
	$(BIN)/ruff format --check src tests bench examples .ci
	$(BIN)/lint-imports

types: $(VENV)/.dev
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix src tests bench examples .ci
	$(BIN)/ruff format src tests bench examples .ci

constraints: $(VENV)/.dev
	@{ echo "# Versions that are tested together, on Python 3.11 to 3.13."; \
	   echo "# Written by: make constraints"; \
	   $(BIN)/python -m pip --disable-pip-version-check freeze --exclude-editable \
	     | grep -v '^#' | LC_ALL=C sort -f; } > constraints/core.txt.new
	@mv constraints/core.txt.new constraints/core.txt

clean:
	rm -rf out build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find src tests bench examples -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: a second run installs nothing unless what is to be installed has changed.

$(VENV)/.core: pyproject.toml constraints/core.txt | $(BIN)/python
	@echo "installing basanite into $(VENV) (about a minute)"
	@$(PIP_INSTALL) -e '.[embedded]'
	@touch $@

# The list is read from pyproject.toml by hand: older pips know no --group.
$(VENV)/.dev: pyproject.toml constraints/core.txt | $(BIN)/python
	@echo "installing basanite and what its tests need into $(VENV) (a few minutes)"
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["dev"], sep="\n")' > $(VENV)/dev.txt
	@$(PIP_INSTALL) -e '.[all]' -r $(VENV)/dev.txt
	@touch $@ $(VENV)/.core

$(BIN)/python:
	@python="$(PYTHON)"; \
	if [ -z "$$python" ]; then \
	  for name in $(CANDIDATES); do \
	    if "$$name" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; \
	    then python="$$name"; break; fi; \
	  done; \
	fi; \
	if [ -z "$$python" ]; then \
	  echo "No Python 3.11, 3.12 or 3.13 found. On Debian or Ubuntu: apt-get install python3 python3-venv" >&2; \
	  echo "Or name one: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12" >&2; exit 1; \
	fi; \
	if ! "$$python" -c 'import ensurepip, venv' 2>/dev/null; then \
	  version=$$("$$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])') || exit 1; \
	  echo "$$python can't make virtual environments. On Debian or Ubuntu: apt-get install python$$version-venv" >&2; exit 1; \
	fi; \
	rm -rf "$(VENV)"; \
	"$$python" -m venv "$(VENV)"
