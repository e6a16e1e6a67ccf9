"""Helpers that programs import from here."""

from __future__ import annotations

from collections import OrderedDict

from flambeau import Tensor, nn

__all__ = ["IntermediateLayerGetter"]


class IntermediateLayerGetter(nn.ModuleDict):
    """A model up to the last of some of its layers, which returns what each of them put out.

    ``return_layers`` maps the names of layers to the names of results.
    """

    def __init__(self, model: nn.Module, return_layers: dict[str, str]) -> None:
        children = dict(model.named_children())
        if missing := sorted(set(return_layers) - set(children)):
            raise ValueError(f"return_layers are not present in model: {', '.join(missing)}")
        returned = {str(name): str(new) for name, new in return_layers.items()}
        wanted = set(return_layers)
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        for name, child in children.items():
            layers[name] = child
            wanted.discard(name)
            if not wanted:
                break
        super().__init__(layers)
        self.return_layers = returned

    def forward(self, x: Tensor) -> OrderedDict[str, Tensor]:
        results: OrderedDict[str, Tensor] = OrderedDict()
        for name, layer in self.items():
            x = layer(x)
            if name in self.return_layers:
                results[self.return_layers[name]] = x
        return results


def _make_divisible(v: float, divisor: int, min_value: int | None = None) -> int:
    """The nearest multiple of a number of channels, at most a tenth below it."""
    lowest = divisor if min_value is None else min_value
    rounded = max(lowest, int(v + divisor / 2) // divisor * divisor)
    return rounded + divisor if rounded < 0.9 * v else rounded
