"""Parametrization: `module.weight` is computed from other tensors whenever it is read.

The module gets a class of its own, in which the name is a property. The trained tensors are in
`module.parametrizations.<name>`, a list of the functions with the tensors that they start from.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Sequence
from typing import Any

import flambeau
from flambeau import Tensor
from flambeau.nn.modules.container import ModuleDict, ModuleList
from flambeau.nn.modules.module import Module
from flambeau.nn.parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_caching = 0  # depth of nested `cached` blocks
_cache: dict[tuple[int, str], Tensor] = {}


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """Compute every parametrized tensor once within a block.

    Example:
        >>> from flambeau.nn.utils import parametrize
        >>> class Symmetric(nn.Module):
        ...     def forward(self, x):
        ...         return (x + x.T) / 2
        >>> layer = nn.Linear(3, 3)
        >>> _ = parametrize.register_parametrization(layer, "weight", Symmetric())
        >>> with parametrize.cached():
        ...     layer.weight is layer.weight
        True
    """
    global _caching
    _caching += 1
    try:
        yield
    finally:
        _caching -= 1
        if not _caching:
            _cache.clear()


class ParametrizationList(ModuleList):
    """The functions that compute one tensor, and the tensors that they start from.

    These are `original`, or `original0`, `original1`, … if `right_inverse` of the first function
    gives several.
    """

    original: Tensor
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        source = self._fb_invert_where_possible(original)
        self.is_tensor: bool = isinstance(source, Tensor)
        self.ntensors: int = 1 if isinstance(source, Tensor) else len(source)
        if isinstance(source, Tensor):
            _check_dtype(source, dtype, "right_inverse")
            _put(original, source)
            _register(self, "original", original)
        else:
            self._fb_register_sources(original, source)
        if not unsafe:
            self._fb_check_result(shape, dtype)

    def _fb_invert_where_possible(self, value: Tensor) -> Any:
        with flambeau.no_grad():
            each: Any
            for each in reversed(self):
                if hasattr(each, "right_inverse"):
                    # Without an inverse, the first function starts from the tensor itself.
                    with contextlib.suppress(NotImplementedError):
                        value = each.right_inverse(value)
        if not isinstance(value, (Tensor, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(value).__name__}"
            )
        return value

    def _fb_register_sources(self, original: Tensor, sources: Sequence[Tensor]) -> None:
        for i, source in enumerate(sources):
            if not isinstance(source, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors "
                    f"(list, tuple...). Got element {i} with type {type(source).__name__}."
                )
            if isinstance(original, Parameter):
                source = Parameter(source, original.requires_grad)
            source.requires_grad_(original.requires_grad)
            _register(self, f"original{i}", source)

    def _fb_check_result(self, shape: Sequence[int], dtype: flambeau.dtype) -> None:
        result = self()
        if not isinstance(result, Tensor):
            raise ValueError(
                f"A parametrization must return a tensor. Got {type(result).__name__}."
            )
        if result.dtype != dtype:
            raise ValueError(
                "Registering a parametrization may not change the dtype of the tensor, unless "
                f"`unsafe` flag is enabled.\nunparametrized dtype: {dtype}\n"
                f"parametrized dtype: {result.dtype}"
            )
        if result.shape != shape:
            raise ValueError(
                "Registering a parametrization may not change the shape of the tensor, unless "
                f"`unsafe` flag is enabled.\nunparametrized shape: {shape}\n"
                f"parametrized shape: {result.shape}"
            )

    def right_inverse(self, value: Tensor) -> None:
        """Set the original tensors so that the result is `value`."""
        with flambeau.no_grad():
            given: Any = value
            each: Any
            for each in reversed(self):
                if not hasattr(each, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(each).__name__} does not implement right_inverse."
                    )
                given = each.right_inverse(given)
            for target, source in zip(self._fb_sources(), self._fb_listed(given), strict=True):
                _check_dtype(source, target.dtype, "right_inverse")
                _put(target, source)

    def _fb_listed(self, given: Any) -> Sequence[Tensor]:
        if self.is_tensor:
            if not isinstance(given, Tensor):
                raise ValueError(
                    f"`right_inverse` should return a tensor. Got {type(given).__name__}"
                )
            return [given]
        if not isinstance(given, Sequence):
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors. Got {type(given).__name__}."
            )
        if len(given) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. "
                f"Got a sequence of length {len(given)}."
            )
        return given

    def _fb_sources(self) -> list[Tensor]:
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def forward(self) -> Tensor:
        """The tensor."""
        first, *others = self
        value: Tensor = first(*self._fb_sources())
        for module in others:
            value = module(value)
        return value


def _check_dtype(given: Tensor, dtype: flambeau.dtype, by: str) -> None:
    if given.dtype != dtype:
        raise ValueError(
            f"`{by}` outputs a tensor of another dtype than the tensor it stands for: expected "
            f"{dtype}, got {given.dtype}"
        )


def _put(target: Tensor, source: Tensor) -> None:
    """Give `target` the elements of `source`, whatever its shape was."""
    if target is not source:
        target.data = source.detach() if source.requires_grad else source


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _refuse_pickling(self: Module) -> None:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). "
        "Save module.state_dict() instead."
    )


def _copy_deeply(self: Module, memo: dict[int, Any]) -> Module:
    """The default goes through pickling, which is refused."""
    if id(self) in memo:
        found: Module = memo[id(self)]
        return found
    replica: Module = self.__new__(type(self))
    memo[id(self)] = replica
    replica.__dict__ = copy.deepcopy(self.__dict__, memo)
    return replica


def _give_own_class(module: Module) -> None:
    """Give the module a class that no other has: properties belong to classes."""
    cls = type(module)
    members: dict[str, Any] = {"__getstate__": _refuse_pickling}
    if not hasattr(cls, "__deepcopy__"):
        members["__deepcopy__"] = _copy_deeply
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), members)


def _lists_of(module: Any) -> Any:
    """The ModuleDict of a module's parametrizations, by the names of the tensors."""
    return module.parametrizations


