# Two commands: `make demo` and `make test`.  Each makes its own virtual environment in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint tidy types docs sanitize machines wheel test-wheel install clean

demo: $(VENV)/.installed
	$(BIN)/submin segment --sample coffee --superpixels 500 -o demo

test: $(VENV)/.installed
	$(BIN)/python -m pytest -n auto --pyargs tests submin docs README.md

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(shell find native -name '*.?pp')
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows $(wildcard .github/workflows/*)
	@if command -v actionlint >/dev/null; then actionlint; else echo "left out: there is no actionlint here"; fi

# Faults and waste in native/, which takes some minutes.
tidy: $(VENV)/.installed
	$(BIN)/cmake -S . -B build/tidy -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DPython_EXECUTABLE=$(BIN)/python \
	  -Dnanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir) >/dev/null
	printf '%s\n' native/bind/*.cpp | xargs -n 1 -P 2 $(BIN)/clang-tidy -p build/tidy --quiet

types: $(VENV)/.installed
	$(BIN)/mypy

# The site in build/site/html, without network: the pages of docs/, the gallery of examples/, and the
# reference from the docstrings.  Warnings are errors.
docs: $(VENV)/.documented
	rm -rf build/site
	mkdir -p build/site
	cp -R docs build/site/pages
	$(BIN)/python docs/reference.py --site build/site/pages
	$(BIN)/sphinx-build -W --keep-going -q -c docs build/site/pages build/site/html

# Kernel tests with the extension built under AddressSanitizer and UndefinedBehaviorSanitizer, with
# the widest vectors and without; threaded kernels under ThreadSanitizer.
sanitize: $(VENV)/.installed
	PATH="$(CURDIR)/$(BIN):$$PATH" native/sanitize/run.sh build/sanitize -q
	native/sanitize/races.sh build/races

# Kernels on aarch64 in an emulator; all of native/ with MinGW and Clang.
machines: $(VENV)/.installed
	.ci/machines

# The source archive, and wheels for this system, in dist/.
wheel:
	.ci/wheel dist

# Those wheels in fresh environments of each Python that there is, without a compiler.
test-wheel:
	.ci/installed-wheel dist $$(for version in 3.11 3.12 3.13; do .ci/python $$version; done)

install: $(VENV)/.installed

# What the site needs beside submin, which is not built again.
$(VENV)/.documented: pyproject.toml | $(VENV)/.installed
	$(BIN)/python -c "import tomllib; project = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
	  print(*project['optional-dependencies']['docs'], sep='\n')" >$@.txt
	$(BIN)/python -m pip install --quiet --requirement $@.txt
	touch $@

$(VENV)/.installed: pyproject.toml CMakeLists.txt $(shell find src native -name '*.py' -o -name '*.pyi' -o -name '*.?pp')
	@echo "making .venv, which takes a few minutes"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet ".[all,dev]"
	touch $@

clean:
	rm -rf $(VENV) build dist demo
