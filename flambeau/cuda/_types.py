"""Old spellings of tensor types on a GPU: ``torch.cuda.FloatTensor``."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau._core.legacy import TensorType
from flambeau.cuda._device import needs_gpu

__all__ = [
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
]


class CudaTensorType(TensorType):
    """The class of ``torch.cuda.FloatTensor`` and the other typed tensors."""

    is_cuda = True
    place = "cuda"

    def __call__(cls, *args: Any, device: Any = None) -> fb.Tensor:
        needs_gpu(TypeError)
        return super().__call__(*args, device=device)


BFloat16Tensor: CudaTensorType = CudaTensorType("BFloat16Tensor", fb.bfloat16)
BoolTensor: CudaTensorType = CudaTensorType("BoolTensor", fb.bool)
ByteTensor: CudaTensorType = CudaTensorType("ByteTensor", fb.uint8)
CharTensor: CudaTensorType = CudaTensorType("CharTensor", fb.int8)
DoubleTensor: CudaTensorType = CudaTensorType("DoubleTensor", fb.float64)
FloatTensor: CudaTensorType = CudaTensorType("FloatTensor", fb.float32)
HalfTensor: CudaTensorType = CudaTensorType("HalfTensor", fb.float16)
IntTensor: CudaTensorType = CudaTensorType("IntTensor", fb.int32)
LongTensor: CudaTensorType = CudaTensorType("LongTensor", fb.int64)
ShortTensor: CudaTensorType = CudaTensorType("ShortTensor", fb.int16)
