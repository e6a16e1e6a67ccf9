"""DataParallel: a network that splits its batch over devices."""

from __future__ import annotations

from typing import Any

from flambeau.nn.modules.module import Module

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """Split batches over several GPUs.

    On a single device it calls the module as it is; its state dict has the prefix `module.` all
    the same.

    Args:
        module: Module to run.
        device_ids: GPUs to use. Default: all.
        output_device: Where outputs are gathered. Default: the first GPU.
        dim: Dimension to split along. Default: 0.

    Example:
        >>> model = nn.DataParallel(nn.Linear(2, 1))
        >>> model(torch.ones(3, 2)).shape
        torch.Size([3, 1])
        >>> list(model.state_dict())
        ['module.weight', 'module.bias']

    See also:
        `nn.parallel.DistributedDataParallel`.
    """

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = list(device_ids or ())
        self.output_device = output_device
        self.dim = dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Any = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """Call ``module`` as `DataParallel` would."""
    args = inputs if isinstance(inputs, tuple) else (inputs,)
    return DataParallel(module, device_ids, output_device, dim)(*args, **(module_kwargs or {}))
