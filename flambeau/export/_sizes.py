"""Whether an exported program holds for the sizes that were declared to differ."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import flambeau as fb
from flambeau import Tensor, nn
from flambeau._dynamo.exc import UserError
from flambeau._recording.other_sizes import (
    Place,
    candidates,
    outcome,
    resized,
    same_results,
    varied,
)
from flambeau.export.dynamic_shapes import Dim, _DimHint, _DimHintType
from flambeau.export.exported_program import ExportedProgram
from flambeau.utils import _pytree as pytree

Declared = list[dict[int, Any]]  # of every input, its sizes that may differ


class _Size(NamedTuple):
    """A size that may differ: where it is, what it is in the example, and its bounds."""

    places: list[Place]
    value: int
    least: int
    greatest: int


@contextmanager
def untouched(mod: nn.Module) -> Iterator[None]:
    """Buffers and the generator are afterwards as they were before."""
    saved = {name: buffer.clone() for name, buffer in mod.named_buffers()}
    state = fb.get_rng_state()
    try:
        yield
    finally:
        fb.set_rng_state(state)
        with fb.no_grad():
            for name, buffer in mod.named_buffers():
                buffer.copy_(saved[name])


def fresh(value: Any) -> Any:
    """Inputs that the program may change."""

    def copied(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        return leaf.detach().clone().requires_grad_(leaf.requires_grad)

    return pytree.tree_map(copied, value)


def bounds_of(dim: Any, place: str) -> tuple[str, int, int]:
    """The name of a size, or the place of one without, and its bounds."""
    if isinstance(dim, Dim):
        return dim.__name__, dim.min, dim.max
    if isinstance(dim, _DimHint):
        return place, dim.min, dim.max
    raise UserError(
        f"dynamic_shapes: a size is declared by a Dim, Dim.AUTO, Dim.DYNAMIC, Dim.STATIC or None, "
        f"got {dim!r}"
    )


def check_other_sizes(
    mod: nn.Module,
    program: ExportedProgram,
    args: Any,
    kwargs: dict[str, Any],
    declared: Declared,
    compared: set[int],
) -> None:
    """Raise if a size that was declared to differ is built into the program.

    The module and the program are run for other sizes, also for those next to numbers that the
    module has ``compared`` a size to, and must give the same results.
    """
    if not any(declared):
        return
    different = pytree.tree_map(varied, (args, kwargs))
    if _run(mod, mod, *different)[0]:
        args, kwargs = different
    leaves, spec = pytree.tree_flatten((args, kwargs))
    recorded = program.module(check_guards=False)
    sizes = _sizes(leaves, declared)

    def agrees(inputs: list[Any]) -> bool | None:
        """Whether both give the same; None if the module itself refuses the inputs."""
        other_args, other_kwargs = pytree.tree_unflatten(inputs, spec)
        accepts, expected = _run(mod, mod, other_args, other_kwargs)
        if not accepts:
            return None
        runs, result = _run(mod, recorded, other_args, other_kwargs)
        return runs and same_results(result, expected)

    verdict = agrees(_all_differ(leaves, sizes))
    if verdict is None:
        _specialize(program, declared, "the module itself refuses other sizes")
        return
    if verdict is False or any(
        agrees(each) is False for each in _variants(leaves, sizes, compared)
    ):
        _specialize(program, declared, "the program that was recorded works for one size only")
        return
    for size in sizes:
        if size.least <= 1 and agrees(resized(leaves, size.places, 1)) is False:
            _refuse_one(program, size)


def _sizes(leaves: list[Any], declared: Declared) -> list[_Size]:
    found: dict[str, _Size] = {}
    for number, dims in enumerate(declared):
        for i, dim in dims.items():
            name, least, greatest = bounds_of(dim, f"{number}_{i}")
            made = _Size([], leaves[number].shape[i], least, greatest)
            found.setdefault(name, made).places.append((number, i))
    return list(found.values())


def _all_differ(leaves: list[Any], sizes: list[_Size]) -> list[Any]:
    """Inputs that are longer by one wherever they may be; shorter at a bound."""
    for size in sizes:
        wanted = size.value + 1 if size.value < size.greatest else size.value - 1
        if wanted >= max(size.least, 1):
            leaves = resized(leaves, size.places, wanted)
    return leaves


def _variants(leaves: list[Any], sizes: list[_Size], compared: set[int]) -> Iterator[list[Any]]:
    """Inputs in which one size differs. Sizes of 1, which broadcast, are a matter of their own."""
    for size in sizes:
        for other in candidates(size.value, compared):
            if max(size.least, 2) <= other <= size.greatest:
                yield resized(leaves, size.places, other)


def _refuse_one(program: ExportedProgram, size: _Size) -> None:
    """Let the guards of the program refuse a size of 1, which its module treats in another way."""
    for number, i in size.places:
        guard = program._guards[number]
        if guard is not None and i in guard.dynamic:
            name, _, greatest = guard.dynamic[i]
            guard.dynamic[i] = (name, 2, greatest)


def _specialize(program: ExportedProgram, declared: Declared, why: str) -> None:
    """Sizes that were only hoped to differ become fixed; of others say that they cannot."""
    for dims in declared:
        for i, dim in dims.items():
            is_hope = isinstance(dim, _DimHint) and dim.type is _DimHintType.AUTO
            if not is_hope:
                name = dim.__name__ if isinstance(dim, Dim) else f"dimension {i}"
                raise UserError(
                    f"Constraints violated ({name})! It was declared dynamic, but {why}. Declare "
                    "it as Dim.STATIC or Dim.AUTO, or do without the number: -1 in view, "
                    "x.shape[0] instead of a constant."
                )
    for guard in program._guards:
        if guard is not None:
            guard.dynamic.clear()


def _run(mod: nn.Module, run: nn.Module, args: Any, kwargs: Any) -> tuple[bool, Any]:
    """Whether ``run`` takes some inputs, and its result; ``mod`` is the owner of its state."""
    with untouched(mod):
        return outcome(run, fresh(args), fresh(kwargs))
