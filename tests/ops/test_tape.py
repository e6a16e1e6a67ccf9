"""Tapes: what is recorded of a program, and that nothing changes for others."""

import threading
from pathlib import Path
from typing import Any

import pytest

import flambeau as fb
from flambeau import _C
from flambeau._recording.tape import Call, Ref, Tape


def names(tape: Tape) -> list[str]:
    return [call.op for call in tape.calls()]


def run_again(tape: Tape, inputs: dict[int, fb.Tensor]) -> dict[int, Any]:
    """The values of a recorded program for other inputs: every call by its name."""
    values = {n: v.tensor for n, v in enumerate(tape.values()) if v.maker < 0}
    values.update(inputs)

    def given(item: Any) -> Any:
        if isinstance(item, list):
            return [given(each) for each in item]
        return values[item.number] if isinstance(item, Ref) else item

    for call in tape.calls():
        op = _C._find_op(call.op)
        assert op is not None
        named = {
            name: given(item)
            for (name, _, _, keyword_only), item in zip(op[3], call.args, strict=True)
            if keyword_only
        }
        first = call.args[: len(call.args) - len(named)]
        result = _C._invoke(call.op, *map(given, first), **named)
        several = result if isinstance(result, (tuple, list)) else (result,)
        values.update(zip(call.outputs(), several, strict=True))
    return values


def test_a_flat_list_of_calls() -> None:
    x, w, b = fb.rand(2, 3), fb.rand(3, 4), fb.rand(4)
    with Tape() as tape:
        y = (x @ w + b).relu()
    first, second, third = tape.calls()
    assert [first.op, second.op, third.op] == ["matmul", "add", "relu"]
    assert first.args == (Ref(tape.number(x)), Ref(tape.number(w)))
    assert second.args[:2] == (first.results[0], Ref(tape.number(b)))
    assert third.results == (Ref(tape.number(y)),)
    values = tape.values()
    assert values[tape.number(y)].tensor is y
    assert [values[tape.number(each)].maker for each in (x, w, b, y)] == [-1, -1, -1, 2]
    assert first.aten == "aten::matmul"


def test_the_line_of_the_program() -> None:
    with Tape() as tape:
        fb.ones(2).exp()
    lines = Path(__file__).read_text().splitlines()
    for call in tape.calls():
        file, _, line = call.location.rpartition(":")
        assert file == __file__
        assert "fb.ones(2).exp()" in lines[int(line) - 1]


def test_what_is_not_recorded() -> None:
    x = fb.rand(3)
    tape = Tape()
    x.exp()
    with tape:
        pass
    x.exp()
    assert len(tape) == 0
    with tape, pytest.raises(RuntimeError):
        x + fb.rand(4)
    assert names(tape) == ["rand"]


def test_writes_keep_the_number() -> None:
    x = fb.rand(3)
    with Tape() as tape:
        x.add_(1)
        x.mul_(2)
        fb.exp(x, out=x)
        fb.nn.functional.relu(x, inplace=True)
    assert names(tape) == ["add_", "mul_", "exp.out", "relu_"]
    assert all(call.writes for call in tape.calls())
    assert all(call.results == (Ref(0),) for call in tape.calls())
    assert len(tape.values()) == 1


def test_views_tell_whose_memory_they_share() -> None:
    x, other = fb.rand(4, 4), fb.rand(2)
    with Tape() as tape:
        row = x[1]
        part = x[1:3, 0]
        transposed = x.t()
        part.copy_(other)
        fresh = x * 1
    values = tape.values()
    mine = tape.number(x)
    for view in (row, part, transposed):
        assert values[tape.number(view)].shares == mine
    assert values[tape.number(fresh)].shares == tape.number(fresh)
    assert [call.views for call in tape.calls()] == [True, True, True, True, False, False]
    copy = tape.calls()[4]
    assert copy.op == "copy_"
    assert copy.writes
    assert copy.args[:2] == (Ref(tape.number(part)), Ref(tape.number(other)))


def test_assignments_are_writes_to_views() -> None:
    x = fb.zeros(4)
    with Tape() as tape:
        x[1:3] = 5.0
        x[0] = fb.ones(())
    values = tape.values()
    written = [call.outputs()[0] for call in tape.calls() if call.writes]
    assert [values[number].shares for number in written] == [tape.number(x)] * 2
    assert x.tolist() == [1, 5, 5, 0]


def test_factories_and_chance() -> None:
    generator = fb.Generator().manual_seed(3)
    with Tape() as tape:
        fb.zeros(2, 3, dtype=fb.float64)
        fb.arange(5)
        drawn = fb.rand(3, generator=generator)
        drawn.normal_(generator=generator)
        fb.full((2,), 7)
    zeros, arange, rand, normal, full = tape.calls()
    assert (zeros.op, zeros.args[0], zeros.args[1]) == ("zeros", (2, 3), fb.float64)
    assert (arange.op, arange.args[0]) == ("arange", 5)
    assert rand.random
    assert rand.args[1] is generator
    assert normal.random
    assert normal.args[-1] is generator
    assert full.args[1] == 7


def test_compositions_whole_or_in_parts() -> None:
    x, w, b = fb.rand(2, 3), fb.rand(4, 3), fb.rand(4)

    def program() -> fb.Tensor:
        return fb.nn.functional.linear(x, w, b).chunk(2)[0]

    with Tape() as whole:
        program()
    assert names(whole) == ["nn_functional_linear", "chunk"]
    with Tape(in_parts=True) as parts:
        program()
    assert [call.aten for call in parts.calls()] == ["aten::addmm", "aten::split"]
    assert not any(call.flags & _C._OP_COMPOSITE for call in parts.calls())


