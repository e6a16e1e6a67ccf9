"""Initial values of parameters. With the same seed they are PyTorch's, number for number."""

from __future__ import annotations

import contextlib
import functools
import math
import warnings
from collections.abc import Callable, Iterator
from typing import ParamSpec

import flambeau
from flambeau import Generator, Tensor

__all__ = [
    "calculate_gain",
    "constant",
    "constant_",
    "dirac",
    "dirac_",
    "eye",
    "eye_",
    "kaiming_normal",
    "kaiming_normal_",
    "kaiming_uniform",
    "kaiming_uniform_",
    "normal",
    "normal_",
    "ones_",
    "orthogonal",
    "orthogonal_",
    "sparse",
    "sparse_",
    "trunc_normal_",
    "uniform",
    "uniform_",
    "xavier_normal",
    "xavier_normal_",
    "xavier_uniform",
    "xavier_uniform_",
    "zeros_",
]

_P = ParamSpec("_P")

_GAINS = {
    "linear": 1.0,
    "conv1d": 1.0,
    "conv2d": 1.0,
    "conv3d": 1.0,
    "conv_transpose1d": 1.0,
    "conv_transpose2d": 1.0,
    "conv_transpose3d": 1.0,
    "sigmoid": 1.0,
    "tanh": 5.0 / 3.0,
    "relu": math.sqrt(2.0),
    "selu": 0.75,
}


_skipping = False


@contextlib.contextmanager
def _skipped() -> Iterator[None]:
    """Within this block initialisers leave tensors as they are, and draw no random numbers."""
    global _skipping
    before, _skipping = _skipping, True
    try:
        yield
    finally:
        _skipping = before


def _initialiser(fill: Callable[_P, Tensor]) -> Callable[_P, Tensor]:
    """Let a function change its tensor without a record of it."""

    @functools.wraps(fill)
    def initialise(*args: _P.args, **kwargs: _P.kwargs) -> Tensor:
        if _skipping:
            tensor = args[0] if args else kwargs["tensor"]
            assert isinstance(tensor, Tensor)
            return tensor
        with flambeau.no_grad():
            return fill(*args, **kwargs)

    return initialise


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Recommended gain of a nonlinearity, for `xavier_uniform_` and others.

    1 for linear, convolution and sigmoid; 5/3 for tanh; sqrt(2) for relu; 3/4 for selu;
    sqrt(2 / (1 + slope^2)) for leaky_relu.

    Args:
        nonlinearity: Name of the function, as in `nn.functional`.
        param: Slope of leaky_relu. Default: 0.01.

    Raises:
        ValueError: The function is not known.

    Example:
        >>> nn.init.calculate_gain("tanh")
        1.6666666666666667
        >>> nn.init.calculate_gain("leaky_relu", 0.2)
        1.3867504905630728
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {slope} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        known = ", ".join([*_GAINS, "leaky_relu"])
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}; known: {known}")
    return _GAINS[nonlinearity]


@_initialiser
def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill in place with numbers that are uniform on [a, b).

    Args:
        tensor: Tensor to fill.
        a: Lower end. Default: 0.
        b: Upper end. Default: 1.
        generator: Source of random numbers. Default: the default generator.

    Returns:
        The tensor.

    Example:
        >>> w = nn.init.uniform_(torch.empty(3, 5), -1, 1)
        >>> bool((w >= -1).all() and (w < 1).all())
        True
    """
    return tensor.uniform_(a, b, generator=generator)


@_initialiser
def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill in place with normal numbers.

    Args:
        tensor: Tensor to fill.
        mean: Mean. Default: 0.
        std: Standard deviation. Default: 1.
        generator: Source of random numbers. Default: the default generator.

    Returns:
        The tensor.

    Example:
        >>> w = nn.init.normal_(torch.empty(100, 100), mean=5.0, std=0.1)
        >>> bool((w.mean() - 5).abs() < 0.01)
        True

    See also:
        `nn.init.trunc_normal_`.
    """
    return tensor.normal_(mean, std, generator=generator)


