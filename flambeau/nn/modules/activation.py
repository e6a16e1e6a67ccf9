"""Activation functions as modules."""

from __future__ import annotations

import warnings
from typing import Any

import flambeau as fb
import flambeau.nn.functional as F
from flambeau import Tensor
from flambeau.nn.init import constant_
from flambeau.nn.modules._attention import MultiheadAttention
from flambeau.nn.modules.module import Module
from flambeau.nn.parameter import Parameter

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "MultiheadAttention",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]


class _Plain(Module):
    """An activation function without options."""

    def __init__(self) -> None:
        super().__init__()


class _InPlace(Module):
    """An activation function that may write its result over its input."""

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""

    def _fb_with_inplace(self, parameters: str) -> str:
        return f"{parameters}, inplace=True" if self.inplace else parameters


class Threshold(_InPlace):
    """Replace elements that are not above a threshold by a constant.

    y = x if x > threshold, else value

    Args:
        threshold: Limit that elements must exceed to pass.
        value: What replaces the others.
        inplace: Whether to overwrite the input. Default: False.

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.Threshold(0.5, -1.0)(torch.tensor([-2.0, -0.5, 0.0, 1.0, 3.0]))
        tensor([-1., -1., -1.,  1.,  3.])

    See also:
        `nn.functional.threshold`.
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold = threshold
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return self._fb_with_inplace(f"threshold={self.threshold}, value={self.value}")


class ReLU(_InPlace):
    """Rectified linear unit: set negative elements to 0.

    y = max(0, x)

    Args:
        inplace: Whether to overwrite the input. Default: False.

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.ReLU()(torch.tensor([-2.0, -0.5, 0.0, 1.0, 3.0]))
        tensor([0., 0., 0., 1., 3.])

    See also:
        `nn.LeakyReLU`, `nn.GELU`, `nn.functional.relu`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)


class RReLU(_InPlace):
    """Leaky rectifier with a random slope for each negative element.

    y = x if x >= 0, else a x

    In training a is drawn evenly from [lower, upper) for every element; in evaluation it is
    (lower + upper) / 2.

    Args:
        lower: Lower end of the slopes. Default: 1/8.
        upper: Upper end of the slopes. Default: 1/3.
        inplace: Whether to overwrite the input. Default: False.

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> layer = nn.RReLU(0.1, 0.3).eval()
        >>> layer(torch.tensor([-2.0, -0.5, 0.0, 1.0, 3.0]))
        tensor([-0.4000, -0.1000,  0.0000,  1.0000,  3.0000])

    See also:
        `nn.LeakyReLU`, `nn.functional.rrelu`.
    """

    def __init__(
        self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False
    ) -> None:
        super().__init__(inplace)
        self.lower = lower
        self.upper = upper

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return self._fb_with_inplace(f"lower={self.lower}, upper={self.upper}")


class Hardtanh(_InPlace):
    """Clamp elements to an interval.

    y = min(max(x, min_val), max_val)

    Args:
        min_val: Lower end. Default: -1.
        max_val: Upper end. Default: 1.
        inplace: Whether to overwrite the input. Default: False.
        min_value: Deprecated; use `min_val`.
        max_value: Deprecated; use `max_val`.

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.Hardtanh()(torch.tensor([-2.0, -0.5, 0.0, 1.0, 3.0]))
        tensor([-1.0000, -0.5000,  0.0000,  1.0000,  1.0000])

    See also:
        `nn.ReLU6`, `nn.functional.hardtanh`.
    """

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__(inplace)
        for old, new, given in (
            ("min_value", "min_val", min_value),
            ("max_value", "max_val", max_value),
        ):
            if given is not None:
                warnings.warn(
                    f"keyword argument `{old}` is deprecated and renamed to `{new}`",
                    FutureWarning,
                    stacklevel=2,
                )
        self.min_val: float = min_val if min_value is None else min_value
        self.max_val: float = max_val if max_value is None else max_value
        if not self.max_val > self.min_val:
            raise AssertionError(
                f"Hardtanh: max_val ({self.max_val}) must be greater than min_val ({self.min_val})"
            )

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return self._fb_with_inplace(f"min_val={self.min_val}, max_val={self.max_val}")


