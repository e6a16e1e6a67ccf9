"""Plans of how the layers of a model are spread over processes; they can be written down."""

from __future__ import annotations

from typing import Any

from flambeau._limits.refusing import Function, refused
from flambeau.distributed.tensor.placement_types import Replicate, Shard

__all__ = [
    "ColwiseParallel",
    "ParallelStyle",
    "PrepareModuleInput",
    "PrepareModuleInputOutput",
    "PrepareModuleOutput",
    "RowwiseParallel",
    "SequenceParallel",
    "loss_parallel",
    "parallelize_module",
]


class ParallelStyle:
    """How one layer is spread."""

    src_data_rank: int | None = 0


class ColwiseParallel(ParallelStyle):
    """A linear layer or an embedding, spread along its outputs.

    Args:
        input_layouts: Placement of the input. Default: replicated.
        output_layouts: Placement of the result. Default: sharded along the last dimension.
        use_local_output: Whether the result is a plain tensor. Default: True.

    Example:
        >>> from flambeau.distributed.tensor.parallel import ColwiseParallel
        >>> ColwiseParallel().output_layouts
        (Shard(dim=-1),)

    See also:
        `distributed.tensor.parallel.RowwiseParallel`.
    """

    def __init__(
        self,
        *,
        input_layouts: Any = None,
        output_layouts: Any = None,
        use_local_output: bool = True,
    ) -> None:
        self.input_layouts: tuple[Any] = (input_layouts or Replicate(),)
        self.output_layouts: tuple[Any] = (output_layouts or Shard(-1),)
        self.desired_input_layouts: tuple[Replicate] = (Replicate(),)
        self.use_local_output = use_local_output


class RowwiseParallel(ParallelStyle):
    """A linear layer or an embedding, spread along its inputs."""

    def __init__(
        self,
        *,
        input_layouts: Any = None,
        output_layouts: Any = None,
        use_local_output: bool = True,
    ) -> None:
        self.input_layouts: tuple[Any] = (input_layouts or Shard(-1),)
        self.output_layouts: tuple[Any] = (output_layouts or Replicate(),)
        self.use_local_output = use_local_output


class SequenceParallel(ParallelStyle):
    """A normalisation or dropout, spread along the sequence."""

    def __init__(self, *, sequence_dim: int = 1, use_local_output: bool = False) -> None:
        self.sequence_sharding: tuple[Shard] = (Shard(sequence_dim),)
        self.use_local_output = use_local_output


class PrepareModuleInput(ParallelStyle):
    """What the inputs of a layer are spread like."""

    def __init__(
        self,
        *,
        input_layouts: Any = None,
        desired_input_layouts: Any = None,
        input_kwarg_layouts: dict[str, Any] | None = None,
        desired_input_kwarg_layouts: dict[str, Any] | None = None,
        use_local_output: bool = False,
    ) -> None:
        self.input_layouts = input_layouts
        self.desired_input_layouts = desired_input_layouts
        self.input_kwarg_layouts: dict[str, Any] = input_kwarg_layouts or {}
        self.desired_input_kwarg_layouts: dict[str, Any] = desired_input_kwarg_layouts or {}
        self.use_local_output = use_local_output


class PrepareModuleOutput(ParallelStyle):
    """What the results of a layer are spread like."""

    def __init__(
        self, *, output_layouts: Any, desired_output_layouts: Any, use_local_output: bool = True
    ) -> None:
        self.output_layouts = output_layouts
        self.desired_output_layouts = desired_output_layouts
        self.use_local_output = use_local_output


class PrepareModuleInputOutput(ParallelStyle):
    """What the inputs and the results of a layer are spread like."""

    def __init__(
        self,
        *,
        input_layouts: Any = None,
        desired_input_layouts: Any = None,
        input_kwarg_layouts: dict[str, Any] | None = None,
        desired_input_kwarg_layouts: dict[str, Any] | None = None,
        use_local_input: bool = False,
        output_layouts: Any,
        desired_output_layouts: Any,
        use_local_output: bool = True,
    ) -> None:
        self.prepare_module_input = PrepareModuleInput(
            input_layouts=input_layouts,
            desired_input_layouts=desired_input_layouts,
            input_kwarg_layouts=input_kwarg_layouts,
            desired_input_kwarg_layouts=desired_input_kwarg_layouts,
            use_local_output=use_local_input,
        )
        self.prepare_module_output = PrepareModuleOutput(
            output_layouts=output_layouts,
            desired_output_layouts=desired_output_layouts,
            use_local_output=use_local_output,
        )


parallelize_module: Function = refused("distributed.tensor.parallel.parallelize_module")
loss_parallel: Function = refused("distributed.tensor.parallel.loss_parallel")
