# Everything runs in .venv, which the targets make for themselves from requirements.lock; nothing global changes.
# Needs make, Python >= 3.11 and its pip.

VENV  := .venv
RUN   := $(VENV)/bin/python -m
STAMP := $(VENV)/made-for
# The parts that must be covered to the last line and branch; commas between, as coverage wants them.
CORE  := */btai/model/*,*/btai/inference/*,*/btai/engine/*,*/btai/planning/*,*/btai/agents/*

# Only this folder and .venv are imported from, whatever the caller's shell says.
unexport PYTHONPATH PYTHONHOME

.DEFAULT_GOAL := help
.PHONY: help setup demo extras test test-all mutants check types docs pictures notebook bench results fmt dist test-wheel lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

setup: $(STAMP) ## make .venv or bring it up to date (the other targets do so themselves)

demo: $(STAMP) ## repeat the paper's tables in brief
	@$(VENV)/bin/btai reproduce --quick

PYTEST   := pytest --numprocesses=auto --maxprocesses=8 --cov --cov-report=
COVERAGE := coverage report --include='$(CORE)' --fail-under=100

test: $(STAMP) ## run the tests but for the slow ones; the core must be covered to the last line and branch
	@$(RUN) $(PYTEST) -m 'not slow'
	@$(RUN) $(COVERAGE)

test-all: $(STAMP) ## run all tests, as .ci/run does
	@$(RUN) $(PYTEST) -m 'not alone'
	@$(RUN) $(COVERAGE)
	@$(RUN) pytest --quiet -m alone

extras: $(STAMP) ## add pymdp, Ray and PyArrow, 1 GB, to .venv: without them the tests that need them are left out
	@$(RUN) pip install --quiet --disable-pip-version-check --requirement requirements-extras.lock

check: $(STAMP) ## formatting, lint, types and the directions of the imports
	@$(RUN) ruff format --check
	@$(RUN) ruff check
	@$(RUN) mypy
	@$(RUN) pytest --quiet tests/test_architecture.py
	@$(MAKE) --no-print-directory types

# The tools come from npm, at the versions and hashes of tools/package-lock.json; none of their scripts is run.
TOOLS := tools/node_modules/.package-lock.json

ifneq ($(shell command -v npm 2>/dev/null),)
types: $(TOOLS) ## the types of the inspector's page alone, which `check` checks where there is Node
	@tools/node_modules/.bin/tsc --project tools/tsconfig.json
else
types:
	@echo "THE TYPES OF THE INSPECTOR'S PAGE ARE NOT CHECKED: no npm was found. On Debian: apt-get install npm" >&2
	@test -z "$$BTAI_NEEDS_NODE" # where it must be there, as in .ci/run
endif

$(TOOLS): tools/package.json tools/package-lock.json
	@npm --prefix tools ci --ignore-scripts --no-audit --no-fund --silent

docs: $(STAMP) ## build the documentation into docs/_build/html; a warning is an error
	@$(RUN) sphinx --builder html --fail-on-warning --keep-going --nitpicky --quiet docs docs/_build/html

pictures: $(STAMP) ## take the pictures of the documentation anew: look at them before they are committed
	@BTAI_PICTURES=docs/_static/inspector BTAI_NEEDS_CHROMIUM=1 $(RUN) pytest --quiet tests/browser/test_tour.py

notebook: $(STAMP) ## run the notebooks of examples/ anew, and keep their outputs in them
	@$(RUN) ruff format --quiet examples
	@$(VENV)/bin/python docs/notebooks.py

mutants: $(STAMP) ## break the code on purpose and list what no test notices: IN="src/btai/engine ..." MOST=40
	@$(VENV)/bin/python tools/mutants.py $(if $(MOST),--most $(MOST)) $(or $(IN),$(addprefix src/btai/,model inference planning engine))

bench: $(STAMP) ## measure speed and memory; QUICK=1 only shows that the measuring works
	@$(RUN) benchmarks $(if $(QUICK),quick)

RESULTS := benchmarks/results

results: bench ## measure all that the page of results shows: bench, and the paper's tables in full; on a quiet machine
	@rm -rf $(RESULTS)/runs
	@$(VENV)/bin/btai reproduce --folder $(RESULTS)/runs --figure $(RESULTS)/reproduce.png --markdown > $(RESULTS)/runs.md
	@mv $(RESULTS)/runs.md $(RESULTS)/reproduce.md

fmt: $(STAMP) ## format the code and mend what the linter can
	@$(RUN) ruff check --fix-only
	@$(RUN) ruff format

dist: $(STAMP) ## build the source archive and the wheel into dist/
	@rm -rf dist
	@$(RUN) build --no-isolation

# The tests are those of the source archive, so that they find nothing else of this folder.
WHEEL := .wheel

test-wheel: dist ## install the wheel and test it out of reach of src/, but for the slow tests; any Python: PYTHON=...
	@rm -rf $(WHEEL)
	@mkdir $(WHEEL)
	@tar --extract --file dist/*.tar.gz --strip-components 1 --directory $(WHEEL)
	@rm -r $(WHEEL)/src
	@$(FIND_PYTHON); $$python -m venv $(WHEEL)/.venv
	@cd $(WHEEL) && .venv/bin/pip install --quiet --disable-pip-version-check --only-binary :all: \
	    --requirement requirements.lock ../dist/*.whl
	@cd $(WHEEL) && BTAI_NEEDS_EXTRAS= .venv/bin/python -m pytest --numprocesses=auto --maxprocesses=8 -m 'not slow' $(TESTS)

lock: ## renew requirements.lock with the newest versions that the oldest supported Python can use
	@python3.11 -m venv --clear $(VENV)
	@$(RUN) pip install --quiet --disable-pip-version-check '.[dev,docs]'
	@{ echo '# The exact versions that were tested; `make lock` renews them, no other hand does.'; \
	   $(RUN) pip freeze --exclude btai; } > requirements.lock
	@$(RUN) pip install --quiet --disable-pip-version-check --constraint requirements.lock '.[pymdp,ray,parquet]'
	@{ echo '# What the extras `pymdp`, `ray` and `parquet` add to requirements.lock; made by `make lock` too.'; \
	   $(RUN) pip freeze --exclude btai | grep --invert-match --line-regexp --fixed-strings --file requirements.lock; \
	 } > requirements-extras.lock

clean: ## remove .venv and everything else that was made
	@rm -rf $(VENV) $(WHEEL) tools/node_modules dist docs/_build docs/_made htmlcov .coverage* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp holds the folder it was made for: a virtual environment that was copied or moved still points to
# the old place, and one without a stamp is half made. Both are made anew.
ifneq ($(shell cat $(STAMP) 2>/dev/null),$(CURDIR))
.PHONY: $(STAMP)
VENV_OPTIONS := --clear
endif

PYTHONS := $(or $(PYTHON),python3.13 python3.12 python3.11 python3)

define FIND_PYTHON
for python in $(PYTHONS); do \
    $$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; \
    python=; \
done; \
if [ -z "$$python" ]; then \
    echo 'btai needs Python 3.11 or newer with its venv module (on Debian: python3-venv), and found none' \
         'among: $(PYTHONS). Install one, or name yours: make PYTHON=/path/to/python3' >&2; \
    exit 1; \
fi
endef

$(STAMP): pyproject.toml requirements.lock
	@$(FIND_PYTHON); \
	echo "Setting up $(VENV) with $$($$python --version) and the packages of requirements.lock ..."; \
	$$python -m venv $(VENV_OPTIONS) $(VENV)
	@$(RUN) pip install --quiet --disable-pip-version-check --requirement requirements.lock
	@$(RUN) pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@echo '$(CURDIR)' > $(STAMP)
