"""How a linear map and its cross entropy are computed a part of the batch at a time."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Literal

__all__ = ["LinearCrossEntropyOptions"]


@dataclasses.dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """How many samples `nn.LinearCrossEntropyLoss` computes the scores of at a time.

    Scores are computed again for the backward pass, which may run several times.

    Args:
        allow_retain_graph: Needs nothing here. Default: False.
        batch_chunk_size: Number of samples. Default: found by `chunking_method`.
        chunking_method: `"aspect_ratio"` takes so many samples that the scores need about as much
            memory as the input, `"aspect_ratio:4"` a fourth of that. Default: `"auto"`.
        acc_policy: Every policy is as accurate as `"accurate"`. Default: `"auto"`.
        acc_dtype: Type that sums are kept in. Default: chosen by the input.

    Raises:
        ValueError: An option is unknown, or two contradict each other.

    Example:
        >>> nn.LinearCrossEntropyOptions(batch_chunk_size=8).chunk_size(32, 16, 1000)
        8
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: Literal["accurate", "balanced", "compact", "auto"] = "auto"
    acc_dtype: Any = None

    def __post_init__(self) -> None:
        if self.acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        method = self.chunking_method
        if method not in (None, "auto") and not re.fullmatch(
            r"aspect_ratio(:0*[1-9]\d*)?", str(method)
        ):
            raise ValueError(f"invalid chunking_method: {method!r}")
        size = self.batch_chunk_size
        if size is not None and not (isinstance(size, int) and size > 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")

    def chunk_size(self, samples: int, in_features: int, classes: int) -> int:
        """How many samples to take at a time."""
        method = self.chunking_method
        if method == "auto":
            method = None if self.batch_chunk_size is not None else "aspect_ratio:2"
        if method is None:
            return max(1, min(self.batch_chunk_size or samples, samples))
        share = -(-samples // max(1, -(-classes // in_features)))
        factor = int(method.partition(":")[2] or 1)
        size = max(1, min((1 << max(0, share - 1).bit_length()) // factor, samples))
        if self.batch_chunk_size not in (None, size):
            raise ValueError(
                f"batch_chunk_size (={self.batch_chunk_size}) and chunking_method ({method!r}) "
                f"give different chunk sizes ({self.batch_chunk_size} vs {size}); pass only one."
            )
        return size
