"""Run a program under PyTorch itself: ``python -m tests.conformance.with_torch SCRIPT ...``.

A torchvision that was built for CUDA finds no operators of its own beside a torch for the CPU, and
then refuses to be imported, though only some of its functions need them.
"""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Callable
from typing import Any

import torch

__all__ = ["allow_torchvision"]


def allow_torchvision() -> None:
    """Let torchvision be imported without its operators."""
    register = torch.library.register_fake

    def register_fake(op: Any, *others: Any, **options: Any) -> Callable[..., Any]:
        if isinstance(op, str) and op.startswith("torchvision::"):
            return lambda function: function
        return register(op, *others, **options)

    torch.library.register_fake = register_fake


if __name__ == "__main__":
    allow_torchvision()
    del sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")
