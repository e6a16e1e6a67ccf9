"""One sample of an OpInfo, as a call that can be made in both frameworks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.testing._internal.opinfo.core import BinaryUfuncInfo, UnaryUfuncInfo

import flambeau
from tests.conformance.database import resolve
from tests.conformance.database.run import copied
from tests.conformance.database.translate import translated
from tests.ops.gradients import UNIQUE

# What these return is not determined: memory as it was found.
UNDETERMINED = {
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "new_empty",
    "new_empty_strided",
    "resize_",
    "resize_as_",
}


def _sizes(*parts: Any) -> tuple[Any, ...]:
    return tuple(part.abs() for part in parts)


# What is unique of results that are not: singular and eigenvectors have any phase.
UNIQUE_PART = {**UNIQUE, "svd_lowrank": _sizes, "pca_lowrank": _sizes}


@dataclass(frozen=True)
class Case:
    """A sample in torch and the same in Flambeau, made anew for each call."""

    info: Any
    sample: Any  # torch's SampleInput

    def arguments(self, module: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args, kwargs = (self.sample.input, *self.sample.args), self.sample.kwargs
        change = translated if module is flambeau else copied
        return change(args), change(kwargs)

    def function(self, module: Any) -> Callable[..., Any]:
        return self.info.op if module is torch else resolve.operator(self.info)

    def differentiated(self, module: Any, args: Any, kwargs: Any) -> Any:
        """What torch's tests differentiate: where the call is smooth, what is unique of it."""
        wrapper, process = self.info.gradcheck_wrapper, self.sample.output_process_fn_grad
        if wrapper.__name__.startswith("gradcheck_wrapper_masked"):
            return self._masked(module, self.function(module)(*args, **kwargs))
        if module is flambeau:
            wrapper, process = resolve.rebound(wrapper), resolve.rebound(process)
        return process(wrapper(self.function(module), *args, **kwargs))

    def _masked(self, module: Any, result: Any) -> Any:
        """A result where its mask lets something through, and 0 elsewhere."""
        sample, masked = self.sample, torch.masked
        masks = [sample.kwargs.get(f"{name}_mask") for name in ("input", "other")]
        if sample.kwargs.get("mask") is not None:
            mask = masked._output_mask(self.info.op, sample.input, *sample.args, **sample.kwargs)
        elif any(each is not None for each in masks):
            pairs = zip((sample.input, sample.args[0]), masks, strict=True)
            parts = [masked._input_mask(tensor, mask=mask) for tensor, mask in pairs]
            mask = torch.logical_and(*parts)
        else:
            return result
        chosen = mask if module is torch else translated(mask)
        return module.where(chosen, result, module.zeros_like(result))

    def unique(self, result: Any) -> Any:
        """The part of a result that only depends on the inputs."""
        part = UNIQUE_PART.get(self.info.name)
        return result if part is None else part(*result)

    @property
    def is_determined(self) -> bool:
        return self.info.name not in UNDETERMINED

    @property
    def is_scaled(self) -> bool:
        """Whether elements of a result are sums, whose roundings are as large as their terms."""
        return not isinstance(self.info, (UnaryUfuncInfo, BinaryUfuncInfo))
