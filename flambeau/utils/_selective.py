"""Selective checkpointing: which results of a checkpointed function to keep."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from flambeau._limits.accepted import accepted

__all__ = ["CheckpointPolicy", "SelectiveCheckpointContext", "create_selective_checkpoint_contexts"]


class CheckpointPolicy(enum.Enum):
    """What a policy may say about the result of an operator."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


class SelectiveCheckpointContext:
    """The first argument of a policy: whether this is the recomputation."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Callable[..., Any] | list[Any], allow_cache_entry_mutation: bool = False
) -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """Return the two contexts for ``checkpoint(context_fn=...)``.

    The gradients are the same for every policy. For now, results to keep are recomputed too: a
    checkpointed function keeps only its inputs.
    """
    if not callable(policy_fn_or_list) and not isinstance(policy_fn_or_list, list):
        raise TypeError(
            "create_selective_checkpoint_contexts: policy_fn_or_list must be a function or a list "
            f"of operators, got {type(policy_fn_or_list).__name__}"
        )
    accepted("torch.utils.checkpoint.create_selective_checkpoint_contexts")
    return contextlib.nullcontext(), contextlib.nullcontext()