@_initialiser
def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fill in place with normal numbers that lie in [a, b].

    Numbers outside are drawn again.

    Args:
        tensor: Tensor to fill.
        mean: Mean before the cut. Default: 0.
        std: Standard deviation before the cut. Default: 1.
        a: Lower end. Default: -2.
        b: Upper end. Default: 2.
        generator: Source of random numbers. Default: the default generator.

    Returns:
        The tensor.

    Example:
        >>> w = nn.init.trunc_normal_(torch.empty(100, 100), std=3.0)
        >>> bool(w.abs().max() <= 2)
        True

    See also:
        `nn.init.normal_`.
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            f"mean {mean} is more than 2 std from [{a}, {b}] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            stacklevel=3,
        )
    if tensor.is_meta:
        return tensor
    share = _normal_share((b - mean) / std) - _normal_share((a - mean) / std)
    redraw = _redraw_outside if share > 0.3 else _redraw_by_density
    return redraw(tensor, mean, std, a, b, generator)


def _normal_share(x: float) -> float:
    """The share of a standard normal distribution below x."""
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def _redraw_outside(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Generator | None
) -> Tensor:
    """Draw from the normal distribution, again for what falls outside; most does not."""
    low, high = tensor.new_tensor(a).item(), tensor.new_tensor(b).item()
    tensor.normal_(mean, std, generator=generator)
    while (outside := (tensor < low) | (tensor > high)).any():
        again = flambeau.empty_like(tensor).normal_(mean, std, generator=generator)
        tensor.copy_(flambeau.where(outside, again, tensor))
    return tensor


def _redraw_by_density(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Generator | None
) -> Tensor:
    """Draw evenly from [a, b] and keep a number as often as the density there asks for.

    For an interval that holds little of the normal distribution, where drawing from it would
    hardly ever hit.
    """
    highest = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2

    def refused(drawn: Tensor) -> Tensor:
        density = drawn.sub(mean).div_(std).pow_(2).mul_(-0.5).sub_(highest)
        return flambeau.empty_like(tensor).uniform_(generator=generator).log_() > density

    missing = refused(tensor.uniform_(a, b, generator=generator))
    while missing.any():
        again = flambeau.empty_like(tensor).uniform_(a, b, generator=generator)
        tensor.copy_(flambeau.where(missing, again, tensor))
        missing &= refused(again)
    return tensor


@_initialiser
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill in place with one number.

    Args:
        tensor: Tensor to fill.
        val: The number.

    Returns:
        The tensor.

    Example:
        >>> nn.init.constant_(torch.empty(2, 2), 0.3)
        tensor([[0.3000, 0.3000],
                [0.3000, 0.3000]])
    """
    return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill in place with ones.

    Args:
        tensor: Tensor to fill.

    Returns:
        The tensor.

    Example:
        >>> nn.init.ones_(torch.empty(2, 2))
        tensor([[1., 1.],
                [1., 1.]])
    """
    return constant_(tensor, 1.0)


@_initialiser
def zeros_(tensor: Tensor) -> Tensor:
    """Fill in place with zeros.

    Args:
        tensor: Tensor to fill.

    Returns:
        The tensor.

    Example:
        >>> nn.init.zeros_(torch.empty(2, 2))
        tensor([[0., 0.],
                [0., 0.]])
    """
    return tensor.zero_()


