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
    """Compute the result of a call. Every subclass defines it.

    Call the module itself, `module(x)`, not `module.forward(x)`: only the former runs hooks.

    Args:
        *input: What the module is called with.

    Example:
        >>> class Double(nn.Module):
        ...     def forward(self, x):
        ...         return 2 * x
        >>> Double()(torch.tensor([1.0, 2.0]))
        tensor([2., 4.])
    """
    raise NotImplementedError(
        f'Module [{type(self).__name__}] is missing the required "forward" function'
    )


class Module(Convertible):
    """Base class of neural networks and their parts.

    A subclass creates its parts in `__init__`, after calling `super().__init__()`, and computes
    with them in `forward`. Modules and parameters that are assigned as attributes are registered:
    `parameters` finds them, `to` converts them, `state_dict` saves them.

    Attributes:
        training: Whether the module is in training mode (see `train` and `eval`). Dropout and
            batch normalisation behave differently in the two modes.

    Example:
        >>> class Model(nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.hidden = nn.Linear(4, 8)
        ...         self.out = nn.Linear(8, 2)
        ...
        ...     def forward(self, x):
        ...         return self.out(F.relu(self.hidden(x)))
        >>> model = Model()
        >>> model
        Model(
          (hidden): Linear(in_features=4, out_features=8, bias=True)
          (out): Linear(in_features=8, out_features=2, bias=True)
        )
        >>> model(torch.randn(3, 4)).shape
        torch.Size([3, 2])

    See also:
        `nn.Sequential`, `nn.ModuleList`, `nn.Parameter`, `Module.summary`.
    """

    forward: Callable[..., Any] = _forward_unimplemented

    def apply(self, fn: Callable[[Module], None]) -> Self:
        """Call a function on every module within this one, and then on this one.

        Args:
            fn: Function of one module.

        Returns:
            This module.

        Example:
            >>> def start_at_zero(module):
            ...     if isinstance(module, nn.Linear):
            ...         nn.init.zeros_(module.weight)
            >>> model = nn.Sequential(nn.Linear(2, 2), nn.ReLU()).apply(start_at_zero)
            >>> model[0].weight.sum().item()
            0.0

        See also:
            `nn.init`, `Module.modules`.
        """
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Set this module and all modules within it to training mode, or to evaluation mode.

        Args:
            mode: True for training, False for evaluation. Default: True.

        Returns:
            This module.

        Raises:
            ValueError: `mode` is not a bool.

        Example:
            >>> model = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
            >>> model.train().training, model.train(False)[1].training
            (True, False)

        See also:
            `Module.eval`.
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Set this module and all modules within it to evaluation mode.

        The same as `train(False)`. It does not switch gradients off: see `torch.no_grad`.

        Returns:
            This module.

        Example:
            >>> model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(p=1.0)).eval()
            >>> model.training
            False
            >>> bool((model(torch.ones(1, 2)) == model[0](torch.ones(1, 2))).all())
            True
        """
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set for every parameter whether it requires gradients, as to freeze a part of a network.

        Args:
            requires_grad: Whether they do. Default: True.

        Returns:
            This module.

        Example:
            >>> model = nn.Sequential(nn.Linear(2, 8), nn.Linear(8, 1))
            >>> _ = model[0].requires_grad_(False)
            >>> [p.requires_grad for p in model.parameters()]
            [False, False, True, True]
        """
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters.

        Args:
            set_to_none: Whether `grad` becomes None; otherwise it is filled with zeros. Default:
                True.

        Example:
            >>> layer = nn.Linear(2, 1)
            >>> layer(torch.ones(1, 2)).sum().backward()
            >>> layer.zero_grad()
            >>> layer.weight.grad is None
            True

        See also:
            `optim.Optimizer.zero_grad`.
        """
        _C._optim.forget_grads(list(self.parameters()), set_to_none)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile `forward` in place, as `torch.compile` does.

        Args:
            *args: Arguments of `torch.compile` behind the module.
            **kwargs: Its keyword arguments.

        Example:
            >>> layer = nn.Linear(2, 1)
            >>> layer.compile()
            >>> layer(torch.ones(1, 2)).shape
            torch.Size([1, 1])
        """
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
        """Table of the layers: output shapes, parameters, multiply-adds, memory of activations.

        The network runs once on the arguments, in evaluation mode and without gradients. Without
        arguments only the parameters are listed.

        Args:
            *args: Arguments of a call of this module.
            **kwargs: Keyword arguments of the call.

        Returns:
            A `Summary`, which prints as a table. It has `layers`, `total_parameters`,
            `trainable_parameters`, `parameter_bytes`, `multiply_adds` and `activation_bytes`.

        Example:
            >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
            >>> model.summary(torch.zeros(1, 4))
            Layer         Output shape  Parameters  Multiply-adds  Activations
            ──────────────────────────────────────────────────────────────────
            Sequential    1×2
            ├─ 0: Linear  1×8                   40             32         32 B
            ├─ 1: ReLU    1×8                                             32 B
            └─ 2: Linear  1×2                   18             16          8 B
            ──────────────────────────────────────────────────────────────────
            Parameters     58 (232 B)
            Multiply-adds  48
            Activations    72 B
            >>> model.summary().total_parameters
            58
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
