"""vmap: a function mapped over a dimension of its arguments, all samples computed at once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import flambeau as fb
from flambeau import _C, Tensor
from flambeau.utils._pytree import TreeSpec, broadcast_to, tree_flatten, tree_unflatten

__all__ = ["vmap"]


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Function that maps another one over a dimension of its arguments, vectorized.

    Args:
        func: Function of tensors, written for one sample.
        in_dims: Batch dimension of each argument, in the structure of the arguments; None
            for an argument that is the same for all. Default: 0.
        out_dims: Batch dimension of the results. Default: 0.
        randomness: Whether random operators are an `"error"` (the default), `"same"` for all
            samples or `"different"`.
        chunk_size: Number of samples to compute at once. Default: all.

    Example:
        >>> torch.func.vmap(torch.dot)(torch.ones(3, 2), torch.ones(3, 2))
        tensor([2., 2., 2.])
        >>> gradient = torch.func.grad(lambda w, x: (w * x) ** 2)
        >>> per_sample = torch.func.vmap(gradient, in_dims=(None, 0))
        >>> per_sample(torch.tensor(1.0), torch.tensor([1.0, 2.0]))
        tensor([2., 8.])

    See also:
        `torch.func.grad`, `torch.func.stack_module_state`.
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. "
            f"Got {randomness}"
        )
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    return mapped(_Map(func, in_dims, out_dims, randomness), chunk_size)


def map_directions(func: Callable[..., Any], randomness: str) -> Callable[..., Any]:
    """``vmap`` over tangents: everything else in ``func`` is the same for all of them."""
    return mapped(_Map(func, 0, 0, randomness, has_primals=randomness == "different"), None)


class _Inputs(NamedTuple):
    """Return all leaves of the arguments, the batch dimension of each, and their structure."""

    values: list[Any]
    dims: list[int | None]
    spec: TreeSpec


def mapped(each: _Map, chunk_size: int | None) -> Callable[..., Any]:
    """Return the mapped function, in chunks if their size is given."""

    @functools.wraps(each.func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        inputs = each.inputs(args)
        count = _batch_size(inputs.values, inputs.dims)
        if any(isinstance(value, Tensor) and value.is_meta for value in inputs.values):
            return each.run_on_meta(inputs, count, kwargs)
        if chunk_size is None or count <= chunk_size:
            return each.run(inputs, count, kwargs)
        parts = []
        for start in range(0, count, chunk_size):
            size = min(chunk_size, count - start)
            chunk = [
                value if dim is None else value.narrow(dim, start, size)
                for value, dim in zip(inputs.values, inputs.dims, strict=True)
            ]
            parts.append(each.run(inputs._replace(values=chunk), size, kwargs))
        return each.joined(parts)

    return wrapped


class _BatchLevel(_C._LevelScope):
    """A level of batched tensors: batch size, randomness, and whether there are primals."""

    _begin = staticmethod(_C._enter_batch_level)
    _end = staticmethod(_C._exit_batch_level)

    def __init__(self, count: int, randomness: str, has_primals: bool) -> None:
        self._value = (count, randomness, has_primals)


class _Map:
    """One function to map, and the names that errors use."""

    def __init__(
        self,
        func: Callable[..., Any],
        in_dims: Any,
        out_dims: Any,
        randomness: str,
        *,
        has_primals: bool = True,
    ) -> None:
        self.func = func
        self.in_dims = in_dims
        self.out_dims = out_dims
        self.randomness = randomness
        self.has_primals = has_primals
        self.name = getattr(func, "__name__", repr(func))

    def inputs(self, args: tuple[Any, ...]) -> _Inputs:
        where = f"vmap({self.name}, in_dims={self.in_dims}, ...)(<inputs>)"
        if not isinstance(self.in_dims, int | tuple | list):
            raise ValueError(
                f"{where}: expected `in_dims` to be int or a (potentially nested) tuple matching "
                f"the structure of inputs, got: {type(self.in_dims)}."
            )
        if not args:
            raise ValueError(
                f"vmap({self.name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or "
                "you are trying to vmap over a function with no inputs. The latter is unsupported."
            )
        values, spec = tree_flatten(args)
        in_dims = tuple(self.in_dims) if isinstance(self.in_dims, list) else self.in_dims
        dims = broadcast_to(in_dims, spec)
        if dims is None:
            raise ValueError(
                f"{where}: in_dims is not compatible with the structure of `inputs`. in_dims has "
                f"structure {tree_flatten(in_dims)[1]} but inputs has structure {spec}."
            )
        for i, (value, dim) in enumerate(zip(values, dims, strict=True)):
            dims[i] = _checked_in_dim(where, value, dim)
        return _Inputs(values, dims, spec)

    def run(self, inputs: _Inputs, count: int, kwargs: dict[str, Any]) -> Any:
        with _BatchLevel(count, self.randomness, self.has_primals) as level:
            batched = [
                value if dim is None else _C._make_batched(value, dim, level)
                for value, dim in zip(inputs.values, inputs.dims, strict=True)
            ]
            output = self.func(*tree_unflatten(batched, inputs.spec), **kwargs)
            return self._outputs(output, level)

    def run_on_meta(self, inputs: _Inputs, count: int, kwargs: dict[str, Any]) -> Any:
        """The results of all samples, by the shape of one sample's result."""
        samples = [
            value if dim is None else _any_sample(value, dim)
            for value, dim in zip(inputs.values, inputs.dims, strict=True)
        ]
        output = self.func(*tree_unflatten(samples, inputs.spec), **kwargs)
        return self._gathered(
            output,
            lambda leaf: leaf.expand(count, *leaf.shape).clone(memory_format=fb.contiguous_format),
            lambda leaf: leaf,
        )

    def _outputs(self, output: Any, level: int) -> Any:
        return self._gathered(
            output,
            lambda leaf: _C._samples_of(leaf, level),
            lambda leaf: self._shared(leaf, level),
        )

    def _gathered(
        self, output: Any, samples: Callable[[Tensor], Tensor], shared: Callable[[Any], Any]
    ) -> Any:
        """The results of all samples: batched ones, and those that are the same for all."""
        leaves, spec = tree_flatten(output)
        results = []
        for leaf, dim in zip(leaves, self._dims_of(spec), strict=True):
            if dim is None:
                results.append(shared(leaf))
                continue
            if not isinstance(leaf, Tensor):
                raise ValueError(
                    f"vmap({self.name}, ...): `{self.name}` must only return Tensors, got type "
                    f"{type(leaf)}. Did you mean to set out_dims= to None for output?"
                )
            results.append(samples(leaf).movedim(0, dim))
        return tree_unflatten(results, spec)

    def _dims_of(self, spec: TreeSpec) -> list[Any]:
        where = f"vmap({self.name}, ..., out_dims={self.out_dims})(<inputs>)"
        dims = broadcast_to(self.out_dims, spec)
        if dims is None:
            raise ValueError(
                f"{where}: out_dims is not compatible with the structure of `outputs`. out_dims "
                f"has structure {tree_flatten(self.out_dims)[1]} but outputs has structure {spec}."
            )
        for dim in dims:
            if not (dim is None or isinstance(dim, int)):
                raise ValueError(
                    f"{where}: `out_dims` must be an int, None or a python collection of ints "
                    "representing where in the outputs the vmapped dimension should appear."
                )
        return dims

    def _shared(self, leaf: Any, level: int) -> Any:
        if isinstance(leaf, Tensor) and _C._is_batched_at(leaf, level):
            raise ValueError(
                f"vmap({self.name}, ...): `{self.name}` can not return a BatchedTensor when "
                "out_dim is None"
            )
        return leaf

    def joined(self, parts: list[Any]) -> Any:
        """Concatenate the results of several chunks."""
        flat = [tree_flatten(part)[0] for part in parts]
        spec = tree_flatten(parts[0])[1]
        columns = zip(*flat, strict=True)
        return tree_unflatten(
            [
                column[0] if dim is None else fb.cat(list(column), dim)
                for column, dim in zip(columns, self._dims_of(spec), strict=True)
            ],
            spec,
        )


