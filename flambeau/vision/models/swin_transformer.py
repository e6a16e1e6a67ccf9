"""Swin Transformers (https://arxiv.org/abs/2103.14030), and v2 (https://arxiv.org/abs/2111.09883)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import flambeau as fb
from flambeau import Tensor, fx, nn
from flambeau.nn.functional import pad
from flambeau.vision.models._api import family
from flambeau.vision.models._init import linear_truncated, start
from flambeau.vision.models._weights import weights_of
from flambeau.vision.models._windows import pair_index, window_attention
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


def _get_relative_position_bias(
    relative_position_bias_table: Tensor,
    relative_position_index: Tensor,
    window_size: Sequence[int],
) -> Tensor:
    """The relative position bias of two pixels, (1, heads, pixels, pixels)."""
    pixels = math.prod(window_size)
    chosen = relative_position_bias_table[relative_position_index].view(pixels, pixels, -1)
    return chosen.permute(2, 0, 1).contiguous().unsqueeze(0)


def shifted_window_attention(
    input: Tensor,
    qkv_weight: Tensor,
    proj_weight: Tensor,
    relative_position_bias: Tensor,
    window_size: Sequence[int],
    num_heads: int,
    shift_size: Sequence[int],
    attention_dropout: float = 0.0,
    dropout: float = 0.0,
    qkv_bias: Tensor | None = None,
    proj_bias: Tensor | None = None,
    logit_scale: Tensor | None = None,
    training: bool = True,
) -> Tensor:
    """Windowed attention in images (B, H, W, C); with a ``logit_scale`` that of v2."""
    return window_attention(
        input,
        qkv_weight,
        proj_weight,
        relative_position_bias,
        window_size,
        num_heads,
        shift_size,
        attention_dropout,
        dropout,
        qkv_bias,
        proj_bias,
        logit_scale,
        training,
    )


def _patch_merging_pad(x: Tensor) -> Tensor:
    """Gather 2 × 2 pixels into the channels of one."""
    height, width = x.shape[-3:-1]
    x = pad(x, (0, 0, 0, width % 2, 0, height % 2))
    corners = ((0, 0), (1, 0), (0, 1), (1, 1))
    return fb.cat([x[..., row::2, column::2, :] for row, column in corners], -1)


# Their steps depend on shapes: a tracer treats each as one node.
fx.wrap("_get_relative_position_bias")
fx.wrap("_patch_merging_pad")
fx.wrap("shifted_window_attention")


class ShiftedWindowAttention(nn.Module):
    """Windowed attention, optionally with shifted windows."""

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
        self._fb_check(window_size, shift_size)
        self.window_size: list[int] = list(window_size)
        self.shift_size: list[int] = list(shift_size)
        self.num_heads = num_heads
        self.attention_dropout = attention_dropout
        self.dropout = dropout
        self.qkv: nn.Linear = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.proj: nn.Linear = nn.Linear(dim, dim, bias=proj_bias)
        self.relative_position_index: Tensor
        self.define_relative_position_bias_table()
        self.define_relative_position_index()

    _fb_sides = 2

    def _fb_check(self, window_size: Sequence[int], shift_size: Sequence[int]) -> None:
        if len(window_size) != self._fb_sides or len(shift_size) != self._fb_sides:
            raise ValueError(
                f"window_size and shift_size must be of length {self._fb_sides}, got "
                f"{list(window_size)} and {list(shift_size)}"
            )

    def define_relative_position_bias_table(self) -> None:
        """Make a bias for each relative position."""
        table = fb.zeros(math.prod(2 * side - 1 for side in self.window_size), self.num_heads)
        self.relative_position_bias_table: nn.Parameter = nn.Parameter(table)
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)

    def define_relative_position_index(self) -> None:
        """Compute the index into the table for each pair of positions."""
        self.register_buffer("relative_position_index", pair_index(self.window_size).flatten())

    def get_relative_position_bias(self) -> Tensor:
        """Return the relative position bias."""
        return _get_relative_position_bias(
            self.relative_position_bias_table, self.relative_position_index, self.window_size
        )

    def forward(self, x: Tensor) -> Tensor:
        return self._fb_attend(x, None)

    def _fb_attend(self, x: Tensor, logit_scale: Tensor | None) -> Tensor:
        biases = self.get_relative_position_bias()
        return shifted_window_attention(
            x,
            self.qkv.weight,
            self.proj.weight,
            biases,
            self.window_size,
            self.num_heads,
            shift_size=self.shift_size,
            attention_dropout=self.attention_dropout,
            dropout=self.dropout,
            qkv_bias=self.qkv.bias,
            proj_bias=self.proj.bias,
            logit_scale=logit_scale,
            training=self.training,
        )


class ShiftedWindowAttentionV2(ShiftedWindowAttention):
    """Windowed attention of v2: cosine similarity, and biases computed by a small network."""

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

    def define_relative_position_bias_table(self) -> None:
        """Compute the coordinates that biases are made of, on a logarithmic scale."""
        rows, columns = (
            fb.arange(-(side - 1), side, dtype=fb.float32) / (side - 1) * 8
            for side in self.window_size
        )
        steps = fb.stack(fb.meshgrid(rows, columns, indexing="ij"), -1).unsqueeze(0)
        table = steps.sign() * fb.log2(steps.abs() + 1.0) / 3.0
        self.relative_coords_table: Tensor
        self.register_buffer("relative_coords_table", table)

    def get_relative_position_bias(self) -> Tensor:
        """Return the relative position bias."""
        table: Tensor = self.cpb_mlp(self.relative_coords_table)
        biases = _get_relative_position_bias(
            table.view(-1, self.num_heads), self.relative_position_index, self.window_size
        )
        return 16 * biases.sigmoid()

    def forward(self, x: Tensor) -> Tensor:
        return self._fb_attend(x, self.logit_scale)


class PatchMerging(nn.Module):
    """Merge 2 × 2 pixels into one with twice the channels."""

    def __init__(self, dim: int, norm_layer: _Norm = nn.LayerNorm) -> None:
        super().__init__()
        self.dim = dim
        self.reduction: nn.Linear = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm: nn.Module = norm_layer(4 * dim)

    def forward(self, x: Tensor) -> Tensor:
        return self.reduction(self.norm(_patch_merging_pad(x)))  # type: ignore[no-any-return]


class PatchMergingV2(nn.Module):
    """The same, normalised afterwards."""

    def __init__(self, dim: int, norm_layer: _Norm = nn.LayerNorm) -> None:
        super().__init__()
        self.dim = dim
        self.reduction: nn.Linear = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm: nn.Module = norm_layer(2 * dim)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.reduction(_patch_merging_pad(x)))  # type: ignore[no-any-return]


class SwinTransformerBlock(nn.Module):
    """Pre-norm transformer block: attention and an MLP, each with a residual connection."""

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
        attn_layer: Callable[..., nn.Module] = ShiftedWindowAttention,
    ) -> None:
        super().__init__()
        self.norm1: nn.Module = norm_layer(dim)
        self.attn: nn.Module = attn_layer(
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
    """Post-norm transformer block of v2."""

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
        attn_layer: Callable[..., nn.Module] = ShiftedWindowAttentionV2,
    ) -> None:
        super().__init__(
            dim,
            num_heads,
            window_size,
            shift_size,
            mlp_ratio,
            dropout,
            attention_dropout,
            stochastic_depth_prob,
            norm_layer,
            attn_layer,
        )

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.stochastic_depth(self.norm1(self.attn(x)))
        return x + self.stochastic_depth(self.norm2(self.mlp(x)))  # type: ignore[no-any-return]


def make_stages(
    block: Callable[..., nn.Module],
    downsample_layer: Callable[..., nn.Module],
    width: int,
    depths: Sequence[int],
    num_heads: Sequence[int],
    window_size: Sequence[int],
    attention_dropout: float,
    stochastic_depth_prob: float,
    norm_layer: _Norm,
) -> tuple[list[nn.Module], int]:
    """Return blocks in stages with merging between them, and the channels of the last stage."""
    layers: list[nn.Module] = []
    total, done = sum(depths), 0
    for number, (depth, heads) in enumerate(zip(depths, num_heads, strict=True), 1):
        blocks = [
            block(
                width,
                heads,
                window_size=window_size,
                shift_size=[0 if i % 2 == 0 else side // 2 for side in window_size],
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
    return layers, width


class SwinTransformer(nn.Module):
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
        stages, width = make_stages(
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
        layers += stages
        self.features: nn.Sequential = nn.Sequential(*layers)
        self.norm: nn.LayerNorm | nn.Module = norm_layer(width)
        self.permute: Permute = Permute([0, 3, 1, 2])
        self.avgpool: nn.AdaptiveAvgPool2d = nn.AdaptiveAvgPool2d(1)
        self.flatten: nn.Flatten = nn.Flatten(1)
        self.head: nn.Linear = nn.Linear(width, num_classes)
        start(self, linear_truncated)

    def forward(self, x: Tensor) -> Tensor:
        x = self.permute(self.norm(self.features(x)))
        return self.head(self.flatten(self.avgpool(x)))  # type: ignore[no-any-return]


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


def _swin_v2(
    width: int, third: int, heads: int, probability: float, **kwargs: Any
) -> SwinTransformer:
    second: dict[str, Any] = {"block": SwinTransformerBlockV2, "downsample_layer": PatchMergingV2}
    return _swin(width, third, heads, probability, 8, **second, **kwargs)


_Model = Callable[..., SwinTransformer]
_model = family(_swin)
_model_v2 = family(_swin_v2)

swin_t: _Model = _model(Swin_T_Weights, "a tiny Swin Transformer", 96, 6, 3, 0.2)
swin_s: _Model = _model(Swin_S_Weights, "a small Swin Transformer", 96, 18, 3, 0.3)
swin_b: _Model = _model(Swin_B_Weights, "a base Swin Transformer", 128, 18, 4, 0.5)
swin_v2_t: _Model = _model_v2(Swin_V2_T_Weights, "a tiny Swin Transformer v2", 96, 6, 3, 0.2)
swin_v2_s: _Model = _model_v2(Swin_V2_S_Weights, "a small Swin Transformer v2", 96, 18, 3, 0.3)
swin_v2_b: _Model = _model_v2(Swin_V2_B_Weights, "a base Swin Transformer v2", 128, 18, 4, 0.5)
