# SPDX-License-Identifier: Apache-2.0
# Every target sets itself up from nothing: .venv, the module, what the target needs from PyPI.
#   make demo    install, hash this project's files, encrypt, compare, show what runs, quick bench
#   make test    the tests
#   make proof   every kernel by every check (needs Debian packages: valgrind; see CONTRIBUTING.md)
#   make bench   the benchmark report
#   make test-threads   the tests that concern threads, on a free-threaded Python
#   make lint    ruff, mypy, stubtest, clang-format
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1

SOURCES := $(wildcard csrc/* csrc/*/* asm/* asm/*/*) setup.py kernel_sources.py pyproject.toml

.PHONY: all demo test proof bench lint clean
all: $(VENV)/.built

# A venv without pip (Debian without python3-venv) is the usual first failure: say what to install.
$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "fastcrypt needs Python 3.11 or newer; set PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "cannot create $(VENV): on Debian, apt-get install python3-venv python3-dev"; exit 1; }
	$(PY) -m pip install -q "setuptools>=77" "pybind11>=3.1" wheel
	@touch $@

$(VENV)/.built: $(VENV)/.created $(SOURCES)
	$(PY) -m pip install -q --no-build-isolation -e .
	@touch $@

# One stamp per extra. The module is installed already: pip adds what the extra names, and builds nothing.
$(VENV)/.extra-%: $(VENV)/.built
	$(PY) -m pip install -q "fastcrypt[$*]"
	@touch $@

demo: $(VENV)/.extra-bench
	$(PY) bench/demo.py

test: $(VENV)/.extra-test
	$(PY) -m pytest tests

proof: $(VENV)/.extra-test
	$(PY) -m tests.proof $(PROOF_ARGS)

bench: $(VENV)/.extra-bench
	$(PY) -m bench

lint: $(VENV)/.extra-lint
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(PY) -m mypy.stubtest fastcrypt._core
	git ls-files '*.c' '*.h' '*.cpp' | grep -v '^asm/' | xargs $(VENV)/bin/clang-format --dry-run --Werror

clean:
	rm -rf build dist $(VENV) src/fastcrypt/*.so src/*.egg-info

# Sanitizers look at the C and C++ code; assembly is not instrumented: guard pages check it (make proof).
.PHONY: asan tsan leaks debug test-versions
asan tsan: $(VENV)/.extra-test
	$(PY) -m tests.proof.sanitizers $@ $(PYTEST_ARGS)

# A million calls of everything.
leaks: $(VENV)/.extra-test
	FASTCRYPT_LEAK_CALLS=1000000 $(PY) -m pytest -q tests/test_leaks.py

# The suite on a debug interpreter (Debian: apt-get install python3-dbg), which counts references and
# checks every block of memory. Its Python.h is a link: gcc would follow it to the other pyconfig.h.
DEBUG_PYTHON ?= python3-dbg
debug:
	CXXFLAGS="-DNDEBUG -fno-canonical-system-headers" $(MAKE) VENV=.venv-debug PYTHON=$(DEBUG_PYTHON) .venv-debug/.extra-test
	.venv-debug/bin/python -m tests.proof.sanitizers suite $(PYTEST_ARGS)

# The suite on the other Pythons that are there; PYTHONS names them.
PYTHONS ?= python3.12 python3.13 python3.14
test-versions:
	@for python in $(PYTHONS); do \
	  version=$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || \
	    { echo "$$python: not there"; continue; }; \
	  $(MAKE) VENV=.venv-$$version PYTHON=$$python .venv-$$version/.extra-test && \
	    .venv-$$version/bin/python -m tests.proof.sanitizers suite $(PYTEST_ARGS) || exit 1; \
	done

# What concerns threads, interpreters and processes, on a free-threaded Python: one that is there, or one that
# is built from Debian's source, about three minutes once. PYTEST_ARGS may name other tests: all of them pass.
THREAD_TESTS := tests/test_interpreters.py tests/test_fork.py tests/test_lifetime.py tests/test_hashes.py \
  tests/test_hmac.py tests/test_aesgcm_streams.py tests/test_compare.py tests/test_dispatch.py
.PHONY: test-threads
test-threads:
	@python=$$(tests/free_threaded/python.sh) || exit 1; \
	$(MAKE) VENV=.venv-threads PYTHON=$$python .venv-threads/.extra-test && \
	.venv-threads/bin/python -W error -c 'import fastcrypt, sys; sys.exit(sys._is_gil_enabled())' && \
	.venv-threads/bin/python -m pytest -q $(or $(PYTEST_ARGS),$(THREAD_TESTS))

# Mutants of every kernel against the kernel tests: all of them, or for SECONDS=n as many as fit.
.PHONY: mutation
mutation: $(VENV)/.extra-test
	$(PY) -m tests.mutation $(if $(SECONDS),--budget $(SECONDS))

# The fuzzers, SECONDS together. Needs clang: apt-get install clang-19 libclang-rt-19-dev
.PHONY: fuzz
fuzz: $(VENV)/.extra-test
	$(PY) -m tests.fuzz --seconds $(or $(SECONDS),60)
