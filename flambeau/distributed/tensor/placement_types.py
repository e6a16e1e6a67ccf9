"""Where the parts of a tensor lie."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Partial", "Placement", "Replicate", "Shard"]


class Placement:
    """What all of them are."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether processes hold parts, along a dimension or any."""
        return isinstance(self, Shard) and (dim is None or self.dim == dim)

    def is_replicate(self) -> bool:
        """Whether every process holds the whole."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether the whole is a sum, or the like, over the processes."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


class _Extent(NamedTuple):
    size: int
    offset: int


class Shard(Placement):
    """Placement of a tensor of which each process holds a part along a dimension.

    Args:
        dim: The dimension.

    Example:
        >>> from flambeau.distributed.tensor import Shard
        >>> Shard(0).is_shard(), Shard(0).is_replicate()
        (True, False)

    See also:
        `distributed.tensor.Replicate`.
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim

    @staticmethod
    def local_shard_size_and_offset(
        curr_local_size: int, num_chunks: int, rank: int
    ) -> tuple[int, int]:
        """The size and the beginning of the part of one process."""
        length = -(-curr_local_size // num_chunks)
        offset = min(length * rank, curr_local_size)
        return _Extent(min(length, curr_local_size - offset), offset)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.dim == other.dim

    def __hash__(self) -> int:
        return hash((Shard, self.dim))

    def __repr__(self) -> str:
        return f"Shard(dim={self.dim})"


class _StridedShard(Shard):
    """Parts that were divided twice."""

    def __init__(self, dim: int, *, split_factor: int) -> None:
        super().__init__(dim)
        self.split_factor = split_factor


class Replicate(Placement):
    """Placement of a tensor that every process holds as a whole.

    Example:
        >>> from flambeau.distributed.tensor import Replicate
        >>> Replicate().is_replicate()
        True
    """

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Replicate)

    def __hash__(self) -> int:
        return hash(Replicate)

    def __repr__(self) -> str:
        return "Replicate()"


class Partial(Placement):
    """The whole is the sum, or the like, of what the processes hold."""

    def __init__(self, reduce_op: str = "sum") -> None:
        self.reduce_op = reduce_op

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Partial) and self.reduce_op == other.reduce_op

    def __hash__(self) -> int:
        return hash((Partial, self.reduce_op))

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op})"
