"""DLPack: exchange of memory with other array libraries."""

from flambeau._core.interop import DLDeviceType, from_dlpack, to_dlpack

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]
