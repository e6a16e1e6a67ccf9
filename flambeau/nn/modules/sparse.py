"""Tables whose rows are picked by number."""

from __future__ import annotations

from typing import Any

import flambeau
from flambeau import Tensor
from flambeau.nn import init
from flambeau.nn.functional import embedding, embedding_bag
from flambeau.nn.modules.module import Module
from flambeau.nn.parameter import Parameter

__all__ = ["Embedding", "EmbeddingBag"]


def _wrapped_padding(padding_idx: int | None, num_embeddings: int) -> int | None:
    """The row of padding, counted from the end if negative."""
    if padding_idx is None:
        return None
    if not -num_embeddings <= padding_idx < num_embeddings:
        raise AssertionError(
            f"padding_idx must be within num_embeddings, {num_embeddings}, got {padding_idx}"
        )
    return padding_idx % num_embeddings


class _Table(Module):
    """A table of normal numbers, with zeros in the row of padding."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool
    sparse: bool
    weight: Tensor

    def _fb_make_weight(
        self, given: Tensor | None, frozen: bool, device: Any, dtype: flambeau.dtype | None
    ) -> None:
        shape = (self.num_embeddings, self.embedding_dim)
        if given is None:
            self.weight = Parameter(
                flambeau.empty(shape, device=device, dtype=dtype), requires_grad=not frozen
            )
            self.reset_parameters()
            return
        if tuple(given.shape) != shape:
            raise AssertionError(
                "the shape of the weight does not match num_embeddings and embedding_dim: "
                f"expected {shape}, got {tuple(given.shape)}"
            )
        self.weight = Parameter(given, requires_grad=not frozen)

    def reset_parameters(self) -> None:
        """Draw the table anew; the row of padding is 0."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        if self.padding_idx is not None:
            with flambeau.no_grad():
                self.weight[self.padding_idx].fill_(0)

    def _fb_unusual_options(self) -> str:
        text = ""
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq is not False:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        return text


def _check_table(embeddings: Tensor) -> tuple[int, int]:
    if embeddings.dim() != 2:
        raise AssertionError(
            "embeddings are expected to be a table of 2 dimensions, got the shape "
            f"{tuple(embeddings.shape)}"
        )
    rows, columns = embeddings.shape
    return rows, columns


class Embedding(_Table):
    """Lookup table: replace each index by a learned vector.

    Args:
        num_embeddings: Number of vectors.
        embedding_dim: Size of a vector.
        padding_idx: Index whose vector starts as 0 and gets no gradient. Default: none.
        max_norm: Rows that are used and have a larger norm are scaled down to it, in place.
            Default: no limit.
        norm_type: Order of that norm. Default: 2.
        scale_grad_by_freq: Whether to divide the gradient of a row by the number of its uses in
            the batch. Default: False.
        sparse: Whether the gradient of the table is a sparse tensor. Default: False.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Attributes:
        weight: The vectors, of shape (num_embeddings, embedding_dim), drawn from a standard normal
            distribution.

    Shape:
        - Input: (*), integers between 0 and num_embeddings - 1.
        - Output: (*, embedding_dim).

    Example:
        >>> table = nn.Embedding(10, 4)
        >>> table(torch.tensor([[3, 1, 0], [2, 2, 9]])).shape
        torch.Size([2, 3, 4])
        >>> nn.Embedding(10, 3, padding_idx=0)(torch.tensor([0])).detach()
        tensor([[0., 0., 0.]])

    See also:
        `nn.Embedding.from_pretrained`, `nn.EmbeddingBag`, `nn.functional.embedding`.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: flambeau.dtype | None = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx: int | None = _wrapped_padding(padding_idx, num_embeddings)
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        self._fb_make_weight(_weight, _freeze, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        """The shape of the table, and options that are not as usual."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        text += self._fb_unusual_options()
        if self.sparse is not False:
            text += ", sparse=True"
        return text

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """Make a layer of vectors that exist already.

        Args:
            embeddings: The vectors, one per row.
            freeze: Whether they stay as they are in training. Default: True.
            padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse: As of `nn.Embedding`.

        Example:
            >>> table = nn.Embedding.from_pretrained(torch.tensor([[0.5, 1.5], [2.0, 3.0]]))
            >>> table(torch.tensor([1]))
            tensor([[2., 3.]])
        """
        rows, columns = _check_table(embeddings)
        return cls(
            rows,
            columns,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            _weight=embeddings,
            _freeze=freeze,
        )


class EmbeddingBag(_Table):
    """Sum, mean or maximum of bags of vectors from a lookup table.

    The same as `nn.Embedding` followed by the reduction, without the vectors in between.

    Args:
        num_embeddings: Number of vectors.
        embedding_dim: Size of a vector.
        max_norm: Rows that are used and have a larger norm are scaled down to it, in place.
            Default: no limit.
        norm_type: Order of that norm. Default: 2.
        scale_grad_by_freq: Whether to divide the gradient of a row by the number of its uses in
            the batch. Default: False.
        mode: `"mean"` (the default), `"sum"` or `"max"`.
        sparse: Whether the gradient of the table is a sparse tensor. Default: False.
        include_last_offset: Whether `offsets` ends with the number of indices. Default: False.
        padding_idx: Index that counts for no bag. Default: none.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Attributes:
        weight: The vectors, of shape (num_embeddings, embedding_dim).

    Shape:
        - Input: (B, N), a bag per row; or (N,), with `offsets` (B,), the start of each bag.
        - `per_sample_weights`, for `mode="sum"` only: the shape of the input.
        - Output: (B, embedding_dim).

    Example:
        >>> table = nn.EmbeddingBag(10, 3, mode="sum")
        >>> indices = torch.tensor([3, 1, 0, 2, 9])
        >>> table(indices, offsets=torch.tensor([0, 2])).shape
        torch.Size([2, 3])

    See also:
        `nn.Embedding`, `nn.functional.embedding_bag`.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: flambeau.dtype | None = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx: int | None = _wrapped_padding(padding_idx, num_embeddings)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset
        self._fb_make_weight(_weight, False, device, dtype)

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        return embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        """The shape of the table, and options that are not as usual."""
        text = f"{self.num_embeddings}, {self.embedding_dim}" + self._fb_unusual_options()
        text += f", mode={self.mode!r}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        return text

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """Make a layer of vectors that exist already.

        Args:
            embeddings: The vectors, one per row.
            freeze: Whether they stay as they are in training. Default: True.
            max_norm, norm_type, scale_grad_by_freq, mode, sparse, include_last_offset, padding_idx:
                As of `nn.EmbeddingBag`.

        Example:
            >>> table = nn.EmbeddingBag.from_pretrained(torch.tensor([[1.0, 2.0], [4.0, 5.0]]))
            >>> table(torch.tensor([[0, 1]]))
            tensor([[2.5000, 3.5000]])
        """
        rows, columns = _check_table(embeddings)
        layer = cls(
            rows,
            columns,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            mode,
            sparse,
            embeddings,
            include_last_offset,
            padding_idx,
        )
        layer.weight.requires_grad = not freeze
        return layer
