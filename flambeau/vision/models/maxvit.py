"""MaxViT: attention within and across windows (https://arxiv.org/abs/2204.01697)."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.vision.models._api import builder
from flambeau.vision.models._init import constant, norm_unit, start
from flambeau.vision.models._weights import weights_of
from flambeau.vision.models._windows import pair_index
from flambeau.vision.ops.misc import Conv2dNormActivation, SqueezeExcitation
from flambeau.vision.ops.stochastic_depth import StochasticDepth

__all__ = ["MaxVit", "MaxVit_T_Weights", "maxvit_t"]

MaxVit_T_Weights: Any = weights_of("maxvit_t")

_Layer = Callable[..., nn.Module]
_Size = tuple[int, int]


def _halved(size: Sequence[int]) -> _Size:
    """The size of an image after a 3 x 3 convolution with a stride of 2."""
    return (size[0] - 1) // 2 + 1, (size[1] - 1) // 2 + 1


class MBConv(nn.Module):
    """Inverted residual block with squeeze-and-excitation."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        expansion_ratio: float,
        squeeze_ratio: float,
        stride: int,
        activation_layer: _Layer,
        norm_layer: _Layer,
        p_stochastic_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.proj: nn.Module = nn.Identity()
        if stride != 1 or in_channels != out_channels:
            narrow = nn.Conv2d(in_channels, out_channels, kernel_size=1, stride=1, bias=True)
            pool = [nn.AvgPool2d(kernel_size=3, stride=stride, padding=1)] if stride == 2 else []
            self.proj = nn.Sequential(*pool, narrow)
        inner, squeezed = int(out_channels * expansion_ratio), int(out_channels * squeeze_ratio)
        self.stochastic_depth: nn.Module = (
            StochasticDepth(p_stochastic_dropout, mode="row")
            if p_stochastic_dropout
            else nn.Identity()
        )
        options: dict[str, Any] = {
            "activation_layer": activation_layer,
            "norm_layer": norm_layer,
            "inplace": None,
        }
        self.layers: nn.Sequential = nn.Sequential(
            OrderedDict[str, nn.Module](
                pre_norm=norm_layer(in_channels),
                conv_a=Conv2dNormActivation(in_channels, inner, kernel_size=1, **options),
                conv_b=Conv2dNormActivation(
                    inner, inner, kernel_size=3, stride=stride, groups=inner, **options
                ),
                squeeze_excitation=SqueezeExcitation(inner, squeezed, activation=nn.SiLU),
                conv_c=nn.Conv2d(inner, out_channels, kernel_size=1, bias=True),
            )
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.proj(x) + self.stochastic_depth(self.layers(x))  # type: ignore[no-any-return]


class RelativePositionalMultiHeadAttention(nn.Module):
    """Attention among the pixels of each partition of an image (B, partitions, pixels, C)."""

    def __init__(self, feat_dim: int, head_dim: int, max_seq_len: int) -> None:
        super().__init__()
        if feat_dim % head_dim:
            raise ValueError(
                f"feat_dim must be a multiple of head_dim, got {feat_dim} and {head_dim}"
            )
        side = int(math.sqrt(max_seq_len))
        self.n_heads: int = feat_dim // head_dim
        self.head_dim = head_dim
        self.size: int = side
        self.max_seq_len = max_seq_len
        self.to_qkv: nn.Linear = nn.Linear(feat_dim, self.n_heads * self.head_dim * 3)
        # Scaled by all channels and not those of one head: the weights were trained that way.
        self.scale_factor: float = feat_dim**-0.5
        self.merge: nn.Linear = nn.Linear(self.head_dim * self.n_heads, feat_dim)
        self.relative_position_bias_table: nn.Parameter = nn.Parameter(
            fb.empty((2 * side - 1) * (2 * side - 1), self.n_heads)
        )
        self.relative_position_index: Tensor
        self.register_buffer("relative_position_index", pair_index((side, side)))
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)

    def get_relative_positional_bias(self) -> Tensor:
        """Return the relative position bias of two pixels, (1, heads, pixels, pixels)."""
        pixels = self.max_seq_len
        chosen = self.relative_position_bias_table[self.relative_position_index.view(-1)]
        return chosen.view(pixels, pixels, -1).permute(2, 0, 1).contiguous().unsqueeze(0)

    def forward(self, x: Tensor) -> Tensor:
        mixed = self.to_qkv(x).unflatten(-1, (3, self.n_heads, self.head_dim))
        query, key, value = mixed.permute(3, 0, 1, 4, 2, 5).unbind(0)
        scores = fb.matmul(query, (key * self.scale_factor).transpose(-2, -1))
        weights = (scores + self.get_relative_positional_bias()).softmax(dim=-1)
        return self.merge((weights @ value).transpose(2, 3).flatten(3))  # type: ignore[no-any-return]