def test_lists_and_several_results() -> None:
    x = fb.rand(2, 3)
    with Tape() as tape:
        fb.cat([x, x])
        values, where = x.max(1)
    cat, largest = tape.calls()
    assert cat.args[0] == [Ref(0), Ref(0)]
    assert cat.inputs() == [0, 0]
    assert largest.op == "max.dim"
    assert largest.outputs() == [tape.number(values), tape.number(where)]


def test_numbers_that_leave() -> None:
    x = fb.rand(2, 3)
    with Tape() as tape:
        assert x.size(1) == 3
        assert x.numel() == 6
        assert x.equal(x)
        assert x.sum(dtype=fb.int64).item() == 0
        x.tolist()
        x.numpy()
    assert [(call.op, call.results) for call in tape.calls() if not call.outputs()] == [
        ("size.dim", (3,)),
        ("numel", (6,)),
        ("equal", (True,)),
        ("item", (0,)),
        ("tolist", (None, None)),
        ("numpy", (None,)),
    ]


def test_the_operators_inside_of_a_backward() -> None:
    x = fb.rand(3, requires_grad=True)
    y = (x * x).exp().sum()
    with Tape() as tape:
        y.backward()
    assert "mul" in names(tape)
    assert x.grad is not None
    number = tape.number(x.grad)
    assert tape.values()[number].maker >= 0


def test_gradients_that_are_clipped() -> None:
    """Norms and bounds are calls that say what they write."""
    params = [fb.rand(3, requires_grad=True), fb.rand(2, requires_grad=True)]
    for param in params:
        param.grad = fb.ones_like(param)
    with Tape() as tape:
        fb.nn.utils.clip_grad_norm_(params, 1.0)
        fb.nn.utils.clip_grad_value_(params, 0.1)
    numbers = [tape.number(param.grad) for param in params if param.grad is not None]
    assert names(tape) == ["_total_norm", "_shrink_to_norm", "_clamp_all"]
    assert [call.writes for call in tape.calls()] == [False, True, True]
    assert [call.outputs() for call in tape.calls()[1:]] == [numbers, numbers]
    with Tape(in_parts=True) as parts:
        fb.nn.utils.clip_grad_value_(params, 0.05)
    assert names(parts) == ["clamp_", "clamp_"]


def test_gradients_that_are_scaled_back() -> None:
    gradients = [fb.rand(3), fb.rand(2).half()]
    found, inverse = fb.zeros(()), fb.tensor(0.5)
    with Tape() as tape:
        fb._amp_foreach_non_finite_check_and_unscale_(gradients, found, inverse)
    (call,) = tape.calls()
    assert call.outputs() == [tape.number(each) for each in (*gradients, found)]
    scale, tracker = fb.tensor(8.0), fb.tensor(0, dtype=fb.int32)
    with Tape() as tape:
        fb._amp_update_scale_(scale, tracker, found, 2.0, 0.5, 10)
    assert tape.calls()[0].outputs() == [tape.number(scale), tape.number(tracker)]


def test_a_program_runs_again() -> None:
    def program(x: fb.Tensor) -> fb.Tensor:
        hidden = fb.nn.functional.linear(x, w, b)
        hidden.relu_()
        scores = hidden.softmax(1) + fb.arange(4.0)
        largest, _ = scores.max(1)
        return fb.stack([largest, hidden.sum(1)]).t()

    w, b = fb.rand(4, 3), fb.rand(4)
    x, other = fb.rand(2, 3), fb.rand(5, 3)
    with Tape() as tape:
        y = program(x)
    values = run_again(tape, {tape.number(x): other})
    assert fb.equal(values[tape.number(y)], program(other))
    assert not fb.equal(values[tape.number(y)][:2], y)


def test_tapes_of_threads_and_tapes_in_tapes() -> None:
    x = fb.rand(3)

    def elsewhere() -> None:
        x.exp()

    with Tape() as outer:
        x.sin()
        with Tape() as inner:
            x.cos()
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        x.tan()
    assert names(outer) == ["sin", "tan"]
    assert names(inner) == ["cos"]


def test_counters_count_all_threads() -> None:
    x = fb.rand(3)
    _C._count_start()
    try:
        x.exp()
        x.exp()
        thread = threading.Thread(target=x.sin)
        thread.start()
        thread.join()
        fb.zeros(2)
    finally:
        _C._count_stop()
    x.exp()
    counted = _C._counted()
    assert {name: counted.get(name) for name in ("exp", "sin", "zeros")} == {
        "exp": 2,
        "sin": 1,
        "zeros": 1,
    }


def test_observers_beside_each_other() -> None:
    x = fb.rand(3)
    with fb.profiler.profile() as profile, Tape() as tape:
        x.exp()
        fb.zeros(3)
        x[1:]
    assert names(tape)[:2] == ["exp", "zeros"]
    seen = {event.key for event in profile.key_averages()}
    assert {"aten::exp", "aten::zeros", "aten::slice"} <= seen


def test_calls_read_as_programs() -> None:
    x = fb.rand(2)
    with Tape() as tape:
        x.add(1)
    assert repr(tape.calls()[0]).startswith("%1 = add(%0, 1")
    assert str(tape) == repr(tape.calls()[0])
    assert isinstance(tape.calls()[0], Call)
