"""``flambeau.progress``: a loop that shows how far it is, how fast, and what it measures."""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from time import perf_counter
from types import TracebackType
from typing import Any, Generic, TextIO, TypeVar, overload

from flambeau._display.terminal import (
    Style,
    can_show,
    cells,
    clipped,
    columns,
    is_live,
    is_notebook,
)

__all__ = ["Progress", "progress"]

T = TypeVar("T")

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_WIDEST, _NARROWEST = 32, 8  # columns of the bar itself
_INTERVAL = 0.1  # seconds between two redraws
_MEMORY = 3.0  # seconds after which an old rate counts for a third

# The running bars, outermost first; the lock is held while any of them draws.
_running: list[Progress[Any]] = []
_lock = threading.RLock()


@overload
def progress(
    iterable: Iterable[T],
    description: str = "",
    *,
    total: int | None = None,
    unit: str = "it",
    keep: bool | None = None,
    show: bool | None = None,
    stream: TextIO | None = None,
) -> Progress[T]: ...
@overload
def progress(
    iterable: None = None,
    description: str = "",
    *,
    total: int | None = None,
    unit: str = "it",
    keep: bool | None = None,
    show: bool | None = None,
    stream: TextIO | None = None,
) -> Progress[None]: ...
def progress(
    iterable: Iterable[Any] | None = None,
    description: str = "",
    *,
    total: int | None = None,
    unit: str = "it",
    keep: bool | None = None,
    show: bool | None = None,
    stream: TextIO | None = None,
) -> Progress[Any]:
    """Progress bar over an iterable, or one that `update` moves.

    On a terminal it is redrawn at most ten times a second. In pipes and logs the outermost bar
    writes one line when it ends.

    Args:
        iterable: What to iterate over. Default: None, for a bar moved by `update`.
        description: Text in front of the bar. Default: empty.
        total: Number of steps. Default: the length of the iterable.
        unit: Name of a step. Default: `"it"`.
        keep: Whether the bar stays when it ends. Default: the outermost one does.
        show: True draws it anywhere, False writes nothing. Default: by the stream.
        stream: Where it is written. Default: standard error.

    Returns:
        A `Progress`, which iterates; `set(loss=loss)` shows values beside the bar.

    Example:
        >>> bar = torch.progress(range(3), "training", show=False)
        >>> for step in bar:
        ...     bar.set(loss=1 / (step + 1))
        >>> with torch.progress(total=10, show=False) as bar:
        ...     bar.update(10)
    """
    return Progress(
        iterable, description, total=total, unit=unit, keep=keep, show=show, stream=stream
    )


