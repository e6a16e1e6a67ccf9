"""Recurrent all-pairs field transforms, RAFT (https://arxiv.org/abs/2003.12039)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.nn import functional as F
from flambeau.vision.models._api import builder
from flambeau.vision.models._weights import weights_of
from flambeau.vision.models.optical_flow._encoder import (
    BottleneckBlock,
    FeatureEncoder,
    ResidualBlock,
)
from flambeau.vision.models.optical_flow._utils import (
    grid_sample,
    make_coords_grid,
    upsample_flow,
)
from flambeau.vision.ops.misc import Conv2dNormActivation

__all__ = ("RAFT", "Raft_Large_Weights", "Raft_Small_Weights", "raft_large", "raft_small")

Raft_Large_Weights: Any = weights_of("raft_large", "optical_flow")
Raft_Small_Weights: Any = weights_of("raft_small", "optical_flow")

_Pairs = Sequence[Any]  # kernel sizes or paddings: a number, or one for each side


class MotionEncoder(nn.Module):
    """Encode the flow and the correlations as features."""

    def __init__(
        self,
        *,
        in_channels_corr: int,
        corr_layers: Sequence[int] = (256, 192),
        flow_layers: Sequence[int] = (128, 64),
        out_channels: int = 128,
    ) -> None:
        super().__init__()
        if len(flow_layers) != 2:
            raise ValueError(f"flow_layers must have two widths, got {list(flow_layers)}")
        if len(corr_layers) not in (1, 2):
            raise ValueError(f"corr_layers must have one width or two, got {list(corr_layers)}")

        def convolution(before: int, after: int, side: int) -> nn.Module:
            return Conv2dNormActivation(before, after, norm_layer=None, kernel_size=side)

        self.convcorr1: nn.Module = convolution(in_channels_corr, corr_layers[0], 1)
        self.convcorr2: nn.Module = (
            convolution(corr_layers[0], corr_layers[1], 3)
            if len(corr_layers) == 2
            else nn.Identity()
        )
        self.convflow1: nn.Module = convolution(2, flow_layers[0], 7)
        self.convflow2: nn.Module = convolution(flow_layers[0], flow_layers[1], 3)
        # The flow itself is two of the channels.
        self.conv: nn.Module = convolution(corr_layers[-1] + flow_layers[-1], out_channels - 2, 3)
        self.out_channels = out_channels

    def forward(self, flow: Tensor, corr_features: Tensor) -> Tensor:
        fit = self.convcorr2(self.convcorr1(corr_features))
        moved = self.convflow2(self.convflow1(flow))
        return fb.cat([self.conv(fb.cat([fit, moved], dim=1)), flow], dim=1)


class ConvGRU(nn.Module):
    """A gated recurrent unit with convolutions."""

    def __init__(
        self, *, input_size: int, hidden_size: int, kernel_size: Any, padding: Any
    ) -> None:
        super().__init__()
        channels = hidden_size + input_size
        self.convz: nn.Conv2d = nn.Conv2d(channels, hidden_size, kernel_size, padding=padding)
        self.convr: nn.Conv2d = nn.Conv2d(channels, hidden_size, kernel_size, padding=padding)
        self.convq: nn.Conv2d = nn.Conv2d(channels, hidden_size, kernel_size, padding=padding)

    def forward(self, h: Tensor, x: Tensor) -> Tensor:
        both = fb.cat([h, x], dim=1)
        update: Tensor = self.convz(both).sigmoid()
        reset: Tensor = self.convr(both).sigmoid()
        new: Tensor = self.convq(fb.cat([reset * h, x], dim=1)).tanh()
        return (1 - update) * h + update * new


def _pass_through_h(h: Tensor, _: Tensor) -> Tensor:
    return h


class RecurrentBlock(nn.Module):
    """One recurrent unit, or two with horizontal and vertical kernels."""

    def __init__(
        self,
        *,
        input_size: int,
        hidden_size: int,
        kernel_size: _Pairs = ((1, 5), (5, 1)),
        padding: _Pairs = ((0, 2), (2, 0)),
    ) -> None:
        super().__init__()
        if len(kernel_size) != len(padding):
            raise ValueError(
                "kernel_size and padding must be of the same length, got "
                f"{kernel_size} and {padding}"
            )
        if len(kernel_size) not in (1, 2):
            raise ValueError(f"kernel_size must have one element or two, got {kernel_size}")

        def unit(i: int) -> ConvGRU:
            return ConvGRU(
                input_size=input_size,
                hidden_size=hidden_size,
                kernel_size=kernel_size[i],
                padding=padding[i],
            )

        self.convgru1: ConvGRU = unit(0)
        self.convgru2: Any = unit(1) if len(kernel_size) == 2 else _pass_through_h
        self.hidden_size = hidden_size

    def forward(self, h: Tensor, x: Tensor) -> Tensor:
        return self.convgru2(self.convgru1(h, x), x)  # type: ignore[no-any-return]


class FlowHead(nn.Module):
    """Predict the change of the flow from a hidden state."""

    def __init__(self, *, in_channels: int, hidden_size: int) -> None:
        super().__init__()
        self.conv1: nn.Conv2d = nn.Conv2d(in_channels, hidden_size, 3, padding=1)
        self.conv2: nn.Conv2d = nn.Conv2d(hidden_size, 2, 3, padding=1)
        self.relu: nn.ReLU = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv2(self.relu(self.conv1(x)))  # type: ignore[no-any-return]


class UpdateBlock(nn.Module):
    """One iteration: a new hidden state, and a change of the flow."""

    def __init__(
        self,
        *,
        motion_encoder: nn.Module,
        recurrent_block: RecurrentBlock,
        flow_head: nn.Module,
    ) -> None:
        super().__init__()
        self.motion_encoder = motion_encoder
        self.recurrent_block = recurrent_block
        self.flow_head = flow_head
        self.hidden_state_size: int = recurrent_block.hidden_size

    def forward(
        self, hidden_state: Tensor, context: Tensor, corr_features: Tensor, flow: Tensor
    ) -> tuple[Tensor, Tensor]:
        motion = self.motion_encoder(flow, corr_features)
        hidden = self.recurrent_block(hidden_state, fb.cat([context, motion], dim=1))
        return hidden, self.flow_head(hidden)


class MaskPredictor(nn.Module):
    """Predict the weights that upsample the flow by eight."""

    def __init__(self, *, in_channels: int, hidden_size: int, multiplier: float = 0.25) -> None:
        super().__init__()
        self.convrelu: nn.Module = Conv2dNormActivation(
            in_channels, hidden_size, norm_layer=None, kernel_size=3
        )
        self.conv: nn.Conv2d = nn.Conv2d(hidden_size, 8 * 8 * 9, 1, padding=0)
        # Scaled to reduce the gradients of the mask, as in the original.
        self.multiplier = multiplier

    def forward(self, x: Tensor) -> Tensor:
        return self.multiplier * self.conv(self.convrelu(x))  # type: ignore[no-any-return]


class CorrBlock(nn.Module):
    """Correlations of every pixel of one image with those around a position in the other."""

    def __init__(self, *, num_levels: int = 4, radius: int = 4) -> None:
        super().__init__()
        self.num_levels = num_levels
        self.radius = radius
        self.corr_pyramid: list[Tensor] = [fb.tensor(0)]
        self.out_channels: int = num_levels * (2 * radius + 1) ** 2

    def build_pyramid(self, fmap1: Tensor, fmap2: Tensor) -> None:
        """Compute all-pairs correlations, and average-pool the second image several times."""
        if fmap1.shape != fmap2.shape:
            raise ValueError(
                f"fmap1 and fmap2 must have the same shape, got {tuple(fmap1.shape)} and "
                f"{tuple(fmap2.shape)}"
            )
        smallest = 2 * 2 ** (self.num_levels - 1)
        batch, channels, height, width = fmap1.shape
        if height < smallest or width < smallest:
            raise ValueError(
                f"a pyramid of {self.num_levels} levels takes feature maps of {smallest} pixels on "
                f"each side at least, got {(height, width)}: pass images of {8 * smallest} or "
                "more, which have eight times their sides"
            )
        alike = fb.matmul(fmap1.flatten(2).transpose(1, 2), fmap2.flatten(2)) / math.sqrt(channels)
        level = alike.view(batch * height * width, 1, height, width)
        self.corr_pyramid = [level]
        for _ in range(self.num_levels - 1):
            level = F.avg_pool2d(level, kernel_size=2, stride=2)
            self.corr_pyramid.append(level)

    def index_pyramid(self, centroids_coords: Tensor) -> Tensor:
        """Return, for each pixel, the correlations around a position, on every level."""
        side = 2 * self.radius + 1
        steps = fb.linspace(-self.radius, self.radius, side)
        around = fb.stack(fb.meshgrid(steps, steps, indexing="ij"), dim=-1)
        around = around.to(centroids_coords.device).view(1, side, side, 2)
        batch, _, height, width = centroids_coords.shape
        places = centroids_coords.permute(0, 2, 3, 1).reshape(batch * height * width, 1, 1, 2)
        found = []
        for level in self.corr_pyramid:
            sampled = grid_sample(level, places + around, align_corners=True)
            found.append(sampled.view(batch, height, width, -1))
            places = places / 2
        return fb.cat(found, dim=-1).permute(0, 3, 1, 2).contiguous()


class RAFT(nn.Module):
    """Iteratively refined optical flow; the result is a list of all estimates."""

    def __init__(
        self,
        *,
        feature_encoder: nn.Module,
        context_encoder: nn.Module,
        corr_block: nn.Module,
        update_block: nn.Module,
        mask_predictor: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.feature_encoder: Any = feature_encoder
        self.context_encoder = context_encoder
        self.corr_block: Any = corr_block
        self.update_block: Any = update_block
        self.mask_predictor = mask_predictor
        if not hasattr(update_block, "hidden_state_size"):
            raise ValueError(
                "update_block must have an attribute hidden_state_size, the number of channels of "
                "the state that it keeps"
            )

    def forward(self, image1: Tensor, image2: Tensor, num_flow_updates: int = 12) -> list[Tensor]:
        batch, _, height, width = image1.shape
        factor = getattr(self.feature_encoder, "downsample_factor", 8)
        self._fb_check_images(image1, image2, factor)
        fmap1, fmap2 = self.feature_encoder(fb.cat([image1, image2], dim=0)).chunk(2, dim=0)
        if fmap1.shape[-2:] != (height // factor, width // factor):
            raise ValueError(
                f"feature_encoder must make height and width {factor} times smaller, got "
                f"{tuple(fmap1.shape[-2:])} from {(height, width)}"
            )
        self.corr_block.build_pyramid(fmap1, fmap2)
        hidden, context = self._fb_context(image1, fmap1)
        at_first = make_coords_grid(batch, height // factor, width // factor, fmap1.device)
        now = at_first
        flows = []
        for _ in range(num_flow_updates):
            now = now.detach()  # each iteration learns from its own change alone
            fit = self.corr_block.index_pyramid(centroids_coords=now)
            hidden, change = self.update_block(hidden, context, fit, now - at_first)
            now = now + change
            mask = None if self.mask_predictor is None else self.mask_predictor(hidden)
            flows.append(upsample_flow(now - at_first, up_mask=mask, factor=factor))
        return flows

    def _fb_context(self, image: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the first hidden state, and the context that all iterations share."""
        seen = self.context_encoder(image)
        if seen.shape[-2:] != features.shape[-2:]:
            raise ValueError(
                "context_encoder must make images as small as feature_encoder does, got "
                f"{tuple(seen.shape[-2:])} and {tuple(features.shape[-2:])}"
            )
        hidden_size = self.update_block.hidden_state_size
        rest = seen.shape[1] - hidden_size
        if rest <= 0:
            raise ValueError(
                f"context_encoder must have more channels than the {hidden_size} of the hidden "
                f"state, got {seen.shape[1]}"
            )
        hidden, context = seen.split([hidden_size, rest], dim=1)
        return hidden.tanh(), context.relu()

    @staticmethod
    def _fb_check_images(image1: Tensor, image2: Tensor, factor: int) -> None:
        height, width = image1.shape[-2:]
        if image2.shape[-2:] != (height, width):
            raise ValueError(
                f"image1 and image2 must have the same shape, got ({height}, {width}) and "
                f"{tuple(image2.shape[-2:])}"
            )
        if height % factor or width % factor:
            raise ValueError(
                f"height and width of images must be divisible by {factor}, got ({height}, "
                f"{width}): pad or resize them"
            )


