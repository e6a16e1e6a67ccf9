"""Collation of samples into batches."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import flambeau
from flambeau import Tensor
from flambeau.utils.data._utils.containers import map_items, mapping_like, sequence_like
from flambeau.utils.data._utils.worker import new_output

__all__ = [
    "collate",
    "collate_float_fn",
    "collate_int_fn",
    "collate_numpy_array_fn",
    "collate_numpy_scalar_fn",
    "collate_str_fn",
    "collate_tensor_fn",
    "default_collate",
    "default_collate_err_msg_format",
    "default_collate_fn_map",
    "default_convert",
]

_Functions = dict[Any, Callable[..., Any]]
np_str_obj_array_pattern = re.compile(r"[SaUO]")  # NumPy's codes for text and objects
default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def default_convert(data: Any) -> Any:
    """Convert the NumPy arrays in a sample to tensors.

    Args:
        data: The sample.

    Example:
        >>> import numpy as np
        >>> torch.utils.data.default_convert([np.array([1, 2]), "a"])
        [tensor([1, 2]), 'a']
    """
    if isinstance(data, Tensor):
        return data
    kind = type(data)
    if kind.__module__ == "numpy" and kind.__name__ not in ("str_", "bytes_", "string_"):
        return data if _holds_objects(data) else flambeau.as_tensor(data)
    return map_items(data, default_convert, tuples=False)


def _holds_objects(array: Any) -> bool:
    """Whether a NumPy array holds strings or Python objects, which no tensor can."""
    return getattr(array, "shape", ()) is not None and array.dtype.kind in "SaUO"


def collate(batch: Sequence[Any], *, collate_fn_map: _Functions | None = None) -> Any:
    """Collate samples: `collate_fn_map` says how each type of item is collated.

    An item of a type that is not in the map is collated by the first entry it is an
    instance of; mappings and sequences item by item.
    """
    first = batch[0]
    if collate_fn_map is not None:
        function = collate_fn_map.get(type(first)) or _function_for(first, collate_fn_map)
        if function is not None:
            return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        items = {
            key: collate([sample[key] for sample in batch], collate_fn_map=collate_fn_map)
            for key in first
        }
        return mapping_like(first, items)
    if isinstance(first, Sequence):
        return _collate_sequences(batch, first, collate_fn_map)
    raise TypeError(default_collate_err_msg_format.format(type(first)))


def _function_for(item: Any, functions: _Functions) -> Callable[..., Any] | None:
    if functions is default_collate_fn_map:
        _know_numpy()
    for kind, function in functions.items():
        if isinstance(item, kind):
            return function
    return None


def _collate_sequences(batch: Sequence[Any], first: Any, functions: _Functions | None) -> Any:
    named = isinstance(first, tuple) and hasattr(first, "_fields")
    if not named and len(set(map(len, batch))) > 1:
        raise RuntimeError(
            "each element in list of batch should be of equal size, but the lengths are "
            f"{sorted(set(map(len, batch)))}; pad the samples, or give the loader a "
            "collate_fn"
        )
    items = [collate(column, collate_fn_map=functions) for column in zip(*batch, strict=False)]
    if named:
        return type(first)(*items)
    return items if isinstance(first, tuple) else sequence_like(first, items)


def collate_tensor_fn(
    batch: Sequence[Tensor], *, collate_fn_map: _Functions | None = None
) -> Tensor:
    """Stack tensors of one shape along a new first dimension."""
    first = batch[0]
    if first.layout is not flambeau.strided:
        raise RuntimeError(
            "Batches of sparse tensors are not currently supported by the default collate_fn; "
            "please provide a custom collate_fn to handle them appropriately."
        )
    out = new_output(first, (len(batch), *first.shape))
    if out is None:
        return flambeau.stack(batch)
    return flambeau.stack(batch, out=out)


def collate_numpy_array_fn(
    batch: Sequence[Any], *, collate_fn_map: _Functions | None = None
) -> Any:
    """Stack arrays of one shape as one tensor."""
    if _holds_objects(batch[0]):
        raise TypeError(default_collate_err_msg_format.format(batch[0].dtype))
    return collate([flambeau.as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(
    batch: Sequence[Any], *, collate_fn_map: _Functions | None = None
) -> Tensor:
    """Collate NumPy numbers to a tensor of their dtype."""
    return flambeau.as_tensor(batch)


def collate_float_fn(batch: Sequence[float], *, collate_fn_map: _Functions | None = None) -> Tensor:
    """Collate Python floats to a float64 tensor."""
    return flambeau.tensor(batch, dtype=flambeau.float64)


def collate_int_fn(batch: Sequence[int], *, collate_fn_map: _Functions | None = None) -> Tensor:
    """Collate integers to an int64 tensor, and bools to a bool tensor."""
    return flambeau.tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: _Functions | None = None) -> Any:
    """Return strings as they are."""
    return batch


default_collate_fn_map: _Functions = {
    Tensor: collate_tensor_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def _know_numpy() -> None:
    """Add NumPy's types to the default map once a program has imported NumPy.

    They go before Python's numbers, which some of NumPy's are subclasses of.
    """
    numpy = sys.modules.get("numpy")
    if numpy is None or numpy.ndarray in default_collate_fn_map:
        return
    others = dict(default_collate_fn_map)
    tensors = others.pop(Tensor, collate_tensor_fn)
    default_collate_fn_map.clear()
    default_collate_fn_map.update(
        {
            Tensor: tensors,
            numpy.ndarray: collate_numpy_array_fn,
            (numpy.bool_, numpy.number, numpy.object_): collate_numpy_scalar_fn,
            **others,
        }
    )


_know_numpy()


def default_collate(batch: Sequence[Any]) -> Any:
    """Make a batch of a list of samples.

    Tensors, arrays and numbers are stacked along a new first dimension; mappings, named tuples and
    sequences item by item; strings stay as they are.

    Args:
        batch: The samples.

    Raises:
        TypeError: A sample is of an unknown type.

    Example:
        >>> torch.utils.data.default_collate([(1, "a"), (2, "b")])
        [tensor([1, 2]), ('a', 'b')]
        >>> torch.utils.data.default_collate([{"x": torch.zeros(2)}, {"x": torch.ones(2)}])
        {'x': tensor([[0., 0.],
                [1., 1.]])}
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
