"""Graph optimisations for inference."""

from __future__ import annotations

import copy
from typing import Any

from flambeau import nn
from flambeau.fx._symbolic_trace import symbolic_trace
from flambeau.fx.graph_module import GraphModule
from flambeau.fx.interpreter import Transformer
from flambeau.fx.node import Node
from flambeau.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

__all__ = ["fuse", "remove_dropout"]

_PAIRS: tuple[tuple[type[nn.Module], type[nn.Module], Any], ...] = (
    (nn.Conv1d, nn.BatchNorm1d, fuse_conv_bn_eval),
    (nn.Conv2d, nn.BatchNorm2d, fuse_conv_bn_eval),
    (nn.Conv3d, nn.BatchNorm3d, fuse_conv_bn_eval),
    (nn.Linear, nn.BatchNorm1d, fuse_linear_bn_eval),
)


def fuse(model: nn.Module, inplace: bool = False, no_trace: bool = False) -> GraphModule:
    """Fuse the batch normalisations of a model in evaluation mode into the layers before them."""
    if not inplace:
        model = copy.deepcopy(model)
    traced = model if no_trace and isinstance(model, GraphModule) else symbolic_trace(model)
    modules = dict(traced.named_modules())
    for node in list(traced.graph.nodes):
        layer = _layer_before(node, modules)
        if layer is None:
            continue
        made = _merged(modules[str(layer.target)], modules[str(node.target)])
        if made is None:
            continue
        modules[str(layer.target)] = made
        traced.set_submodule(str(layer.target), made)
        node.replace_all_uses_with(layer)
        traced.graph.erase_node(node)
    traced.delete_all_unused_submodules()
    traced.recompile()
    return traced


def _layer_before(node: Node, modules: dict[str, nn.Module]) -> Node | None:
    """The call of a layer whose only user is this call of another."""
    if node.op != "call_module" or not node.args or not isinstance(node.args[0], Node):
        return None
    before = node.args[0]
    if before.op != "call_module" or len(before.users) > 1:
        return None
    return before


def _merged(layer: nn.Module, norm: nn.Module) -> nn.Module | None:
    for kind, norm_kind, merge in _PAIRS:
        if type(layer) is kind and type(norm) is norm_kind and not norm.training:
            return merge(layer, norm) if norm.track_running_stats else None
    return None


def remove_dropout(model: nn.Module) -> nn.Module:
    """Return the model without its dropout layers."""
    traced = symbolic_trace(model)

    class Without(Transformer):
        def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if isinstance(self.submodules[target], nn.Dropout):
                return args[0]
            return super().call_module(target, args, kwargs)

    return Without(traced).transform()
