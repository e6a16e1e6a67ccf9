"""Steps as operators: one call on a tape, PyTorch's `_fused_*` functions, and what they refuse."""

from typing import Any

import numpy as np
import pytest

import flambeau as fb
from flambeau import _C, optim
from flambeau._recording.tape import Ref, Tape
from tests.optim.options import CASES, OPTIONS, Options, shown
from tests.optim.test_steps import Run, assert_same

ROWS = {"AdamW": "_fused_adamw_", "RMSprop": "_fused_rmsprop_"}


def row_of(name: str, options: Options) -> str:
    if name == "Adam" and options.get("decoupled_weight_decay"):
        return "_fused_adamw_"
    return ROWS.get(name, f"_fused_{name.lower()}_")


# --- observers


@pytest.mark.parametrize(("name", "options"), CASES, ids=shown)
def test_a_recorded_step_is_one_call(name: str, options: Options) -> None:
    """It computes the same as an unobserved step, to the bit."""
    plain, recorded = Run(name, options), Run(name, options)
    for _ in range(4):
        plain.step()
        recorded.gradients()
        with Tape() as tape:
            recorded.optimizer.step()
        calls = [call for call in tape.calls() if call.writes]
        assert [call.op for call in calls] == [row_of(name, options)]
        written = set(calls[0].outputs())
        assert all(tape.number(tensor) in written for tensor in recorded.tensors())
    assert_same(plain, recorded)


def test_a_recorded_step_runs_again() -> None:
    run = Run("Adam", {"lr": 0.1, "amsgrad": True})
    run.step()
    before = [t.detach().clone() for t in run.tensors()]
    run.gradients()
    with Tape() as tape:
        run.optimizer.step()
    (call,) = tape.calls()
    values = dict(enumerate(value.tensor for value in tape.values()))
    values |= {tape.number(t): b for t, b in zip(run.tensors(), before, strict=True)}
    found = _C._find_op(call.op)
    assert found is not None
    given = [
        [values[each.number] for each in item] if isinstance(item, list) else item
        for item in call.args
    ]
    positional = [item for item, (*_, keyword) in zip(given, found[3], strict=True) if not keyword]
    named = {
        parameter[0]: item for item, parameter in zip(given, found[3], strict=True) if parameter[3]
    }
    assert _C._invoke(call.op, *positional, **named) is None
    for expected, again in zip(run.tensors(), before, strict=True):
        assert fb.equal(expected, again)


@pytest.mark.parametrize("name", OPTIONS)
def test_counters_and_profiles_see_steps(name: str) -> None:
    plain, watched = Run(name, {}), Run(name, {})
    row = row_of(name, {})
    _C._count_start()
    try:
        with fb.profiler.profile() as profile:
            for _ in range(3):
                watched.step()
    finally:
        _C._count_stop()
    for _ in range(3):
        plain.step()
    assert _C._counted()[row] == 3
    assert f"aten::{row}" in {event.key for event in profile.key_averages()}
    assert_same(plain, watched)


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("watched", [False, True])
def test_a_step_raises_versions_once(name: str, watched: bool) -> None:
    options = {"momentum": 0.9, "centered": True} if name == "RMSprop" else {}
    run = Run(name, {"momentum": 0.9} if name == "SGD" else options)
    run.step()
    run.gradients()
    before = [t._version for t in run.tensors()]
    grads = [p.grad._version for p in run.params if p.grad is not None]
    if watched:
        with Tape():
            run.optimizer.step()
    else:
        run.optimizer.step()
    assert [t._version for t in run.tensors()] == [version + 1 for version in before]
    assert [p.grad._version for p in run.params if p.grad is not None] == grads


def test_a_buffer_that_begins_is_a_call_of_its_own() -> None:
    params = [fb.ones(3), fb.ones(2)]
    optimizer = optim.SGD([p.requires_grad_() for p in params], lr=0.1, momentum=0.9)
    params[0].grad = fb.ones(3)
    optimizer.step()
    params[1].grad = fb.ones(2)
    with Tape() as tape:
        optimizer.step()
    steps = [call for call in tape.calls() if call.op == "_fused_sgd_"]
    assert [call.args[9] for call in steps] == [True, False]  # is_first_step
    assert [call.args[0] for call in steps] == [
        [Ref(tape.number(params[1]))],
        [Ref(tape.number(params[0]))],
    ]
    assert params[0].tolist() == pytest.approx([0.71] * 3)
    assert params[1].tolist() == pytest.approx([0.9] * 2)


# --- PyTorch's operators


