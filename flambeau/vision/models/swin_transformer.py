"""Swin Transformers (https://arxiv.org/abs/2103.14030), and v2 (https://arxiv.org/abs/2111.09883)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.nn.functional import dropout, linear, normalize, pad
from flambeau.vision.models._api import builder
from flambeau.vision.models._init import constant, start
from flambeau.vision.models._weights import weights_of
from flambeau.vision.ops.misc import MLP, Permute
from flambeau.vision.ops.stochastic_depth import StochasticDepth

__all__ = [
    "SwinTransformer",
    "Swin_B_Weights",
    "Swin_S_Weights",
    "Swin_T_Weights",
    "Swin_V2_B_Weights",
    "Swin_V2_S_Weights",
    "Swin_V2_T_Weights",
    "swin_b",
    "swin_s",
    "swin_t",
    "swin_v2_b",
    "swin_v2_s",
    "swin_v2_t",
]

Swin_T_Weights: Any = weights_of("swin_t")
Swin_S_Weights: Any = weights_of("swin_s")
Swin_B_Weights: Any = weights_of("swin_b")
Swin_V2_T_Weights: Any = weights_of("swin_v2_t")
Swin_V2_S_Weights: Any = weights_of("swin_v2_s")
Swin_V2_B_Weights: Any = weights_of("swin_v2_b")

_Norm = Callable[..., nn.Module]
_APART = -100.0  # added to the score of two pixels that were no neighbours before a shift


def _windows(x: Tensor, size: Sequence[int]) -> Tensor:
    """The windows of images (B, H, W, C), row by row: (windows, pixels, C)."""
    batch, height, width, channels = x.shape
    down, across = size
    cut = x.view(batch, height // down, down, width // across, across, channels)
    return cut.permute(0, 1, 3, 2, 4, 5).reshape(-1, down * across, channels)


def _joined(windows: Tensor, size: Sequence[int], batch: int, height: int, width: int) -> Tensor:
    """Images of their windows."""
    down, across = size
    cut = windows.view(batch, height // down, width // across, down, across, -1)
    return cut.permute(0, 1, 3, 2, 4, 5).reshape(batch, height, width, -1)


def _shift_mask(height: int, width: int, size: Sequence[int], shift: Sequence[int]) -> Tensor:
    """What is added to the scores of each window so that only old neighbours see each other."""
    regions = fb.zeros(1, height, width, 1)
    number = 0
    for rows in _parts(size[0], shift[0]):
        for columns in _parts(size[1], shift[1]):
            regions[:, rows, columns] = number
            number += 1
    windows = _windows(regions, size).squeeze(-1)
    apart = windows.unsqueeze(1) != windows.unsqueeze(2)
    return fb.zeros(apart.shape).masked_fill(apart, _APART)


def _parts(size: int, shift: int) -> list[slice]:
    return [slice(0, -size), slice(-size, -shift), slice(-shift, None)]


class ShiftedWindowAttention(nn.Module):
    """Attention within windows, which may lie across those of the layer before."""

    def __init__(
        self,
        dim: int,
        window_size: Sequence[int],
        shift_size: Sequence[int],
        num_heads: int,
        qkv_bias: bool = True,
        proj_bias: bool = True,
        attention_dropout: float = 0.0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.window_size: list[int] = list(window_size)
        self.shift_size: list[int] = list(shift_size)
        self.num_heads = num_heads
        self.attention_dropout = attention_dropout
        self.dropout = dropout
        self.qkv: nn.Linear = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.proj: nn.Linear = nn.Linear(dim, dim, bias=proj_bias)
        self.relative_position_index: Tensor
        self._define_biases()
        self.register_buffer("relative_position_index", self._index())

    def _define_biases(self) -> None:
        down, across = self.window_size
        table = fb.zeros((2 * down - 1) * (2 * across - 1), self.num_heads)
        self.relative_position_bias_table: nn.Parameter = nn.Parameter(table)
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)

    def _index(self) -> Tensor:
        """Which row of the table each pair of pixels has."""
        down, across = self.window_size
        rows, columns = (
            axis.flatten()
            for axis in fb.meshgrid(fb.arange(down), fb.arange(across), indexing="ij")
        )
        below = rows[:, None] - rows + down - 1
        beside = columns[:, None] - columns + across - 1
        return (below * (2 * across - 1) + beside).flatten()

    def _biases(self) -> Tensor:
        """What the places of two pixels add to their score, (1, heads, pixels, pixels)."""
        return self._by_pair(self.relative_position_bias_table)

    def _by_pair(self, table: Tensor) -> Tensor:
        pixels = self.window_size[0] * self.window_size[1]
        chosen = table[self.relative_position_index].view(pixels, pixels, -1)
        return chosen.permute(2, 0, 1).contiguous().unsqueeze(0)

    def _qkv_bias(self) -> Tensor | None:
        return self.qkv.bias

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        return fb.matmul(query * query.shape[-1] ** -0.5, key.transpose(-2, -1))

    def forward(self, x: Tensor) -> Tensor:
        batch, height, width, _ = x.shape
        size = self.window_size
        right, bottom = -width % size[1], -height % size[0]
        x = pad(x, (0, 0, 0, right, 0, bottom))
        full = (height + bottom, width + right)
        # A window that holds the whole image has no neighbours to look at.
        shift = [0 if size[i] >= full[i] else self.shift_size[i] for i in range(2)]
        if any(shift):
            x = fb.roll(x, shifts=(-shift[0], -shift[1]), dims=(1, 2))
        attended = self._attend(_windows(x, size), batch, full, shift)
        x = _joined(attended, size, batch, *full)
        if any(shift):
            x = fb.roll(x, shifts=(shift[0], shift[1]), dims=(1, 2))
        return x[:, :height, :width, :].contiguous()

    def _attend(
        self, windows: Tensor, batch: int, full: tuple[int, int], shift: list[int]
    ) -> Tensor:
        count, pixels, channels = windows.shape
        mixed = linear(windows, self.qkv.weight, self._qkv_bias())
        mixed = mixed.view(count, pixels, 3, self.num_heads, channels // self.num_heads)
        query, key, value = mixed.permute(2, 0, 3, 1, 4)
        scores = self._scores(query, key) + self._biases()
        if any(shift):
            mask = _shift_mask(*full, self.window_size, shift)
            per_image = scores.view(batch, -1, self.num_heads, pixels, pixels)
            scores = (per_image + mask[None, :, None]).view(scores.shape)
        weights = dropout(scores.softmax(-1), p=self.attention_dropout, training=self.training)
        result = (weights @ value).transpose(1, 2).reshape(count, pixels, channels)
        return dropout(self.proj(result), p=self.dropout, training=self.training)


class ShiftedWindowAttentionV2(ShiftedWindowAttention):
    """The same by cosines, with biases that a small network makes of distances."""

    def __init__(
        self,
        dim: int,
        window_size: Sequence[int],
        shift_size: Sequence[int],
        num_heads: int,
        qkv_bias: bool = True,
        proj_bias: bool = True,
        attention_dropout: float = 0.0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(
            dim,
            window_size,
            shift_size,
            num_heads,
            qkv_bias,
            proj_bias,
            attention_dropout,
            dropout,
        )
        self.logit_scale: nn.Parameter = nn.Parameter(fb.log(10 * fb.ones(num_heads, 1, 1)))
        self.cpb_mlp: nn.Sequential = nn.Sequential(
            nn.Linear(2, 512, bias=True),
            nn.ReLU(inplace=True),
            nn.Linear(512, num_heads, bias=False),
        )

    def _define_biases(self) -> None:
        down, across = self.window_size
        rows, columns = (
            fb.arange(-(side - 1), side, dtype=fb.float32) / (side - 1) * 8
            for side in (down, across)
        )
        steps = fb.stack(fb.meshgrid(rows, columns, indexing="ij"), -1).unsqueeze(0)
        table = steps.sign() * fb.log2(steps.abs() + 1.0) / 3.0
        self.relative_coords_table: Tensor
        self.register_buffer("relative_coords_table", table)

    def _biases(self) -> Tensor:
        table: Tensor = self.cpb_mlp(self.relative_coords_table)
        return 16 * self._by_pair(table.view(-1, self.num_heads)).sigmoid()

    def _qkv_bias(self) -> Tensor | None:
        """Keys have none: it would not change a cosine's order."""
        if self.qkv.bias is None:
            return None
        query, _, value = self.qkv.bias.chunk(3)
        return fb.cat((query, fb.zeros_like(query), value))

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        scale = self.logit_scale.clamp(max=math.log(100.0)).exp()
        return normalize(query, dim=-1) @ normalize(key, dim=-1).transpose(-2, -1) * scale


