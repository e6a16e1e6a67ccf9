"""Feature pyramids (https://arxiv.org/abs/1612.03144)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

from flambeau import Tensor, nn
from flambeau.nn.functional import interpolate, max_pool2d
from flambeau.vision.ops.misc import Conv2dNormActivation

__all__ = ["ExtraFPNBlock", "FeaturePyramidNetwork", "LastLevelMaxPool", "LastLevelP6P7"]


class ExtraFPNBlock(nn.Module):
    """Further levels of a pyramid: subclasses return them with the others and all names."""

    def forward(
        self, results: list[Tensor], x: list[Tensor], names: list[str]
    ) -> tuple[list[Tensor], list[str]]:
        raise NotImplementedError


class LastLevelMaxPool(ExtraFPNBlock):
    """One more level: every second pixel of the last."""

    def forward(
        self, results: list[Tensor], x: list[Tensor], names: list[str]
    ) -> tuple[list[Tensor], list[str]]:
        pooled = max_pool2d(results[-1], kernel_size=1, stride=2, padding=0)
        return [*results, pooled], [*names, "pool"]


class LastLevelP6P7(ExtraFPNBlock):
    """Two more levels, by strided convolutions of the last map before or after the pyramid."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.p6: nn.Conv2d = nn.Conv2d(in_channels, out_channels, 3, 2, 1)
        self.p7: nn.Conv2d = nn.Conv2d(out_channels, out_channels, 3, 2, 1)
        for module in (self.p6, self.p7):
            _draw(module)
        self.use_P5: bool = in_channels == out_channels

    def forward(
        self, results: list[Tensor], x: list[Tensor], names: list[str]
    ) -> tuple[list[Tensor], list[str]]:
        sixth = self.p6(results[-1] if self.use_P5 else x[-1])
        seventh = self.p7(sixth.relu())
        return [*results, sixth, seventh], [*names, "p6", "p7"]


def _draw(convolution: nn.Conv2d) -> None:
    """Initialise the convolutions of a pyramid."""
    nn.init.kaiming_uniform_(convolution.weight, a=1)
    if convolution.bias is not None:
        nn.init.constant_(convolution.bias, 0)


class FeaturePyramidNetwork(nn.Module):
    """Feature maps of equal width, each combined with the coarser ones from the top down."""

    def __init__(
        self,
        in_channels_list: Sequence[int],
        out_channels: int,
        extra_blocks: ExtraFPNBlock | None = None,
        norm_layer: Callable[..., nn.Module] | None = None,
    ) -> None:
        super().__init__()
        self.inner_blocks: nn.ModuleList = nn.ModuleList()
        self.layer_blocks: nn.ModuleList = nn.ModuleList()
        for channels in in_channels_list:
            if channels == 0:
                raise ValueError("in_channels=0 is currently not supported")
            for blocks, width, window in (
                (self.inner_blocks, channels, 1),
                (self.layer_blocks, out_channels, 3),
            ):
                blocks.append(
                    Conv2dNormActivation(
                        width,
                        out_channels,
                        kernel_size=window,
                        padding=window // 2,
                        norm_layer=norm_layer,
                        activation_layer=None,
                    )
                )
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                _draw(module)
        if extra_blocks is not None and not isinstance(extra_blocks, ExtraFPNBlock):
            raise TypeError(f"extra_blocks should be an ExtraFPNBlock, got {type(extra_blocks)}")
        self.extra_blocks = extra_blocks

    def forward(self, x: dict[str, Tensor]) -> OrderedDict[str, Tensor]:
        names, maps = list(x), list(x.values())
        results: list[Tensor] = []
        seen: Tensor | None = None
        for level in reversed(range(len(maps))):
            own: Tensor = self.inner_blocks[level](maps[level])
            if seen is not None:
                own = own + interpolate(seen, size=tuple(own.shape[-2:]), mode="nearest")
            seen = own
            results.insert(0, self.layer_blocks[level](own))
        if self.extra_blocks is not None:
            results, names = self.extra_blocks(results, maps, names)
        return OrderedDict(zip(names, results, strict=True))