class ReLU6(Hardtanh):
    """Rectified linear unit with an upper limit of 6.

    y = min(max(0, x), 6)

    Args:
        inplace: Whether to overwrite the input. Default: False.

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.ReLU6()(torch.tensor([-2.0, 3.0, 8.0]))
        tensor([0., 3., 6.])

    See also:
        `nn.ReLU`, `nn.functional.relu6`.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Sigmoid(_Plain):
    """Logistic function, with values between 0 and 1.

    y = 1 / (1 + exp(-x))

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.Sigmoid()(torch.tensor([-2.0, -0.5, 0.0, 1.0, 3.0]))
        tensor([0.1192, 0.3775, 0.5000, 0.7311, 0.9526])

    See also:
        `nn.LogSigmoid`, `nn.BCEWithLogitsLoss`, `torch.sigmoid`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return fb.sigmoid(input)


class Hardsigmoid(_InPlace):
    """Sigmoid made of three straight lines.

    y = min(max(x + 3, 0), 6) / 6

    Args:
        inplace: Whether to overwrite the input. Default: False.

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.Hardsigmoid()(torch.tensor([-2.0, -0.5, 0.0, 1.0, 3.0]))
        tensor([0.1667, 0.4167, 0.5000, 0.6667, 1.0000])

    See also:
        `nn.Sigmoid`, `nn.functional.hardsigmoid`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class Tanh(_Plain):
    """Hyperbolic tangent, with values between -1 and 1.

    y = (exp(x) - exp(-x)) / (exp(x) + exp(-x))

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.Tanh()(torch.tensor([-2.0, -0.5, 0.0, 1.0, 3.0]))
        tensor([-0.9640, -0.4621,  0.0000,  0.7616,  0.9951])

    See also:
        `torch.tanh`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return fb.tanh(input)


class SiLU(_InPlace):
    """Sigmoid linear unit, also known as swish.

    y = x sigmoid(x)

    Args:
        inplace: Whether to overwrite the input. Default: False.

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.SiLU()(torch.tensor([-2.0, -0.5, 0.0, 1.0, 3.0]))
        tensor([-0.2384, -0.1888,  0.0000,  0.7311,  2.8577])

    See also:
        `nn.Hardswish`, `nn.functional.silu`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


class Mish(_InPlace):
    """Smooth, non-monotonic rectifier.

    y = x tanh(log(1 + exp(x)))

    Args:
        inplace: Whether to overwrite the input. Default: False.

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.Mish()(torch.tensor([-2.0, -0.5, 0.0, 1.0, 3.0]))
        tensor([-0.2525, -0.2207,  0.0000,  0.8651,  2.9865])

    See also:
        `nn.SiLU`, `nn.functional.mish`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)


class Hardswish(_InPlace):
    """Swish with a sigmoid made of straight lines.

    y = x min(max(x + 3, 0), 6) / 6

    Args:
        inplace: Whether to overwrite the input. Default: False.

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.Hardswish()(torch.tensor([-2.0, -0.5, 0.0, 1.0, 3.0]))
        tensor([-0.3333, -0.2083,  0.0000,  0.6667,  3.0000])

    See also:
        `nn.SiLU`, `nn.functional.hardswish`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class _WithAlpha(_InPlace):
    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def extra_repr(self) -> str:
        return self._fb_with_inplace(f"alpha={self.alpha}")


class ELU(_WithAlpha):
    """Exponential linear unit.

    y = x if x > 0, else alpha (exp(x) - 1)

    Args:
        alpha: Minus the limit for very negative x. Default: 1.
        inplace: Whether to overwrite the input. Default: False.

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.ELU()(torch.tensor([-2.0, -0.5, 0.0, 1.0, 3.0]))
        tensor([-0.8647, -0.3935,  0.0000,  1.0000,  3.0000])

    See also:
        `nn.CELU`, `nn.SELU`, `nn.functional.elu`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)