class Progress(Generic[T]):
    """Running progress bar; `flambeau.progress` makes it.

    Args:
        iterable: What to iterate over.
        others: As of `flambeau.progress`.

    Example:
        >>> with torch.progress(total=4, show=False) as bar:
        ...     bar.update(2)
        ...     bar.set(loss=0.5)
    """

    def __init__(
        self,
        iterable: Iterable[T] | None = None,
        description: str = "",
        *,
        total: int | None = None,
        unit: str = "it",
        keep: bool | None = None,
        show: bool | None = None,
        stream: TextIO | None = None,
    ) -> None:
        if total is not None and total < 0:
            raise ValueError(f"progress: total must not be negative, got {total}")
        self.description = description
        self.total: int | None = _length(iterable) if total is None else total
        self.unit = unit
        self.count: int = 0
        self._iterable = iterable
        self._keep = keep
        self._show = show
        self._stream = stream
        self._metrics: dict[str, Any] = {}
        self._screen: _Screen | None = None  # while it runs
        self._seconds = 0.0  # of the last run
        self._pace = _Pace()
        self._space = _WIDEST

    def __len__(self) -> int:
        if self.total is None:
            raise TypeError("progress: the length of what it runs over is not known")
        return self.total

    def __iter__(self) -> Iterator[T]:
        if self._iterable is None:
            raise TypeError("progress: there is nothing to run over; call update() for each step")
        screen = self._begin()
        try:
            for item in self._iterable:
                yield item
                self.count += 1
                if perf_counter() >= screen.due:
                    screen.draw()
        finally:
            self.close()

    def __enter__(self) -> Progress[T]:
        self._begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def update(self, steps: int = 1) -> None:
        """Move the bar.

        Args:
            steps: Number of steps. Default: 1.

        Example:
            >>> with torch.progress(total=4, show=False) as bar:
            ...     bar.update()
        """
        screen = self._screen or self._begin()
        self.count += steps
        if perf_counter() >= screen.due:
            screen.draw()

    def set(self, **metrics: Any) -> None:
        """Show values beside the bar.

        Args:
            **metrics: The values by name; numbers are shown with four digits.

        Example:
            >>> with torch.progress(total=4, show=False) as bar:
            ...     bar.set(loss=0.25, accuracy=0.9)
        """
        self._metrics.update(metrics)

    def print(self, *values: object, sep: str = " ") -> None:
        """Print a line above the bar, wherever the bar is drawn."""
        screen = self._screen
        if screen is None:
            print(*values, sep=sep)
        else:
            screen.print_above(sep.join(map(str, values)) + "\n")

    def close(self) -> None:
        """Finish the line. A loop and a ``with`` block do it themselves, even after an error."""
        screen, self._screen = self._screen, None
        if screen is None:
            return
        self._seconds = perf_counter() - self._pace.start
        # As text from now on: a bar must not keep the last step's tensors alive.
        self._metrics = {name: _text(value) for name, value in self._metrics.items()}
        screen.remove(self)

    @property
    def elapsed(self) -> float:
        """Seconds since the loop began, or how long it took."""
        running = self._screen is not None
        return perf_counter() - self._pace.start if running else self._seconds

    def _begin(self) -> _Screen:
        if self._screen is None:
            self.count = 0
            self._pace = _Pace()
            self._space = _WIDEST
            stream = self._stream or sys.stderr
            if isinstance(stream, _Beside):
                stream = stream.stream
            with _lock:
                shared = _running[0]._screen if _running else None
                same = shared is not None and shared.stream is stream
                self._screen = shared if same and shared else _Screen(stream, self._show)
                self._screen.add(self)
        return self._screen

    def _line(self, room: int, blocks: bool, style: Style) -> str:
        """The current text, at most `room` columns wide."""
        before = f"{self.description} " if self.description else ""
        after = self._after()
        share = self._share()
        if share is not None:
            before += f"{math.floor(share * 100):3d}% "
            # It never grows again, or the bar would jump with the length of the metrics.
            self._space = min(self._space, room - cells(before) - cells(after) - 3)
            if self._space >= _NARROWEST:
                return f"{before}{style(_bar(share, self._space, blocks), 'yellow')} {after}"
        # If even that is too long, the description is cut first.
        before = clipped(before, max(room - cells(after), _NARROWEST))
        return clipped(before + after, room)

    def _share(self) -> float | None:
        """How much is done; not known without a total, or with one that was passed."""
        if self.total is None or self.count > self.total:
            return None
        return self.count / self.total if self.total else 1.0

    def _after(self) -> str:
        """Count, time, rate and metrics: the text after the bar."""
        share = self._share()
        of = f"/{self.total}" if share is not None else ""
        return "  ".join([f"{self.count}{of}", *self._times(share), *_pairs(self._metrics)])

    def _times(self, share: float | None) -> list[str]:
        if self._screen is None:
            rate = self.count / self._seconds if self._seconds > 0 else 0.0
            return [f"in {_duration(self._seconds)}", f"{_rate(rate)} {self.unit}/s"]
        self._pace.look(self.count)
        rate = self._pace.rate
        if not rate:
            return []
        steps = f"{_rate(rate)} {self.unit}/s"
        if share is None or self.total is None:
            return [steps, _clock(math.floor(self.elapsed))]
        return [steps, f"{_clock(math.ceil((self.total - self.count) / rate))} left"]


class _Pace:
    """The rate of the last seconds: recent steps count for more than old ones."""

    def __init__(self) -> None:
        self.start = perf_counter()
        self.rate = 0.0
        self._weight = 0.0  # of what `rate` has seen; a new bar has seen little
        self._time, self._count = self.start, 0

    def look(self, count: int) -> None:
        now = perf_counter()
        passed = now - self._time
        if passed < _INTERVAL / 2 or count == self._count:
            return
        old = self._weight * math.exp(-passed / _MEMORY)
        new = 1 - math.exp(-passed / _MEMORY)
        self.rate = (old * self.rate + new * (count - self._count) / passed) / (old + new)
        self._weight = old + new
        self._time, self._count = now, count


