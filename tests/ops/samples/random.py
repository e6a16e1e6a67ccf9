"""Samples of random numbers.

The generic tests seed before every call, so that values can be compared with PyTorch's.
"""

from tests.ops.registry import DType, call, errors, nan, samples


@samples("rand", "randn")
def rand(make):
    yield call(3, 4, dtype=make.dtype)
    yield call((5,), dtype=make.dtype)
    yield call((), dtype=make.dtype)
    yield call(2, 0, dtype=make.dtype)
    yield call(17, dtype=make.dtype)  # a block of 16 normal numbers and a rest
    yield call((40, 30), dtype=make.dtype)
    yield call(size=(2, 3), dtype=make.dtype)


@errors("rand", "randn")
def rand_errors(make):
    yield call(2, -1), RuntimeError, "negative"
    yield call(2, generator=1), TypeError, "generator"


@samples("randint")
def randint(make):
    yield call(2, (3, 4), dtype=make.dtype)
    yield call(0, 2, (1500,), dtype=make.dtype)
    yield call(high=2, size=(5,), dtype=make.dtype)
    yield call(low=1, high=2, size=(5,), dtype=make.dtype)
    if not make.is_bool:
        yield call(5, 100, (3, 4), dtype=make.dtype)
    if make.dtype == "int64":
        yield 2**28, (20,)  # from here on a number takes two words
        yield -(2**62), 2**62, (20,)


@errors("randint")
def randint_errors(make):
    yield (5, 5, (2,)), RuntimeError, "from=5 >= to=5"
    yield call(300, (2,), dtype=DType("uint8")), RuntimeError, "to - 1 is out of bounds"


@samples("randperm")
def randperm(make):
    yield call(10, dtype=make.dtype)
    yield call(0, dtype=make.dtype)
    yield call(1, dtype=make.dtype)
    yield call(100, dtype=make.dtype)
    if make.dtype == "int64":
        yield (5000,)


@errors("randperm")
def randperm_errors(make):
    yield (-1,), RuntimeError, "negative"


@samples("rand_like", "randn_like")
def rand_like(make):
    yield make(3, 4)
    yield make(2, 3, 4, 5)
    yield make()
    yield make(0, 3)
    yield call(make(7), dtype=make.dtype)


@samples("randint_like")
def randint_like(make):
    yield make(3, 4), 2
    yield make(3, 4), 1, 2
    yield make(2, 3, 4, 5), 2


@samples("normal")
def normal(make):
    yield make(3, 4), make.positive(3, 4) if not make.is_complex else 2.0
    yield make(3, 4), 0.5
    yield make(30)
    yield call(1.5, 0.5, (4, 5), dtype=make.dtype)
    if not make.is_complex:
        yield make(3, 1), make.positive(4)
        yield 2.0, make.positive(20)


@errors("normal")
def normal_errors(make):
    yield (make(3), -1.0), RuntimeError, "std >= 0.0, but found std -1"
    yield (make(3), make.of(1, -1, 1)), RuntimeError, "all elements of std >= 0.0"
    yield (0.0, -1.0, (2,)), RuntimeError, "std >= 0.0, but found std -1"


@samples("bernoulli")
def bernoulli(make):
    if make.is_floating:
        yield make(3, 4, low=0, high=1)
        yield make.of(0, 1, 0.5)
        yield make(1500, low=0, high=1)
    yield make(3, 4), 0.3
    yield make(3, 4), 0.0
    yield call(make(1500), p=0.5)


@errors("bernoulli")
def bernoulli_errors(make):
    yield make.of(0.5, 2.0), RuntimeError, "[0, 1]"
    yield make.of(0.5, nan), RuntimeError, "[0, 1]"
    yield (make(3), 1.5), RuntimeError, "p=1.5"


@samples("multinomial")
def multinomial(make):
    yield make.positive(8), 1
    yield make.positive(3, 8), 5
    yield make.positive(3, 8), 8
    yield make.positive(3, 8), 20, True
    yield call(make.positive(3, 8), num_samples=1, replacement=True)
    yield make.of(0, 1, 0, 3), 2
    yield make.positive(0, 4), 2


