"""Tensors that only pretend to have elements; ``torch.device("meta")`` has the ones there are."""

from __future__ import annotations

from flambeau._subclasses.fake_tensor import FakeTensor, FakeTensorMode

__all__ = ["FakeTensor", "FakeTensorMode"]
