"""Batches of sequences of different lengths: padded to one length, or packed without padding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import flambeau
from flambeau import Tensor
from flambeau._C import _pack_padded_sequence, _pad_packed_sequence, _pad_sequence

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class PackedSequence_(NamedTuple):
    """The fields of `PackedSequence`."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(PackedSequence_):
    """Sequences of different lengths, stored step by step without padding.

    Made by `pack_padded_sequence` and `pack_sequence`, read by `nn.RNN`, `nn.GRU` and `nn.LSTM`.

    Args:
        data: Elements of all samples at step 0, then those at step 1, and so on.
        batch_sizes: Number of samples that have each step.
        sorted_indices: Order of the samples by decreasing length.
        unsorted_indices: Its inverse.

    Example:
        >>> from flambeau.nn.utils.rnn import pack_sequence
        >>> a, b = torch.tensor([1, 2, 3]), torch.tensor([4])
        >>> pack_sequence([a, b]).data
        tensor([1, 4, 2, 3])

    See also:
        `nn.utils.rnn.pad_packed_sequence`.
    """

    def __new__(
        cls,
        data: Any,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> Self:
        if batch_sizes is None:
            if not isinstance(data, list | tuple) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        elif batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be "
                "created manually: they come from pack_sequence() and pack_padded_sequence()"
            )
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert the data as `Tensor.to` does; the indices follow to another device."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        device = data.device
        return type(self)(
            data,
            self.batch_sizes,
            None if self.sorted_indices is None else self.sorted_indices.to(device),
            None if self.unsorted_indices is None else self.unsorted_indices.to(device),
        )

    def cuda(self, *args: Any, **kwargs: Any) -> Self:
        """Move the data to a GPU."""
        if not args and "device" not in kwargs:
            kwargs["device"] = "cuda"
        return self.to(*args, **kwargs)

    def cpu(self, *args: Any, **kwargs: Any) -> Self:
        """Move the data to the CPU."""
        return self.to(*args, device="cpu", **kwargs)

    def double(self) -> Self:
        """Convert the data to float64."""
        return self.to(dtype=flambeau.double)

    def float(self) -> Self:
        """Convert the data to float32."""
        return self.to(dtype=flambeau.float)

    def half(self) -> Self:
        """Convert the data to float16."""
        return self.to(dtype=flambeau.half)

    def long(self) -> Self:
        """Convert the data to int64."""
        return self.to(dtype=flambeau.long)

    def int(self) -> Self:
        """Convert the data to int32."""
        return self.to(dtype=flambeau.int)

    def short(self) -> Self:
        """Convert the data to int16."""
        return self.to(dtype=flambeau.short)

    def char(self) -> Self:
        """Convert the data to int8."""
        return self.to(dtype=flambeau.int8)

    def byte(self) -> Self:
        """Convert the data to uint8."""
        return self.to(dtype=flambeau.uint8)

    def is_pinned(self) -> bool:
        """Whether a GPU can read the data's memory."""
        return self.data.is_pinned()

    @property
    def is_cuda(self) -> bool:
        """Whether the data are on a GPU."""
        return self.data.is_cuda


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Return the permutation that undoes this one."""
    if permutation is None:
        return None
    output = flambeau.empty_like(permutation)
    return output.scatter_(
        0, permutation, flambeau.arange(permutation.numel(), device=permutation.device)
    )


def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor | Sequence[int],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Pack a padded batch, so that recurrent networks skip the padding.

    Args:
        input: Padded sequences, (length, batch, *).
        lengths: Length of each sequence.
        batch_first: Whether `input` is (batch, length, *). Default: False.
        enforce_sorted: Whether sequences must come in the order of decreasing length; False sorts
            them. Default: True.

    Returns:
        A `PackedSequence`.

    Example:
        >>> from flambeau.nn.utils.rnn import pack_padded_sequence
        >>> x = torch.tensor([[1, 2, 3], [4, 0, 0]])
        >>> pack_padded_sequence(x, [3, 1], batch_first=True).data
        tensor([1, 4, 2, 3])

    See also:
        `nn.utils.rnn.pad_packed_sequence`.
    """
    if not isinstance(lengths, Tensor):
        lengths = flambeau.tensor(list(lengths), dtype=flambeau.int64)
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = flambeau.sort(lengths, descending=True)
        sorted_indices = sorted_indices.to(input.device)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    data, batch_sizes = _pack_padded_sequence(input, lengths, batch_first)
    return PackedSequence(data, batch_sizes, sorted_indices)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Unpack a `PackedSequence` to a padded batch, in the original order.

    Args:
        sequence: The packed sequences.
        batch_first: Whether the result is (batch, length, *). Default: False.
        padding_value: Value of the padding. Default: 0.
        total_length: Length to pad to. Default: the longest.

    Returns:
        A pair: the padded batch, and the length of each sequence.

    Example:
        >>> from flambeau.nn.utils.rnn import pack_sequence, pad_packed_sequence
        >>> a, b = torch.tensor([1, 2, 3]), torch.tensor([4])
        >>> pad_packed_sequence(pack_sequence([a, b]), batch_first=True)
        (tensor([[1, 2, 3],
                [4, 0, 0]]), tensor([3, 1]))
    """
    steps = sequence.batch_sizes.size(0)
    if total_length is not None and total_length < steps:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, "
            f"but got total_length={total_length} and max sequence length being {steps}"
        )
    padded, lengths = _pad_packed_sequence(
        sequence.data, sequence.batch_sizes, batch_first, padding_value, total_length or steps
    )
    if sequence.unsorted_indices is None:
        return padded, lengths
    batch_dim = 0 if batch_first else 1
    order = sequence.unsorted_indices
    return padded.index_select(batch_dim, order), lengths[order.cpu()]


def pad_sequence(
    sequences: Tensor | Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Stack sequences of different lengths, padded to the longest.

    Args:
        sequences: Tensors (length, *).
        batch_first: Whether the result is (batch, length, *) instead of (length, batch, *).
            Default: False.
        padding_value: Value of the padding. Default: 0.
        padding_side: `"right"` (the default) or `"left"`.

    Example:
        >>> from flambeau.nn.utils.rnn import pad_sequence
        >>> a, b = torch.tensor([1, 2, 3]), torch.tensor([4])
        >>> pad_sequence([a, b], batch_first=True)
        tensor([[1, 2, 3],
                [4, 0, 0]])

    See also:
        `nn.utils.rnn.pack_padded_sequence`, `nn.utils.rnn.unpad_sequence`.
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    return _pad_sequence(list(sequences), batch_first, padding_value, padding_side)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """Return the sequences of a padded batch, each with its own length.

    Args:
        padded_sequences: Padded batch, (length, batch, *).
        lengths: Length of each sequence.
        batch_first: Whether the batch is (batch, length, *). Default: False.

    Example:
        >>> from flambeau.nn.utils.rnn import pad_sequence, unpad_sequence
        >>> a, b = torch.tensor([1, 2, 3]), torch.tensor([4])
        >>> unpad_sequence(pad_sequence([a, b]), torch.tensor([3, 1]))
        [tensor([1, 2, 3]), tensor([4])]
    """
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [
        sequence[:length]
        for sequence, length in zip(padded_sequences, lengths.tolist(), strict=False)
    ]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of different lengths.

    Args:
        sequences: Tensors (length, *).
        enforce_sorted: Whether they must come in the order of decreasing length; False sorts them.
            Default: True.

    Returns:
        A `PackedSequence`.

    Example:
        >>> from flambeau.nn.utils.rnn import pack_sequence
        >>> a, b = torch.tensor([1, 2, 3]), torch.tensor([4])
        >>> pack_sequence([a, b]).batch_sizes
        tensor([2, 1, 1])
    """
    lengths = [sequence.size(0) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Return the sequences that were packed.

    Args:
        packed_sequences: The packed sequences.

    Example:
        >>> from flambeau.nn.utils.rnn import pack_sequence, unpack_sequence
        >>> a, b = torch.tensor([1, 2, 3]), torch.tensor([4])
        >>> unpack_sequence(pack_sequence([a, b]))
        [tensor([1, 2, 3]), tensor([4])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