class PatchMerging(nn.Module):
    """Four pixels as one with twice the channels."""

    def __init__(self, dim: int, norm_layer: _Norm) -> None:
        super().__init__()
        self.dim = dim
        self.reduction: nn.Linear = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm: nn.Module = norm_layer(4 * dim)

    def forward(self, x: Tensor) -> Tensor:
        return self.reduction(self.norm(_four_as_one(x)))  # type: ignore[no-any-return]


class PatchMergingV2(nn.Module):
    """The same, normalised afterwards."""

    def __init__(self, dim: int, norm_layer: _Norm) -> None:
        super().__init__()
        self.dim = dim
        self.reduction: nn.Linear = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm: nn.Module = norm_layer(2 * dim)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.reduction(_four_as_one(x)))  # type: ignore[no-any-return]


def _four_as_one(x: Tensor) -> Tensor:
    height, width = x.shape[-3:-1]
    x = pad(x, (0, 0, 0, width % 2, 0, height % 2))
    corners = ((0, 0), (1, 0), (0, 1), (1, 1))
    return fb.cat([x[..., row::2, column::2, :] for row, column in corners], -1)


class SwinTransformerBlock(nn.Module):
    """Attention and a perceptron, each with a normalisation before and a way around."""

    _attention: type[ShiftedWindowAttention] = ShiftedWindowAttention

    def __init__(
        self,
        dim: int,
        num_heads: int,
        window_size: Sequence[int],
        shift_size: Sequence[int],
        mlp_ratio: float = 4.0,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        stochastic_depth_prob: float = 0.0,
        norm_layer: _Norm = nn.LayerNorm,
    ) -> None:
        super().__init__()
        self.norm1: nn.Module = norm_layer(dim)
        self.attn: ShiftedWindowAttention = self._attention(
            dim,
            window_size,
            shift_size,
            num_heads,
            attention_dropout=attention_dropout,
            dropout=dropout,
        )
        self.stochastic_depth: StochasticDepth = StochasticDepth(stochastic_depth_prob, "row")
        self.norm2: nn.Module = norm_layer(dim)
        inner = int(dim * mlp_ratio)
        self.mlp: MLP = MLP(
            dim, [inner, dim], activation_layer=nn.GELU, inplace=None, dropout=dropout
        )
        for module in self.mlp.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.normal_(module.bias, std=1e-6)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.stochastic_depth(self.attn(self.norm1(x)))
        return x + self.stochastic_depth(self.mlp(self.norm2(x)))  # type: ignore[no-any-return]


