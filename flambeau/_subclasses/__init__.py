"""Fake tensors, which are not supported; use ``torch.device("meta")``."""

from __future__ import annotations

from flambeau._subclasses.fake_tensor import FakeTensor, FakeTensorMode

__all__ = ["FakeTensor", "FakeTensorMode"]