class CELU(_WithAlpha):
    """Exponential linear unit with a continuous derivative for every alpha.

    y = max(0, x) + min(0, alpha (exp(x / alpha) - 1))

    Args:
        alpha: Minus the limit for very negative x. Default: 1.
        inplace: Whether to overwrite the input. Default: False.

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.CELU(alpha=2.0)(torch.tensor([-2.0, -0.5, 0.0, 1.0, 3.0]))
        tensor([-1.2642, -0.4424,  0.0000,  1.0000,  3.0000])

    See also:
        `nn.ELU`, `nn.functional.celu`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)


class SELU(_InPlace):
    """Exponential linear unit that drives activations to mean 0 and variance 1.

    y = 1.0507 (x if x > 0, else 1.6733 (exp(x) - 1))

    Args:
        inplace: Whether to overwrite the input. Default: False.

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.SELU()(torch.tensor([-2.0, -0.5, 0.0, 1.0, 3.0]))
        tensor([-1.5202, -0.6918,  0.0000,  1.0507,  3.1521])

    See also:
        `nn.AlphaDropout`, `nn.init.calculate_gain`, `nn.functional.selu`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)


class GLU(Module):
    """Gated linear unit: one half of the input gates the other.

    y = a sigmoid(b), where a and b are the halves of the input along `dim`

    Args:
        dim: Dimension to halve. Default: -1.

    Shape:
        - Input: (*, 2 S, *).
        - Output: (*, S, *).

    Example:
        >>> nn.GLU()(torch.tensor([1.0, 2.0, 0.0, 100.0]))
        tensor([0.5000, 2.0000])

    See also:
        `nn.functional.glu`.
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class GELU(Module):
    """Gaussian error linear unit.

    y = x Φ(x), where Φ is the standard normal distribution function

    Args:
        approximate: `"none"` computes it exactly (the default); `"tanh"` computes
            0.5 x (1 + tanh(sqrt(2 / π) (x + 0.044715 x^3))).

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.GELU()(torch.tensor([-2.0, -0.5, 0.0, 1.0, 3.0]))
        tensor([-0.0455, -0.1543,  0.0000,  0.8413,  2.9960])

    See also:
        `nn.SiLU`, `nn.functional.gelu`.
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class _WithLambd(Module):
    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(_WithLambd):
    """Set elements near 0 to 0.

    y = x if |x| > lambd, else 0

    Args:
        lambd: Half the width of the interval. Default: 0.5.

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.Hardshrink()(torch.tensor([-2.0, -0.5, 0.0, 1.0, 3.0]))
        tensor([-2.,  0.,  0.,  1.,  3.])

    See also:
        `nn.Softshrink`, `nn.functional.hardshrink`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)


class Softshrink(_WithLambd):
    """Move elements towards 0 by a constant.

    y = sign(x) max(|x| - lambd, 0)

    Args:
        lambd: How far; not negative. Default: 0.5.

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.Softshrink()(torch.tensor([-2.0, -0.5, 0.0, 1.0, 3.0]))
        tensor([-1.5000,  0.0000,  0.0000,  0.5000,  2.5000])

    See also:
        `nn.Hardshrink`, `nn.functional.softshrink`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)


class LeakyReLU(_InPlace):
    """Rectifier with a small slope for negative elements.

    y = max(0, x) + negative_slope min(0, x)

    Args:
        negative_slope: Slope below 0. Default: 0.01.
        inplace: Whether to overwrite the input. Default: False.

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.LeakyReLU(0.1)(torch.tensor([-2.0, -0.5, 0.0, 1.0, 3.0]))
        tensor([-0.2000, -0.0500,  0.0000,  1.0000,  3.0000])

    See also:
        `nn.PReLU`, which learns the slope; `nn.functional.leaky_relu`.
    """

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return self._fb_with_inplace(f"negative_slope={self.negative_slope}")


