"""``torch.jit.script``: objects that behave as scripts do, run by Python.

A scripted module is a new module with the parameters of the old one, of a class that is both
``RecursiveScriptModule`` and the class it was made from, so that its methods are those of the
program. Nothing is compiled.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau._recording.other_sizes import pattern
from flambeau.nn import Module
from flambeau.utils._pytree import tree_map

__all__: list[str] = []


def _source(function: Any) -> str:
    try:
        return inspect.getsource(inspect.unwrap(function))
    except (OSError, TypeError) as error:
        raise RuntimeError(f"jit: the source of {function!r} is not available") from error


class ScriptFunction:
    """A function that ``script`` or ``trace`` has taken."""

    def __init__(self, function: Callable[..., Any], program: Any = None) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._program = program

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._program is not None:
            return self._program(*args, **kwargs)
        if "_example" not in self.__dict__:
            self._example = _shapes((args, kwargs))
        return self._function(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """A method where it is one, as with every function of Python."""
        return self if instance is None else functools.partial(self, instance)

    @property
    def name(self) -> str:
        return self._function.__name__

    @property
    def code(self) -> str:
        """What it computes: the recorded steps, or the source."""
        return str(self._program) if self._program else _source(self._function)

    @property
    def graph(self) -> Any:
        """The recorded steps; a function that was scripted has none."""
        if self._program is None:
            raise _no_graph("ScriptFunction")
        return self._program.program

    @property
    def inlined_graph(self) -> Any:
        """The same."""
        return self.graph

    def save(self, f: Any, _extra_files: dict[str, Any] | None = None) -> None:
        """Write it into a file that ``torch.jit.load`` reads."""
        from flambeau.jit._serialization import save

        save(self, f, _extra_files)


class ScriptModule(Module):
    """A module that ``script`` has taken, or one of a class that is a script from the start."""

    @property
    def original_name(self) -> str:
        """The name of the class it was made from."""
        return type(self).__name__

    @property
    def code(self) -> str:
        """The source of ``forward``."""
        return _source(type(self).forward)

    @property
    def graph(self) -> Any:
        """Steps of ``forward``, which only traced modules have."""
        raise _no_graph("ScriptModule")

    @property
    def inlined_graph(self) -> Any:
        """The same."""
        return self.graph

    def save(self, f: Any, _extra_files: dict[str, Any] | None = None) -> None:
        """Write it into a file that ``torch.jit.load`` reads."""
        from flambeau.jit._serialization import save

        save(self, f, _extra_files)

    def save_to_buffer(self, _extra_files: dict[str, Any] | None = None) -> bytes:
        """The contents of that file."""
        import io

        buffer = io.BytesIO()
        self.save(buffer, _extra_files)
        return buffer.getvalue()


class RecursiveScriptModule(ScriptModule):
    """A module that ``script`` has made of another one."""

    _fb_original_class: type[Module]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if "_example" not in self.__dict__:
            self.__dict__["_example"] = _shapes((args, kwargs))
        return super().__call__(*args, **kwargs)

    @property
    def original_name(self) -> str:
        return self._fb_original_class.__name__

    def _get_name(self) -> str:
        return "RecursiveScriptModule"

    def extra_repr(self) -> str:
        return f"original_name={self.original_name}"


class CompilationUnit:
    """Functions given as text, which Flambeau does not compile."""

    def __init__(self, lang: str | None = None, _frames_up: int = 0) -> None:
        if lang:
            raise NotImplementedError(
                "CompilationUnit: text of TorchScript is not compiled; write the function in Python"
            )


def script(
    obj: Any,
    optimize: Any = None,
    _frames_up: int = 0,
    _rcb: Any = None,
    example_inputs: Any = None,
) -> Any:
    """Script of a function or module. It runs as Python; saving it records its operators.

    Args:
        obj: Function or module; classes and containers are returned as they are.
        optimize: Deprecated.
        example_inputs: Calls, as tuples of arguments; the script is saved as it runs for the first
            of them. For a module, a dict of modules and their calls. Default: None.

    Returns:
        A `ScriptModule` or `ScriptFunction`.

    Example:
        >>> @torch.jit.script
        ... def double(x):
        ...     return x * 2
        >>> double(torch.ones(2))
        tensor([2., 2.])
        >>> torch.jit.script(nn.Linear(2, 1))(torch.ones(3, 2)).shape
        torch.Size([3, 1])

    See also:
        `torch.jit.trace`, `torch.jit.save`.
    """
    warn_of_optimize(optimize)
    if isinstance(obj, (ScriptModule, ScriptFunction)):
        return obj
    if isinstance(obj, Module):
        calls = (example_inputs or {}).get(obj)
        return _with_example(scripted_module(obj, {}), calls)
    if builtins.isinstance(obj, (type, list, dict)):
        return obj
    if callable(obj):
        return _with_example(ScriptFunction(obj), example_inputs)
    raise TypeError(f"script: expected a function, module or class, got {type(obj).__name__}")


def _with_example(made: Any, calls: Any) -> Any:
    if calls:
        made.__dict__["_example"] = _shapes((tuple(calls[0]), {}))
    return made


def warn_of_optimize(optimize: Any) -> None:
    """Say that an argument of old programs has no effect, as PyTorch does."""
    if optimize is not None:
        warnings.warn(
            "`optimize` is deprecated and has no effect. Use "
            "`with torch.jit.optimized_execution()` instead",
            FutureWarning,
            stacklevel=3,
        )


def scripted_module(module: Module, made: dict[int, Module]) -> Module:
    """A module of the same parameters, with scripted children."""
    if isinstance(module, ScriptModule):
        return module
    if id(module) in made:
        return made[id(module)]
    original: Any = type(module)
    kind = _script_class(original)
    scripted = made[id(module)] = kind.__new__(kind)
    scripted.__dict__.update(_copied_state(module))
    children = scripted.__dict__["_modules"]
    for name, child in children.items():
        children[name] = child and scripted_module(child, made)
    return scripted


@functools.cache
def _script_class(original: Any) -> type[Module]:
    """The class of scripts of modules of a class."""
    bases = (RecursiveScriptModule, original)
    return type("RecursiveScriptModule", bases, {"_fb_original_class": original})


def _copied_state(module: Module) -> dict[str, Any]:
    """The attributes, with dictionaries of members that are the copy's own."""
    containers = (dict, set)
    return {
        name: value.copy() if name.startswith("_") and isinstance(value, containers) else value
        for name, value in module.__dict__.items()
    }


class Shape:
    """A tensor of an example, without its elements."""

    def __init__(self, tensor: Tensor) -> None:
        self.size = tuple(tensor.shape)
        self.dtype = tensor.dtype

    def made(self, number: int) -> Tensor:
        """A tensor like it, of different elements; whole ones are ``number``."""
        if not (self.dtype.is_floating_point or self.dtype.is_complex):
            return fb.full(self.size, number, dtype=self.dtype)
        return pattern(self.size).to(self.dtype)


def _shapes(example: Any) -> Any:
    """What a script was called with the first time, of which it may be traced when it is saved."""
    return tree_map(lambda leaf: Shape(leaf) if isinstance(leaf, Tensor) else leaf, example)


def _no_graph(what: str) -> RuntimeError:
    return RuntimeError(
        f"{what}.graph: a script is run by Python and has no graph; torch.jit.trace records one"
    )
