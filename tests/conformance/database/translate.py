"""What torch's databases hold, tensor by tensor, in terms of Flambeau."""

from __future__ import annotations

import dataclasses
import re
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import flambeau
from tests.conformance.database.resolve import Missing, counterpart

# Integers as wide as an element: NumPy knows neither bfloat16 nor bytes of bool other than 0 and 1.
_CARRIERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def translated(value: Any) -> Any:
    """`value` with all that is torch's in it replaced by Flambeau's."""
    if isinstance(value, torch.Tensor):
        return tensor(value)
    if isinstance(value, torch.dtype):
        return dtype(value)
    if isinstance(value, torch.Size):
        return flambeau.Size(value)
    if isinstance(value, (torch.device, torch.layout, torch.memory_format)):
        return _constant(value)
    if isinstance(value, dict):
        return {key: translated(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return _sequence(value)
    if isinstance(value, slice):
        return slice(*(translated(each) for each in (value.start, value.stop, value.step)))
    if isinstance(value, torch.nn.Module):
        return _module(value)
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, type)):
        return _callable(value)
    if isinstance(value, torch.Generator):
        return flambeau.Generator().manual_seed(value.initial_seed())
    if dataclasses.is_dataclass(value) and type(value).__module__.startswith("torch.nn."):
        fields = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
        return counterpart(type(value))(**translated(fields))
    if re.match(r"torch\.(?!testing)", type(value).__module__):
        raise Missing(type(value).__name__)
    return value


def _module(value: torch.nn.Module) -> Any:
    """A module that is an argument: one of few that are made without arguments, or a layer."""
    if not isinstance(value, torch.nn.TransformerEncoderLayer):
        return counterpart(type(value))()
    made = flambeau.nn.TransformerEncoderLayer(
        value.self_attn.embed_dim,
        value.self_attn.num_heads,
        value.linear1.out_features,
        value.dropout.p,
        translated(value.activation),
        layer_norm_eps=value.norm1.eps,
        batch_first=value.self_attn.batch_first,
        norm_first=value.norm_first,
        bias=value.linear1.bias is not None,
    )
    made.load_state_dict(translated(dict(value.state_dict())))
    return made


def _callable(value: Any) -> Any:
    """A function or class; what is no part of torch stays."""
    return counterpart(value) if str(value.__module__).startswith("torch") else value


def tensor(value: torch.Tensor) -> Any:
    """A tensor with the same values, strides, offset and need of a gradient."""
    if value.layout is not torch.strided:
        return _sparse(value)
    made = _parameter(value, _strided(value.detach()))
    return made.requires_grad_() if value.requires_grad and not made.requires_grad else made


def dtype(value: torch.dtype) -> Any:
    name = str(value).rpartition(".")[2]
    if not hasattr(flambeau, name):
        raise Missing(f"dtype {name}")
    return getattr(flambeau, name)


def _strided(value: torch.Tensor) -> Any:
    if value.is_conj():
        return _strided(value.conj()).conj()
    if value.is_neg():
        return -_strided(value._neg_view())
    ours = dtype(value.dtype)
    if value.is_meta:
        return flambeau.empty_strided(value.shape, value.stride(), dtype=ours, device="meta")
    bits = _flat(value)
    flat = flambeau.from_numpy(bits).view(ours) if bits.size else flambeau.empty(0, dtype=ours)
    return flat.as_strided(tuple(value.shape), value.stride(), value.storage_offset())


def _flat(value: torch.Tensor) -> np.ndarray:
    """A copy of the storage of a tensor, as integers; those of 16 bytes in two halves."""
    size = value.element_size()
    count = value.untyped_storage().nbytes() // size
    flat = value.as_strided((count,), (1,), 0)
    if value.is_complex():
        flat = torch.view_as_real(flat)
        size //= 2
    return flat.view(_CARRIERS[size]).clone().flatten().numpy()


def _parameter(value: torch.Tensor, made: Any) -> Any:
    if isinstance(value, torch.nn.Parameter):
        return flambeau.nn.Parameter(made, requires_grad=value.requires_grad)
    return made


def _sparse(value: torch.Tensor) -> Any:
    if value.layout is not torch.sparse_coo:
        raise Missing(f"layout {value.layout}")
    parts = (value._indices(), value._values())
    indices, values = (tensor(each.detach()) for each in parts)
    made = flambeau.sparse_coo_tensor(indices, values, tuple(value.shape))
    made = made.coalesce() if value.is_coalesced() else made
    return made.requires_grad_() if value.requires_grad else made


def _constant(value: Any) -> Any:
    if isinstance(value, torch.device):
        return flambeau.device(str(value))
    name = str(value).rpartition(".")[2]
    if not hasattr(flambeau, name):
        raise Missing(f"{type(value).__name__} {name}")
    return getattr(flambeau, name)


def _sequence(value: Any) -> Any:
    parts = [translated(each) for each in value]
    if isinstance(value, list):
        return parts
    return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)


def map_tensors(function: Callable[[Any], Any], value: Any, module: Any) -> Any:
    """`value` with `function` applied to every tensor of `module` in it."""
    if isinstance(value, module.Tensor):
        return function(value)
    if isinstance(value, dict):
        return {key: map_tensors(function, each, module) for key, each in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(map_tensors(function, each, module) for each in value)
    return value
