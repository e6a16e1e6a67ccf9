"""Pickles with PyTorch's names in them, and the storages beside them."""

from __future__ import annotations

import functools
import io
import pickle
from collections import OrderedDict
from collections.abc import Callable
from types import FunctionType
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau._core.pickling import rebuild_size, rebuild_sparse_tensor, rebuild_tensor
from flambeau._core.storage import TypedStorage, UntypedStorage
from flambeau._meta.tensors import rebuild_meta_tensor
from flambeau.nn import parameter as parameters
from flambeau.serialization import _rebuild
from flambeau.serialization._locations import location_tag
from flambeau.serialization._names import STORAGE_KINDS, TORCH_NAMES, UNTYPED, StorageKind
from flambeau.utils.hooks import warn_if_has_hooks

__all__: list[str] = []

Reduction = tuple[Callable[..., Any], tuple[Any, ...]]


class Storages:
    """The storages that one pickle refers to, numbered as they come."""

    def __init__(self, is_legacy: bool) -> None:
        self.is_legacy = is_legacy
        self.kinds: dict[str, StorageKind] = {}
        self.by_key: dict[str, UntypedStorage] = {}
        self._keys: dict[int, str] = {}

    def identify(self, storage: TypedStorage | UntypedStorage) -> tuple[Any, ...]:
        """What stands for a storage in the pickle."""
        untyped = storage.untyped()
        kind = STORAGE_KINDS[storage.dtype] if isinstance(storage, TypedStorage) else UNTYPED
        # The table below keeps it alive, so that its address stays its own.
        key = self._keys.setdefault(id(untyped), str(len(self._keys)))
        self.by_key[key] = untyped
        if self.kinds.setdefault(key, kind) is not kind:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different "
                "types; save a clone() of one of them"
            )
        count = untyped.nbytes() // kind.itemsize
        identity = ("storage", kind, key, location_tag(untyped), count)
        return (*identity, None) if self.is_legacy else identity

    def contents(self, key: str) -> Tensor:
        """The bytes of a storage, in CPU memory."""
        whole = self.by_key[key].cpu()._bytes
        itemsize = self.kinds[key].itemsize
        return whole[: whole.numel() // itemsize * itemsize]


def dumps(obj: Any, storages: Storages, pickle_module: Any, protocol: int) -> bytes:
    """Pickle ``obj``; its storages are gathered in ``storages``."""
    buffer = io.BytesIO()
    pickler: Any = _pickler_class(pickle_module)(storages, buffer, protocol)
    pickler.dump(obj)
    return buffer.getvalue()


def _tensor_parts(tensor: Tensor) -> Reduction:
    warn_if_has_hooks(tensor)
    if tensor.is_meta:
        shape = (tuple(tensor.shape), tensor.stride())
        return (
            _rebuild._rebuild_meta_tensor_no_storage,
            (tensor.dtype, *shape, tensor.requires_grad),
        )
    if tensor.is_sparse:
        data = (tensor._indices(), tensor._values(), tensor.shape, tensor.is_coalesced())
        return _rebuild._rebuild_sparse_tensor, (tensor.layout, data)
    hooks: OrderedDict[str, Any] = OrderedDict()
    parts = (
        TypedStorage(wrap_storage=tensor.untyped_storage(), dtype=tensor.dtype),
        tensor.storage_offset(),
        tuple(tensor.shape),
        tensor.stride(),
        tensor.requires_grad,
        hooks,
    )
    return _rebuild._rebuild_tensor_v2, parts


def _reduce_tensor(tensor: Tensor) -> Reduction:
    build, parts = _tensor_parts(tensor)
    if tensor.is_meta:  # whose class does not matter in a file
        own = {key: value for key, value in vars(tensor).items() if key != "_is_param"}
        if isinstance(tensor, parameters.Parameter):
            return _as_parameter(tensor.detach(), tensor.requires_grad, own)
        return build, parts
    state = getattr(tensor, "__dict__", None)
    if type(tensor) is Tensor and not state:
        return build, parts
    return _rebuild._rebuild_from_type_v2, (build, type(tensor), parts, state or {})


def _reduce_parameter(parameter: Tensor) -> Reduction:
    if type(parameter) is not parameters.Parameter:
        return _reduce_tensor(parameter)
    return _as_parameter(parameter.data, parameter.requires_grad, parameter.__dict__)


def _as_parameter(data: Tensor, requires_grad: bool, state: dict[str, Any]) -> Reduction:
    hooks: OrderedDict[str, Any] = OrderedDict()
    parts = (data, requires_grad, hooks)
    if not state:
        return _rebuild._rebuild_parameter, parts
    return _rebuild._rebuild_parameter_with_state, (*parts, state)


# How objects of the package are pickled elsewhere, and what is written into a checkpoint instead.
_TRANSLATIONS: dict[int, Callable[[Any], Reduction]] = {
    id(rebuild_tensor): _reduce_tensor,
    id(rebuild_sparse_tensor): _reduce_tensor,
    id(rebuild_meta_tensor): _reduce_tensor,
    id(parameters._rebuild_parameter): _reduce_parameter,
    id(rebuild_size): lambda size: (fb.Size, (tuple(size),)),
}


@functools.lru_cache(maxsize=1024)
def _int_code(value: int) -> bytes:
    """The opcode of an integer, which is what is between the first two bytes and the last one."""
    return pickle.dumps(value, 2)[2:-1]


@functools.lru_cache(maxsize=1024)
def _ints_code(values: tuple[int, ...]) -> bytes:
    """The opcodes of a tuple of integers, but not the one that remembers it."""
    code = b"".join(map(_int_code, values))
    if len(values) > 3:
        return pickle.MARK + code + pickle.TUPLE
    return code + (pickle.EMPTY_TUPLE, pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3)[len(values)]


class _StoragesApart:
    """A pickler that notes storages instead of writing them."""

    def __init__(self, storages: Storages, file: io.BytesIO, protocol: int) -> None:
        super().__init__(file, protocol)  # type: ignore[call-arg]
        self._storages = storages

    def persistent_id(self, obj: Any) -> tuple[Any, ...] | None:
        if isinstance(obj, (TypedStorage, UntypedStorage)):
            return self._storages.identify(obj)
        return None


# Of which the types of the standard library say nothing.
_PythonPickler: Any = pickle._Pickler


class _TorchPickler(_StoragesApart, _PythonPickler):  # type: ignore[misc]
    """One that also writes PyTorch's names. They are chosen in methods of picklers in Python."""

    def save_global(self, obj: Any, name: str | None = None) -> None:
        names = TORCH_NAMES.get(id(obj))
        if isinstance(obj, fb.layout):
            self.save_reduce(_rebuild._get_layout, (str(obj),), obj=obj)
        elif names is None:
            super().save_global(obj, name)
        elif self.proto >= 4:
            self.save(names[0])
            self.save(names[1])
            self.write(pickle.STACK_GLOBAL)
            self.memoize(obj)
        else:
            self.write(pickle.GLOBAL + "{}\n{}\n".format(*names).encode())
            self.memoize(obj)

    def save_tensor(self, tensor: Tensor) -> None:
        """Write all opcodes of a tensor at once: most of a checkpoint is tensors."""
        build, parts = _reduce_tensor(tensor)
        if build is not _rebuild._rebuild_tensor_v2 or self.proto < 2:
            self.save_reduce(build, parts, obj=tensor)
            return
        storage, offset, size, stride, requires_grad, hooks = parts
        self.save(build)
        self.write(pickle.MARK)
        self._save_identity(self._storages.identify(storage))
        self.write(_int_code(offset))
        self._save_ints(size)
        self._save_ints(stride)
        self.write(pickle.NEWTRUE if requires_grad else pickle.NEWFALSE)
        self.save(OrderedDict)
        self.write(pickle.EMPTY_TUPLE + pickle.REDUCE)
        self.memoize(hooks)
        self.write(pickle.TUPLE)
        self.memoize(parts)
        self.write(pickle.REDUCE)
        self.memoize(tensor)

    def _save_identity(self, identity: tuple[Any, ...]) -> None:
        word, kind, key, location, count, *rest = identity
        self.write(pickle.MARK)
        for part in (word, kind, key, location):
            self.save(part)
        self.write(_int_code(count) + pickle.NONE * len(rest) + pickle.TUPLE)
        self.memoize(identity)
        self.write(pickle.BINPERSID)

    def _save_ints(self, values: tuple[int, ...]) -> None:
        self.write(_ints_code(values))
        if values:
            self.memoize(values)

    def save_reduce(self, func: Any, args: Any, *rest: Any, **options: Any) -> None:
        translate = _TRANSLATIONS.get(id(func))
        if translate is not None:
            func, args = translate(options["obj"])
        super().save_reduce(func, args, *rest, **options)


def _pickler_class(pickle_module: Any) -> type[_StoragesApart]:
    """The pickler of ``pickle_module``, made to write PyTorch's names.

    One that is written in C (that of cloudpickle) keeps the names of this package, and PyTorch
    cannot load its files.
    """
    base: Any = _PythonPickler if pickle_module is pickle else pickle_module.Pickler
    if not issubclass(base, _PythonPickler):
        return type("Pickler", (_StoragesApart, base), {})
    by_type = {
        FunctionType: _TorchPickler.save_global,
        StorageKind: _TorchPickler.save_global,
        Tensor: _TorchPickler.save_tensor,
    }
    bases = (_TorchPickler,) if base is _PythonPickler else (_TorchPickler, base)
    return type("Pickler", bases, {"dispatch": base.dispatch | by_type})
