"""The time of a perfect machine for a piece of work: training steps against the roofline.

The machine is perfect where every product runs at the speed of a large matrix product, all else
costs nothing but the memory it moves, and the two overlap: the time is the larger of flops / rate
and bytes / bandwidth. Both rates are those of the machine at hand, measured in the same run by the
group `machine`; of the two frameworks the faster counts.

What is counted:

- Flops: two for every multiplication of a product. Backwards there are two products as large, for
  the gradients of the input and of the weight; the first layer of a network needs one. Those of
  a convolution are counted in its direct form, so that Winograd's can pass 100 %.
- Bytes of products: the input is read and the output written; backwards the input and the gradient
  of the output are read and the gradient of the input is written. What lies between products is
  taken to be fused with them.
- Bytes of parameters: read forwards and backwards, the gradient written and read, and the parameter
  and each tensor of optimiser state read and written by the step.
"""

import dataclasses

FLOAT = 4  # bytes


@dataclasses.dataclass(frozen=True)
class Work:
    """Floating-point operations, and bytes between processor and memory."""

    flops: float = 0.0
    bytes: float = 0.0

    def __add__(self, other: "Work") -> "Work":
        return Work(self.flops + other.flops, self.bytes + other.bytes)

    def __mul__(self, times: int) -> "Work":
        return Work(self.flops * times, self.bytes * times)


@dataclasses.dataclass(frozen=True)
class Rates:
    """The rates of the machine: flops and bytes per second."""

    flops: float
    bytes: float

    def seconds(self, work: Work) -> float:
        """The time that a perfect machine would need."""
        return max(work.flops / self.flops, work.bytes / self.bytes)


def product(rows: int, inner: int, columns: int, *, is_first: bool = False) -> Work:
    """A layer that multiplies `rows` inputs by a matrix, forwards and backwards."""
    return _layer(2 * rows * inner * columns, rows * inner, rows * columns, is_first)


def convolution(
    batch: int,
    channels: tuple[int, int],
    size: tuple[int, int],
    kernel: int,
    is_first: bool = False,
) -> Work:
    """A square two-dimensional convolution: channels and edge length, each before and after."""
    inputs = batch * channels[0] * size[0] ** 2
    outputs = batch * channels[1] * size[1] ** 2
    return _layer(2 * outputs * channels[0] * kernel**2, inputs, outputs, is_first)


def attention(batch: int, heads: int, length: int, features: int) -> Work:
    """Causal attention: products of queries with keys and of weights with values, half of each."""
    pairs = batch * heads * length * (length + 1) // 2
    size = batch * heads * length * features
    return _layer(2 * 2 * pairs * features, 3 * size, size, False)


def parameters(count: int, states: int) -> Work:
    """Parameters that are used, and stepped by an optimiser with so many tensors of state."""
    return Work(0, FLOAT * count * (2 + 2 + 2 + 2 * states))


def _layer(flops: int, inputs: int, outputs: int, is_first: bool) -> Work:
    passes = 2 if is_first else 3
    return Work(flops * passes, FLOAT * (inputs * passes + outputs * 2))
