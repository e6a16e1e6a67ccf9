"""Which blocks of the matrix of scores a mask lets through."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.nn.attention._modifications import MaskMod, at_every_place, noop_mask, takes_score

_DEFAULT_SPARSE_BLOCK_SIZE = 128
_MORE = """...
To print out more, set BlockMask.to_string(limit=N)
You can also index (BlockMask[batch, head]) to choose a specific batch or head"""
_TENSORS = (
    "kv_num_blocks",
    "kv_indices",
    "full_kv_num_blocks",
    "full_kv_indices",
    "q_num_blocks",
    "q_indices",
    "full_q_num_blocks",
    "full_q_indices",
)


class BlockMask:
    """A mask given by a function, and the blocks of (queries, keys) that it lets through.

    `create_block_mask` makes one. The lists by columns of blocks tell the same as those by rows.

    Args:
        seq_lengths: Number of queries and of keys.
        kv_num_blocks: For each row of blocks, how many of them the mask cuts.
        kv_indices: The columns of those blocks, padded to one length.
        full_kv_num_blocks: For each row of blocks, how many of them it lets through whole.
        full_kv_indices: The columns of those blocks.
        q_num_blocks: The first list, by columns of blocks.
        q_indices: The rows of those blocks.
        full_q_num_blocks: The second list, by columns of blocks.
        full_q_indices: The rows of those blocks.
        BLOCK_SIZE: Queries and keys of a block. Default: (128, 128).
        mask_mod: Function of batch, head, query and key that says whether a pair is let through.
            Default: all are.

    Example:
        >>> from flambeau.nn.attention.flex_attention import create_block_mask
        >>> def causal(b, h, q, kv):
        ...     return q >= kv
        >>> mask = create_block_mask(causal, None, None, 256, 256, device="cpu")
        >>> mask.kv_num_blocks, mask.full_kv_num_blocks
        (tensor([[[1, 1]]], dtype=torch.int32), tensor([[[0, 1]]], dtype=torch.int32))

    See also:
        `nn.attention.flex_attention.flex_attention`.
    """

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None,
        full_kv_indices: Tensor | None,
        q_num_blocks: Tensor | None,
        q_indices: Tensor | None,
        full_q_num_blocks: Tensor | None,
        full_q_indices: Tensor | None,
        BLOCK_SIZE: tuple[int, int] = (_DEFAULT_SPARSE_BLOCK_SIZE, _DEFAULT_SPARSE_BLOCK_SIZE),
        mask_mod: MaskMod = noop_mask,
    ) -> None:
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        self.seq_lengths = seq_lengths
        self.kv_num_blocks = kv_num_blocks
        self.kv_indices = kv_indices
        self.full_kv_num_blocks = full_kv_num_blocks
        self.full_kv_indices = full_kv_indices
        self.q_num_blocks = q_num_blocks
        self.q_indices = q_indices
        self.full_q_num_blocks = full_q_num_blocks
        self.full_q_indices = full_q_indices
        self.BLOCK_SIZE = BLOCK_SIZE
        self.mask_mod = mask_mod

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
        mask_mod: MaskMod | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> BlockMask:
        """A mask from its blocks by rows; those by columns are worked out."""
        if (full_kv_num_blocks is None) != (full_kv_indices is None):
            raise AssertionError(
                "full_kv_num_blocks and full_kv_indices must be both provided or omitted"
            )
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
        if seq_lengths is None:
            seq_lengths = (kv_indices.shape[-2] * size[0], kv_indices.shape[-1] * size[1])
        full_q_num_blocks = full_q_indices = q_num_blocks = q_indices = None
        if compute_q_blocks:
            q_num_blocks, q_indices = _by_columns(kv_num_blocks, kv_indices)
            if full_kv_num_blocks is not None and full_kv_indices is not None:
                full_q_num_blocks, full_q_indices = _by_columns(full_kv_num_blocks, full_kv_indices)
        return cls(
            seq_lengths,
            kv_num_blocks,
            kv_indices,
            full_kv_num_blocks,
            full_kv_indices,
            q_num_blocks,
            q_indices,
            full_q_num_blocks,
            full_q_indices,
            BLOCK_SIZE=size,
            mask_mod=noop_mask if mask_mod is None else mask_mod,
        )

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """Everything that makes up the mask, its function last."""
        lengths = self.seq_lengths if flatten else (self.seq_lengths,)
        sizes = self.BLOCK_SIZE if flatten else (self.BLOCK_SIZE,)
        return (*lengths, *self._tensors().values(), *sizes, self.mask_mod)

    @property
    def shape(self) -> tuple[int, ...]:
        """Batches, heads, queries and keys."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """How many scores there are."""
        count = 1
        for size in self.shape:
            count *= size
        return count

    def sparsity(self) -> float:
        """How many per cent of the scores lie in blocks that nothing gets through."""
        blocks = int(self.kv_num_blocks.sum())
        if self.full_kv_num_blocks is not None:
            blocks += int(self.full_kv_num_blocks.sum())
        return 100 * (1 - blocks * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1] / self.numel())

    def to_dense(self) -> Tensor:
        """One number for every block: 1 if anything gets through."""
        partial = _dense(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is None or self.full_kv_indices is None:
            return partial
        return partial | _dense(self.full_kv_num_blocks, self.full_kv_indices)

    def to(self, device: Any) -> BlockMask:
        """The same on another device."""
        made = copy.copy(self)
        for name, tensor in self._tensors().items():
            setattr(made, name, None if tensor is None else tensor.to(device))
        return made

    def __getitem__(self, index: Any) -> BlockMask:
        """The mask of some batches, heads or rows of blocks; numbers keep their dimension."""
        index = index if isinstance(index, tuple) else (index,)
        sizes = self.kv_num_blocks.shape
        kept = tuple(
            slice(i % sizes[d], i % sizes[d] + 1) if isinstance(i, int) else i
            for d, i in enumerate(index)
        )
        full = None if self.full_kv_num_blocks is None else self.full_kv_num_blocks[kept]
        full_indices = None if self.full_kv_indices is None else self.full_kv_indices[kept]
        return BlockMask.from_kv_blocks(
            self.kv_num_blocks[kept],
            self.kv_indices[kept],
            full,
            full_indices,
            BLOCK_SIZE=self.BLOCK_SIZE,
            seq_lengths=self.seq_lengths,
            compute_q_blocks=self.q_indices is not None,
        )

    def _adjust(self, new_q_len: int, new_kv_len: int) -> BlockMask:
        """The mask of the first queries and keys."""
        rows = -(-new_q_len // self.BLOCK_SIZE[0])
        columns = -(-new_kv_len // self.BLOCK_SIZE[1])
        partial = _dense(self.kv_num_blocks, self.kv_indices)[..., :rows, :columns]
        full: tuple[Tensor | None, Tensor | None] = (None, None)
        if self.full_kv_num_blocks is not None and self.full_kv_indices is not None:
            dense = _dense(self.full_kv_num_blocks, self.full_kv_indices)
            full = _listed(dense[..., :rows, :columns])
        return BlockMask.from_kv_blocks(
            *_listed(partial),
            *full,
            BLOCK_SIZE=self.BLOCK_SIZE,
            mask_mod=self.mask_mod,
            seq_lengths=(new_q_len, new_kv_len),
        )

    def to_string(self, grid_size: int | tuple[int, int] = 20, limit: int = 4) -> str:
        """A picture of up to ``limit`` masks: blocks that are seen dark, where few cells stand for
        many, those seen in part half dark.
        """
        rows, columns = (grid_size, grid_size) if isinstance(grid_size, int) else grid_size
        dense = self.to_dense().float()
        *lead, height, width = dense.shape
        pictures: list[str] = []
        for place, picture in zip(
            itertools.product(*map(range, lead)), dense.reshape(-1, height, width), strict=True
        ):
            if len(pictures) == limit:
                pictures.append(_MORE)
                break
            bands = picture.split(-(-height // rows))
            cells = (band.split(-(-width // columns), 1) for band in bands)
            lines = ("".join(_shade(float(cell.mean())) * 2 for cell in line) for line in cells)
            pictures.append("\n".join([str(place), *lines, ""]))
        return "\n".join(pictures)

    def __str__(self) -> str:
        head = f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n"
        picture = self.to_string().rstrip("\n")
        return f"{head}{picture}\n)"

    def __repr__(self) -> str:
        shapes = (
            f"{name}={None if tensor is None else tensor.shape}"
            for name, tensor in self._tensors().items()
        )
        mask_mod = getattr(self.mask_mod, "__name__", self.mask_mod)
        facts = (
            *shapes,
            f"BLOCK_SIZE={self.BLOCK_SIZE}",
            f"shape={self.shape}",
            f"sparsity={self.sparsity():.2f}%",
            f"mask_mod={mask_mod}",
        )
        return "BlockMask(\n    " + ",\n    ".join(facts) + "\n)"

    def _tensors(self) -> dict[str, Tensor | None]:
        return {name: getattr(self, name) for name in _TENSORS}


def create_mask(
    mod_fn: Callable[..., Tensor],
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
) -> Tensor:
    """The bools that ``mod_fn`` gives for all places; of a score function, where it is not -inf."""
    shape = (1 if B is None else B, 1 if H is None else H, Q_LEN, KV_LEN)
    place = fb.device("cpu" if device is None else device)
    if takes_score(mod_fn):
        scores = at_every_place(mod_fn, fb.zeros(shape, device=place), shape, place)
        return ~scores.isneginf()
    return at_every_place(mod_fn, None, shape, place)


def create_block_mask(
    mask_mod: MaskMod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
    _compile: bool = False,
) -> BlockMask:
    """The `BlockMask` of a function of (batch, head, query, key); None stands for one for all."""
    if not callable(mask_mod):
        raise TypeError(f"create_block_mask: mask_mod must be a function, got {mask_mod!r}")
    size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    rows, columns = size
    whole = (Q_LEN + -Q_LEN % rows, KV_LEN + -KV_LEN % columns)
    padded = mask.new_zeros(*mask.shape[:2], *whole)
    padded[..., :Q_LEN, :KV_LEN] = mask
    blocks = padded.unflatten(-1, (-1, columns)).unflatten(-3, (-1, rows))
    let_through = blocks.transpose(-3, -2).sum((-2, -1))
    full = let_through == rows * columns
    partial = (let_through > 0) & ~full
    return BlockMask.from_kv_blocks(
        *_listed(partial.to(fb.int32)),
        *_listed(full.to(fb.int32)),
        BLOCK_SIZE=size,
        mask_mod=mask_mod,
        seq_lengths=(Q_LEN, KV_LEN),
    )


def _listed(dense: Tensor) -> tuple[Tensor, Tensor]:
    """How many blocks of each row there are, and all columns with those of the blocks in front."""
    indices = dense.argsort(dim=-1, descending=True, stable=True)
    return dense.sum(-1).to(fb.int32), indices.to(fb.int32)


def _by_columns(counts: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    return _listed(_dense(counts, indices).transpose(-2, -1))


def _dense(counts: Tensor, indices: Tensor) -> Tensor:
    """1 for each block in the lists, 0 for the others."""
    columns = indices.shape[-1]
    listed = fb.arange(columns, device=indices.device) < counts.unsqueeze(-1)
    zeros = fb.zeros(indices.shape, dtype=fb.int32, device=indices.device)
    return zeros.scatter(-1, indices.long(), listed.to(fb.int32))


def _shade(share: float) -> str:
    return "█" if share == 1 else " " if share == 0 else "░"
