"""Video Swin Transformers (https://arxiv.org/abs/2106.13230)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from flambeau import Tensor, fx, nn
from flambeau.nn.functional import pad
from flambeau.vision.models._api import builder
from flambeau.vision.models._init import linear_truncated, start
from flambeau.vision.models._weights import weights_of
from flambeau.vision.models._windows import pair_index, window_attention
from flambeau.vision.models.swin_transformer import (
    PatchMerging,
    ShiftedWindowAttention,
    SwinTransformerBlock,
    make_stages,
)

__all__ = [
    "Swin3D_B_Weights",
    "Swin3D_S_Weights",
    "Swin3D_T_Weights",
    "SwinTransformer3d",
    "swin3d_b",
    "swin3d_s",
    "swin3d_t",
]

Swin3D_T_Weights: Any = weights_of("swin3d_t", "video")
Swin3D_S_Weights: Any = weights_of("swin3d_s", "video")
Swin3D_B_Weights: Any = weights_of("swin3d_b", "video")

_Norm = Callable[..., nn.Module]


def _film_attention(
    input: Tensor,
    qkv_weight: Tensor,
    proj_weight: Tensor,
    relative_position_bias_table: Tensor,
    relative_position_index: Tensor,
    window_size: Sequence[int],
    num_heads: int,
    shift_size: Sequence[int],
    attention_dropout: float = 0.0,
    dropout: float = 0.0,
    qkv_bias: Tensor | None = None,
    proj_bias: Tensor | None = None,
    training: bool = True,
) -> Tensor:
    """Windowed attention in videos (B, T, H, W, C), with smaller windows in a smaller video."""
    sides = input.shape[1:-1]
    window = [min(pair) for pair in zip(window_size, sides, strict=True)]
    places = math.prod(window)
    index = relative_position_index[:places, :places].flatten()
    chosen = relative_position_bias_table[index].view(places, places, -1)
    return window_attention(
        input,
        qkv_weight,
        proj_weight,
        chosen.permute(2, 0, 1).contiguous().unsqueeze(0),
        window,
        num_heads,
        shift_size,
        attention_dropout,
        dropout,
        qkv_bias,
        proj_bias,
        None,
        training,
    )


def _padded(x: Tensor, patch: Sequence[int]) -> Tensor:
    """Pad videos (B, C, T, H, W) to whole patches."""
    missing = [-side % part for side, part in zip(x.shape[2:], patch, strict=True)]
    return pad(x, (0, missing[2], 0, missing[1], 0, missing[0]))


# Their steps depend on shapes: a tracer treats each as one node.
fx.wrap("_padded")
fx.wrap("_film_attention")


class ShiftedWindowAttention3d(ShiftedWindowAttention):
    """Attention within windows of space and time."""

    _fb_sides = 3

    def define_relative_position_index(self) -> None:
        """Compute the index into the table for each pair of positions."""
        self.register_buffer("relative_position_index", pair_index(self.window_size))

    def forward(self, x: Tensor) -> Tensor:
        return _film_attention(
            x,
            self.qkv.weight,
            self.proj.weight,
            self.relative_position_bias_table,
            self.relative_position_index,
            self.window_size,
            self.num_heads,
            shift_size=self.shift_size,
            attention_dropout=self.attention_dropout,
            dropout=self.dropout,
            qkv_bias=self.qkv.bias,
            proj_bias=self.proj.bias,
            training=self.training,
        )


class PatchEmbed3d(nn.Module):
    """Embed patches of a video as vectors, (B, T, H, W, C)."""

    def __init__(
        self,
        patch_size: Sequence[int],
        in_channels: int = 3,
        embed_dim: int = 96,
        norm_layer: _Norm | None = None,
    ) -> None:
        super().__init__()
        self.tuple_patch_size: tuple[int, int, int] = (patch_size[0], patch_size[1], patch_size[2])
        self.proj: nn.Conv3d = nn.Conv3d(
            in_channels,
            embed_dim,
            kernel_size=self.tuple_patch_size,
            stride=self.tuple_patch_size,
        )
        self.norm: nn.Module = nn.Identity() if norm_layer is None else norm_layer(embed_dim)

    def forward(self, x: Tensor) -> Tensor:
        patches: Tensor = self.proj(_padded(x, self.tuple_patch_size))
        return self.norm(patches.permute(0, 2, 3, 4, 1))  # type: ignore[no-any-return]


class SwinTransformer3d(nn.Module):
    """Stages of blocks with downsampling between them."""

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
        num_classes: int = 400,
        norm_layer: _Norm | None = None,
        block: Callable[..., nn.Module] | None = None,
        downsample_layer: Callable[..., nn.Module] = PatchMerging,
        patch_embed: Callable[..., nn.Module] | None = None,
    ) -> None:
        super().__init__()
        self.num_classes = num_classes
        block = block or partial(SwinTransformerBlock, attn_layer=ShiftedWindowAttention3d)
        norm_layer = norm_layer or partial(nn.LayerNorm, eps=1e-5)
        self.patch_embed: nn.Module = (patch_embed or PatchEmbed3d)(
            patch_size=patch_size, embed_dim=embed_dim, norm_layer=norm_layer
        )
        self.pos_drop: nn.Dropout = nn.Dropout(p=dropout)
        layers, width = make_stages(
            partial(block, mlp_ratio=mlp_ratio, dropout=dropout),
            downsample_layer,
            embed_dim,
            depths,
            num_heads,
            window_size,
            attention_dropout,
            stochastic_depth_prob,
            norm_layer,
        )
        self.features: nn.Sequential = nn.Sequential(*layers)
        self.num_features: int = width
        self.norm: nn.Module = norm_layer(width)
        self.avgpool: nn.AdaptiveAvgPool3d = nn.AdaptiveAvgPool3d(1)
        self.head: nn.Linear = nn.Linear(width, num_classes)
        start(self, linear_truncated)

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(self.features(self.pos_drop(self.patch_embed(x))))
        pooled: Tensor = self.avgpool(x.permute(0, 4, 1, 2, 3))
        return self.head(pooled.flatten(1))  # type: ignore[no-any-return]


def _swin3d(width: int, third: int, heads: int, **kwargs: Any) -> SwinTransformer3d:
    return SwinTransformer3d(
        (2, 4, 4),
        width,
        (2, 2, third, 2),
        [heads * 2**i for i in range(4)],
        (8, 7, 7),
        stochastic_depth_prob=kwargs.pop("stochastic_depth_prob", 0.1),
        **kwargs,
    )


@builder(Swin3D_T_Weights, legacy="KINETICS400_V1")
def swin3d_t(**kwargs: Any) -> SwinTransformer3d:
    """Make a tiny Video Swin Transformer."""
    return _swin3d(96, 6, 3, **kwargs)


@builder(Swin3D_S_Weights, legacy="KINETICS400_V1")
def swin3d_s(**kwargs: Any) -> SwinTransformer3d:
    """Make a small Video Swin Transformer."""
    return _swin3d(96, 18, 3, **kwargs)


@builder(Swin3D_B_Weights, legacy="KINETICS400_V1")
def swin3d_b(**kwargs: Any) -> SwinTransformer3d:
    """Make a base Video Swin Transformer."""
    return _swin3d(128, 18, 4, **kwargs)
