"""State dicts: everything that a module has learnt, under the paths of its tensors."""

from __future__ import annotations

import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, overload

import flambeau as fb
from flambeau import Tensor
from flambeau._display.terminal import printable
from flambeau.nn.modules._hooks import Hooked, WrappedHook
from flambeau.nn.parameter import Parameter, is_lazy
from flambeau.utils.hooks import RemovableHandle, register_in

if TYPE_CHECKING:
    from flambeau.nn.modules.module import Module

__all__: list[str] = []

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"

_Keys = namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])  # type: ignore[name-match]


class _IncompatibleKeys(_Keys):
    """What `load_state_dict` returns: keys that it did not find, and keys without a use."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class Stateful(Hooked):
    """The part of `Module` that is saved and loaded."""

    # The form of the state dict. A class that changes the form of its own counts this up and
    # understands older ones in `_load_from_state_dict`.
    _version: int = 1
    # Once asked for the differences of source code when a pickled module was loaded.
    dump_patches: bool = False

    T_destination = TypeVar("T_destination", bound=dict[str, Any])

    def get_extra_state(self) -> Any:
        """Return what else the state dict holds. A class overrides it and `set_extra_state`."""
        raise RuntimeError(
            "Module.get_extra_state() is not to be called: a class with extra state overrides it."
        )

    def set_extra_state(self, state: Any) -> None:
        """Take back what `get_extra_state` returned."""
        raise RuntimeError(
            "Module.set_extra_state() is not to be called: a class with extra state overrides it."
        )

    def _fb_has_extra_state(self, method: str) -> bool:
        return getattr(type(self), method) is not getattr(Stateful, method)

    # Saving.

    @overload
    def state_dict(
        self, *, destination: T_destination, prefix: str = ..., keep_vars: bool = ...
    ) -> T_destination: ...
    @overload
    def state_dict(self, *, prefix: str = ..., keep_vars: bool = ...) -> dict[str, Any]: ...
    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Return all parameters and persistent buffers, by their paths.

        The tensors share memory with the module's and have no history.

        Args:
            *args: Deprecated; the arguments below by position.
            destination: Dictionary to fill. Default: a new one.
            prefix: Put before every path. Default: nothing.
            keep_vars: Whether to return the parameters themselves, with their history. Default:
                False.

        Example:
            >>> layer = nn.Linear(2, 3)
            >>> [(key, tuple(value.shape)) for key, value in layer.state_dict().items()]
            [('weight', (3, 2)), ('bias', (3,))]

        See also:
            `Module.load_state_dict`, `torch.save`.
        """
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html"
                "#torch.nn.Module.state_dict for details.",
                FutureWarning,
                stacklevel=2,
            )
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and prefix == "" else prefix
            keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for pre_hook in self._state_dict_pre_hooks.values():
            pre_hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in self._state_dict_hooks.values():
            result = hook(self, destination, prefix, local_metadata)
            if result is None:
                continue
            if getattr(hook, "_from_public_api", False):
                raise RuntimeError("state_dict post-hook must return None")
            destination = result
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put the state of this module alone into ``destination``."""
        for name, parameter in self._parameters.items():
            if parameter is not None:
                destination[prefix + name] = parameter if keep_vars else parameter.detach()
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buffer if keep_vars else buffer.detach()
        if self._fb_has_extra_state("get_extra_state"):
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def _fb_saved_tensors(self) -> dict[str, Any]:
        """The tensors of this module alone that belong to its state."""
        temporary = self._non_persistent_buffers_set
        buffers = {k: v for k, v in self._buffers.items() if k not in temporary}
        return {k: v for k, v in (self._parameters | buffers).items() if v is not None}

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` when the state is collected.

        On the module that `state_dict` was called on, it may return another dictionary.
        """
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was "
                "previously registered via register_state_dict_post_hook"
            )
        return register_in(self._state_dict_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` when the state is collected."""
        hook._from_public_api = True  # type: ignore[attr-defined]
        return register_in(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before the state is collected."""
        return register_in(self._state_dict_pre_hooks, hook)

    # Loading.

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        """Call ``hook`` with the arguments of `_load_from_state_dict` before it starts."""
        wrapped = WrappedHook(hook, self if with_module else None)
        return register_in(self._load_state_dict_pre_hooks, wrapped)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
        unexpected_keys, error_msgs)`` before the module loads its own part."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` when the module has loaded.

        It may change both lists of keys: `load_state_dict` complains of what is left in them.
        """
        return register_in(self._load_state_dict_post_hooks, hook)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Any:
        """Copy the tensors of a state dict into parameters and buffers, by their paths.

        Args:
            state_dict: Tensors by path, as `state_dict` returns them.
            strict: Whether the keys must be exactly those of this module. Default: True.
            assign: Whether to take the tensors themselves instead of copying them. Default: False.

        Returns:
            A pair of lists, `missing_keys` and `unexpected_keys`.

        Raises:
            RuntimeError: A shape differs, or with `strict` a key is missing or unexpected.

        Example:
            >>> a, b = nn.Linear(2, 3), nn.Linear(2, 3)
            >>> b.load_state_dict(a.state_dict())
            <All keys matched successfully>
            >>> b.load_state_dict({"weight": a.weight}, strict=False).missing_keys
            ['bias']

        See also:
            `Module.state_dict`, `torch.load`.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        keys = _IncompatibleKeys([], [])
        errors: list[str] = []
        metadata = getattr(state_dict, "_metadata", None)
        copied: Any = OrderedDict(state_dict)  # hooks may change it
        if metadata is not None:
            copied._metadata = metadata
        this: Any = self
        _Loading(keys, errors, metadata, assign).load(this, copied, "")
        if strict:
            errors = [
                f"{what} key(s) in state_dict: {_quoted(found)}. "
                for what, found in (
                    ("Missing", keys.missing_keys),
                    ("Unexpected", keys.unexpected_keys),
                )
                if found
            ] + errors
        if errors:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {self._get_name()}:\n\t" + "\n\t".join(errors)
            )
        return keys

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load this module alone, and note what is missing, unexpected or does not fit.

        Classes that understand older state dicts override it: ``local_metadata["version"]`` is the
        ``_version`` that the state was saved with, if any.
        """
        for hook in self._load_state_dict_pre_hooks.values():
            hook(
                state_dict,
                prefix,
                local_metadata,
                strict,
                missing_keys,
                unexpected_keys,
                error_msgs,
            )
        own = self._fb_saved_tensors()
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, tensor in own.items():
            key = prefix + name
            if key in state_dict:
                complaint = self._fb_load_tensor(name, tensor, key, state_dict[key], assign)
                if complaint:
                    error_msgs.append(complaint)
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA_STATE_KEY_SUFFIX
        has_extra = self._fb_has_extra_state("set_extra_state")
        if has_extra and extra in state_dict:
            self.set_extra_state(state_dict[extra])
        elif strict and has_extra:
            missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            unexpected_keys += self._fb_unexpected(state_dict, prefix, own, extra)

    def _fb_unexpected(
        self, state_dict: dict[str, Any], prefix: str, own: dict[str, Any], extra: str
    ) -> list[str]:
        unexpected = []
        for key in state_dict:
            if key.startswith(prefix) and key != extra:
                name, dot, _ = key[len(prefix) :].partition(".")
                if name not in (self._modules if dot else own):
                    unexpected.append(key)
        return unexpected

    def _fb_load_tensor(
        self, name: str, own: Any, key: str, given: Any, assign: bool
    ) -> str | None:
        """Load one tensor; what is wrong with it otherwise."""
        if not isinstance(given, Tensor):
            return (
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
                f"object from checkpoint but received {type(given)}"
            )
        if not is_lazy(own):
            # Before there were tensors without dimensions, a single number had one.
            if own.dim() == 0 and given.shape == (1,):
                given = given[0]
            if given.shape != own.shape:
                return (
                    f"size mismatch for {key}: copying a param with shape {given.shape} from "
                    f"checkpoint, the shape in current model is {own.shape}."
                )
        if own.is_meta and not given.is_meta and not assign:
            warnings.warn(
                f"for {key}: copying from a non-meta parameter in the checkpoint to a meta "
                "parameter in the current model, which is a no-op. (Did you mean to pass "
                "`assign=True` to assign items in the state dictionary to their corresponding key "
                "in the module instead of copying them in place?)",
                stacklevel=2,
            )
        try:
            with fb.no_grad():
                if assign:
                    setattr(self, name, _in_place_of(own, given))
                else:
                    own.copy_(given)
        except Exception as error:
            return (
                f'While copying the parameter named "{key}", whose dimensions in the model are '
                f"{own.size()} and whose dimensions in the checkpoint are {given.size()}, an "
                f"exception occurred : {error.args}."
            )
        return None


class _Loading:
    """One `load_state_dict`: where the modules note what goes wrong."""

    def __init__(self, keys: _IncompatibleKeys, errors: list[str], metadata: Any, assign: bool):
        self.keys = keys
        self.errors = errors
        self.metadata = metadata
        self.assign = assign

    def load(self, module: Module, state_dict: dict[str, Any], prefix: str) -> None:
        local = {} if self.metadata is None else self.metadata.get(prefix[:-1], {})
        if self.assign:
            local["assign_to_params_buffers"] = True
        missing, unexpected = self.keys
        module._load_from_state_dict(
            state_dict, prefix, local, True, missing, unexpected, self.errors
        )
        for name, child in module._modules.items():
            if child is not None:
                below = f"{prefix}{name}."
                part = {key: value for key, value in state_dict.items() if key.startswith(below)}
                self.load(child, part, below)
        for hook in module._load_state_dict_post_hooks.values():
            if hook(module, self.keys) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected "
                    "to return new values, if incompatible_keys need to be modified, it should be "
                    "done inplace."
                )


def _in_place_of(own: Tensor, given: Tensor) -> Tensor:
    """The tensor that takes the place of a parameter or buffer: a parameter in that of one."""
    if not isinstance(own, Parameter):
        return given
    if isinstance(given, Parameter):
        return given.requires_grad_(own.requires_grad)
    made: Tensor = Parameter(given, requires_grad=own.requires_grad)
    return made


def _quoted(keys: list[str]) -> str:
    return ", ".join(f'"{printable(str(key))}"' for key in keys)
