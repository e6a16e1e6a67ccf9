"""What everything of ``torch.cuda`` that needs a GPU answers in a build without CUDA."""

from __future__ import annotations

from flambeau._limits.absent import Absent

__all__: list[str] = []

CUDA = Absent(
    "cuda", "ask torch.cuda.is_available() first, and keep tensors and modules on device 'cpu'"
)
