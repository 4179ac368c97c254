# Every step is defined here once; nox sessions and .ci/run call these targets.
# `make help` lists them. A fresh machine needs make, Python 3.11 and a C++20 compiler.

VENV ?= .venv
PYTHON ?= python3
ARGS ?=
KILLS ?= 200
SIGNALS ?= 200
JOBS ?= $(shell nproc)
PRESET ?= release
MINUTES ?= 1
BASE ?= main

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
STEP := .ci/quietly
export PATH := $(abspath $(BIN)):$(PATH)
export PYTHON

# What the installed package is made of.
SOURCES := pyproject.toml $(wildcard README.md docs/man/*.1 cmake/*.py) LICENSE CMakeLists.txt $(shell find core bindings src -type f \
	-not -path 'core/tests/*' -not -path 'core/fuzz/*' -not -path '*/__pycache__/*')
CXX_FILES := $(shell find core bindings src/memgauge/include -name '*.[ch]' -o -name '*.[ch]pp')
SHELL_FILES := packaging/container/build.sh packaging/container/install.sh .ci/provide .ci/quietly .ci/run .ci/unpack_pcp tests/lab/guest.sh tests/lab/init benchmarks/gpu/run.sh
PYTHON_FILES := $(wildcard src tests benchmarks examples noxfile.py) $(wildcard .ci/*.py cmake/*.py)

.PHONY: help survey downloads test generated docs kills docs-test option-matrix lint ruff clang-format shellcheck clang-tidy clang-tidy-each types format core-test sanitize cross-test fuzz wheel dev clean
.DEFAULT_GOAL := help

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' Makefile | \
		while IFS='|' read -r name text; do printf '  make %-13s %s\n' "$$name" "$$text"; done

# ---- for everyone --------------------------------------------------------------------------

survey: $(VENV)/.installed ## measure this machine; options: ARGS="--budget 30s"
	@$(BIN)/memgauge survey $(ARGS)

# What steps want of the system, at once: two that run side by side cannot both install.
downloads:
	@.ci/provide cross fuzz
	@.ci/provide oracles && .ci/unpack_pcp

# pytest rewrites each test's assertions when it first imports it: once for all workers, while what
# the tests need is downloaded.
test: $(VENV)/.installed $(VENV)/.test ## the Python tests; one: ARGS=tests/unit/test_layers.py
	@$(BIN)/python -m pytest --collect-only --quiet $(ARGS) >/dev/null 2>&1 & \
		.ci/provide oracles && .ci/unpack_pcp; status=$$?; wait; exit $$status
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup --no-loadscope-reorder $(ARGS)

kills: $(VENV)/.installed $(VENV)/.test ## interrupt all commands at random: KILLS=500 SIGNALS=500 ARGS="--seed 1"
	@.ci/provide oracles
	@$(BIN)/python -m tests.kills --kills $(KILLS) --signals $(SIGNALS) $(ARGS)

docs-test: $(VENV)/.installed $(VENV)/.test ## every command of README and docs: passed, or skipped and why
	@.ci/provide oracles
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup -v -rs $(ARGS) \
		tests/integration/commands/test_documented_commands.py

option-matrix: export MEMGAUGE_OPTION_MATRIX = all
option-matrix: $(VENV)/.installed $(VENV)/.test ## all combinations of options, of which the tests take a sample
	@.ci/provide oracles
	@$(BIN)/python -m pytest -n $(JOBS) -v $(ARGS) tests/integration/commands/test_option_matrix.py

# ---- checks --------------------------------------------------------------------------------

lint: ruff clang-format shellcheck clang-tidy ## all of: ruff clang-format shellcheck clang-tidy

ruff: $(VENV)/.lint
	$(BIN)/ruff check --quiet $(PYTHON_FILES)
	$(BIN)/ruff format --check --quiet $(PYTHON_FILES)

clang-format: $(VENV)/.lint
	@echo "clang-format --dry-run -Werror core bindings src/memgauge/include"
	@$(BIN)/clang-format --dry-run -Werror $(CXX_FILES)

shellcheck:
	@.ci/provide lint
	shellcheck $(SHELL_FILES)

# Most of the time went into the same headers for each file: they are read for several files at once,
# as those are compiled. A header that a file forgets to include is found where it is read by itself,
# as files are that were changed. Files of other architectures are not compiled here.
TIDY = xargs -r -P $(JOBS) -n 1 $(BIN)/clang-tidy --quiet \
	--removed-arg=-fno-tree-loop-distribute-patterns --removed-arg=-fpch-preprocess \
	--removed-arg=-Wno-subobject-linkage

clang-tidy: $(VENV)/.lint build/lint-together/compile_commands.json build/lint/compile_commands.json
	@echo "clang-tidy core/src"
	@sed -n 's|.*"file": "\(.*/Unity/.*\)".*|\1|p; s|.*"file": "\(.*/core/src/.*\)".*|\1|p' \
		build/lint-together/compile_commands.json | \
		$(TIDY) -p build/lint-together --checks=-bugprone-suspicious-include
	@git diff --name-only --diff-filter=d "$$(git merge-base HEAD $(BASE) 2>/dev/null)" \
		-- 'core/src/*.cpp' 2>/dev/null | while read -r changed; do \
			grep -o "$(CURDIR)/$$changed" build/lint/compile_commands.json | head -n 1; done | \
		$(TIDY) -p build/lint

clang-tidy-each: $(VENV)/.lint build/lint/compile_commands.json ## clang-tidy of each file by itself
	@sed -n 's|.*"file": "\(.*/core/src/.*\)".*|\1|p' build/lint/compile_commands.json | \
		$(TIDY) -p build/lint

