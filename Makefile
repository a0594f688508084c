# Two commands set everything up on a machine with Python 3.11+, make and pip:
#   make demo   its own .venv from the core lock, then the main job on data it makes itself
#   make test   the same .venv with the test lock, then lint, types and tests
# PYTHON=python3.12 make …  chooses another interpreter.

PYTHON ?= python3
WORKERS ?= 2
BIN := .venv/bin
CORE := .venv/.core-stamp
TEST := .venv/.test-stamp
# What is imported here is imported by every later process; where Python is told to keep no byte code, each of them would
# translate it again, more than a second of a start.
KEEP_BYTE_CODE := env -u PYTHONDONTWRITEBYTECODE
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test tests test-slow lint format types docs pages bench dist lock clean java postgres chromium test-windows test-windows-long test-downloads windows

help:
	@echo "make demo       instala lo necesario y recorre celosia con datos de prueba · set up and walk through celosia"
	@echo "make test       estilo, tipos y pruebas · lint, types and tests"
	@echo "make test-slow  las pruebas largas · the long tests"
	@echo "make test-windows  con un Python para Windows, en Wine · with a Python for Windows, under Wine"
	@echo "make test-windows-long  allí mismo, la demostración y la página · there too, the demonstration and the page"
	@echo "make test-downloads  cada parte en un entorno propio · each part in an environment of its own"
	@echo "make lint | types | tests | format"
	@echo "make docs       la documentación en docs/site · the documentation in docs/site"
	@echo "make pages      regenera las páginas hechas desde el código · remake the pages made from the code"
	@echo "make bench      tiempos y memoria · times and memory"
	@echo "make dist       el paquete, el código fuente y la lista de componentes · wheel, sdist, bill of materials"
	@echo "make lock       recalcula requirements/*.lock · compile the locks again"
	@echo "make clean      borra entornos y resultados · remove environments and results"

# --- environments ---------------------------------------------------------------------------------

$(CORE): requirements/build.lock requirements/core.lock pyproject.toml scripts/environment
	scripts/environment "$(PYTHON)" .venv requirements/build.lock requirements/core.lock
	scripts/environment --editable "$(PYTHON)" .venv
	@echo "se compilan los núcleos de cálculo, una sola vez · the kernels are compiled, once"
	$(KEEP_BYTE_CODE) $(BIN)/python -c "from celosia.pipeline.project.progress import compile_kernels; compile_kernels()"
	touch $@

$(TEST): $(CORE) requirements/test.lock
	scripts/environment "$(PYTHON)" .venv requirements/test.lock
	touch $@

# Tools with pins of their own: docs, lock, and the peers that figures are compared with.
.venvs/%/.stamp: requirements/%.lock scripts/environment
	scripts/environment "$(PYTHON)" .venvs/$* requirements/$*.lock
	touch $@

# --- use ------------------------------------------------------------------------------------------

demo: $(CORE)
	rm -rf build/demo
	$(KEEP_BYTE_CODE) $(BIN)/celosia demo --into build/demo

# --- checks ---------------------------------------------------------------------------------------

test: lint types tests

lint: $(TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(TEST)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(TEST)
	$(BIN)/mypy
	$(BIN)/mypy --strict --follow-imports=silent examples

tests: $(TEST) java postgres chromium
	$(PYTEST) -m "not slow"

test-slow: $(TEST) java postgres chromium .venvs/pycanon/.stamp
	$(PYTEST) -m "slow and not downloads and not windows"

# What makes environments from the registries, each with one part of celosia alone: half an hour and some gigabytes.
test-downloads: $(TEST) windows .venvs/lock/.stamp .venvs/materials/.stamp
	$(BIN)/python -m pytest -m downloads tests/packaging tests/windows

# The program under a CPython for Windows, in Wine. Where Wine cannot be had, `windows` has said that nothing is checked.
UNDER_WINDOWS := test ! -x build/windows/python || $(BIN)/python -m pytest tests/windows -m

test-windows: $(TEST) windows
	$(UNDER_WINDOWS) "windows and not long and not downloads"

test-windows-long: $(TEST) windows
	$(UNDER_WINDOWS) "windows and long and not downloads"

java:
	@scripts/debian-package java openjdk-17-jre-headless

# The PostgreSQL from PyPI is built without ICU; Debian's gives the database in Spanish order.
postgres:
	@scripts/debian-package pg_ctlcluster postgresql

# The tests of the page drive a real browser.
chromium:
	@scripts/debian-package chromium chromium

windows: $(TEST)
	@scripts/windows-python $(BIN)/python build/windows

# --- documents ------------------------------------------------------------------------------------

pages: $(TEST)
	$(BIN)/python docs/notebooks.py
	$(BIN)/python docs/generate.py

docs: pages .venvs/docs/.stamp
	rm -rf docs/site
	.venvs/docs/bin/zensical build --clean --strict --config-file docs/zensical.es.toml
	.venvs/docs/bin/zensical build --clean --strict --config-file docs/zensical.en.toml
	$(BIN)/python docs/finish_site.py
	@echo "docs/site/index.html"

# --- figures and locks ----------------------------------------------------------------------------

# ONLY="tuples search" chooses, SMALL=1 tries, RECORD=1 keeps the ratios in bench/history.
# Writes build/bench/report.json and report.html; fails where a ratio became more than a quarter worse.
bench: $(TEST) .venvs/pycanon/.stamp .venvs/anjana/.stamp
	$(BIN)/python -m bench $(ONLY) $(if $(SMALL),--small) $(if $(ROWS),--rows $(ROWS)) $(if $(RECORD),--record)

# What a release is handed out as: wheel, source package and its bill of materials.
dist: $(CORE) .venvs/materials/.stamp
	rm -rf dist
	$(BIN)/python -m hatchling build -d dist
	$(BIN)/python scripts/materials.py write requirements/desktop.lock dist/celosia-$$($(BIN)/celosia --version | cut -d' ' -f2).cdx.json
	.venvs/materials/bin/python scripts/materials.py check dist/*.cdx.json

LOCK := .venvs/lock/bin/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 \
	--no-header --no-emit-index-url --no-emit-find-links $(UPGRADE)

# Keeps the pins that still fit; `make lock UPGRADE=--upgrade` takes the newest.
lock: .venvs/lock/.stamp
	$(LOCK) requirements/build.in -o requirements/build.lock
	$(LOCK) requirements/lock.in -o requirements/lock.lock
	$(LOCK) requirements/windows.in -o requirements/windows.lock
	$(LOCK) requirements/embedded.in -o requirements/embedded.lock
	$(LOCK) requirements/materials.in -o requirements/materials.lock
	$(LOCK) pyproject.toml -c requirements/build.lock -o requirements/core.lock
	$(LOCK) pyproject.toml --all-extras requirements/test.in \
		-c requirements/build.lock -c requirements/core.lock -o requirements/test.lock
	$(LOCK) pyproject.toml --extra desktop -c requirements/test.lock -o requirements/desktop.lock
	$(LOCK) requirements/docs.in -o requirements/docs.lock
	$(LOCK) requirements/pycanon.in -o requirements/pycanon.lock
	$(LOCK) requirements/anjana.in -o requirements/anjana.lock

clean:
	rm -rf .venv .venvs build dist docs/site docs/.cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests bench docs -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
