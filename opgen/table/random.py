"""Random numbers. For the same seed they are PyTorch's, in every dtype and memory layout."""

from opgen.model import (
    floating,
    floating_complex,
    native,
    none,
    not_implemented,
    op,
    real,
    real_bool,
)

_GENERATOR = "generator: Generator | None = None"
_OUT = "out: Tensor | None = None"
_OPTIONS = (
    "dtype: DType | None = None, layout: Layout | None = None, device: Device | None = None, "
    "pin_memory: bool | None = False, requires_grad: bool = False"
)
_LIKE = f"*, {_GENERATOR}, {_OPTIONS}, memory_format: MemoryFormat | None = None"

# --- new tensors

op(
    f"rand(size: Size, *, {_GENERATOR}, {_OUT}, {_OPTIONS}) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    forms="function",
    random=True,
    grad=none,
    doc="Random numbers, uniform on [0, 1); complex ones are so in both parts.",
)
op(
    f"randn(size: Size, *, {_GENERATOR}, {_OUT}, {_OPTIONS}) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    type_check="own",
    forms="function",
    random=True,
    grad=none,
    doc="Random numbers from the standard normal distribution; complex ones share the variance.",
)
op(
    f"randint(high: int, size: Ints, *, {_GENERATOR}, {_OUT}, {_OPTIONS}) -> Tensor",
    kind=native,
    dtypes=real_bool,
    forms="function",
    random=True,
    grad=none,
    doc="Random integers from 0 to high - 1; int64 unless dtype says otherwise.",
)
op(
    f"randint.low(low: int, high: int, size: Ints, *, {_GENERATOR}, {_OUT}, {_OPTIONS}) -> Tensor",
    kind=native,
    dtypes=real_bool,
    forms="function",
    random=True,
    grad=none,
    doc="Random integers from low to high - 1; int64 unless dtype says otherwise.",
)
op(
    f"randperm(n: int, *, {_GENERATOR}, {_OUT}, {_OPTIONS}) -> Tensor",
    kind=native,
    dtypes=real,
    forms="function",
    random=True,
    grad=none,
    doc="A random permutation of 0, 1, ... n - 1; int64 unless dtype says otherwise.",
)
op(
    f"rand_like(input: Tensor, {_LIKE}) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    forms="function",
    random=True,
    grad=none,
    doc="Random numbers, uniform on [0, 1), in the shape, dtype and memory order of input.",
)
op(
    f"randn_like(input: Tensor, {_LIKE}) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    type_check="own",
    forms="function",
    random=True,
    grad=none,
    doc="Random numbers from the standard normal distribution, in the shape, dtype and memory order of input.",
)
op(
    f"randint_like(input: Tensor, high: int, {_LIKE}) -> Tensor",
    kind=native,
    dtypes=real_bool,
    forms="function",
    random=True,
    grad=none,
    doc="Random integers from 0 to high - 1, in the shape and dtype of input.",
)
op(
    f"randint_like.low(input: Tensor, low: int, high: int, {_LIKE}) -> Tensor",
    kind=native,
    dtypes=real_bool,
    forms="function",
    random=True,
    grad=none,
    doc="Random integers from low to high - 1, in the shape and dtype of input.",
)
op(
    f"normal(mean: Tensor, std: Tensor, *, {_GENERATOR}, {_OUT}) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    forms="function",
    random=True,
    grad={"mean": "zeros_like(grad)", "std": "zeros_like(grad)"},
    node="NormalBackward3",
    out="whole",
    doc="Normally distributed numbers with a mean and a standard deviation for each element.",
    batch="aligned",
)
op(
    f"normal.number_std(mean: Tensor, std: float = 1.0, *, {_GENERATOR}, {_OUT}) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    forms="function",
    random=True,
    grad={"mean": "zeros_like(grad)"},
    node="NormalBackward1",
    out="whole",
    doc="Normally distributed numbers with a mean for each element.",
)
op(
    f"normal.number_mean(mean: float, std: Tensor, *, {_GENERATOR}, {_OUT}) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    forms="function",
    random=True,
    grad={"std": "zeros_like(grad)"},
    node="NormalBackward2",
    out="whole",
    doc="Normally distributed numbers with a standard deviation for each element.",
)
op(
    f"normal.size(mean: float, std: float, size: Ints, *, {_GENERATOR}, {_OUT}, {_OPTIONS}) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    type_check="own",
    forms="function",
    random=True,
    grad=none,
    doc="Normally distributed numbers of one mean and standard deviation.",
)

