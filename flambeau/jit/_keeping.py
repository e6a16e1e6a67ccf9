"""What a recording keeps of a script: refused if it would be wrong for other inputs or modes.

A recording holds operators alone. What else decides about a script is built into it: numbers that
it was called with, sizes that Python looked at, whether it was in training.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau._operators.unrecorded import unrecorded
from flambeau._recording.other_sizes import outcome, same_results, variants, varied
from flambeau._recording.sizes import noted_comparisons
from flambeau.jit._looks import is_tracing
from flambeau.jit._script import ScriptFunction, ScriptModule, Shape
from flambeau.jit._trace import (
    Example,
    TopLevelTracedModule,
    TracedFunction,
    kept_buffers,
    record,
    recorded_module,
)
from flambeau.nn import Module
from flambeau.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

__all__: list[str] = []


def traced_example(script: ScriptModule | ScriptFunction, example: Any) -> Any:
    """A trace of a script for tensors like those in ``example``, which is right for others, too."""
    _check_arguments(example)
    args, kwargs = _made(example, 0)
    # With gradients on, so that blocks without are noted.
    with fb.random.fork_rng(), fb.enable_grad(), noted_comparisons() as compared:
        if isinstance(script, ScriptModule):
            return _traced_module(script, (args, kwargs), example, compared)
        function = script._function
        program = record(function, args, kwargs, [], strict_outputs=False, strict_values=True)
        traced = TracedFunction(program)
        _check_sizes(function, traced, example, compared)
        return ScriptFunction(function, traced)


def _traced_module(
    script: ScriptModule, inputs: Example, example: Any, compared: set[int]
) -> TopLevelTracedModule:
    with kept_buffers(script):
        traced = recorded_module(
            script, {"forward": inputs}, strict_outputs=False, strict_values=True
        )
        traced.__dict__["_evaluation_only"] = _check_modes(script, inputs)
        _check_sizes(script, traced, example, compared)
    return traced


def script_if_tracing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function that a trace should keep whole, with its control flow.

    A trace has no control flow, so that it is refused where elements or sizes decide what the
    function does.
    """

    @functools.wraps(fn)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if is_tracing():
            with unrecorded():
                _check_recording(fn, args, kwargs)
        return fn(*args, **kwargs)

    return checked


def _check_recording(function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Raise if a function, with its numbers as they are, cannot be recorded for all tensors."""
    leaves, spec = tree_flatten((args, kwargs))
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]

    def of_tensors(*tensors: Tensor) -> Any:
        for place, tensor in zip(places, tensors, strict=True):
            leaves[place] = tensor
        given, named = tree_unflatten(leaves, spec)
        return function(*given, **named)

    examples = tuple([varied(leaves[place]) for place in places])
    with fb.random.fork_rng(), fb.no_grad(), noted_comparisons() as compared:
        program = record(of_tensors, examples, {}, [], strict_outputs=False, strict_values=True)
        _check_sizes(of_tensors, TracedFunction(program), (examples, {}), compared)


def _made(example: Any, number: int) -> Any:
    """An example with elements; whole ones are all ``number``, as they may be indices."""
    return tree_map(lambda leaf: leaf.made(number) if isinstance(leaf, Shape) else leaf, example)


def _check_arguments(example: Any) -> None:
    for leaf in tree_leaves(example):
        if not isinstance(leaf, Shape):
            raise RuntimeError(
                f"jit.save: the script was called with {leaf!r}, and a file keeps operators on "
                "tensors only: it would answer for that value whatever it is called with; make it "
                "a tensor, or an attribute of a module"
            )


def _check_sizes(
    function: Callable[..., Any], traced: Callable[..., Any], example: Any, compared: set[int]
) -> None:
    """Raise if the recording gives other results than the function for tensors of other sizes."""
    args, kwargs = _made(example, 1)
    if not outcome(function, args, kwargs)[0]:
        args, kwargs = _made(example, 0)
    tensors, spec = tree_flatten((args, kwargs))
    for other in variants(tensors, compared):
        other_args, other_kwargs = tree_unflatten(other, spec)
        accepts, expected = outcome(function, other_args, other_kwargs)
        if not accepts:
            continue
        runs, result = outcome(traced, other_args, other_kwargs)
        if not runs or not same_results(result, expected):
            shapes = ", ".join(str(tuple(tensor.shape)) for tensor in other)
            raise RuntimeError(
                "jit: a recording of this script would be wrong for inputs of the shapes "
                f"{shapes}: a size became a Python number (len(x), range(x.shape[0]), "
                "if x.shape[0] > n), which is recorded as it is; use operators on whole tensors, "
                "or save the state_dict and the code"
            )


def _check_modes(script: Module, inputs: Example) -> bool:
    """Whether the script does something else in training; it must not be there when it is saved."""
    modes = {module: module.training for module in script.modules()}
    try:
        programs = [_steps(script.train(mode), inputs) for mode in (False, True)]
    finally:
        for module, training in modes.items():
            module.training = training
    differs = programs[0] != programs[1]
    if differs and any(modes.values()):
        raise RuntimeError(
            "jit.save: the module does something else in training than in evaluation (dropout, "
            "batch normalisation), and a file keeps one of them; call .eval() before"
        )
    return differs


def _steps(script: Module, inputs: Example) -> str | None:
    """What a module does, None if it fails: batches of one cannot be normalised in training."""
    done, traced = outcome(
        recorded_module, (script, {"forward": inputs}), {"strict_outputs": False}
    )
    return str(traced.graph) if done else None
