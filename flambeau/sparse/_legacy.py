"""Old spellings: ``sparse.FloatTensor(indices, values, size)``."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau._core.legacy import TensorType

__all__ = [
    "BFloat16Tensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
]


class SparseTensorType(TensorType):
    """A name for sparse tensors of one element type."""

    is_sparse = True

    def __call__(cls, *args: Any, device: Any = None) -> Tensor:
        """Make a tensor of indices, values and a size, or an empty one of a size."""
        if not args or not isinstance(args[0], Tensor):
            size = args or (0,)
            places = fb.empty(len(size), 0, dtype=fb.int64)
            return fb.sparse_coo_tensor(places, fb.empty(0, dtype=cls.dtype), size, device=device)
        return fb.sparse_coo_tensor(*args, dtype=cls.dtype, device=device)

    def __repr__(cls) -> str:
        return f"<class 'torch.sparse.{cls.__name__}'>"


FloatTensor: SparseTensorType = SparseTensorType("FloatTensor", fb.float32)
DoubleTensor: SparseTensorType = SparseTensorType("DoubleTensor", fb.float64)
HalfTensor: SparseTensorType = SparseTensorType("HalfTensor", fb.float16)
BFloat16Tensor: SparseTensorType = SparseTensorType("BFloat16Tensor", fb.bfloat16)
ByteTensor: SparseTensorType = SparseTensorType("ByteTensor", fb.uint8)
CharTensor: SparseTensorType = SparseTensorType("CharTensor", fb.int8)
ShortTensor: SparseTensorType = SparseTensorType("ShortTensor", fb.int16)
IntTensor: SparseTensorType = SparseTensorType("IntTensor", fb.int32)
LongTensor: SparseTensorType = SparseTensorType("LongTensor", fb.int64)