# --- tensors that are parameters

op(
    f"bernoulli(input: Tensor, *, {_GENERATOR}, {_OUT}) -> Tensor",
    kind=native,
    dtypes=floating,
    random=True,
    grad={"input": "zeros_like(grad)"},
    out="any quiet whole",
    doc="Draws 1 with the probability in input, else 0.",
)
op(
    f"bernoulli.p(input: Tensor, p: float, *, {_GENERATOR}, {_OUT}) -> Tensor",
    kind=native,
    dtypes=real_bool,
    type_check="own",
    random=True,
    grad=not_implemented,
    out="any quiet whole",
    doc="Draws 1 with probability p, else 0, in the shape and dtype of input.",
)
op(
    f"multinomial(input: Tensor, num_samples: int, replacement: bool = False, *, {_GENERATOR}, {_OUT})"
    " -> Tensor",
    kind=native,
    dtypes=floating,
    random=True,
    grad=none,
    out="exact quiet",
    doc="Draws num_samples indices from each row, in proportion to the weights in input.",
    batch="loop",
)
op(
    f"poisson(input: Tensor, {_GENERATOR}) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="function",
    random=True,
    grad={"input": "zeros_like(grad)"},
    doc="Draws from Poisson distributions with the rates in input; a rate of 0 gives 0.",
)
op(
    f"binomial(count: Tensor, prob: Tensor, {_GENERATOR}) -> Tensor",
    kind=native,
    dtypes=("float32", "float64"),
    type_check="own",
    forms="function",
    random=True,
    grad=not_implemented,
    doc="Draws from binomial distributions: how many of count trials succeed with probability prob.",
    batch="aligned",
)
op(
    f"_standard_gamma(input: Tensor, {_GENERATOR}) -> Tensor",
    kind=native,
    dtypes=("float32", "float64"),
    forms="function",
    random=True,
    grad={"input": "grad * _standard_gamma_grad(input, result)"},
    doc="Gamma numbers of scale 1 with the shape parameters in input.",
)
op(
    "_standard_gamma_grad(input: Tensor, output: Tensor) -> Tensor",
    kind=native,
    dtypes=("float32", "float64"),
    forms="function",
    grad=not_implemented,
    doc="The derivatives of gamma numbers by their shape parameters, at a fixed probability.",
    batch="aligned",
)
op(
    f"_sample_dirichlet(input: Tensor, {_GENERATOR}) -> Tensor",
    kind=native,
    dtypes=("float32", "float64"),
    forms="function",
    random=True,
    grad={
        "input": "_dirichlet_grad(result, input, sum(input, -1, True))"
        " * (grad - sum(result * grad, -1, True))"
    },
    doc="Dirichlet numbers with the concentrations in input; the last dim of the result sums to 1.",
)

op(
    "_dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor) -> Tensor",
    kind=native,
    dtypes=("float32", "float64"),
    forms="function",
    grad=not_implemented,
    doc="The derivatives of Dirichlet numbers x by their concentrations alpha, divided by 1 - x.",
    batch="aligned",
)

# --- filling a tensor. `from` is a Python keyword: an argument of that name is written from_.

