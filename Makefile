# Every target sets up what it needs in virtual environments of its own, from a bare checkout.
# Needed: Python >= 3.10 and a C++ compiler. Another interpreter: make test PYTHON=python3.12
# The processor count of a build is CMake's own choice; limit it with CMAKE_BUILD_PARALLEL_LEVEL.

PYTHON ?= python3
CXX ?= c++

# .venv holds the build tools and Flambeau itself (editable); .venv-torch adds the oracle to it.
BIN = .venv/bin
TORCH_BIN = .venv-torch/bin
PIP = -m pip --disable-pip-version-check install -qq --no-input

NATIVE := $(shell find csrc opgen cmake CMakeLists.txt pyproject.toml -type f \
            -not -name '*.pyc' 2>/dev/null)

# Warnings are errors in the project's own checks; a build with another compiler only shows them.
WERROR = -C cmake.define.FB_WERROR=$(if $(CI),ON,OFF)

# Tests run on all cores; slow tests are listed.
PYTEST = -m pytest -q -n auto --dist worksteal --durations 10 --durations-min 5

.PHONY: help demo test vectors bench bench-cuda conformance shadow cuda emulated cuda-coverage cuda-kernels asan tsan compilers docs lint wheel clean
.DELETE_ON_ERROR:

help:
	@echo 'make demo         train a network on handwritten digits, in seconds once it is built'
	@echo 'make test         run the test suite (no torch needed)'
	@echo 'make vectors      check that the compiler made vectors of the generated loops'
	@echo 'make conformance  compare every operator with torch 2.13.0'
	@echo 'make bench        compare speed, memory and size with torch 2.13.0; ARGS="--quick --only gemm"'
	@echo 'make bench-cuda   the device cuda beside torch, on a GPU; ARGS="--quick"'
	@echo 'make asan         the tests under the address and undefined-behaviour sanitizers; TESTS=tests/core'
	@echo 'make shadow       the operators on a device whose memory the host cannot access'
	@echo 'make cuda         the tests of the device cuda, on a GPU'
	@echo 'make emulated     the same without a GPU: kernels run on the processor'
	@echo 'make cuda-kernels compile all kernels by NVRTC for GPUs of several generations, without one'
	@echo 'make cuda-coverage where every operator runs on the device cuda: kernel, composite, host or refused'
	@echo 'make tsan         the threaded tests under the thread sanitizer'
	@echo 'make compilers    build with several compilers and run the core tests; COMPILERS="clang++-19"'
	@echo 'make lint         formatting, lint and types'
	@echo 'make docs         build the documentation into site/'
	@echo 'make wheel        build a wheel into dist/ and try it in a fresh environment'
	@echo 'make clean        remove everything that was built'

demo: .venv/.installed
	@$(BIN)/python -m flambeau demo --output build/demo $(ARGS)

test: .venv/.installed .venv/.test
	@echo '==> testing'
	@$(BIN)/python $(PYTEST) tests --ignore=tests/conformance --ignore=tests/shadow --ignore=tests/cuda $(ARGS)

# From the object files of the build: a loop that stays scalar is several times slower and otherwise right.
vectors: .venv/.installed
	@echo '==> looking for loops that are no vectors'
	@$(BIN)/python tools/vectorised.py $(or $(BUILDS),build/cp*-*)

conformance: .venv-torch/.ready
	@echo '==> comparing with torch'
	@$(TORCH_BIN)/python $(PYTEST) tests/conformance $(ARGS)

bench: .venv-torch/.ready
	@$(TORCH_BIN)/python -m benchmarks.harness $(ARGS)

bench-cuda: .venv-torch/.ready
	@$(TORCH_BIN)/python -m benchmarks.harness --only cuda $(ARGS)

# The sanitizers' libraries must be loaded before the interpreter. Leaks are not checked: the
# interpreter itself keeps its memory until it ends. Calls take several times the stack.
asan: .venv-asan/.installed
	@echo '==> testing under the address and undefined-behaviour sanitizers'
	@ulimit -s 65536; \
	 LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" \
	 ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
	 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	 .venv-asan/bin/python $(PYTEST) $(TESTS) --ignore=tests/conformance --ignore=tests/shadow --ignore=tests/cuda --ignore=tests/typing $(ARGS)

TESTS = tests

# The device cuda where there is a GPU, and without one on a driver that runs kernels on the processor.
cuda: .venv/.installed .venv/.test
	@echo '==> testing on the GPU'
	@$(BIN)/python $(PYTEST) tests/cuda $(ARGS)

EMULATOR = build/emulator/libemulated.so

ON_EMULATOR = FLAMBEAU_LIBCUDA=$(abspath $(EMULATOR)) FLAMBEAU_LIBNVRTC=$(abspath $(EMULATOR)) \
  FLAMBEAU_LIBCUBLASLT=/nonexistent FLAMBEAU_CUDA_CACHE=$(abspath build/emulator/cache) \
  FB_EMULATOR_FOLDER=$(abspath build/emulator) FB_EMULATOR_ROOT=$(abspath csrc)

emulated: .venv/.installed .venv/.test $(EMULATOR)
	@echo '==> testing the device cuda without a GPU'
	@$(ON_EMULATOR) $(BIN)/python $(PYTEST) tests/cuda $(ARGS)

# NVRTC of NVIDIA's package, for every architecture that is tested; kernels are loaded and not run.
cuda-kernels: .venv/.installed .venv/.test .venv/.nvrtc $(EMULATOR)
	@echo '==> compiling the kernels of the device cuda'
	@$(ON_EMULATOR) $(BIN)/python $(PYTEST) tests/cuda/test_compiles.py $(ARGS)