def _compute(module: Module, name: str) -> Tensor:
    key = (id(module), name)
    if _caching and key in _cache:
        return _cache[key]
    value: Tensor = _lists_of(module)[name]()
    if _caching:
        _cache[key] = value
    return value


def _add_property(module: Module, name: str) -> None:
    def get(self: Module) -> Tensor:
        return _compute(self, name)

    def put(self: Module, value: Tensor) -> None:
        _lists_of(self)[name].right_inverse(value)

    setattr(type(module), name, property(get, put))


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Compute a tensor of a module from trained tensors.

    A second registration is applied to the result of the first. With a method `right_inverse` of
    the parametrization the tensor can be assigned to.

    Args:
        module: Module with the tensor.
        tensor_name: Name of the tensor.
        parametrization: Module that computes it.
        unsafe: Whether shape and dtype may change. Default: False.

    Returns:
        The module.

    Example:
        >>> from flambeau.nn.utils import parametrize
        >>> class Symmetric(nn.Module):
        ...     def forward(self, x):
        ...         return (x + x.T) / 2
        >>> layer = nn.Linear(3, 3)
        >>> _ = parametrize.register_parametrization(layer, "weight", Symmetric())
        >>> torch.equal(layer.weight, layer.weight.T)
        True

    See also:
        `parametrize.remove_parametrizations`, `nn.utils.parametrizations`.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        functions = _lists_of(module)[tensor_name]
        if not unsafe:
            _check_another(getattr(module, tensor_name), parametrization)
        functions.append(parametrization)
        functions.unsafe |= unsafe
    elif tensor_name in module._parameters or tensor_name in module._buffers:
        original = getattr(module, tensor_name)
        functions = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _give_own_class(module)
            module.parametrizations = ModuleDict()
        _add_property(module, tensor_name)
        _lists_of(module)[tensor_name] = functions
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    return module


