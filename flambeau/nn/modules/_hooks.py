"""Hooks of modules, and the call of a module that has any."""

from __future__ import annotations

import functools
import inspect
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from flambeau import _C, Tensor
from flambeau.nn.modules import _global_hooks as common
from flambeau.nn.modules._legacy_hooks import warn_of_missing_gradients
from flambeau.nn.modules._members import Members
from flambeau.utils.hooks import BackwardHook, RemovableHandle, register_in

__all__: list[str] = []


class WrappedHook:
    """A hook that is given its module first; it does not keep the module alive."""

    def __init__(self, hook: Callable[..., Any], module: Any = None) -> None:
        self.hook = hook
        functools.update_wrapper(self, hook)
        self.with_module = module is not None
        if self.with_module:
            self.module: weakref.ReferenceType[Any] = weakref.ref(module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        state = {"hook": self.hook, "with_module": self.with_module}
        if self.with_module:
            state["module"] = self.module()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.hook = state["hook"]
        self.with_module = state["with_module"]
        if self.with_module:
            if state["module"] is None:
                raise RuntimeError("You are trying to revive the hook of a dead Module!")
            self.module = weakref.ref(state["module"])


class _CallSignature:
    """What ``inspect.signature`` says of a module: the native call has none of its own."""

    any_arguments: inspect.Signature = inspect.Signature(
        [
            inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
            inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
        ]
    )

    def __get__(self, module: Any, kind: type) -> inspect.Signature:
        if module is None or kind.__call__ is not _C._ModuleBase.__call__:
            raise AttributeError("__signature__")  # a class, or a call of its own: as ever
        return self.any_arguments


class Hooked(Members):
    """The part of `Module` that is called, and calls hooks on the way."""

    forward: Callable[..., Any]

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call a function before every call of `forward`.

        Args:
            hook: `hook(module, args)`; what it returns, unless None, replaces the arguments.
            prepend: Whether to run it before hooks that are there already. Default: False.
            with_kwargs: Whether it is called as `hook(module, args, kwargs)`, and may return both.
                Default: False.

        Returns:
            A handle, whose `remove()` removes the hook.

        Example:
            >>> layer = nn.Identity()
            >>> handle = layer.register_forward_pre_hook(lambda m, args: (args[0] + 1,))
            >>> layer(torch.zeros(2))
            tensor([1., 1.])
        """
        marks = [(self._forward_pre_hooks_with_kwargs, with_kwargs)]
        return register_in(self._forward_pre_hooks, hook, marks=marks, prepend=prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call a function after every call of `forward`.

        Args:
            hook: `hook(module, args, output)`; what it returns, unless None, replaces the output.
            prepend: Whether to run it before hooks that are there already. Default: False.
            with_kwargs: Whether it is called as `hook(module, args, kwargs, output)`. Default:
                False.
            always_call: Whether to call it even if `forward` raises. Default: False.

        Returns:
            A handle, whose `remove()` removes the hook.

        Example:
            >>> layer = nn.Linear(2, 3)
            >>> handle = layer.register_forward_hook(lambda m, args, out: print(tuple(out.shape)))
            >>> _ = layer(torch.zeros(5, 2))
            (5, 3)
            >>> handle.remove()

        See also:
            `Module.register_forward_pre_hook`, `Module.register_full_backward_hook`.
        """
        marks = [
            (self._forward_hooks_with_kwargs, with_kwargs),
            (self._forward_hooks_always_called, always_call),
        ]
        return register_in(self._forward_hooks, hook, marks=marks, prepend=prepend)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call a function when the gradients of the outputs have been computed.

        Args:
            hook: `hook(module, grad_output)`; what it returns, unless None, replaces `grad_output`.
            prepend: Whether to run it before hooks that are there already. Default: False.

        Returns:
            A handle, whose `remove()` removes the hook.

        Example:
            >>> layer = nn.Identity()
            >>> handle = layer.register_full_backward_pre_hook(lambda m, go: (go[0] * 10,))
            >>> x = torch.ones(2, requires_grad=True)
            >>> layer(x).sum().backward()
            >>> x.grad
            tensor([10., 10.])
        """
        return register_in(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call a function when the gradients of the inputs have been computed.

        Args:
            hook: `hook(module, grad_input, grad_output)`; what it returns, unless None, replaces
                `grad_input`.
            prepend: Whether to run it before hooks that are there already. Default: False.

        Returns:
            A handle, whose `remove()` removes the hook.

        Example:
            >>> layer = nn.Identity()
            >>> handle = layer.register_full_backward_hook(lambda m, gi, go: (gi[0] * 10,))
            >>> x = torch.ones(2, requires_grad=True)
            >>> layer(x).sum().backward()
            >>> x.grad
            tensor([10., 10.])
        """
        self._fb_set_backward_kind(full=True)
        return register_in(self._backward_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Do as `register_full_backward_hook`, with the gradients of the last operator alone.

        Deprecated: they are those of the module only where its forward is a single operator.
        """
        self._fb_set_backward_kind(full=False)
        return register_in(self._backward_hooks, hook)

    def _fb_set_backward_kind(self, full: bool) -> None:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single "
                "Module. Please use only one of them."
            )
        self._is_full_backward_hook = full

    # What a call does, under the names by which it is known besides.
    _call_impl = _wrapped_call_impl = _C._ModuleBase.__call__
    __signature__: _CallSignature = _CallSignature()

    def _fb_call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a call does where there are hooks: the native one only calls `forward`."""
        return _HookedCall(self, args, kwargs).run()


class _HookedCall:
    """One call of a module with hooks: what they have made of arguments and result so far."""

    def __init__(self, module: Hooked, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.module = module
        self.args = args
        self.kwargs = kwargs
        self.result: Any = None
        self.called: set[int] = set()  # forward hooks that have run
        self.full_hooks: list[Any] = []  # on the backward pass
        self.legacy_hooks: list[Any] = []
        for hooks, is_full in (
            (common._global_backward_hooks, common._global_is_full_backward_hook),
            (module._backward_hooks, module._is_full_backward_hook),
        ):
            (self.full_hooks if is_full else self.legacy_hooks).extend(hooks.values())

    def run(self) -> Any:
        try:
            return self._run()
        except Exception:
            self._run_hooks_after_failure()
            raise

    def _run(self) -> Any:
        module = self.module
        pre = [*common._global_backward_pre_hooks.values(), *module._backward_pre_hooks.values()]
        self._run_forward_pre_hooks()
        backward = None
        if self.full_hooks or pre:
            backward = BackwardHook(module, self.full_hooks, pre)
            self.args = backward.setup_input_hook(self.args)
        self.result = module.forward(*self.args, **self.kwargs)
        self._run_forward_hooks()
        if backward:
            if not isinstance(self.result, (Tensor, tuple)):
                warnings.warn(
                    "For backward hooks to be called, module output should be a Tensor or a tuple "
                    f"of Tensors but received {type(self.result)}",
                    stacklevel=5,
                )
            self.result = backward.setup_output_hook(self.result)
        if self.legacy_hooks:
            self._hook_last_node()
        return self.result

    def _run_forward_pre_hooks(self) -> None:
        module = self.module
        hooks = [*common._global_forward_pre_hooks.items(), *module._forward_pre_hooks.items()]
        for number, hook in hooks:
            if number in module._forward_pre_hooks_with_kwargs:
                changed = hook(module, self.args, self.kwargs)
                if changed is None:
                    continue
                if not (isinstance(changed, tuple) and len(changed) == 2):
                    raise RuntimeError(
                        "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                        f"but got {changed}."
                    )
                self.args, self.kwargs = changed
            else:
                changed = hook(module, self.args)
                if changed is not None:
                    self.args = changed if isinstance(changed, tuple) else (changed,)

    def _run_forward_hooks(self) -> None:
        hooks = [*common._global_forward_hooks.items(), *self.module._forward_hooks.items()]
        for number, hook in hooks:
            self.called.add(number)
            self._run_forward_hook(number, hook)

    def _run_forward_hook(self, number: int, hook: Callable[..., Any]) -> None:
        with_kwargs = (
            number in self.module._forward_hooks_with_kwargs
            or number in common._global_forward_hooks_with_kwargs
        )
        kwargs = (self.kwargs,) if with_kwargs else ()
        changed = hook(self.module, self.args, *kwargs, self.result)
        if changed is not None:
            self.result = changed

    def _run_hooks_after_failure(self) -> None:
        """Run hooks that are always called; an exception of theirs does not hide the first one."""
        module = self.module
        for kind, hooks, always in (
            (
                "global module",
                common._global_forward_hooks,
                common._global_forward_hooks_always_called,
            ),
            ("module", module._forward_hooks, module._forward_hooks_always_called),
        ):
            for number, hook in hooks.items():
                if number not in always or number in self.called:
                    continue
                try:
                    self._run_forward_hook(number, hook)
                except Exception as error:
                    warnings.warn(
                        f"{kind} forward hook with ``always_call=True`` raised an exception that "
                        f"was silenced as another error was raised in forward: {error}",
                        stacklevel=5,
                    )

    def _hook_last_node(self) -> None:
        found = self.result
        while not isinstance(found, Tensor):
            if isinstance(found, dict):
                found = next(value for value in found.values() if isinstance(value, Tensor))
            else:
                found = found[0]
        node = found.grad_fn
        if node is not None:
            for hook in self.legacy_hooks:
                node.register_hook(WrappedHook(hook, self.module))
            warn_of_missing_gradients(self.args, self.result, node)