class Lists:
    """Two parameters with gradients and states, as arrays and as lists of tensors."""

    def __init__(self, states: int) -> None:
        random = np.random.default_rng(3)
        shapes = ((3, 4), (5,))
        self.arrays = [
            [abs(random.standard_normal(shape)) for shape in shapes] for _ in range(2 + states)
        ]
        self.lists = [[fb.tensor(each) for each in listed] for listed in self.arrays]

    def assert_params(self, expected: Any) -> None:
        for param, arrays in zip(self.lists[0], zip(*self.arrays, strict=True), strict=True):
            np.testing.assert_allclose(param, expected(*arrays), rtol=1e-12)


ADAM = {"lr": 0.1, "beta1": 0.8, "beta2": 0.9, "eps": 1e-3, "maximize": False}


@pytest.mark.parametrize("decoupled", [False, True])
@pytest.mark.parametrize("amsgrad", [False, True])
def test_fused_adam(decoupled: bool, amsgrad: bool) -> None:
    """The number of the step is what `state_steps` say, which stay as they are."""
    given = Lists(3)
    steps = [fb.tensor(3.0), fb.tensor(3.0, dtype=fb.float64)]
    fused = fb._fused_adamw_ if decoupled else fb._fused_adam_
    *lists, largest = given.lists
    options = ADAM | {"weight_decay": 0.2, "amsgrad": amsgrad}
    assert fused(*lists, largest if amsgrad else [], steps, **options) is None

    def expected(p: Any, g: Any, average: Any, square: Any, most: Any) -> Any:
        p, g = (p * (1 - 0.1 * 0.2), g) if decoupled else (p, g + 0.2 * p)
        average, square = 0.8 * average + 0.2 * g, 0.9 * square + 0.1 * g * g
        size = np.maximum(most, square) if amsgrad else square
        scale = np.sqrt(size) / np.sqrt(1 - 0.9**3) + 1e-3
        return p - 0.1 / (1 - 0.8**3) * average / scale

    given.assert_params(expected)
    assert [step.item() for step in steps] == [3.0, 3.0]
    assert [step._version for step in steps] == [0, 0]


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("nesterov", [False, True])
def test_fused_sgd(first: bool, nesterov: bool) -> None:
    given = Lists(1)
    options = {"weight_decay": 0.1, "momentum": 0.7, "dampening": 0.2, "maximize": True}
    fb._fused_sgd_(
        *given.lists, lr=fb.tensor(0.5), nesterov=nesterov, is_first_step=first, **options
    )

    def expected(p: Any, g: Any, buffer: Any) -> Any:
        g = -g + 0.1 * p
        buffer = g if first else 0.7 * buffer + 0.8 * g
        return p - 0.5 * (g + 0.7 * buffer if nesterov else buffer)

    given.assert_params(expected)


def test_fused_adagrad() -> None:
    given = Lists(1)
    steps = [fb.tensor(4.0), fb.tensor(4.0)]
    options: dict[str, Any] = {"lr_decay": 0.3, "weight_decay": 0.1, "eps": 1e-3, "maximize": False}
    fb._fused_adagrad_(*given.lists, steps, lr=0.5, **options)

    def expected(p: Any, g: Any, total: Any) -> Any:
        g = g + 0.1 * p
        return p - 0.5 / (1 + 3 * 0.3) * g / (np.sqrt(total + g * g) + 1e-3)

    given.assert_params(expected)


def test_scaled_gradients_and_steps_that_are_left_out() -> None:
    def stepped(scale: float | None, found: float | None) -> Any:
        given, steps = Lists(2), [fb.tensor(1.0), fb.tensor(1.0)]
        options: dict[str, Any] = {"weight_decay": 0.0, "amsgrad": False, "advance": True}
        grad_scale = None if scale is None else fb.tensor(scale)
        found_inf = None if found is None else fb.tensor(found)
        before = [grad.clone() for grad in given.lists[1]]
        if scale is not None:
            for grad in given.lists[1]:
                grad *= scale
        fb._fused_adam_(
            *given.lists, [], steps, **ADAM, **options, grad_scale=grad_scale, found_inf=found_inf
        )
        return given.lists[0], [step.item() for step in steps], before, given.lists[1]

    params, steps, _, _ = stepped(None, None)
    scaled, scaled_steps, before, after = stepped(8.0, 0.0)
    assert steps == scaled_steps == [2.0, 2.0]
    assert all(fb.equal(a, b) for a, b in zip(params, scaled, strict=True))
    assert all(fb.equal(a, b) for a, b in zip(before, after, strict=True))
    held, held_steps, _, _ = stepped(8.0, 1.0)
    assert held_steps == [1.0, 1.0]
    assert all(fb.equal(a, b) for a, b in zip(held, Lists(2).lists[0], strict=True))


