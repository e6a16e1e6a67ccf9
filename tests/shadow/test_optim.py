"""Steps of optimisers on the device `shadow`, with gradients that are scaled and clipped there."""

from typing import Any

import pytest

import flambeau as fb
from flambeau import _C, nn, optim
from tests.optim.options import OPTIONS
from tests.optim.test_operators import row_of
from tests.shadow.moving import SHADOW, check_no_access

SHAPES = ((3, 4), (5,), ())


def leaves(device: Any) -> list[Any]:
    generator = fb.Generator().manual_seed(0)
    return [fb.randn(shape, generator=generator).to(device).requires_grad_() for shape in SHAPES]


def set_gradients(params: list[Any], seed: int) -> None:
    generator = fb.Generator().manual_seed(seed)
    for param in params:
        param.grad = fb.randn(param.shape, generator=generator).to(param.device)


def stepped(name: str, params: list[Any], prepare: Any = None, **options: Any) -> Any:
    optimizer = getattr(optim, name)(params, **options)
    for seed in range(3):
        set_gradients(params, seed)
        optimizer.step()
        check_no_access(name)
        if prepare:
            prepare(optimizer)
    return optimizer


def assert_same(ours: list[Any], theirs: list[Any]) -> None:
    for a, b in zip(ours, theirs, strict=True):
        assert fb.equal(a.detach().cpu(), b.detach().cpu())


@pytest.mark.parametrize("name", OPTIONS)
def test_a_step_is_one_kernel_there(name: str) -> None:
    here, there = leaves("cpu"), leaves(SHADOW)
    stepped(name, here)
    optimizer = stepped(name, there)
    assert_same(there, here)
    set_gradients(there, 3)
    _C._count_start()
    try:
        optimizer.step()
    finally:
        _C._count_stop()
    assert _C._counted() == {row_of(name, {}): 1}


def test_parameters_on_two_devices() -> None:
    here, mixed = leaves("cpu"), leaves("cpu")
    mixed[1] = mixed[1].detach().to(SHADOW).requires_grad_()
    stepped("Adam", here)
    stepped("Adam", mixed)
    assert_same(mixed, here)


@pytest.mark.parametrize("name", ["Adam", "NAdam", "ASGD"])
def test_counts_of_steps_that_are_there(name: str) -> None:
    def moved(optimizer: Any) -> None:
        for state in optimizer.state.values():
            for key in {"step", "mu_product", "eta", "mu"} & state.keys():
                state[key] = state[key].to(SHADOW)

    here, there = leaves("cpu"), leaves(SHADOW)
    expected = stepped(name, here)
    optimizer = stepped(name, there, moved)
    assert_same(there, here)
    for ours, theirs in zip(there, here, strict=True):
        for key, value in expected.state[theirs].items():
            assert fb.equal(optimizer.state[ours][key].cpu(), value)


def test_gradients_are_scaled_and_clipped_there() -> None:
    for order in (2.0, 1.0, float("inf"), 0.5):
        here, there = leaves("cpu"), leaves(SHADOW)
        set_gradients(here, 0)
        set_gradients(there, 0)
        norms = [nn.utils.clip_grad_norm_(params, 0.5, order) for params in (there, here)]
        check_no_access("clip_grad_norm_")
        assert norms[0].device == SHADOW
        assert_same(norms[:1], norms[1:])
        assert_same([p.grad for p in there], [p.grad for p in here])


@pytest.mark.parametrize("bad", [False, True])
def test_scaled_gradients_are_looked_over_there(bad: bool) -> None:
    grads = [fb.ones(3), fb.ones(2, 3).t(), fb.ones(4).half()]
    if bad:
        grads[2][1] = float("inf")
    there = [grad.to(SHADOW) for grad in grads]
    there[1] = fb.ones(2, 6, device=SHADOW)[:, ::2]  # with gaps
    found, inverse = fb.zeros((), device=SHADOW), fb.tensor(0.5, device=SHADOW)
    fb._amp_foreach_non_finite_check_and_unscale_(there, found, inverse)
    check_no_access("_amp_foreach_non_finite_check_and_unscale_")
    assert found.item() == float(bad)
    assert all((grad[:1].cpu() == 0.5).all() for grad in there)
