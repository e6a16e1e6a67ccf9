"""What a module is made of: parameters, buffers and other modules, under names.

`Module` is built up in layers, one subject a file: its members here, then `_hooks`, `_state` and
`_conversion`; `module` completes it.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import TYPE_CHECKING, Any

import flambeau as fb
from flambeau import _C, Tensor
from flambeau.nn.modules import _global_hooks
from flambeau.nn.modules._yielding import has_attribute
from flambeau.nn.parameter import Buffer, Parameter

if TYPE_CHECKING:
    from flambeau.nn.modules.module import Module

__all__: list[str] = []


class _Plain:
    """What the objects of any Python class have, and modules no more.

    It stands before the native class among the bases, so that Python takes modules for objects of a
    plain class: a lazy module may become one of another class.
    """


class Members(_Plain, _C._ModuleBase):
    """The part of `Module` that knows its members."""

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _non_persistent_buffers_set: set[str]
    _backward_pre_hooks: dict[int, Callable[..., Any]]
    _backward_hooks: dict[int, Callable[..., Any]]
    _is_full_backward_hook: bool | None
    _forward_hooks: dict[int, Callable[..., Any]]
    _forward_hooks_with_kwargs: dict[int, bool]
    _forward_hooks_always_called: dict[int, bool]
    _forward_pre_hooks: dict[int, Callable[..., Any]]
    _forward_pre_hooks_with_kwargs: dict[int, bool]
    _state_dict_hooks: dict[int, Callable[..., Any]]
    _state_dict_pre_hooks: dict[int, Callable[..., Any]]
    _load_state_dict_pre_hooks: dict[int, Callable[..., Any]]
    _load_state_dict_post_hooks: dict[int, Callable[..., Any]]
    _modules: dict[str, Any]  # modules, or None

    # Whether `Module.__init__` passes its arguments on to the next class, for multiple inheritance.
    call_super_init: bool = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            name = type(self).__name__
            if kwargs:
                raise TypeError(
                    f"{name}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
                )
            if args:
                raise TypeError(
                    f"{name}.__init__() takes 1 positional argument but {len(args) + 1} were given"
                )
        self.__dict__.update(empty_state())
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _C._adopt_module_class(cls)

    # Attributes. Members live in dictionaries of their own, under the names of attributes. The
    # native base class finds them there, and sets all other attributes.

    if TYPE_CHECKING:

        def __getattr__(self, name: str, /) -> Tensor | Module: ...

    def _fb_set_member(self, name: str, value: Any) -> None:
        """Set an attribute that may be a member, or that a member has the name of."""
        own = self.__dict__
        if isinstance(value, Parameter):
            self._fb_make_room(name, "_parameters", "cannot assign parameters")
            self.register_parameter(name, value)
        elif name in own.get("_parameters", ()):
            _check_none(value, f"parameter '{name}'", "torch.nn.Parameter or None expected")
            self.register_parameter(name, value)
        elif isinstance(value, Members):
            self._fb_make_room(name, "_modules", "cannot assign module")
            self._fb_put_module(name, value)
        elif name in own.get("_modules", ()):
            _check_none(value, f"child module '{name}'", "torch.nn.Module or None expected")
            self._fb_put_module(name, value)
        elif isinstance(value, Buffer) or name in own.get("_buffers", ()):
            self._fb_set_buffer(name, value)
        else:
            self._fb_set_plain(name, value)

    def __delattr__(self, name: str) -> None:
        if name in self._parameters:
            del self._parameters[name]
        elif name in self._buffers:
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in self._modules:
            del self._modules[name]
        else:
            super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = [*dir(type(self)), *self.__dict__]
        names += [*self._parameters, *self._modules, *self._buffers]
        # Names that start with a digit cannot be written as attributes.
        return sorted(name for name in names if not name[0].isdigit())

    def _fb_make_room(self, name: str, kind: str, refusal: str) -> None:
        """Forget what was under a name before a member of another kind takes it."""
        if kind not in self.__dict__:
            raise AttributeError(f"{refusal} before Module.__init__() call")
        places: list[MutableMapping[str, Any]] = [self.__dict__]
        places += [self.__dict__[k] for k in ("_parameters", "_buffers", "_modules") if k != kind]
        for place in places:
            place.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def _fb_put_module(self, name: str, module: Any) -> None:
        self._modules[name] = _global_hooks.seen_by(
            _global_hooks._global_module_registration_hooks, self, name, module
        )

    def _fb_set_buffer(self, name: str, value: Any) -> None:
        if value is not None and not _is_tensor_like(value):
            raise TypeError(
                f"cannot assign '{fb.typename(value)}' as buffer '{name}' "
                "(torch.nn.Buffer, torch.Tensor or None expected)"
            )
        if isinstance(value, Buffer):
            persistent = value.persistent
        else:
            persistent = name not in self._non_persistent_buffers_set
        register: Any = self.register_buffer
        is_ours = getattr(register, "__func__", None) is Members.register_buffer
        if is_ours or "persistent" in inspect.signature(register).parameters:
            register(name, value, persistent)
        elif persistent:  # an override from before buffers could be anything else
            register(name, value)
        else:
            raise RuntimeError(
                "Registering a non-persistent buffer on a Module subclass that implements "
                "register_buffer() without the persistent argument is not allowed."
            )

    # Registration.

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is not trained but belongs to the module's state.

        It is moved by `to`, and saved by `state_dict` unless told otherwise.

        Args:
            name: Name of the attribute.
            tensor: The tensor, or None to reserve the name.
            persistent: Whether state dicts hold it. Default: True.

        Raises:
            KeyError: The name is empty, has a dot, or is taken.

        Example:
            >>> class Counter(nn.Module):
            ...     def __init__(self):
            ...         super().__init__()
            ...         self.register_buffer("count", torch.tensor(0))
            >>> dict(Counter().state_dict())
            {'count': tensor(0)}

        See also:
            `nn.Buffer`, `Module.register_parameter`.
        """
        self._fb_check_new_name("buffer", "_buffers", name)
        if tensor is not None and not _is_tensor_like(tensor):
            raise TypeError(
                f"cannot assign '{fb.typename(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        self._buffers[name] = _global_hooks.seen_by(
            _global_hooks._global_buffer_registration_hooks, self, name, tensor
        )
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter. Assigning an `nn.Parameter` to an attribute does the same.

        Args:
            name: Name of the attribute.
            param: The parameter, or None to say that there is none under this name.

        Raises:
            KeyError: The name is empty, has a dot, or is taken.
            ValueError: The tensor is the result of a computation.

        Example:
            >>> module = nn.Module()
            >>> module.register_parameter("scale", nn.Parameter(torch.ones(2)))
            >>> module.scale
            Parameter containing:
            tensor([1., 1.], requires_grad=True)
        """
        self._fb_check_new_name("parameter", "_parameters", name)
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"cannot assign '{fb.typename(param)}' object to parameter '{name}' "
                    "(torch.nn.Parameter or None required)"
                )
            if param.grad_fn:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must "
                    f"be created explicitly. To express '{name}' as a function of another Tensor, "
                    "compute the value in the forward() method."
                )
            param = _global_hooks.seen_by(
                _global_hooks._global_parameter_registration_hooks, self, name, param
            )
        self._parameters[name] = param

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a child module. Assigning a module to an attribute does the same.

        Args:
            name: Name of the attribute, without dots.
            module: The child, or None.

        Raises:
            KeyError: The name is empty, has a dot, or is taken.

        Example:
            >>> model = nn.Sequential()
            >>> model.add_module("hidden", nn.Linear(2, 4))
            >>> model
            Sequential(
              (hidden): Linear(in_features=2, out_features=4, bias=True)
            )
        """
        if not isinstance(module, Members) and module is not None:
            raise TypeError(f"{fb.typename(module)} is not a Module subclass")
        if not isinstance(name, str):
            raise TypeError(f"module name should be a string. Got {fb.typename(name)}")
        if has_attribute(self, name) and name not in self._modules:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'module name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError('module name can\'t be empty string ""')
        self._fb_put_module(name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """The same as `add_module`."""
        self.add_module(name, module)

    def _fb_check_new_name(self, what: str, kind: str, name: str) -> None:
        if kind not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {fb.typename(name)}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain "."')
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if name not in self.__dict__[kind] and has_attribute(self, name):
            raise KeyError(f"attribute '{name}' already exists")

    # Members by their path.

    def _get_name(self) -> str:
        return type(self).__name__

    def get_submodule(self, target: str) -> Module:
        """Return the module at a path.

        Args:
            target: Names separated by dots; `""` is this module.

        Raises:
            AttributeError: There is no module at this path.

        Example:
            >>> model = nn.Sequential(nn.Sequential(nn.ReLU()))
            >>> model.get_submodule("0.0")
            ReLU()
        """
        module: Any = self
        for name in target.split(".") if target else ():
            module = _attribute(module, name)
            if not isinstance(module, Members):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module  # type: ignore[no-any-return]

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module at a path.

        Args:
            target: Names separated by dots.
            module: The module.
            strict: Whether another module must be there already. Default: False.

        Raises:
            AttributeError: What is there is no module, or with `strict` nothing is.

        Example:
            >>> model = nn.Sequential(nn.ReLU())
            >>> model.set_submodule("0", nn.GELU())
            >>> model[0]
            GELU(approximate='none')
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Members):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        is_there = strict or has_attribute(parent, name)
        if is_there and not isinstance(_attribute(parent, name), Members):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter at a path.

        Args:
            target: Names separated by dots.

        Raises:
            AttributeError: There is no parameter at this path.

        Example:
            >>> nn.Sequential(nn.Linear(2, 3)).get_parameter("0.weight").shape
            torch.Size([3, 2])
        """
        path, _, name = target.rpartition(".")
        parameter = _attribute(self.get_submodule(path), name)
        if not isinstance(parameter, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return parameter

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer at a path.

        Args:
            target: Names separated by dots.

        Raises:
            AttributeError: There is no buffer at this path.

        Example:
            >>> nn.Sequential(nn.BatchNorm1d(2)).get_buffer("0.running_mean")
            tensor([0., 0.])
        """
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        buffer = _attribute(module, name)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return buffer  # type: ignore[no-any-return]

    # All members.

    def _named_members(
        self,
        get_members_fn: Callable[[Module], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """Every member of one kind, with the path to it."""
        seen = set()
        modules: Iterable[tuple[str, Any]] = [(prefix, self)]
        if recurse:
            modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for path, module in modules:
            for name, value in get_members_fn(module):
                if value is None or value in seen:
                    continue
                if remove_duplicate:
                    seen.add(value)
                yield (f"{path}.{name}" if path else name), value

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Iterate over the parameters of this module and of all modules within it, each once.

        Args:
            recurse: Whether to visit modules within this one. Default: True.

        Example:
            >>> model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
            >>> sum(p.numel() for p in model.parameters())
            21
            >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        See also:
            `Module.named_parameters`, `Module.buffers`.
        """
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Iterate over pairs of path and parameter, such as `"0.weight"`.

        Args:
            prefix: Put before every path. Default: nothing.
            recurse: Whether to visit modules within this one. Default: True.
            remove_duplicate: Whether a shared parameter comes once. Default: True.

        Example:
            >>> model = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
            >>> [(name, tuple(p.shape)) for name, p in model.named_parameters()]
            [('0.weight', (4, 3)), ('0.bias', (4,))]
        """
        return self._named_members(_parameters_of, prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Iterate over the buffers of this module and of all modules within it, each once.

        Args:
            recurse: Whether to visit modules within this one. Default: True.

        Example:
            >>> [tuple(b.shape) for b in nn.BatchNorm1d(3).buffers()]
            [(3,), (3,), ()]

        See also:
            `Module.named_buffers`, `Module.register_buffer`.
        """
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Iterate over pairs of path and buffer.

        Args:
            prefix: Put before every path. Default: nothing.
            recurse: Whether to visit modules within this one. Default: True.
            remove_duplicate: Whether a shared buffer comes once. Default: True.

        Example:
            >>> [name for name, _ in nn.BatchNorm1d(3).named_buffers()]
            ['running_mean', 'running_var', 'num_batches_tracked']
        """
        return self._named_members(_buffers_of, prefix, recurse, remove_duplicate)

    def children(self) -> Iterator[Module]:
        """Iterate over the direct children of this module.

        Example:
            >>> list(nn.Sequential(nn.Linear(2, 4), nn.ReLU()).children())
            [Linear(in_features=2, out_features=4, bias=True), ReLU()]

        See also:
            `Module.named_children`; `Module.modules`, which visits all levels.
        """
        for _, module in self.named_children():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Iterate over pairs of name and child, each child once.

        Example:
            >>> [name for name, _ in nn.Sequential(nn.Linear(2, 4), nn.ReLU()).named_children()]
            ['0', '1']
        """
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """Iterate over this module and all modules within it, at any depth.

        Args:
            remove_duplicate: Whether a shared module comes once. Default: True.

        Example:
            >>> model = nn.Sequential(nn.Linear(2, 4), nn.Sequential(nn.ReLU()))
            >>> [type(module).__name__ for module in model.modules()]
            ['Sequential', 'Linear', 'Sequential', 'ReLU']
        """
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Iterate over pairs of path and module: this module and all modules within it.

        Args:
            memo: Modules that are left out; those that came are added. Default: none.
            prefix: Put before every path. Default: nothing.
            remove_duplicate: Whether a shared module comes once. Default: True.

        Example:
            >>> model = nn.Sequential(nn.Linear(2, 4), nn.Sequential(nn.ReLU()))
            >>> [path for path, _ in model.named_modules()]
            ['', '0', '1', '1.0']
        """
        this: Any = self
        memo = set() if memo is None else memo
        if this in memo:
            return
        if remove_duplicate:
            memo.add(this)
        yield prefix, this
        for name, module in self._modules.items():
            if module is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, path, remove_duplicate)


def empty_state() -> dict[str, Any]:
    """The attributes of a module without members and hooks."""
    return {
        "training": True,
        "_parameters": {},
        "_buffers": {},
        "_non_persistent_buffers_set": set(),
        "_backward_pre_hooks": OrderedDict(),
        "_backward_hooks": OrderedDict(),
        "_is_full_backward_hook": None,
        "_forward_hooks": OrderedDict(),
        "_forward_hooks_with_kwargs": OrderedDict(),
        "_forward_hooks_always_called": OrderedDict(),
        "_forward_pre_hooks": OrderedDict(),
        "_forward_pre_hooks_with_kwargs": OrderedDict(),
        "_state_dict_hooks": OrderedDict(),
        "_state_dict_pre_hooks": OrderedDict(),
        "_load_state_dict_pre_hooks": OrderedDict(),
        "_load_state_dict_post_hooks": OrderedDict(),
        "_modules": {},
    }


def _parameters_of(module: Module) -> Iterable[tuple[str, Any]]:
    return module._parameters.items()


def _buffers_of(module: Module) -> Iterable[tuple[str, Any]]:
    return module._buffers.items()


def _attribute(module: Members, name: str) -> Any:
    if not has_attribute(module, name):
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    return getattr(module, name)


def _is_tensor_like(value: object) -> bool:
    return isinstance(value, Tensor) or hasattr(value, "__torch_function__")


def _check_none(value: object, member: str, expected: str) -> None:
    if value is not None:
        raise TypeError(f"cannot assign '{fb.typename(value)}' as {member} ({expected})")
