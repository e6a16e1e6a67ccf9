"""``Module.summary``: layers, shapes, parameters, multiply-adds and memory as a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import flambeau as fb
from flambeau import Tensor
from flambeau._display.describe import readable_bytes
from flambeau.nn.modules._multiply_adds import multiply_adds
from flambeau.utils._pytree import tree_flatten

if TYPE_CHECKING:
    from flambeau.nn.modules.module import Module

__all__ = ["LayerSummary", "Summary", "summarize"]

_HEADER = ["Layer", "Output shape", "Parameters", "Multiply-adds", "Activations"]

_Shapes = tuple[tuple[int, ...], ...]


@dataclass
class LayerSummary:
    """One module of a network: where it is and what it did in the call."""

    name: str
    kind: str
    depth: int
    parameters: int  # its own, without those of its children
    is_shared: bool = False  # it stands elsewhere in the table too, where its parameters count
    calls: int = 0
    output_shapes: _Shapes = ()  # of its last call
    multiply_adds: int = 0
    activation_bytes: int = 0


@dataclass
class Summary:
    """What `Module.summary` found. Printing it gives a table."""

    layers: list[LayerSummary] = field(default_factory=list)
    total_parameters: int = 0
    trainable_parameters: int = 0
    parameter_bytes: int = 0
    has_run: bool = False  # the network was called: shapes and what follows from them are known

    @property
    def multiply_adds(self) -> int:
        """Of all layers, one call of the network."""
        return sum(layer.multiply_adds for layer in self.layers)

    @property
    def activation_bytes(self) -> int:
        """The results of the layers, which training keeps for backward."""
        return sum(layer.activation_bytes for layer in self.layers)

    def __repr__(self) -> str:
        rows = [_row(layer, name) for layer, name in zip(self.layers, self._names(), strict=True)]
        columns = range(len(_HEADER)) if self.has_run else (0, 2)
        table = [[row[column] for column in columns] for row in (_HEADER, *rows)]
        lines = _align(table, left=2 if self.has_run else 1)
        rule = "─" * max(map(len, lines))
        return "\n".join([lines[0], rule, *lines[1:], rule, *self._totals()])

    def _names(self) -> Iterator[str]:
        """The layers' names as branches of a tree."""
        open_at: set[int] = set()  # depths at which more siblings follow
        names = []
        for layer in reversed(self.layers):
            label = f"{layer.name}: {layer.kind}" if layer.name else layer.kind
            if layer.depth == 0:
                names.append(label)
                continue
            trunk = "".join("│  " if d in open_at else "   " for d in range(1, layer.depth))
            names.append(f"{trunk}{'├─' if layer.depth in open_at else '└─'} {label}")
            open_at = {d for d in open_at if d < layer.depth} | {layer.depth}
        return reversed(names)

    def _totals(self) -> list[str]:
        frozen = self.total_parameters - self.trainable_parameters
        lines = [
            f"Parameters     {self.total_parameters:,} ({readable_bytes(self.parameter_bytes)})"
            + (f", {frozen:,} of them frozen" if frozen else "")
        ]
        if self.has_run:
            lines.append(f"Multiply-adds  {self.multiply_adds:,}")
            lines.append(f"Activations    {readable_bytes(self.activation_bytes)}")
        return lines


def summarize(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Summary:
    """List the modules within ``module``; with arguments, call it and note what each one does."""
    summary = Summary()
    layers = _list_layers(module, summary)
    if args or kwargs:
        _run(module, layers, args, kwargs)
        summary.has_run = True
    return summary


def _list_layers(module: Module, summary: Summary) -> dict[Module, LayerSummary]:
    layers: dict[Module, LayerSummary] = {}
    counted: set[Tensor] = set()  # a parameter that several modules use is counted once

    def visit(module: Module, name: str, depth: int) -> None:
        new = [p for p in module._parameters.values() if p is not None and p not in counted]
        counted.update(new)
        layer = LayerSummary(name, module._get_name(), depth, sum(p.numel() for p in new))
        layer.is_shared = module in layers
        summary.layers.append(layer)
        if layer.is_shared:
            return
        layers[module] = layer
        summary.total_parameters += layer.parameters
        summary.trainable_parameters += sum(p.numel() for p in new if p.requires_grad)
        summary.parameter_bytes += sum(p.numel() * p.element_size() for p in new)
        for child_name, child in module.named_children():
            visit(child, child_name, depth + 1)

    visit(module, "", 0)
    return layers


def _run(
    module: Module,
    layers: dict[Module, LayerSummary],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> None:
    """Call ``module`` for its shapes alone: nothing it or the random generator holds changes."""
    seen: set[int] = set()  # storages of results: an in-place layer makes no new one
    kept: list[Tensor] = []  # so that the address of a storage stays that of one result

    def note(layer_module: Module, inputs: tuple[Any, ...], output: Any) -> None:
        layer = layers[layer_module]
        results = [leaf for leaf in tree_flatten(output)[0] if isinstance(leaf, Tensor)]
        layer.calls += 1
        layer.output_shapes = tuple(tuple(result.shape) for result in results)
        layer.multiply_adds += multiply_adds(layer_module, inputs, results)
        for result in results:
            storage = result.untyped_storage()
            if storage.data_ptr() not in seen:
                seen.add(storage.data_ptr())
                kept.append(result)
                layer.activation_bytes += storage.nbytes()

    modes = {each: each.training for each in layers}
    handles = [each.register_forward_hook(note) for each in layers]
    state = fb.get_rng_state()
    for argument in tree_flatten((args, kwargs))[0]:
        if isinstance(argument, Tensor):  # what the network is given is not its own
            seen.add(argument.untyped_storage().data_ptr())
    try:
        module.eval()  # so that running statistics stay as they are
        with fb.no_grad():
            module(*args, **kwargs)
    finally:
        fb.set_rng_state(state)
        for handle in handles:
            handle.remove()
        for each, mode in modes.items():
            each.training = mode


def _row(layer: LayerSummary, name: str) -> list[str]:
    if layer.is_shared:
        return [name, "(see above)", "", "", ""]
    shapes = ", ".join("×".join(map(str, shape)) or "scalar" for shape in layer.output_shapes)
    times = f" ({layer.calls} calls)" if layer.calls > 1 else ""
    return [
        name,
        shapes + times if layer.calls else "(not called)",
        f"{layer.parameters:,}" if layer.parameters else "",
        f"{layer.multiply_adds:,}" if layer.multiply_adds else "",
        readable_bytes(layer.activation_bytes) if layer.activation_bytes else "",
    ]


def _align(rows: list[list[str]], left: int) -> list[str]:
    """Columns of equal width; the first ``left`` of them start at their left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
