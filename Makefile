# Two commands: `make demo` and `make test`.  Each makes its own virtual environment in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types sanitize install clean

demo: $(VENV)/.installed
	$(BIN)/submin segment --sample coffee --superpixels 500 -o demo

test: $(VENV)/.installed
	$(BIN)/python -m pytest -n auto --pyargs tests submin docs README.md

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(shell find native -name '*.?pp')

types: $(VENV)/.installed
	$(BIN)/mypy

# Kernel tests with the extension built under AddressSanitizer and UndefinedBehaviorSanitizer, with
# the widest vectors and without; threaded kernels under ThreadSanitizer.
sanitize: $(VENV)/.installed
	PATH="$(CURDIR)/$(BIN):$$PATH" native/sanitize/run.sh build/sanitize -q
	native/sanitize/races.sh build/races

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml CMakeLists.txt $(shell find src native -name '*.py' -o -name '*.pyi' -o -name '*.?pp')
	@echo "making .venv, which takes a few minutes"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet ".[all,dev]"
	touch $@

clean:
	rm -rf $(VENV) build dist demo
