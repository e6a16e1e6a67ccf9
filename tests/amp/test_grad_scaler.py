"""GradScaler: scaled losses, unscaled gradients, skipped steps, updates of the scale."""

import pickle
from typing import Any

import pytest

import flambeau as fb
from flambeau import nn

INF, NAN = float("inf"), float("nan")


def make(factor: float = 2.0, optimizer: Any = fb.optim.SGD, **options: Any) -> tuple[Any, ...]:
    """A parameter with a gradient of `factor` times the scale 4, its optimiser, and the scaler."""
    param = fb.ones(2, requires_grad=True)
    scaler = fb.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2)
    scaler.scale((param * factor).sum()).backward()
    return param, optimizer([param], lr=0.5, **options), scaler


def test_a_step() -> None:
    param, optimizer, scaler = make()
    assert param.grad.tolist() == [8.0, 8.0]
    assert scaler.step(optimizer) is None
    scaler.update()
    assert param.grad.tolist() == [2.0, 2.0]
    assert param.tolist() == [0.0, 0.0]
    assert scaler.get_scale() == 4.0


@pytest.mark.parametrize("value", [INF, -INF, NAN])
def test_a_step_with_gradients_that_are_not_finite_is_left_out(value: float) -> None:
    param, optimizer, scaler = make(value)
    scaler.step(optimizer)
    scaler.update()
    assert param.tolist() == [1.0, 1.0]
    assert scaler.get_scale() == 2.0


def test_the_scale_grows_and_shrinks() -> None:
    scaler = fb.amp.GradScaler(
        "cpu", init_scale=1.0, growth_factor=3.0, backoff_factor=0.25, growth_interval=2
    )
    param = fb.ones(1, requires_grad=True)
    optimizer = fb.optim.SGD([param], lr=0.0)
    scales = []
    for factor in (1, 1, 1, INF, 1, NAN, 1, 1):
        optimizer.zero_grad()
        scaler.scale(param * factor).backward()
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
    assert scales == [1.0, 3.0, 3.0, 0.75, 0.75, 0.1875, 0.1875, 0.5625]


def test_the_scale_stays_finite() -> None:
    param = fb.ones(1, requires_grad=True)
    optimizer = fb.optim.SGD([param], lr=0.0)
    scaler = fb.amp.GradScaler("cpu", init_scale=2.0**127, growth_interval=1)
    scaler.scale(param * 0).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 2.0**127


def test_gradients_may_be_scaled_back_early() -> None:
    param, optimizer, scaler = make()
    scaler.unscale_(optimizer)
    assert param.grad.tolist() == [2.0, 2.0]
    nn.utils.clip_grad_norm_([param], 1.0)
    scaler.step(optimizer)
    fb.testing.assert_close(param, fb.full((2,), 1 - 0.5 / 2**0.5), check_stride=False)


def test_several_optimisers() -> None:
    """Gradients decide for their own optimiser whether a step is skipped; all share the scale."""
    good, bad = fb.ones(1, requires_grad=True), fb.ones(1, requires_grad=True)
    optimizers = [fb.optim.SGD([p], lr=1.0) for p in (good, bad)]
    scaler = fb.amp.GradScaler("cpu", init_scale=8.0)
    scaler.scale(good + bad * INF).backward()
    for optimizer in optimizers:
        scaler.step(optimizer)
    scaler.update()
    assert (good.item(), bad.item(), scaler.get_scale()) == (0.0, 1.0, 4.0)


@pytest.mark.parametrize("dtype", [fb.float32, fb.float64, fb.bfloat16])
@pytest.mark.parametrize("shape", [(), (0,), (3, 4), (300, 400)])
def test_unscaling_in_all_types_and_sizes(dtype: fb.dtype, shape: tuple[int, ...]) -> None:
    grads = [fb.full(shape, 6.0, dtype=dtype), fb.full((5, 6), 6.0, dtype=dtype).t()[:, 1:3]]
    versions = [grad._version for grad in grads]
    found = fb.zeros(())
    fb._amp_foreach_non_finite_check_and_unscale_(grads, found, fb.tensor(0.5))
    assert all(grad.eq(3).all() for grad in grads)
    assert [grad._version for grad in grads] == [version + 1 for version in versions]
    assert found.item() == 0
    for value in (INF, -INF, NAN):
        grads[1][2, 1] = value
        found.zero_()
        fb._amp_foreach_non_finite_check_and_unscale_(grads, found, fb.tensor(0.5))
        assert found.item() == 1


