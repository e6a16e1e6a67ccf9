"""Small programs that write into tensors and views of them, for the tests of in-place history."""

from __future__ import annotations

from collections.abc import Callable

import flambeau as torch

# Each writes into y, a copy of the leaf x of shape (3, 4), and returns tensors that see it.
Writes = Callable[[torch.Tensor, torch.Tensor], "tuple[torch.Tensor, ...]"]
PROGRAMS: dict[str, Writes] = {}


def program(function: Writes) -> Writes:
    PROGRAMS[function.__name__] = function
    return function


@program
def arithmetic(x, y):
    y.add_(1).mul_(2).sub_(x, alpha=3).div_(x + 4).neg_()
    return (y,)


@program
def powers(x, y):
    y.add_(3).pow_(3).sqrt_()
    return (y,)


@program
def transcendental(x, y):
    y.sin_().exp_()
    z = y.log().cos_().tanh_()
    return y, z.sin().tan_()


@program
def what_is_saved_is_the_result(x, y):
    y.exp_()
    z = y * 2
    return y, z


@program
def operators_of_python(x, y):
    y += x
    y *= x
    y -= 2
    y /= 3
    y **= 2
    return (y,)


@program
def broadcast_operand(x, y):
    y.mul_(x[0])
    y.add_(x[:, :1])
    y.mul_(x.sum())
    return (y,)


@program
def itself_as_operand(x, y):
    y += y
    y.sub_(y.exp())
    y.mul_(y.clone())
    return (y,)


@program
def fused(x, y):
    y.addcmul_(x, x, value=0.5).addcdiv_(x, x + 4)
    y.lerp_(x, 0.25)
    return (y,)


@program
def matrices(x, y):
    square = y[:, :3]
    square.addmm_(x, x.t(), beta=0.5)
    return y, square


@program
def clamped(x, y):
    y.clamp_(-0.3, 0.4)
    y[0].relu_()
    return (y,)


@program
def filled(x, y):
    y[1].fill_(2.0)
    y[2].fill_(x[0, 0])
    return (y,)


@program
def zeroed(x, y):
    y[:, 1].zero_()
    return (y,)


@program
def copied(x, y):
    y[0].copy_(x[1])
    y[1].copy_(x[0, 0])
    y.t()[3].copy_(torch.ones(3))
    return (y,)


@program
def copied_whole(x, y):
    y.copy_(x * 2)
    return (y,)


@program
def copied_from_another_dtype(x, y):
    y[0].copy_(x[1].to(torch.complex128).real)
    return (y,)


@program
def row_set(x, y):
    y[0] = x[1] * 2
    y[-1] = 5.0
    return (y,)


@program
def slice_set(x, y):
    y[1:, ::2] = x[:2, 1:3]
    y[..., 0] = x[0, 0]
    y[:, None, 1] = x[:, :1]
    return (y,)


@program
def mask_set(x, y):
    mask = torch.arange(12).reshape(3, 4) % 3 == 0
    y[mask] = x[mask] * 3
    y[~mask] = x[0, 0]
    return (y,)


@program
def index_set(x, y):
    y[torch.tensor([0, 2])] = x[:2]
    y[:, torch.tensor([1, 3])] = x[0, 0]
    y[torch.tensor([0, 1]), torch.tensor([2, 2])] = x[2, :2]
    return (y,)


@program
def index_added(x, y):
    y.index_add_(0, torch.tensor([0, 0, 2]), x, alpha=2)
    y.index_fill_(1, torch.tensor([3]), 1.5)
    y.index_copy_(0, torch.tensor([1]), x[:1])
    return (y,)


@program
def index_put_accumulated(x, y):
    y.index_put_((torch.tensor([1, 1, 0]),), x, accumulate=True)
    return (y,)


@program
def scattered(x, y):
    index = torch.tensor([[0, 1, 2, 0], [2, 0, 0, 1]])
    y.scatter_add_(0, index, x[:2])
    y.scatter_(0, index[:1], x[2:])
    return (y,)


@program
def masked(x, y):
    mask = torch.arange(12).reshape(3, 4) % 4 == 1
    y.masked_fill_(mask, 2.0)
    y.masked_scatter_(~mask, x)
    return (y,)


@program
def through_a_view(x, y):
    v = y.view(12)
    v.mul_(2)
    return y, v


@program
def through_a_chain_of_views(x, y):
    v = y.t()[1:][:, 0]
    v.mul_(x[0, 1:])
    return y, v


@program
def through_two_views(x, y):
    v, w = y[0], y[:, 1]
    v.mul_(2)
    w.mul_(v[:3].clone())
    return y, v, w


@program
def through_overlapping_views(x, y):
    v, w = y[:2], y[1:]
    v.mul_(x[:2])
    w.sin_()
    v.add_(1)
    return y, v, w


@program
def a_view_of_a_view(x, y):
    v = y[1]
    w = v.view(2, 2)
    w[0].mul_(3)
    return y, v, w


@program
def base_after_view(x, y):
    v = y[1]
    y.mul_(2)
    v.add_(1)
    y.mul_(x)
    return y, v


@program
def the_diagonal(x, y):
    y.diagonal().mul_(x[0, :3])
    y.diagonal(1).zero_()
    return (y,)


@program
def expanded(x, y):
    row = x[0].clone()
    row.expand(2, 4)[1].mul_(3)
    return row, y


@program
def windows(x, y):
    y.unfold(1, 2, 2)[:, 0].mul_(x[:, :2])
    return (y,)


@program
def strided(x, y):
    y.as_strided((2, 3), (4, 1), 1).mul_(3)
    return (y,)


@program
def a_constant_that_starts_to_record(x, y):
    z = torch.zeros(3, 4, dtype=x.dtype)
    v = z[1]
    z[0] = x[0]
    v.add_(x[1])
    return z, v


@program
def a_view_of_a_constant(x, y):
    z = torch.ones(12, dtype=x.dtype)
    z.view(3, 4)[:, 1:].mul_(x[:, 1:])
    return (z,)


@program
def rebuilt_row_by_row(x, y):
    z = torch.empty(3, 4, dtype=x.dtype)
    for i in range(3):
        z[i] = x[i] * (z[i - 1].clone() if i else 1)
    return (z,)


@program
def shape_changed(x, y):
    y.t_()
    y.unsqueeze_(0).mul_(2)
    y.squeeze_(0).transpose_(0, 1)
    return (y,)


@program
def cumulated(x, y):
    y.cumsum_(1)
    y[0].cumsum_(0)
    return (y,)


@program
def detached_part(x, y):
    y[0] = x[0].detach() * 0 + 1.0
    return (y,)


@program
def inside_no_grad(x, y):
    z = y * 1.5
    with torch.no_grad():
        other = x.detach() * 0
        other.add_(1)
        other[0].zero_()
    z.mul_(other)
    return (z,)


@program
def complex_parts(x, y):
    z = torch.complex(y, x)
    z.real.mul_(2)
    torch.view_as_real(z)[..., 1].add_(y)
    return z.real, z.imag


@program
def random_is_a_constant(x, y):
    torch.manual_seed(0)
    y[0].normal_()
    torch.manual_seed(1)
    y[1].uniform_()
    return (y,)
