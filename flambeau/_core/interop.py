"""DLPack: exchange of memory with other array libraries, both ways."""

from __future__ import annotations

import enum
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor

__all__ = [
    "from_dlpack",
    "to_dlpack",
]


class DLDeviceType(enum.IntEnum):
    """Device numbers of the DLPack protocol."""

    kDLCPU = 1
    kDLCUDA = 2


_DEVICE_TYPES = {"cpu": DLDeviceType.kDLCPU, "cuda": DLDeviceType.kDLCUDA}


def dlpack_device(tensor: Tensor) -> tuple[DLDeviceType, int]:
    """``Tensor.__dlpack_device__``: where the tensor lives, in the protocol's numbers."""
    kind = tensor.device.type
    if kind not in _DEVICE_TYPES:
        raise ValueError(f"DLPack has no device type for {tensor.device}")
    return _DEVICE_TYPES[kind], tensor.device.index or 0


def dlpack_capsule(
    tensor: Tensor,
    *,
    stream: int | None = -1,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """``Tensor.__dlpack__``: a capsule on the tensor's memory, or on a copy of it.

    The versioned form is made if ``max_version`` allows it.
    """
    if tensor.is_sparse:
        raise BufferError("Can't export tensors with layout other than torch.strided")
    if tensor.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    here = dlpack_device(tensor)
    if dl_device is not None and tuple(dl_device) != here:
        if copy is False:
            raise ValueError(f"Can't move a tensor from {here} to {dl_device} without a copy")
        tensor, copy = tensor.to(_torch_device(dl_device)), True
    elif copy:
        tensor = tensor.clone()
    if tensor.is_cuda:
        _hand_over(tensor, stream)
    elif here[0] == DLDeviceType.kDLCPU and stream not in (None, -1):
        raise AssertionError("stream should be None on cpu.")
    versioned = max_version is not None and max_version[0] >= 1
    return _C._to_dlpack(tensor, versioned, bool(copy))


def _torch_device(place: tuple[int, int]) -> fb.device:
    """The device that has these numbers in the protocol."""
    kind, index = place
    for name, number in _DEVICE_TYPES.items():
        if kind == number:
            return fb.device(name) if name == "cpu" else fb.device(name, index)
    raise BufferError(f"DLPack: there is no device {place} here")


def _hand_over(tensor: Tensor, stream: int | None) -> None:
    """Let a stream of another library go on when the tensor is there; -1 wants no such care.

    1 is the protocol's number for the default stream, and None means it.
    """
    if stream == 0:
        raise BufferError("__dlpack__: the stream 0 has no meaning there; 1 is the default one")
    if stream == -1:
        return
    index = tensor.get_device()
    own = _C._cuda_current_stream(index)
    other = 0 if stream in (None, 1) else stream
    if own != other:
        _C._cuda_order_streams(index, own, other)


def cuda_array_interface(tensor: Tensor) -> dict[str, Any]:
    """``Tensor.__cuda_array_interface__``: the memory by the protocol's version 3.

    Raises:
        AttributeError: The tensor is not on a GPU, or has an element type without a name there.
    """
    if _C._has_torch_function((tensor,)):
        getter = fb.Tensor.__cuda_array_interface__.__get__  # type: ignore[attr-defined]
        answer: dict[str, Any] = _C._handle_torch_function(getter, (tensor,), (tensor,), {})
        return answer
    if not tensor.is_cuda:
        raise AttributeError(
            f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {tensor.type()} "
            "If CUDA data is required use tensor.cuda() to copy tensor to device memory."
        )
    if tensor.requires_grad:
        raise RuntimeError(
            "Can't get __cuda_array_interface__ on Variable that requires grad. If gradients "
            "aren't required, use var.detach() to get Variable that doesn't require grad."
        )
    kind = "b" if tensor.dtype == fb.bool else "c" if tensor.is_complex() else ""
    kind = kind or ("f" if tensor.is_floating_point() else "i" if tensor.is_signed() else "u")
    if tensor.dtype == fb.bfloat16:
        raise AttributeError("__cuda_array_interface__ has no name for bfloat16")
    width = tensor.element_size()
    strides = None if tensor.is_contiguous() else tuple(s * width for s in tensor.stride())
    return {
        "typestr": f"{'|' if width == 1 else '<'}{kind}{width}",
        "shape": tuple(tensor.shape),
        "strides": strides,
        "data": (tensor.data_ptr(), False),
        # 1 is the default stream: whoever reads the memory waits for this one.
        "stream": _C._cuda_current_stream(tensor.get_device()) or 1,
        "version": 3,
    }


def to_dlpack(tensor: Tensor) -> Any:
    """Return an unversioned DLPack capsule on the tensor's memory; it can be consumed once."""
    return dlpack_capsule(tensor)


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """Make a tensor on the memory of an array of another library.

    Args:
        ext_tensor: Array with `__dlpack__`, or a DLPack capsule.
        device: Where the tensor lives. Default: where the array is.
        copy: True copies always, False never. Default: None, only if needed.

    Example:
        >>> import numpy as np
        >>> torch.from_dlpack(np.arange(3))
        tensor([0, 1, 2])

    See also:
        `torch.from_numpy`.
    """
    if not hasattr(ext_tensor, "__dlpack__"):
        if device is not None or copy is not None:
            raise AssertionError("device and copy cannot be given with a DLPack capsule")
        return _C._from_dlpack(ext_tensor)
    options: dict[str, Any] = {}
    if copy is not None:
        options["copy"] = copy
    kind, index = getattr(ext_tensor, "__dlpack_device__", lambda: (DLDeviceType.kDLCPU, 0))()
    if device is not None:
        wanted = fb.device(device)
        place = (_DEVICE_TYPES[wanted.type], fb.empty(0, device=wanted).get_device())
        if wanted.type == "cuda" and place != (kind, index):
            # Few libraries copy to a GPU.
            if copy is False:
                raise ValueError(
                    f"from_dlpack: to {wanted} without a copy, which copy=False forbids"
                )
            return from_dlpack(ext_tensor).to(wanted)
        options["dl_device"] = (place[0], max(place[1], 0))
    if kind == DLDeviceType.kDLCUDA:
        options["stream"] = _C._cuda_current_stream(index) or 1
    try:
        capsule = ext_tensor.__dlpack__(max_version=(1, 0), **options)
    except TypeError:  # a producer from before version 1.0 of the protocol
        capsule = ext_tensor.__dlpack__(**options)
    return _C._from_dlpack(capsule)
