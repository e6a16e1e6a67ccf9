"""Optimisers whose state is spread over processes; one process holds it all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from flambeau._limits.refusing import refused_type
from flambeau.distributed._init import get_world_size
from flambeau.optim import Optimizer

__all__ = ["DistributedOptimizer", "PostLocalSGDOptimizer", "ZeroRedundancyOptimizer"]


class ZeroRedundancyOptimizer(Optimizer):
    """An optimiser whose state is spread over the processes of a group: of one."""

    def __init__(
        self,
        params: Iterable[Any],
        optimizer_class: type[Optimizer],
        process_group: Any = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        get_world_size(process_group)
        if overlap_with_ddp:
            raise NotImplementedError(
                "ZeroRedundancyOptimizer: one process exchanges nothing that steps could overlap "
                "with; leave out overlap_with_ddp, and call step()"
            )
        self.optim: Optimizer = optimizer_class(params, **defaults)
        super().__init__(self.optim.param_groups, self.optim.defaults)
        # One list of groups and one state, whichever of the two is looked at.
        self.param_groups = self.optim.param_groups
        self.state = self.optim.state

    def step(self, closure: Callable[[], Any] | None = None, **kwargs: Any) -> Any:
        return self.optim.step(closure, **kwargs)

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Gather the state in one process, where it is."""

    def state_dict(self) -> dict[str, Any]:
        return self.optim.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.optim.load_state_dict(state_dict)
        self.param_groups: list[dict[str, Any]] = self.optim.param_groups
        self.state = self.optim.state


DistributedOptimizer: Any = refused_type("distributed.optim.DistributedOptimizer")
PostLocalSGDOptimizer: Any = refused_type("distributed.optim.PostLocalSGDOptimizer")