class SwinTransformerBlockV2(SwinTransformerBlock):
    """The same with the normalisations afterwards."""

    _attention = ShiftedWindowAttentionV2

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.stochastic_depth(self.norm1(self.attn(x)))
        return x + self.stochastic_depth(self.norm2(self.mlp(x)))  # type: ignore[no-any-return]


class SwinTransformer(nn.Module):
    """Stages of blocks with smaller images between them."""

    def __init__(
        self,
        patch_size: Sequence[int],
        embed_dim: int,
        depths: Sequence[int],
        num_heads: Sequence[int],
        window_size: Sequence[int],
        mlp_ratio: float = 4.0,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        stochastic_depth_prob: float = 0.1,
        num_classes: int = 1000,
        norm_layer: _Norm | None = None,
        block: Callable[..., nn.Module] | None = None,
        downsample_layer: Callable[..., nn.Module] = PatchMerging,
    ) -> None:
        super().__init__()
        self.num_classes = num_classes
        block = block or SwinTransformerBlock
        norm_layer = norm_layer or partial(nn.LayerNorm, eps=1e-5)
        patch = (patch_size[0], patch_size[1])
        layers: list[nn.Module] = [
            nn.Sequential(
                nn.Conv2d(3, embed_dim, kernel_size=patch, stride=patch),
                Permute([0, 2, 3, 1]),
                norm_layer(embed_dim),
            )
        ]
        total, done, width = sum(depths), 0, embed_dim
        for number, (depth, heads) in enumerate(zip(depths, num_heads, strict=True), 1):
            blocks = [
                block(
                    width,
                    heads,
                    window_size=window_size,
                    shift_size=[0 if i % 2 == 0 else side // 2 for side in window_size],
                    mlp_ratio=mlp_ratio,
                    dropout=dropout,
                    attention_dropout=attention_dropout,
                    stochastic_depth_prob=stochastic_depth_prob * float(done + i) / (total - 1),
                    norm_layer=norm_layer,
                )
                for i in range(depth)
            ]
            done += depth
            layers.append(nn.Sequential(*blocks))
            if number < len(depths):
                layers.append(downsample_layer(width, norm_layer))
                width *= 2
        self.features: nn.Sequential = nn.Sequential(*layers)
        self.norm: nn.LayerNorm | nn.Module = norm_layer(width)
        self.permute: Permute = Permute([0, 3, 1, 2])
        self.avgpool: nn.AdaptiveAvgPool2d = nn.AdaptiveAvgPool2d(1)
        self.flatten: nn.Flatten = nn.Flatten(1)
        self.head: nn.Linear = nn.Linear(width, num_classes)
        start(self, _truncated)

    def forward(self, x: Tensor) -> Tensor:
        x = self.permute(self.norm(self.features(x)))
        return self.head(self.flatten(self.avgpool(x)))  # type: ignore[no-any-return]


def _truncated(module: nn.Module) -> None:
    if isinstance(module, nn.Linear):
        nn.init.trunc_normal_(module.weight, std=0.02)
        constant(module.bias, 0.0)


def _swin(
    width: int, third: int, heads: int, probability: float, window: int = 7, **kwargs: Any
) -> SwinTransformer:
    return SwinTransformer(
        (4, 4),
        width,
        (2, 2, third, 2),
        [heads * 2**i for i in range(4)],
        (window, window),
        stochastic_depth_prob=kwargs.pop("stochastic_depth_prob", probability),
        **kwargs,
    )


_SECOND: dict[str, Any] = {
    "window": 8,
    "block": SwinTransformerBlockV2,
    "downsample_layer": PatchMergingV2,
}


@builder(Swin_T_Weights)
def swin_t(**kwargs: Any) -> SwinTransformer:
    """Make a tiny Swin Transformer."""
    return _swin(96, 6, 3, 0.2, **kwargs)


@builder(Swin_S_Weights)
def swin_s(**kwargs: Any) -> SwinTransformer:
    """Make a small Swin Transformer."""
    return _swin(96, 18, 3, 0.3, **kwargs)


@builder(Swin_B_Weights)
def swin_b(**kwargs: Any) -> SwinTransformer:
    """Make a base Swin Transformer."""
    return _swin(128, 18, 4, 0.5, **kwargs)


@builder(Swin_V2_T_Weights)
def swin_v2_t(**kwargs: Any) -> SwinTransformer:
    """Make a tiny Swin Transformer v2."""
    return _swin(96, 6, 3, 0.2, **_SECOND, **kwargs)


@builder(Swin_V2_S_Weights)
def swin_v2_s(**kwargs: Any) -> SwinTransformer:
    """Make a small Swin Transformer v2."""
    return _swin(96, 18, 3, 0.3, **_SECOND, **kwargs)


@builder(Swin_V2_B_Weights)
def swin_v2_b(**kwargs: Any) -> SwinTransformer:
    """Make a base Swin Transformer v2."""
    return _swin(128, 18, 4, 0.5, **_SECOND, **kwargs)
