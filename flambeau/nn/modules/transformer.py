"""The Transformer and its parts."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import flambeau as fb
import flambeau.nn.functional as F
from flambeau import Tensor
from flambeau.nn.functional._multi_head import canonical_mask
from flambeau.nn.init import xavier_uniform_
from flambeau.nn.modules.activation import GELU, MultiheadAttention, ReLU
from flambeau.nn.modules.container import ModuleList
from flambeau.nn.modules.dropout import Dropout
from flambeau.nn.modules.linear import Linear
from flambeau.nn.modules.module import Module
from flambeau.nn.modules.normalization import LayerNorm

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]

Activation = Callable[[Tensor], Tensor]


class Transformer(Module):
    """Encoder-decoder network of attention layers ("Attention Is All You Need", 2017).

    Args:
        d_model: Number of features. Default: 512.
        nhead: Number of heads of attention. Default: 8.
        num_encoder_layers: Number of layers of the encoder. Default: 6.
        num_decoder_layers: Number of layers of the decoder. Default: 6.
        dim_feedforward: Width of the feed-forward networks. Default: 2048.
        dropout: Probability of dropout. Default: 0.1.
        activation: `"relu"`, `"gelu"` or a function of one tensor. Default: ReLU.
        custom_encoder: Another encoder. Default: `nn.TransformerEncoder`.
        custom_decoder: Another decoder. Default: `nn.TransformerDecoder`.
        layer_norm_eps: `eps` of the layer normalisations. Default: 1e-5.
        batch_first: Whether tensors are (batch, length, features) instead of (length, batch,
            features). Default: False.
        norm_first: Whether to normalise before attention and feed-forward network, not behind
            them. Default: False.
        bias: Whether linear layers and normalisations have biases. Default: True.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Shape (S: source length, T: target length, N: batch, E: d_model):
        - `src`: (S, N, E) or (S, E); (N, S, E) if `batch_first`.
        - `tgt`: (T, N, E), likewise.
        - `src_mask`, `tgt_mask`, `memory_mask`, optional: (S, S), (T, T), (T, S); True forbids a
          pair, numbers are added to its score.
        - `*_key_padding_mask`, optional: (N, length); True leaves a position out.
        - Output: the shape of `tgt`.

    Example:
        >>> model = nn.Transformer(16, nhead=2, num_encoder_layers=1, num_decoder_layers=1)
        >>> mask = nn.Transformer.generate_square_subsequent_mask(5)
        >>> model(torch.randn(7, 3, 16), torch.randn(5, 3, 16), tgt_mask=mask).shape
        torch.Size([5, 3, 16])

    See also:
        `nn.TransformerEncoder`, `nn.TransformerDecoder`, `nn.MultiheadAttention`.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = F.relu,
        custom_encoder: Any | None = None,
        custom_decoder: Any | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        factory = {"device": device, "dtype": dtype}
        layer = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps)
        switches = (batch_first, norm_first, bias)
        if custom_encoder is None:
            self.encoder: Any = TransformerEncoder(
                TransformerEncoderLayer(*layer, *switches, **factory),
                num_encoder_layers,
                LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory),
            )
        else:
            self.encoder = custom_encoder
        if custom_decoder is None:
            self.decoder: Any = TransformerDecoder(
                TransformerDecoderLayer(*layer, *switches, **factory),
                num_decoder_layers,
                LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory),
            )
        else:
            self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        batch_dim = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch_dim) != tgt.size(batch_dim):
            raise RuntimeError(
                "Transformer: the batch number of src and tgt must be equal, "
                f"got the shapes {tuple(src.shape)} and {tuple(tgt.shape)}"
            )
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError(
                "Transformer: the feature number of src and tgt must be equal to d_model "
                f"({self.d_model}), got {src.size(-1)} and {tgt.size(-1)}"
            )
        memory = self.encoder(
            src,
            mask=src_mask,
            src_key_padding_mask=src_key_padding_mask,
            is_causal=src_is_causal,
        )
        output: Tensor = self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )
        return output

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """Mask that hides later positions: -inf above the diagonal, 0 elsewhere.

        Args:
            sz: Number of positions.
            device: Where the mask lives. Default: the current default device.
            dtype: Its element type. Default: the default floating-point type.

        Example:
            >>> nn.Transformer.generate_square_subsequent_mask(3)
            tensor([[0., -inf, -inf],
                    [0., 0., -inf],
                    [0., 0., 0.]])
        """
        return _causal_mask(sz, device, dtype)

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                xavier_uniform_(parameter)


