"""``fuse_modules``: layers that follow each other become one."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from flambeau import nn
from flambeau.ao.nn import intrinsic
from flambeau.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

__all__: list[str] = []

_CONVS = {nn.Conv1d: "1d", nn.Conv2d: "2d", nn.Conv3d: "3d"}
_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


def fuse_conv_bn(is_qat: bool, conv: Any, bn: Any) -> Any:
    """A convolution with the normalisation after it: one layer, or a pair that is to be trained.

    While a model is trained the normalisation cannot be part of the convolution.
    """
    _check_modes(conv, bn)
    if is_qat:
        return getattr(intrinsic, f"ConvBn{_CONVS[type(conv)]}")(conv, bn)
    return fuse_conv_bn_eval(conv, bn)


def fuse_conv_bn_relu(is_qat: bool, conv: Any, bn: Any, relu: Any) -> Any:
    """The same with the function after them."""
    _check_modes(conv, bn, relu)
    size = _CONVS[type(conv)]
    if is_qat:
        return getattr(intrinsic, f"ConvBnReLU{size}")(conv, bn, relu)
    return getattr(intrinsic, f"ConvReLU{size}")(fuse_conv_bn_eval(conv, bn), relu)


def fuse_modules(
    model: nn.Module,
    modules_to_fuse: list[Any],
    inplace: bool = False,
    fuser_func: Callable[..., Any] | None = None,
    fuse_custom_config_dict: dict[str, Any] | None = None,
) -> nn.Module:
    """A model in which each list of layers, given by their names, is one layer."""
    if fuse_custom_config_dict:
        raise NotImplementedError(
            "fuse_modules: layers are fused by fuser_func; leave out fuse_custom_config_dict"
        )
    changed = model if inplace else copy.deepcopy(model)
    lists = modules_to_fuse
    if lists and all(isinstance(each, str) for each in lists):
        lists = [lists]
    for names in lists:
        _fuse_one(changed, names, fuser_func or _fuse_known)
    return changed


def fuse_modules_qat(
    model: nn.Module,
    modules_to_fuse: list[Any],
    inplace: bool = False,
    fuser_func: Callable[..., Any] | None = None,
    fuse_custom_config_dict: dict[str, Any] | None = None,
) -> nn.Module:
    """The same for a model in training."""
    if not model.training:
        raise ValueError("fuse_modules_qat: expected a model in training; call .train() before")
    return fuse_modules(model, modules_to_fuse, inplace, fuser_func, fuse_custom_config_dict)


def _fuse_one(model: nn.Module, names: list[str], fuse: Callable[..., Any]) -> None:
    layers = [model.get_submodule(name) for name in names]
    for name, layer in zip(names, fuse(layers), strict=True):
        parent, _, last = name.rpartition(".")
        setattr(model.get_submodule(parent), last, layer)


def _fuse_known(layers: list[nn.Module]) -> list[nn.Module]:
    """The one layer, and ``Identity`` in the places of the others."""
    return [_fused(layers), *(nn.Identity() for _ in layers[1:])]


def _fused(layers: list[Any]) -> Any:
    kinds = [type(layer) for layer in layers]
    first, others = kinds[0], kinds[1:]
    has_norm = bool(others) and others[0] in _NORMS
    if first in _CONVS and has_norm and others[1:] == [nn.ReLU]:
        return fuse_conv_bn_relu(layers[0].training, *layers)
    if first in _CONVS and has_norm and len(others) == 1:
        return fuse_conv_bn(layers[0].training, *layers)
    if first in _CONVS and others == [nn.ReLU]:
        return getattr(intrinsic, f"ConvReLU{_CONVS[first]}")(*layers)
    if first is nn.Linear and others == [nn.ReLU]:
        return intrinsic.LinearReLU(*layers)
    if first is nn.Linear and others == [nn.BatchNorm1d]:
        _check_modes(*layers)
        if layers[0].training:
            return intrinsic.LinearBn1d(*layers)
        return fuse_linear_bn_eval(*layers)
    if first in _NORMS and others == [nn.ReLU]:
        return getattr(intrinsic, f"BNReLU{first.__name__[-2:]}")(*layers)
    names = ", ".join(kind.__name__ for kind in kinds)
    raise NotImplementedError(f"fuse_modules: {names} cannot be fused")


def _check_modes(*layers: nn.Module) -> None:
    if len({layer.training for layer in layers}) > 1:
        raise AssertionError("fuse_modules: some of the layers are in training and some are not")
