"""The samples of torch's modules and criteria: constructed, loaded with one state, run, derived."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.testing._internal import common_nn
from torch.testing._internal.common_modules import ModuleErrorEnum, module_db

import flambeau
from tests.conformance.database.compare import difference
from tests.conformance.database.derivatives import leaves, weight
from tests.conformance.database.resolve import Missing, counterpart, rebound
from tests.conformance.database.run import both, copied, quickly, seed
from tests.conformance.database.tally import Tally, describe
from tests.conformance.database.translate import translated
from tests.ops.check import is_tensor, outputs

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class ModuleCase:
    """How a module is made and called in torch."""

    name: str
    make: Any  # a class, or a function that returns a module
    constructed: Arguments
    called: Arguments
    training: bool = True
    dtype: torch.dtype = torch.float64
    fails_in_constructor: bool = field(default=False)

    def module(self, t: Any) -> Any:
        """The module, with the parameters that it has in torch."""
        with _default_dtype(self.dtype):
            seed()
            theirs = self.make(*self.constructed[0], **self.constructed[1])
            if t is torch:
                return self._ready(theirs)
            seed()
            args, kwargs = translated(self.constructed)
            ours = _ours(self.make)(*args, **kwargs)
        if not self._is_lazy(theirs):
            ours.load_state_dict(translated(dict(theirs.state_dict())))
        return self._ready(ours)

    def _ready(self, module: Any) -> Any:
        return module.train(self.training)

    @staticmethod
    def _is_lazy(module: Any) -> bool:
        return isinstance(module, torch.nn.modules.lazy.LazyModuleMixin)

    def arguments(self, t: Any) -> Arguments:
        return translated(self.called) if t is flambeau else copied(self.called)


class _default_dtype:
    """New parameters of both in one dtype."""

    def __init__(self, dtype: torch.dtype) -> None:
        self.dtype = dtype

    def __enter__(self) -> None:
        self.before = torch.get_default_dtype()
        torch.set_default_dtype(self.dtype)
        flambeau.set_default_dtype(translated(self.dtype))

    def __exit__(self, *_: object) -> None:
        torch.set_default_dtype(self.before)
        flambeau.set_default_dtype(translated(self.before))


def _ours(make: Any) -> Callable[..., Any]:
    """What makes the module in Flambeau."""
    if isinstance(make, types.FunctionType):
        return rebound(make)
    if make.__qualname__.startswith("wrap_functional"):
        return _wrapped(make)
    return counterpart(make)  # type: ignore[no-any-return]


def _wrapped(make: Any) -> Callable[..., Any]:
    """A function as a module: torch's class around it holds it in a closure."""
    names = make.forward.__code__.co_freevars
    held = dict(zip(names, make.forward.__closure__, strict=True))
    function = translated(held["fn"].cell_contents)
    options = translated(held["kwargs"].cell_contents)

    class Function(flambeau.nn.Module):
        def forward(self, *args: Any) -> Any:
            return function(*args, **options)

    return Function


def check_module(case: ModuleCase) -> str:
    """Results, and gradients of inputs and parameters."""

    def call(t: Any) -> Any:
        module = case.module(t)
        args, kwargs = case.arguments(t)
        with _default_dtype(case.dtype):
            result = module(*args, **kwargs)
        found = leaves(t, (args, kwargs))
        found += [each for each in module.parameters() if each.requires_grad]
        roots = [each for each in outputs(result) if is_tensor(each) and each.requires_grad]
        if not roots or not found:
            return [result, *module.buffers()]
        weights = [weight(t, each, i) for i, each in enumerate(roots)]
        gradients = t.autograd.grad(roots, found, weights, allow_unused=True)
        gradients = [each for each in gradients if each is not None]
        return [*outputs(result), *gradients, *module.buffers()]

    ours, theirs = both(call)
    if case.fails_in_constructor and not isinstance(theirs, Exception):
        return ""
    return difference(ours, theirs, strides=False, scaled=True)