class TransformerEncoder(Module):
    """Stack of encoder layers.

    Args:
        encoder_layer: Layer to copy, as an `nn.TransformerEncoderLayer`.
        num_layers: Number of copies.
        norm: Normalisation behind the last one. Default: none.
        enable_nested_tensor: Whether padded positions are 0 in the result of inference, as where
            PyTorch leaves them out. Default: True.
        mask_check: Whether to do so only where padding is at the end. Default: True.

    Shape:
        - `src`, `mask`, `src_key_padding_mask`: As of `nn.TransformerEncoderLayer`.
        - Output: the shape of `src`.

    Example:
        >>> layer = nn.TransformerEncoderLayer(16, nhead=2, dim_feedforward=32)
        >>> nn.TransformerEncoder(layer, num_layers=2)(torch.randn(7, 3, 16)).shape
        torch.Size([7, 3, 16])

    See also:
        `nn.TransformerEncoderLayer`, `nn.TransformerDecoder`.
    """

    def __init__(
        self,
        encoder_layer: TransformerEncoderLayer,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers: ModuleList = _get_clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.use_nested_tensor: bool = enable_nested_tensor and _takes_nested(encoder_layer)
        self.mask_check = mask_check

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        padding = canonical_mask(
            src_key_padding_mask, "src_key_padding_mask", mask, "mask", src.dtype
        )
        mask = canonical_mask(mask, "mask", None, "", src.dtype)
        is_causal = _is_causal(mask, is_causal, _length(src, self.layers))
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=is_causal, src_key_padding_mask=padding)
        if padding is not None and self._fb_leaves_padding_out(src, padding):
            output = output.masked_fill(padding.unsqueeze(-1) != 0, 0.0)
        return output if self.norm is None else self.norm(output)

    def _fb_leaves_padding_out(self, src: Tensor, padding: Tensor) -> bool:
        if not self.use_nested_tensor or self.training or src.dim() != 3:
            return False
        if fb.is_grad_enabled() and (
            src.requires_grad or any(p.requires_grad for p in self.parameters())
        ):
            return False
        kept = padding == 0
        return not self.mask_check or not bool((kept[:, 1:] & ~kept[:, :-1]).any())


class TransformerDecoder(Module):
    """Stack of decoder layers.

    Args:
        decoder_layer: Layer to copy, as an `nn.TransformerDecoderLayer`.
        num_layers: Number of copies.
        norm: Normalisation behind the last one. Default: none.

    Shape:
        - `tgt`, `memory` and masks: As of `nn.TransformerDecoderLayer`.
        - Output: the shape of `tgt`.

    Example:
        >>> layer = nn.TransformerDecoderLayer(16, nhead=2, dim_feedforward=32)
        >>> decoder = nn.TransformerDecoder(layer, num_layers=2)
        >>> decoder(torch.randn(5, 3, 16), torch.randn(7, 3, 16)).shape
        torch.Size([5, 3, 16])

    See also:
        `nn.TransformerDecoderLayer`, `nn.TransformerEncoder`.
    """

    def __init__(
        self,
        decoder_layer: TransformerDecoderLayer,
        num_layers: int,
        norm: Module | None = None,
    ) -> None:
        super().__init__()
        self.layers: ModuleList = _get_clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        tgt_is_causal = _is_causal(tgt_mask, tgt_is_causal, _length(tgt, self.layers))
        output = tgt
        for layer in self.layers:
            output = layer(
                output,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=tgt_is_causal,
                memory_is_causal=memory_is_causal,
            )
        return output if self.norm is None else self.norm(output)


