"""Vision Transformers (https://arxiv.org/abs/2010.11929)."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.nn.functional import interpolate
from flambeau.vision.models._api import family
from flambeau.vision.models._init import constant
from flambeau.vision.models._weights import weights_of
from flambeau.vision.ops.misc import MLP, Conv2dNormActivation

__all__ = [
    "ViT_B_16_Weights",
    "ViT_B_32_Weights",
    "ViT_H_14_Weights",
    "ViT_L_16_Weights",
    "ViT_L_32_Weights",
    "VisionTransformer",
    "vit_b_16",
    "vit_b_32",
    "vit_h_14",
    "vit_l_16",
    "vit_l_32",
]

ViT_B_16_Weights: Any = weights_of("vit_b_16")
ViT_B_32_Weights: Any = weights_of("vit_b_32")
ViT_L_16_Weights: Any = weights_of("vit_l_16")
ViT_L_32_Weights: Any = weights_of("vit_l_32")
ViT_H_14_Weights: Any = weights_of("vit_h_14")

_Norm = Callable[..., nn.Module]
_NORM = partial(nn.LayerNorm, eps=1e-6)


class ConvStemConfig(NamedTuple):
    """A convolution before the image is split into patches."""

    out_channels: int
    kernel_size: int
    stride: int
    norm_layer: _Norm = nn.BatchNorm2d
    activation_layer: _Norm = nn.ReLU


class MLPBlock(MLP):
    """Two linear layers with a GELU between them."""

    _version = 2

    def __init__(self, in_dim: int, mlp_dim: int, dropout: float) -> None:
        super().__init__(
            in_dim, [mlp_dim, in_dim], activation_layer=nn.GELU, inplace=None, dropout=dropout
        )
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.normal_(module.bias, std=1e-6)

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        *args: Any,
        **kwargs: Any,
    ) -> None:
        # Published files are from when the layers were attributes and not indices.
        if (local_metadata.get("version") or 1) < 2:
            for number, old in ((0, "linear_1"), (3, "linear_2")):
                for kind in ("weight", "bias"):
                    name = f"{prefix}{old}.{kind}"
                    if name in state_dict:
                        state_dict[f"{prefix}{number}.{kind}"] = state_dict.pop(name)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args, **kwargs)


def _check_rank(x: Tensor) -> None:
    # An assertion that tracers record; a condition would stop them.
    fb._assert(x.dim() == 3, f"Expected (batch_size, seq_length, hidden_dim) got {x.shape}")


class EncoderBlock(nn.Module):
    """Pre-norm transformer block: attention and an MLP, each with a residual connection."""

    def __init__(
        self,
        num_heads: int,
        hidden_dim: int,
        mlp_dim: int,
        dropout: float,
        attention_dropout: float,
        norm_layer: _Norm = _NORM,
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.ln_1: nn.Module = norm_layer(hidden_dim)
        self.self_attention: nn.MultiheadAttention = nn.MultiheadAttention(
            hidden_dim, num_heads, dropout=attention_dropout, batch_first=True
        )
        self.dropout: nn.Dropout = nn.Dropout(dropout)
        self.ln_2: nn.Module = norm_layer(hidden_dim)
        self.mlp: MLPBlock = MLPBlock(hidden_dim, mlp_dim, dropout)

    def forward(self, input: Tensor) -> Tensor:
        _check_rank(input)
        normal = self.ln_1(input)
        attended, _ = self.self_attention(normal, normal, normal, need_weights=False)
        x = self.dropout(attended) + input
        return x + self.mlp(self.ln_2(x))  # type: ignore[no-any-return]


class Encoder(nn.Module):
    """Positional embedding and transformer blocks."""

    def __init__(
        self,
        seq_length: int,
        num_layers: int,
        num_heads: int,
        hidden_dim: int,
        mlp_dim: int,
        dropout: float,
        attention_dropout: float,
        norm_layer: _Norm = _NORM,
    ) -> None:
        super().__init__()
        self.pos_embedding: nn.Parameter = nn.Parameter(
            fb.empty(1, seq_length, hidden_dim).normal_(std=0.02)
        )
        self.dropout: nn.Dropout = nn.Dropout(dropout)
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        for i in range(num_layers):
            layers[f"encoder_layer_{i}"] = EncoderBlock(
                num_heads, hidden_dim, mlp_dim, dropout, attention_dropout, norm_layer
            )
        self.layers: nn.Sequential = nn.Sequential(layers)
        self.ln: nn.Module = norm_layer(hidden_dim)

    def forward(self, input: Tensor) -> Tensor:
        _check_rank(input)
        return self.ln(self.layers(self.dropout(input + self.pos_embedding)))  # type: ignore[no-any-return]


class VisionTransformer(nn.Module):
    """Transformer over the patches of an image of a fixed size."""

    def __init__(
        self,
        image_size: int,
        patch_size: int,
        num_layers: int,
        num_heads: int,
        hidden_dim: int,
        mlp_dim: int,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        num_classes: int = 1000,
        representation_size: int | None = None,
        norm_layer: _Norm = _NORM,
        conv_stem_configs: Sequence[ConvStemConfig] | None = None,
    ) -> None:
        super().__init__()
        if image_size % patch_size:
            raise AssertionError(
                f"Input shape indivisible by patch size: {image_size} by {patch_size}"
            )
        self.image_size = image_size
        self.patch_size = patch_size
        self.hidden_dim = hidden_dim
        self.mlp_dim = mlp_dim
        self.attention_dropout = attention_dropout
        self.dropout = dropout
        self.num_classes = num_classes
        self.representation_size = representation_size
        self.norm_layer = norm_layer
        self.conv_proj: nn.Module = (
            nn.Conv2d(3, hidden_dim, kernel_size=patch_size, stride=patch_size)
            if conv_stem_configs is None
            else _stem(conv_stem_configs, hidden_dim)
        )
        self.class_token: nn.Parameter = nn.Parameter(fb.zeros(1, 1, hidden_dim))
        self.seq_length: int = (image_size // patch_size) ** 2 + 1
        self.encoder: Encoder = Encoder(
            self.seq_length,
            num_layers,
            num_heads,
            hidden_dim,
            mlp_dim,
            dropout,
            attention_dropout,
            norm_layer,
        )
        self.heads: nn.Sequential = nn.Sequential(
            _heads(hidden_dim, representation_size, num_classes)
        )
        self._fb_start()

    def _fb_start(self) -> None:
        patch = self.conv_proj
        if isinstance(patch, nn.Conv2d):
            inputs = patch.in_channels * patch.kernel_size[0] * patch.kernel_size[1]
            nn.init.trunc_normal_(patch.weight, std=math.sqrt(1 / inputs))
            constant(patch.bias, 0.0)
        else:
            last: Any = patch.conv_last
            nn.init.normal_(last.weight, mean=0.0, std=math.sqrt(2.0 / last.out_channels))
            constant(last.bias, 0.0)
        if self.representation_size is not None:
            hidden: Any = self.heads.pre_logits
            nn.init.trunc_normal_(hidden.weight, std=math.sqrt(1 / hidden.in_features))
            constant(hidden.bias, 0.0)
        head: Any = self.heads.head
        constant(head.weight, 0.0)
        constant(head.bias, 0.0)

    def _process_input(self, x: Tensor) -> Tensor:
        """Return patches as a sequence of vectors."""
        for side, length in (("height", x.shape[-2]), ("width", x.shape[-1])):
            fb._assert(
                length == self.image_size,
                f"Wrong image {side}! Expected {self.image_size} but got {length}!",
            )
        return self.conv_proj(x).flatten(2).transpose(1, 2)  # type: ignore[no-any-return]

    def forward(self, x: Tensor) -> Tensor:
        x = self._process_input(x)
        token = self.class_token.expand(x.shape[0], -1, -1)
        x = self.encoder(fb.cat([token, x], dim=1))
        return self.heads(x[:, 0])  # type: ignore[no-any-return]


def _stem(settings: Sequence[ConvStemConfig], hidden_dim: int) -> nn.Sequential:
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    channels = 3
    for i, setting in enumerate(settings):
        layers[f"conv_bn_relu_{i}"] = Conv2dNormActivation(
            channels,
            setting.out_channels,
            kernel_size=setting.kernel_size,
            stride=setting.stride,
            norm_layer=setting.norm_layer,
            activation_layer=setting.activation_layer,
        )
        channels = setting.out_channels
    layers["conv_last"] = nn.Conv2d(channels, hidden_dim, kernel_size=1)
    return nn.Sequential(layers)


def _heads(
    width: int, representation_size: int | None, num_classes: int
) -> OrderedDict[str, nn.Module]:
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    if representation_size is not None:
        layers["pre_logits"] = nn.Linear(width, representation_size)
        layers["act"] = nn.Tanh()
        width = representation_size
    layers["head"] = nn.Linear(width, num_classes)
    return layers


def _vit(
    patch: int, layers: int, heads: int, width: int, inner: int, **kwargs: Any
) -> VisionTransformer:
    image_size = kwargs.pop("image_size", 224)
    return VisionTransformer(image_size, patch, layers, heads, width, inner, **kwargs)


_Model = Callable[..., VisionTransformer]
_model = family(_vit, sized=True)

vit_b_16: _Model = _model(
    ViT_B_16_Weights, "a base Vision Transformer on patches of 16 pixels", 16, 12, 12, 768, 3072
)
vit_b_32: _Model = _model(
    ViT_B_32_Weights, "a base Vision Transformer on patches of 32 pixels", 32, 12, 12, 768, 3072
)
vit_l_16: _Model = _model(
    ViT_L_16_Weights, "a large Vision Transformer on patches of 16 pixels", 16, 24, 16, 1024, 4096
)
vit_l_32: _Model = _model(
    ViT_L_32_Weights, "a large Vision Transformer on patches of 32 pixels", 32, 24, 16, 1024, 4096
)
vit_h_14: _Model = _model(
    ViT_H_14_Weights, "a huge Vision Transformer on patches of 14 pixels", 14, 32, 16, 1280, 5120
)


def interpolate_embeddings(
    image_size: int,
    patch_size: int,
    model_state: OrderedDict[str, Tensor],
    interpolation_mode: str = "bicubic",
    reset_heads: bool = False,
) -> OrderedDict[str, Tensor]:
    """Return a state dict for another image size, optionally without the classifier."""
    places = model_state["encoder.pos_embedding"]
    count, length, width = places.shape
    if count != 1:
        raise ValueError(f"Unexpected position embedding shape: {places.shape}")
    side, new_side = math.isqrt(length - 1), image_size // patch_size
    if new_side * new_side == length - 1:
        return model_state
    if side * side != length - 1:
        raise ValueError(
            f"seq_length is not a perfect square! Instead got seq_length = {length - 1}"
        )
    token, grid = places[:, :1], places[:, 1:]
    grid = grid.transpose(1, 2).reshape(1, width, side, side)
    grid = interpolate(grid, size=new_side, mode=interpolation_mode, align_corners=True)
    grid = grid.reshape(1, width, new_side * new_side).transpose(1, 2)
    model_state["encoder.pos_embedding"] = fb.cat([token, grid], dim=1)
    if not reset_heads:
        return model_state
    return OrderedDict((k, v) for k, v in model_state.items() if not k.startswith("heads"))