def test_by_name() -> None:
    options = ADAM | {"weight_decay": 0.0, "amsgrad": False}
    results = []
    for fused in (fb._fused_adam_, fb.ops.aten._fused_adam_, fb.ops.aten._fused_adam_.default):
        given = Lists(2)
        fused(*given.lists, [], [fb.tensor(1.0), fb.tensor(1.0)], **options)
        results.append(given.lists[0])
    given = Lists(2)
    rate = {"lr": fb.tensor(0.1, dtype=fb.float64)}
    steps = [fb.tensor(1.0), fb.tensor(1.0)]
    fb.ops.aten._fused_adam_.tensor_lr(*given.lists, [], steps, **(options | rate))
    for other in (*results[1:], given.lists[0]):
        assert all(fb.equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_leaves_are_changed_without_a_graph() -> None:
    """As in PyTorch, and their versions are counted."""
    leaf = fb.ones(2, requires_grad=True)
    product = leaf * leaf
    options = dict.fromkeys(("nesterov", "maximize", "is_first_step"), False)
    numbers = {"weight_decay": 0.0, "momentum": 0.0, "lr": 0.5, "dampening": 0.0}
    fb._fused_sgd_([leaf], [fb.ones(2)], [], **numbers, **options)
    assert leaf.is_leaf
    assert leaf.tolist() == [0.5, 0.5]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


# --- refusals


def adam(*lists: Any, **options: Any) -> None:
    fb._fused_adam_(*lists, **(ADAM | {"weight_decay": 0.0, "amsgrad": False} | options))


def test_lists_that_do_not_belong_together() -> None:
    one, step = fb.ones(3), fb.tensor(1.0)
    message = "_fused_adam_: expected as many exp_avgs as parameters, 1, got 2"
    with pytest.raises(RuntimeError, match=message):
        adam([one], [one], [one, one], [one], [], [step])
    with pytest.raises(RuntimeError, match="expected as many state_steps as parameters, 1, got 0"):
        adam([one], [one], [one], [one], [], [])
    with pytest.raises(RuntimeError, match="as many max_exp_avg_sqs as parameters, 1, got 0"):
        adam([one], [one], [one], [one], [], [step], amsgrad=True)
    with pytest.raises(RuntimeError, match=r"grads like the parameters, but number 0 .* \(4,\)"):
        adam([one], [fb.ones(4)], [one], [one], [], [step])
    with pytest.raises(RuntimeError, match=r"exp_avg_sqs like the parameters, .* type float64"):
        adam([one], [one], [one], [one.double()], [], [step])
    with pytest.raises(RuntimeError, match=r"one float32 or float64 element, .* type int64"):
        adam([one], [one], [one], [one], [], [fb.tensor(1)])
    with pytest.raises(RuntimeError, match=r"floating-point or complex numbers, .* type int64"):
        adam([one.long()], [one], [one], [one], [], [step])
    assert one.tolist() == [1, 1, 1]


def test_other_orders_in_memory() -> None:
    square, step = fb.ones(3, 3), fb.tensor(1.0)
    turned = fb.ones(3, 3).t()
    with pytest.raises(RuntimeError, match="grads that lie in memory as the parameters do"):
        adam([square], [turned], [square], [square], [], [step])
    with pytest.raises(RuntimeError, match="parameters without gaps and overlaps"):
        adam([fb.ones(1, 3).expand(3, 3)], [square], [square], [square], [], [step])
    adam(*([fb.ones(3, 3).t()] for _ in range(4)), [], [step])


def test_sparse_mapped_and_inference_tensors() -> None:
    one, step = fb.ones(3), fb.tensor(1.0)
    with pytest.raises(RuntimeError, match="sparse"):
        adam([one], [one.to_sparse()], [one], [one], [], [step])
    with pytest.raises(RuntimeError, match="vmap: _fused_adam_"):
        fb.vmap(lambda x: adam([x], [x], [x], [x], [], [step]))(fb.ones(2, 3))
    with fb.inference_mode():
        frozen = fb.ones(3)
    with pytest.raises(RuntimeError, match="inference"):
        adam([frozen], [one], [one], [one], [], [step])


def test_no_parameters_and_tensors_without_elements() -> None:
    adam([], [], [], [], [], [])
    adam(*([fb.ones(3, device="meta")] for _ in range(4)), [], [fb.ones((), device="meta")])
