"""Checks of a detector's components."""

from __future__ import annotations

from flambeau import nn

__all__ = ["check_backbone", "check_kind", "check_predictor"]


def check_backbone(backbone: nn.Module) -> None:
    """Raise ValueError for a backbone that does not give the channels of its feature maps."""
    if not hasattr(backbone, "out_channels"):
        raise ValueError(
            "backbone must have an attribute out_channels, the number of channels of each of its "
            f"feature maps, but {type(backbone).__name__} has none: set backbone.out_channels"
        )


def check_kind(name: str, part: object, kind: type) -> None:
    """Raise TypeError for a component of another class."""
    if part is not None and not isinstance(part, kind):
        raise TypeError(f"{name} must be of type {kind.__name__} or None, got {type(part)}")


def check_predictor(name: str, predictor: nn.Module | None, num_classes: int | None) -> None:
    """Raise ValueError unless exactly one of the two gives the number of classes."""
    if num_classes is not None and predictor is not None:
        raise ValueError(
            f"num_classes must be None where {name} is given, whose outputs are the classes; got "
            f"{num_classes}"
        )
    if num_classes is None and predictor is None:
        raise ValueError(
            f"num_classes must not be None without a {name}: pass the number of classes, the "
            "background included"
        )
