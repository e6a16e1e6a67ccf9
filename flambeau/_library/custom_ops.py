"""``torch.library.custom_op``: an operator from a function of Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from flambeau._library import registry
from flambeau._library.schema import FunctionSchema, infer_schema

__all__: list[str] = []

_ANY_DEVICE = "CompositeExplicitAutograd"


def device_keys(device_types: str | Sequence[str] | None) -> list[str]:
    """The kernels that ``device_types`` speaks of."""
    if device_types is None:
        return [_ANY_DEVICE]
    types = [device_types] if isinstance(device_types, str) else device_types
    return [registry.checked_key(registry.key_of(each)) for each in types]


class CustomOpDef:
    """An operator, called as the function it was made of."""

    def __init__(
        self,
        namespace: str,
        name: str,
        schema: str,
        fn: Callable[..., Any],
        tags: Any = None,
    ) -> None:
        self._namespace = namespace
        self._name = name
        self._schema = schema
        self._init_fn = fn
        registry.remove(self._qualname)  # a cell of a notebook may run again
        parsed = FunctionSchema(f"{self._qualname}{schema}")
        self._operator = registry.define(parsed, tags)
        self._operator.forbids_aliases = True

    @property
    def _qualname(self) -> str:
        return f"{self._namespace}::{self._name}"

    @property
    def _opoverload(self) -> Any:
        from flambeau._ops import ops

        return getattr(getattr(ops, self._namespace), self._name).default

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._operator(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def register_kernel(
        self, device_types: str | Sequence[str] | None, fn: Callable[..., Any] | None = None, /
    ) -> Callable[..., Any]:
        """Give the operator another kernel on some devices."""

        def register(kernel: Callable[..., Any]) -> Callable[..., Any]:
            for key in device_keys(device_types):
                self._operator.kernels[key] = kernel
            return kernel

        return register if fn is None else register(fn)

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """Say what the results look like, without computing them."""
        self._operator.fake = fn
        return fn

    def register_autograd(
        self,
        backward: Callable[..., Any],
        /,
        *,
        setup_context: Callable[..., Any] | None = None,
    ) -> None:
        """Give the operator a derivative."""
        self._operator.backward = backward
        self._operator.setup_context = setup_context

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Any:
        """Say how the operator works on batches."""

        def register(fn: Callable[..., Any]) -> Callable[..., Any]:
            self._operator.vmap = fn
            return fn

        return register if func is None else register(func)

    def register_autocast(self, device_type: str, cast_inputs: Any) -> None:
        """Say which type inputs are cast to in ``autocast`` of a device."""
        self._operator.register_autocast(device_type, cast_inputs)

    def register_torch_dispatch(
        self, torch_dispatch_class: Any, fn: Callable[..., Any] | None = None, /
    ) -> NoReturn:
        """Not available: a subclass of Tensor answers by ``__torch_function__`` here."""
        raise no_torch_dispatch(self._qualname, torch_dispatch_class)


def no_torch_dispatch(operator: str, kind: Any) -> NotImplementedError:
    """The error for a rule of a class that answers by ``__torch_dispatch__``."""
    name = getattr(kind, "__name__", repr(kind))
    return NotImplementedError(
        f"register_torch_dispatch: {operator} cannot have a rule for {name}, because calls do not "
        "go through __torch_dispatch__ here; define __torch_function__ in the class"
    )


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make an operator ``namespace::name`` of a function; without one, a decorator."""

    def make(function: Callable[..., Any]) -> CustomOpDef:
        signature = schema or infer_schema(function, mutates_args=mutates_args)
        namespace, separator, own_name = name.partition("::")
        if not separator or not namespace.isidentifier() or not own_name.isidentifier():
            raise ValueError(f"custom_op: expected a name 'namespace::name', got {name!r}")
        made = CustomOpDef(namespace, own_name, signature, function, tags)
        made.register_kernel(device_types)(function)
        return made

    return make if fn is None else make(fn)
