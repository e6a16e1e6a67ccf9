"""Files of scripts and exported programs with bytes and values that do not belong there."""

import io
import pickle
import random
import re

import pytest

import flambeau as torch
from flambeau import nn
from flambeau._recording import files
from flambeau._recording.program import Constant, Program, Replay, Step
from flambeau._recording.tape import Ref
from flambeau.serialization import load, save

_ERRORS = (RuntimeError, ValueError, NotImplementedError, pickle.PickleError)


def network():
    return nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.ReLU()).eval()


def written_script():
    file = io.BytesIO()
    torch.jit.save(torch.jit.trace(network(), torch.ones(2, 4)), file)
    return file.getvalue()


def written_program():
    file = io.BytesIO()
    torch.export.save(torch.export.export(network(), (torch.ones(2, 4),)), file)
    return file.getvalue()


_KINDS = [(written_script, torch.jit.load), (written_program, torch.export.load)]


@pytest.mark.parametrize(("write", "read"), _KINDS)
def test_changed_bytes(write, read):
    whole = write()
    for seed in range(60):
        chance = random.Random(seed)
        data = bytearray(whole)
        if seed % 3 == 0:
            del data[chance.randrange(len(data)) :]
        else:
            for _ in range(chance.choice([1, 8, 64])):
                data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            read(io.BytesIO(data))
        except _ERRORS:
            continue


@pytest.mark.parametrize(("write", "read"), _KINDS)
def test_values_of_other_types(write, read):
    content = load(io.BytesIO(write()))
    for name in content.keys() - {"format", "version", "module", "state", "trainable", "results"}:
        for value in (None, 5, "text", [5], {"a": 5}):
            if not content[name] and not value:
                continue
            file = io.BytesIO()
            save({**content, name: value}, file)
            file.seek(0)
            try:
                read(file)
            except _ERRORS:
                continue


# --- programs that say something else

_VALUES = (
    *(None, True, 0, -1, 1, 2, 2**31, 2**63, 2.5, float("nan"), 1j, "text", "eq"),
    *([], [None], (), (1, -1), torch.int8, torch.device("cpu"), torch.channels_last),
    *(Ref(0), Ref(-1), Ref(5), Ref(2**31), [Ref(0), None], (Ref(0), 3), [Ref(0), [Ref(0)]]),
)
_OTHER_OPS = (
    *("cat", "stack", "index_put", "_index", "max.dim_out", "lstm", "_fused_sgd_", "view", "topk"),
    *("sizes.size", "sizes.check", "sizes.pow", "sizes.floordiv", "data_ptr", "no operator"),
)


def recorded_steps():
    def function(x):
        y = torch.cat([x, x * x.shape[0]]).view(x.shape[0], 2, -1)
        y[:, torch.tensor([0, 1])] += torch.max(y, 0)[0]
        return y.sum(x.dim() - 1) if x.shape[0] > 1 else y

    return torch.jit.trace(function, torch.ones(2, 4)).graph


def changed(step, chance):
    """A step with something else in it."""
    args = list(step.args)
    what = chance.randrange(6)
    if what == 0:
        return step._replace(op=chance.choice(_OTHER_OPS))
    if what == 1:
        return step._replace(results=chance.choice([(), (-1,), (0,), (7, 8), (2**31,), (-5,)]))
    if what == 2:
        return step._replace(mode=chance.choice([(True, torch.int8), (1, None), (False, "text")]))
    if what == 3 or not args:
        args.insert(chance.randrange(len(args) + 1), chance.choice(_VALUES))
    elif what == 4:
        del args[chance.randrange(len(args))]
    else:
        args[chance.randrange(len(args))] = chance.choice(_VALUES)
    return step._replace(args=tuple(args))


def run_from_data(program, inputs):
    Replay(files.program_of(files.program_data(program))).run(inputs, ())


@pytest.mark.parametrize("seed", range(20))
def test_steps_that_say_something_else(seed):
    whole = recorded_steps()
    chance = random.Random(seed)
    refused = 0
    for _ in range(60):
        steps = list(whole.steps)
        for _ in range(chance.choice([1, 1, 3])):
            place = chance.randrange(len(steps))
            steps[place] = changed(steps[place], chance)
        if chance.random() < 0.1:
            chance.shuffle(steps)
        try:
            run_from_data(whole._replace(steps=steps), [torch.rand(2, 4)])
        except (*_ERRORS, TypeError, IndexError, OverflowError, KeyError):
            refused += 1
    assert refused > 20


