"""Every operator that programs have defined, and how a call of one runs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau._library.schema import FunctionSchema
from flambeau.autograd import Function
from flambeau.func._functions import apply_rule, is_batched
from flambeau.utils._pytree import tree_leaves, tree_map

__all__: list[str] = []

# Kernels for any device. Those of the first kind are made of operators that are recorded
# themselves; the others need a formula for their derivative.
COMPOSITE = "CompositeImplicitAutograd"
_ANY_DEVICE = (COMPOSITE, "CompositeExplicitAutograd", "")
_KEYS = {"cpu": "CPU", "cuda": "CUDA", "meta": "Meta"}
# Keys of devices that are not here, whose kernels are never asked for.
_ELSEWHERE = (
    *("HIP", "XLA", "MPS", "XPU", "IPU", "HPU", "VE", "Lazy", "MTIA", "MAIA"),
    *("PrivateUse1", "PrivateUse2", "PrivateUse3"),
)
_KINDS = ("", "Sparse", "SparseCsr", "Quantized", "NestedTensor")
_TENSORS = {f"{kind}{key}" for kind in _KINDS for key in (*_KEYS.values(), *_ELSEWHERE)}
# What PyTorch calls on the way to a kernel, and how to have it here.
_ON_THE_WAY = {
    "ADInplaceOrView": "register_autograd",
    "Autocast": "register_autocast",
    "Autograd": "register_autograd",
    "BackendSelect": "one kernel for all devices",
    "FuncTorchBatched": "register_vmap",
    "FuncTorchVmapMode": "register_vmap",
    "Functionalize": "a signature that says what is changed",
    "Python": "__torch_dispatch__ of a subclass",
}


def key_of(device: str) -> str:
    """The dispatch key of a type of device; what is none is taken for a key."""
    by_device = {key.lower(): key for key in (*_KEYS.values(), *_ELSEWHERE)}
    return by_device.get(device, device)


def checked_key(key: str) -> str:
    """A dispatch key that kernels are found by, or are never asked for; others are refused."""
    if key in _TENSORS or key in _ANY_DEVICE or key == "CompositeImplicitAutogradNestedTensor":
        return key
    for beginning, remedy in _ON_THE_WAY.items():
        if key.startswith(beginning):
            raise NotImplementedError(
                f"impl: nothing is called for the dispatch key {key}; use {remedy}"
            )
    raise RuntimeError(f"impl: could not parse dispatch key: {key}")


class Operator:
    """One overload of an operator: its signature and what is registered for it."""

    def __init__(self, schema: FunctionSchema, tags: Any = ()) -> None:
        self.schema = schema
        self.tags = tags
        self.kernels: dict[str, Callable[..., Any]] = {}
        self.fake: Callable[..., Any] | None = None
        self.backward: Callable[..., Any] | None = None
        self.setup_context: Callable[..., Any] | None = None
        self.vmap: Callable[..., Any] | None = None
        self.autocast: dict[str, fb.dtype] = {}  # by device: what inputs are cast to
        self.forbids_aliases = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = self.schema.bind(args, kwargs)
        for device, dtype in self.autocast.items():
            if fb.is_autocast_enabled(device):
                with fb.autocast(device, enabled=False):
                    return self._run_call(_cast(values, device, dtype))
        return self._run_call(values)

    def register_autocast(self, device_type: str, cast_inputs: fb.dtype) -> None:
        """Cast inputs in blocks of ``autocast`` of a device; the operator runs outside of them."""
        self.autocast[fb.device(device_type).type] = cast_inputs

    def _run_call(self, values: list[Any]) -> Any:
        if self.vmap is not None and any(map(is_batched, tree_leaves(values))):
            return self._run_batched(values)
        key, kernel = self._kernel(values)
        if key == COMPOSITE and self.backward is None:
            return self.run(kernel, values)
        tensors = [each for each in tree_leaves(values) if isinstance(each, Tensor)]
        if not fb.is_grad_enabled() or not any(each.requires_grad for each in tensors):
            return self._checked(self.run(kernel, values), tensors)
        return self._recorded(kernel, values, tensors)

    def run(self, kernel: Callable[..., Any], values: list[Any]) -> Any:
        """Call a kernel, which may take some arguments by keyword only."""
        pairs = list(zip(self.schema.arguments, values, strict=True))
        positional = [value for argument, value in pairs if not argument.kwarg_only]
        keywords = {each.name: value for each, value in pairs if each.kwarg_only}
        return kernel(*positional, **keywords)

    def _run_batched(self, values: list[Any]) -> Any:
        """Let the rule for batches compute: keyword arguments are no batches."""
        pairs = list(zip(self.schema.arguments, values, strict=True))
        positional = tuple(value for argument, value in pairs if not argument.kwarg_only)
        keywords = {each.name: value for each, value in pairs if each.kwarg_only}
        assert self.vmap is not None
        rule = functools.partial(self.vmap, **keywords)
        return apply_rule(rule, positional, f"the rule for batches of {self.schema.name}")

    def _kernel(self, values: list[Any]) -> tuple[str, Callable[..., Any]]:
        place = next((e.device.type for e in tree_leaves(values) if isinstance(e, Tensor)), "cpu")
        for key in (_KEYS.get(place, "CPU"), *_ANY_DEVICE):
            if key in self.kernels:
                return key, self.kernels[key]
        raise NotImplementedError(
            f"{self.schema.name}: there is no kernel for device {place!r}; torch.library.impl "
            "registers one"
        )

    def _checked(self, result: Any, tensors: list[Tensor]) -> Any:
        """Refuse results that share memory with an argument: callers rely on new tensors."""
        if not self.forbids_aliases:
            return result
        owners = {tensor.untyped_storage().data_ptr() for tensor in tensors if tensor.numel()}
        results = [each for each in tree_leaves(result) if isinstance(each, Tensor)]
        if any(each.numel() and each.untyped_storage().data_ptr() in owners for each in results):
            raise RuntimeError(
                f"{self.schema.name}: the result shares memory with an argument; return a clone"
            )
        return result

    def _recorded(
        self, kernel: Callable[..., Any], values: list[Any], tensors: list[Tensor]
    ) -> Any:
        def forward(ctx: Any, *_: Any) -> Any:
            result = self._checked(self.run(kernel, values), tensors)
            if self.setup_context is not None:
                ctx.set_materialize_grads(False)
                self._set_up(ctx, values, result)
            return result

        def backward(ctx: Any, *grads: Any) -> Any:
            if self.backward is None:
                raise RuntimeError(
                    f"{self.schema.name}: no derivative is registered; "
                    "torch.library.register_autograd registers one"
                )
            result = self.backward(ctx, *grads)
            return _flat(values, result if isinstance(result, tuple) else (result,))

        name = f"GeneratedBackwardFor_{self.schema.name.replace('::', '_')}"
        methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
        meta: Any = type(Function)
        recorded = meta(name, (Function,), methods)
        return recorded.apply(*_leaves(values))

    def _set_up(self, ctx: Any, values: list[Any], result: Any) -> None:
        pairs = list(zip(self.schema.arguments, values, strict=True))
        inputs = tuple(value for argument, value in pairs if not argument.kwarg_only)
        keywords = {each.name: value for each, value in pairs if each.kwarg_only}
        extra = {"keyword_only_inputs": keywords} if keywords else {}
        assert self.setup_context is not None
        self.setup_context(ctx=ctx, inputs=inputs, output=result, **extra)


def _cast(values: list[Any], device: str, dtype: fb.dtype) -> list[Any]:
    """Floating-point tensors on a device in another type; float64 stays, as everywhere else."""

    def cast(leaf: Any) -> Any:
        is_cast = (
            isinstance(leaf, Tensor)
            and leaf.device.type == device
            and leaf.is_floating_point()
            and leaf.dtype is not fb.float64
        )
        return leaf.to(dtype) if is_cast else leaf

    made: list[Any] = tree_map(cast, values)
    return made


def _leaves(values: list[Any]) -> list[Any]:
    """Arguments with lists spread out, so that each tensor is one of its own."""
    flat: list[Any] = []
    for value in values:
        flat.extend(value if isinstance(value, (list, tuple)) else [value])
    return flat


def _flat(values: list[Any], grads: tuple[Any, ...]) -> tuple[Any, ...]:
    """Gradients in the order of ``_leaves``; None stands for a whole list too."""
    flat: list[Any] = []
    for value, grad in zip(values, (*grads, *[None] * (len(values) - len(grads))), strict=True):
        if isinstance(value, (list, tuple)):
            flat.extend([None] * len(value) if grad is None else grad)
        else:
            flat.append(grad)
    return tuple(flat)


_operators: dict[str, dict[str, Operator]] = {}


def define(schema: FunctionSchema, tags: Any = ()) -> Operator:
    """Add an operator."""
    overloads = _operators.setdefault(schema.name, {})
    name = schema.overload_name or "default"
    if name in overloads:
        raise RuntimeError(f"{schema.name}: the overload {name!r} has been defined already")
    overloads[name] = Operator(schema, tags)
    return overloads[name]


def overloads(qualname: str) -> dict[str, Operator]:
    """The overloads of an operator by name: none if nobody has defined it."""
    return _operators.get(qualname, {})


def find(qualname: str) -> Operator:
    """The operator that ``ns::name`` or ``ns::name.overload`` names."""
    name, _, overload = qualname.partition(".")
    try:
        return _operators[name][overload or "default"]
    except KeyError:
        raise RuntimeError(
            f"there is no operator {qualname!r}; torch.library.define adds one"
        ) from None


def remove(qualname: str) -> None:
    """Forget an operator."""
    _operators.pop(qualname, None)


def namespaces() -> set[str]:
    """The namespaces that operators have been defined in."""
    return {name.partition("::")[0] for name in _operators}