class SwapAxes(nn.Module):
    """Swap two dimensions."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__()
        self.a = a
        self.b = b

    def forward(self, x: Tensor) -> Tensor:
        return x.transpose(self.a, self.b)


class WindowPartition(nn.Module):
    """Split images (B, C, H, W) into windows with sides ``p``: (B, windows, p * p, C)."""

    def forward(self, x: Tensor, p: int) -> Tensor:
        cut = x.unflatten(3, (-1, p)).unflatten(2, (-1, p))
        return cut.permute(0, 2, 4, 3, 5, 1).flatten(3, 4).flatten(1, 2)


class WindowDepartition(nn.Module):
    """Join ``h_partitions`` x ``w_partitions`` windows to images (B, C, H, W)."""

    def forward(self, x: Tensor, p: int, h_partitions: int, w_partitions: int) -> Tensor:
        cut = x.unflatten(2, (p, p)).unflatten(1, (h_partitions, w_partitions))
        return cut.permute(0, 5, 1, 3, 2, 4).flatten(4, 5).flatten(2, 3)


class PartitionAttentionLayer(nn.Module):
    """Attention and an MLP within windows, or over a grid across windows."""

    def __init__(
        self,
        in_channels: int,
        head_dim: int,
        partition_size: int,
        partition_type: str,
        grid_size: _Size,
        mlp_ratio: int,
        activation_layer: _Layer,
        norm_layer: _Layer,
        attention_dropout: float,
        mlp_dropout: float,
        p_stochastic_dropout: float,
    ) -> None:
        super().__init__()
        if partition_type not in ("grid", "window"):
            raise ValueError(f"partition_type must be 'grid' or 'window', got {partition_type!r}")
        self.n_heads: int = in_channels // head_dim
        self.head_dim = head_dim
        self.n_partitions: int = grid_size[0] // partition_size
        self.partition_type = partition_type
        self.grid_size = grid_size
        grid = partition_type == "grid"
        sides = (self.n_partitions, partition_size)
        self.p, self.g = sides if grid else sides[::-1]
        self.partition_op: WindowPartition = WindowPartition()
        self.departition_op: WindowDepartition = WindowDepartition()
        self.partition_swap: nn.Module = SwapAxes(-2, -3) if grid else nn.Identity()
        self.departition_swap: nn.Module = SwapAxes(-2, -3) if grid else nn.Identity()
        self.attn_layer: nn.Sequential = nn.Sequential(
            norm_layer(in_channels),
            RelativePositionalMultiHeadAttention(in_channels, head_dim, partition_size**2),
            nn.Dropout(attention_dropout),
        )
        self.mlp_layer: nn.Sequential = nn.Sequential(
            nn.LayerNorm(in_channels),
            nn.Linear(in_channels, in_channels * mlp_ratio),
            activation_layer(),
            nn.Linear(in_channels * mlp_ratio, in_channels),
            nn.Dropout(mlp_dropout),
        )
        self.stochastic_dropout: StochasticDepth = StochasticDepth(p_stochastic_dropout, mode="row")

    def forward(self, x: Tensor) -> Tensor:
        rows, columns = self.grid_size[0] // self.p, self.grid_size[1] // self.p
        if self.grid_size[0] % self.p or self.grid_size[1] % self.p:
            raise AssertionError(
                f"grid_size must be a multiple of partition_size, got {self.grid_size} and {self.p}"
            )
        x = self.partition_swap(self.partition_op(x, self.p))
        x = x + self.stochastic_dropout(self.attn_layer(x))
        x = x + self.stochastic_dropout(self.mlp_layer(x))
        return self.departition_op(self.departition_swap(x), self.p, rows, columns)  # type: ignore[no-any-return]


class MaxVitLayer(nn.Module):
    """Convolutions, window attention, grid attention."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        squeeze_ratio: float,
        expansion_ratio: float,
        stride: int,
        norm_layer: _Layer,
        activation_layer: _Layer,
        head_dim: int,
        mlp_ratio: int,
        mlp_dropout: float,
        attention_dropout: float,
        p_stochastic_dropout: float,
        partition_size: int,
        grid_size: _Size,
    ) -> None:
        super().__init__()
        attention = partial(
            PartitionAttentionLayer,
            in_channels=out_channels,
            head_dim=head_dim,
            partition_size=partition_size,
            grid_size=grid_size,
            mlp_ratio=mlp_ratio,
            activation_layer=activation_layer,
            norm_layer=nn.LayerNorm,
            attention_dropout=attention_dropout,
            mlp_dropout=mlp_dropout,
            p_stochastic_dropout=p_stochastic_dropout,
        )
        self.layers: nn.Sequential = nn.Sequential(
            OrderedDict[str, nn.Module](
                MBconv=MBConv(
                    in_channels,
                    out_channels,
                    expansion_ratio,
                    squeeze_ratio,
                    stride,
                    activation_layer,
                    norm_layer,
                    p_stochastic_dropout,
                ),
                window_attention=attention(partition_type="window"),
                grid_attention=attention(partition_type="grid"),
            )
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)  # type: ignore[no-any-return]


