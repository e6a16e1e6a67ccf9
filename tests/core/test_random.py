"""Random numbers are PyTorch's: values, how far each call moves the stream, states and seeds."""

import copy
import pickle
import struct
import threading

import numpy as np
import pytest

import flambeau as t

WEIGHTS = "t.tensor([1.0, 2.0, 3.0, 4.0])"

# What PyTorch 2.13.0 gives after manual_seed(42): the last elements, and t.randint(2**27, ()) then.
NUMBERS = [
    ("t.rand(5)", [0.915003955, 0.38286376, 0.959305644, 0.390448213], 127521863),
    ("t.rand(5, dtype=t.float64)", [0.123586073, 0.0525801644, 0.526171897], 133120466),
    ("t.rand(5, dtype=t.float16)", [0.3828125, 0.959472656, 0.390380859], 127521863),
    ("t.rand(5, dtype=t.bfloat16)", [0.3828125, 0.9609375, 0.390625], 127521863),
    ("t.rand(3, dtype=t.complex64)", [0.39044821 + 0.60089535j], 21081788),
    ("t.rand(2000)", [0.260761797, 0.783420086, 0.177478194, 0.452971458], 124051246),
    ("t.randn(5)", [0.128809407, 0.234462366, 0.23033303, -1.12285638], 115249482),
    ("t.randn(15)", [0.809357226, 1.11029029, -1.68979895, -0.988959908], 98750923),
    ("t.randn(16)", [-0.727881312, -0.559430182, -0.768838882, 0.76244539], 31632483),
    ("t.randn(17)", [0.041759491, -0.251575291, 0.859858513, -0.309726775], 76893497),
    ("t.randn(1000, 3)", [-0.194675148, -0.0342952944, -0.565524817, 0.439776391], 60795662),
    ("t.randn(17, dtype=t.float64)", [1.10846118, 0.865173465, 0.855215961, 0.24941188], 48900483),
    ("t.randn(17, dtype=t.float16)", [0.0417480469, -0.251464844, 0.859863281], 98750923),
    ("t.randn(17, dtype=t.bfloat16)", [0.0417480469, -0.251953125, 0.859375], 98750923),
    ("t.randn(9, dtype=t.complex64)", [-0.219009906 - 0.279809564j], 106328085),
    ("t.randn_like(t.zeros(3, 7).t())", [2.20820141, -1.68979895, 1.35254776], 46792155),
    ("t.randint(10, (6,))", [6, 4, 6, 5], 21081788),
    ("t.randint(-5, 5, (6,), dtype=t.int8)", [1, -1, 1, 0], 21081788),
    ("t.randint(2**28, (6,))", [127521863, 147532820, 35788921, 160953558], 115249482),
    ("t.randint(-(2**62), 2**62, (6,))", [-1733650121047795591, -1734094960886025002], 115249482),
    ("t.randint(3, (6,), dtype=t.float32)", [1, 1, 0, 2], 21081788),
    ("t.randperm(10)", [0, 9, 3, 7], 35788921),
    ("t.randperm(1000)", [284, 638, 96, 455], 67606426),
    ("t.zeros(5).uniform_(-2.5, 7.3)", [6.46703911, 1.25206494, 6.90119553, 1.32639253], 127521863),
    ("t.zeros(40).normal_(1.5, 0.3)", [1.36966372, 1.08409035, 1.11413527], 128482111),
    ("t.zeros(5).log_normal_(0.2, 0.7)", [1.43925214, 1.43509793, 0.556549311], 115249482),
    ("t.zeros(5).exponential_(1.5)", [0.0879445225, 0.0360086337, 0.497940451], 133120466),
    ("t.zeros(5).cauchy_(1.0, 0.5)", [-0.222437158, -1.99931967, 1.04120362], 133120466),
    ("t.zeros(5).geometric_(0.2)", [13, 10, 14, 3], 133120466),
    ("t.zeros(6).bernoulli_(0.3)", [1, 1, 0, 0], 115249482),
    ("t.zeros(6, dtype=t.int64).bernoulli_(t.full((6,), 0.3))", [0, 0, 0, 0], 21081788),
    ("t.zeros(6).bernoulli_(t.full((6,), 0.3, dtype=t.float64))", [1, 1, 0, 0], 115249482),
    ("t.zeros(4).random_()", [14801927, 15351016, 6423145, 16094432], 56882282),
    ("t.zeros(4, dtype=t.int32).random_()", [1935803228, 787846414], 56882282),
    ("t.zeros(4, dtype=t.int64).random_()", [4279532810384561223, 1819927849474927636], 133224038),
    ("t.bernoulli(t.full((6,), 0.6))", [1, 0, 1, 0], 21081788),
    (f"t.multinomial({WEIGHTS}, 3)", [3, 1, 2], 133224038),
    (f"t.multinomial({WEIGHTS}, 1)", [3], 133224038),
    (f"t.multinomial({WEIGHTS}, 6, True)", [1, 0, 2, 2], 115249482),
    ("t.poisson(t.tensor([0.5, 5.0, 50.0, 500.0]))", [0, 2, 50, 462], 88409749),
    ("t.binomial(t.tensor([50.0, 500.0]), t.tensor([0.5, 0.9]))", [18, 459], 133224038),
    ("t._standard_gamma(t.tensor([0.5, 1.0, 5.0]))", [0.841549575, 1.10939658], 31632483),
    ("t.normal(t.arange(4.0), 2.0)", [1.25761878, 2.46892476, 3.46066618], 133224038),
    ("t.normal(t.arange(4.0), t.arange(4.0))", [0, 1.12880945, 2.46892476, 3.69099903], 133224038),
    ("t.normal(1.0, 2.0, (4,))", [1.25761878, 1.46892476, 1.46066606], 133224038),
]


