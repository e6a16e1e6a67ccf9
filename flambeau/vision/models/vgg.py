"""VGG (https://arxiv.org/abs/1409.1556)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from flambeau import Tensor, nn
from flambeau.vision.models._api import builder, family
from flambeau.vision.models._init import conv_fan_out, linear_normal, norm_unit, start
from flambeau.vision.models._weights import weights_of

__all__ = [
    "VGG",
    "VGG11_BN_Weights",
    "VGG11_Weights",
    "VGG13_BN_Weights",
    "VGG13_Weights",
    "VGG16_BN_Weights",
    "VGG16_Weights",
    "VGG19_BN_Weights",
    "VGG19_Weights",
    "vgg11",
    "vgg11_bn",
    "vgg13",
    "vgg13_bn",
    "vgg16",
    "vgg16_bn",
    "vgg19",
    "vgg19_bn",
]

VGG11_Weights: Any = weights_of("vgg11")
VGG11_BN_Weights: Any = weights_of("vgg11_bn")
VGG13_Weights: Any = weights_of("vgg13")
VGG13_BN_Weights: Any = weights_of("vgg13_bn")
VGG16_Weights: Any = weights_of("vgg16")
VGG16_BN_Weights: Any = weights_of("vgg16_bn")
VGG19_Weights: Any = weights_of("vgg19")
VGG19_BN_Weights: Any = weights_of("vgg19_bn")

_FROM_FILE = {"init_weights": False}


def _stages(*depths: int) -> list[int | str]:
    """Return the layers for given numbers of convolutions of 64, 128, 256, 512 and 512 channels."""
    layers: list[int | str] = []
    for depth, channels in zip(depths, (64, 128, 256, 512, 512), strict=True):
        layers += [channels] * depth
        layers.append("M")
    return layers


cfgs: dict[str, list[int | str]] = {
    "A": _stages(1, 1, 2, 2, 2),
    "B": _stages(2, 2, 2, 2, 2),
    "D": _stages(2, 2, 3, 3, 3),
    "E": _stages(2, 2, 4, 4, 4),
}


def make_layers(cfg: Sequence[int | str], batch_norm: bool = False) -> nn.Sequential:
    """Make convolutions from a list of channels, in which ``"M"`` is a pooling layer."""
    layers: list[nn.Module] = []
    channels = 3
    for entry in cfg:
        if entry == "M":
            layers.append(nn.MaxPool2d(kernel_size=2, stride=2))
            continue
        width = cast(int, entry)
        layers.append(nn.Conv2d(channels, width, kernel_size=3, padding=1))
        if batch_norm:
            layers.append(nn.BatchNorm2d(width))
        layers.append(nn.ReLU(inplace=True))
        channels = width
    return nn.Sequential(*layers)


class VGG(nn.Module):
    """A stack of 3 × 3 convolutions and three linear layers."""

    def __init__(
        self,
        features: nn.Module,
        num_classes: int = 1000,
        init_weights: bool = True,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.features = features
        self.avgpool: nn.AdaptiveAvgPool2d = nn.AdaptiveAvgPool2d((7, 7))
        self.classifier: nn.Sequential = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096),
            nn.ReLU(True),
            nn.Dropout(p=dropout),
            nn.Linear(4096, 4096),
            nn.ReLU(True),
            nn.Dropout(p=dropout),
            nn.Linear(4096, num_classes),
        )
        if init_weights:
            start(self, conv_fan_out, norm_unit, linear_normal)

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.avgpool(self.features(x)).flatten(1))  # type: ignore[no-any-return]


def _vgg(cfg: str, batch_norm: bool, **kwargs: Any) -> VGG:
    return VGG(make_layers(cfgs[cfg], batch_norm), **kwargs)


_Model = Callable[..., VGG]
_model = family(_vgg, pretrained=_FROM_FILE)

vgg11: _Model = _model(VGG11_Weights, "a VGG of 11 layers", "A", False)
vgg11_bn: _Model = _model(
    VGG11_BN_Weights, "a VGG of 11 layers with batch normalisation", "A", True
)
vgg13: _Model = _model(VGG13_Weights, "a VGG of 13 layers", "B", False)
vgg13_bn: _Model = _model(
    VGG13_BN_Weights, "a VGG of 13 layers with batch normalisation", "B", True
)
vgg16_bn: _Model = _model(
    VGG16_BN_Weights, "a VGG of 16 layers with batch normalisation", "D", True
)
vgg19_bn: _Model = _model(
    VGG19_BN_Weights, "a VGG of 19 layers with batch normalisation", "E", True
)


@builder(VGG16_Weights, pretrained=_FROM_FILE)
def vgg16(**kwargs: Any) -> VGG:
    """VGG-16.

    Args:
        weights: Pretrained weights, such as `"DEFAULT"`; they are downloaded. Default: None.
        progress: Whether to show the download. Default: True.
        **kwargs: Options of `VGG`, such as `num_classes`.

    Example:
        >>> from flambeau.vision.models import vgg16
        >>> with torch.device("meta"):  # without memory for the weights
        ...     model = vgg16(num_classes=10)
        >>> model.classifier[-1]
        Linear(in_features=4096, out_features=10, bias=True)
    """
    return _vgg("D", False, **kwargs)


@builder(VGG19_Weights, pretrained=_FROM_FILE)
def vgg19(**kwargs: Any) -> VGG:
    """VGG-19.

    Args:
        weights: Pretrained weights, such as `"DEFAULT"`; they are downloaded. Default: None.
        progress: Whether to show the download. Default: True.
        **kwargs: Options of `VGG`, such as `num_classes`.

    Example:
        >>> from flambeau.vision.models import vgg19
        >>> with torch.device("meta"):  # without memory for the weights
        ...     model = vgg19(num_classes=10)
        >>> model.classifier[-1]
        Linear(in_features=4096, out_features=10, bias=True)
    """
    return _vgg("E", False, **kwargs)
