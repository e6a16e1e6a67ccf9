"""``torch.library``: operators of the program's own, with kernels and derivatives."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from flambeau._library import registry
from flambeau._library.checks import opcheck as _opcheck
from flambeau._library.custom_ops import CustomOpDef, custom_op, device_keys, no_torch_dispatch
from flambeau._library.registry import Operator
from flambeau._library.schema import FunctionSchema, infer_schema

__all__ = [
    "CustomOpDef",
    "Library",
    "Tag",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "impl",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
    "triton_op",
    "wrap_triton",
]

_RESERVED = ("aten", "prim", "prims")
_ALIAS_ANALYSES = ("", "FROM_SCHEMA", "CONSERVATIVE")  # for a compiler


class Tag(enum.Enum):
    """What an operator says about itself."""

    core = enum.auto()
    data_dependent_output = enum.auto()
    dynamic_output_shape = enum.auto()
    flexible_layout = enum.auto()
    inplace_view = enum.auto()
    needs_exact_strides = enum.auto()
    needs_fixed_stride_order = enum.auto()
    nondeterministic_bitwise = enum.auto()
    nondeterministic_seeded = enum.auto()
    pointwise = enum.auto()
    pt2_compliant_tag = enum.auto()


def _operator(op: Any) -> Operator:
    """The operator that a name, a ``CustomOpDef`` or an overload stands for."""
    if isinstance(op, str):
        return registry.find(op)
    if isinstance(op, Operator):
        return op
    own = getattr(op, "_operator", None)
    if not isinstance(own, Operator):
        raise ValueError(f"expected an operator or its name, got {type(op).__name__}")
    return own


class Library:
    """Operators of one namespace, for as long as the object lives or until ``_destroy``."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "IMPL", "FRAGMENT"):
            raise ValueError(f"Library: expected kind to be DEF, IMPL or FRAGMENT, got {kind!r}")
        if kind != "IMPL" and ns in _RESERVED:
            raise ValueError(f"Library: {ns!r} is a namespace of the package's own operators")
        if kind == "DEF" and ns in registry.namespaces():
            raise RuntimeError(
                f"Library: the namespace {ns!r} has been defined already; use kind 'FRAGMENT'"
            )
        self.ns = ns
        self.kind = kind
        self.dispatch_key = dispatch_key
        self._names: list[str] = []

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Add an operator by its signature, and return its name."""
        if alias_analysis not in _ALIAS_ANALYSES:
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        if self.kind == "IMPL":
            raise RuntimeError("Library.define: a library of kind IMPL adds kernels only")
        parsed = FunctionSchema(f"{self.ns}::{schema}")
        registry.define(parsed, tags)
        self._names.append(parsed.name)
        return parsed.name

    def impl(
        self,
        op_name: Any,
        fn: Callable[..., Any],
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = False,
    ) -> None:
        """Give an operator a kernel for a device."""
        if not callable(fn):
            raise TypeError(f"Library.impl: expected a function, got {type(fn).__name__}")
        if with_keyset:
            raise NotImplementedError(
                "Library.impl: there are no sets of dispatch keys to call the kernel with; leave "
                "out with_keyset, and the first argument of the kernel"
            )
        name = op_name if isinstance(op_name, str) else _operator(op_name).schema.name
        qualname = name if "::" in name else f"{self.ns}::{name}"
        key = registry.checked_key(dispatch_key or self.dispatch_key or registry.COMPOSITE)
        registry.find(qualname).kernels[key] = fn

    def _destroy(self) -> None:
        for name in self._names:
            registry.remove(name)
        self._names.clear()


def define(
    qualname: str, schema: str, *, lib: Library | None = None, tags: Any = ()
) -> Callable[..., Any] | None:
    """Add an operator ``namespace::name`` by its signature."""
    if "::" not in qualname:
        raise ValueError(f"define: expected a name 'namespace::name', got {qualname!r}")
    parsed = FunctionSchema(f"{qualname}{schema}")
    registry.define(parsed, tags)
    if lib is not None:
        lib._names.append(parsed.name)
    return None


def impl(
    qualname: str,
    types: str | Sequence[str],
    func: Callable[..., Any] | None = None,
    *,
    lib: Library | None = None,
) -> Any:
    """Give an operator a kernel for some devices, ``"default"`` for all; or a decorator."""
    keys = [types] if isinstance(types, str) else list(types)

    def register(kernel: Callable[..., Any]) -> Callable[..., Any]:
        for key in keys:
            name = "CompositeExplicitAutograd" if key == "default" else key
            name = registry.checked_key(registry.key_of(name))
            registry.find(qualname).kernels[name] = kernel
        return kernel

    return register if func is None else register(func)


def register_kernel(
    op: Any,
    device_types: str | Sequence[str] | None,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
) -> Any:
    """Give an operator a kernel for some devices, or all; without a function, a decorator."""

    def register(kernel: Callable[..., Any]) -> Callable[..., Any]:
        for key in device_keys(device_types):
            _operator(op).kernels[key] = kernel
        return kernel

    return register if func is None else register(func)


def register_fake(
    op: Any,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
    _stacklevel: int = 1,
    allow_override: bool = True,
) -> Any:
    """Say what the results of an operator look like; without a function, a decorator."""

    def register(fake: Callable[..., Any]) -> Callable[..., Any]:
        _operator(op).fake = fake
        return fake

    return register if func is None else register(func)


def impl_abstract(
    qualname: str,
    func: Callable[..., Any] | None = None,
    *,
    lib: Library | None = None,
    _stacklevel: int = 1,
) -> Any:
    """The older name of ``register_fake``."""
    return register_fake(qualname, func, lib=lib)


def register_autograd(
    op: Any,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Library | None = None,
) -> None:
    """Give an operator a derivative."""
    operator = _operator(op)
    operator.backward = backward
    operator.setup_context = setup_context


def register_vmap(
    op: Any, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None
) -> Any:
    """Say how an operator works on batches; without a function, a decorator."""

    def register(rule: Callable[..., Any]) -> Callable[..., Any]:
        _operator(op).vmap = rule
        return rule

    return register if func is None else register(func)


def register_autocast(
    op: Any, device_type: str, cast_inputs: Any, /, *, lib: Library | None = None
) -> None:
    """Say which type inputs are cast to in ``autocast`` of a device."""
    _operator(op).register_autocast(device_type, cast_inputs)


def register_torch_dispatch(
    op: Any,
    torch_dispatch_class: Any,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
) -> NoReturn:
    """Not available: a subclass of Tensor answers by ``__torch_function__`` here."""
    raise no_torch_dispatch(_operator(op).schema.name, torch_dispatch_class)


def opcheck(
    op: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = (
        "test_schema",
        "test_autograd_registration",
        "test_faketensor",
        "test_aot_dispatch_dynamic",
    ),
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Test an operator on one call: its signature, its derivative and its fake kernel."""
    return _opcheck(_operator(op), args, kwargs, test_utils, raise_exception, atol, rtol)


def fallthrough_kernel() -> None:
    """A kernel that leaves the call to the next one."""
    raise NotImplementedError("fallthrough_kernel: it is a mark for Library.impl, and not called")


def get_ctx() -> NoReturn:
    """What a fake kernel makes sizes with that depend on elements."""
    raise RuntimeError("get_ctx: it is for fake kernels that are being traced")


def triton_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: Any,
    schema: str | None = None,
) -> Any:
    """An operator made of Triton's kernels, which run on GPUs only."""
    raise NotImplementedError(
        "triton_op: kernels of Triton need a GPU, and this build computes on the CPU; write the "
        "operator with torch.library.custom_op"
    )


def wrap_triton(triton_kernel: Any, /) -> Any:
    """A kernel of Triton as it is called in such an operator."""
    raise NotImplementedError("wrap_triton: kernels of Triton need a GPU; use a function of Python")