@pytest.mark.parametrize(("source", "last", "then"), NUMBERS, ids=[each[0] for each in NUMBERS])
def test_numbers(source: str, last: list, then: int) -> None:
    t.manual_seed(42)
    values = eval(source).flatten().tolist()
    np.testing.assert_allclose(values[-len(last) :], last, 2e-6)
    assert t.randint(2**27, ()).item() == then, "the stream is out of step"


def test_parameters_as_small_as_one_bit_matter() -> None:
    t.manual_seed(0)
    assert t.zeros(10000).bernoulli_(0.0).sum().item() == 0
    assert t.zeros(10000).bernoulli_(1.0).sum().item() == 10000
    values = t.zeros(100000, dtype=t.float16).uniform_(0, 1)
    assert (values < 1).all()  # rounding must not reach the excluded bound
    assert (t.randint(0, 2048, (100000,), dtype=t.float16) < 2048).all()


def test_spare_normal_number_is_kept_between_calls() -> None:
    t.manual_seed(1)
    together = t.randn(4)
    t.manual_seed(1)
    apart = t.cat([t.randn(1), t.randn(3)])
    assert (together == apart).all()
    t.manual_seed(1)
    t.randn(1)
    t.manual_seed(1)  # forgets the spare
    assert (t.randn(4) == together).all()


def test_strided_tensors_are_filled_in_memory_order() -> None:
    t.manual_seed(3)
    expected = t.rand(12)
    t.manual_seed(3)
    turned = t.zeros(3, 4).t().uniform_()
    assert (turned.t().flatten() == expected).all()
    t.manual_seed(3)
    memory = t.zeros(6, 4)
    memory[::2, ::2].uniform_()
    assert (memory[::2, ::2].flatten() == expected[:6]).all()
    assert memory.count_nonzero() == 6


def test_generators_are_independent() -> None:
    generator = t.Generator().manual_seed(7)
    t.manual_seed(5)
    expected = t.rand(3)
    t.manual_seed(5)
    first = t.rand(3, generator=generator)
    assert (t.rand(3) == expected).all()
    assert (t.rand(3, generator=t.Generator().manual_seed(7)) == first).all()


def test_state_has_the_layout_of_pytorch() -> None:
    generator = t.Generator().manual_seed(5)
    t.randn(3, generator=generator)
    state = generator.get_state()
    assert state.dtype == t.uint8
    assert state.shape == (5056,)
    content = bytes(state.tolist())
    seed, left, seeded, position = struct.unpack_from("<QiiQ", content)
    assert (seed, left, seeded, position) == (5, 617, 1, 8)
    assert struct.unpack_from("<2Q", content, 24) == (0xF348EE4B, 0x2A831925)
    unused, spare, also_unused, is_spare = struct.unpack_from("<dddi", content, 5016)
    assert (unused, also_unused, is_spare) == (0, 0, 1)
    assert spare == pytest.approx(0.6675242)