class TransformerEncoderLayer(Module):
    """Self-attention followed by a feed-forward network, each added to its input and normalised.

    x = norm1(x + attention(x, x, x))
    x = norm2(x + linear2(activation(linear1(x))))

    Args:
        d_model: Number of features.
        nhead: Number of heads of attention.
        dim_feedforward: Width of the feed-forward network. Default: 2048.
        dropout: Probability of dropout. Default: 0.1.
        activation: `"relu"`, `"gelu"` or a function of one tensor. Default: ReLU.
        layer_norm_eps: `eps` of the layer normalisations. Default: 1e-5.
        batch_first: Whether tensors are (batch, length, features) instead of (length, batch,
            features). Default: False.
        norm_first: Whether to normalise before attention and feed-forward network, not behind
            them. Default: False.
        bias: Whether linear layers and normalisations have biases. Default: True.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Shape (S: length, N: batch, E: d_model):
        - `src`: (S, N, E) or (S, E); (N, S, E) if `batch_first`.
        - `src_mask`, optional: (S, S); True forbids a pair, numbers are added to its score.
        - `src_key_padding_mask`, optional: (N, S); True leaves a position out.
        - Output: the shape of `src`.

    Example:
        >>> layer = nn.TransformerEncoderLayer(16, nhead=2, dim_feedforward=32, batch_first=True)
        >>> layer(torch.randn(3, 7, 16)).shape
        torch.Size([3, 7, 16])

    See also:
        `nn.TransformerEncoder`, `nn.MultiheadAttention`.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        factory = {"device": device, "dtype": dtype}
        super().__init__()
        self.self_attn: MultiheadAttention = MultiheadAttention(
            d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **factory
        )
        self.linear1: Linear = Linear(d_model, dim_feedforward, bias=bias, **factory)
        self.dropout: Dropout = Dropout(dropout)
        self.linear2: Linear = Linear(dim_feedforward, d_model, bias=bias, **factory)
        self.norm_first = norm_first
        self.norm1: LayerNorm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
        self.norm2: LayerNorm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
        self.dropout1: Dropout = Dropout(dropout)
        self.dropout2: Dropout = Dropout(dropout)
        self.activation: Activation = _get_activation_fn(activation)
        self.activation_relu_or_gelu: int = _kind_of(self.activation)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        padding = canonical_mask(
            src_key_padding_mask, "src_key_padding_mask", src_mask, "src_mask", src.dtype
        )
        mask = canonical_mask(src_mask, "src_mask", None, "", src.dtype)
        x = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), mask, padding, is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, mask, padding, is_causal))
        return self.norm2(x + self._ff_block(x))  # type: ignore[no-any-return]

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool
    ) -> Tensor:
        return _attended(
            self.self_attn, self.dropout1, x, x, attn_mask, key_padding_mask, is_causal
        )

    def _ff_block(self, x: Tensor) -> Tensor:
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return self.dropout2(x)  # type: ignore[no-any-return]


class TransformerDecoderLayer(Module):
    """Self-attention, attention to the encoder's result, and a feed-forward network.

    x = norm1(x + attention(x, x, x))
    x = norm2(x + attention(x, memory, memory))
    x = norm3(x + linear2(activation(linear1(x))))

    Args:
        d_model: Number of features.
        nhead: Number of heads of attention.
        dim_feedforward: Width of the feed-forward network. Default: 2048.
        dropout: Probability of dropout. Default: 0.1.
        activation: `"relu"`, `"gelu"` or a function of one tensor. Default: ReLU.
        layer_norm_eps: `eps` of the layer normalisations. Default: 1e-5.
        batch_first: Whether tensors are (batch, length, features) instead of (length, batch,
            features). Default: False.
        norm_first: Whether to normalise before attention and feed-forward network, not behind
            them. Default: False.
        bias: Whether linear layers and normalisations have biases. Default: True.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Shape (T: target length, S: source length, N: batch, E: d_model):
        - `tgt`: (T, N, E) or (T, E); (N, T, E) if `batch_first`.
        - `memory`: (S, N, E), likewise.
        - `tgt_mask`, `memory_mask`, optional: (T, T), (T, S); True forbids a pair, numbers are
          added to its score.
        - `tgt_key_padding_mask`, `memory_key_padding_mask`, optional: (N, T), (N, S); True leaves
          a position out.
        - Output: the shape of `tgt`.

    Example:
        >>> layer = nn.TransformerDecoderLayer(16, nhead=2, dim_feedforward=32)
        >>> layer(torch.randn(5, 3, 16), torch.randn(7, 3, 16)).shape
        torch.Size([5, 3, 16])

    See also:
        `nn.TransformerDecoder`, `nn.MultiheadAttention`.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        factory = {"device": device, "dtype": dtype}
        super().__init__()
        self.self_attn: MultiheadAttention = MultiheadAttention(
            d_model, nhead, dropout=dropout, batch_first=batch_first, bias=bias, **factory
        )
        self.multihead_attn: MultiheadAttention = MultiheadAttention(
            d_model, nhead, dropout=dropout, batch_first=batch_first, bias=bias, **factory
        )
        self.linear1: Linear = Linear(d_model, dim_feedforward, bias=bias, **factory)
        self.dropout: Dropout = Dropout(dropout)
        self.linear2: Linear = Linear(dim_feedforward, d_model, bias=bias, **factory)
        self.norm_first = norm_first
        self.norm1: LayerNorm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
        self.norm2: LayerNorm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
        self.norm3: LayerNorm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
        self.dropout1: Dropout = Dropout(dropout)
        self.dropout2: Dropout = Dropout(dropout)
        self.dropout3: Dropout = Dropout(dropout)
        self.activation: Activation = _get_activation_fn(activation)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = (memory_mask, memory_key_padding_mask, memory_is_causal)
        x = tgt
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *own)
            x = x + self._mha_block(self.norm2(x), memory, *other)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, *own))
        x = self.norm2(x + self._mha_block(x, memory, *other))
        return self.norm3(x + self._ff_block(x))  # type: ignore[no-any-return]

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool
    ) -> Tensor:
        return _attended(
            self.self_attn, self.dropout1, x, x, attn_mask, key_padding_mask, is_causal
        )

    def _mha_block(
        self,
        x: Tensor,
        mem: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool,
    ) -> Tensor:
        return _attended(
            self.multihead_attn, self.dropout2, x, mem, attn_mask, key_padding_mask, is_causal
        )

    def _ff_block(self, x: Tensor) -> Tensor:
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return self.dropout3(x)  # type: ignore[no-any-return]


