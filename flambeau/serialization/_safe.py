"""The names that a checkpoint may use when it is loaded without running code."""

from __future__ import annotations

import _compat_pickle
import pickletools
from collections.abc import Callable, Iterable
from pickle import UnpicklingError
from types import TracebackType
from typing import Any

from flambeau._display.terminal import printable
from flambeau.serialization._names import BY_NAME, MISSING_TYPES

__all__: list[str] = []

Allowed = Callable[..., Any] | tuple[Callable[..., Any], str]
# Never needed in a checkpoint, whatever else is allowed.
_BLOCKED_MODULES = frozenset({"sys", "os", "posix", "nt", "subprocess", "shutil", "socket"})
_allowed: list[Allowed] = []


def add_safe_globals(safe_globals: list[Allowed]) -> None:
    """Allow classes and functions in files that `load` reads with `weights_only=True`.

    Args:
        safe_globals: Classes and functions, or pairs of one and the full name that files have
            for it.

    Example:
        >>> from fractions import Fraction
        >>> torch.serialization.add_safe_globals([Fraction])
        >>> Fraction in torch.serialization.get_safe_globals()
        True
        >>> torch.serialization.clear_safe_globals()

    See also:
        `torch.load`, `serialization.safe_globals`.
    """
    _allowed.extend(entry for entry in safe_globals if entry not in _allowed)


def get_safe_globals() -> list[Allowed]:
    """Return what was allowed with `add_safe_globals`."""
    return list(_allowed)


def clear_safe_globals() -> None:
    """Forget what was allowed with `add_safe_globals`."""
    _allowed.clear()


class safe_globals:
    """Allow classes and functions in files that `load` reads within a block.

    Args:
        safe_globals: As of `add_safe_globals`.

    Example:
        >>> from fractions import Fraction
        >>> with torch.serialization.safe_globals([Fraction]):
        ...     Fraction in torch.serialization.get_safe_globals()
        True
    """

    def __init__(self, safe_globals: list[Allowed]) -> None:
        self.safe_globals = safe_globals

    def __enter__(self) -> None:
        self._before = get_safe_globals()
        add_safe_globals(self.safe_globals)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _allowed[:] = self._before


def _full_name(obj: Any) -> str:
    return f"{obj.__module__}.{obj.__qualname__}"


class SafeNames:
    """The names that one file may use: the fixed list, and what the user has allowed."""

    def __init__(self) -> None:
        self._user: dict[str, Any] = {}
        for entry in _allowed:
            value, name = entry if isinstance(entry, tuple) else (entry, _full_name(entry))
            self._user[name] = value
            if name.startswith("flambeau."):  # the same class in PyTorch's files
                self._user.setdefault("torch." + name.removeprefix("flambeau."), value)
        self._user_ids = {id(value) for value in self._user.values()}

    @property
    def has_users(self) -> bool:
        return bool(self._user)

    def is_users(self, value: Any) -> bool:
        """Whether the user lets files call ``value``."""
        return id(value) in self._user_ids

    def knows(self, name: str) -> bool:
        return name in self._user or name in BY_NAME

    def find(self, module: str, name: str) -> Any:
        """Resolve a name from a file; UnpicklingError if it may not use it."""
        full = full_name(module, name)
        root, shown = full.partition(".")[0], printable(full)
        if root in _BLOCKED_MODULES:
            raise UnpicklingError(
                f"Trying to load unsupported GLOBAL {shown} whose module {root} is blocked. "
                "No checkpoint needs it: do not load this file."
            )
        if full in self._user:
            return self._user[full]
        if full in BY_NAME:
            return BY_NAME[full]
        if root == "torch" and MISSING_TYPES.fullmatch(name):
            raise UnpicklingError(
                f"the file holds elements of {shown}, a type that Flambeau does not have; "
                "convert the tensor before saving it, for instance with tensor.to(torch.int64)"
            )
        raise UnpicklingError(
            f"Unsupported global: GLOBAL {shown} was not an allowed global by default. If you "
            "trust this class or function, allow it with "
            f"`serialization.add_safe_globals([{shown}])` or "
            f"within `serialization.safe_globals([{shown}])`. `weights_only=False` also loads the "
            "file, but runs any code that it names: use it only if you trust where it comes from."
        )


def full_name(module: str, name: str) -> str:
    """The name in today's Python: pickles of the older protocols have those of Python 2."""
    if (module, name) in _compat_pickle.NAME_MAPPING:
        module, name = _compat_pickle.NAME_MAPPING[module, name]
    else:
        module = _compat_pickle.IMPORT_MAPPING.get(module, module)
    return f"{module}.{name}"


def names_in(pickled: bytes) -> Iterable[str]:
    """Every name that a pickle holds, found without running it."""
    strings: list[str] = []  # those on the stack, as far as names of globals need it
    memo: dict[int, str] = {}
    last = ""
    for opcode, argument, _ in pickletools.genops(pickled):
        if opcode.name in ("GLOBAL", "INST"):
            module, _, name = str(argument).partition(" ")
            yield full_name(module, name)
        elif opcode.name == "STACK_GLOBAL":
            yield full_name(*strings[-2:]) if len(strings) > 1 else "unknown"
        elif "UNICODE" in opcode.name:
            last = str(argument)
            strings.append(last)
        elif opcode.name == "MEMOIZE":
            memo[len(memo)] = last
        elif "PUT" in opcode.name and isinstance(argument, int):
            memo[argument] = last
        elif "GET" in opcode.name and isinstance(argument, int):
            strings.append(memo.get(argument, ""))
