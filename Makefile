# Every target sets up what it needs in virtual environments of its own, from a bare checkout.
# Needed: Python >= 3.10 and a C++ compiler. Another interpreter: make test PYTHON=python3.12
# The processor count of a build is CMake's own choice; limit it with CMAKE_BUILD_PARALLEL_LEVEL.

PYTHON ?= python3
CXX ?= c++

# .venv holds the build tools and Flambeau itself (editable); .venv-torch adds the oracle to it.
BIN = .venv/bin
TORCH_BIN = .venv-torch/bin
ASAN_BIN = .venv-asan/bin
PIP = -m pip --disable-pip-version-check install -qq --no-input

NATIVE := $(shell find csrc opgen cmake CMakeLists.txt pyproject.toml -type f \
            -not -name '*.pyc' 2>/dev/null)

.PHONY: help demo test bench conformance asan docs lint wheel clean
.DELETE_ON_ERROR:

help:
	@echo 'make demo         a network learns to read handwritten digits, in seconds once it is built'
	@echo 'make test         the test suite (no torch needed)'
	@echo 'make conformance  the operator table against torch 2.13.0'
	@echo 'make bench        speed, memory and size beside torch 2.13.0; ARGS="--quick --only gemm"'
	@echo 'make asan         the core tests under the address and undefined-behaviour sanitizers'
	@echo 'make lint         formatting, lint and types'
	@echo 'make docs         the documentation, into site/'
	@echo 'make wheel        a wheel in dist/, tried in an environment of its own'
	@echo 'make clean        remove everything that was built'

demo: .venv/.installed
	@$(BIN)/python -m flambeau demo --output build/demo $(ARGS)

test: .venv/.installed .venv/.test
	@echo '==> testing'
	@$(BIN)/python -m pytest tests --ignore=tests/conformance -q $(ARGS)

conformance: .venv-torch/.ready
	@echo '==> comparing with torch'
	@$(TORCH_BIN)/python -m pytest tests/conformance -q $(ARGS)

bench: .venv-torch/.ready
	@$(TORCH_BIN)/python -m benchmarks.harness $(ARGS)

# Leaks are not looked for: the interpreter itself keeps what it allocates until it ends.
asan: .venv-asan/.installed
	@echo '==> testing under the sanitizers'
	@LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" \
	 ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
	 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	 $(ASAN_BIN)/python -m pytest tests --ignore=tests/conformance --ignore=tests/typing -q $(ARGS)

lint: .venv/.installed .venv/.lint .venv-wheel/.ready
	@echo '==> ruff'
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check --quiet
	@echo '==> clang-format'
	@find csrc -name '*.h' -o -name '*.cpp' | xargs $(BIN)/clang-format --dry-run --Werror
	@echo '==> files'
	@$(BIN)/python tools/check_files.py
	@echo '==> operator table'
	@$(BIN)/python -m opgen --check
	@echo '==> mypy'
	@$(BIN)/mypy
	@echo '==> types of everything public, as installed'
	@cd build/outside && PATH="$(CURDIR)/.venv-wheel/bin:$$PATH" ../../$(BIN)/basedpyright \
	  --ignoreexternal --verifytypes flambeau | grep 'Type completeness score'

docs: .venv/.installed .venv/.docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo 'the documentation is in site/index.html'

wheel: .venv-wheel/.ready
	@ls -sh dist/

clean:
	rm -rf build dist site .venv .venv-* benchmarks/results
	rm -rf .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Environments. A stamp file says that a step is done; it is older than what the step depends on
# when the step has to be done again.

define new_venv
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo \
	  "Flambeau needs Python 3.10 or newer, $(PYTHON) is $$($(PYTHON) -V 2>&1)." \
	  "Say which to use: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@command -v $(CXX) >/dev/null || { echo \
	  "A C++ compiler is needed and '$(CXX)' is not there. Say which to use: CXX=clang++"; exit 1; }
	@echo '==> environment $(@D)'
	@$(PYTHON) -m venv --clear $(@D)
endef

.venv/.build: pyproject.toml
	$(new_venv)
	@echo '==> build tools (about 250 MB the first time)'
	@$(BIN)/python tools/requirements.py build | $(BIN)/python $(PIP) -r /dev/stdin
	@touch $@

.venv/.installed: .venv/.build $(NATIVE)
	@$(BIN)/python tools/progress.py 'building Flambeau' build/install.log \
	  $(BIN)/python $(PIP:-qq=-v) --no-build-isolation --editable .
	@$(BIN)/python -m opgen --stubs flambeau/_C  # where type checkers look in an editable install
	@touch $@

.venv/.test .venv/.lint .venv/.docs: .venv/.%: .venv/.build
	@echo '==> packages for $*'
	@$(BIN)/python tools/requirements.py $* | $(BIN)/python $(PIP) -r /dev/stdin
	@touch $@

# The oracle's environment sees the packages of .venv, so that Flambeau is built only once.
.venv-torch/.ready: | .venv/.installed .venv/.test
	$(new_venv)
	@$(TORCH_BIN)/python -c "import site, pathlib; \
	  own = pathlib.Path(site.getsitepackages()[0]); \
	  other = pathlib.Path('.venv').resolve() / own.relative_to(own.parents[2]); \
	  (own / 'flambeau-tree.pth').write_text(f'import site; site.addsitedir({str(other)!r})\n')"
	@echo '==> torch (about 200 MB)'
	@$(TORCH_BIN)/python tools/requirements.py conformance | $(TORCH_BIN)/python $(PIP) -r /dev/stdin
	@touch $@

conformance bench: | .venv/.installed

# The wheel as a user gets it, tried from outside the checkout.
.venv-wheel/.ready: .venv/.installed $(shell find flambeau -name '*.py' -o -name '*.css' -o -name '*.txt')
	@rm -rf dist
	@$(BIN)/python tools/progress.py 'building the wheel' build/wheel.log \
	  $(BIN)/python -m pip wheel -v . --no-deps --no-build-isolation --wheel-dir dist
	@$(PYTHON) -m venv --clear .venv-wheel
	@.venv-wheel/bin/python $(PIP) pytest dist/flambeau-*.whl
	@mkdir -p build/outside && cp tests/test_tiny.py build/outside/
	@cd build/outside && ../../.venv-wheel/bin/python -m pytest -q test_tiny.py
	@cd build/outside && ../../.venv-wheel/bin/flambeau demo --quiet --epochs 1
	@touch $@

.venv-asan/.build: pyproject.toml
	$(new_venv)
	@echo '==> build tools'
	@$(ASAN_BIN)/python tools/requirements.py build test | $(ASAN_BIN)/python $(PIP) -r /dev/stdin
	@touch $@

.venv-asan/.installed: .venv-asan/.build $(NATIVE)
	@$(ASAN_BIN)/python tools/progress.py 'building with sanitizers' build/asan.log \
	  $(ASAN_BIN)/python $(PIP:-qq=-v) --no-build-isolation --editable . \
	  -C build-dir=build/asan -C cmake.define.FB_SANITIZE=address,undefined
	@touch $@