def _checked_in_dim(where: str, value: Any, dim: Any) -> int | None:
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(
            f"{where}: Got in_dim={dim} for an input but in_dim must be either an integer "
            "dimension or None."
        )
    if not isinstance(value, Tensor):
        raise ValueError(
            f"{where}: Got in_dim={dim} for an input but the input is of type {type(value)}. We "
            "cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
        )
    if not -value.dim() <= dim < value.dim():
        raise ValueError(
            f"{where}: Got in_dim={dim} for some input, but that input is a Tensor of "
            f"dimensionality {value.dim()} so expected in_dim to satisfy "
            f"-{value.dim()} <= in_dim < {value.dim()}."
        )
    return dim % value.dim()


def _any_sample(value: Tensor, dim: int) -> Tensor:
    """One sample of a tensor on meta, which may have none."""
    if value.size(dim):
        return value.select(dim, 0)
    return value.new_empty([size for i, size in enumerate(value.shape) if i != dim])


def _batch_size(values: list[Any], dims: list[int | None]) -> int:
    sizes = [v.size(d) for v, d in zip(values, dims, strict=True) if d is not None]
    if not sizes:
        raise ValueError(
            "vmap: at least one input must have a dimension to map over (in_dims is None for all)"
        )
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return int(sizes[0])