def test_sparse_gradients() -> None:
    embedding = nn.Embedding(4, 2, sparse=True)
    before = embedding.weight.detach().clone()
    optimizer = fb.optim.SGD(embedding.parameters(), lr=1.0)
    scaler = fb.amp.GradScaler("cpu", init_scale=4.0)
    scaler.scale(embedding(fb.tensor([1, 1, 3])).sum()).backward()
    scaler.step(optimizer)
    expected = before - fb.tensor([[0.0], [2.0], [0.0], [1.0]])
    fb.testing.assert_close(embedding.weight.detach(), expected)


def test_outputs_in_lists() -> None:
    scaler = fb.amp.GradScaler("cpu", init_scale=4.0)
    one, (two,) = scaler.scale([fb.ones(1), (fb.ones(1, dtype=fb.float16),)])
    assert (one.item(), two.item(), two.dtype) == (4.0, 4.0, fb.float16)
    assert [each.item() for each in scaler.scale(iter([fb.ones(1)]))] == [4.0]
    with pytest.raises(ValueError, match="Tensor or an iterable"):
        scaler.scale(3)


@pytest.mark.parametrize("new", [8.0, fb.tensor(8.0), fb.tensor(8.0, dtype=fb.float64)])
def test_the_scale_may_be_set(new: Any) -> None:
    _, optimizer, scaler = make()
    scaler.step(optimizer)
    scaler.update(new)
    assert scaler.get_scale() == 8.0
    with pytest.raises(AssertionError, match="1-element"):
        scaler.update(fb.ones(2))


# --- optimisers that scale back themselves


@pytest.mark.parametrize(
    "kind",
    [fb.optim.SGD, fb.optim.Adam, fb.optim.AdamW, fb.optim.Adagrad],
    ids=lambda k: k.__name__,
)
@pytest.mark.parametrize("early", [True, False])
def test_fused_optimisers(kind: Any, early: bool) -> None:
    plain, optimizer, scaler = make(3.0, kind)
    scaler.step(optimizer)
    fused, optimizer, scaler = make(3.0, kind, fused=True)
    calls = []
    optimizer.register_step_pre_hook(lambda o, *_: calls.append((o.grad_scale, o.found_inf)))
    if early:
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    assert [scale if scale is None else scale.item() for scale, _ in calls] == [
        None if early else 4.0
    ]
    assert not hasattr(optimizer, "grad_scale")
    assert fused.equal(plain)
    assert fused.grad.tolist() == [3.0, 3.0]


@pytest.mark.parametrize(
    "kind",
    [fb.optim.SGD, fb.optim.Adam, fb.optim.AdamW, fb.optim.Adagrad],
    ids=lambda k: k.__name__,
)
def test_fused_optimisers_leave_steps_out(kind: Any) -> None:
    param, optimizer, scaler = make(INF, kind, fused=True)
    scaler.step(optimizer)
    scaler.update()
    assert param.tolist() == [1.0, 1.0]
    assert scaler.get_scale() == 2.0
    optimizer.zero_grad()
    scaler.scale((param * 3).sum()).backward()
    scaler.step(optimizer)
    alone, other, _ = make(1.0, kind)
    alone.grad = fb.full((2,), 3.0)
    other.step()
    assert param.equal(alone)


def test_steps_as_functions_scale_back() -> None:
    from flambeau.optim.sgd import sgd

    options = {"weight_decay": 0, "momentum": 0, "lr": 1, "dampening": 0, "nesterov": False}
    param, grad = fb.ones(2), fb.full((2,), 8.0)
    scales = {"grad_scale": fb.tensor(4.0), "maximize": False}
    sgd([param], [grad], [None], found_inf=fb.tensor(0.0), **scales, **options)
    assert param.tolist() == [-1.0, -1.0]
    sgd([param], [grad], [None], found_inf=fb.tensor(1.0), **scales, **options)
    assert param.tolist() == [-1.0, -1.0]


def test_optimisers_that_take_the_scaler() -> None:
    class Own(fb.optim.SGD):
        def step(self, closure: Any = None, *, grad_scaler: Any = None) -> Any:
            return grad_scaler

    param, _, scaler = make()
    optimizer = Own([param], lr=0.1)
    optimizer._step_supports_amp_scaling = True
    with pytest.warns(FutureWarning, match="grad_scaler is deprecated"):
        assert scaler.step(optimizer) is scaler


# --- mistakes


