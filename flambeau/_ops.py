"""``torch.ops``: operators by namespace and name, the package's own as ``torch.ops.aten``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NoReturn

import flambeau as fb
from flambeau import _C
from flambeau._inner import INNER
from flambeau._library import registry

__all__ = ["OpOverload", "OpOverloadPacket", "ops"]

# Names of overloads that programs write. An own operator looks at its arguments, so that all of
# them are the same.
_OVERLOADS = (
    *("default", "Tensor", "Scalar", "out", "Tensor_Tensor", "Tensor_Scalar", "Scalar_Tensor"),
    *("Tensor_out", "Scalar_out", "Tensor_mode", "Scalar_mode", "Tensor_Scalar_out"),
    *("int", "dim", "dim_IntList", "dim_max", "dim_min", "correction", "dimname", "self", "input"),
    *("ScalarOpt_dim", "ScalarOpt_dim_dtype", "dtype", "dtype_layout", "device", "other", "start"),
    *("start_step", "low", "generator", "memory_format", "values", "stable", "sizes", "using_ints"),
    *("vec", "int_Tensor", "value", "src", "reduce", "hacked_twin", "grad_input", "names", "bool"),
    *("float", "str", "padding", "deprecated", "Dimname", "x", "n", "p", "fill", "ratio"),
)


class OpOverload:
    """One overload of an operator."""

    def __init__(
        self, packet: OpOverloadPacket, overload: str, call: Callable[..., Any], schema: Any
    ) -> None:
        self.overloadpacket = packet
        self.namespace: str = packet._namespace
        self._overloadname = overload
        self._schema = schema
        self._call = call
        self._name = packet._qualname
        self.__name__: str = f"{packet.__name__}.{overload}"
        self.__qualname__: str = self.__name__
        self.__module__ = packet.__module__
        # What torch.library registers kernels for; None for the package's own operators.
        self._operator = call if isinstance(call, registry.Operator) else None
        # The number of the operator in the table, where the name alone tells which it is.
        self._row = _own_row(packet.__name__, overload) if self.namespace == "aten" else None

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if self._row is not None and self._operator is None:
            try:
                result = _C._invoke(self._row, *args, **kwargs)
            except TypeError:  # the function takes more: sizes one by one, layout=
                result = NotImplemented
            if result is not NotImplemented:
                return result
        return self._call(*args, **kwargs)

    def name(self) -> str:
        """``aten::add.Tensor``; the overload called default is left out."""
        is_default = self._overloadname == "default"
        return self._name if is_default else f"{self._name}.{self._overloadname}"

    @property
    def tags(self) -> list[Any]:
        """What the operator says about itself."""
        if self._operator is None or self._operator.tags is None:
            return []
        tags = self._operator.tags
        return list(tags) if isinstance(tags, (list, tuple)) else [tags]

    def __str__(self) -> str:
        return f"{self.overloadpacket}.{self._overloadname}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.overloadpacket}', overload='{self._overloadname}')>"

    def __hash__(self) -> int:
        return hash(self.name())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpOverload) and self.name() == other.name()

    def __deepcopy__(self, memo: Any = None) -> OpOverload:
        return self

    def __reduce__(self) -> Any:
        return _by_name, (self.namespace, self.overloadpacket.__name__, self._overloadname)


class OpOverloadPacket:
    """An operator with all its overloads."""

    def __init__(self, namespace: str, name: str) -> None:
        self._namespace = namespace
        self._qualname = f"{namespace}::{name}"
        self.__name__ = name
        self.__module__ = f"torch.ops.{namespace}"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        found = self.overloads()
        return getattr(self, "default" if "default" in found else found[0])(*args, **kwargs)

    def overloads(self) -> list[str]:
        """The names of the overloads."""
        return list(registry.overloads(self._qualname)) or ["default"]

    @property
    def op(self) -> OpOverloadPacket:
        return self

    def __getattr__(self, name: str) -> OpOverload:
        if name.startswith("__"):
            raise AttributeError(name)
        own = registry.overloads(self._qualname)
        if name in own:
            made = OpOverload(self, name, own[name], own[name].schema)
        elif self._namespace == "aten" and not own and name in _OVERLOADS:
            call = _own_operator(self.__name__)
            assert call is not None  # or there would be no packet
            made = OpOverload(self, name, call, _own_schema(self.__name__))
        else:
            raise AttributeError(f"{self} has no overload {name!r}")
        if not own:
            self.__dict__[name] = made
        return made

    def __str__(self) -> str:
        return f"{self._namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"

    def __hash__(self) -> int:
        return hash(self._qualname)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpOverloadPacket) and self._qualname == other._qualname

    def __deepcopy__(self, memo: Any = None) -> OpOverloadPacket:
        return self

    def __iter__(self) -> Iterator[str]:
        return iter(self.overloads())


def _by_name(namespace: str, name: str, overload: str) -> OpOverload:
    found: OpOverload = getattr(getattr(getattr(ops, namespace), name), overload)
    return found


@functools.cache
def _own_operator(name: str) -> Callable[..., Any] | None:
    """The operator of the package that PyTorch has under this name."""
    if name in INNER:
        return INNER[name]
    for prefix in ("linalg", "fft", "special"):
        if name.startswith(f"{prefix}_") and hasattr(getattr(fb, prefix), name[len(prefix) + 1 :]):
            return getattr(getattr(fb, prefix), name[len(prefix) + 1 :])  # type: ignore[no-any-return]
    for place in (fb, fb.Tensor, fb.nn.functional):
        found = getattr(place, name, None)
        if callable(found) and not isinstance(found, (type, ModuleType)):
            return found  # type: ignore[no-any-return]
    return None


@functools.cache
def _rows() -> dict[str, dict[str, int]]:
    """The numbers of the operators of the table that may be called, by name and overload."""
    found: dict[str, dict[str, int]] = {}
    for name in _C._op_names():
        op = _C._find_op(name)
        if op is not None and not op[4] & _C._OP_INNER:
            base, _, overload = name.partition(".")
            found.setdefault(base, {})[overload] = op[0]
    return found


def _own_row(name: str, overload: str) -> int | None:
    """The number of an operator; None where its arguments tell which one it is, or it has none."""
    if name in INNER:
        return None
    at_top = hasattr(fb, name) or hasattr(fb.Tensor, name)
    rows = _rows().get(name if at_top else f"nn_functional_{name}", {})
    stores = overload == "out" or overload.endswith("_out")
    candidates = {each: row for each, row in rows.items() if each.endswith("out") == stores}
    if len(candidates) == 1:
        return next(iter(candidates.values()))
    return candidates.get("" if overload == "default" else overload)


@functools.cache
def _tables() -> dict[str, str]:
    return {f"{each['namespace']}{each['name']}": each["signature"] for each in fb._C.op_info()}


def _own_schema(name: str) -> str | None:
    """The signature in the operator table; compositions written in Python are not in it."""
    signature = _tables().get(name.rstrip("_"))
    return None if signature is None else f"aten::{signature}"


class _OpNamespace(ModuleType):
    """The operators of one namespace."""

    def __init__(self, name: str) -> None:
        super().__init__(f"torch.ops.{name}")
        self.name = name

    def __getattr__(self, op_name: str) -> OpOverloadPacket:
        if op_name.startswith("__"):
            raise AttributeError(op_name)
        is_own = self.name == "aten" and _own_operator(op_name) is not None
        if not is_own and not registry.overloads(f"{self.name}::{op_name}"):
            raise AttributeError(
                f"torch.ops.{self.name} has no operator {op_name!r}; torch.library defines one"
            )
        packet = OpOverloadPacket(self.name, op_name)
        if is_own:
            setattr(self, op_name, packet)
        return packet

    def __dir__(self) -> list[str]:
        prefix = f"{self.name}::"
        own = [name[len(prefix) :] for name in registry._operators if name.startswith(prefix)]
        return sorted([*super().__dir__(), *own])


class _Ops(ModuleType):
    """Namespaces of operators, made when they are asked for."""

    def __init__(self) -> None:
        super().__init__("torch.ops")
        self.loaded_libraries: set[str] = set()

    def __getattr__(self, name: str) -> _OpNamespace:
        if name.startswith("__"):
            raise AttributeError(name)
        namespace = _OpNamespace(name)
        setattr(self, name, namespace)
        return namespace

    def load_library(self, path: Any) -> NoReturn:
        """Operators of a compiled library for PyTorch, which needs PyTorch itself."""
        raise OSError(
            f"load_library: {str(path)!r} holds operators that are compiled against PyTorch and "
            "cannot run here; torch.library.custom_op makes an operator of a function of Python"
        )

    def import_module(self, module: str) -> None:
        """Import a module that defines operators."""
        import importlib

        importlib.import_module(module)


ops = _Ops()