format: $(VENV)/.lint ## rewrite the code as lint wants it
	$(BIN)/ruff check --fix $(PYTHON_FILES)
	$(BIN)/ruff format $(PYTHON_FILES)
	$(BIN)/clang-format -i $(CXX_FILES)

generated: $(VENV)/.installed ## write man pages and the stub of the package again, from the declared options
	@$(BIN)/python .ci/man_pages.py docs/man
	@$(BIN)/python .ci/stub.py src/memgauge/__init__.pyi

docs: $(VENV)/.installed $(VENV)/.docs ## the documentation as a site in build/docs/html, without a network
	@mkdir -p build/docs
	@$(BIN)/python .ci/commands_page.py > build/docs/commands.inc
	@$(BIN)/python .ci/gallery.py build/docs/extra/gallery > build/docs/gallery.inc
	@$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -d build/docs/cache docs build/docs/html
	@echo "build/docs/html/index.html"

types: $(VENV)/.installed $(VENV)/.dev ## strict mypy
	$(BIN)/mypy

core-test: $(VENV)/.tools ## the C++ tests; PRESET=debug or another, ARGS="-R buffer"
	@.ci/provide compiler core
	@cmake --preset $(PRESET) >/dev/null
	@cmake --build --preset $(PRESET) -j $(JOBS) -- --quiet
	@ctest --preset $(PRESET) -j $(JOBS) $(ARGS)

sanitize: ## the C++ tests under address, undefined-behaviour and thread sanitizers
	@$(MAKE) --no-print-directory core-test PRESET=asan-ubsan
	@$(MAKE) --no-print-directory core-test PRESET=tsan

cross-test: ## the C++ tests of aarch64 and ppc64le under qemu-user
	@.ci/provide cross
	@$(MAKE) --no-print-directory core-test PRESET=aarch64
	@$(MAKE) --no-print-directory core-test PRESET=ppc64le

fuzz: $(VENV)/.installed $(VENV)/.test $(VENV)/.fuzz ## every reader fuzzed; MINUTES=60 each, ARGS="texts events": some
	@.ci/provide fuzz
	@$(STEP) "fuzz targets of the core" sh -c 'cmake --preset fuzz && cmake --build --preset fuzz -j $(JOBS)'
	@$(BIN)/python -m tests.fuzz.campaign --minutes $(MINUTES) --jobs $(JOBS) $(ARGS)

# Built beneath build/ and with the warnings of `core-test`, so that ccache knows the objects again.
wheel: $(VENV)/.dev ## source archive and wheel in dist/, checked
	@.ci/provide compiler
	@rm -rf dist build/wheel $(VENV)/.wheel
	@mkdir -p build/wheel
	@TMPDIR=$(abspath build/wheel) $(STEP) "source archive and, from it, the wheel" \
		$(BIN)/python -m build --config-setting=cmake.define.MEMGAUGE_WERROR=ON
	@$(BIN)/python .ci/check_wheel.py dist
	@touch $(VENV)/.wheel

# ---- set-up --------------------------------------------------------------------------------

dev: $(VENV)/.dev ## install so that imports follow the tree and rebuild the core
	@touch $(VENV)/.editable
	@rm -f $(VENV)/.installed
	@$(MAKE) --no-print-directory $(VENV)/.installed
	@echo "now: . $(BIN)/activate" >&2

clean: ## remove what was built, and the virtual environment
	rm -rf build dist $(VENV) src/memgauge/_core.pyi

$(VENV)/.made:
	@.ci/provide python
	@$(STEP) "virtual environment in $(VENV)" $(PYTHON) -m venv --clear $(VENV)
	@$(STEP) "pip" $(PIP) 'pip>=25.1'
	@touch $@

$(VENV)/.tools: pyproject.toml $(VENV)/.made
	@$(STEP) "build tools" $(PIP) --group build
	@touch $@

# From the wheel in dist/ where `make wheel` made it, in this environment, of the sources as they
# are: that saves compiling them again. pip takes a wheel of the same version for the one installed.
$(VENV)/.installed: $(SOURCES) $(VENV)/.tools
	@.ci/provide compiler
	@if [ -e $(VENV)/.wheel ] && [ ! -e $(VENV)/.editable ] && [ -e dist ] && \
		[ -z "$$(find $(SOURCES) -newer dist/*.tar.gz)" ]; then \
		$(STEP) "memgauge, from dist/" $(PIP) dist/*.whl && \
		$(PIP) --force-reinstall --no-deps dist/*.whl; \
	else \
		$(STEP) "memgauge" $(PIP) --no-build-isolation $(if $(wildcard $(VENV)/.editable),--editable) .; \
	fi
	@touch $@

$(VENV)/.test: pyproject.toml $(VENV)/.made
	@$(STEP) "test tools" $(PIP) --group test
	@touch $@

$(VENV)/.docs: pyproject.toml $(VENV)/.made
	@$(STEP) "documentation tools" $(PIP) --group docs
	@touch $@

$(VENV)/.fuzz: pyproject.toml $(VENV)/.made
	@$(STEP) "fuzz tools" $(PIP) --group fuzz
	@touch $@

$(VENV)/.lint: pyproject.toml $(VENV)/.made
	@$(STEP) "lint tools" $(PIP) --group lint
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.tools $(VENV)/.test $(VENV)/.lint
	@$(STEP) "developer tools" $(PIP) --group dev
	@touch $@

build/lint/compile_commands.json build/lint-together/compile_commands.json: \
		$(filter %CMakeLists.txt %.cmake %.cpp,$(SOURCES)) $(VENV)/.tools
	@.ci/provide compiler core
	@cmake --preset $(notdir $(@D)) >/dev/null
	@touch $@
