"""Module: what every network is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flambeau import _C
from flambeau.compiler._compile import compile
from flambeau.nn.modules._conversion import Convertible
from flambeau.nn.modules._global_hooks import (  # noqa: F401  some are known by this path
    _global_backward_hooks,
    _global_backward_pre_hooks,
    _global_forward_hooks,
    _global_forward_pre_hooks,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from flambeau.nn.modules._members import empty_state
from flambeau.nn.modules._state import (  # noqa: F401  likewise
    _EXTRA_STATE_KEY_SUFFIX,
    _IncompatibleKeys,
)
from flambeau.nn.modules._yielding import yielding

if TYPE_CHECKING:
    from typing_extensions import Self

    from flambeau.nn.modules._summary import Summary

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]


def _forward_unimplemented(self: Module, *input: Any) -> None:
    """Compute the result of a call. Every subclass defines it; call the module, not `forward`."""
    raise NotImplementedError(
        f'Module [{type(self).__name__}] is missing the required "forward" function'
    )


class Module(Convertible):
    """Base class of all neural networks and of their parts.

    A subclass sets its parts up in ``__init__``, after that of this class, and computes with them
    in ``forward``::

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.hidden = nn.Linear(4, 8)
                self.out = nn.Linear(8, 2)

            def forward(self, x):
                return self.out(F.relu(self.hidden(x)))

    Modules and parameters that are assigned as attributes are registered: they are found by
    `parameters`, converted by `to`, saved by `state_dict`. ``training`` says which of `train` and
    `eval` came last.
    """

    forward: Callable[..., Any] = _forward_unimplemented

    def apply(self, fn: Callable[[Module], None]) -> Self:
        """Call ``fn`` on every module within this one, and then on this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Set this module and all within it to training, or with False to evaluation."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Set this module and all within it to evaluation."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Say of every parameter whether it requires gradients."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or with ``set_to_none=False`` make them zeros."""
        _C._optim.forget_grads(list(self.parameters()), set_to_none)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Let calls of this module be calls of what `torch.compile` makes of it."""
        self.__dict__["forward"] = compile(self.forward, *args, **kwargs)

    # How it is shown.

    def extra_repr(self) -> str:
        """Return what is shown between the brackets before the children."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        extra_lines = extra.split("\n") if extra else []
        children = [
            f"({name}): {_addindent(repr(module), 2)}" for name, module in self._modules.items()
        ]
        name = self._get_name()
        if len(extra_lines) == 1 and not children:
            return f"{name}({extra})"
        if not extra_lines and not children:
            return f"{name}()"
        return "\n  ".join([f"{name}(", *extra_lines, *children]) + "\n)"

    @yielding
    def summary(self, *args: Any, **kwargs: Any) -> Summary:
        """Print-ready table of the layers: shapes, parameters, multiply-adds, activation memory.

        The arguments are those of a call. The network is run on them once, in evaluation and
        without gradients; without arguments only the parameters are listed.
        """
        from flambeau.nn.modules._summary import summarize  # which needs the layers

        return summarize(self, args, kwargs)

    # Copies and pickles.

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Pickles of older versions lack some kinds of hooks.
        self.__dict__.update(empty_state() | state)

    def _replicate_for_data_parallel(self) -> Self:
        """A copy of this module alone, for another device to run."""
        replica = self.__new__(type(self))
        replica.__dict__ = self.__dict__ | {
            "_parameters": {},
            "_buffers": self._buffers.copy(),
            "_modules": self._modules.copy(),
            "_is_replica": True,
        }
        return replica


def _addindent(s_: str, numSpaces: int) -> str:  # names that programs know
    """The text of a child within that of its parent: every line but the first moved in."""
    first, *others = s_.split("\n")
    space = " " * numSpaces
    return "\n".join([first, *(space + line if line.strip() else "" for line in others)])