class _Screen:
    """The lines of the running bars on one stream, and when they are due again."""

    def __init__(self, stream: TextIO, show: bool | None) -> None:
        self.stream = stream
        self._notebook = is_notebook(stream)
        live = is_live(stream) or self._notebook if show is None else show
        self._last_line = show is None and not live
        self._blocks = can_show(stream, _EIGHTHS)
        self._style = Style(stream)
        self._bars: list[Progress[Any]] = []
        self._lines = 0  # on the screen now; the cursor is at the end of the last
        self.unfinished = False  # whether a printed line waits for its end
        self._beside: list[_Beside] = []
        # A bar that is not drawn is never due.
        self.due = 0.0 if live else math.inf

    def add(self, bar: Progress[Any]) -> None:
        _running.append(bar)
        self._bars.append(bar)
        if self._live and not self._beside:
            self._beside = [_Beside(name, self) for name in ("stdout", "stderr")]
        if perf_counter() >= self.due:
            self.draw()

    def remove(self, bar: Progress[Any]) -> None:
        with _lock:
            outermost = bar is self._bars[0]
            self._bars.remove(bar)
            if bar in _running:  # a forked child has forgotten its parent's bars
                _running.remove(bar)
            kept = outermost if bar._keep is None else bar._keep
            if kept and self._live:
                self.print_above(self._picture(bar) + "\n")
            elif kept and self._last_line:
                self._write(" ".join(filter(None, [bar.description, bar._after()])) + "\n")
            if not self._bars:
                self.clear()
                for beside in self._beside:
                    beside.end()

    @property
    def _live(self) -> bool:
        return self.due != math.inf

    def draw(self) -> None:
        """Redraw every bar."""
        with _lock:
            lines = [self._picture(bar) for bar in self._bars]
            if self._notebook:
                lines = lines[-1:]  # the cursor cannot move up: only the innermost bar is drawn
            start = "\n" if self.unfinished else self._home()
            self._lines, self.unfinished = len(lines), False
            self.due = perf_counter() + _INTERVAL
            self._write(start + "\n".join(f"{line}\033[K" for line in lines) + "\033[J")

    def _picture(self, bar: Progress[Any]) -> str:
        room = columns(self.stream) - 1  # a full line would wrap on some terminals
        return bar._line(room, self._blocks, self._style)

    def clear(self) -> None:
        """Erase the bars; the next redraw puts them back."""
        with _lock:
            if self._lines:
                self._write(self._home() + "\033[J")
                self._lines = 0

    def print_above(self, text: str) -> None:
        """Write whole lines above the bars."""
        with _lock:
            self.clear()
            self._write("\n" * self.unfinished + text)
            self.unfinished = False
            if self._live and self._bars:
                self.draw()

    def abandon(self) -> None:
        """In a forked child: the screen belongs to the parent, and printing is not tracked."""
        self._lines, self.due = 0, math.inf
        self._last_line = False
        for beside in self._beside:
            beside.end()

    def _home(self) -> str:
        """Move to the beginning of the first line."""
        return ("\r" if self._lines else "") + f"\033[{self._lines - 1}A" * (self._lines > 1)

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except (AttributeError, OSError, ValueError):  # it is gone: the loop goes on without it
            self.due = math.inf


class _Beside:
    """Replaces ``sys.stdout`` or ``sys.stderr`` while bars run, so that ``print`` goes above."""

    def __init__(self, name: str, screen: _Screen) -> None:
        self._name = name
        self._screen = screen
        self.stream: TextIO = getattr(sys, name)
        if is_live(self.stream):
            setattr(sys, name, self)

    def end(self) -> None:
        if getattr(sys, self._name) is self:  # otherwise somebody has replaced it
            setattr(sys, self._name, self.stream)

    def write(self, text: str) -> int:
        with _lock:
            self._screen.clear()
            if text:
                self._screen.unfinished = not text.endswith("\n")
            return self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def _forked() -> None:
    for bar in _running:
        if bar._screen is not None:
            bar._screen.abandon()
    _running.clear()
    _lock.release()


# No other thread may be drawing at that moment: the child would wait for it forever.
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_forked)


def _length(iterable: Iterable[Any] | None) -> int | None:
    try:
        return len(iterable)  # type: ignore[arg-type]
    except (TypeError, AttributeError, NotImplementedError):
        return None


def _bar(share: float, space: int, blocks: bool) -> str:
    """`share` of `space` columns filled; the last block in eighths where they can be shown."""
    if not blocks:
        full = math.floor(share * space)
        return "[" + "#" * full + "." * (space - full) + "]"
    full, eighth = divmod(math.floor(share * space * 8), 8)
    part = _EIGHTHS[eighth] if full < space else ""
    return "▕" + ("█" * full + part).ljust(space) + "▏"


def _pairs(metrics: dict[str, Any]) -> list[str]:
    return [f"{name} {_text(value)}" for name, value in metrics.items()]


def _text(value: Any) -> str:
    """Format a number with four digits; anything else as it prints."""
    if isinstance(value, (str, bool, int)):
        return str(value)
    try:
        return f"{float(value):.4g}"
    except (TypeError, ValueError, RuntimeError):
        return str(value)


def _rate(rate: float) -> str:
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if rate >= limit:
            return f"{rate / (1e3 if letter == 'k' else limit):.1f}{letter}"
    return f"{rate:.0f}" if rate >= 100 else f"{rate:.3g}"


def _clock(seconds: int) -> str:
    """1:05 or 2:03:45."""
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02d}:{second:02d}" if hours else f"{minute}:{second:02d}"


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else _clock(round(seconds))
