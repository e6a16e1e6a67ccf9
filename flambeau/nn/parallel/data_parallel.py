"""DataParallel: a network that splits its batch over devices."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau.nn.modules.module import Module
from flambeau.nn.parallel.parallel_apply import parallel_apply
from flambeau.nn.parallel.replicate import replicate
from flambeau.nn.parallel.scatter_gather import gather, scatter_kwargs

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
        count = fb.cuda.device_count()
        ids = (range(count) if device_ids is None else device_ids) if count else device_ids or ()
        self.device_ids: list[Any] = [_index(each) for each in ids]
        self.output_device = output_device
        if self.device_ids and output_device is None:
            self.output_device = self.device_ids[0]
        self.dim = dim
        if count and len(self.device_ids) == 1:
            self.module.to(fb.device("cuda", self.device_ids[0]))

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        if not self.device_ids or not fb.cuda.is_available():
            return self.module(*inputs, **kwargs)
        places = [fb.device("cuda", each) for each in self.device_ids]
        for each in (*self.module.parameters(), *self.module.buffers()):
            if each.device != places[0]:
                raise RuntimeError(
                    "module must have its parameters and buffers on device "
                    f"{places[0]} (device_ids[0]) but found one of them on device: {each.device}"
                )
        given, named = scatter_kwargs(inputs, kwargs, places, self.dim)
        given, named = given or ((),), named or ({},)
        if len(places) == 1:
            return self.module(*given[0], **named[0])
        places = places[: len(given)]
        results = parallel_apply(replicate(self.module, places), given, named, places)
        return gather(results, fb.device("cuda", _index(self.output_device)), self.dim)


def _index(device: Any) -> int:
    if isinstance(device, int):
        return device
    return fb.device(device).index or 0


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
