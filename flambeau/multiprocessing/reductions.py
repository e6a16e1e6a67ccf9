"""How tensors are pickled for another process: as the descriptor of a file in memory.

What the standard library sends between processes it pickles with `ForkingPickler`, which asks this
module about storages. Tensors are pickled as always: as windows on a storage.
"""

from __future__ import annotations

import os
from multiprocessing import reduction
from typing import Any

from flambeau import Tensor, UntypedStorage
from flambeau.nn.parameter import Parameter

__all__ = ["init_reductions", "rebuild_storage", "reduce_storage", "reduce_tensor"]


def rebuild_storage(handle: Any, size: int) -> UntypedStorage:
    """Map the memory of another process."""
    fd = handle.detach()
    try:
        return UntypedStorage._new_shared_fd_cpu(fd, size)
    finally:
        os.close(fd)


def reduce_storage(storage: UntypedStorage) -> Any:
    """Share the memory behind a storage, and name it."""
    if storage.is_cuda:
        raise RuntimeError(
            "multiprocessing: memory of a GPU is not shared with another process; send "
            "tensor.cpu() and move it there"
        )
    fd, size = storage._share_fd_cpu_()
    return rebuild_storage, (reduction.DupFd(fd), size)


def reduce_tensor(tensor: Tensor) -> Any:
    """Take a tensor apart; one that was computed from others has a history that cannot travel."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "multiprocessing: a tensor that requires grad and is not a leaf cannot be sent to "
            "another process, because its history stays here; send tensor.detach()"
        )
    return tensor.__reduce_ex__(2)


def init_reductions() -> None:
    """Teach the standard library's pickler about tensors."""
    reduction.ForkingPickler.register(UntypedStorage, reduce_storage)
    reduction.ForkingPickler.register(Tensor, reduce_tensor)
    reduction.ForkingPickler.register(Parameter, reduce_tensor)
