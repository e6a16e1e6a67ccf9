"""Runs a configuration in one framework: outputs and gradients as NumPy arrays."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.nn.layers.registry import Function, Layer, make_input

NAMES = "abcdefgh"


def framework_names(t: Any) -> dict[str, Any]:
    return {"torch": t, "nn": t.nn, "F": t.nn.functional}


def seed_of(text: str) -> int:
    return zlib.crc32(text.encode())


def arrays_of(layer: Layer, empty: int | None = None, dtype: str = "float32") -> list[np.ndarray]:
    rng = np.random.default_rng(seed_of(str(layer)))
    made = [make_input(text, rng, empty) for text in layer.inputs]
    return [a.astype(dtype) if a.dtype == np.float32 else a for a in made]


def inputs_of(config: Function) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed_of(str(config)))
    return {name: make_input(text, rng) for name, text in config.inputs.items()}


def tensor(t: Any, values: np.ndarray, layout: str = "contiguous", grad: bool = True) -> Any:
    """A leaf with these elements, arranged in memory as `layout` says."""
    made = t.from_numpy(values.copy())
    if layout == "strided" and made.ndim:  # every second element of a larger tensor, transposed
        wide = made.unsqueeze(-1).repeat(*[1] * made.ndim, 2)
        made = wide.transpose(0, -2).contiguous().transpose(0, -2)[..., 0]
    elif layout == "channels_last" and made.ndim == 4:
        made = made.contiguous(memory_format=t.channels_last)
    made = made.detach()
    return made.requires_grad_() if grad and made.is_floating_point() else made


def module_of(t: Any, layer: Layer) -> Any:
    t.manual_seed(seed_of(layer.text) % 2**31)
    return eval(f"nn.{layer.text}", framework_names(t))


def run_module(t: Any, layer: Layer, module: Any, inputs: list[Any]) -> dict[str, Any]:
    """Outputs, and gradients of inputs and parameters."""
    t.manual_seed(11)
    if layer.call:
        names = {**framework_names(t), "m": module, **dict(zip(NAMES, inputs, strict=False))}
        output = eval(layer.call, names)
    else:
        output = module(*inputs)
    leaves = {f"input {i}": x for i, x in enumerate(inputs)}
    leaves |= dict(module.named_parameters())
    return measure(output, leaves if layer.gradients else {})


def _caller(t: Any, layer: Layer, module: Any) -> Any:
    """A module with `module` inside, which calls it as the configuration says."""

    class Caller(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.m = module

        def forward(self, *inputs: Any) -> Any:
            if not layer.call:
                return self.m(*inputs)
            names = dict(zip(NAMES, inputs, strict=False))
            return eval(layer.call, {**framework_names(t), **names, "m": self.m})

    return Caller()


def as_function(
    t: Any, layer: Layer, dtype: str, training: bool
) -> tuple[Callable[..., tuple[Any, ...]], tuple[Any, ...]]:
    """The outputs that have gradients, as a function of inputs and parameters, and where."""
    module = module_of(t, layer).train(training)
    if dtype == "float64":
        module.double()
    inputs = [tensor(t, each) for each in arrays_of(layer, dtype=dtype)]
    names = [n for n, p in module.named_parameters() if p.requires_grad]
    parameters = [module.get_parameter(n).detach().requires_grad_() for n in names]
    leaves = [x for x in inputs if x.requires_grad]
    caller = _caller(t, layer, module)

    def call(*given: Any) -> tuple[Any, ...]:
        rest = iter(given[: len(leaves)])
        at = [next(rest) if x.requires_grad else x for x in inputs]
        t.manual_seed(11)
        state = {f"m.{n}": p for n, p in zip(names, given[len(leaves) :], strict=True)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = t.func.functional_call(caller, state, tuple(at))
        return tuple(o for o in flat(result) if o.requires_grad)

    return call, (*leaves, *parameters)


def run_function(t: Any, config: Function, inputs: dict[str, Any]) -> dict[str, Any]:
    t.manual_seed(11)
    output = eval(config.text, {**framework_names(t), **inputs})
    return measure(output, inputs if config.gradients else {})


def measure(output: Any, leaves: dict[str, Any]) -> dict[str, Any]:
    found = {f"output {i}": o for i, o in enumerate(flat(output))}
    measured = {name: to_numpy(o) for name, o in found.items()}
    total = None
    for name, o in found.items():
        if o.requires_grad:
            term = (o * weights(o, name)).sum()
            total = term if total is None else total + term
    if total is None:
        return measured
    wanted = {n: x for n, x in leaves.items() if getattr(x, "requires_grad", False)}
    if wanted:
        total.backward()
    for name, leaf in wanted.items():
        measured[f"gradient of {name}"] = None if leaf.grad is None else to_numpy(leaf.grad)
    return measured


def weights(o: Any, name: str) -> Any:
    """What the elements of an output count in the sum that is differentiated."""
    rng = np.random.default_rng(seed_of(name))
    return o.new_tensor(rng.normal(size=tuple(o.shape)).tolist()).reshape(o.shape)


def flat(output: Any) -> Iterator[Any]:
    if hasattr(output, "requires_grad"):
        yield output
    elif isinstance(output, list | tuple):
        for part in output:
            yield from flat(part)


def to_numpy(t: Any) -> np.ndarray:
    detached = t.detach().cpu()
    if detached.dtype.itemsize == 2:
        detached = detached.float()
    return np.array(detached.numpy())
