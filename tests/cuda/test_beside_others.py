"""Beside other libraries of a GPU, where they are installed: PyTorch's random numbers, and memory
that PyTorch, CuPy and JAX share with tensors.
"""

import importlib.util
import os
import subprocess
import sys

import pytest

# The others meet the real driver; the emulator is unknown to them.
pytestmark = pytest.mark.skipif("FB_EMULATOR_ROOT" in os.environ, reason="needs a GPU")


def run(code: str, library: str) -> None:
    """Run a program with another library: what it loads and allocates ends with its process."""
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    environment = os.environ | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    done = subprocess.run(
        [sys.executable, "-c", f"import flambeau as fb\nimport {library}\n{code}"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


NUMBERS = """
def draw(t, n, dtype):
    t.cuda.init()
    t.cuda.manual_seed(20)
    generator = t.cuda.default_generators[0]
    def empty(): return t.empty(n, dtype=dtype(t), device="cuda")
    yield "rand", t.rand(n, dtype=dtype(t), device="cuda"), 0
    yield "uniform_", empty().uniform_(-2.5, 7.25), 1e-6
    yield "randn", t.randn(n, dtype=dtype(t), device="cuda"), 1e-5
    yield "normal_", empty().normal_(1.5, 0.25), 1e-5
    yield "exponential_", empty().exponential_(1.5), 1e-5
    yield "bernoulli_", empty().bernoulli_(0.25), 0
    yield "bernoulli", t.bernoulli(t.linspace(0, 1, n, device="cuda").to(dtype(t))), 0
    yield "randint", t.randint(-5, 12, (n,), device="cuda"), 0
    yield "random_", t.empty(n, dtype=t.int64, device="cuda").random_(), 0
    if dtype(t) == t.float32:  # other widths take other neighbours at once: docs/cuda.md
        ones = t.ones(n, dtype=dtype(t), device="cuda")
        yield "dropout", t.nn.functional.dropout(ones, 0.25), 1e-6
    if 1 < n < 5000:
        weights = t.arange(1, n + 1, device="cuda").to(t.float32)
        yield "multinomial", t.multinomial(weights, n // 2), 0
    yield "offset", t.tensor(generator.get_offset()), 0


for name in ("float32", "float64", "float16", "bfloat16"):
    for n in (1, 1000, 1002, 40001, 10**6, 3 * 10**7):
        dtype = lambda t: getattr(t, name)
        loose = 1e-9 if name == "float64" else {"float16": 2e-3, "bfloat16": 1.6e-2}.get(name, 0)
        ours, theirs = draw(fb, n, dtype), draw(torch, n, dtype)
        for (what, a, within), (_, b, _) in zip(ours, theirs, strict=True):
            a, b = torch.from_dlpack(a).double().cpu(), b.double().cpu()
            tolerance = max(within, loose) if within else 0
            # PyTorch takes the fast sines and logarithms of the device: the last digits differ.
            good = torch.isclose(a, b, rtol=tolerance, atol=tolerance)
            assert good.all(), (what, name, n, int((~good).sum()), a[~good][:4], b[~good][:4])
"""


def test_random_numbers_are_those_of_pytorch() -> None:
    run(NUMBERS, "torch")


DLPACK = """
ours = fb.arange(6.0, device="cuda").reshape(2, 3)
theirs = {from_dlpack}(ours.t())
assert theirs.shape == (3, 2)
assert {pointer}(theirs) == ours.data_ptr()
back = fb.from_dlpack({array})
assert back.device == fb.device("cuda", 0)
assert back.data_ptr() == {pointer}({array})
assert back.tolist() == [1.0, 2.0, 3.0]
ours = ours * 2  # on our stream: theirs waits
assert {from_dlpack}(ours).sum() == 30
"""
INTERFACE = """
class Shared:
    def __init__(self, source): self.__cuda_array_interface__ = source.__cuda_array_interface__
theirs = {array}
ours = fb.as_tensor(theirs if not hasattr(theirs, "__dlpack__") else Shared(theirs), device="cuda")
assert ours.data_ptr() == {pointer}(theirs)
ours.mul_(2)
fb.cuda.synchronize()
assert theirs.tolist() == [2.0, 4.0, 6.0]
there = {as_array}(ours)
assert {pointer}(there) == ours.data_ptr()
"""
LIBRARIES = {
    "torch": {
        "from_dlpack": "torch.from_dlpack",
        "pointer": "(lambda x: x.data_ptr())",
        "array": "torch.tensor([1.0, 2.0, 3.0], device='cuda')",
        "as_array": "(lambda x: torch.as_tensor(Shared(x), device='cuda'))",
    },
    "cupy": {
        "from_dlpack": "cupy.from_dlpack",
        "pointer": "(lambda x: x.data.ptr)",
        "array": "cupy.array([1.0, 2.0, 3.0], dtype='float32')",
        "as_array": "cupy.asarray",
    },
    "jax": {
        "from_dlpack": "jax.numpy.from_dlpack",
        "pointer": "(lambda x: x.unsafe_buffer_pointer())",
        "array": "jax.numpy.array([1.0, 2.0, 3.0])",
    },
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_capsules(library: str) -> None:
    words = LIBRARIES[library] | {"array": "x"}
    setup = f"x = {LIBRARIES[library]['array']}\n"
    code = DLPACK.format(**words)
    if library == "jax":  # which takes dense memory only
        code = code.replace("ours.t()", "ours").replace("(3, 2)", "(2, 3)")
    run(setup + code, library)


@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_the_array_interface(library: str) -> None:
    words = LIBRARIES[library] | {"array": "x"}
    run(f"x = {LIBRARIES[library]['array']}\n" + INTERFACE.format(**words), library)
