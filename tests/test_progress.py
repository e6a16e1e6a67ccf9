"""``flambeau.progress``: what it draws, when it is quiet, and that loops survive it."""

from __future__ import annotations

import io
import math
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import flambeau as fb
from flambeau._display import progress
from flambeau._display.terminal import cells, columns

ROOT = Path(__file__).parents[1]


class Terminal(io.StringIO):
    """A stream that looks like a terminal and remembers what it was sent."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding

    def isatty(self) -> bool:
        return True

    def pictures(self) -> list[str]:
        """What was drawn, one after the other, without colours."""
        text = self.getvalue().replace("\033[33m", "").replace("\033[0m", "")
        return [picture for picture in text.replace("\033[J", "").split("\r") if picture]


class Clock:
    """Time that passes only when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def desk(monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of a person at a terminal, wherever the tests run."""
    for name in ("CI", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "perf_counter", clock)
    return clock


def test_yields_everything_in_order():
    assert list(fb.progress(range(5), show=False)) == [0, 1, 2, 3, 4]


def test_knows_the_length_where_there_is_one():
    assert len(fb.progress([1, 2, 3])) == 3
    assert len(fb.progress(iter([1]), total=7)) == 7
    with pytest.raises(TypeError, match="length of what it runs over is not known"):
        len(fb.progress(iter([1])))


def test_length_that_is_refused_is_no_error():
    class Loader:
        def __len__(self) -> int:
            raise NotImplementedError

        def __iter__(self) -> Iterator[int]:
            return iter((1, 2))

    bar = fb.progress(Loader(), show=False)
    assert bar.total is None
    assert list(bar) == [1, 2]


def test_draws_by_time_not_by_step(clock: Clock):
    terminal = Terminal()
    for _ in fb.progress(range(1000), stream=terminal):
        clock.now += 0.001  # a second in all
    # The first one, one each tenth of a second, and the last one.
    assert 10 <= len(terminal.pictures()) <= 13


def test_picture(clock: Clock):
    terminal = Terminal()
    bar = fb.progress(range(8), "train", stream=terminal)
    for step in bar:
        bar.set(loss=fb.tensor(0.123456), step=step, kind="small")
        clock.now += 0.5
    half = terminal.pictures()[4]
    assert half.startswith("train  50% ▕" + "█" * 16 + " " * 16 + "▏ 4/8  2 it/s  0:02 left")
    assert "loss 0.1235  step 3  kind small" in half
    assert "train 100%" in terminal.pictures()[-1]
    assert "8/8  in 4.0 s  2 it/s" in terminal.pictures()[-1]
    assert terminal.getvalue().endswith("\n")


def test_plain_characters_where_blocks_are_missing(clock: Clock):
    terminal = Terminal("ascii")
    for _ in fb.progress(range(4), stream=terminal):
        clock.now += 1
    assert terminal.getvalue().isascii()
    assert "[################................]" in terminal.getvalue()


def test_lines_fit_the_terminal(clock: Clock, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "30")
    terminal = Terminal()
    bar = fb.progress(range(4), "训练网络", stream=terminal)
    for _ in bar:
        bar.set(loss=1 / 3, accuracy=2 / 3)
        clock.now += 1
    lines = [line.removesuffix("\033[K") for line in terminal.pictures()]
    assert max(cells(line.rstrip("\n")) for line in lines) < 30


def test_long_descriptions_give_way_to_numbers(clock: Clock):
    terminal = Terminal()
    for _ in fb.progress(range(4), "words " * 40, stream=terminal):
        clock.now += 1
    assert "4/4  in 4.0 s  1 it/s" in terminal.pictures()[-1]
    assert terminal.pictures()[-1].startswith("words words")


def test_without_total_count_and_time_are_shown(clock: Clock):
    terminal = Terminal()
    for _ in fb.progress(iter(range(3)), stream=terminal):
        clock.now += 60
    assert "3  0.0167 it/s  3:00" in terminal.getvalue()
    assert "%" not in terminal.getvalue()


def test_more_steps_than_promised(clock: Clock):
    terminal = Terminal()
    for _ in fb.progress(range(5), total=2, stream=terminal):
        clock.now += 1
    assert "5  in 5.0 s" in terminal.pictures()[-1]


def test_rate_follows_recent_steps(clock: Clock):
    with fb.progress(total=10_000, stream=Terminal()) as bar:
        for _ in range(100):
            clock.now += 0.1
            bar.update()
        assert bar._pace.rate == pytest.approx(10)
        for _ in range(100):
            clock.now += 0.1
            bar.update(100)
        assert bar._pace.rate == pytest.approx(1000, rel=0.05)


def test_manual_steps():
    with fb.progress(total=10, unit="B", show=False) as bar:
        bar.update()
        bar.update(4)
    assert bar.count == 5
    with pytest.raises(TypeError, match=r"call update\(\) for each step"):
        next(iter(bar))


def test_loop_inside_a_with_block_is_one_run(clock: Clock):
    terminal = Terminal()
    with fb.progress(range(3), stream=terminal) as bar:
        for _ in bar:
            clock.now += 1
        bar.set(best=1)
    assert terminal.getvalue().count("\n") == 1


def test_runs_again():
    bar = fb.progress([1, 2], show=False)
    assert [list(bar), list(bar), bar.count] == [[1, 2], [1, 2], 2]


def test_inner_bars_vanish_and_outer_ones_stay(clock: Clock):
    terminal = Terminal()
    for _ in fb.progress(range(2), "epochs", stream=terminal):
        for _ in fb.progress(range(3), "steps", stream=terminal):
            clock.now += 1
    final = terminal.getvalue().split("\033[J")[-1]
    assert "epochs 100%" in final
    assert "steps" not in final
    both = next(p for p in terminal.pictures() if "epochs" in p and "\nsteps" in p)
    assert both.index("epochs") < both.index("steps")


def test_inner_bar_that_is_kept_stands_above(clock: Clock):
    terminal = Terminal()
    for _ in fb.progress(range(1), "outer", stream=terminal):
        for _ in fb.progress(range(1), "inner", keep=True, stream=terminal):
            clock.now += 1
    text = terminal.getvalue()
    assert text.index("inner 100%") < text.rindex("outer 100%")


def test_error_ends_the_line(clock: Clock):
    terminal = Terminal()

    def loop() -> None:
        for step in fb.progress(range(4), stream=terminal):
            clock.now += 1
            _ = 1 / (2 - step)

    with pytest.raises(ZeroDivisionError):
        loop()
    assert terminal.getvalue().endswith("\n")
    assert "2/4" in terminal.pictures()[-1]
    assert not progress._running


def test_leaving_early_ends_the_line():
    terminal = Terminal()
    bar = fb.progress(range(4), stream=terminal)
    for step in bar:
        if step == 2:
            break
    assert terminal.getvalue().endswith("\n")
    assert bar.count == 2


def test_printing_goes_above(clock: Clock, monkeypatch: pytest.MonkeyPatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(sys, "stderr", terminal)
    for step in fb.progress(range(3)):
        clock.now += 1
        print("step", step)
    assert sys.stdout is terminal
    # The lines of the bar are wiped first, and a printed line is whole.
    assert terminal.getvalue().count("\r\033[Jstep ") == 3
    assert "step 1\n" in terminal.getvalue()


def test_unfinished_line_is_not_overwritten(clock: Clock, monkeypatch: pytest.MonkeyPatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    for _ in fb.progress(range(2), stream=terminal):
        clock.now += 1
        print("waiting", end="")
    assert "waiting\n" in terminal.getvalue()


def test_own_print(capsys: pytest.CaptureFixture[str]):
    terminal = Terminal()
    bar = fb.progress(range(1), stream=terminal)
    for _ in bar:
        bar.print("a", 1, sep="-")
    assert "a-1\n" in terminal.getvalue()
    bar.print("after")
    assert capsys.readouterr().out == "after\n"


def test_shown_values():
    shown = {0.5: "0.5", 1e-9: "1e-09", True: "True", 12345678: "12345678", "97 %": "97 %"}
    assert {value: progress._text(value) for value in shown} == shown
    assert progress._text(math.nan) == "nan"
    assert progress._text(fb.tensor(2.5)) == "2.5"
    assert progress._text(None) == "None"
    assert progress._text(fb.ones(2)).startswith("tensor(")


def test_last_value_is_not_kept_alive():
    bar = fb.progress(range(1), show=False)
    for _ in bar:
        bar.set(loss=fb.ones(()))
    assert bar._metrics == {"loss": "1"}


def test_terminal_that_goes_away_does_not_stop_the_loop():
    terminal = Terminal()
    seen = 0
    for _ in fb.progress(range(3), stream=terminal):
        terminal.close()
        seen += 1
    assert seen == 3


def test_no_stream_at_all(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert list(fb.progress(range(3))) == [0, 1, 2]


def test_description_that_the_stream_cannot_show():
    class Narrow(Terminal):
        def write(self, text: str) -> int:
            text.encode("ascii")
            return super().write(text)

    assert list(fb.progress(range(3), "训练", stream=Narrow("ascii"))) == [0, 1, 2]


def test_bars_of_several_threads():
    terminal = Terminal()
    results: list[int] = []

    def work() -> None:
        results.extend(fb.progress(range(500), stream=terminal))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == sorted(list(range(500)) * 4)
    assert not progress._running


def test_negative_total_is_refused():
    with pytest.raises(ValueError, match="total must not be negative, got -1"):
        fb.progress(total=-1)


LOOP = "import flambeau as fb\nfor _ in fb.progress(range(3), 'train'):\n  list(fb.progress([1]))"


def test_one_line_in_a_pipe():
    result = subprocess.run(
        [sys.executable, "-c", LOOP], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert result.stdout == ""
    assert result.stderr.startswith("train 3/3  in 0.0 s")
    assert result.stderr.count("\n") == 1
    assert result.stderr.strip().isprintable()  # no control characters


def test_quiet_in_continuous_integration(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CI", "true")
    terminal = Terminal()
    list(fb.progress(range(3), stream=terminal))
    assert terminal.getvalue().startswith("3/3")
    assert terminal.getvalue().strip().isprintable()


def test_show_overrides_the_stream():
    silent, forced = Terminal(), io.StringIO()
    list(fb.progress(range(3), stream=silent, show=False))
    list(fb.progress(range(3), stream=forced, show=True))
    assert silent.getvalue() == ""
    assert "100%" in forced.getvalue()


def test_notebook_has_one_line(clock: Clock, monkeypatch: pytest.MonkeyPatch):
    class OutStream(io.StringIO):
        __module__ = "ipykernel.iostream"

    cell = OutStream()
    for _ in fb.progress(range(2), "outer", stream=cell):
        for _ in fb.progress(range(2), "inner", stream=cell):
            clock.now += 1
    assert "\033[1A" not in cell.getvalue()
    assert "inner  50%" in cell.getvalue()
    assert "outer 100%" in cell.getvalue().split("\r")[-1]


def test_forked_child_leaves_the_screen_alone(monkeypatch: pytest.MonkeyPatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    for _ in fb.progress(range(1), stream=terminal):
        child = os.fork()
        if child == 0:
            before = terminal.getvalue()
            print("from the child")
            os._exit(0 if terminal.getvalue() == before + "from the child\n" else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_works_with_a_loader(clock: Clock):
    dataset = fb.utils.data.TensorDataset(fb.arange(10.0))
    bar = fb.progress(fb.utils.data.DataLoader(dataset, batch_size=4), show=False)
    assert bar.total == 3
    assert [len(batch) for (batch,) in bar] == [4, 4, 2]


def test_width_comes_from_the_terminal(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "get_terminal_size", lambda number: os.terminal_size((61, 20)))
    assert columns(sys.__stderr__) == 61  # type: ignore[arg-type]


def test_loading_is_left_for_later():
    program = "import sys, flambeau; print('flambeau._display.progress' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert result.stdout == "False\n"