@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("cat", ([Ref(0), None],)),
        ("stack", ([None, None],)),
        ("max.dim_out", (Ref(0), 0, False, [None, None])),
        ("_pad_sequence", ([None], True, 0.0, "right")),
    ],
)
def test_lists_without_their_tensors(op, args):
    program = Program(["x"], 1, 3, [Step(op, args, (1, 2))], [], Ref(1))
    with pytest.raises(TypeError, match="a tensor of it is missing"):
        run_from_data(program, [torch.ones(2, 2)])


@pytest.mark.parametrize("op", ["_index", "index_put"])
def test_lists_with_gaps(op):
    args = {"_index": (), "index_put": (Constant(1),)}[op]
    step = Step(op, (Ref(0), [None, Constant(0)], *args), (1,))
    constants = [torch.tensor([1]), torch.tensor(5.0)]
    program = Program(["x"], 1, 2, [step], constants, Ref(1))
    result = Replay(files.program_of(files.program_data(program))).run([torch.zeros(2, 2)], ())
    assert result.tolist() == {"_index": [[0], [0]], "index_put": [[0, 5], [0, 5]]}[op]


_MODES = (
    *((), (True,), (True, None, None), 0, 5, "", "no", [], {}, {"no_grad": True}, torch.ones(2)),
    *((None, None), (0, None), (True, "text"), (True, torch.int8), (True, torch.bool)),
    *((torch.ones(1), None), (False, 1.5), [[True], None], (True, torch.ones(1))),
)


_PAIRS = (
    *(("slot", 0), ("slot", -1), ("slot", 2**31), ("constant", 9), ("state", "a"), ("value", 1)),
    *(("list", [("slot", 0), ("value", None)]), ("tuple", [("value", 1)]), ("layout", "ones")),
)


def altered(value, chance, depth=0):
    """The data of a program with something else somewhere in it."""
    if chance.random() < 0.15 or depth > 6:
        return chance.choice([*_VALUES, *_MODES, *_PAIRS])
    if isinstance(value, dict) and value:
        key = chance.choice(list(value))
        return {**value, key: altered(value[key], chance, depth + 1)}
    if type(value) in (tuple, list) and value:
        place = chance.randrange(len(value))
        changed = altered(value[place], chance, depth + 1)
        return type(value)([*value[:place], changed, *value[place + 1 :]])
    return chance.choice(_VALUES)


@pytest.mark.parametrize("seed", range(10))
def test_data_that_says_something_else(seed):
    whole = files.program_data(recorded_steps())
    chance = random.Random(seed)
    messages = []
    for _ in range(300):
        data = whole
        for _ in range(chance.choice([1, 1, 2, 4])):
            data = altered(data, chance)
        try:
            Replay(files.program_of(data)).run([torch.rand(2, 4)], ())
        except (*_ERRORS, TypeError, IndexError, OverflowError, KeyError) as error:
            messages.append(str(error))
    assert len(messages) > 200
    assert not [text for text in messages if "std::" in text]
    assert not [text for text in messages if re.match(r"([\w.]+): \1\b", text)]


@pytest.mark.parametrize(("write", "read"), _KINDS)
@pytest.mark.parametrize("mode", _MODES, ids=repr)
def test_modes_of_steps(write, read, mode):
    content = load(io.BytesIO(write()))
    program = content["programs"]["forward"]
    op, args, results, _ = program["steps"][0]
    steps = [(op, args, results, mode), *program["steps"][1:]]
    file = io.BytesIO()
    save({**content, "programs": {"forward": {**program, "steps": steps}}}, file)
    file.seek(0)
    with pytest.raises((RuntimeError, ValueError), match="the mode of a step"):
        read(file)


@pytest.mark.parametrize("mode", [(False, None), (True, None), (True, torch.bfloat16)])
def test_modes_of_steps_that_there_are(mode):
    content = load(io.BytesIO(written_script()))
    program = content["programs"]["forward"]
    steps = [(*step[:3], mode) for step in program["steps"]]
    file = io.BytesIO()
    save({**content, "programs": {"forward": {**program, "steps": steps}}}, file)
    file.seek(0)
    assert torch.jit.load(file)(torch.ones(2, 4)).requires_grad is not mode[0]


def test_a_parameter_that_cannot_say_whether_it_is_trained():
    content = load(io.BytesIO(written_script()))
    parameters = content["module"]["children"]["0"]["parameters"]
    parameters["weight"] = (parameters["weight"][0], torch.ones(2))
    file = io.BytesIO()
    save(content, file)
    file.seek(0)
    with pytest.raises(RuntimeError, match="more than one"):
        torch.jit.load(file)
