"""Recurrent networks over sequences, and cells step by step, forwards and backwards."""

import functools
from typing import Any

from benchmarks.case import Namespace, add_case


def network(t: Any, text: str, sizes: tuple[int, ...]) -> Namespace:
    """A network, and a training step of it without an optimiser."""
    t.manual_seed(0)
    module = eval(text, {"nn": t.nn})
    x = t.randn(*sizes)

    def step() -> None:
        module(x)[0].sum().backward()
        module.zero_grad()

    return {"step": step}


def packed(t: Any, text: str, features: int, lengths: list[int]) -> Namespace:
    """The same over sequences of different lengths, packed."""
    t.manual_seed(0)
    module = eval(text, {"nn": t.nn})
    sequences = [t.randn(length, features) for length in lengths]
    batch = t.nn.utils.rnn.pack_sequence(sequences, enforce_sorted=False)

    def step() -> None:
        module(batch)[0].data.sum().backward()
        module.zero_grad()

    return {"step": step}


def cell(t: Any, text: str, batch: int, steps: int) -> Namespace:
    """A cell in a Python loop."""
    t.manual_seed(0)
    module = eval(text, {"nn": t.nn})
    inputs = list(t.randn(steps, batch, module.input_size))

    def step() -> None:
        state = None
        for x in inputs:
            state = module(x, state)
        (state[0] if isinstance(state, tuple) else state).sum().backward()
        module.zero_grad()

    return {"step": step}


def varying(t: Any, lengths: list[int]) -> Namespace:
    """An LSTM cell over one sequence after the other, of different lengths."""
    t.manual_seed(0)
    module = t.nn.LSTMCell(32, 64)
    sequences = [list(t.randn(length, 1, 32)) for length in lengths]

    def step() -> None:
        loss = 0.0
        for sequence in sequences:
            state = None
            for x in sequence:
                state = module(x, state)
            loss = loss + state[0].sum()
        loss.backward()
        module.zero_grad()

    return {"step": step}


for kind in ("LSTM", "GRU"):
    for arguments, sizes in (
        ("128, 256", (64, 32, 128)),
        ("64, 128, 2", (50, 16, 64)),
        ("64, 128", (50, 1, 64)),
        ("32, 64, 2, bidirectional=True", (30, 8, 32)),
        ("128, 256, batch_first=True", (32, 64, 128)),
    ):
        name = f"{kind}({arguments}) over {sizes}"
        prepare = functools.partial(network, text=f"nn.{kind}({arguments})", sizes=sizes)
        add_case("nn-rnn", name, prepare, "step()")
    add_case(
        "nn-rnn",
        f"{kind}(64, 128) over 32 packed sequences of 2 to 64 steps",
        functools.partial(
            packed, text=f"nn.{kind}(64, 128)", features=64, lengths=list(range(2, 66, 2))
        ),
        "step()",
    )
for kind in ("LSTMCell", "GRUCell", "RNNCell"):
    for arguments, batch in (("16, 32", 1), ("32, 64", 8), ("64, 128", 1)):
        add_case(
            "nn-cells",
            f"20 steps of {kind}({arguments}), batch {batch}",
            functools.partial(cell, text=f"nn.{kind}({arguments})", batch=batch, steps=20),
            "step()",
        )
add_case(
    "nn-cells",
    "LSTMCell(32, 64) over sequences of 3 to 25 steps",
    functools.partial(varying, lengths=[3, 25, 9, 14, 6, 19]),
    "step()",
)