# Of each network: encoders, correlation pyramid, and update block.
_LARGE: dict[str, Any] = {
    "features": {"layers": (64, 64, 96, 128, 256), "norm_layer": nn.InstanceNorm2d},
    "context": {"layers": (64, 64, 96, 128, 256), "norm_layer": nn.BatchNorm2d},
    "block": ResidualBlock,
    "radius": 4,
    "motion": {"corr_layers": (256, 192), "flow_layers": (128, 64), "out_channels": 128},
    "recurrent": {
        "hidden_size": 128,
        "kernel_size": ((1, 5), (5, 1)),
        "padding": ((0, 2), (2, 0)),
    },
    "flow_head": 256,
    "mask": True,
}
_SMALL: dict[str, Any] = {
    "features": {"layers": (32, 32, 64, 96, 128), "norm_layer": nn.InstanceNorm2d},
    "context": {"layers": (32, 32, 64, 96, 160), "norm_layer": None},
    "block": BottleneckBlock,
    "radius": 3,
    "motion": {"corr_layers": (96,), "flow_layers": (64, 32), "out_channels": 82},
    "recurrent": {"hidden_size": 96, "kernel_size": (3,), "padding": (1,)},
    "flow_head": 128,
    "mask": False,
}


def _raft(
    numbers: dict[str, Any],
    feature_encoder: nn.Module | None = None,
    context_encoder: nn.Module | None = None,
    corr_block: Any = None,
    update_block: nn.Module | None = None,
    mask_predictor: nn.Module | None = None,
    **kwargs: Any,
) -> RAFT:
    """Make a network of a table's parts, except those that are given."""
    block, hidden = numbers["block"], numbers["recurrent"]["hidden_size"]
    feature_encoder = feature_encoder or FeatureEncoder(block=block, **numbers["features"])
    context_encoder = context_encoder or FeatureEncoder(block=block, **numbers["context"])
    corr_block = corr_block or CorrBlock(num_levels=4, radius=numbers["radius"])
    if update_block is None:
        motion = MotionEncoder(in_channels_corr=corr_block.out_channels, **numbers["motion"])
        seen = motion.out_channels + numbers["context"]["layers"][-1] - hidden
        update_block = UpdateBlock(
            motion_encoder=motion,
            recurrent_block=RecurrentBlock(input_size=seen, **numbers["recurrent"]),
            flow_head=FlowHead(in_channels=hidden, hidden_size=numbers["flow_head"]),
        )
    if mask_predictor is None and numbers["mask"]:
        mask_predictor = MaskPredictor(in_channels=hidden, hidden_size=256, multiplier=0.25)
    return RAFT(
        feature_encoder=feature_encoder,
        context_encoder=context_encoder,
        corr_block=corr_block,
        update_block=update_block,
        mask_predictor=mask_predictor,
        **kwargs,
    )


@builder(Raft_Large_Weights, legacy="C_T_SKHT_V2")
def raft_large(**kwargs: Any) -> RAFT:
    """Make a large RAFT."""
    return _raft(_LARGE, **kwargs)


@builder(Raft_Small_Weights, legacy="C_T_V2")
def raft_small(**kwargs: Any) -> RAFT:
    """Make a small RAFT."""
    return _raft(_SMALL, **kwargs)
