"""Random numbers of GPUs: Philox, PyTorch's order of numbers, distributions, generators."""

import copy
import os
import pickle
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import flambeau as fb
from flambeau import nn
from flambeau.utils.checkpoint import checkpoint
from tests.cuda import philox

F = nn.functional
RUNS = "FB_EMULATOR_LOADS_ONLY" not in os.environ
pytestmark = pytest.mark.skipif(not RUNS, reason="kernels are not run")

# Random123's known answers: counter, key, result.
KNOWN = [
    ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]


def same(a: fb.Tensor, b: fb.Tensor) -> bool:
    return fb.equal(a.cpu(), b.cpu())


def test_the_reference_gives_the_known_answers() -> None:
    for counter, key, answer in KNOWN:
        found = philox.philox(np.array(counter, np.uint64), (key[0], key[1]))
        assert " ".join(f"{word:08x}" for word in found.tolist()) == answer


@pytest.mark.skipif("FB_EMULATOR_ROOT" not in os.environ, reason="needs `make emulated`")
def test_the_kernels_give_the_known_answers(tmp_path: Path) -> None:
    root = Path(os.environ["FB_EMULATOR_ROOT"])
    calls = "".join(
        f"print(philox({{{{{', '.join(map(hex, counter))}}}}}, {key[0]:#x}u, {key[1]:#x}u));\n"
        for counter, key, _ in KNOWN
    )
    source = tmp_path / "known.cpp"
    source.write_text(
        f"""#include "{root}/../tests/cuda/emulator/kernel.h"
#include "cuda/device/philox.cuh"
#include <cstdio>
using namespace fb::device;
void print(Words w) {{ std::printf("%08x %08x %08x %08x\\n", w.at[0], w.at[1], w.at[2], w.at[3]); }}
int main() {{
{calls}}}
"""
    )
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-w", f"-I{root}", str(source)]
    subprocess.run([*command, "-o", str(tmp_path / "known")], check=True)
    done = subprocess.run([tmp_path / "known"], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:-1] == [answer for _, _, answer in KNOWN]


def most_blocks() -> int:
    properties = fb.cuda.get_device_properties(0)
    return properties.multi_processor_count * (
        properties.max_threads_per_multi_processor // philox.THREADS
    )


SEED = 0x123456789ABCDEF
SIZES = [1, 31, 257, 1000, 40000]


def started(offset: int = 8) -> fb.Generator:
    generator = fb.Generator("cuda").manual_seed(SEED)
    generator.set_offset(offset)
    return generator


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(
    ("dtype", "each"), [(fb.float32, 4), (fb.float64, 2), (fb.float16, 4), (fb.bfloat16, 4)]
)
def test_uniform_numbers_are_those_of_pytorch(n: int, dtype: fb.dtype, each: int) -> None:
    generator = started()
    found = fb.rand(n, dtype=dtype, device="cuda", generator=generator).cpu()
    drawn, offset = philox.stream(SEED, 8, n, each, most_blocks())
    expected = fb.from_numpy(philox.uniform(drawn)).to(dtype)
    expected[expected == 1] = 0
    assert same(found, expected)
    assert generator.get_offset() == offset
    assert (found < 1).all()


def test_bounds_of_uniform_numbers() -> None:
    x = fb.empty(3000, device="cuda", dtype=fb.bfloat16).uniform_(-2.5, 7.3).cpu().float()
    assert -2.5 <= x.min() < -2.4
    assert 7.1 < x.max() < fb.tensor(7.3).bfloat16().item()


