"""The device ``meta``: tensors with a shape and a type, but without elements.

A model made there takes no memory: ``with torch.device("meta"): Model()``. It is used to see
shapes, and to load weights into a model that was never initialised.

Such a tensor is an object of a subclass whose ``__torch_function__`` answers for every function.
Behind it lie pages of zeros that the operating system has promised and never has to give, so that
an operator can be called on them to see what it returns; what changes elements in place does
nothing. Where that would take long, small tensors stand for large ones (``_meta_sizes``), and
what no addresses are left for has no pages at all.
"""

from __future__ import annotations

import contextlib
import math
import mmap
import warnings
from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor
from flambeau._core.overriding import OVERRIDABLE
from flambeau._core.printing import PLAIN_TYPES
from flambeau._meta.gradients import change, record
from flambeau._meta.sizes import Sketch, dense_strides, is_large, numbers_in
from flambeau.autograd._tensor import backward
from flambeau.overrides import TorchFunctionMode
from flambeau.utils._pytree import tree_flatten, tree_map

__all__ = ["MetaTensor", "OnDevice", "call_on_meta"]

META = fb.device("meta")

_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)
_PAGE = mmap.PAGESIZE


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_READ_ELEMENTS = _words(
    "item tolist numpy __array__ __bool__ __int__ __float__ __complex__ __index__ _contains "
    "equal allclose is_nonzero nonzero masked_select unique cpu __dlpack__ argwhere bincount "
    "unique_consecutive combinations"
)
_READ_ONE = _words("item __bool__ __int__ __float__ __complex__ __index__ _contains one_hot")
# In place, yet not on elements.
_CHANGE_THE_TENSOR = _words(
    "requires_grad_ detach_ unsqueeze_ squeeze_ t_ transpose_ swapaxes_ swapdims_ as_strided_ "
    "share_memory_"
)
_IN_PLACE = frozenset(
    f"__i{name}__"
    for name in _words("add sub mul truediv floordiv mod pow matmul and or xor lshift rshift")
)
_CREATE = _words(
    "arange asarray as_tensor bartlett_window blackman_window empty empty_permuted empty_strided "
    "eye full hamming_window hann_window kaiser_window linspace logspace normal ones rand randint "
    "randn randperm range scalar_tensor tensor tril_indices triu_indices zeros"
)
# Of another tensor these look at the shape alone, wherever it is.
_SHAPED_AS = _words("view_as reshape_as expand_as resize_as")
# Functions that refuse zeros, which are what lies behind a tensor; beside those of matrices.
_JUDGE_ELEMENTS = _words("multinomial lu_solve lu_unpack linalg_lu_solve")
# In place, and yet all tensors have to be on one device.
_ON_ONE_DEVICE = _words("float_power_ index_add_ index_copy_ index_fill_ map_ map2_")
# Functions that return a window on their input and look at no element.
_VIEWS = frozenset(each["name"] for each in _C.op_info() if each["kind"] == "view") | _words(
    "detach view_as unsafe_chunk unsafe_split tensor_split hsplit vsplit dsplit __iter__"
)
# The same where the input lies so, and otherwise copies.
_RESHAPES = _words("reshape reshape_as flatten ravel")
# Bytes of one tensor: so many lie on pages at any rate, and so many if there are addresses left, of
# which a process has 128 times as many.
_FEW_PAGES = 1 << 28
_MOST_PAGES = 1 << 40
# Where small tensors cannot stand for large ones: so many elements are computed after all.
_MOST_ELEMENTS = 1 << 28
# Functions whose first arguments are the size of what they make: nothing need be computed.
_OF_A_SIZE = _words("empty zeros ones rand randn")
# Functions that are asked for what another one returns, which makes no elements.
_NEW = _words("dtype requires_grad")
_LIKE = _words("zeros_like ones_like rand_like randn_like clone")
_FLIPPED = {"H": "T", "mH": "mT"}
_CASTS = {
    "half": fb.float16,
    "bfloat16": fb.bfloat16,
    "float": fb.float32,
    "double": fb.float64,
    "int": fb.int32,
    "long": fb.int64,
    "bool": fb.bool,
}


