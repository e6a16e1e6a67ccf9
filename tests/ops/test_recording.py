"""Recorders: sizes that stay symbols, elements that are read, modes, programs that run again."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import flambeau as fb
from flambeau import Tensor
from flambeau._operators.unrecorded import unrecorded
from flambeau._recording.program import Constant, Program, Replay, State, Step
from flambeau._recording.record import Recorder, Rules, current
from flambeau._recording.tape import Ref, SizeRef, Tape

READS: list[str] = []
RULES = Rules(READS.append, lambda: READS.append("constant"))


@pytest.fixture(autouse=True)
def no_reads() -> None:
    READS.clear()


def recorded(function: Callable[..., Any], *inputs: Tensor, **state: Tensor) -> Program:
    with Recorder(list(inputs), list(state.items()), 2, RULES) as recorder:
        result = function(*inputs)
    return recorder.program([], result)


def run(program: Program, *inputs: Tensor) -> Any:
    return Replay(program).run(list(inputs), ())


def ops(program: Program) -> list[str]:
    return [step.op for step in program.steps]


SIZED: dict[str, Callable[[Tensor], Tensor]] = {
    "view": lambda x: x.view(x.shape[0], -1),
    "sizes one by one": lambda x: x.reshape(x.size(0) * x.size(1), 1),
    "factory": lambda x: fb.zeros(x.shape[0], 2) + x.numel(),
    "number in front": lambda x: x.shape[0] - x,
    "number behind": lambda x: x / x.shape[1],
    "in place": lambda x: x.clone().mul_(x.shape[0]),
    "slice": lambda x: x[: x.shape[0] - 1, 1:],
    "slice from the end": lambda x: x[:, :-1] + x[-1, 1:],
    "slice by chance of the whole": lambda x: x[:4],
    "index": lambda x: x[x.shape[0] - 1],
    "assignment": lambda x: fb.index_fill(x, 0, fb.tensor([0]), x.shape[1]),
    "expand": lambda x: x.sum(0).expand(x.shape[0], x.shape[1]),
    "keyword": lambda x: fb.full(size=(x.shape[0],), fill_value=x.shape[1]),
    "rank": lambda x: x.transpose(x.dim() - 2, x.ndim - 1),
    "powers": lambda x: x * (x.shape[0] ** 2 // 3 % 5 - -x.shape[1]),
    "split": lambda x: x.split([1, x.shape[0] - 1])[1],
    "padding": lambda x: fb.nn.functional.pad(x, (0, x.shape[0])),
    "two arguments": lambda x: fb.add(x, x.shape[0], alpha=x.shape[0]),
    "arange": lambda x: fb.arange(x.shape[0]) + x.sum(),
}


@pytest.mark.parametrize("name", SIZED)
def test_sizes_stay_symbols(name: str) -> None:
    function = SIZED[name]
    program = recorded(function, fb.rand(4, 3))
    assert "sizes.check" not in ops(program)
    for size in [(4, 3), (6, 5), (2, 4)]:
        x = fb.rand(size)
        assert fb.equal(run(program, x), function(x)), size


def test_assigned_sizes() -> None:
    def filled(x: Tensor) -> Tensor:
        y = x.clone()
        y[1:] = x.shape[0]
        y[0, :1] = 7
        return y

    program = recorded(filled, fb.rand(4, 3))
    x = fb.rand(6, 2)
    assert fb.equal(run(program, x), filled(x))


LOST: dict[str, Callable[[Tensor], Tensor]] = {
    "data": lambda x: x + fb.tensor([x.shape[0]]),
    "float": lambda x: x * float(x.shape[0]),
    "fraction": lambda x: x * (x.shape[0] / 2),
    "branch": lambda x: x * 2 if x.shape[0] == 4 else x,
    "hash": lambda x: x * {4: 1.5}[x.shape[0]],
}


@pytest.mark.parametrize("name", LOST)
def test_sizes_that_leave_are_checked(name: str) -> None:
    function = LOST[name]
    program = recorded(function, fb.rand(4, 3))
    x = fb.rand(4, 5)
    assert fb.equal(run(program, x), function(x))
    with pytest.raises(RuntimeError, match="this program was recorded where"):
        run(program, fb.rand(5, 3))


def test_sizes_of_what_does_not_depend_on_inputs_are_numbers() -> None:
    weight = fb.rand(3, 2)
    program = recorded(lambda x: (x @ weight).reshape(-1, weight.shape[1]), fb.rand(4, 3))
    assert ops(program) == ["matmul", "reshape"]


def test_notes_of_a_tape() -> None:
    x = fb.rand(4, 3)
    tape = Tape(tracing=1)
    tape.add_input(x)
    with tape:
        count = x.shape[0] // 2
        y = x.reshape(count, -1)
        assert count < 3
        assert y.dim() == 2
    assert [call.note or call.op for call in tape.calls()] == [
        *("size", "size", "floordiv", "reshape", "check", "dim"),
    ]
    reshape, check = tape.calls()[3:5]
    assert reshape.args[1] == (SizeRef(2), -1)
    assert check.args == ("lt", True, SizeRef(2), 3)
    assert x.shape[0] == 4
    assert type(x.shape[0]) is int
    assert len(tape) == 6


def test_what_python_reads() -> None:
    def reading(x: Tensor) -> Tensor:
        total = x.sum()
        values = [float(total), int(total), total.item(), bool(total > 0), total.tolist()]
        x.numpy()
        return x * sum(values) + (1 if fb.equal(x, x) else 2) + fb.full((2,), total.exp())

    recorded(reading, fb.ones(2))
    assert READS == [
        "__float__",
        "__int__",
        "item",
        "__bool__",
        "tolist",
        "numpy",
        "item",
        "__bool__",
    ]


def test_reads_keep_what_was_read() -> None:
    x = fb.full((1,), 2.5)
    with Tape() as tape:
        tape.number(x)
        assert float(x) == 2.5
    (read,) = tape.calls()
    assert (read.note, read.args, read.results) == ("read", (Ref(0), "__float__"), (2.5,))
    assert read.location.startswith(__file__)


def test_checks_of_the_package_are_no_reads() -> None:
    x = fb.ones(2)

    def checking(x: Tensor) -> Tensor:
        with unrecorded():
            assert bool(x.sum() > 0)
        return x * 2

    assert ops(recorded(checking, x)) == ["mul"]
    assert READS == []
    assert current() is None


def test_a_recording_in_a_block_that_is_not_recorded() -> None:
    x = fb.ones(2)

    def checking(x: Tensor) -> Tensor:
        with unrecorded():
            assert ops(recorded(lambda x: x + 1, x)) == ["add"]
            x.sum()
        return x * 2

    assert ops(recorded(checking, x)) == ["mul"]


def test_a_block_that_is_not_recorded_is_not_traced() -> None:
    def tracing(x: Tensor) -> Tensor:
        assert current() is not None
        with unrecorded():
            assert current() is None
            assert type(x.shape[0]) is int
            recorded(lambda x: x + 1, x)
            assert current() is None
        assert current() is not None
        return x * x.shape[0]

    program = recorded(tracing, fb.ones(2))
    assert ops(program) == ["sizes.size", "mul"]
    assert run(program, fb.ones(3)).tolist() == [3, 3, 3]


def test_modes_are_part_of_a_step() -> None:
    def switching(x: Tensor) -> Tensor:
        with fb.no_grad():
            scale = x.sum()
        with fb.autocast("cpu", dtype=fb.bfloat16):
            product = fb.nn.functional.linear(x, x)
        return product.float() * scale

    program = recorded(switching, fb.rand(2, 2))
    modes = {step.op: step.mode for step in program.steps}
    assert modes["sum"] is not None
    assert modes["sum"].no_grad
    assert modes["nn_functional_linear"] is not None
    assert modes["nn_functional_linear"].autocast is fb.bfloat16
    assert modes["mul"] is None
    x = fb.rand(3, 3, requires_grad=True)
    result = run(program, x)
    assert fb.equal(result, switching(x))
    assert fb.is_grad_enabled()
    assert not fb.is_autocast_enabled("cpu")


def test_tensors_from_outside() -> None:
    weight, constant = fb.rand(3), fb.rand(3)
    program = recorded(lambda x: x * weight + constant, fb.rand(3), weight=weight)
    assert program.steps[0].args == (Ref(0), State("weight"))
    assert program.steps[1].args == (Ref(1), Constant(0))
    assert fb.equal(program.constants[0], constant)
    assert READS == []
    recorded(lambda x: x * fb.from_numpy(x.detach().numpy()), fb.rand(3))
    assert READS == ["numpy", "constant"]


def test_data_that_the_program_changes_begin_anew() -> None:
    def counting(x: Tensor) -> Tensor:
        total = fb.tensor([1.0])
        total += x.sum()
        return total

    program = recorded(counting, fb.ones(2))
    for _ in range(2):
        assert run(program, fb.ones(3)).tolist() == [4]


MADE_OF_TENSORS: dict[str, Callable[[Tensor], Tensor]] = {
    "data": lambda x: x.data * 2,
    "tensor": lambda x: fb.tensor(x) * 2,
    "as_tensor": lambda x: fb.as_tensor(x, dtype=fb.float64),
    "asarray": lambda x: fb.asarray(x, copy=True),
    "asarray of a type": lambda x: fb.asarray(x, dtype=fb.float64),
    "new_tensor": lambda x: x.new_tensor(x),
    "as_subclass": lambda x: x.as_subclass(fb.nn.Parameter) * 2,
    "Parameter": lambda x: fb.nn.Parameter(x) * 2,
    "nonzero": lambda x: fb.nonzero(x),
    "nonzero of each dimension": lambda x: fb.stack(fb.nonzero(x, as_tuple=True)),
    "strides": lambda x: x.as_strided((x.shape[0],), (x.stride(0),)),
    "tensor_split": lambda x: x.tensor_split([1, -1])[1],
    "position": lambda x: x[x.sum().long() % 2],
}


@pytest.mark.parametrize("name", MADE_OF_TENSORS)
@pytest.mark.filterwarnings("ignore:To copy construct")
def test_tensors_that_are_made_of_tensors(name: str) -> None:
    function = MADE_OF_TENSORS[name]
    program = recorded(function, fb.rand(4, 3))
    assert READS == []
    for size in [(4, 3), (5, 2), (3, 6)]:
        x = fb.rand(size)
        assert fb.equal(run(program, x), function(x)), size


def test_numbers_in_data_are_reads() -> None:
    recorded(lambda x: x + fb.tensor([x.sum(), 1.0]), fb.rand(2))
    assert READS == ["item"]


def test_programs_are_copied_and_pickled() -> None:
    replay = Replay(recorded(lambda x: x * 2, fb.ones(2)))
    for twin in (copy.deepcopy(replay), pickle.loads(pickle.dumps(replay))):
        assert twin.run([fb.ones(3)], ()).tolist() == [2, 2, 2]


def test_another_number_of_results() -> None:
    program = recorded(lambda x: sum(x.split(2)), fb.ones(4))
    with pytest.raises(RuntimeError, match=r"^split: the call returned 3 values, .* returned 2"):
        run(program, fb.ones(6))


@pytest.mark.parametrize(
    ("step", "error", "match"),
    [
        (Step("relu", (Ref(7),), (1,)), ValueError, "names the value 7, and has 2"),
        (Step("relu", (Ref(0),), (9,)), ValueError, "names the value 9"),
        (
            Step("relu", ("text",), (1,)),
            TypeError,
            "relu: argument 'input' must be Tensor, not str",
        ),
        (Step("relu", (Ref(0), 1, 2, 3), (1,)), TypeError, "relu: expected .* arguments, got 4"),
        (
            Step("cat", ([Ref(0), 3],), (1,)),
            TypeError,
            "cat: argument 'tensors' must be tuple of Tensors, and its element 1 is int",
        ),
        (
            Step("reshape", (Ref(0), (Ref(0), "a")), (1,)),
            TypeError,
            "reshape: argument 'shape' must be tuple of ints, and its element 1 is str",
        ),
        (Step("_linear_rows", (Ref(0),), (1,)), ValueError, "there is no operator called"),
        (Step("eval", (Ref(0),), (1,)), ValueError, "there is no operator called"),
    ],
)
def test_steps_that_are_refused(step: Step, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        Replay(Program([], 1, 2, [step], [], Ref(1)))


@pytest.mark.parametrize(
    ("mode", "error", "match"),
    [
        ((1, None), TypeError, "'no_grad' in the mode of a step must be bool, not int"),
        (("yes", None), TypeError, "'no_grad' in the mode of a step must be bool, not str"),
        ((False, "text"), TypeError, "'autocast' .* must be torch.dtype or None, not str"),
        ((True, fb.int8), ValueError, "'autocast' .* must be a floating type, not int8"),
        ((True,), TypeError, "the mode of a step must be a pair, not tuple"),
        (5, TypeError, "the mode of a step must be a pair, not int"),
    ],
)
def test_modes_that_are_refused(mode: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=f"^relu: {match}"):
        Replay(Program([], 1, 2, [Step("relu", (Ref(0),), (1,), mode)], [], Ref(1)))


def test_messages_name_the_operator_once() -> None:
    program = Program([], 1, 2, [Step("cat", ([Ref(0), None],), (1,))], [], Ref(1))
    with pytest.raises(TypeError, match=r"^cat: argument 'tensors' must be a list of tensors, and"):
        run(program, fb.ones(2))
    program = Program([], 1, 2, [Step("cat", (Ref(0),), (1,))], [], Ref(1))
    with pytest.raises(TypeError, match=r"^cat: argument 'tensors' must be tuple of Tensors, not"):
        run(program, fb.ones(2))
    with pytest.raises(RuntimeError, match=r"^sum\(\): functions with out="):
        fb.sum(fb.ones(2, requires_grad=True), 0, out=fb.ones(()))


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("floordiv", (Ref(1), -2), -2),
        ("mod", (Ref(1), -2), -1),
        ("floordiv", (-7, Ref(1)), -3),
        ("mod", (-7, Ref(1)), 2),
        ("pow", (Ref(1), 3), 27),
        ("neg", (Ref(1),), -3),
        ("sub", (1, Ref(1)), -2),
    ],
)
def test_arithmetic_is_pythons(name: str, args: tuple[Any, ...], expected: int) -> None:
    steps = [
        Step("sizes.size", (Ref(0), 0), (1,)),
        Step(f"sizes.{name}", args, (2,)),
    ]
    assert run(Program([], 1, 3, steps, [], Ref(2)), fb.ones(3)) == expected


@pytest.mark.parametrize(
    ("name", "args", "match"),
    [
        ("floordiv", (Ref(1), 0), "divides a size by zero"),
        ("pow", (Ref(1), 99), "does not fit in 64 bits"),
        ("pow", (Ref(1), -1), "is no size"),
        ("mul", (Ref(1), 2**62), "does not fit in 64 bits"),
        ("add", (Ref(0), 1), "not of Tensor"),
        ("check", ("eq", True, Ref(1)), "a recording decides about sizes"),
        ("check", ("eval", True, Ref(1), 1), "a recording decides about sizes"),
        ("check", ("lt", True, Ref(1), 2.5), r"recorded where 'lt 3 2\.5' was True"),
    ],
)
def test_arithmetic_that_is_refused(name: str, args: tuple[Any, ...], match: str) -> None:
    results = () if name == "check" else (2,)
    steps = [Step("sizes.size", (Ref(0), 0), (1,)), Step(f"sizes.{name}", args, results)]
    with pytest.raises(RuntimeError, match=match):
        run(Program([], 1, 3, steps, [], Ref(1)), fb.ones(3))