def _check_another(before: Tensor, parametrization: Any) -> None:
    """Check that a further function keeps shape and dtype, in both directions."""
    after = parametrization(before)
    _check_alike(before, after, "A parametrization")
    if hasattr(parametrization, "right_inverse"):
        try:
            back = parametrization.right_inverse(after)
        except NotImplementedError:
            return
        _check_alike(before, back, "`parametrization.right_inverse`")


def _check_alike(before: Tensor, after: Any, what: str) -> None:
    if not isinstance(after, Tensor):
        raise ValueError(f"{what} must return a tensor. Got {type(after).__name__}.")
    for name in ("dtype", "shape"):
        expected, given = getattr(before, name), getattr(after, name)
        if expected != given:
            raise ValueError(
                f"{what} may not change the {name} of the tensor, unless the `unsafe` flag is "
                f"enabled: from {expected} to {given}"
            )


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Return whether a tensor of a module is computed by a parametrization.

    Args:
        module: The module.
        tensor_name: Name of the tensor. Default: any.

    Example:
        >>> from flambeau.nn.utils import parametrize
        >>> class Symmetric(nn.Module):
        ...     def forward(self, x):
        ...         return (x + x.T) / 2
        >>> layer = nn.Linear(3, 3)
        >>> _ = parametrize.register_parametrization(layer, "weight", Symmetric())
        >>> parametrize.is_parametrized(layer, "bias")
        False
    """
    functions = getattr(module, "parametrizations", None)
    if not isinstance(functions, ModuleDict):
        return False
    return len(functions) > 0 if tensor_name is None else tensor_name in functions


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Make a parametrized tensor an ordinary one again.

    Args:
        module: The module.
        tensor_name: Name of the tensor.
        leave_parametrized: Whether it keeps its current value, or else takes what it was computed
            from. Default: True.

    Returns:
        The module.

    Example:
        >>> from flambeau.nn.utils import parametrize
        >>> class Symmetric(nn.Module):
        ...     def forward(self, x):
        ...         return (x + x.T) / 2
        >>> layer = nn.Linear(3, 3)
        >>> _ = parametrize.register_parametrization(layer, "weight", Symmetric())
        >>> _ = parametrize.remove_parametrizations(layer, "weight")
        >>> parametrize.is_parametrized(layer)
        False
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    functions = _lists_of(module)[tensor_name]
    if functions.is_tensor:
        tensor = functions.original
        if leave_parametrized:
            with flambeau.no_grad():
                _put(tensor, getattr(module, tensor_name))
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        tensor = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del _lists_of(module)[tensor_name]
    _register(module, tensor_name, tensor)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """Return the class that a module had before it was parametrized.

    Args:
        module: The module.

    Example:
        >>> from flambeau.nn.utils import parametrize
        >>> class Symmetric(nn.Module):
        ...     def forward(self, x):
        ...         return (x + x.T) / 2
        >>> layer = nn.Linear(3, 3)
        >>> _ = parametrize.register_parametrization(layer, "weight", Symmetric())
        >>> parametrize.type_before_parametrizations(layer).__name__
        'Linear'
    """
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Copy the parametrizations of a module to another, with the same original tensors."""
    if not is_parametrized(from_module):
        return to_module
    names = list(_lists_of(from_module)) if tensor_name is None else [tensor_name]
    for name in names:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
        functions = _lists_of(from_module)[name]
        for function in functions:
            register_parametrization(to_module, name, function)
        target = _lists_of(to_module)[name]
        for key in [key for key in functions._parameters if key.startswith("original")]:
            setattr(target, key, getattr(functions, key))
        for key in [key for key in functions._buffers if key.startswith("original")]:
            target.register_buffer(key, getattr(functions, key))
    return to_module
