"""Errors of PyTorch's compiler, for programs that catch them."""

from __future__ import annotations

from typing import Any

__all__: list[str] = []


class TorchDynamoException(RuntimeError):
    """What all of them are."""


class InternalTorchDynamoError(TorchDynamoException):
    """A mistake of the compiler."""


class Unsupported(TorchDynamoException):
    """Code that cannot be compiled."""


class BackendCompilerFailed(TorchDynamoException):
    """A backend that failed."""


class RecompileError(TorchDynamoException):
    """A function that had to be compiled again and must not."""


class FailOnRecompileLimitHit(TorchDynamoException):
    """A function with more graphs than may be compiled, which must not run eagerly."""


class InvalidBackend(TorchDynamoException):
    """A backend that nobody has registered."""

    def __init__(self, name: Any) -> None:
        super().__init__(
            f"compile: there is no backend {name!r}; torch.compiler.list_backends() names them"
        )


class UserError(Unsupported):
    """Code that is wrong before it is compiled."""
