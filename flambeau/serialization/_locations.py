"""The devices of a checkpoint's storages: where they were, or what ``map_location`` says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau._display.terminal import printable

__all__: list[str] = []

Storage = Any  # UntypedStorage, or what a user's package makes of it
MAP_LOCATION = Callable[[Storage, str], Storage] | fb.device | str | dict[str, str] | None
Tagger = Callable[[Storage], str | None]
Restorer = Callable[[Storage, str], Storage | None]

_packages: list[tuple[int, Tagger, Restorer]] = []


def register_package(priority: int, tagger: Tagger, deserializer: Restorer) -> None:
    """Register a kind of storage.

    ``tagger(storage)`` names its location when it is saved, ``deserializer(storage, location)``
    moves it there when it is loaded; each returns None for other storages. The lowest priority is
    asked first.
    """
    _packages.append((priority, tagger, deserializer))
    _packages.sort(key=lambda package: package[0])


def location_tag(storage: Storage) -> str:
    """Return the name of a storage's device, as it is written into a checkpoint."""
    for _, tagger, _ in _packages:
        location = tagger(storage)
        if location:
            return location
    raise RuntimeError(f"don't know how to determine data location of {_typename(storage)}")


def default_restore_location(storage: Storage, location: str) -> Storage:
    """Move a storage, which has been read into CPU memory, to the device called ``location``."""
    for _, _, deserializer in _packages:
        restored = deserializer(storage, location)
        if restored is not None:
            return restored
    raise RuntimeError(
        f"don't know how to restore data location of {_typename(storage)} (tagged with "
        f"{printable(str(location))})"
    )


def restorer(map_location: MAP_LOCATION) -> Callable[[Storage, str], Storage]:
    """The function that ``map_location`` stands for."""
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        places = map_location
        return lambda storage, location: default_restore_location(
            storage, places.get(location, location)
        )
    if isinstance(map_location, (str, fb.device)):
        place = str(map_location)
        return lambda storage, location: default_restore_location(storage, place)
    if not callable(map_location):
        raise TypeError(
            "load: map_location must be a device, a string, a dictionary of strings or a function, "
            f"got {type(map_location).__name__}"
        )
    chosen = map_location

    def restore(storage: Storage, location: str) -> Storage:
        moved = chosen(storage, location)
        return default_restore_location(storage, location) if moved is None else moved

    return restore


def looks_at_contents(map_location: MAP_LOCATION) -> bool:
    """Whether a storage must be read before it is moved."""
    is_function = not isinstance(map_location, (dict, str, fb.device, type(None)))
    return is_function or tuple(_packages) != _OWN_PACKAGES


def _typename(storage: Storage) -> str:
    return f"torch.storage.{type(storage).__name__}"


def _cpu_tag(storage: Storage) -> str | None:
    return "cpu" if storage.device.type == "cpu" else None


def _cpu_restore(storage: Storage, location: str) -> Storage | None:
    return storage if location == "cpu" else None


def _cuda_tag(storage: Storage) -> str | None:
    return str(storage.device) if storage.device.type == "cuda" else None


def _cuda_restore(storage: Storage, location: str) -> Storage | None:
    if not location.startswith("cuda"):
        return None
    if not fb.cuda.is_available():
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is "
            "False. If you are running on a CPU-only machine, please use torch.load with "
            "map_location=torch.device('cpu') to map your storages to the CPU."
        )
    place = fb.device(location)
    count = fb.cuda.device_count()
    if place.index is not None and place.index >= count:
        raise RuntimeError(
            f"Attempting to deserialize object on CUDA device {place.index} but "
            f"torch.cuda.device_count() is {count}. Please use torch.load with map_location to map "
            "your storages to an existing device."
        )
    return storage.to(device=place) if storage.device.type != "cuda" else storage


def _meta_tag(storage: Storage) -> str | None:
    return "meta" if storage.device.type == "meta" else None


def _meta_restore(storage: Storage, location: str) -> Storage | None:
    """A storage of the same size whose contents are discarded."""
    return fb.UntypedStorage(storage.nbytes(), device="meta") if location == "meta" else None


def _other_tag(storage: Storage) -> str | None:
    return str(storage.device)


def _other_restore(storage: Storage, location: str) -> Storage | None:
    """Refuse: storages cannot be moved to other devices yet; map_location says where they go."""
    return None


register_package(10, _cpu_tag, _cpu_restore)
register_package(20, _cuda_tag, _cuda_restore)
register_package(22, _meta_tag, _meta_restore)
register_package(30, _other_tag, _other_restore)
_OWN_PACKAGES = tuple(_packages)