class LogSigmoid(_Plain):
    """Logarithm of the sigmoid, without loss of accuracy.

    y = log(1 / (1 + exp(-x)))

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.LogSigmoid()(torch.tensor([-2.0, -0.5, 0.0, 1.0, 3.0]))
        tensor([-2.1269, -0.9741, -0.6931, -0.3133, -0.0486])

    See also:
        `nn.Sigmoid`, `nn.functional.logsigmoid`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Softplus(Module):
    """Smooth rectifier.

    y = log(1 + exp(beta x)) / beta

    Args:
        beta: Sharpness of the bend at 0. Default: 1.
        threshold: y = x where beta x exceeds this. Default: 20.

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.Softplus()(torch.tensor([-2.0, -0.5, 0.0, 1.0, 3.0]))
        tensor([0.1269, 0.4741, 0.6931, 1.3133, 3.0486])

    See also:
        `nn.ReLU`, `nn.functional.softplus`.
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class PReLU(Module):
    """Leaky rectifier whose slope is learned.

    y = max(0, x) + weight min(0, x)

    Attributes:
        weight: The slopes, of shape (num_parameters,).

    Args:
        num_parameters: 1 for one slope (the default), or the number of channels for one slope each.
        init: Value that all slopes start with. Default: 0.25.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Shape:
        - Input: (N, C, *); with one slope, any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.PReLU()(torch.tensor([-2.0, -0.5, 0.0, 1.0, 3.0])).detach()
        tensor([-0.5000, -0.1250,  0.0000,  1.0000,  3.0000])
        >>> nn.PReLU(num_parameters=3).weight.shape
        torch.Size([3])

    See also:
        `nn.LeakyReLU`, `nn.functional.prelu`.
    """

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight: Parameter = Parameter(fb.empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set all weights to what ``init`` was."""
        constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class Softsign(_Plain):
    """Sigmoid-shaped function with polynomial tails.

    y = x / (1 + |x|)

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.Softsign()(torch.tensor([-2.0, -0.5, 0.0, 1.0, 3.0]))
        tensor([-0.6667, -0.3333,  0.0000,  0.5000,  0.7500])

    See also:
        `nn.Tanh`, `nn.functional.softsign`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(_Plain):
    """Difference between the input and its hyperbolic tangent.

    y = x - tanh(x)

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.Tanhshrink()(torch.tensor([-2.0, -0.5, 0.0, 1.0, 3.0]))
        tensor([-1.0360, -0.0379,  0.0000,  0.2384,  2.0049])

    See also:
        `nn.functional.tanhshrink`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class _WithDim(Module):
    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmin(_WithDim):
    """Softmax of the negated input.

    y_i = exp(-x_i) / sum over j of exp(-x_j)

    Args:
        dim: Dimension along which the result sums to 1. Without it a warning tells which one is
            chosen by the number of dimensions.

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.Softmin(dim=0)(torch.tensor([1.0, 2.0, 3.0]))
        tensor([0.6652, 0.2447, 0.0900])

    See also:
        `nn.Softmax`, `nn.functional.softmin`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim)


class Softmax(_WithDim):
    """Scale elements to probabilities: positive, with sum 1 along a dimension.

    y_i = exp(x_i) / sum over j of exp(x_j)

    Args:
        dim: Dimension along which the result sums to 1. Without it a warning tells which one is
            chosen by the number of dimensions.

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.Softmax(dim=1)(torch.tensor([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]]))
        tensor([[0.0900, 0.2447, 0.6652],
                [0.3333, 0.3333, 0.3333]])

    See also:
        `nn.LogSoftmax`; `nn.CrossEntropyLoss`, which takes scores before the softmax.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)


class Softmax2d(_Plain):
    """Softmax over the channels at every pixel.

    y[c, h, w] = exp(x[c, h, w]) / sum over k of exp(x[k, h, w])

    Shape:
        - Input: (N, C, H, W) or (C, H, W).
        - Output: the shape of the input.

    Example:
        >>> nn.Softmax2d()(torch.zeros(1, 4, 2, 2))[0, 0]
        tensor([[0.2500, 0.2500],
                [0.2500, 0.2500]])

    See also:
        `nn.Softmax`.
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ValueError(
                f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead"
            )
        return F.softmax(input, -3)


class LogSoftmax(_WithDim):
    """Logarithm of softmax, without loss of accuracy.

    y_i = x_i - log(sum over j of exp(x_j))

    Args:
        dim: Dimension along which the probabilities sum to 1. Without it a warning tells which
            one is chosen by the number of dimensions.

    Shape:
        - Input: any shape.
        - Output: the shape of the input.

    Example:
        >>> nn.LogSoftmax(dim=0)(torch.tensor([1.0, 2.0, 3.0]))
        tensor([-2.4076, -1.4076, -0.4076])

    See also:
        `nn.NLLLoss`, which takes its result; `nn.functional.log_softmax`.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim)