@errors("multinomial")
def multinomial_errors(make):
    yield (make.positive(3), 4), RuntimeError, "without replacement"
    yield (make.positive(3), 0), RuntimeError, "n_sample <= 0"
    yield (make.positive(2, 2, 2), 1), RuntimeError, "1 or 2 dim"
    yield (make(3, dtype="int64"), 1), RuntimeError, "not implemented for dtype int64"
    yield (make.of(1, -1), 1), RuntimeError, "element < 0"
    yield (make.of(1, nan), 1), RuntimeError, "`nan`"
    yield (make.of(0, 0), 1), RuntimeError, "sum of probabilities <= 0"
    yield (make.of(1, -1), 2, True), RuntimeError, "entry < 0"
    yield (make.of(0, 0), 2, True), RuntimeError, "sum of probabilities <= 0"


@samples("poisson")
def poisson(make):
    yield make(3, 4, low=0, high=5)
    yield make(50, low=10, high=100)
    yield make.of(0, 0, 1)


@errors("poisson")
def poisson_errors(make):
    yield make.of(-1), RuntimeError, "non-negative"


@samples("binomial", dtypes=("float32", "float64"))
def binomial(make):
    yield make.of(0, 1, 10, 100, 1000), make(5, low=0, high=1)
    yield make.of([10], [200]), make(4, low=0, high=1)
    yield make.of(5, 5), make.of(0, 1)


@errors("binomial")
def binomial_errors(make):
    yield (make(3, dtype="int64"), make.unit(3)), ValueError, "floating-point"


@samples("uniform_")
def uniform_(make):
    yield make(3, 4)
    yield make(1500)
    yield make(3, 4), -2.5, 7.3
    yield call(make(2, 3, 4, 5), to=2.0)


@errors("uniform_")
def uniform__errors(make):
    yield (make(3), 2, 1), RuntimeError, "from=2 > to=1"
    yield (make(3), 0, 1e40), RuntimeError, "out of bounds"


@samples("normal_")
def normal_(make):
    yield make(3, 4)
    yield make(40, 5)  # blocks of 16 where contiguous, one by one where not
    yield make(2, 3, 4, 5), 1.5, 0.3
    yield call(make(33), std=2.0, mean=-1.0)


@errors("normal_")
def normal__errors(make):
    yield (make(3), 0, -1), RuntimeError, "found std -1"


@samples("log_normal_")
def log_normal_(make):
    yield make(3, 4)
    yield make(31), 0.2, 0.7


@errors("log_normal_")
def log_normal__errors(make):
    yield (make(3), 0, 0), RuntimeError, "std > 0.0"


@samples("exponential_")
def exponential_(make):
    yield make(3, 4)
    yield call(make(31), lambd=2.5)


@errors("exponential_")
def exponential__errors(make):
    yield (make(3), 0), RuntimeError, "lambda > 0.0"
    yield make(3, dtype="int64"), RuntimeError, "continuous"


@samples("cauchy_")
def cauchy_(make):
    yield make(3, 4)
    yield call(make(31), median=1.5, sigma=0.5)


@errors("cauchy_")
def cauchy__errors(make):
    yield (make(3), 0, 0), RuntimeError, "sigma > 0.0"
    yield make(3, dtype="int64"), RuntimeError, "not implemented for dtype int64"


@samples("geometric_")
def geometric_(make):
    yield make(3, 4), 0.3
    yield call(make(31), p=0.9)


@errors("geometric_")
def geometric__errors(make):
    yield (make(3), 0.0), RuntimeError, "p=0"
    yield (make(3), 1.0), RuntimeError, "p=1"


@samples("bernoulli_")
def bernoulli_(make):
    yield make(3, 4)
    yield make(1500), 0.25
    yield make(3, 4), make(4, low=0, high=1, dtype="float32")
    yield make(3, 4), make(3, 4, low=0, high=1, dtype="float64")
    yield make(3, 4), make(1, low=0, high=1, dtype="bfloat16")


@errors("bernoulli_")
def bernoulli__errors(make):
    yield (make(3), 1.5), RuntimeError, "p=1.5"
    yield (make(2), make.positive(3)), RuntimeError, "(2,)"


@samples("random_")
def random_(make):
    yield make(3, 4)
    yield make(1500)
    yield make(3, 4), 2
    yield make(3, 4), 0, None
    if not make.is_bool:
        yield make(3, 4), 5, 77
    if make.dtype == "int64":
        yield make(20), -(2**63), None
        yield make(20), -5, 2**40


@errors("random_")
def random__errors(make):
    yield (make(3), 5, 5), RuntimeError, "from=5 >= to=5"
    yield (make(3), -5), RuntimeError, "from=0 >= to=-5"
    yield (make(3, dtype="int8"), 0, 300), RuntimeError, "out of bounds"
