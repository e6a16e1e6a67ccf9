"""Unscaling of gradients, which may be on several devices."""

from __future__ import annotations

import flambeau as fb
from flambeau import _C, Tensor

__all__ = ["unscale"]


def unscale(gradients: list[Tensor], inverse: Tensor, found: Tensor) -> dict[fb.device, Tensor]:
    """Multiply gradients in place, all of a device at once; ``found`` if one was not finite.

    Returns it for each device: itself, or a copy that is there.
    """
    by_device: dict[fb.device, list[Tensor]] = {}
    for gradient in gradients:
        by_device.setdefault(gradient.device, []).append(gradient)
    found_by_device = {device: found.to(device) for device in by_device}
    with fb.no_grad():
        for device, listed in by_device.items():
            _C._amp_foreach_non_finite_check_and_unscale_(
                listed, found_by_device[device], inverse.to(device)
            )
    return found_by_device
