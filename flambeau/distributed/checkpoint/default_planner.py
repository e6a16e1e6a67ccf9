"""Which process writes what: the only one, everything."""

from __future__ import annotations

from typing import Any

__all__ = ["DefaultLoadPlanner", "DefaultSavePlanner"]


class DefaultSavePlanner:
    """Options of writing that matter among several processes."""

    def __init__(
        self,
        flatten_state_dict: bool = True,
        flatten_sharded_tensors: bool = True,
        dedup_replicated_tensors: bool | None = None,
        dedup_save_to_lowest_rank: bool = False,
        enable_plan_caching: bool = False,
    ) -> None:
        self.flatten_state_dict = flatten_state_dict
        self.flatten_sharded_tensors = flatten_sharded_tensors
        self.dedup_replicated_tensors = dedup_replicated_tensors
        self.dedup_save_to_lowest_rank = dedup_save_to_lowest_rank
        self.enable_plan_caching = enable_plan_caching


class DefaultLoadPlanner:
    """Options of reading: with ``allow_partial_load``, what a checkpoint lacks stays as it is."""

    def __init__(
        self,
        flatten_state_dict: bool = True,
        flatten_sharded_tensors: bool = True,
        allow_partial_load: bool = False,
    ) -> None:
        self.flatten_state_dict = flatten_state_dict
        self.flatten_sharded_tensors = flatten_sharded_tensors
        self.allow_partial_load = allow_partial_load


def checked_planner(planner: Any, kind: type, name: str) -> Any:
    """The planner, or one as it is without; others would plan what several processes do."""
    if planner is None:
        return kind()
    if type(planner) is not kind:
        raise NotImplementedError(
            f"{name}: expected a {kind.__name__}, got {type(planner).__name__}; one process reads "
            "and writes everything, and asks no other planner"
        )
    return planner
