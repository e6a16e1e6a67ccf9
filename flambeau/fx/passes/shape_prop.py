"""Shapes and dtypes of all values of a graph, found by running it."""

from __future__ import annotations

from typing import Any, NamedTuple

import flambeau as fb
from flambeau.fx.interpreter import Interpreter
from flambeau.fx.node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """The metadata of a tensor."""

    shape: fb.Size
    dtype: fb.dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: fb.memory_format | None
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: fb.Tensor, include_contiguity: bool = True) -> TensorMetadata:
    layout = None
    if include_contiguity:
        formats = (fb.contiguous_format, fb.channels_last, fb.channels_last_3d)
        layout = next((f for f in formats if _is_laid_out(result, f)), None)
    return TensorMetadata(
        result.shape, result.dtype, result.requires_grad, result.stride(), layout, False, {}
    )


def _is_laid_out(tensor: fb.Tensor, layout: fb.memory_format) -> bool:
    dims = {fb.channels_last: 4, fb.channels_last_3d: 5}.get(layout)
    return dims in (None, tensor.dim()) and tensor.is_contiguous(memory_format=layout)


class ShapeProp(Interpreter):
    """Runs a graph and stores the metadata and type of every result in the node's ``meta``."""

    def __init__(self, gm: Any, fake_mode: Any = None) -> None:
        super().__init__(gm)
        if fake_mode is not None:
            raise NotImplementedError(
                "ShapeProp: tensors without elements (fake_mode) are not available; leave it out, "
                "and the graph is run on the given tensors"
            )

    def run_node(self, n: Node) -> Any:
        """Run one node and note what it returned."""
        result = super().run_node(n)
        found = False

        def extract(value: Any) -> Any:
            nonlocal found
            if isinstance(value, fb.Tensor):
                found = True
                return _extract_tensor_metadata(value)
            return value

        meta = map_aggregate(result, extract)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run the graph on ``args``; return its result."""
        return super().run(*args)
