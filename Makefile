PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
NATIVE := CMakeLists.txt pyproject.toml $(wildcard src/vicinal/_native/*.cpp src/vicinal/_native/*.hpp)

.PHONY: help demo test bench clean

help:
	@echo "make demo    compare feature methods on a data set that ships with scikit-learn, with a report"
	@echo "make test    every check: ruff, types, tests"
	@echo "make bench   speed and memory beside the peers, written to benchmarks/RESULTS.md"
	@echo "make clean   remove what the others made"

demo: $(VENV)/installed-cli
	@$(BIN)/python examples/write_digits.py build/demo/digits.csv
	$(BIN)/vicinal compare build/demo/digits.csv --target digit --groups 200 --components 200 --splits 3 --report build/demo/report.html --force

test: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror src/vicinal/_native/*.cpp src/vicinal/_native/*.hpp
	$(BIN)/mypy
	$(BIN)/pytest

bench: $(VENV)/installed-bench
	cd benchmarks && for script in kernel randlocal rulls expand selection runner; do ../$(BIN)/python $$script.py || exit 1; done

$(VENV)/installed-%: $(NATIVE)
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" || \
		{ echo "vicinal needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	@touch $@

clean:
	rm -rf $(VENV) build .mypy_cache .pytest_cache .ruff_cache .hypothesis
