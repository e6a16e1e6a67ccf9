"""The base class of optimisers: parameter groups, state, hooks."""

from __future__ import annotations

import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, TypeAlias, overload

import flambeau as fb
from flambeau import _C, Tensor
from flambeau.optim._functional import scale_back
from flambeau.optim._helpers import (
    _default_to_fused_or_foreach,
    _disable_dynamo_if_unsupported,
    _get_capturable_supported_devices,
    _get_foreach_kernels_supported_devices,
    _get_fused_kernels_supported_devices,
    _get_scalar_dtype,
    _get_value,
    _group_tensors_by_device_and_dtype,
    _stack_if_compiling,
    _use_grad_for_differentiable,
    _view_as_real,
)
from flambeau.optim._hooks import (
    hooked,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from flambeau.optim._named_state import (
    IncompatibleState,
    load_named_state_dict,
    named_state_dict,
)
from flambeau.optim._options import complete_groups
from flambeau.optim._state import load_state_dict, state_dict
from flambeau.utils.hooks import RemovableHandle, register_in

__all__ = [
    "Optimizer",
    "_default_to_fused_or_foreach",
    "_disable_dynamo_if_unsupported",
    "_get_capturable_supported_devices",
    "_get_foreach_kernels_supported_devices",
    "_get_fused_kernels_supported_devices",
    "_get_scalar_dtype",
    "_get_value",
    "_stack_if_compiling",
    "_use_grad_for_differentiable",
    "_view_as_real",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
]

ParamsT: TypeAlias = Iterable[Tensor | dict[str, Any] | tuple[str, Tensor]]
_params_t: TypeAlias = ParamsT  # its older name
_Hooks: TypeAlias = OrderedDict[int, Callable[..., Any]]

_HOOKS = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


class _RequiredParameter:
    """The default of an option that every group must give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required: _RequiredParameter = _RequiredParameter()


class Optimizer:
    """Base class of optimisers.

    Args:
        params: Parameters to optimise: tensors, pairs of name and tensor as
            `Module.named_parameters` gives them, or dicts, each a group: `"params"` and options of
            its own, such as another `lr`.
        defaults: Options of groups that do not set them.

    Attributes:
        param_groups: The groups, a list of dicts. Changing `group["lr"]` changes the learning rate.
        state: What the optimiser remembers of each parameter, a dict by parameter.

    Raises:
        ValueError: There are no parameters, or one is in two groups.
        TypeError: A parameter is no tensor.

    Example:
        >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
        >>> optimizer = torch.optim.SGD(
        ...     [
        ...         {"params": model[0].parameters(), "lr": 0.001},
        ...         {"params": model[2].parameters()},
        ...     ],
        ...     lr=0.1,
        ... )
        >>> [group["lr"] for group in optimizer.param_groups]
        [0.001, 0.1]
        >>> x, y = torch.randn(8, 4), torch.randn(8, 1)
        >>> for _ in range(3):
        ...     optimizer.zero_grad()
        ...     F.mse_loss(model(x), y).backward()
        ...     optimizer.step()

    See also:
        `optim.SGD`, `optim.AdamW`, `optim.lr_scheduler`.
    """

    # What is told to those who give it sparse gradients.
    _fb_refuses_sparse = "{name} does not support sparse gradients"
    # Whether a step takes complex numbers as pairs of real ones.
    _fb_splits_complex = True
    # Options that groups from older pickles and state dicts lack, and what they mean by that.
    _fb_later_options: ClassVar[dict[str, Any]] = {}

    # What a GradScaler sets for the time of a step.
    grad_scale: Tensor | None
    found_inf: Tensor | None

    _optimizer_step_pre_hooks: _Hooks
    _optimizer_step_post_hooks: _Hooks
    _optimizer_state_dict_pre_hooks: _Hooks
    _optimizer_state_dict_post_hooks: _Hooks
    _optimizer_load_state_dict_pre_hooks: _Hooks
    _optimizer_load_state_dict_post_hooks: _Hooks

    _group_tensors_by_device_and_dtype = staticmethod(_group_tensors_by_device_and_dtype)

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._fb_prepare()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {fb.typename(params)}"
            )
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _fb_prepare(self) -> None:
        """Give the object its dictionaries of hooks, and its class a step that calls them."""
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        cls = type(self)
        if not getattr(cls.step, "hooked", False):
            cls.step = hooked(cls.step)  # type: ignore[method-assign]

    # Steps.

    @overload
    def step(self, closure: None = None) -> None: ...
    @overload
    def step(self, closure: Callable[[], Any]) -> Any: ...
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters by their gradients.

        Args:
            closure: Function that computes loss and gradients anew, and returns the loss. Most
                optimisers need none. Default: None.

        Returns:
            What the closure returned, or None.

        Example:
            >>> w = torch.tensor([1.0], requires_grad=True)
            >>> optimizer = torch.optim.SGD([w], lr=0.1)
            >>> (3 * w).sum().backward()
            >>> optimizer.step()
            >>> w.detach()
            tensor([0.7000])
        """
        raise NotImplementedError

    def _fb_init_state(self, param: Tensor, group: dict[str, Any]) -> None:
        """Begin the state of a parameter that has none."""
        raise NotImplementedError

    def _fb_update(
        self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> Tensor:
        """Write the new state of a parameter and return its new value.

        With ordinary operators, in the same order as the kernel: what a kernel cannot take comes
        here, and what is to be differentiated.
        """
        raise NotImplementedError

    def _fb_scale_back(self) -> bool:
        """Divide gradients by the attribute ``grad_scale``; say whether ``found_inf`` is set.

        A GradScaler sets both while it calls the step of an optimiser with ``fused=True``.
        """
        params = [param for group in self.param_groups for param in group["params"]]
        grads = [param.grad for param in params if param.grad is not None]
        return scale_back(grads, self.grad_scale, self.found_inf)

    def _fb_step_composed(self, group: dict[str, Any], params: list[Tensor]) -> None:
        """Take a step with some of the parameters of a group, one after the other."""
        with fb.set_grad_enabled(self.defaults["differentiable"]):
            for param in params:
                if param.grad is not None:
                    self._fb_step_one(param, param.grad, group)

    def _fb_step_one(self, param: Tensor, grad: Tensor, group: dict[str, Any]) -> None:
        if grad.is_sparse:
            raise RuntimeError(self._fb_refuses_sparse.format(name=type(self).__name__))
        check_capturable(param, group)
        if not self.state[param]:
            self._fb_init_state(param, group)
        state = self.state[param]
        if self._fb_splits_complex and param.is_complex():
            param, grad = fb.view_as_real(param), fb.view_as_real(grad)
            state = {
                key: fb.view_as_real(value) if is_complex_tensor(value) else value
                for key, value in state.items()
            }
        param.copy_(self._fb_update(param, grad, state, group))

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters.

        Args:
            set_to_none: Whether `grad` becomes None; otherwise it is filled with zeros.
                Default: True.

        Example:
            >>> w = torch.tensor([1.0], requires_grad=True)
            >>> optimizer = torch.optim.SGD([w], lr=0.1)
            >>> w.sum().backward()
            >>> optimizer.zero_grad()
            >>> w.grad is None
            True
        """
        if _C._is_profiling():
            from flambeau.autograd.profiler import record_function

            with record_function(f"Optimizer.zero_grad#{type(self).__name__}.zero_grad"):
                _C._optim.forget_group_grads(self.param_groups, set_to_none)
        else:
            _C._optim.forget_group_grads(self.param_groups, set_to_none)

    # Groups.

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters, such as layers that are no longer frozen.

        Args:
            param_group: Dict with `"params"` and options of its own.

        Raises:
            ValueError: A parameter is in another group already.

        Example:
            >>> model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
            >>> optimizer = torch.optim.SGD(model[1].parameters(), lr=0.1)
            >>> optimizer.add_param_group({"params": model[0].parameters(), "lr": 0.01})
            >>> len(optimizer.param_groups)
            2
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        _list_params(param_group)
        for param in param_group["params"]:
            self._fb_check_param(param)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    "parameter group didn't specify a value of required optimization parameter "
                    f"{name}"
                )
            param_group.setdefault(name, default)
        self._fb_check_repeats(param_group)
        self.param_groups.append(param_group)

    def _fb_check_param(self, param: Any) -> None:
        if not isinstance(param, Tensor):
            raise TypeError(
                "optimizer can only optimize Tensors, but one of the params is "
                f"{fb.typename(param)}"
            )
        if not self.defaults.get("differentiable") and not (param.is_leaf or param.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor")

    def _fb_check_repeats(self, added: dict[str, Any]) -> None:
        params = set(added["params"])
        if len(params) != len(added["params"]):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; "
                "in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=4,
            )
        is_named = "param_names" in added
        for group in self.param_groups:
            if ("param_names" in group) != is_named:
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param "
                    f"group {'with' if is_named else 'without'} names to the optimizer"
                )
        if any(not params.isdisjoint(group["params"]) for group in self.param_groups):
            raise ValueError("some parameters appear in more than one parameter group")

    # State.

    def state_dict(self) -> dict[str, Any]:
        """Return state and options, in PyTorch's form.

        Returns:
            A dict of `"state"`, by the number of the parameter, and `"param_groups"`.

        Example:
            >>> optimizer = torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=0.1)
            >>> optimizer.state_dict()["param_groups"][0]["lr"]
            0.1

        See also:
            `Optimizer.load_state_dict`, `torch.save`, `Optimizer.named_state_dict`.
        """
        return state_dict(self)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` returned. Parameters are matched by their order.

        Args:
            state_dict: State and options, from here or from PyTorch.

        Raises:
            ValueError: Groups or parameters differ in number.

        Example:
            >>> w = torch.ones(2, requires_grad=True)
            >>> saved = torch.optim.Adam([w], lr=0.5).state_dict()
            >>> optimizer = torch.optim.Adam([w])
            >>> optimizer.load_state_dict(saved)
            >>> optimizer.param_groups[0]["lr"]
            0.5
        """
        load_state_dict(self, state_dict)

    def named_state_dict(
        self, named_parameters: Iterable[tuple[str, Tensor]] | None = None
    ) -> dict[str, Any]:
        """Return the state by the name of the parameter, the options of the groups, and shapes.

        Names are those that the optimiser was given; else ``named_parameters`` says them.
        """
        return named_state_dict(self, named_parameters)

    def load_named_state_dict(
        self,
        state_dict: dict[str, Any],
        named_parameters: Iterable[tuple[str, Tensor]] | None = None,
        *,
        strict: bool = True,
    ) -> IncompatibleState:
        """Take over what `named_state_dict` has returned, whatever the order of the parameters.

        Unless ``strict``, what fits is loaded; the result lists the names that are missing in
        ``state_dict``, those that it has in excess and those whose shape differs.
        """
        return load_named_state_dict(self, state_dict, named_parameters, strict=strict)

    def __getstate__(self) -> dict[str, Any]:
        return {
            "defaults": self.defaults,
            "state": self.state,
            "param_groups": self.param_groups,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._fb_prepare()
        self.defaults.setdefault("differentiable", False)
        if self._fb_later_options:
            complete_groups(self, self._fb_later_options)

    # Hooks.

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before a step; it may return other arguments."""
        return register_in(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after a step."""
        return register_in(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` before `state_dict`."""
        return register_in(self._optimizer_state_dict_pre_hooks, hook, prepend=prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` after `state_dict`; it may return another one."""
        return register_in(self._optimizer_state_dict_post_hooks, hook, prepend=prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before loading; it may return another one."""
        return register_in(self._optimizer_load_state_dict_pre_hooks, hook, prepend=prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` after loading."""
        return register_in(self._optimizer_load_state_dict_post_hooks, hook, prepend=prepend)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])


def _list_params(group: dict[str, Any]) -> None:
    """Make the parameters of a group a list, with their names beside it if they come with names."""
    params = group["params"]
    if isinstance(params, Tensor):
        params = [params]
    elif isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of "
            "tensors in sets will change between runs. Please use a list instead."
        )
    listed = list(params)
    names = [each[0] for each in listed if isinstance(each, tuple)]
    if names and len(names) != len(listed):
        raise ValueError(
            "all optimizer params should be with/without names. Some param names are missing"
        )
    group["params"] = [each[1] for each in listed] if names else listed
    if names:
        group["param_names"] = names


def is_complex_tensor(value: Any) -> bool:
    """Whether it is a tensor of complex numbers."""
    return isinstance(value, Tensor) and value.is_complex()


def check_capturable(param: Tensor, group: dict[str, Any]) -> None:
    """Refuse to prepare a step on the CPU for capture in a graph of an accelerator."""
    devices = ["cuda", "xpu", "hpu", "privateuseone", "xla"]
    if group.get("capturable") and param.device.type not in devices:
        raise AssertionError(
            f"If capturable=True, params and state_steps must be on supported devices: {devices}."
        )