class MaxVitBlock(nn.Module):
    """A stage of layers, the first of which halves height and width."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        squeeze_ratio: float,
        expansion_ratio: float,
        norm_layer: _Layer,
        activation_layer: _Layer,
        head_dim: int,
        mlp_ratio: int,
        mlp_dropout: float,
        attention_dropout: float,
        partition_size: int,
        input_grid_size: _Size,
        n_layers: int,
        p_stochastic: Sequence[float],
    ) -> None:
        super().__init__()
        if len(p_stochastic) != n_layers:
            raise ValueError(
                f"p_stochastic must have length n_layers={n_layers}, got {list(p_stochastic)}."
            )
        self.grid_size: _Size = _halved(input_grid_size)
        self.layers: nn.ModuleList = nn.ModuleList(
            MaxVitLayer(
                out_channels if i else in_channels,
                out_channels,
                squeeze_ratio,
                expansion_ratio,
                1 if i else 2,
                norm_layer,
                activation_layer,
                head_dim,
                mlp_ratio,
                mlp_dropout,
                attention_dropout,
                probability,
                partition_size,
                self.grid_size,
            )
            for i, probability in enumerate(p_stochastic)
        )

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class MaxVit(nn.Module):
    """A convolutional stem, blocks, pooling and two linear layers."""

    def __init__(
        self,
        input_size: _Size,
        stem_channels: int,
        partition_size: int,
        block_channels: Sequence[int],
        block_layers: Sequence[int],
        head_dim: int,
        stochastic_depth_prob: float,
        norm_layer: _Layer | None = None,
        activation_layer: _Layer = nn.GELU,
        squeeze_ratio: float = 0.25,
        expansion_ratio: float = 4,
        mlp_ratio: int = 4,
        mlp_dropout: float = 0.0,
        attention_dropout: float = 0.0,
        num_classes: int = 1000,
    ) -> None:
        super().__init__()
        norm_layer = norm_layer or partial(nn.BatchNorm2d, eps=1e-3, momentum=0.01)
        _check_sizes(input_size, len(block_channels), partition_size)
        self.stem: nn.Sequential = nn.Sequential(
            Conv2dNormActivation(
                3,
                stem_channels,
                3,
                stride=2,
                norm_layer=norm_layer,
                activation_layer=activation_layer,
                bias=False,
                inplace=None,
            ),
            Conv2dNormActivation(
                stem_channels, stem_channels, 3, norm_layer=None, activation_layer=None, bias=True
            ),
        )
        self.partition_size = partition_size
        self.blocks: nn.ModuleList = nn.ModuleList()
        size, done, channels = _halved(input_size), 0, stem_channels
        step = stochastic_depth_prob / max(sum(block_layers) - 1, 1)
        for width, count in zip(block_channels, block_layers, strict=True):
            block = MaxVitBlock(
                channels,
                width,
                squeeze_ratio,
                expansion_ratio,
                norm_layer,
                activation_layer,
                head_dim,
                mlp_ratio,
                mlp_dropout,
                attention_dropout,
                partition_size,
                size,
                count,
                [step * (done + i) for i in range(count)],
            )
            self.blocks.append(block)
            size, done, channels = block.grid_size, done + count, width
        self.classifier: nn.Sequential = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.LayerNorm(channels),
            nn.Linear(channels, channels),
            nn.Tanh(),
            nn.Linear(channels, num_classes, bias=False),
        )
        start(self, _normal, norm_unit)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.classifier(x)  # type: ignore[no-any-return]


def _check_sizes(input_size: Sequence[int], blocks: int, partition_size: int) -> None:
    """Raise ValueError unless every block can split images into whole windows."""
    sizes, size = [], _halved(input_size)
    for _ in range(blocks):
        size = _halved(size)
        sizes.append(size)
    for number, size in enumerate(sizes):
        if size[0] % partition_size or size[1] % partition_size:
            raise ValueError(
                f"the images {size} of block {number} are not divisible by partition size "
                f"{partition_size}: choose another partition_size or input_size, by which "
                f"blocks have images of {sizes}"
            )


def _normal(module: nn.Module) -> None:
    if isinstance(module, (nn.Conv2d, nn.Linear)):
        nn.init.normal_(module.weight, std=0.02)
        constant(module.bias, 0.0)


@builder(MaxVit_T_Weights, pretrained={"input_size": (224, 224)})
def maxvit_t(**kwargs: Any) -> MaxVit:
    """Make a tiny MaxViT."""
    tiny: dict[str, Any] = {
        "input_size": (224, 224),
        "stem_channels": 64,
        "block_channels": [64, 128, 256, 512],
        "block_layers": [2, 2, 5, 2],
        "head_dim": 32,
        "stochastic_depth_prob": 0.2,
        "partition_size": 7,
    }
    return MaxVit(**{**tiny, **kwargs})
