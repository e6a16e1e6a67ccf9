"""Checkpoints: ``save`` and ``load`` in PyTorch's file formats.

A file is loaded without running any code from it, unless ``weights_only=False`` says otherwise.
"""

from __future__ import annotations

from flambeau.serialization._load import (
    get_unsafe_globals_in_checkpoint,
    load,
)
from flambeau.serialization._locations import (
    MAP_LOCATION,
    default_restore_location,
    location_tag,
    register_package,
)
from flambeau.serialization._options import (
    LoadEndianness,
    get_crc32_options,
    get_default_load_endianness,
    get_default_mmap_options,
    set_crc32_options,
    set_default_load_endianness,
    set_default_mmap_options,
    skip_data,
)
from flambeau.serialization._safe import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)
from flambeau.serialization._save import (
    DEFAULT_PROTOCOL,
    save,
)

__all__ = [
    "DEFAULT_PROTOCOL",
    "MAP_LOCATION",
    "LoadEndianness",
    "add_safe_globals",
    "clear_safe_globals",
    "default_restore_location",
    "get_crc32_options",
    "get_default_load_endianness",
    "get_default_mmap_options",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "location_tag",
    "register_package",
    "safe_globals",
    "save",
    "set_crc32_options",
    "set_default_load_endianness",
    "set_default_mmap_options",
    "skip_data",
]
