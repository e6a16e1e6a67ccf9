"""Multiscale Vision Transformers (https://arxiv.org/abs/2104.11227, v2: .../2112.01526)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import flambeau as fb
from flambeau import Tensor, fx, nn
from flambeau.nn.functional import interpolate
from flambeau.vision.models._api import builder
from flambeau.vision.models._init import constant, linear_truncated, start
from flambeau.vision.models._weights import weights_of
from flambeau.vision.ops.misc import MLP
from flambeau.vision.ops.stochastic_depth import StochasticDepth

__all__ = ["MViT", "MViT_V1_B_Weights", "MViT_V2_S_Weights", "mvit_v1_b", "mvit_v2_s"]

MViT_V1_B_Weights: Any = weights_of("mvit_v1_b", "video")
MViT_V2_S_Weights: Any = weights_of("mvit_v2_s", "video")

_Norm = Callable[..., nn.Module]
_Size = tuple[int, int, int]  # of a video: time, height, width


@dataclass
class MSBlockConfig:
    """The parameters of one block; kernels and strides are empty if nothing is pooled."""

    num_heads: int
    input_channels: int
    output_channels: int
    kernel_q: list[int]
    kernel_kv: list[int]
    stride_q: list[int]
    stride_kv: list[int]


def _as_video(x: Tensor) -> Tensor:
    """Treat images as videos of one frame."""
    return x.unsqueeze(2) if x.ndim == 4 else x


def _add_rel_pos(
    attn: Tensor,
    q: Tensor,
    q_thw: _Size,
    k_thw: _Size,
    rel_pos_h: Tensor,
    rel_pos_w: Tensor,
    rel_pos_t: Tensor,
) -> Tensor:
    """Add relative position biases in time, height and width to scores."""
    batch, heads, _, width = q.shape
    queries = q[:, :, 1:].reshape(batch, heads, *q_thw, width)
    tables = (rel_pos_t, rel_pos_h, rel_pos_w)
    time, down, across = (
        fb.einsum(f"bnthwc,{axis}kc->bnthwk", (queries, _by_pair(table, q_side, k_side)))
        for axis, table, q_side, k_side in zip("thw", tables, q_thw, k_thw, strict=True)
    )
    places = down[..., None, :, None] + across[..., None, None, :] + time[..., :, None, None]
    # The first query and the first key are the class token, which has no position.
    attn[:, :, 1:, 1:].add_(places.reshape(batch, heads, math.prod(q_thw), math.prod(k_thw)))
    return attn


def _by_pair(table: Tensor, queries: int, keys: int) -> Tensor:
    """The row of a table for each pair of a query and a key, (queries, keys, channels)."""
    distances = 2 * max(queries, keys) - 1
    if table.shape[0] != distances:
        table = interpolate(table.t().unsqueeze(0), size=distances, mode="linear")[0].t()
    # The side with fewer positions has them further apart.
    rows = fb.arange(queries, device=table.device)[:, None] * max(keys / queries, 1.0)
    columns = fb.arange(keys, device=table.device) + (1.0 - keys)
    columns = columns * max(queries / keys, 1.0)
    return table[(rows - columns).long()]


def _add_shortcut(x: Tensor, shortcut: Tensor, residual_with_cls_embed: bool) -> Tensor:
    """Add the shortcut to results, optionally without the class token."""
    if residual_with_cls_embed:
        return x.add_(shortcut)
    x[:, :, 1:].add_(shortcut[:, :, 1:])
    return x


# They look at shapes, or change their arguments: a tracer treats each as one node.
fx.wrap("_add_rel_pos")
fx.wrap("_add_shortcut")
fx.wrap("_as_video")


class Pool(nn.Module):
    """Pool all tokens except the first, with normalisation and activation."""

    def __init__(
        self,
        pool: nn.Module,
        norm: nn.Module | None,
        activation: nn.Module | None = None,
        norm_before_pool: bool = False,
    ) -> None:
        super().__init__()
        self.pool = pool
        layers = [layer for layer in (norm, activation) if layer is not None]
        self.norm_act: nn.Sequential | None = nn.Sequential(*layers) if layers else None
        self.norm_before_pool = norm_before_pool

    def forward(self, x: Tensor, thw: _Size) -> tuple[Tensor, _Size]:
        before = self.norm_act if self.norm_before_pool else None
        after = None if self.norm_before_pool else self.norm_act
        token, places = x[..., :1, :], x[..., 1:, :].transpose(-2, -1)
        video = places.flatten(0, -3).unflatten(-1, thw).contiguous()
        video = self.pool(video if before is None else before(video))
        pooled = video.flatten(2).unflatten(0, x.shape[:-2]).transpose(-2, -1)
        x = fb.cat((token, pooled), dim=-2)
        return x if after is None else after(x), _size_after(self.pool, thw)


def _size_after(pool: Any, thw: _Size) -> _Size:
    """Return the size of a video after pooling, from numbers alone, so that tracers know it."""
    time, height, width = (
        (side + 2 * padding - kernel) // stride + 1
        for side, kernel, stride, padding in zip(
            thw, pool.kernel_size, pool.stride, pool.padding, strict=True
        )
    )
    return time, height, width


def _pool_of(
    channels: int, kernel: Sequence[int], stride: Sequence[int], norm_layer: _Norm
) -> Pool | None:
    """Pool by a depthwise convolution, if there is anything to pool."""
    if math.prod(kernel) <= 1 and math.prod(stride) <= 1:
        return None
    convolution = nn.Conv3d(
        channels,
        channels,
        tuple(kernel),
        stride=tuple(stride),
        padding=tuple(side // 2 for side in kernel),
        groups=channels,
        bias=False,
    )
    return Pool(convolution, norm_layer(channels))


class MultiscaleAttention(nn.Module):
    """Attention with pooled queries, keys and values."""

    def __init__(
        self,
        input_size: Sequence[int],
        embed_dim: int,
        output_dim: int,
        num_heads: int,
        kernel_q: Sequence[int],
        kernel_kv: Sequence[int],
        stride_q: Sequence[int],
        stride_kv: Sequence[int],
        residual_pool: bool,
        residual_with_cls_embed: bool,
        rel_pos_embed: bool,
        dropout: float = 0.0,
        norm_layer: _Norm = nn.LayerNorm,
    ) -> None:
        super().__init__()
        self.embed_dim = embed_dim
        self.output_dim = output_dim
        self.num_heads = num_heads
        self.head_dim: int = output_dim // num_heads
        self.scaler: float = 1.0 / math.sqrt(self.head_dim)
        self.residual_pool = residual_pool
        self.residual_with_cls_embed = residual_with_cls_embed
        self.qkv: nn.Linear = nn.Linear(embed_dim, 3 * output_dim)
        layers: list[nn.Module] = [nn.Linear(output_dim, output_dim)]
        if dropout > 0.0:
            layers.append(nn.Dropout(dropout, inplace=True))
        self.project: nn.Sequential = nn.Sequential(*layers)
        self.pool_q: Pool | None = _pool_of(self.head_dim, kernel_q, stride_q, norm_layer)
        self.pool_k: Pool | None = _pool_of(self.head_dim, kernel_kv, stride_kv, norm_layer)
        self.pool_v: Pool | None = _pool_of(self.head_dim, kernel_kv, stride_kv, norm_layer)
        self.rel_pos_h: nn.Parameter | None = None
        self.rel_pos_w: nn.Parameter | None = None
        self.rel_pos_t: nn.Parameter | None = None
        if rel_pos_embed:
            side = max(input_size[1:])
            pooled = [side // stride[1] if stride else side for stride in (stride_q, stride_kv)]
            self.rel_pos_h = self._fb_places(max(pooled))
            self.rel_pos_w = self._fb_places(max(pooled))
            self.rel_pos_t = self._fb_places(input_size[0])

    def _fb_places(self, side: int) -> nn.Parameter:
        table = nn.Parameter(fb.zeros(2 * side - 1, self.head_dim))
        nn.init.trunc_normal_(table, std=0.02)
        return table

    def forward(self, x: Tensor, thw: _Size) -> tuple[Tensor, _Size]:
        mixed: Tensor = self.qkv(x).unflatten(-1, (3, self.num_heads, self.head_dim))
        query, key, value = mixed.transpose(1, 3).unbind(dim=2)
        k_thw = thw
        if self.pool_k is not None:
            key, k_thw = self.pool_k(key, thw)
        if self.pool_v is not None:
            value, _ = self.pool_v(value, thw)
        if self.pool_q is not None:
            query, thw = self.pool_q(query, thw)
        scores = fb.matmul(self.scaler * query, key.transpose(2, 3))
        if self.rel_pos_h is not None and self.rel_pos_w is not None:
            assert self.rel_pos_t is not None
            scores = _add_rel_pos(
                scores, query, thw, k_thw, self.rel_pos_h, self.rel_pos_w, self.rel_pos_t
            )
        result = fb.matmul(scores.softmax(dim=-1), value)
        if self.residual_pool:
            result = _add_shortcut(result, query, self.residual_with_cls_embed)
        return self.project(result.transpose(1, 2).flatten(2)), thw


class MultiscaleBlock(nn.Module):
    """Attention and an MLP; the residual connections are projected and pooled to match."""

    def __init__(
        self,
        input_size: Sequence[int],
        cnf: MSBlockConfig,
        residual_pool: bool,
        residual_with_cls_embed: bool,
        rel_pos_embed: bool,
        proj_after_attn: bool,
        dropout: float = 0.0,
        stochastic_depth_prob: float = 0.0,
        norm_layer: _Norm = nn.LayerNorm,
    ) -> None:
        super().__init__()
        self.proj_after_attn = proj_after_attn
        self.pool_skip: Pool | None = None
        if math.prod(cnf.stride_q) > 1:
            kernel = tuple(step + 1 if step > 1 else step for step in cnf.stride_q)
            padding = tuple(side // 2 for side in kernel)
            self.pool_skip = Pool(nn.MaxPool3d(kernel, tuple(cnf.stride_q), padding), None)
        width = cnf.output_channels if proj_after_attn else cnf.input_channels
        self.norm1: nn.Module = norm_layer(cnf.input_channels)
        self.norm2: nn.Module = norm_layer(width)
        self.needs_transposal: bool = isinstance(self.norm1, nn.BatchNorm1d)
        self.attn: MultiscaleAttention = MultiscaleAttention(
            input_size,
            cnf.input_channels,
            width,
            cnf.num_heads,
            kernel_q=cnf.kernel_q,
            kernel_kv=cnf.kernel_kv,
            stride_q=cnf.stride_q,
            stride_kv=cnf.stride_kv,
            rel_pos_embed=rel_pos_embed,
            residual_pool=residual_pool,
            residual_with_cls_embed=residual_with_cls_embed,
            dropout=dropout,
            norm_layer=norm_layer,
        )
        self.mlp: MLP = MLP(
            width,
            [4 * width, cnf.output_channels],
            activation_layer=nn.GELU,
            dropout=dropout,
            inplace=None,
        )
        self.stochastic_depth: StochasticDepth = StochasticDepth(stochastic_depth_prob, "row")
        self.project: nn.Linear | None = None
        if cnf.input_channels != cnf.output_channels:
            self.project = nn.Linear(cnf.input_channels, cnf.output_channels)

    def _fb_normal(self, norm: nn.Module, x: Tensor) -> Tensor:
        if self.needs_transposal:
            return norm(x.transpose(1, 2)).transpose(1, 2)  # type: ignore[no-any-return]
        return norm(x)  # type: ignore[no-any-return]

    def forward(self, x: Tensor, thw: _Size) -> tuple[Tensor, _Size]:
        normal = self._fb_normal(self.norm1, x)
        attended, new = self.attn(normal, thw)
        if self.project is not None and self.proj_after_attn:
            x = self.project(normal)
        around = x if self.pool_skip is None else self.pool_skip(x, thw)[0]
        x = around + self.stochastic_depth(attended)
        normal = self._fb_normal(self.norm2, x)
        if self.project is not None and not self.proj_after_attn:
            x = self.project(normal)
        return x + self.stochastic_depth(self.mlp(normal)), new


class PositionalEncoding(nn.Module):
    """Prepend a class token, and add absolute positions unless relative ones are used."""

    def __init__(
        self,
        embed_size: int,
        spatial_size: tuple[int, int],
        temporal_size: int,
        rel_pos_embed: bool,
    ) -> None:
        super().__init__()
        self.spatial_size = spatial_size
        self.temporal_size = temporal_size
        self.class_token: nn.Parameter = nn.Parameter(fb.zeros(embed_size))
        self.spatial_pos: nn.Parameter | None = None
        self.temporal_pos: nn.Parameter | None = None
        self.class_pos: nn.Parameter | None = None
        if not rel_pos_embed:
            self.spatial_pos = nn.Parameter(fb.zeros(math.prod(spatial_size), embed_size))
            self.temporal_pos = nn.Parameter(fb.zeros(temporal_size, embed_size))
            self.class_pos = nn.Parameter(fb.zeros(embed_size))

    def forward(self, x: Tensor) -> Tensor:
        token = self.class_token.expand(x.shape[0], 1, -1)
        x = fb.cat((token, x), dim=1)
        if self.spatial_pos is None or self.temporal_pos is None or self.class_pos is None:
            return x
        places = (self.temporal_pos[:, None] + self.spatial_pos[None]).flatten(0, 1)
        return x + fb.cat((self.class_pos[None], places))


class MViT(nn.Module):
    """Blocks that trade resolution for channels, and a linear layer on the class token."""

    def __init__(
        self,
        spatial_size: tuple[int, int],
        temporal_size: int,
        block_setting: Sequence[MSBlockConfig],
        residual_pool: bool,
        residual_with_cls_embed: bool,
        rel_pos_embed: bool,
        proj_after_attn: bool,
        dropout: float = 0.5,
        attention_dropout: float = 0.0,
        stochastic_depth_prob: float = 0.0,
        num_classes: int = 400,
        block: Callable[..., nn.Module] | None = None,
        norm_layer: _Norm | None = None,
        patch_embed_kernel: _Size = (3, 7, 7),
        patch_embed_stride: _Size = (2, 4, 4),
        patch_embed_padding: _Size = (1, 3, 3),
    ) -> None:
        super().__init__()
        settings = list(block_setting)
        if not settings:
            raise ValueError("The configuration parameter can't be empty.")
        block = block or MultiscaleBlock
        norm_layer = norm_layer or partial(nn.LayerNorm, eps=1e-6)
        first, last = settings[0].input_channels, settings[-1].output_channels
        self.conv_proj: nn.Conv3d = nn.Conv3d(
            3, first, patch_embed_kernel, stride=patch_embed_stride, padding=patch_embed_padding
        )
        video = (temporal_size, *spatial_size)
        size = [side // step for side, step in zip(video, patch_embed_stride, strict=True)]
        self.pos_encoding: PositionalEncoding = PositionalEncoding(
            first, (size[1], size[2]), size[0], rel_pos_embed
        )
        self.blocks: nn.ModuleList = nn.ModuleList()
        for i, cnf in enumerate(settings):
            made = block(
                input_size=size,
                cnf=cnf,
                residual_pool=residual_pool,
                residual_with_cls_embed=residual_with_cls_embed,
                rel_pos_embed=rel_pos_embed,
                proj_after_attn=proj_after_attn,
                dropout=attention_dropout,
                stochastic_depth_prob=stochastic_depth_prob * i / (len(settings) - 1.0),
                norm_layer=norm_layer,
            )
            self.blocks.append(made)
            if cnf.stride_q:
                size = [side // step for side, step in zip(size, cnf.stride_q, strict=True)]
        self.norm: nn.Module = norm_layer(last)
        self.head: nn.Sequential = nn.Sequential(
            nn.Dropout(dropout, inplace=True), nn.Linear(last, num_classes)
        )
        start(self, linear_truncated, _layer_norm_unit, _places_truncated)

    def forward(self, x: Tensor) -> Tensor:
        patches: Tensor = self.conv_proj(_as_video(x))
        x = self.pos_encoding(patches.flatten(2).transpose(1, 2))
        places = self.pos_encoding
        thw = (places.temporal_size, *places.spatial_size)
        for block in self.blocks:
            x, thw = block(x, thw)
        return self.head(self.norm(x)[:, 0])  # type: ignore[no-any-return]


def _layer_norm_unit(module: nn.Module) -> None:
    if isinstance(module, nn.LayerNorm):
        constant(module.weight, 1.0)
        constant(module.bias, 0.0)


def _places_truncated(module: nn.Module) -> None:
    if isinstance(module, PositionalEncoding):
        for parameter in module.parameters():
            nn.init.trunc_normal_(parameter, std=0.02)


# Blocks, heads, channels in and out, stride of the queries (0: not pooled) and of the keys.
_FIRST_BASE = (
    (1, 1, 96, 192, 0, 8),
    (1, 2, 192, 192, 2, 4),
    (1, 2, 192, 384, 0, 4),
    (1, 4, 384, 384, 2, 2),
    (9, 4, 384, 384, 0, 2),
    (1, 4, 384, 768, 0, 2),
    (1, 8, 768, 768, 2, 1),
    (1, 8, 768, 768, 0, 1),
)
_SECOND_SMALL = (
    (1, 1, 96, 96, 1, 8),
    (1, 2, 96, 192, 2, 4),
    (1, 2, 192, 192, 1, 4),
    (1, 4, 192, 384, 2, 2),
    (10, 4, 384, 384, 1, 2),
    (1, 8, 384, 768, 2, 1),
    (1, 8, 768, 768, 1, 1),
)
_FILM: dict[str, Any] = {"spatial_size": (224, 224), "temporal_size": 16}


def _settings(table: Sequence[tuple[int, ...]]) -> list[MSBlockConfig]:
    return [
        MSBlockConfig(
            heads,
            before,
            after,
            kernel_q=[3, 3, 3] if queries else [],
            kernel_kv=[3, 3, 3],
            stride_q=[1, queries, queries] if queries else [],
            stride_kv=[1, keys, keys],
        )
        for count, heads, before, after, queries, keys in table
        for _ in range(count)
    ]


def _mvit(table: Sequence[tuple[int, ...]], second: bool, **kwargs: Any) -> MViT:
    fixed = {
        "block_setting": _settings(table),
        "residual_pool": second,
        "residual_with_cls_embed": False,
        "rel_pos_embed": second,
        "proj_after_attn": second,
    }
    return MViT(**{**_FILM, **fixed, "stochastic_depth_prob": 0.2, **kwargs})


@builder(MViT_V1_B_Weights, legacy="KINETICS400_V1", pretrained=_FILM)
def mvit_v1_b(**kwargs: Any) -> MViT:
    """Make a base Multiscale Vision Transformer."""
    return _mvit(_FIRST_BASE, False, **kwargs)


@builder(MViT_V2_S_Weights, legacy="KINETICS400_V1", pretrained=_FILM)
def mvit_v2_s(**kwargs: Any) -> MViT:
    """Make a small Multiscale Vision Transformer v2."""
    return _mvit(_SECOND_SMALL, True, **kwargs)
