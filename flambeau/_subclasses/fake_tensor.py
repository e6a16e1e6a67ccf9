"""Tensors without elements that remember a device. There are none: ``meta`` ones serve instead."""

from __future__ import annotations

from typing import Any, NoReturn

from flambeau._limits.refusing import refusal

__all__ = ["FakeTensor", "FakeTensorMode", "is_fake"]


class FakeTensor:
    """A class without objects, for ``isinstance``."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise refusal(f"_subclasses.{cls.__name__}")


class FakeTensorMode(FakeTensor):
    """Not there: ``with torch.device("meta")`` makes tensors without elements."""


def is_fake(x: object) -> bool:
    """Whether a tensor only pretends to have elements: no tensor does."""
    return False