@pytest.mark.parametrize("n", SIZES)
def test_normal_numbers_are_those_of_pytorch(n: int) -> None:
    generator = started()
    found = fb.empty(n, device="cuda").normal_(1.5, 0.3, generator=generator).cpu().numpy()
    _, offset = philox.stream(SEED, 8, n, 4, most_blocks())
    # Words come in pairs: radius and angle, of which the elements one grid apart are made.
    pairs = philox.words(SEED, 8, philox.threads_for(n, most_blocks()), (offset - 8) // 4)
    pairs = pairs.reshape(*pairs.shape[:2], 2, 2).astype(np.float64)
    radius = np.sqrt(-2 * np.log(pairs[..., 0] * 2.0**-32 + 2.0**-33))
    angle = 2 * np.pi * (pairs[..., 1] * 2.0**-32 + 2.0**-33)
    both = np.stack([radius * np.sin(angle), radius * np.cos(angle)], -1)
    expected = both.reshape(*both.shape[:2], 4).swapaxes(1, 2).reshape(-1)[:n]
    np.testing.assert_allclose(found, 1.5 + 0.3 * expected, 1e-5, 1e-5)
    assert generator.get_offset() == offset


@pytest.mark.parametrize("n", SIZES)
def test_integers_are_those_of_pytorch(n: int) -> None:
    drawn, offset = philox.stream(SEED, 8, n, 4, most_blocks())
    generator = started()
    found = fb.randint(-5, 12, (n,), device="cuda", generator=generator)
    assert generator.get_offset() == offset
    assert (found.cpu().numpy() == drawn[:, 0].astype(np.int64) % 17 - 5).all()
    drawn, offset = philox.stream(SEED, 8, n, 2, most_blocks())
    generator = started()
    found = fb.empty(n, dtype=fb.int64, device="cuda").random_(generator=generator)
    assert generator.get_offset() == offset
    number = drawn[:, 0] << np.uint64(32) | drawn[:, 1]
    assert (found.cpu().numpy() == (number % np.uint64(2**63)).astype(np.int64)).all()
    full = fb.empty(n, dtype=fb.int64, device="cuda")
    full.random_(-(2**63), None, generator=started())
    assert (full.cpu().numpy() == number.astype(np.int64)).all()


@pytest.mark.parametrize("n", SIZES)
def test_bernoulli_and_exponential_numbers_are_those_of_pytorch(n: int) -> None:
    drawn, _ = philox.stream(SEED, 8, n, 4, most_blocks())
    u = philox.uniform(drawn)
    found = fb.empty(n, dtype=fb.int8, device="cuda").bernoulli_(0.3, generator=started())
    assert (found.cpu().numpy() == (u < np.float32(0.3))).all()
    numbers = fb.empty(n, device="cuda").exponential_(1.5, generator=started()).cpu().numpy()
    np.testing.assert_allclose(numbers, -np.log(u.astype(np.float64)) / 1.5, 1e-5, 1e-6)
    assert (numbers > 0).all()
    generator = started()
    p = fb.linspace(0, 1, n).cuda()
    each = fb.bernoulli(p, generator=generator).cpu().numpy()
    quads = philox.words(SEED, 8, (n + 3) // 4, 1).reshape(-1)[:n, None]
    assert (each == (philox.uniform(quads) <= p.cpu().numpy())).all()
    assert generator.get_offset() == 20


@pytest.mark.parametrize("n", [4, 33, 1000, 1002, 40000, 40002])
def test_the_mask_of_dropout_is_that_of_pytorch(n: int) -> None:
    fb.cuda.manual_seed(SEED)
    found = F.dropout(fb.ones(n, device="cuda"), 0.25).cpu().numpy() != 0
    threads = philox.threads_for(n, most_blocks())
    blocks = (n - 1) // (threads * 4) + 1
    drawn = philox.words(SEED, 0, threads, blocks)
    if n % 4 == 0:
        order = drawn
    elif n % 2 == 0:
        order = drawn.reshape(blocks, threads, 2, 2).swapaxes(1, 2)
    else:
        order = drawn.swapaxes(1, 2)
    assert (found == (philox.uniform(order.reshape(-1, 1)[:n]) < np.float32(0.75))).all()
    assert fb.cuda.default_generators[0].get_offset() == 4 * blocks


def test_numbers_follow_the_order_of_memory() -> None:
    expected = fb.rand(12, device="cuda", generator=started())
    turned = fb.zeros(3, 4, device="cuda").t().uniform_(generator=started())
    assert same(turned.t().flatten(), expected)
    memory = fb.zeros(6, 4, device="cuda")
    memory[::2, ::2].uniform_(generator=started())
    assert same(memory[::2, ::2].flatten(), expected[:6])
    assert fb.count_nonzero(memory).item() == 6


# --- distributions: one test in 10000 would fail for another seed

N = 8000
LEVEL = 1e-4


def numbers(make: Callable[[], fb.Tensor]) -> np.ndarray:
    fb.manual_seed(7)
    try:
        drawn = make()
    except NotImplementedError as error:  # of another family
        pytest.skip(str(error))
    return drawn.cpu().double().numpy()


def empty(dtype: fb.dtype = fb.float32) -> fb.Tensor:
    return fb.empty(N, device="cuda", dtype=dtype)


def full(value: float, dtype: fb.dtype = fb.float32) -> fb.Tensor:
    return fb.full((N,), value, device="cuda", dtype=dtype)


CONTINUOUS: dict[str, tuple[Callable[[], fb.Tensor], Callable]] = {
    "uniform": (lambda: empty().uniform_(-1, 3), stats.uniform(-1, 4).cdf),
    "uniform64": (lambda: empty(fb.float64).uniform_(), stats.uniform.cdf),
    "normal": (lambda: empty().normal_(2, 3), stats.norm(2, 3).cdf),
    "normal64": (lambda: empty(fb.float64).normal_(), stats.norm.cdf),
    "complex": (
        lambda: fb.view_as_real(fb.randn(N, dtype=fb.complex64, device="cuda")).flatten(),
        stats.norm(0, 0.5**0.5).cdf,
    ),
    "log_normal": (lambda: empty().log_normal_(0.2, 0.7), stats.lognorm(0.7, 0, np.exp(0.2)).cdf),
    "exponential": (lambda: empty().exponential_(2), stats.expon(0, 0.5).cdf),
    "exponential64": (lambda: empty(fb.float64).exponential_(2), stats.expon(0, 0.5).cdf),
    "cauchy": (lambda: empty().cauchy_(1, 2), stats.cauchy(1, 2).cdf),
    "cauchy64": (lambda: empty(fb.float64).cauchy_(1, 2), stats.cauchy(1, 2).cdf),
    "gamma_small": (lambda: fb._standard_gamma(full(0.3)), stats.gamma(0.3).cdf),
    "gamma": (lambda: fb._standard_gamma(full(4.5, fb.float64)), stats.gamma(4.5).cdf),
    "dirichlet": (
        lambda: fb._sample_dirichlet(fb.tensor([0.5, 2.0, 3.0]).repeat(N, 1).cuda())[:, 1],
        stats.beta(2, 3.5).cdf,
    ),
    "normal of tensors": (lambda: fb.normal(full(1), 2.0), stats.norm(1, 2).cdf),
    "gumbel": (
        lambda: fb.distributions.Gumbel(full(1), full(2), validate_args=False).sample(),
        stats.gumbel_r(1, 2).cdf,
    ),
    "beta": (
        lambda: fb.distributions.Beta(full(2), full(3), validate_args=False).sample(),
        stats.beta(2, 3).cdf,
    ),
    "student": (
        lambda: fb.distributions.StudentT(full(5), validate_args=False).sample(),
        stats.t(5).cdf,
    ),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_distributions(name: str) -> None:
    make, cdf = CONTINUOUS[name]
    assert stats.kstest(numbers(make), cdf).pvalue > LEVEL


DISCRETE: dict[str, tuple[Callable[[], fb.Tensor], Callable]] = {
    "geometric": (lambda: empty().geometric_(0.3), stats.geom(0.3).pmf),
    "geometric of integers": (lambda: empty(fb.int64).geometric_(0.3), stats.geom(0.3).pmf),
    "bernoulli": (lambda: empty(fb.bool).bernoulli_(0.3), stats.bernoulli(0.3).pmf),
    "bernoulli64": (lambda: empty(fb.float64).bernoulli_(0.3), stats.bernoulli(0.3).pmf),
    "bernoulli of tensors": (lambda: fb.bernoulli(full(0.3)), stats.bernoulli(0.3).pmf),
    "integers": (lambda: fb.randint(2, 9, (N,), device="cuda"), stats.randint(2, 9).pmf),
    "poisson_small": (lambda: fb.poisson(full(2.5)), stats.poisson(2.5).pmf),
    "poisson_large": (lambda: fb.poisson(full(40, fb.float64)), stats.poisson(40).pmf),
    "poisson_half": (lambda: fb.poisson(full(12, fb.float16)), stats.poisson(12).pmf),
    "binomial_small": (lambda: fb.binomial(full(9), full(0.3)), stats.binom(9, 0.3).pmf),
    "binomial_large": (
        lambda: fb.binomial(full(60, fb.float64), full(0.75, fb.float64)),
        stats.binom(60, 0.75).pmf,
    ),
    "multinomial": (
        lambda: fb.multinomial(fb.tensor([1.0, 0.0, 3.0, 4.0]).cuda(), N, replacement=True),
        lambda k: np.array([1, 0, 3, 4])[k] / 8,
    ),
    "multinomial of one": (
        lambda: fb.multinomial(fb.tensor([1.0, 0.0, 3.0, 4.0]).repeat(900, 1).cuda(), 1).flatten(),
        lambda k: np.array([1, 0, 3, 4])[k] / 8,
    ),
    "first of permutations": (
        lambda: fb.stack([fb.randperm(6, device="cuda")[0] for _ in range(900)]),
        stats.randint(0, 6).pmf,
    ),
    "categorical": (
        lambda: fb.distributions.Categorical(
            fb.tensor([0.2, 0.5, 0.3]).cuda(), validate_args=False
        ).sample((N,)),
        lambda k: np.array([0.2, 0.5, 0.3])[k],
    ),
    "gumbel_softmax": (
        lambda: F.gumbel_softmax(
            fb.tensor([0.2, 0.5, 0.3]).log().repeat(N, 1).cuda(), hard=True
        ).argmax(1),
        lambda k: np.array([0.2, 0.5, 0.3])[k],
    ),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_distributions(name: str) -> None:
    make, pmf = DISCRETE[name]
    found, counts = np.unique(numbers(make).astype(np.int64), return_counts=True)
    expected = pmf(found) * counts.sum()
    assert (expected > 0).all(), "a value that the distribution does not have"
    often = expected >= 5
    rest = counts.sum() - expected[often].sum()
    seen = np.append(counts[often], counts[~often].sum())
    wanted = np.append(expected[often], rest)
    keep = wanted > 1e-9
    statistic = ((seen[keep] - wanted[keep]) ** 2 / wanted[keep]).sum()
    assert stats.chi2.sf(statistic, max(keep.sum() - 1, 1)) > LEVEL


@pytest.mark.parametrize("n", [0, 1, 2, 33, 256, 257, 4096, 4097, 10000, 70000])
@pytest.mark.parametrize("dtype", [fb.int64, fb.int32])
def test_permutations(n: int, dtype: fb.dtype) -> None:
    fb.manual_seed(3)
    found = fb.randperm(n, device="cuda", dtype=dtype)
    assert found.dtype == dtype
    values = found.cpu().numpy()
    assert (np.sort(values) == np.arange(n)).all()
    if n < 1000:
        return
    # No trace of where an element was, nor of its neighbours.
    correlation = np.corrcoef(np.arange(n), values)[0, 1]
    assert abs(correlation) < 4 / np.sqrt(n)
    differences = np.abs(np.diff(values.astype(np.int64)))
    assert (differences == 1).sum() < 12
    halves = np.histogram2d(np.arange(n), values, bins=8)[0]
    statistic = ((halves - n / 64) ** 2 / (n / 64)).sum()
    assert stats.chi2.sf(statistic, 49) > LEVEL
    assert not same(found, fb.randperm(n, device="cuda", dtype=dtype))


def test_parameters_of_tensors_differ() -> None:
    fb.manual_seed(1)
    rate = fb.tensor([[0.0, 2.0], [30.0, 500.0]]).cuda().repeat(300, 1)
    mean = fb.poisson(rate).view(300, 2, 2).mean(0).cpu()
    assert mean[0, 0] == 0
    np.testing.assert_allclose(mean.numpy()[[0, 1, 1], [1, 0, 1]], [2, 30, 500], 0.12)
    many = fb.multinomial(fb.eye(40).cuda() + 0, 7, replacement=True).cpu()
    assert (many == fb.arange(40)[:, None]).all()
    many = fb.multinomial(fb.eye(600, dtype=fb.float64).cuda()[::60], 3, replacement=True).cpu()
    assert (many == fb.arange(0, 600, 60)[:, None]).all()


@pytest.mark.parametrize("dtype", [fb.float16, fb.bfloat16, fb.float32, fb.float64])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (31,), (33, 3), (257,), (4, 300)])
def test_every_type_and_shape(dtype: fb.dtype, shape: tuple[int, ...]) -> None:
    fb.manual_seed(0)
    x = fb.full(shape, 0.5, dtype=dtype, device="cuda")
    draws = [fb.rand_like(x), fb.randn_like(x), fb.bernoulli(x), fb.poisson(x), F.dropout(x)]
    draws += [fb.randint_like(x, 5), fb.empty_like(x).exponential_(), fb.empty_like(x).cauchy_()]
    draws += [fb.empty_like(x).geometric_(0.5), fb.empty_like(x).log_normal_()]
    draws += [F.rrelu(x - 1, training=True), F.alpha_dropout(x, training=True)]
    for each in draws:
        assert (each.shape, each.dtype, each.device) == (x.shape, x.dtype, x.device)
        assert fb.isfinite(each).all()


# --- errors

BAD: list[tuple[Callable[[], object], str]] = [
    (lambda: fb.bernoulli(fb.tensor([0.5, 1.5]).cuda()), r"expected probabilities in \[0, 1\]"),
    (lambda: fb.bernoulli(fb.tensor([float("nan")]).cuda()), "expected probabilities"),
    (lambda: fb.poisson(fb.tensor([1.0, -1.0]).cuda()), "invalid Poisson rate"),
    (lambda: fb.multinomial(fb.tensor([1.0, -1.0]).cuda(), 2, True), "element < 0"),
    (lambda: fb.multinomial(fb.tensor([0.0, 0.0]).cuda(), 2, True), "sum of probabilities <= 0"),
    (lambda: fb.multinomial(fb.tensor([1.0, -1.0]).cuda(), 1), "element < 0"),
    (lambda: fb.multinomial(fb.tensor([0.0, 0.0]).cuda(), 1), "sum of probabilities <= 0"),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_parameters_raise_and_do_not_end_the_process(
    call: Callable[[], object], message: str
) -> None:
    def call_and_wait() -> None:
        call()
        fb.cuda.synchronize()

    with pytest.raises(RuntimeError, match=message):
        call_and_wait()
    fb.cuda.synchronize()
    assert fb.ones(2, device="cuda").sum().item() == 2


# --- generators


def test_a_generator_belongs_to_a_device() -> None:
    generator = fb.Generator(device="cuda")
    assert generator.device == fb.device("cuda:0")
    assert generator.initial_seed() == fb.Generator().initial_seed()
    with pytest.raises(
        RuntimeError, match="Expected a 'cuda' device type for generator but found 'cpu'"
    ):
        fb.rand(2, device="cuda", generator=fb.Generator())
    with pytest.raises(
        RuntimeError, match="Expected a 'cpu' device type for generator but found 'cuda'"
    ):
        fb.rand(2, generator=generator)
    with pytest.raises(RuntimeError, match="CPU Generator does not use offset"):
        fb.Generator().get_offset()
    with pytest.raises(RuntimeError, match="multiple of 4"):
        generator.set_offset(3)


def test_a_state_is_seed_and_offset() -> None:
    generator = fb.Generator("cuda").manual_seed(SEED)
    fb.rand(5, device="cuda", generator=generator)
    state = generator.get_state()
    assert (state.device.type, state.dtype, state.shape) == ("cpu", fb.uint8, (16,))
    assert bytes(state.tolist()) == SEED.to_bytes(8, "little") + (4).to_bytes(8, "little")
    expected = fb.rand(5, device="cuda", generator=generator)
    twins = [
        fb.Generator("cuda").set_state(state),
        pickle.loads(pickle.dumps(fb.Generator("cuda").set_state(state))),
        copy.deepcopy(fb.Generator("cuda").set_state(state)),
        fb.Generator("cuda").set_state(state).clone_state(),
    ]
    for twin in twins:
        assert twin.device.type == "cuda"
        assert same(fb.rand(5, device="cuda", generator=twin), expected)
    for bad in (fb.zeros(5056, dtype=fb.uint8), fb.tensor([0] * 8 + [1] + [0] * 7).byte()):
        with pytest.raises(RuntimeError):
            generator.set_state(bad)


def test_seeds_of_the_default_generators() -> None:
    fb.manual_seed(5)
    assert fb.cuda.initial_seed() == 5
    assert [g.initial_seed() for g in fb.cuda.default_generators] == [5] * fb.cuda.device_count()
    first = fb.rand(4, device="cuda")
    fb.cuda.manual_seed_all(5)
    assert same(fb.rand(4, device="cuda"), first)
    fb.cuda.manual_seed(6)
    assert not same(fb.rand(4, device="cuda"), first)
    assert (fb.initial_seed(), fb.cuda.initial_seed()) == (5, 6)
    state = fb.cuda.get_rng_state()
    second = fb.rand(4, device="cuda")
    fb.cuda.set_rng_state(state)
    assert same(fb.rand(4, device="cuda"), second)
    fb.cuda.set_rng_state_all(fb.cuda.get_rng_state_all())
    fb.cuda.seed()
    assert fb.cuda.initial_seed() != 6
    assert fb.seed() == fb.cuda.initial_seed()


def test_fork_rng_keeps_the_generators_of_gpus() -> None:
    fb.manual_seed(1)
    state = fb.cuda.get_rng_state()
    with fb.random.fork_rng():
        fb.rand(3, device="cuda")
    assert same(fb.cuda.get_rng_state(), state)
    with fb.random.fork_rng(devices=[]):
        fb.rand(3, device="cuda")
    assert not same(fb.cuda.get_rng_state(), state)


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_a_checkpoint_draws_the_same_numbers_again(use_reentrant: bool) -> None:
    fb.manual_seed(2)
    x = fb.ones(300, device="cuda", requires_grad=True)
    y = checkpoint(lambda t: F.dropout(t * 2), x, use_reentrant=use_reentrant)
    state = fb.cuda.get_rng_state()
    y.sum().backward()
    assert same(x.grad, y.detach())
    assert same(fb.cuda.get_rng_state(), state)


def test_samples_of_a_map() -> None:
    fb.manual_seed(3)
    x = fb.zeros(3, 5, device="cuda")
    same = fb.vmap(lambda t: t + fb.rand_like(t), randomness="same")(x)
    assert (same == same[0]).all()
    different = fb.vmap(lambda t: t + fb.rand_like(t), randomness="different")(x)
    assert not (different[0] == different[1]).any()


# --- layers and gradients


@pytest.mark.parametrize("shape", [(1,), (31,), (1000,), (7, 33)])
@pytest.mark.parametrize("dtype", [fb.float32, fb.float64, fb.bfloat16])
def test_dropout_and_its_gradient(shape: tuple[int, ...], dtype: fb.dtype) -> None:
    x = fb.full(shape, 2.0, dtype=dtype, device="cuda", requires_grad=True)
    y = nn.Dropout(0.25)(x)
    y.sum().backward()
    kept = y.detach() != 0
    scale = fb.tensor(1 / 0.75, dtype=dtype, device="cuda")
    assert same(x.grad, kept * scale)
    if x.numel() >= 200:
        assert 0.6 < kept.float().mean().item() < 0.9
    layer = nn.Dropout(0.25).eval()
    assert same(layer(x), x)


def test_dropout_of_channels() -> None:
    x = fb.ones(20, 8, 5, 5, device="cuda").to(memory_format=fb.channels_last)
    y = F.dropout2d(x, 0.5)
    channels = y.sum((2, 3)).cpu()
    assert ((channels == 0) | (channels == 50)).all()
    assert 0.2 < (channels == 0).float().mean() < 0.8
    z = F.dropout(x, 0.5)
    assert z.stride() == x.stride()


def test_rrelu_and_its_gradient() -> None:
    fb.manual_seed(4)
    x = fb.linspace(-2, 2, 500).cuda().requires_grad_()
    y = F.rrelu(x, 0.1, 0.4, training=True)
    y.sum().backward()
    slopes = x.grad.cpu()
    negative = (x <= 0).cpu()
    assert (slopes[~negative] == 1).all()
    assert stats.kstest(slopes[negative].numpy(), stats.uniform(0.1, 0.3).cdf).pvalue > LEVEL
    assert fb.allclose(y.cpu(), x.detach().cpu() * slopes)


@pytest.mark.parametrize("dtype", [fb.float32, fb.float64])
def test_gradients_of_samples(dtype: fb.dtype) -> None:
    for shape in (0.2, 1.0, 3.7, 40.0, 20000.0):
        a = fb.full((37,), shape, dtype=dtype)
        sample = fb._standard_gamma(a)
        ours = fb._standard_gamma_grad(a.cuda(), sample.cuda()).cpu()
        fb.testing.assert_close(ours, fb._standard_gamma_grad(a, sample))
    alpha = fb.tensor([0.3, 1.0, 2.5, 30.0], dtype=dtype).repeat(9, 1)
    x = fb._sample_dirichlet(alpha)
    total = alpha.sum(-1, True).expand_as(alpha)
    ours = fb._dirichlet_grad(x.cuda(), alpha.cuda(), total.cuda()).cpu()
    fb.testing.assert_close(ours, fb._dirichlet_grad(x, alpha, total))
    a = fb.full((50,), 2.0, dtype=dtype, device="cuda", requires_grad=True)
    fb.distributions.Gamma(a, fb.ones_like(a), validate_args=False).rsample().sum().backward()
    assert (a.grad > 0).all()


def test_initialisers() -> None:
    fb.manual_seed(6)
    layer = nn.Linear(200, 50, device="cuda")
    assert layer.weight.abs().max().item() <= 200**-0.5
    weight = layer.weight.detach()
    nn.init.xavier_normal_(weight)
    assert (
        stats.kstest(weight.flatten().cpu().numpy(), stats.norm(0, (2 / 250) ** 0.5).cdf).pvalue
        > LEVEL
    )
    nn.init.trunc_normal_(weight, std=2.0, a=-1, b=1)
    assert weight.abs().max().item() <= 1
    nn.init.kaiming_uniform_(weight)
    nn.init.normal_(weight, 3, 0.1)
    assert abs(weight.mean().item() - 3) < 0.01
