"""Running a program on Flambeau as Python would run it."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from types import ModuleType, TracebackType

from flambeau.compat._hook import install
from flambeau.compat._packages import name_here
from flambeau.version import __version__

__all__ = ["run_module", "run_script"]

_FAILED = 1
_INTERRUPTED = 130  # what a shell reports of a program that Ctrl-C ended


def run_script(path: str, arguments: Sequence[str] = ()) -> int:
    """Run a file as the main program, with ``torch`` served by Flambeau; its exit code."""
    install()
    loader = SourceFileLoader("__main__", path)
    try:
        code = loader.source_to_code(loader.get_data(path), path)
    except OSError as error:
        print(f"flambeau run: cannot read {path}: {error.strerror}", file=sys.stderr)
        return _FAILED
    except SyntaxError as error:
        sys.excepthook(type(error), error.with_traceback(None), None)
        return _FAILED
    main = ModuleType("__main__")
    vars(main).update(__file__=path, __loader__=loader, __builtins__=__builtins__)
    sys.modules["__main__"] = main
    sys.argv[:] = [path, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    return _ended(lambda: exec(code, vars(main)))


def run_module(name: str, arguments: Sequence[str] = ()) -> int:
    """Run a module as ``python -m`` does, with ``torch`` served by Flambeau; its exit code."""
    install()
    sys.argv[:] = [name, *arguments]
    sys.path[0] = os.getcwd()
    return _ended(lambda: runpy.run_module(name, run_name="__main__", alter_sys=True))


def _ended(program: Callable[[], object]) -> int:
    """Run a program; an error is shown as Python shows it, without the frames of this file."""
    try:
        program()
    except KeyboardInterrupt as error:
        _show(error)
        return _INTERRUPTED
    except Exception as error:
        _show(error)
        return _FAILED
    return 0


def _show(error: BaseException) -> None:
    traceback = _of_program(error.__traceback__)
    sys.excepthook(type(error), error.with_traceback(traceback), traceback)
    if isinstance(error, ImportError) and _is_ours(error.name):
        print(
            f"\nflambeau run: torch is Flambeau {__version__} here, which does not provide that. "
            f"`flambeau run --audit {sys.argv[0]}` lists all such names of a program",
            file=sys.stderr,
        )


def _is_ours(module: str | None) -> bool:
    if module is None:
        return False
    return name_here(module) is not None or module.partition(".")[0] == "flambeau"


def _of_program(traceback: TracebackType | None) -> TracebackType | None:
    ours = (__file__, runpy.__file__, "<frozen runpy>")
    while traceback is not None and traceback.tb_frame.f_code.co_filename in ours:
        traceback = traceback.tb_next
    return traceback