def _attended(
    attention: Module,
    dropout: Module,
    x: Tensor,
    memory: Tensor,
    attn_mask: Tensor | None,
    key_padding_mask: Tensor | None,
    is_causal: bool,
) -> Tensor:
    """What ``x`` sees in ``memory``, before it is added to ``x``."""
    output, _ = attention(
        x,
        memory,
        memory,
        attn_mask=attn_mask,
        key_padding_mask=key_padding_mask,
        need_weights=False,
        is_causal=is_causal,
    )
    return dropout(output)  # type: ignore[no-any-return]


def _get_clones(module: Module, N: int) -> ModuleList:  # names that programs know
    return ModuleList([copy.deepcopy(module) for _ in range(N)])


def _get_activation_fn(activation: str | Activation) -> Activation:
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return F.relu if activation == "relu" else F.gelu


def _kind_of(activation: Activation) -> int:
    """1 for relu, 2 for gelu, 0 for any other."""
    if activation is F.relu or isinstance(activation, ReLU):
        return 1
    return 2 if activation is F.gelu or isinstance(activation, GELU) else 0


def _takes_nested(layer: Module) -> bool:
    """Whether PyTorch leaves padding out of the layers of an encoder."""
    if not isinstance(layer, TransformerEncoderLayer) or layer.norm_first:
        return False
    attention = layer.self_attn
    return (
        attention.batch_first
        and attention._qkv_same_embed_dim
        and attention.in_proj_bias is not None
        and layer.activation_relu_or_gelu > 0
        and layer.norm1.eps == layer.norm2.eps
        and attention.num_heads % 2 == 0
    )


def _causal_mask(size: int, device: Any, dtype: Any) -> Tensor:
    return fb.triu(fb.full((size, size), float("-inf"), device=device, dtype=dtype), diagonal=1)


def _length(x: Tensor, layers: ModuleList) -> int | None:
    """How many positions ``x`` has."""
    if x.dim() == 2:
        return x.shape[0]
    attention = getattr(layers[0], "self_attn", None) if len(layers) else None
    if x.dim() != 3 or attention is None:
        return None
    return x.shape[1] if attention.batch_first else x.shape[0]


def _is_causal(mask: Tensor | None, is_causal: bool | None, size: int | None) -> bool:
    """Whether the mask hides later positions and nothing else, unless the caller knows."""
    if is_causal is not None or mask is None:
        return is_causal is True
    size = mask.size(-2) if size is None else size
    if tuple(mask.shape) != (size, size):
        return False
    return bool((mask == _causal_mask(size, mask.device, mask.dtype)).all())