op(
    f"uniform_(input: Tensor, from_: float = 0.0, to: float = 1.0, *, {_GENERATOR}) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    forms="method",
    mutates=True,
    random=True,
    grad={"input": "zeros_like(grad)"},
    doc="Fills the tensor with numbers from the uniform distribution on [from, to).",
)
op(
    f"normal_(input: Tensor, mean: float = 0.0, std: float = 1.0, *, {_GENERATOR}) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    type_check="own",
    forms="method",
    mutates=True,
    random=True,
    grad={"input": "zeros_like(grad)"},
    doc="Fills the tensor with normally distributed numbers.",
)
op(
    f"log_normal_(input: Tensor, mean: float = 1.0, std: float = 2.0, *, {_GENERATOR}) -> Tensor",
    kind=native,
    dtypes=floating,
    type_check="own",
    forms="method",
    mutates=True,
    random=True,
    grad={"input": "zeros_like(grad)"},
    doc="Fills the tensor with log-normally distributed numbers.",
)
op(
    f"exponential_(input: Tensor, lambd: float = 1.0, *, {_GENERATOR}) -> Tensor",
    kind=native,
    dtypes=floating,
    type_check="own",
    forms="method",
    mutates=True,
    random=True,
    grad={"input": "zeros_like(grad)"},
    doc="Fills the tensor with exponentially distributed numbers of rate lambd.",
)
op(
    f"cauchy_(input: Tensor, median: float = 0.0, sigma: float = 1.0, *, {_GENERATOR}) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="method",
    mutates=True,
    random=True,
    grad={"input": "zeros_like(grad)"},
    doc="Fills the tensor with numbers from a Cauchy distribution.",
)
op(
    f"geometric_(input: Tensor, p: float, *, {_GENERATOR}) -> Tensor",
    kind=native,
    dtypes=real,
    type_check="own",
    forms="method",
    mutates=True,
    random=True,
    grad={"input": "zeros_like(grad)"},
    doc="Fills the tensor from a geometric distribution: how many trials the first success takes.",
)
op(
    f"bernoulli_(input: Tensor, p: Tensor, *, {_GENERATOR}) -> Tensor",
    kind=native,
    dtypes=real_bool,
    type_check="own",
    forms="method",
    mutates=True,
    random=True,
    grad={"input": "zeros_like(grad)", "p": "zeros_like(grad)"},
    node="BernoulliBackward1",
    doc="Fills the tensor with 1 with the probabilities in p, which broadcasts, and 0 otherwise.",
)
op(
    f"bernoulli_.float(input: Tensor, p: float = 0.5, *, {_GENERATOR}) -> Tensor",
    kind=native,
    dtypes=real_bool,
    type_check="own",
    forms="method",
    mutates=True,
    random=True,
    grad={"input": "zeros_like(grad)"},
    node="BernoulliBackward2",
    doc="Fills the tensor with 1 with probability p and 0 otherwise.",
)
op(
    f"random_(input: Tensor, *, {_GENERATOR}) -> Tensor",
    kind=native,
    dtypes=real_bool,
    type_check="own",
    forms="method",
    mutates=True,
    random=True,
    grad={"input": "zeros_like(grad)"},
    node="RandomBackward2",
    doc="Fills the tensor with random integers from 0 to the largest that the dtype represents exactly.",
)
op(
    f"random_.to(input: Tensor, to: int, *, {_GENERATOR}) -> Tensor",
    kind=native,
    dtypes=real_bool,
    forms="method",
    mutates=True,
    random=True,
    grad={"input": "zeros_like(grad)"},
    node="RandomBackward1",
    doc="Fills the tensor with random integers from 0 to to - 1.",
)
op(
    f"random_.range(input: Tensor, from_: int, to: int | None, *, {_GENERATOR}) -> Tensor",
    kind=native,
    dtypes=real_bool,
    forms="method",
    mutates=True,
    random=True,
    grad={"input": "zeros_like(grad)"},
    doc="Fills the tensor with random integers from from to to - 1; None is the dtype's end.",
)