@_initialiser
def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix in place with the identity.

    Ones on the diagonal and zeros elsewhere: a linear layer passes on what it can.

    Args:
        tensor: Tensor to fill.

    Returns:
        The tensor.

    Example:
        >>> nn.init.eye_(torch.empty(2, 3))
        tensor([[1., 0., 0.],
                [0., 1., 0.]])

    See also:
        `nn.init.dirac_`.
    """
    _check_matrix(tensor)
    return tensor.copy_(flambeau.eye(*tensor.shape, dtype=tensor.dtype))


@_initialiser
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the kernels of a convolution in place so that it passes channels on unchanged.

    Args:
        tensor: Tensor to fill.
        groups: Number of groups of channels. Default: 1.

    Returns:
        The tensor.

    Example:
        >>> nn.init.dirac_(torch.empty(1, 1, 3))
        tensor([[[0., 1., 0.]]])

    See also:
        `nn.init.eye_`.
    """
    if tensor.ndim not in (3, 4, 5):
        raise ValueError(
            "Only tensors with 3, 4, or 5 dimensions are supported, "
            f"got shape {tuple(tensor.shape)}"
        )
    out_channels, in_channels, *kernel = tensor.shape
    if out_channels % groups != 0:
        raise ValueError(f"dim 0 must be divisible by groups: {out_channels} and {groups}")
    per_group = out_channels // groups
    centre = tuple(size // 2 for size in kernel)
    tensor.zero_()
    for group in range(groups):
        for channel in range(min(per_group, in_channels)):
            tensor[(group * per_group + channel, channel, *centre)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many numbers each output depends on, and how many outputs on each input."""
    if tensor.ndim < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions, "
            f"got shape {tuple(tensor.shape)}"
        )
    receptive_field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * receptive_field, tensor.shape[0] * receptive_field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """One of the two, by name."""
    modes = ("fan_in", "fan_out")
    if mode.lower() not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {list(modes)}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode.lower())]


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Glorot initialisation with uniform numbers, in place.

    Uniform on (-k, k) with k = gain sqrt(6 / (fan_in + fan_out)): the variance of activations and
    gradients stays about the same from layer to layer (Glorot and Bengio, 2010).

    Args:
        tensor: Tensor to fill.
        gain: Factor, see `calculate_gain`. Default: 1.
        generator: Source of random numbers. Default: the default generator.

    Returns:
        The tensor.

    Example:
        >>> w = nn.init.xavier_uniform_(torch.empty(4, 2), gain=nn.init.calculate_gain("relu"))
        >>> bool(w.abs().max() <= 2**0.5)
        True

    See also:
        `nn.init.xavier_normal_`, `nn.init.kaiming_uniform_`.
    """
    std = gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Glorot initialisation with normal numbers, in place.

    Normal with mean 0 and std = gain sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio, 2010).

    Args:
        tensor: Tensor to fill.
        gain: Factor, see `calculate_gain`. Default: 1.
        generator: Source of random numbers. Default: the default generator.

    Returns:
        The tensor.

    Example:
        >>> w = nn.init.xavier_normal_(torch.empty(200, 200))
        >>> bool((w.std() - 0.0707).abs() < 0.002)
        True

    See also:
        `nn.init.xavier_uniform_`.
    """
    std = gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))
    return normal_(tensor, 0.0, std, generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float | None:
    """The spread of He et al. (2015); None for a tensor without elements."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return None
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """He initialisation with uniform numbers, in place.

    Uniform on (-k, k) with k = gain sqrt(3 / fan): the variance stays about the same through
    layers with rectifiers (He et al., 2015).

    Args:
        tensor: Tensor to fill.
        a: Slope of leaky_relu below 0. Default: 0.
        mode: `"fan_in"` (the default) keeps the variance of activations, `"fan_out"` that of
            gradients.
        nonlinearity: `"relu"` or `"leaky_relu"` (the default).
        generator: Source of random numbers. Default: the default generator.

    Returns:
        The tensor.

    Example:
        >>> w = nn.init.kaiming_uniform_(torch.empty(4, 6), nonlinearity="relu")
        >>> bool(w.abs().max() <= 1)
        True

    See also:
        `nn.init.kaiming_normal_`, `nn.init.calculate_gain`.
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """He initialisation with normal numbers, in place.

    Normal with mean 0 and std = gain / sqrt(fan) (He et al., 2015).

    Args:
        tensor: Tensor to fill.
        a: Slope of leaky_relu below 0. Default: 0.
        mode: `"fan_in"` (the default) keeps the variance of activations, `"fan_out"` that of
            gradients.
        nonlinearity: `"relu"` or `"leaky_relu"` (the default).
        generator: Source of random numbers. Default: the default generator.

    Returns:
        The tensor.

    Example:
        >>> w = nn.init.kaiming_normal_(torch.empty(200, 200), nonlinearity="relu")
        >>> bool((w.std() - 0.1).abs() < 0.002)
        True

    See also:
        `nn.init.kaiming_uniform_`, `nn.init.calculate_gain`.
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0.0, std, generator)


