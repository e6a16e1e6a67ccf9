"""Fourier transforms beyond samples: every length, accuracy, layouts, threads and processes."""

import math
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import flambeau as torch

# Powers, products, and primes that are too large for a pass, alone and in products.
LARGE = (512, 729, 1000, 1009, 1024, 2310, 3 * 2**10, 4096, 4099, 5**6, 2 * 7919, 3**9, 2**15)
HUGE = (2**20, 3 * 2**18, 10**6, 1_000_003)
REAL = {torch.complex64: torch.float32, torch.complex128: torch.float64}


pytestmark = pytest.mark.usefixtures("restored_threads")


def definition(x: np.ndarray) -> np.ndarray:
    """The sum over all points, in extended precision."""
    n = x.shape[-1]
    turns = np.arange(n) * (2 * np.longdouble(np.pi) / n)
    roots = np.cos(turns) - 1j * np.sin(turns)
    result: np.ndarray = x.astype(np.clongdouble) @ roots[np.outer(np.arange(n), np.arange(n)) % n]
    return result


def distance(actual: torch.Tensor, expected: np.ndarray) -> float:
    """The error of all elements together, relative to their norm."""
    found = actual.numpy().astype(expected.dtype)
    assert found.shape == expected.shape
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


def accuracy(n: int, dtype: torch.dtype, primes: float = 1.0) -> float:
    return primes * torch.finfo(REAL[dtype]).eps * (1 + 0.5 * math.log2(n))


