"""DenseNet (https://arxiv.org/abs/1608.06993)."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.nn.functional import adaptive_avg_pool2d, dropout, relu
from flambeau.utils.checkpoint import checkpoint
from flambeau.vision.models._api import family
from flambeau.vision.models._init import constant, norm_unit, start
from flambeau.vision.models._weights import weights_of

__all__ = [
    "DenseNet",
    "DenseNet121_Weights",
    "DenseNet161_Weights",
    "DenseNet169_Weights",
    "DenseNet201_Weights",
    "densenet121",
    "densenet161",
    "densenet169",
    "densenet201",
]

DenseNet121_Weights: Any = weights_of("densenet121")
DenseNet161_Weights: Any = weights_of("densenet161")
DenseNet169_Weights: Any = weights_of("densenet169")
DenseNet201_Weights: Any = weights_of("densenet201")

# Published files name the parts of a dense layer with a dot, which modules cannot have.
_OLD_NAME = re.compile(r"^(.*denselayer\d+\.(?:norm|relu|conv))\.([12]\..*)$")


class _DenseLayer(nn.Module):
    """Layer that computes a few new channels from all channels so far."""

    def __init__(
        self,
        num_input_features: int,
        growth_rate: int,
        bn_size: int,
        drop_rate: float,
        memory_efficient: bool = False,
    ) -> None:
        super().__init__()
        width = bn_size * growth_rate
        self.norm1 = nn.BatchNorm2d(num_input_features)
        self.relu1 = nn.ReLU(inplace=True)
        self.conv1 = nn.Conv2d(num_input_features, width, kernel_size=1, stride=1, bias=False)
        self.norm2 = nn.BatchNorm2d(width)
        self.relu2 = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(width, growth_rate, kernel_size=3, stride=1, padding=1, bias=False)
        self.drop_rate = float(drop_rate)
        self.memory_efficient = memory_efficient

    def _narrowed(self, *features: Tensor) -> Tensor:
        return self.conv1(self.relu1(self.norm1(fb.cat(features, 1))))  # type: ignore[no-any-return]

    def forward(self, input: Tensor | list[Tensor]) -> Tensor:
        features = [input] if isinstance(input, Tensor) else input
        if self.memory_efficient and any(feature.requires_grad for feature in features):
            narrow = checkpoint(self._narrowed, *features, use_reentrant=False)
        else:
            narrow = self._narrowed(*features)
        new: Tensor = self.conv2(self.relu2(self.norm2(narrow)))
        return dropout(new, p=self.drop_rate, training=self.training) if self.drop_rate else new


class _DenseBlock(nn.ModuleDict):
    """Layers that each see the outputs of all earlier ones."""

    def __init__(
        self,
        num_layers: int,
        num_input_features: int,
        bn_size: int,
        growth_rate: int,
        drop_rate: float,
        memory_efficient: bool = False,
    ) -> None:
        super().__init__()
        for i in range(num_layers):
            channels = num_input_features + i * growth_rate
            layer = _DenseLayer(channels, growth_rate, bn_size, drop_rate, memory_efficient)
            self.add_module(f"denselayer{i + 1}", layer)

    def forward(self, init_features: Tensor) -> Tensor:
        features = [init_features]
        for layer in self.values():
            features.append(layer(features))
        return fb.cat(features, 1)


class _Transition(nn.Sequential):
    """Transition that halves channels, height and width."""

    def __init__(self, num_input_features: int, num_output_features: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(num_input_features)
        self.relu = nn.ReLU(inplace=True)
        self.conv = nn.Conv2d(
            num_input_features, num_output_features, kernel_size=1, stride=1, bias=False
        )
        self.pool = nn.AvgPool2d(kernel_size=2, stride=2)


class DenseNet(nn.Module):
    """Four dense blocks with transitions between them."""

    def __init__(
        self,
        growth_rate: int = 32,
        block_config: Sequence[int] = (6, 12, 24, 16),
        num_init_features: int = 64,
        bn_size: int = 4,
        drop_rate: float = 0,
        num_classes: int = 1000,
        memory_efficient: bool = False,
    ) -> None:
        super().__init__()
        stem: OrderedDict[str, nn.Module] = OrderedDict(
            conv0=nn.Conv2d(3, num_init_features, kernel_size=7, stride=2, padding=3, bias=False),
            norm0=nn.BatchNorm2d(num_init_features),
            relu0=nn.ReLU(inplace=True),
            pool0=nn.MaxPool2d(kernel_size=3, stride=2, padding=1),
        )
        self.features: nn.Sequential = nn.Sequential(stem)
        channels = num_init_features
        for i, layers in enumerate(block_config, 1):
            block = _DenseBlock(layers, channels, bn_size, growth_rate, drop_rate, memory_efficient)
            self.features.add_module(f"denseblock{i}", block)
            channels += layers * growth_rate
            if i != len(block_config):
                self.features.add_module(f"transition{i}", _Transition(channels, channels // 2))
                channels //= 2
        self.features.add_module("norm5", nn.BatchNorm2d(channels))
        self.classifier: nn.Linear = nn.Linear(channels, num_classes)
        start(self, _conv_fan_in, norm_unit)
        constant(self.classifier.bias, 0.0)

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, *args: Any, **kwargs: Any
    ) -> None:
        for name in list(state_dict):
            if found := _OLD_NAME.match(name):
                state_dict[found[1] + found[2]] = state_dict.pop(name)
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)

    def forward(self, x: Tensor) -> Tensor:
        features = relu(self.features(x), inplace=True)
        pooled = adaptive_avg_pool2d(features, (1, 1)).flatten(1)
        return self.classifier(pooled)  # type: ignore[no-any-return]


def _conv_fan_in(module: nn.Module) -> None:
    if isinstance(module, nn.Conv2d):
        nn.init.kaiming_normal_(module.weight)


_Model = Callable[..., DenseNet]
_model = family(DenseNet)

densenet121: _Model = _model(
    DenseNet121_Weights, "a DenseNet of 121 layers", 32, (6, 12, 24, 16), 64
)
densenet161: _Model = _model(
    DenseNet161_Weights, "a DenseNet of 161 layers, which are wider", 48, (6, 12, 36, 24), 96
)
densenet169: _Model = _model(
    DenseNet169_Weights, "a DenseNet of 169 layers", 32, (6, 12, 32, 32), 64
)
densenet201: _Model = _model(
    DenseNet201_Weights, "a DenseNet of 201 layers", 32, (6, 12, 48, 32), 64
)