@_initialiser
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Fill in place with a random orthogonal matrix.

    Further dimensions count as columns. Rows, or columns if there are fewer of them, are
    orthonormal (Saxe et al., 2013).

    Args:
        tensor: Tensor to fill.
        gain: Factor. Default: 1.
        generator: Source of random numbers. Default: the default generator.

    Returns:
        The tensor.

    Example:
        >>> w = nn.init.orthogonal_(torch.empty(3, 3))
        >>> torch.allclose(w @ w.T, torch.eye(3), atol=1e-5)
        True
    """
    if tensor.ndim < 2:
        raise ValueError(
            f"Only tensors with 2 or more dimensions are supported, got shape {tuple(tensor.shape)}"
        )
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    drawn = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
    q, r = flambeau.linalg.qr(drawn.t() if rows < columns else drawn)
    # A positive diagonal of R makes the result spread evenly over all orthogonal matrices.
    q *= flambeau.diag(r, 0).sign()
    tensor.copy_((q.t() if rows < columns else q).reshape(tensor.shape))
    return tensor.mul_(gain)


@_initialiser
def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None
) -> Tensor:
    """Fill a matrix in place with normal numbers, and zeros in a share of each column.

    Args:
        tensor: Tensor to fill.
        sparsity: Share of zeros in each column.
        std: Standard deviation of the others. Default: 0.01.
        generator: Source of random numbers. Default: the default generator.

    Returns:
        The tensor.

    Example:
        >>> w = nn.init.sparse_(torch.empty(10, 4), sparsity=0.3)
        >>> (w == 0).sum(0)
        tensor([3, 3, 3, 3])
    """
    _check_matrix(tensor)
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    tensor.normal_(0, std, generator=generator)
    for column in range(columns):
        # The places do not come from `generator`, in PyTorch neither.
        tensor[flambeau.randperm(rows)[:zeros], column] = 0
    return tensor


def _check_matrix(tensor: Tensor) -> None:
    if tensor.ndim != 2:
        raise ValueError(
            f"Only tensors with 2 dimensions are supported, got shape {tuple(tensor.shape)}"
        )


def _make_deprecate(function: Callable[_P, Tensor]) -> Callable[_P, Tensor]:
    """The old name of an initialiser, without the underscore."""
    new = function.__name__
    old = new[:-1]

    @functools.wraps(function)
    def deprecated(*args: _P.args, **kwargs: _P.kwargs) -> Tensor:
        warnings.warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    deprecated.__name__ = old
    deprecated.__doc__ = f"The old name of {new}."
    return deprecated


uniform = _make_deprecate(uniform_)
normal = _make_deprecate(normal_)
constant = _make_deprecate(constant_)
eye = _make_deprecate(eye_)
dirac = _make_deprecate(dirac_)
xavier_uniform = _make_deprecate(xavier_uniform_)
xavier_normal = _make_deprecate(xavier_normal_)
kaiming_uniform = _make_deprecate(kaiming_uniform_)
kaiming_normal = _make_deprecate(kaiming_normal_)
orthogonal = _make_deprecate(orthogonal_)
sparse = _make_deprecate(sparse_)