# Which operators have kernels there, which are computed on the host and which are refused.
cuda-coverage: .venv/.installed .venv/.test $(EMULATOR)
	@$(ON_EMULATOR) $(BIN)/python -m tools.cuda_coverage $(ARGS)

$(EMULATOR): $(wildcard tests/cuda/emulator/*)
	@mkdir -p $(@D)
	@$(CXX) -std=c++20 -O1 -Wall -Wextra -fPIC -shared -fvisibility=hidden tests/cuda/emulator/emulator.cpp -o $@ -ldl

# A second device, whose memory the host cannot access: finds what a GPU would fault on.
shadow: .venv-shadow/.installed
	@echo '==> testing on the device shadow'
	@.venv-shadow/bin/python $(PYTEST) tests/shadow $(ARGS)

# Threads that a forked process starts are unknown to the sanitizer.
tsan: .venv-tsan/.installed
	@echo '==> testing under the thread sanitizer'
	@LD_PRELOAD="$$($(CXX) -print-file-name=libtsan.so)" TSAN_OPTIONS=halt_on_error=1 \
	 setarch -R .venv-tsan/bin/python -m pytest -q $(or $(ARGS),$(THREADED_TESTS) -k 'not forked')

THREADED_TESTS = $(addprefix tests/,core/test_threads.py core/test_memory.py core/test_random.py \
  autograd/test_threads.py nn/test_conv.py nn/test_rnn.py optim/test_steps.py vision/test_pixels.py profiler)

# Each in an environment of its own, with kernels at one instruction-set level.
COMPILERS ?= g++-11 g++-12 clang++-16 clang++-19

compilers: $(COMPILERS:%=.venv-%/.tested)

.venv-%/.tested: .venv-%/.installed
	@echo '==> testing what $* built'
	@.venv-$*/bin/python tools/vectorised.py build/$*
	@.venv-$*/bin/python $(PYTEST) tests/test_tiny.py tests/core tests/autograd $(ARGS)
	@touch $@

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

COMPILER = $(CXX)

define new_venv
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo \
	  "Flambeau needs Python 3.10 or newer, $(PYTHON) is $$($(PYTHON) -V 2>&1)." \
	  "Say which to use: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@command -v $(COMPILER) >/dev/null || { echo \
	  "A C++ compiler is needed and '$(COMPILER)' is not there. Say which to use: CXX=clang++"; exit 1; }
	@echo '==> environment $(@D)'
	@$(PYTHON) -m venv --clear $(@D)
	@$(@D)/bin/python $(PIP) 'pip>=23.1'  # the first with -C; interpreters come with older ones
endef

.venv/.build: pyproject.toml
	$(new_venv)
	@echo '==> build tools (about 250 MB the first time)'
	@$(BIN)/python tools/requirements.py build | $(BIN)/python $(PIP) -r /dev/stdin
	@touch $@

.venv/.installed: .venv/.build $(NATIVE)
	@$(BIN)/python tools/progress.py 'building Flambeau' build/install.log \
	  $(BIN)/python $(PIP:-qq=-v) --no-build-isolation $(WERROR) --editable .
	@$(BIN)/python -m opgen --stubs flambeau/_C  # where type checkers look in an editable install
	@touch $@

.venv/.test .venv/.lint .venv/.docs: .venv/.%: .venv/.build
	@echo '==> packages for $*'
	@$(BIN)/python tools/requirements.py $* | $(BIN)/python $(PIP) -r /dev/stdin
	@touch $@

.venv/.nvrtc: .venv/.build
	@echo "==> NVIDIA's compiler of kernels (about 100 MB)"
	@$(BIN)/python $(PIP) nvidia-cuda-nvrtc==13.0.*
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

conformance bench bench-cuda: | .venv/.installed

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

# Other builds, by the name of their environment: of the sanitizers, and of a compiler.
# Kernels at one instruction-set level are enough for a compiler; the sanitizers see all, unless MARCH is given.
OPTIONS = -C cmake.define.FB_MARCH=x86-64-v3 -C cmake.define.CMAKE_DISABLE_PRECOMPILE_HEADERS=ON
OPTIONS_asan = -C cmake.define.FB_SANITIZE=address,undefined -C cmake.define.FB_MARCH=$(MARCH)
OPTIONS_tsan = -C cmake.define.FB_SANITIZE=thread -C cmake.define.FB_MARCH=$(MARCH)
OPTIONS_shadow = -C cmake.define.FB_SHADOW=ON -C cmake.define.FB_MARCH=$(or $(MARCH),x86-64-v3)
COMPILER_asan = $(CXX)
COMPILER_tsan = $(CXX)
COMPILER_shadow = $(CXX)
.venv-%/.build .venv-%/.installed: COMPILER = $(or $(COMPILER_$*),$*)

.venv-%/.build: pyproject.toml
	$(new_venv)
	@echo '==> build tools'
	@.venv-$*/bin/python tools/requirements.py build test | .venv-$*/bin/python $(PIP) -r /dev/stdin
	@touch $@

.venv-%/.installed: .venv-%/.build $(NATIVE)
	@CXX=$(COMPILER) $(PYTHON) tools/progress.py 'building with $*' build/$*.log \
	  .venv-$*/bin/python $(PIP:-qq=-v) --no-build-isolation $(WERROR) --editable . \
	  -C build-dir=build/$* $(or $(OPTIONS_$*),$(OPTIONS))
	@touch $@

.PRECIOUS: .venv-%/.build .venv-%/.installed
