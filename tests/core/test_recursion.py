"""Native code that calls Python code that calls it again: Python's limit comes before the stack's.

The last frames of 1000 calls must fit into the stack of a thread, which has 2 MiB on small systems;
programs that are built for a sanitizer need many times as much.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import flambeau as fb
from flambeau import _C, nn
from tests.sanitized import IS_SANITIZED

ONE = fb.ones(1)


def sequential() -> Any:
    net = nn.Sequential(nn.Identity())
    net.append(net)
    return net(ONE)


def sequential_in_another_order() -> Any:
    net = nn.Sequential()
    net._modules = OrderedDict(itself=net)
    return net(ONE)


def module() -> Any:
    class Itself(nn.Module):
        def forward(self, x: fb.Tensor) -> Any:
            return self(x)

    return Itself()(ONE)


def function() -> Any:
    class Itself(fb.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: fb.Tensor) -> Any:
            return Itself.apply(x)

    return Itself.apply(fb.ones(1, requires_grad=True))


def override() -> Any:
    class Itself(fb.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    return ONE.as_subclass(Itself) + 1


def index() -> Any:
    class Itself:
        def __index__(self) -> Any:
            return int(ONE[self])

    return ONE[Itself()]


def data() -> Any:
    class Itself:
        def __len__(self) -> int:
            return 1

        def __getitem__(self, place: int) -> Any:
            return fb.tensor(self)

    return fb.tensor(Itself())


def saved_tensor() -> Any:
    def pack(x: fb.Tensor) -> fb.Tensor:
        y = fb.ones(1, requires_grad=True)
        return y * y

    with fb.autograd.graph.saved_tensors_hooks(pack, pack):
        return pack(ONE)


@pytest.fixture
def small_stacks() -> Iterator[None]:
    before = threading.stack_size((64 if IS_SANITIZED else 2) * 2**20)
    yield
    threading.stack_size(before)


@pytest.mark.usefixtures("small_stacks")
@pytest.mark.parametrize(
    "call",
    [
        sequential,
        sequential_in_another_order,
        module,
        function,
        override,
        index,
        data,
        saved_tensor,
    ],
)
def test_calls_without_end(call: Callable[[], Any]) -> None:
    raised: list[BaseException] = []

    def run() -> None:
        try:
            call()
        except RecursionError as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert len(raised) == 1
    assert _C._len_torch_function_stack() == 0
