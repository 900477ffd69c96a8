PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= 2
EXAMPLES ?= 10000
NATIVE := CMakeLists.txt pyproject.toml $(wildcard src/vicinal/_native/*.cpp src/vicinal/_native/*.hpp)
# Neighbouring tests stay on one worker, so that their fixtures are made once; one that is done takes from the other.
PYTEST := $(BIN)/pytest -n $(WORKERS) --dist worksteal --durations=25

.PHONY: help demo test test-all test-kernels fuzz check bench clean

help:
	@echo "make demo          compare feature methods on a data set that ships with scikit-learn, with a report"
	@echo "make test          every check: ruff, types, tests"
	@echo "make test-all      the same, with the slow variants of tests"
	@echo "make test-kernels  what computes, by other instruction sets than the machine's best"
	@echo "make fuzz          every estimator on EXAMPLES=$(EXAMPLES) tables nobody would choose"
	@echo "make bench         speed and memory beside the peers, written to benchmarks/RESULTS.md"
	@echo "make clean         remove what the others made"

demo: $(VENV)/installed-cli
	@$(BIN)/python examples/write_digits.py build/demo/digits.csv
	$(BIN)/vicinal compare build/demo/digits.csv --target digit --groups 200 --components 200 --splits 3 --report build/demo/report.html --force

check: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror src/vicinal/_native/*.cpp src/vicinal/_native/*.hpp
	$(BIN)/mypy

test: check
	$(PYTEST)

test-all: check
	$(PYTEST) -m ""

# The best set of the machine is that of make test: with AVX2 alone, what is left is the baseline. With AVX-512, AVX2 has
# shown already that no test hangs on BLAS or on one set, and the baseline runs what its own loops compute.
test-kernels: $(VENV)/installed-test
	@sets=" $$($(BIN)/python -c "from vicinal import _native; print(*_native.available_instruction_sets)") "; \
	case "$$sets" in *" avx2 "*) ;; *) echo "this machine has no AVX2: there is no other instruction set to test"; exit 0;; esac; \
	left=kernels; \
	case "$$sets" in *" avx512 "*) OPENBLAS_CORETYPE=Haswell VICINAL_ISA=avx2 $(PYTEST) -m kernels || exit 1; left=native;; esac; \
	OPENBLAS_CORETYPE=Nehalem VICINAL_ISA=baseline $(PYTEST) -m "$$left"

fuzz: $(VENV)/installed-test
	VICINAL_FUZZ_EXAMPLES=$(EXAMPLES) $(PYTEST) tests/fuzz

bench: $(VENV)/installed-bench
	cd benchmarks && for script in kernel neighbors randlocal two_levels rulls expand selection network links views side learned outliers model local_model runner; do ../$(BIN)/python $$script.py || exit 1; done

$(VENV)/installed-%: $(NATIVE)
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" || \
		{ echo "vicinal needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	@touch $@

clean:
	rm -rf $(VENV) build .mypy_cache .pytest_cache .ruff_cache .hypothesis
