"""Timers, measurements and tables of them; no time is asserted."""

import pickle
from typing import Any

import pytest

import flambeau as fb
from flambeau.utils.benchmark import (
    Compare,
    Measurement,
    TaskSpec,
    Timer,
    ordered_unique,
    select_unit,
    trim_sigfig,
    unit_to_english,
)


class Clock:
    """Each run of a statement takes a second of it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def tick(self, seconds: float = 1.0) -> None:
        self.now += seconds


def measured(times: list[float], runs: int = 1, **spec: Any) -> Measurement:
    task = {"stmt": "f(x)", "setup": "pass", "label": "L", "sub_label": "row", "description": "d"}
    return Measurement(runs, times, TaskSpec(**(task | spec)))


def test_timeit_divides_by_the_runs() -> None:
    clock = Clock()
    timer = Timer("tick(2)", timer=clock, globals={"tick": clock.tick}, label="ticks")
    result = timer.timeit(10)
    assert result.raw_times == [20.0]
    assert result.times == [2.0]
    assert result.median == result.mean == 2.0
    assert result.label == "ticks"


def test_statements_see_globals_setup_and_the_package() -> None:
    seen: list[Any] = []
    Timer("seen.append(x + torch.ones(1))", "x = 1", globals={"seen": seen}).timeit(1)
    assert all(value == 2 for value in seen)


def test_blocks_fill_the_time() -> None:
    clock, blocks = Clock(), []
    timer = Timer("tick(0.125)", timer=clock, globals={"tick": clock.tick})

    def note(number: int, time: float) -> None:
        blocks.append((number, time))

    result = timer.blocked_autorange(callback=note, min_run_time=2.0)  # type: ignore[arg-type]
    assert sum(result.raw_times) >= 2.0
    assert [time for _, time in blocks] == result.raw_times
    assert result.median == 0.125


def test_an_adaptive_range_stops_when_times_agree() -> None:
    clock = Clock()
    steps = iter([*[1.0, 2.0] * 20, *[1.0] * 1000])
    timer = Timer("tick(next(steps))", timer=clock, globals={"tick": clock.tick, "steps": steps})
    result = timer.adaptive_autorange(threshold=0.1, min_run_time=0.5, max_run_time=500.0)
    assert len(result.times) > 4
    assert result.meets_confidence(0.1)
    assert sum(result.raw_times) < 500


def test_threads_are_set_and_given_back() -> None:
    before, seen = fb.get_num_threads(), []
    timer = Timer(
        "seen.append(torch.get_num_threads())", globals={"seen": seen}, num_threads=before + 1
    )
    timer.timeit(1)
    assert set(seen) == {before + 1}
    assert fb.get_num_threads() == before


def test_what_timers_refuse() -> None:
    with pytest.raises(ValueError, match="only a `str` stmt"):
        Timer(lambda: None)  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError, match="compiled"):
        Timer("f();", language="c++")
    with pytest.raises(NotImplementedError, match="valgrind"):
        Timer().collect_callgrind()
    with pytest.raises(NameError, match="unknown_name"):
        Timer("unknown_name").timeit(1)


def test_statistics_of_a_measurement() -> None:
    result = measured([1.0, 2.0, 3.0, 4.0])
    assert (result.median, result.mean, result.iqr) == (2.5, 2.5, 1.5)
    assert result.has_warnings
    assert not measured([1e-3] * 4).has_warnings
    assert measured([1e-3]).significant_figures == 4
    assert measured([1e-6 + i * 1e-8 for i in range(20)]).significant_figures == 1
    assert measured([4.0], runs=2).times == [2.0]


def test_a_measurement_as_text() -> None:
    text = repr(measured([0.014], runs=7))
    assert "L: row\nd\n  2.00 ms\n  1 measurement, 7 runs , 1 thread" in text
    text = repr(measured([1.0, 2.0, 3.0, 4.0], num_threads=2, label=None, sub_label=None))
    assert "f(x)\nd\n  Median: 2.50 s\n  IQR:    1.50 s (1.75 to 3.25)\n" in text
    assert "4 measurements, 1 runs per measurement, 2 threads" in text
    assert "WARNING: Interquartile range is 60.0% of the median" in text


def test_measurements_merge_and_pickle() -> None:
    merged = Measurement.merge([measured([1.0]), measured([2.0]), measured([3.0], sub_label="b")])
    assert [m.raw_times for m in merged] == [[1.0, 2.0], [3.0]]
    again = pickle.loads(pickle.dumps(merged[0]))
    assert again.median == 1.5
    assert again.task_spec == merged[0].task_spec


def test_units_and_figures() -> None:
    assert select_unit(2e-9) == ("ns", 1e-9)
    assert select_unit(3e-5) == ("us", 1e-6)
    assert select_unit(0.5) == ("ms", 1e-3)
    assert select_unit(100.0) == ("s", 1)
    assert unit_to_english("us") == "microsecond"
    assert trim_sigfig(123456, 3) == 123000
    assert trim_sigfig(0.0012345, 2) == pytest.approx(0.0012)
    assert ordered_unique([3, 1, 3, 2, 1]) == [3, 1, 2]


def comparison() -> Compare:
    return Compare(
        [
            measured([size * speed * 1e-3], sub_label=f"{size} x {size}", description=name)
            for size in (1, 20)
            for name, speed in (("slow", 2.0), ("fast", 1.0))
        ]
    )


def test_a_comparison_is_a_table() -> None:
    assert str(comparison()).splitlines() == [
        "[-------------- L --------------]",
        "               |  slow  |  fast",
        "1 threads: ----------------------",
        "      1 x 1    |   2.0  |   1.0",
        "      20 x 20  |  40.0  |  20.0",
        "",
        "Times are in milliseconds (ms).",
    ]


def test_a_comparison_has_colors_and_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    table = comparison()
    table.colorize(rowwise=True)
    table.print()
    printed = capsys.readouterr().out
    assert printed.count("\033[92m") == 2
    table.colorize()
    assert str(table).count("\033[31m") == 2
    table.extend_results([measured([1e-3, 9e-3, 2e-3, 1e-3], sub_label="unsteady")])
    table.highlight_warnings()
    assert "(! " in str(table)


def test_figures_that_mean_nothing_can_be_left_out() -> None:
    table = comparison()
    table.trim_significant_figures()
    assert "40.000" in str(table)


def test_only_measurements_are_compared() -> None:
    with pytest.raises(ValueError, match="Expected an instance of `Measurement`"):
        Compare([1.0])  # type: ignore[list-item]