def test_a_state_is_where_the_stream_goes_on() -> None:
    t.manual_seed(11)
    t.randn(3)
    state = t.get_rng_state()
    expected = [t.randn(1).item() for _ in range(700)]
    t.set_rng_state(state)
    assert [t.randn(1).item() for _ in range(700)] == expected
    t.set_rng_state(state)
    for twin in (
        t.default_generator.clone_state(),
        copy.deepcopy(t.default_generator),
        pickle.loads(pickle.dumps(t.default_generator)),
        t.Generator().set_state(state),
    ):
        assert t.randn(1, generator=twin).item() == expected[0]
        assert twin.initial_seed() == 11


@pytest.mark.parametrize(
    ("state", "error", "message"),
    [
        (3, TypeError, "ByteTensor"),
        (t.zeros(5056), TypeError, "ByteTensor"),
        (t.zeros(10, dtype=t.uint8), RuntimeError, "5056"),
        (t.zeros(5056, dtype=t.uint8), RuntimeError, "Invalid mt19937 state"),
        (t.zeros(10112, dtype=t.uint8)[::2], RuntimeError, "contiguous"),
    ],
)
def test_bad_states_are_refused(state: object, error: type[Exception], message: str) -> None:
    before = t.get_rng_state()
    with pytest.raises(error, match=message):
        t.set_rng_state(state)
    assert (t.get_rng_state() == before).all()


def test_a_state_that_lies_about_its_position_stays_inside() -> None:
    state = t.get_rng_state()
    state[8] = 112  # left = 624, the most there can be ...
    state[9] = 2
    state[16] = 112  # ... and next = 624, the end of the words
    state[17] = 2
    t.Generator().set_state(state)
    generator = t.Generator().set_state(state)
    assert t.rand(2000, generator=generator).max() < 1


@pytest.mark.parametrize(
    ("seed", "initial"),
    [(0, 0), (-1, 2**64 - 1), (2**64 - 1, 2**64 - 1), (-(2**63), 2**63), (1.9, 1), ("12", 12)],
)
def test_seeds(seed: object, initial: int) -> None:
    assert t.manual_seed(seed) is t.default_generator
    assert t.initial_seed() == initial


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1, 2**200])
def test_seeds_of_more_than_64_bits(seed: int) -> None:
    with pytest.raises(ValueError, match="Overflow"):
        t.manual_seed(seed)


@pytest.mark.parametrize("seed", [1.5, True, "1", None])
def test_a_generator_takes_no_seed_but_an_int(seed: object) -> None:
    with pytest.raises(RuntimeError, match="manual_seed expected a long"):
        t.Generator().manual_seed(seed)


def test_unforeseeable_seeds() -> None:
    assert t.seed() != t.seed()
    assert t.initial_seed() == t.default_generator.initial_seed()
    assert t.Generator().initial_seed() == 67280421310721


def test_a_generator_is_of_the_cpu() -> None:
    assert t.Generator().device == t.device("cpu")
    assert t.Generator(device="cpu").device.type == "cpu"
    with pytest.raises(RuntimeError, match=r"(?i)meta"):
        t.Generator("meta")
    with pytest.raises(TypeError, match="device"):
        t.Generator(3.5)


def test_fork_rng() -> None:
    t.manual_seed(9)
    with t.random.fork_rng():
        inside = t.rand(2)
    assert (t.rand(2) == inside).all()
    with t.random.fork_rng(enabled=False):
        t.rand(2)
    assert not (t.rand(2) == inside).any()


def test_threads_share_a_generator_without_losing_numbers() -> None:
    """Every draw takes the next stretch of the stream, whole."""
    drawn: list[tuple[float, ...]] = []

    def draw() -> None:
        drawn.extend(tuple(t.randn(2000, generator=shared).tolist()) for _ in range(50))

    shared = t.Generator().manual_seed(1)
    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = t.Generator().manual_seed(1)
    expected = [tuple(t.randn(2000, generator=alone).tolist()) for _ in range(200)]
    assert sorted(drawn) == sorted(expected)


@pytest.mark.parametrize("source", ["t.randn(300000)", "t.randn(100000, dtype=t.float64)"])
def test_numbers_do_not_depend_on_threads(source: str) -> None:
    before = t.get_num_threads()
    results = []
    try:
        for count in (1, 2, 3):
            t.set_num_threads(count)
            t.manual_seed(4)
            results.append(eval(source))
    finally:
        t.set_num_threads(before)
    assert all((each == results[0]).all() for each in results[1:])