def check_all_kinds(x: torch.Tensor, spectrum: np.ndarray, bound: float) -> None:
    """Forwards, backwards, from real points and to them, for rows of complex numbers."""
    n = x.shape[-1]
    assert distance(torch.fft.fft(x), spectrum) <= bound
    assert (
        distance(torch.fft.ifft(x, norm="forward").conj(), np.conj(spectrum[:, -np.arange(n)]))
        <= bound
    )
    # The transforms of both parts are the symmetric and antisymmetric halves of the spectrum.
    mirrored = np.conj(spectrum[:, -np.arange(n)])
    real, imaginary = (spectrum + mirrored) / 2, (spectrum - mirrored) / 2j
    assert distance(torch.fft.rfft(x.real), real[:, : n // 2 + 1]) <= bound
    assert distance(torch.fft.fft(x.imag), imaginary) <= bound
    half = torch.from_numpy(real[:, : n // 2 + 1].astype(np.complex128)).to(x.dtype)
    assert distance(torch.fft.irfft(half, n), x.real.numpy().astype(np.float64)) <= 2 * bound


@pytest.mark.parametrize("dtype", list(REAL))
def test_every_length(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    for n in range(1, 301):
        x = torch.randn(18, n, dtype=dtype)  # some lanes of a vector, and more than all of them
        spectrum = definition(x.numpy())
        bound = accuracy(n, dtype)
        check_all_kinds(x, spectrum, bound)
        check_all_kinds(x[:2], spectrum[:2], bound)
        check_all_kinds(x.t().contiguous().t(), spectrum, bound)


@pytest.mark.parametrize("n", LARGE)
def test_large_lengths(n: int) -> None:
    torch.manual_seed(0)
    x = torch.randn(9, n, dtype=torch.complex128)
    spectrum = np.fft.fft(x.numpy())
    check_all_kinds(x, spectrum, accuracy(n, torch.complex128, 3))
    x = x.to(torch.complex64)
    spectrum = np.fft.fft(x.numpy().astype(np.complex128))
    check_all_kinds(x, spectrum, accuracy(n, torch.complex64))
    check_all_kinds(x[:1], spectrum[:1], accuracy(n, torch.complex64))


@pytest.mark.parametrize("n", HUGE)
def test_huge_lengths(n: int) -> None:
    torch.manual_seed(0)
    x = torch.randn(1, n, dtype=torch.complex64)
    spectrum = np.fft.fft(x.numpy().astype(np.complex128))
    check_all_kinds(x, spectrum, accuracy(n, torch.complex64))


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.permute(2, 0, 1),
        lambda x: x.permute(1, 2, 0),
        lambda x: x[:, ::2, 1::3],
        lambda x: x.flip(1)[:, 1:],
        lambda x: x[:1].expand(3, -1, -1),
        lambda x: x.conj(),
        lambda x: x[:, :, 5],
        lambda x: x[..., None],
    ],
)
@pytest.mark.parametrize("shape", [(5, 18, 40), (3, 70, 130)])
def test_layouts(view: object, shape: tuple[int, ...]) -> None:
    assert callable(view)
    torch.manual_seed(0)
    x = view(torch.randn(*shape, dtype=torch.complex128))
    array = x.numpy()

    def check(actual: torch.Tensor, expected: np.ndarray) -> None:
        np.testing.assert_allclose(actual.numpy(), expected, atol=1e-10)

    for dim in range(x.dim()):
        points = 2 * x.shape[dim] - 1
        check(torch.fft.fft(x, dim=dim), np.fft.fft(array, axis=dim))
        check(torch.fft.rfft(x.real, dim=dim), np.fft.rfft(array.real, axis=dim))
        check(torch.fft.irfft(x, points, dim), np.fft.irfft(array, points, dim))
    check(torch.fft.ifftn(x), np.fft.ifftn(array))
    check(torch.fft.fftn(x.real), np.fft.fftn(array.real))


@pytest.mark.parametrize("n", [1, 2, 7, 8, 64, 130, 134])
def test_one_value_that_is_repeated(n: int) -> None:
    """Elements that share memory, along the transform and across it; windows that overlap."""
    for x in (torch.full((1, 1), 2.0).expand(20, n), torch.full((20, 1), 2.0).expand(20, n)):
        expected = np.fft.fft(x.numpy())
        np.testing.assert_allclose(torch.fft.fft(x).numpy(), expected, atol=1e-4)
        np.testing.assert_allclose(torch.fft.rfft(x).numpy(), expected[:, : n // 2 + 1], atol=1e-4)
    windows = torch.randn(n + 40).unfold(0, n, 1)
    np.testing.assert_allclose(
        torch.fft.rfft(windows).numpy(), np.fft.rfft(windows.numpy()), atol=1e-4
    )


def test_channels_last() -> None:
    x = torch.randn(2, 3, 16, 20).to(memory_format=torch.channels_last)
    np.testing.assert_allclose(
        torch.fft.rfft2(x).numpy(), np.fft.rfft2(x.numpy()), rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize(
    "shape", [(300, 64), (70, 1024), (40, 1009), (9, 4099), (2**17,), (65_537,), (3, 200_000)]
)
def test_results_do_not_depend_on_the_number_of_threads(shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    x = torch.randn(*shape, dtype=torch.complex64)

    def compute() -> list[torch.Tensor]:
        return [torch.fft.fft(x), torch.fft.fftn(x), torch.fft.rfft(x.real), torch.fft.irfft(x)]

    torch.set_num_threads(1)
    expected = compute()
    for count in (2, 3, 5):
        torch.set_num_threads(count)
        for found, wanted in zip(compute(), expected, strict=True):
            assert torch.equal(found, wanted), f"{count} threads"


def test_zero_frequency_and_mirror_images_are_exact() -> None:
    x = torch.randn(7, 90)
    spectrum = torch.fft.fft(x)
    assert torch.equal(spectrum[:, 1:].flip(1), spectrum[:, 1:].conj())
    assert torch.equal(spectrum.imag[:, 0], torch.zeros(7))
    assert torch.equal(torch.fft.fft(torch.ones(64)).imag, torch.zeros(64))


def test_imaginary_parts_of_ends_are_ignored() -> None:
    half = torch.randn(3, 9, dtype=torch.complex128)
    for n in (16, 17):
        expected = torch.fft.irfft(half, n)
        changed = half.clone()
        changed[:, 0] += 5j
        if n % 2 == 0:
            changed[:, -1] += 3j
        assert torch.equal(torch.fft.irfft(changed, n), expected)


def test_values_that_are_not_finite_stay_in_their_rows() -> None:
    x = torch.randn(40, 48, dtype=torch.complex64)
    x[7, 3] = float("nan")
    x[21, 5] = float("inf")
    finite = torch.fft.fft(x).isfinite().all(1)
    assert [i for i in range(40) if not finite[i]] == [7, 21]


def test_many_lengths_from_several_threads() -> None:
    """More tables than are kept, made by several threads at once."""
    lengths = range(2, 160)
    expected = [torch.fft.fft(torch.arange(float(n))) for n in lengths]
    wrong: list[int] = []

    def transform(step: int) -> None:
        for i in range(0, len(lengths) * step, step):
            at = i % len(lengths)
            if not torch.equal(torch.fft.fft(torch.arange(float(lengths[at]))), expected[at]):
                wrong.append(lengths[at])

    threads = [threading.Thread(target=transform, args=(step,)) for step in (1, 3, 5, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_forked_child() -> None:
    x = torch.randn(64, 1024, dtype=torch.complex64)
    expected = torch.fft.fft(x)
    child = os.fork()
    if child == 0:
        same = torch.equal(torch.fft.fft(x), expected)
        other = torch.fft.fft(x, 997).isfinite().all()  # a length that the parent has no tables for
        os._exit(0 if same and other else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


ROUND_TRIPS = """
import sys
sys.modules["numpy"] = None
import flambeau as torch

def check(n, rows, dtype, bound):
    x = torch.randn(rows, n, dtype=dtype)
    parts = [torch.fft.irfft(torch.fft.rfft(part), n) for part in (x.real, x.imag)]
    columns = torch.fft.ifft(torch.fft.fft(x, dim=0), dim=0)
    for y in (torch.fft.ifft(torch.fft.fft(x)), columns, torch.complex(*parts)):
        assert (y - x).norm() <= bound * (2 + n.bit_length()) * x.norm(), (n, rows, dtype)
    one = n // 3
    impulse = torch.zeros(rows, n, dtype=dtype)
    impulse[:, one] = 1
    turns = torch.arange(n, dtype=torch.float64) * one % n * (2 * torch.pi / n)
    expected = torch.polar(torch.ones_like(turns), -turns).to(dtype)
    assert (torch.fft.fft(impulse) - expected).abs().max() <= 8 * bound, (n, rows, dtype)

for n in (1, 2, 3, 16, 17, 30, 67, 100, 128, 255, 256, 600, 1009, 2048):
    for rows in (1, 3, 19):
        check(n, rows, torch.complex64, 4e-7)
        check(n, rows, torch.complex128, 1e-15)
"""


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_levels(level: str) -> None:
    """Lanes are of other widths on other processors; no level needs NumPy."""
    environment = {**os.environ, "FLAMBEAU_ISA": level}
    subprocess.run([sys.executable, "-c", ROUND_TRIPS], check=True, env=environment)


def test_wrong_number_of_frequencies() -> None:
    with pytest.raises(RuntimeError, match="got 4 frequencies for 20 real points"):
        torch._C._fft_c2r(torch.ones(4, dtype=torch.complex64), [0], 1.0, 20)


def test_refused_arguments() -> None:
    x = torch.ones(3, 4)
    with pytest.raises(RuntimeError, match=r"fft2: expected different dimensions, got \[0, -2\]"):
        torch.fft.fft2(x, dim=(0, -2))
    with pytest.raises(RuntimeError, match=r"fft2: got 1 lengths for 2 dimensions"):
        torch.fft.fft2(x, s=(4,))
    for n in (0, -1, -5):  # -1 means the whole dimension in transforms of several alone
        with pytest.raises(RuntimeError, match=rf"at least one data point, got lengths \[{n}\]"):
            torch.fft.fft(x, n)
    with pytest.raises(RuntimeError, match="at least one element"):
        torch.fft.fft(torch.ones(0, 4))
    for dtype in (torch.float16, torch.bfloat16):
        with pytest.raises(RuntimeError, match="unsupported dtype"):
            torch.fft.rfft(x.to(dtype))


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_refused_arguments_of_each(name: str) -> None:
    x = torch.ones(3, 4)
    transform = getattr(torch.fft, name)
    with pytest.raises(RuntimeError, match=r"at least one data point, got lengths \[-1\]"):
        transform(x, -1)
    with pytest.raises(TypeError, match="'norm' must be str, not int"):
        transform(x, norm=3)
    with pytest.raises(TypeError, match="'dim' must be tuple of ints, not NoneType"):
        getattr(torch.fft, name + "2")(x, dim=None)
    assert getattr(torch.fft, name + "n")(x, s=(-1, 4)).dim() == 2


def test_frequencies_at_the_edges() -> None:
    """The values of a division by zero, as in PyTorch, and no integers instead of fractions."""
    inf = math.inf
    assert torch.fft.fftfreq(0).shape == (0,)
    assert torch.fft.rfftfreq(0).isnan().tolist() == [True]
    assert torch.fft.fftfreq(4, 0.0)[1:].tolist() == [inf, -inf, -inf]
    assert torch.fft.rfftfreq(4, -0.0)[1:].tolist() == [-inf, -inf]
    for make in (torch.fft.fftfreq, torch.fft.rfftfreq):
        with pytest.raises(
            RuntimeError, match=r"floating point or complex dtype, got torch\.int32"
        ):
            make(4, dtype=torch.int32)


def test_lengths_beyond_memory() -> None:
    for n in (2**62, 2**47 - 1):
        with pytest.raises((RuntimeError, MemoryError)):
            torch.fft.fft(torch.ones(3), n)