def tally(cases: Iterator[ModuleCase], name: str) -> Tally:
    """Every comparison of the samples of a module."""
    made = Tally(name)
    with quickly():
        for case in cases:
            made.compare(
                str(case.dtype)[6:],
                f"{case.name}{describe(case.constructed)}{describe(case.called)}",
                {"module": lambda case=case: check_module(case)},
            )
    return made


def cases_of(info: Any) -> Iterator[ModuleCase]:
    """The samples of a ModuleInfo."""
    for dtype in (torch.float32, torch.float64):
        if dtype not in info.supported_dtypes("cpu"):
            continue
        for training in (True, False) if info.train_and_eval_differ else (True,):
            seed()
            samples = info.module_inputs_func(
                info, device="cpu", dtype=dtype, requires_grad=True, training=training
            )
            for sample in list(samples):
                given = sample.forward_input
                called = ((), {}) if given is None else (given.args, given.kwargs)
                made = (sample.constructor_input.args, sample.constructor_input.kwargs)
                yield ModuleCase(info.name, info.module_cls, made, called, training, dtype)
    yield from _errors(info)


def _errors(info: Any) -> Iterator[ModuleCase]:
    if info.module_error_inputs_func is None:
        return
    seed()
    for each in info.module_error_inputs_func(
        info, device="cpu", dtype=torch.float32, requires_grad=False, training=True
    ):
        sample = each.module_error_input
        given = sample.forward_input
        called = ((), {}) if given is None else (given.args, given.kwargs)
        made = (sample.constructor_input.args, sample.constructor_input.kwargs)
        at_once = each.error_on == ModuleErrorEnum.CONSTRUCTION_ERROR
        yield ModuleCase(
            info.name,
            info.module_cls,
            made,
            called,
            True,
            torch.float32,
            fails_in_constructor=at_once,
        )


def _sized(given: Any) -> Any:
    if isinstance(given, tuple) and given and isinstance(given[0], tuple):
        return tuple(_sized(each) for each in given)
    return torch.randn(given, dtype=torch.float64)


def _input(entry: dict[str, Any], what: str) -> Any:
    """The input or the target of an entry of common_nn."""
    if f"{what}_fn" in entry:
        return entry[f"{what}_fn"]()
    if what in entry:
        return entry[what]
    return _sized(entry[f"{what}_size"])


def older_cases() -> dict[str, Callable[[], Iterator[ModuleCase]]]:
    """The modules and criteria of common_nn, by name."""
    found: dict[str, Callable[[], Iterator[ModuleCase]]] = {}
    entries = [*common_nn.module_tests, *common_nn.get_new_module_tests()]
    for is_criterion, entry in [
        *((False, each) for each in entries),
        *((True, each) for each in common_nn.criterion_tests),
    ]:
        name = entry.get("fullname") or entry["module_name"]
        name = f"{name}_{entry['desc']}" if "desc" in entry else name
        key = name
        while key in found:
            key += "_"
        found[key] = lambda name=name, entry=entry, c=is_criterion: _older(name, entry, c)
    return found


def _older(name: str, entry: dict[str, Any], is_criterion: bool) -> Iterator[ModuleCase]:
    seed()
    dtype = entry.get("default_dtype", torch.float32)
    with _default_dtype(dtype):
        given = _input(entry, "input")
        args = given if isinstance(given, tuple) else (given,)
        args = tuple(_needing(each) for each in args)
        if is_criterion:
            target = _input(entry, "target")
            args = (*args, *(target if isinstance(target, tuple) else (target,)))
        make = entry.get("constructor") or getattr(torch.nn, entry["module_name"])
        constructed = entry.get("constructor_args", ())
    yield ModuleCase(name, make, (tuple(constructed), {}), (args, {}), True, dtype)


def _needing(value: Any) -> Any:
    if is_tensor(value) and (value.is_floating_point() or value.is_complex()):
        return value.detach().clone().requires_grad_()
    return value


MODULES = {info.formatted_name: info for info in module_db}
OLDER = older_cases()

__all__ = ["MODULES", "OLDER", "Missing", "cases_of", "tally"]
