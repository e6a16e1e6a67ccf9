"""``DistributedDataParallel``: a module whose gradients processes share. Here there is one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from flambeau.nn.modules.module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """Module whose gradients are averaged over the processes of a group.

    Groups of one process are supported so far.

    Args:
        module: Module to wrap; it is the attribute `module`.
        device_ids: GPU of this process. Default: None, for the CPU.
        process_group: The processes. Default: all.
        find_unused_parameters: Whether parameters may have no gradient. Default: False.
        others: PyTorch's; they concern several processes.

    Example:
        >>> import flambeau.distributed as dist
        >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        >>> model = nn.parallel.DistributedDataParallel(nn.Linear(2, 1))
        >>> model(torch.ones(3, 2)).shape
        torch.Size([3, 1])
        >>> dist.destroy_process_group()

    See also:
        `utils.data.DistributedSampler`.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: Any = None,
        device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False,
        bucket_cap_mb_list: list[int] | None = None,
        batched_grad_copy: bool = False,
        forward_sync_buffers: bool | None = None,
    ) -> None:
        super().__init__()
        from flambeau.distributed import _group

        if mixed_precision is not None:
            raise NotImplementedError(
                "DistributedDataParallel: mixed_precision is not supported; call the module in a "
                "block of torch.autocast"
            )
        if not any(parameter.requires_grad for parameter in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel: no parameter of the module requires a gradient, so that "
                "there is nothing to share"
            )
        if device_ids or output_device is not None:
            raise ValueError(
                "DistributedDataParallel: device_ids and output_device are for modules on GPUs, "
                f"got device_ids={device_ids}, output_device={output_device}; leave them out"
            )
        if delay_all_reduce_named_params is not None and param_to_hook_all_reduce is None:
            raise ValueError(
                "DistributedDataParallel: delay_all_reduce_named_params needs "
                "param_to_hook_all_reduce, whose gradient the others wait for"
            )
        self.process_group = _group.checked_group(process_group)
        self.device_mesh = device_mesh
        self.module = module
        self.device_ids: None = None
        self.output_device: None = None
        self.dim = dim
        self.broadcast_buffers = broadcast_buffers
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph: bool = static_graph
        self.mixed_precision: None = None
        self.require_backward_grad_sync: bool = True
        self.require_forward_param_sync = True

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """A block whose gradients are added up without being shared."""
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    @contextlib.contextmanager
    def join(
        self,
        divide_by_initial_world_size: bool = True,
        enable: bool = True,
        throw_on_early_termination: bool = False,
    ) -> Iterator[None]:
        """A block in which processes may have different numbers of batches."""
        yield

    def register_comm_hook(self, state: Any, hook: Any) -> None:
        """Exchange gradients in another way, which one process does not do at all."""
        if not callable(hook):
            raise TypeError("DistributedDataParallel.register_comm_hook: hook must be callable")
        raise NotImplementedError(
            "register_comm_hook: one process has no gradients to exchange; change them by "
            "Tensor.register_hook"
        )

    def _get_ddp_logging_data(self) -> dict[str, Any]:
        """What was measured of the exchange of gradients, which there is none of."""
        return {"can_set_static_graph": False}

    def _set_static_graph(self) -> None:
        self.static_graph = True
