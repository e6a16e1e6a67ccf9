"""Function transforms and forward mode against torch."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.autograd.forward_ad
import torch.func

import flambeau
import flambeau.autograd.forward_ad
import flambeau.func
from tests.conformance.differences import FORWARD_MODE
from tests.ops.check import assert_values, is_tensor, outputs, to_numpy
from tests.ops.gradients import PRECISE, Call, calls, is_differentiable
from tests.ops.registry import all_samples
from tests.ops.table import operators

RNG = np.random.default_rng(7)
VECTOR, OTHER = RNG.normal(size=3), RNG.normal(size=3)
MATRIX = RNG.normal(size=(4, 3))
SQUARE = RNG.normal(size=(3, 3)) + 3 * np.eye(3)

Program = Callable[[Any, Any], Any]


def tensor(t: Any, values: np.ndarray) -> Any:
    return t.from_numpy(values.copy())


def net(t: Any, w: Any, x: Any) -> Any:
    return t.tanh(w @ x).square().sum()


PROGRAMS: dict[str, Program] = {
    "grad": lambda t, v: t.func.grad(lambda x: (x.sin() * x).sum())(v),
    "grad of grad": lambda t, v: t.func.grad(t.func.grad(lambda x: x**3 * v[1]))(v[0]),
    "third": lambda t, v: t.func.grad(t.func.grad(t.func.grad(lambda x: x.exp() * x)))(v[0]),
    "value": lambda t, v: t.func.grad_and_value(lambda x: x.square().mean())(v),
    "aux": lambda t, v: t.func.grad(lambda x: (x.sum(), x * 2), has_aux=True)(v),
    "argnums": lambda t, v: t.func.grad(lambda x, y: (x * y.exp()).sum(), (0, 1))(v, v + 1),
    "vjp": lambda t, v: t.func.vjp(lambda x: (x.cumsum(0), x.sum()), v)[1]((v, v[0])),
    "jvp": lambda t, v: t.func.jvp(lambda x: x.softmax(0), (v,), (v + 1,)),
    "jvp of jvp": lambda t, v: t.func.jvp(
        lambda x: t.func.jvp(lambda y: y.sin().prod(), (x,), (x * 2,))[1], (v,), (v,)
    ),
    "jacrev": lambda t, v: t.func.jacrev(lambda x: t.outer(x, x.cos()))(v),
    "jacfwd": lambda t, v: t.func.jacfwd(lambda x: t.outer(x, x.cos()))(v),
    "hessian": lambda t, v: t.func.hessian(lambda x: (x.roll(1) * x.exp()).sum())(v),
    "hessian of a net": lambda t, v: t.func.hessian(lambda w: net(t, w, v))(tensor(t, SQUARE)),
    "jacobian of a solution": lambda t, v: t.func.jacrev(
        lambda a: t.linalg.solve(a, v), chunk_size=2
    )(tensor(t, SQUARE)),
    "vmap": lambda t, v: t.func.vmap(t.dot, in_dims=(0, None))(tensor(t, MATRIX), v),
    "vmap over columns": lambda t, v: t.func.vmap(lambda c: c.sort(), in_dims=1, out_dims=1)(
        tensor(t, MATRIX)
    ),
    "maps in maps": lambda t, v: t.vmap(lambda a: t.vmap(lambda b: a * b.sum())(v.outer(v)))(
        tensor(t, MATRIX)
    ),
    "gradients of samples": lambda t, v: t.vmap(
        t.func.grad(lambda w, x: net(t, w, x)), in_dims=(None, 0)
    )(tensor(t, SQUARE), tensor(t, MATRIX)),
    "gradient of a map": lambda t, v: t.func.grad(
        lambda x: t.vmap(lambda r: (r * x).logsumexp(0))(tensor(t, MATRIX)).sum()
    )(v),
    "map over hessians": lambda t, v: t.vmap(t.func.hessian(lambda x: x.prod()))(tensor(t, MATRIX)),
    "map over jvps": lambda t, v: t.vmap(
        lambda d: t.func.jvp(lambda x: x.pow(2).flip(0), (v,), (d,))
    )(tensor(t, MATRIX)),
    "choices": lambda t, v: t.vmap(lambda r: t.where(r > 0, r, v).clamp(max=0.5))(
        tensor(t, MATRIX)
    ),
    "windows": lambda t, v: t.vmap(lambda r: (r[1:].sum(), r[[2, 0]], r[None].expand(2, 3)))(
        tensor(t, MATRIX)
    ),
    "writes": lambda t, v: t.vmap(lambda r: r.clone().index_fill_(0, t.tensor([1]), 3.0))(
        tensor(t, MATRIX)
    ),
    "einsum": lambda t, v: t.vmap(lambda r: t.einsum("i,ij,j->", r, v.outer(v), r))(
        tensor(t, MATRIX)
    ),
}


@pytest.mark.filterwarnings("ignore")  # torch's own code uses what torch has deprecated
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    ours = PROGRAMS[name](flambeau, tensor(flambeau, VECTOR))
    theirs = PROGRAMS[name](torch, tensor(torch, VECTOR))
    left, right = outputs(ours), outputs(theirs)
    assert len(left) == len(right)
    for a, b in zip(left, right, strict=True):
        assert_values(to_numpy(a), to_numpy(b), (1e-9, 1e-9), name)
        assert a.requires_grad == b.requires_grad


TABLE = operators()
POINTS = [
    (name, dtype)
    for name in sorted(set(TABLE) & set(all_samples()))
    if is_differentiable(TABLE[name])
    for dtype in PRECISE
    if dtype in TABLE[name].dtypes
]


def tangents(call: Call) -> list[Any]:
    """The tangents of the results; an exception where forward mode is refused."""
    t = call.t
    fwd = t.autograd.forward_ad
    rng = np.random.default_rng(3)
    with fwd.dual_level():
        duals = []
        for leaf in call.leaves():
            direction = rng.normal(size=tuple(leaf.shape))
            if leaf.is_complex():
                direction = direction + 1j * rng.normal(size=tuple(leaf.shape))
            duals.append(fwd.make_dual(leaf, t.from_numpy(np.array(direction))))
        return [fwd.unpack_dual(each).tangent for each in call(*duals)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "dtype"), POINTS)
def test_forward_mode(name: str, dtype: str) -> None:
    pairs = zip(calls(flambeau, TABLE[name], dtype), calls(torch, TABLE[name], dtype), strict=True)
    _, differs = FORWARD_MODE.get(name, ("", lambda sample: False))
    for ours, theirs in pairs:
        if differs(ours.sample):
            continue
        try:
            expected = tangents(theirs)
        except (RuntimeError, NotImplementedError, TypeError):  # torch has no rule for it
            continue
        for a, b in zip(tangents(ours), expected, strict=True):
            if is_tensor(b) and not b._is_zerotensor():
                assert_values(to_numpy(a), to_numpy(b), (1e-6, 1e-8), f"{name}{ours.sample!r}")
