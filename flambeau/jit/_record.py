"""Recording a program while a function runs on example inputs."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import Tensor, overrides
from flambeau._core.overriding import OVERRIDABLE
from flambeau._traced_int import TracedInt, plain
from flambeau.jit._program import (
    LITERALS,
    NUMBER_NAMES,
    Constant,
    Mode,
    Program,
    Reference,
    State,
    Step,
    mapped,
    name_of,
)
from flambeau.utils._pytree import tree_leaves

__all__: list[str] = []

# What gives Python a number that the steps after it may depend on.
_LOOKS_AT_ELEMENTS = {
    f"torch.Tensor.{name}": what
    for name, what in {
        "__bool__": "a Python boolean",
        "__float__": "a Python float",
        "__index__": "a Python index",
        "__int__": "a Python integer",
        "item": "a Python number",
        "numpy": "a NumPy array",
        "tolist": "a Python list",
    }.items()
}
_LENGTH = "torch.Tensor.__len__"  # a plain number, whatever it is made of
_SIZES = {
    f"torch.Tensor.{name}"
    for name in ("numel", "nelement", "shape.__get__", "size", "dim", "ndim.__get__", "ndimension")
}
_CHANGES_ONLY = {"torch.Tensor.__setitem__", "torch.Tensor.data.__set__"}

_active = threading.local()


class TracerWarning(Warning):
    """Something that a trace may get wrong for other inputs."""

    @staticmethod
    def ignore_lib_warnings() -> None:
        """Kept for programs that call it: the package itself causes none."""


def is_tracing() -> bool:
    """Whether a function is being recorded."""
    return getattr(_active, "recorder", None) is not None


class _NotRecordable(RuntimeError):
    """An argument that a program cannot hold: a function, or an object of options."""


class Recorder(overrides.TorchFunctionMode):
    """Notes every operator that is called in its block."""

    def __init__(self, inputs: list[Tensor], state: dict[int, str], strict: bool = False) -> None:
        super().__init__()
        self.steps: list[Step] = []
        self.constants: list[Tensor] = []
        self.strict = strict
        self._records = fb.is_grad_enabled()
        self._state = state
        self._inputs = inputs
        self._known = {id(tensor): Reference(slot) for slot, tensor in enumerate(inputs)}
        self._alive: list[Any] = []  # ids are of living objects only
        self._memory = {_memory_of(tensor) for tensor in inputs} - {0}
        self._outer: Recorder | None = None  # of a trace that this one is made in

    def __enter__(self) -> Recorder:
        self._outer = getattr(_active, "recorder", None)
        _active.recorder = self
        return super().__enter__()

    def __exit__(self, *exception: object) -> None:
        _active.recorder = self._outer
        super().__exit__(*exception)

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        name, keywords = name_of(func), kwargs or {}
        self._look_out(overrides.resolve_name(func))
        step = self._step(name, args, keywords)
        if step is None and func in OVERRIDABLE:
            return self._parts(func.__wrapped__, args, keywords)  # type: ignore[attr-defined]
        result = func(*args, **keywords)
        is_length = overrides.resolve_name(func) == _LENGTH
        if is_length and self.strict and id(args[0]) in self._known:
            shape = Step("torch.Tensor.shape.__get__", self._encoded(args), {})
            return int(self._sizes(args[0].shape, self._append(shape))[0])  # which is noted
        makes = any(isinstance(each, Tensor) for each in tree_leaves(result))
        if step is None:
            if makes:
                called = overrides.resolve_name(func) or repr(func)
                raise RuntimeError(f"trace: {called} cannot be recorded as it is called")
            return result
        if name in _SIZES:
            return self._sizes(result, self._append(step))
        if makes or name in _CHANGES_ONLY:
            self._note(result, self._append(step), ())
        return result

    def _step(self, name: str | None, args: Any, kwargs: Any) -> Step | None:
        """A call as a step, if a program can hold it."""
        if name is None:
            return None
        try:
            return Step(name, self._encoded(args), self._encoded(kwargs), self._mode())
        except _NotRecordable:
            return None

    def _parts(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Record what a function of the package, written in Python, is made of."""
        super().__enter__()
        try:
            return function(*args, **kwargs)
        finally:
            super().__exit__()

    def _mode(self) -> Mode | None:
        """The modes of the thread that the program itself has switched."""
        no_grad = self._records and not fb.is_grad_enabled()
        cast = fb.get_autocast_dtype("cpu") if fb.is_autocast_enabled("cpu") else None
        return Mode(no_grad, cast) if no_grad or cast is not None else None

    def write(self, function: Callable[..., Any], operands: tuple[Any, ...]) -> Reference:
        """Note arithmetic on sizes, and return where its result will be."""
        return Reference(self._append(Step(NUMBER_NAMES[function], operands, {})))

    def program(self, arguments: list[str], result: Any) -> Program:
        """What was recorded, with the result of the function."""
        return Program(
            arguments, len(self._inputs), list(self.steps), self.constants, self._encoded(result)
        )

    def _append(self, step: Step) -> int:
        self.steps.append(step)
        return len(self._inputs) + len(self.steps) - 1

    def _note(self, value: Any, slot: int, path: tuple[Any, ...]) -> None:
        """Remember the tensors in a result."""
        if isinstance(value, Tensor):
            self._known[id(value)] = Reference(slot, path)
            self._alive.append(value)
            self._memory |= {_memory_of(value)} - {0}
        elif isinstance(value, (tuple, list)):
            for index, each in enumerate(value):
                self._note(each, slot, (*path, index))
        elif isinstance(value, dict):
            for key, each in value.items():
                self._note(each, slot, (*path, key))

    def _sizes(self, result: Any, slot: int) -> Any:
        if isinstance(result, int):
            return TracedInt.of(result, Reference(slot), self.write)
        return fb.Size(
            [
                TracedInt.of(size, Reference(slot, (index,)), self.write)
                for index, size in enumerate(result)
            ]
        )

    def _encoded(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, TracedInt):
            # One that a program has kept from another recording is a number here.
            return value.origin if value.write == self.write else plain(value)
        if isinstance(value, (tuple, fb.Size)):
            return tuple([self._encoded(each) for each in value])
        if isinstance(value, LITERALS) or value is Ellipsis:
            return value
        if isinstance(value, (list, dict, slice)):
            return mapped(self._encoded, value)
        if isinstance(value, fb.Generator):
            return None  # the default one, in another process
        raise _NotRecordable(f"trace: an argument of type {type(value).__name__} is not recorded")

    def _tensor(self, tensor: Tensor) -> Reference | State | Constant:
        if id(tensor) in self._known:
            return self._known[id(tensor)]
        if id(tensor) in self._state:
            return State(self._state[id(tensor)])
        if _memory_of(tensor) in self._memory:
            warnings.warn(
                "trace: a tensor is the result of something that is not recorded, and is a "
                "constant of the trace from now on",
                TracerWarning,
                stacklevel=5,
            )
        self.constants.append(tensor.detach())
        self._alive.append(tensor)
        constant = Constant(len(self.constants) - 1)
        self._known[id(tensor)] = constant  # type: ignore[assignment]
        return constant

    def _look_out(self, name: str | None) -> None:
        """Warn of what makes a trace depend on its example, or refuse it."""
        if name == _LENGTH and not self.strict:  # where other sizes are tried
            warnings.warn(
                "trace: the length of a tensor is a constant of the trace; tensor.shape[0] is not",
                TracerWarning,
                stacklevel=4,
            )
        if name not in _LOOKS_AT_ELEMENTS:
            return
        if self.strict:
            raise RuntimeError(
                f"jit: a tensor was turned into {_LOOKS_AT_ELEMENTS[name]}, so that what follows "
                "may depend on its elements; that cannot be recorded"
            )
        warnings.warn(
            f"trace: a tensor was turned into {_LOOKS_AT_ELEMENTS[name]}, which is a constant of "
            "the trace from now on; for other inputs the trace may be wrong",
            TracerWarning,
            stacklevel=4,
        )


def _memory_of(tensor: Tensor) -> int:
    """Where the elements of a tensor lie; 0 if there are none, or several lists of them."""
    if tensor.is_sparse or tensor.numel() == 0:
        return 0
    return tensor.untyped_storage().data_ptr()
