"""``torch.jit.trace``: a function or module as it runs on example inputs."""

from __future__ import annotations

import contextlib
import difflib
import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau._limits.accepted import accepted
from flambeau._recording.program import Program, Replay
from flambeau._recording.record import Recorder
from flambeau.jit._looks import STRICT, WARNING, TracerWarning
from flambeau.jit._script import ScriptFunction, ScriptModule, scripted_module, warn_of_optimize
from flambeau.nn import Module
from flambeau.testing import assert_close
from flambeau.utils._pytree import tree_leaves, tree_map

__all__: list[str] = []

Example = tuple[tuple[Any, ...], dict[str, Any]]  # the arguments of a call
_RANKS = 2  # sizes are traced, and how many of them there are


class TracingCheckError(Exception):
    """A trace that does not compute what the function does."""

    def __init__(
        self, graph_diff_error: Any, tensor_compare_error: Any, extra_msg: str | None = None
    ) -> None:
        parts = (extra_msg, graph_diff_error, tensor_compare_error)
        self.message: str = "\n".join(str(part) for part in parts if part)
        super().__init__(self.message)


class TracedModule(ScriptModule):
    """The members of a module, and the programs that were recorded of its methods."""

    def __init__(self, original_name: str, training: bool = True) -> None:
        super().__init__()
        self.__dict__["_original_name"] = original_name
        self.__dict__["_programs"] = {}
        self.__dict__["_ready"] = {}  # programs that have run, with their parameters
        self.training = training

    @property
    def original_name(self) -> str:
        name: str = self.__dict__["_original_name"]
        return name

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._fb_run("forward", args, kwargs)

    def train(self, mode: bool = True) -> TracedModule:
        if mode and self.__dict__.get("_evaluation_only"):
            accepted("torch.jit.ScriptModule.train")
        return super().train(mode)

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("_programs", ()):
            return lambda *args, **kwargs: self._fb_run(name, args, kwargs)
        return super().__getattr__(name)

    @property
    def graph(self) -> Program:
        """The recorded steps of ``forward``."""
        return self._fb_program("forward")

    @property
    def code(self) -> str:
        """The same as text."""
        return str(self.graph)

    def _fb_program(self, method: str) -> Program:
        programs: dict[str, Program] = self.__dict__["_programs"]
        if method not in programs:
            raise NotImplementedError(
                f"{self.original_name}.{method}: only the outermost module of a trace runs"
            )
        return programs[method]

    def _fb_run(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        program = self._fb_program(method)
        if method not in self.__dict__["_ready"]:
            replay = Replay(program)
            bound = [(place, *self._fb_member(name)) for name, place in replay.state.items()]
            self.__dict__["_ready"][method] = (replay, bound)
        replay, bound = self.__dict__["_ready"][method]
        return replay.run(flat_inputs(program, args, kwargs), bound)

    def _fb_member(self, name: str) -> tuple[dict[str, Any], str]:
        """The dictionary and the key that a parameter or buffer is found by."""
        path, _, last = name.rpartition(".")
        module: Any = self
        for part in path.split(".") if path else ():
            module = module._modules[part]
        return (module._parameters if last in module._parameters else module._buffers), last

    def _get_name(self) -> str:
        return self.original_name

    def extra_repr(self) -> str:
        return f"original_name={self.original_name}"


class TopLevelTracedModule(TracedModule):
    """The outermost module of a trace."""


def flat_inputs(program: Program, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
    """The tensors of a call, as many as the program was recorded with."""
    is_one_for_each = len(args) == program.input_count and not kwargs
    if is_one_for_each and all(type(each) is Tensor for each in args):
        return list(args)
    inputs = ordered_inputs(program.arguments, args, kwargs)
    if len(inputs) != program.input_count:
        raise RuntimeError(
            f"forward: expected {program.input_count} tensors, as in the example, got {len(inputs)}"
        )
    return inputs


def ordered_inputs(
    arguments: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[Tensor]:
    """The tensors of a call, in the order of the arguments of the function."""
    if len(args) > len(arguments):
        raise RuntimeError(f"forward: expected at most {len(arguments)} arguments, got {len(args)}")
    given = dict(zip(arguments, args, strict=False))
    for name, value in kwargs.items():
        if name not in arguments or name in given:
            raise RuntimeError(f"forward: unexpected keyword argument {name!r}")
        given[name] = value
    return [leaf for name in arguments if name in given for leaf in _tensors(name, given[name])]


def _tensors(name: str, value: Any) -> list[Tensor]:
    """The tensors of an argument, which is made of nothing else: numbers would be constants."""
    leaves: list[Tensor] = tree_leaves(value)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(
                f"jit: expected tensors, and lists, tuples and dictionaries of tensors, got "
                f"{type(leaf).__name__} as {name!r}; a recording would keep it as a constant: make "
                "it a tensor, or an attribute of the module"
            )
    return leaves


def record(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    state: list[tuple[str, Tensor]],
    *,
    strict_outputs: bool = True,
    strict_values: bool = False,
) -> Program:
    """Run a function once; returns what it did."""
    signature = function.forward if isinstance(function, Module) else function
    arguments = _argument_names(signature, len(args), list(kwargs))
    args, kwargs = _told_apart(args, kwargs)
    inputs = ordered_inputs(arguments, args, kwargs)
    rules = STRICT if strict_values else WARNING
    with Recorder(inputs, state, _RANKS, rules) as recorder:
        result = function(*args, **kwargs)
    _check_outputs(result, strict_outputs)
    return recorder.program(arguments, result)


def _told_apart(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The same inputs with a tensor of its own for each: they may differ in other calls."""
    seen: set[int] = set()

    def own(leaf: Any) -> Any:
        is_new = not isinstance(leaf, Tensor) or id(leaf) not in seen
        seen.add(id(leaf))
        return leaf if is_new else leaf.view_as(leaf)

    return tree_map(own, (args, kwargs))


def _argument_names(function: Callable[..., Any], count: int, keywords: list[str]) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        parameters = ()  # type: ignore[assignment]
    named = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [each.name for each in parameters if each.kind in named]
    names += [f"argument_{index}" for index in range(len(names), count)]
    return names + [name for name in keywords if name not in names]


def _check_outputs(result: Any, strict: bool) -> None:
    if isinstance(result, dict) and strict:
        raise RuntimeError(
            "trace: the result is a dict, whose keys might depend on the inputs; return a tuple or "
            "a NamedTuple, or pass strict=False if they do not"
        )
    if isinstance(result, list) and strict:
        warnings.warn(
            "trace: the result is a list, whose length might depend on the inputs; return a tuple, "
            "or pass strict=False if it does not",
            TracerWarning,
            stacklevel=4,
        )
    leaves = [leaf for leaf in tree_leaves(result) if leaf is not None]
    if not leaves or not all(isinstance(leaf, Tensor) for leaf in leaves):
        raise RuntimeError(
            "trace: only tensors, and lists, tuples and dictionaries of tensors can be the result "
            f"of a traced function, got {type(result).__name__}"
        )


def state_names(module: Module) -> list[tuple[str, Tensor]]:
    """The parameters and buffers of a module with their names."""
    return [*module.named_parameters(), *module.named_buffers()]


def trace(
    func: Any,
    example_inputs: Any = None,
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_kwarg_inputs: dict[str, Any] | None = None,
    _store_inputs: bool = True,
) -> Any:
    """Record the operators that a function calls for some inputs, as a program of its own.

    The record has no branches: it repeats what was done for these inputs. Where Python read
    elements, as `if x.sum() > 0` does, it warns.

    Args:
        func: A function of tensors, a module, or the method ``forward`` of one.
        example_inputs: A tensor, or a tuple of arguments.
        optimize: Accepted and warned of; PyTorch ignores it too.
        check_trace: Whether to run the record once and compare its results. Default: True.
        check_inputs: Further inputs to compare for.
        check_tolerance: Largest relative difference in a comparison. Default: 1e-5.
        strict: Whether to refuse lists and dicts as results. Default: True.
        example_kwarg_inputs: Keyword arguments, instead of ``example_inputs``.

    Returns:
        A `ScriptModule` for a module, or a function.

    Raises:
        TracingCheckError: The record gives other results than the function.

    Example:
        >>> def f(x):
        ...     return x * x + 1
        >>> traced = torch.jit.trace(f, torch.ones(2))
        >>> traced(torch.tensor([2.0, 3.0]))
        tensor([ 5., 10.])

    See also:
        `jit.script`, `jit.save`, `torch.export.export`.
    """
    warn_of_optimize(optimize)
    args, kwargs = _examples(example_inputs, example_kwarg_inputs)
    by_name = example_inputs is None
    if isinstance(func, (ScriptModule, ScriptFunction)):
        return func
    owner = getattr(func, "__self__", None)
    if isinstance(owner, Module) and getattr(func, "__name__", "") == "forward":
        func = owner
    if isinstance(func, Module):
        inputs = {"forward": (args, kwargs)}
        more = [{"forward": _example(each, by_name)} for each in check_inputs or ()]
        return _traced_module(func, inputs, check_trace, more, check_tolerance, strict)
    if not callable(func):
        raise TypeError(f"trace: expected a function or module, got {type(func).__name__}")
    program = record(func, args, kwargs, [], strict_outputs=strict)
    traced = ScriptFunction(func, TracedFunction(program))
    if check_trace:
        _check(func, traced, (args, kwargs), check_tolerance)
        for each in check_inputs or ():
            example = _example(each, by_name)
            _check(func, traced, example, check_tolerance)
            _check_program(program, func, example, [])
    return traced


def trace_module(
    mod: Module,
    inputs: dict[str, Any],
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_inputs_is_kwarg: bool = False,
    _store_inputs: bool = True,
) -> Any:
    """The same for several methods of a module, each with its example inputs."""
    warn_of_optimize(optimize)
    if not isinstance(mod, Module):
        raise AttributeError(f"trace_module: expected a module, got {type(mod).__name__}")
    if not isinstance(inputs, dict):
        raise AttributeError(f"trace_module: expected a dict, got {type(inputs).__name__}")
    first, *more = [
        {method: _example(each, example_inputs_is_kwarg) for method, each in examples.items()}
        for examples in (inputs, *(check_inputs or ()))
    ]
    return _traced_module(mod, first, check_trace, more, check_tolerance, strict)


class TracedFunction:
    """A program without parameters, called as the function it was recorded of."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._replay = Replay(program)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._replay.run(flat_inputs(self.program, args, kwargs), ())

    def __str__(self) -> str:
        return str(self.program)


def _examples(inputs: Any, keywords: Any) -> Example:
    if inputs is None:
        if not isinstance(keywords, dict):
            raise RuntimeError(
                "trace: expected example_inputs, or a dict as example_kwarg_inputs, got "
                f"{type(keywords).__name__}"
            )
        return (), keywords
    if isinstance(inputs, (Tensor, dict)):
        return (inputs,), {}
    return tuple(inputs), {}


def _example(inputs: Any, by_name: bool) -> Example:
    return _examples(None, inputs) if by_name else _examples(inputs, None)


def _traced_module(
    module: Module,
    examples: dict[str, Example],
    check_trace: bool,
    check_inputs: list[dict[str, Example]],
    tolerance: float,
    strict: bool,
) -> TopLevelTracedModule:
    traced = recorded_module(module, examples, strict_outputs=strict)
    if not check_trace:
        return traced
    programs = traced.__dict__["_programs"]
    with kept_buffers(module):
        if "forward" in examples:
            _check(module, traced, examples["forward"], tolerance)
        for inputs in check_inputs:
            for method, example in inputs.items():
                function = _method(module, method)
                _check(function, getattr(traced, method), example, tolerance)
                _check_program(programs[method], function, example, state_names(module))
    return traced


def recorded_module(
    module: Module, examples: dict[str, Example], **strictness: bool
) -> TopLevelTracedModule:
    """The members of a module, and what was recorded of its methods."""
    name = getattr(module, "original_name", type(module).__name__)
    traced = TopLevelTracedModule(name, module.training)
    copied = scripted_module(module, {})
    for members in ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set"):
        traced.__dict__[members] = copied.__dict__[members]
    programs = traced.__dict__["_programs"]
    for method, (args, kwargs) in examples.items():
        function = _method(module, method)
        programs[method] = record(function, args, kwargs, state_names(module), **strictness)
    return traced


def _method(module: Module, name: str) -> Callable[..., Any]:
    return module if name == "forward" else getattr(module, name)


@contextlib.contextmanager
def kept_buffers(module: Module) -> Iterator[None]:
    """A block after which the buffers are what they were: running means move with every call."""
    before = [(buffer, buffer.clone()) for buffer in module.buffers()]
    try:
        yield
    finally:
        with fb.no_grad():
            for buffer, value in before:
                buffer.copy_(value)


def _check(
    function: Callable[..., Any], traced: Callable[..., Any], example: Example, tolerance: float
) -> None:
    """Warn if the trace computes something else than the function, with the same random numbers."""
    args, kwargs = example
    results = []
    for name, call in (("function", function), ("trace", traced)):
        with fb.random.fork_rng(), fb.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore", TracerWarning)
            try:
                results.append(call(*args, **kwargs))
            except Exception as error:
                raise TracingCheckError(
                    None, None, f"trace: the {name} fails for inputs that check the trace: {error}"
                ) from error
    try:
        assert_close(results[1], results[0], rtol=tolerance, atol=1e-5, equal_nan=True)
    except AssertionError as error:
        warnings.warn(
            f"trace: the result of the trace is not that of the function. {error}",
            TracerWarning,
            stacklevel=4,
        )


def _check_program(
    program: Program,
    function: Callable[..., Any],
    example: Example,
    state: list[tuple[str, Tensor]],
) -> None:
    """Raise if the function calls other operators, or with other numbers, for another example."""
    with fb.random.fork_rng(), warnings.catch_warnings():
        warnings.simplefilter("ignore", TracerWarning)
        other = record(function, *example, state, strict_outputs=False)
    if str(other) != str(program):
        differences = difflib.unified_diff(str(program).split("\n"), str(other).split("\n"), n=0)
        raise TracingCheckError(
            "the operators that were called differ:",
            "\n".join([*differences][2:]),
            "trace: the trace does not hold for check_inputs",
        )