def test_scaling_back_twice() -> None:
    _, optimizer, scaler = make()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match=r"unscale_\(\) has already been called"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"after step\(\)"):
        scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match=r"step\(\) has already been called"):
        scaler.step(optimizer)
    scaler.update()
    with pytest.raises(AssertionError, match="No inf checks"):
        scaler.update()


def test_without_a_scaled_loss() -> None:
    scaler = fb.amp.GradScaler("cpu")
    optimizer = fb.optim.SGD([fb.ones(1, requires_grad=True)], lr=0.1)
    for call in (scaler.step, scaler.unscale_, lambda _: scaler.update()):
        with pytest.raises(AssertionError, match=r"call scaler.scale\(loss\)"):
            call(optimizer)
    scaler.scale(fb.ones(1))
    with pytest.raises(AssertionError, match="No inf checks"):
        scaler.step(optimizer)


def test_gradients_of_float16_are_refused() -> None:
    param = fb.ones(1, dtype=fb.float16, requires_grad=True)
    scaler = fb.amp.GradScaler("cpu")
    scaler.scale(param.sum()).backward()
    with pytest.raises(ValueError, match="FP16"):
        scaler.unscale_(fb.optim.SGD([param], lr=0.1))


def test_closures_are_refused() -> None:
    _, optimizer, scaler = make()
    with pytest.raises(RuntimeError, match="Closure"):
        scaler.step(optimizer, closure=lambda: 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"growth_factor": 1.0}, "growth factor"), ({"backoff_factor": 1.0}, "backoff factor")],
)
def test_options_that_lead_nowhere(options: dict[str, float], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        fb.amp.GradScaler("cpu", **options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([fb.ones(2)], fb.zeros(2), fb.ones(())), "found_inf must have one element"),
        (([fb.ones(2)], fb.zeros(()), fb.ones(2)), "inv_scale must have one element"),
        (([fb.ones(2)], fb.zeros(()), fb.ones((), dtype=fb.float64)), "of type float32"),
    ],
)
def test_unscaling_refuses(arguments: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        fb._amp_foreach_non_finite_check_and_unscale_(*arguments)


# --- a scaler that is off, and checkpoints


def test_cuda_without_cuda_warns_and_is_off() -> None:
    with pytest.warns(UserWarning, match="CUDA is not available"):
        scaler = fb.GradScaler()
    param = fb.ones(1, requires_grad=True)
    optimizer = fb.optim.SGD([param], lr=1.0)
    loss = (param * 0.5).sum()
    assert scaler.scale(loss) is loss
    loss.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert param.item() == 0.5
    assert (scaler.is_enabled(), scaler.get_scale(), scaler.state_dict()) == (False, 1.0, {})
    scaler.load_state_dict({})
    fb.GradScaler(enabled=False)
    with pytest.warns(FutureWarning), pytest.warns(UserWarning, match="CUDA is not available"):
        fb.cuda.amp.GradScaler(enabled=True, init_scale=2.0, growth_interval=3)
    with pytest.warns(FutureWarning, match=r"torch.amp.GradScaler\('cpu', args...\)"):
        assert fb.cpu.amp.GradScaler().is_enabled()


def test_state_dict() -> None:
    _, optimizer, scaler = make()
    scaler.step(optimizer)
    scaler.update()
    state = scaler.state_dict()
    assert state == {
        "scale": 4.0,
        "growth_factor": 2.0,
        "backoff_factor": 0.5,
        "growth_interval": 2,
        "_growth_tracker": 1,
    }
    for used in (False, True):
        other = fb.amp.GradScaler("cpu", init_scale=1.0)
        if used:
            other.scale(fb.ones(1))
        other.load_state_dict(state)
        assert other.state_dict() == state
        assert other.scale(fb.ones(1)).item() == 4.0
    with pytest.raises(RuntimeError, match="empty"):
        scaler.load_state_dict({})


def test_options() -> None:
    scaler = fb.amp.GradScaler("cpu")
    scaler.set_growth_factor(3.0)
    scaler.set_backoff_factor(0.1)
    scaler.set_growth_interval(7)
    assert scaler.get_growth_factor() == 3.0
    assert scaler.get_backoff_factor() == 0.1
    assert scaler.get_growth_interval() == 7


def test_pickles() -> None:
    _, optimizer, scaler = make()
    scaler.step(optimizer)
    with pytest.raises(AssertionError, match="between iterations"):
        pickle.dumps(scaler)
    scaler.update()
    assert pickle.loads(pickle.dumps(scaler)).state_dict() == scaler.state_dict()