class MetaTensor(Tensor):
    """A tensor without elements."""

    def __new__(cls, data: Any = None, requires_grad: bool | None = None) -> Any:
        # Parameters on `meta` are of this class too, and packages call the class of a parameter
        # to put one with elements in its place.
        if requires_grad is None:
            return Tensor() if data is None else Tensor(data)
        return fb.nn.Parameter(data, requires_grad)

    device = property(lambda self: META)
    is_meta = property(lambda self: True)
    is_cpu = property(lambda self: False)

    def data_ptr(self) -> int:
        return 0

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise _no_elements("numpy", None)

    def __repr__(self, **options: Any) -> str:
        text = super().__repr__(**options)
        return f"Parameter containing:\n{text}" if hasattr(self, "_is_param") else text

    def __reduce_ex__(self, protocol: Any) -> Any:
        state = {key: value for key, value in vars(self).items() if key != "_fb_viewed"} or None
        parts = (self.dtype, tuple(self.shape), self.stride(), self.requires_grad)
        return rebuild_meta_tensor, (*parts, state)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        copied = memo.setdefault(id(self), self.detach().requires_grad_(self.requires_grad))
        vars(copied).update(vars(self))
        return copied

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        device = _taken_device(name, args, kwargs)
        if name == "__get__":  # of an attribute: what the class does not answer itself
            attribute: Any = func
            if flipped := _FLIPPED.get(attribute.__self__.__name__):
                return getattr(args[0], flipped)  # nothing need be conjugated
            value = _as_it_is(func, args, kwargs)
            if not _has_elements(value):
                return value
            return _with_history(_without_elements(value, {_home(args[0])}), args, {})
        if _reads_elements(name, args, kwargs) or (device is not None and name == "to"):
            raise _no_elements(name, device)
        if name == "backward":
            return backward(*args, **kwargs)
        if _changes_elements(name):
            with _C.DisableTorchFunctionSubclass():
                return _unchanged(func, args, kwargs)
        if device is not None:  # made elsewhere, after the shape of this one
            return _as_it_is(func, args, {**kwargs, "device": device})
        return call_on_meta(func, args, kwargs)


PLAIN_TYPES.add(MetaTensor)


def rebuild_meta_tensor(
    dtype: fb.dtype,
    size: tuple[int, ...],
    stride: tuple[int, ...],
    requires_grad: bool,
    state: dict[str, Any] | None,
) -> Tensor:
    """Make a tensor of its parts: what pickles of tensors without elements call."""
    made: Tensor = _promised(size, stride, dtype)
    vars(made).update(state or {})
    return made.requires_grad_(requires_grad)


def call_on_meta(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """What a function returns, without elements, for arguments of which some are on ``meta``."""
    with _C.DisableTorchFunctionSubclass():  # tensors are asked for their shapes in here
        large = _is_too_large(tree_flatten((args, kwargs))[0])
    if large and func in OVERRIDABLE:  # made of others, which are easier to answer for
        with contextlib.suppress(RuntimeError):
            return func.__wrapped__(*args, **kwargs)  # type: ignore[attr-defined]
    with _C.DisableTorchFunctionSubclass():
        return _with_history(_called(func, args, kwargs), args, kwargs)


def _with_history(result: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """A result in whose graph the tensors it was made of are."""
    if not fb.is_grad_enabled() or kwargs.get("requires_grad"):
        return result
    given = [each for each in tree_flatten((args, kwargs))[0] if isinstance(each, MetaTensor)]
    inputs = [each for each in given if each.requires_grad]
    if not inputs:
        return result
    known = {id(each) for each in given}
    made = [
        each
        for each in tree_flatten(result)[0]
        if isinstance(each, Tensor) and each.requires_grad and id(each) not in known
    ]
    # Without the node that an operator has left behind which computes.
    bare = [Tensor._make_subclass(MetaTensor, each) for each in made]
    recorded = dict(zip(map(id, made), record(_dense, bare, inputs), strict=True)) if made else {}
    homes = {_home(each): each for each in given}
    for each in recorded.values():
        if (viewed := homes.get(_home(each))) is not None:
            vars(each)["_fb_viewed"] = viewed
    return tree_map(lambda each: recorded.get(id(each), each), result)


def _changed_by(tensor: Tensor, others: Any) -> None:
    """Note in the graph that a tensor was changed in place, with all that it is a view of."""
    if not fb.is_grad_enabled():
        return
    inputs = [each for each in tree_flatten(others)[0] if isinstance(each, MetaTensor)]
    inputs = [each for each in inputs if each.requires_grad]
    changed = tensor
    while True:
        own = [changed] if changed.requires_grad else []
        if own or inputs:
            change(_dense, changed, [*own, *inputs])
        if (viewed := vars(changed).get("_fb_viewed")) is None:
            return
        changed = viewed


def _is_too_large(leaves: list[Any]) -> bool:
    """Whether what a call has to do for elements cannot be done, or nobody wants to wait for it."""
    given = [each for each in leaves if isinstance(each, Tensor)]
    return is_large(given, numbers_in(leaves)) or not all(map(_C._has_memory, given))


def _called(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    name = getattr(func, "__name__", "")
    if kwargs.get("out") is not None:
        return _into(kwargs["out"], func, args, kwargs)
    return _answered(name, func, args, kwargs)


def _into(outs: Any, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """The tensors of ``out=``, in the shape of the result.

    Empty ones stand for them, so that the operator says itself what it asks of their types.
    """
    name = getattr(func, "__name__", "")
    given = tree_flatten(outs)[0]
    _check_device_of_out(name, given, kwargs)
    blank = tree_map(
        lambda each: fb.empty(0, dtype=each.dtype, requires_grad=each.requires_grad), outs
    )
    made = _answered(name, func, args, {**kwargs, "out": blank})
    is_factory = not any(isinstance(each, Tensor) for each in tree_flatten(args)[0])
    for out, new in zip(given, tree_flatten(made)[0], strict=True):
        if out.shape == new.shape:
            continue
        if out.numel() and not is_factory:
            warnings.warn(
                "An output with one or more elements was resized since it had shape "
                f"{tuple(out.shape)} and the result has shape {tuple(new.shape)}; pass an empty "
                "one, or call resize_(0) on it before",
                stacklevel=5,
            )
        _C._move_to(out, new)
    places = iter(given)
    return tree_map(lambda each: next(places), made)


def _check_device_of_out(name: str, outs: list[Any], kwargs: dict[str, Any]) -> None:
    device = kwargs.get("device")
    for out in outs:
        if not isinstance(out, Tensor):
            raise TypeError(f"{name}: out must be tensors, got {type(out).__name__}")
        if device is not None and fb.device(device).type != out.device.type:
            raise RuntimeError(
                f"{name}: the device {fb.device(device)} is not that of out, which is {out.device}"
            )
        if not isinstance(out, MetaTensor):
            raise _several_devices(name)


def _answered(name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """What a function returns, where ``out=`` is plain and empty."""
    kwargs = {key: value for key, value in kwargs.items() if not _is_meta(value)}
    if (made := _made(name, args, kwargs)) is not None:
        return made
    if name == "to":
        return _to(args[0], [each for each in args[1:] if not _is_meta(each)], kwargs)
    if name == "repeat_interleave" and kwargs.get("output_size") is not None:
        func = _interleaved
    if name in _CASTS:
        return _cast(args[0], _CASTS[name])
    if name in _LIKE:
        func = _cloned if name == "clone" else fb.empty_like
        kwargs.pop("generator", None)
    operands = {key: value for key, value in kwargs.items() if key != "out"}
    leaves = tree_flatten((args, operands))[0]
    given = [each for each in leaves if isinstance(each, Tensor)]
    if name in _SHAPED_AS and not isinstance(args[0], MetaTensor):
        return _as_it_is(func, args, kwargs)
    if name not in _SHAPED_AS and not (name == "__getitem__" and isinstance(args[0], MetaTensor)):
        _check_places(name, given, to_meta="out" in kwargs)
    if _is_too_large(leaves) and not _is_view(name, args):
        return _sketched(func, args, kwargs, given)
    return _computed(func, args, kwargs, given)


def _computed(
    func: Callable[..., Any], args: Any, kwargs: dict[str, Any], given: list[Tensor]
) -> Any:
    """What a function returns for the zeros behind its arguments, or the views it makes."""
    try:
        result = _as_it_is(func, args, kwargs)
    except RuntimeError as error:
        if not isinstance(error, fb.linalg.LinAlgError) and func.__name__ not in _JUDGE_ELEMENTS:
            raise
        result = _of_other_elements(func, args, kwargs, error)
    homes = {_home(each) for each in given if isinstance(each, MetaTensor)}
    return tree_map(lambda each: _without_elements(each, homes), result)


def _of_other_elements(
    func: Callable[..., Any], args: Any, kwargs: dict[str, Any], error: RuntimeError
) -> Any:
    """What a function returns that refuses zeros: those have no inverse, and are no shares."""
    for numbers in (_ones, _arbitrary):
        with contextlib.suppress(RuntimeError):
            return _as_it_is(func, _replaced(args, numbers), kwargs)
    raise error


def _replaced(args: Any, numbers: Callable[[Tensor], Tensor]) -> Any:
    def other(value: Any) -> Any:
        if not isinstance(value, MetaTensor):
            return value
        return numbers(value).requires_grad_(value.requires_grad)

    return tree_map(other, args)


def _ones(tensor: Tensor) -> Tensor:
    """Identity matrices, or ones where there are no matrices."""
    if tensor.dim() < 2 or not tensor.is_floating_point():
        return fb.ones(tensor.shape, dtype=tensor.dtype)
    return fb.eye(*tensor.shape[-2:], dtype=tensor.dtype).expand(tensor.shape).clone()


def _arbitrary(tensor: Tensor) -> Tensor:
    """Numbers of which no matrix is singular by chance, the same in every call."""
    places = fb.arange(1, tensor.numel() + 1, dtype=fb.float64)
    return ((places * places * 0.7) % 1.3).reshape(tensor.shape).to(tensor.dtype)


def _is_view(name: str, args: Any) -> bool:
    if name == "__getitem__":
        index = args[1] if isinstance(args[1], tuple) else (args[1],)
        plain = (int, slice, type(None), type(...))
        return all(isinstance(each, plain) and not isinstance(each, bool) for each in index)
    if name in _RESHAPES:
        return bool(args[0].is_contiguous())
    return name in _VIEWS or name in _CHANGE_THE_TENSOR


def _sketched(
    func: Callable[..., Any], args: Any, kwargs: dict[str, Any], given: list[Tensor]
) -> Any:
    """What a function returns for tensors that nobody wants to wait for."""
    if func.__name__ in _RESHAPES:
        return _reshaped(func, args, kwargs)
    with _C.DisableTorchFunctionSubclass(), _C.DisableTorchFunction():
        try:
            sketch = Sketch(func, args, kwargs)
        except RuntimeError:
            few = sum(each.numel() for each in given) <= _MOST_ELEMENTS
            if few and all(map(_C._has_memory, given)):
                return _computed(func, args, kwargs, given)
            raise
        leaves = [each for each in tree_flatten(sketch.result)[0] if isinstance(each, Tensor)]
        originals = {id(small): large for small, large in sketch.stand_ins}
        if len(leaves) == 1 and isinstance(originals.get(id(leaves[0])), MetaTensor):
            return originals[id(leaves[0])]
        homes = {_home(small) for small, _ in sketch.stand_ins}
        # The number of dimensions, or views: nobody looks at elements.
        if all(each.numel() and _home(each) in homes for each in leaves) and not sketch.changes:
            return _computed(func, args, kwargs, given)
        shapes = iter(sketch.shapes)
        return tree_map(
            lambda each: _like(each, next(shapes)) if isinstance(each, Tensor) else each,
            sketch.result,
        )


def _like(value: Any, shape: tuple[int, ...]) -> Any:
    """A tensor on meta that lies like another one, which is smaller."""
    made = _promised(shape, dense_strides(shape, value.stride()), value.dtype)
    return made.requires_grad_(value.requires_grad)


def _reshaped(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Tensor:
    """A tensor of which no window has that shape is copied, unless one has it after all."""
    tensor: Tensor = args[0]
    others = args[1:]
    with _C.DisableTorchFunctionSubclass(), _C.DisableTorchFunction():
        shape = func(fb.zeros(()).expand(tensor.shape), *others, **kwargs).shape
        with contextlib.suppress(RuntimeError):
            return tensor.view(shape).as_subclass(MetaTensor)
        made: Tensor = _promised(shape, dense_strides(shape, [0] * len(shape)), tensor.dtype)
        return made.requires_grad_(tensor.requires_grad)


def _of_a_size(sizes: Any, kwargs: dict[str, Any]) -> Tensor:
    """What ``empty`` makes, of a size that no memory may have room for."""
    size = kwargs.get("size", sizes[0] if len(sizes) == 1 else sizes)
    shape = fb.Size([size] if isinstance(size, int) else size)
    options = {key: value for key, value in kwargs.items() if key not in ("size", "generator")}
    model = fb.empty(fb.Size(min(each, 2) for each in shape), **options)  # refuses what is wrong
    if model.layout != fb.strided:
        return model
    last = options.get("memory_format") in (fb.channels_last, fb.channels_last_3d)
    inward = [0, *range(2, len(shape)), 1] if last else range(len(shape))
    strides, step = [0] * len(shape), 1
    for dim in reversed(inward):
        strides[dim] = step
        step *= max(shape[dim], 1)
    made: Tensor = _promised(shape, strides, model.dtype)
    return made.requires_grad_(model.requires_grad)


def _made(name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """A new tensor of which nothing but the size has to be known; None for other calls."""
    if name in _OF_A_SIZE:
        return _of_a_size(args, kwargs)
    if name == "full" and len(args) == 2:
        model = fb.full((), args[1], **{k: v for k, v in kwargs.items() if k in ("dtype", "out")})
        return _of_a_size(args[:1], {**kwargs, "dtype": model.dtype})
    if name == "arange":
        return _arange(*args, **kwargs)
    if name == "empty_strided" and len(args) == 2:
        options = {key: value for key, value in kwargs.items() if key != "requires_grad"}
        made = _promised(args[0], args[1], fb.empty_strided((), (), **options).dtype)
        return made.requires_grad_(kwargs.get("requires_grad", False))
    if not isinstance(args[0] if args else None, MetaTensor):
        return None
    if name in ("new_empty", "new_zeros", "new_ones"):
        return _of_a_size(args[1:], {"dtype": args[0].dtype, **kwargs})
    if name not in ("empty_like", *_LIKE) or len(args) != 1 or kwargs.keys() - _NEW:
        return None
    if not args[0].is_contiguous() or args[0].requires_grad:  # the operator knows what comes out
        return None
    return _of_a_size((args[0].shape,), {"dtype": args[0].dtype, **kwargs})


def _arange(
    start: Any = 0, end: Any = None, step: Any = 1, *, requires_grad: bool = False, **options: Any
) -> Any:
    first, last = (0, start) if end is None else (start, end)
    if not all(isinstance(each, (int, float)) for each in (first, last, step)):
        return None  # the function knows what numbers these are
    model = fb.arange(type(first)(0), type(last)(1), type(step)(1), **options)
    if step == 0 or not all(map(math.isfinite, (first, last, step))) or (last - first) / step < 0:
        return None  # and why these are wrong
    size = -((first - last) // step) if isinstance(step, int) else math.ceil((last - first) / step)
    return _of_a_size((int(size),), {"dtype": model.dtype, "requires_grad": requires_grad})


def _to(tensor: Tensor, args: list[Any], kwargs: dict[str, Any]) -> Tensor:
    """``tensor.to("meta", ...)``, or to another type there."""
    others = [each.dtype if isinstance(each, Tensor) else each for each in args]
    dtype = kwargs.get("dtype", next((each for each in others if isinstance(each, fb.dtype)), None))
    return _cast(tensor, dtype or tensor.dtype)


def _cast(tensor: Tensor, dtype: fb.dtype) -> Tensor:
    if isinstance(tensor, MetaTensor) and dtype == tensor.dtype:
        return tensor
    made: Tensor = _promised(tensor.shape, tensor.stride(), dtype)
    return made.requires_grad_(tensor.requires_grad and dtype.is_floating_point)


def _interleaved(
    tensor: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int
) -> Tensor:
    """What ``repeat_interleave`` gives where its size is told."""
    if repeats is None:
        return fb.empty(output_size, dtype=fb.int64)
    places = fb.zeros(output_size, dtype=fb.int64)
    flat = tensor.reshape(-1) if dim is None else tensor
    return flat.index_select(0 if dim is None else dim, places)


def _cloned(tensor: Tensor, **options: Any) -> Tensor:
    return fb.empty_like(tensor, **options).requires_grad_(tensor.requires_grad)


def _as_it_is(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    with _C.DisableTorchFunctionSubclass():
        return func(*args, **kwargs)


def _has_elements(value: Any) -> bool:
    """Whether it is a tensor that has not yet been said to have no elements."""
    return isinstance(value, Tensor) and not isinstance(value, MetaTensor)


def _is_meta(value: Any) -> bool:
    return value == "meta" or (isinstance(value, fb.device) and value.type == "meta")


def _taken_device(name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """The device that a call names, if it is another one; it is no longer among the arguments."""
    if name not in ("to", "empty_like", *_LIKE) and not name.startswith("new_"):
        return None
    places = [kwargs.pop("device", None)]
    if name == "to":
        places += [each for each in args[1:] if isinstance(each, (str, fb.device))]
        places += [each.device for each in args[1:] if isinstance(each, Tensor)]
    return next((place for place in places if place is not None and not _is_meta(place)), None)


def _changes_elements(name: str) -> bool:
    if name == "__setitem__" or name in _IN_PLACE:
        return True
    return name.endswith("_") and not name.startswith("__") and name not in _CHANGE_THE_TENSOR


def _unchanged(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """A change of elements that there are none of; its arguments have to fit all the same."""
    name = func.__name__
    if isinstance(args[0], (list, tuple)):  # operators of lists look at what they are given
        return _as_it_is(func, args, kwargs)
    if not isinstance(args[0], MetaTensor):  # elements that are to come from nowhere
        raise _no_elements(name, args[0].device)
    if name == "__setitem__":
        if _is_view("__getitem__", args) and isinstance(args[2], Tensor):
            args[2].expand(Tensor.__getitem__(args[0], args[1]).shape)
        _changed_by(args[0], args[2])
        return None
    if name in _ON_ONE_DEVICE:
        _check_places(name, [each for each in args if isinstance(each, Tensor)], to_meta=True)
    if name == "resize_as_":
        _C._move_to(args[0], _of_a_size((args[1].shape,), {"dtype": args[0].dtype, **kwargs}))
    elif name == "set_":
        _set(*args, **kwargs)
    elif name == "resize_":
        size = args[1] if len(args) == 2 and not isinstance(args[1], int) else args[1:]
        _C._move_to(args[0], _of_a_size((size,), {"dtype": args[0].dtype, **kwargs}))
    elif any(isinstance(each, Tensor) for each in tree_flatten((args[1:], kwargs))[0]):
        with _C.DisableTorchFunction(), fb.no_grad():
            Sketch(func, args, kwargs)  # refuses what does not fit
    _changed_by(args[0], (args[1:], kwargs))
    return args[0]


def _set(tensor: Tensor, source: Any = None, *window: Any) -> None:
    """What ``set_`` does where the other tensor, or the storage, is on meta too."""
    if source is None:
        source = _promised((0,), (1,), tensor.dtype)
    if window or not isinstance(source, MetaTensor):
        raise RuntimeError(
            "set_: a tensor on meta takes the place of another one there, not a storage or a "
            "tensor elsewhere"
        )
    if source.dtype != tensor.dtype:
        raise RuntimeError(f"set_: expected a tensor of {tensor.dtype}, got {source.dtype}")
    _C._move_to(tensor, source)


def _no_elements(name: str, device: Any) -> Exception:
    if name in ("to", "cpu", "copy_", "__setitem__"):
        return NotImplementedError(
            f"{name}: a meta tensor has no elements to copy to {device or 'the CPU'}; "
            "torch.nn.Module.to_empty() moves a module without them"
        )
    if name in ("numpy", "__array__"):
        return TypeError("numpy: a meta tensor has no elements to convert")
    kind = RuntimeError if name in _READ_ONE else NotImplementedError
    return kind(f"Tensor.{name}() cannot be called on meta tensors: they have no elements")


def _reads_elements(name: str, args: Any, kwargs: dict[str, Any]) -> bool:
    """Whether what a call returns, or its shape, depends on elements."""
    if name in _READ_ELEMENTS:
        return True
    if name == "__getitem__":
        indices = [each for each in tree_flatten(args[1])[0] if isinstance(each, MetaTensor)]
        return any(each.dtype in (fb.bool, fb.uint8) for each in indices)
    if name == "where":
        return len(args) + len(kwargs) == 1
    if name == "one_hot":
        return bool((args[1] if len(args) > 1 else kwargs.get("num_classes", -1)) == -1)
    if name == "tensor_split":
        return any(isinstance(each, MetaTensor) for each in (*args[1:], *kwargs.values()))
    if name == "repeat_interleave":
        counts = args[1] if len(args) > 1 else kwargs.get("repeats", args[0] if args else None)
        return isinstance(counts, MetaTensor) and kwargs.get("output_size") is None
    return False


def _check_places(name: str, given: list[Tensor], *, to_meta: bool) -> None:
    if all(isinstance(each, MetaTensor) or each.dim() == 0 for each in given):
        return
    if to_meta or any(isinstance(each, MetaTensor) for each in given):
        raise _several_devices(name)


def _several_devices(name: str) -> RuntimeError:
    return RuntimeError(
        f"{name}: expected all tensors to be on the same device, "
        "but found at least two devices, meta and cpu"
    )


def _home(tensor: Tensor) -> int:
    return _C._storage_address(tensor)


def _without_elements(value: Any, homes: set[int]) -> Any:
    """A tensor of a result on ``meta``; a view of one that is there shares its promised pages."""
    if not isinstance(value, Tensor) or isinstance(value, MetaTensor):  # an input, as it was
        return value
    with _C.DisableTorchFunctionSubclass():
        if value.numel() and _home(value) in homes:
            return value.as_subclass(MetaTensor)
        made = _promised(value.shape, value.stride(), value.dtype)
        return made.requires_grad_(value.requires_grad)


def _dense(shape: Any, strides: Any, dtype: fb.dtype) -> Tensor:
    """The same without gaps, as gradients lie."""
    made: Tensor = _promised(shape, dense_strides(shape, strides), dtype)
    return made


def _promised(shape: Any, strides: Any, dtype: fb.dtype) -> Any:
    """Zeros that take no memory until they are written to, which nobody does."""
    # Of a tensor without elements, strides say nothing about its memory.
    steps = [(size - 1) * step for size, step in zip(shape, strides, strict=True)]
    extent = 1 if 0 in shape else 1 + sum(steps)
    with _C.DisableTorchFunctionSubclass(), _C.DisableTorchFunction():
        if 0 in shape or extent * dtype.itemsize <= _PAGE:
            zeros = fb.zeros(extent, dtype=dtype)
        else:
            zeros = _pages(extent * dtype.itemsize).view(dtype)[:extent]
        made = Tensor._make_subclass(MetaTensor, zeros.as_strided(shape, strides))
        _C._promise(made)
        return made


def _pages(size: int) -> Tensor:
    """At least so many bytes; without memory, where a process has no addresses left for them."""
    whole = math.ceil(size / _PAGE) * _PAGE
    if whole >= 1 << 63:
        raise RuntimeError(f"a tensor of {size} bytes: sizes are below 2^63 bytes")
    if whole <= _MOST_PAGES:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
        try:
            return fb.frombuffer(mmap.mmap(-1, whole, flags), dtype=fb.uint8)
        except OSError as error:
            if whole <= _FEW_PAGES:
                raise fb.OutOfMemoryError(f"no addresses for {whole} bytes on meta") from error
    return _C._storage_without_memory(whole)


class OnDevice(TorchFunctionMode):
    """New tensors live on a device, unless the call says where: ``with torch.device(...)``."""

    def __init__(self, device: fb.device) -> None:
        self.device = device

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__name__", "") in _CREATE and kwargs.get("device") is None:
            kwargs = {**kwargs, "device": self.device}
        return func(*args, **kwargs)
