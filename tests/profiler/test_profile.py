"""The profiler as programs use it: schedules, steps, tables, traces and misuse."""

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import flambeau as fb
from flambeau import _C, nn
from flambeau.autograd import profiler as autograd_profiler
from flambeau.profiler import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 8), nn.ReLU())
        self.head = nn.Linear(8, 3)

    def forward(self, x: fb.Tensor) -> fb.Tensor:
        return self.head(self.body(x))


def trained(**options: Any) -> profile:
    net, x = Net(), fb.ones(5, 6)
    with profile(**options) as prof:
        for _ in range(2):
            with record_function("forward"):
                loss = net(x).sum()
            loss.backward()
    return prof


# --- schedules


def test_a_schedule_waits_warms_up_and_records() -> None:
    plan = schedule(skip_first=1, wait=1, warmup=1, active=2, repeat=2)
    none, warmup = ProfilerAction.NONE, ProfilerAction.WARMUP
    cycle = [none, warmup, ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE]
    assert [plan(step) for step in range(11)] == [none, *cycle, *cycle, none, none]


def test_the_first_wait_can_be_left_out() -> None:
    plan = schedule(wait=2, warmup=1, active=1, skip_first=1, skip_first_wait=1)
    assert [plan(i).name for i in range(4)] == ["NONE", "WARMUP", "RECORD_AND_SAVE", "NONE"]


@pytest.mark.parametrize("wrong", [{"wait": -1}, {"active": 0}, {"repeat": -1}, {"warmup": -2}])
def test_a_schedule_refuses_bad_numbers(wrong: dict[str, int]) -> None:
    with pytest.raises(AssertionError, match="Invalid profiler schedule arguments"):
        schedule(**({"wait": 1, "warmup": 1, "active": 1} | wrong))


def test_a_schedule_without_warmup_warns() -> None:
    with pytest.warns(UserWarning, match="won't be using warmup"):
        schedule(wait=0, warmup=0, active=1)


def test_every_cycle_is_handed_over() -> None:
    seen = []

    def ready(prof: profile) -> None:
        counts = {event.key: event.count for event in prof.key_averages()}
        seen.append((prof.step_num, counts["ProfilerStep*"], counts["aten::exp"]))

    with profile(
        schedule=schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=ready
    ) as prof:
        for _ in range(10):
            fb.ones(2).exp()
            prof.step()
    assert seen == [(4, 2, 2), (8, 2, 2)]
    assert prof.step_num == 10


def test_events_of_cycles_add_up_if_asked_to() -> None:
    def count(**options: bool) -> int:
        plan = schedule(wait=0, warmup=1, active=1, repeat=3)
        with profile(schedule=plan, **options) as prof:
            for _ in range(6):
                fb.ones(2).exp()
                prof.step()
        return [event.name for event in prof.events()].count("aten::exp")

    assert count() == 1
    assert count(acc_events=True) == 3


def test_a_plain_profile_is_handed_over_at_the_end() -> None:
    seen = []
    prof = profile(on_trace_ready=seen.append)
    prof.start()
    fb.ones(1)
    prof.stop()
    assert seen == [prof]
    prof.stop()
    assert seen == [prof]


# --- misuse


def test_results_before_the_start_are_refused() -> None:
    prof = profile()
    for use in (prof.events, prof.key_averages, prof.stop):
        with pytest.raises(AssertionError, match="Profiler must be initialized before"):
            use()
    with pytest.raises(AssertionError, match="initialized before exporting"):
        prof.export_chrome_trace("nowhere.json")


def test_no_activities_are_refused() -> None:
    with pytest.raises(AssertionError, match="No valid profiler activities"):
        profile(activities=[])


def test_cuda_is_left_out_with_a_warning() -> None:
    with (
        pytest.warns(UserWarning, match="CUDA is not available, disabling CUDA profiling"),
        profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof,
    ):
        fb.ones(2)
    assert len(prof.events()) == 1
    assert prof.key_averages().table(sort_by="cuda_time_total")
    assert supported_activities() == {ProfilerActivity.CPU}


def test_the_block_of_an_autograd_profile_is_entered_once() -> None:
    with autograd_profiler.profile() as prof, pytest.raises(RuntimeError, match="not reentrant"):
        prof.__enter__()


def test_nvtx_says_what_it_needs() -> None:
    with pytest.raises(AssertionError, match="not compiled with CUDA"):
        autograd_profiler.emit_nvtx().__enter__()
    with autograd_profiler.emit_nvtx(enabled=False):
        pass


def test_forgotten_profiles_end() -> None:
    prof = profile()
    prof.start()
    assert fb.autograd._profiler_enabled()
    fb.ones(1)
    fb.autograd._disable_profiler()
    assert not fb.autograd._profiler_enabled()
    assert len(prof.events()) == 1
    profile().start()
    assert not _C._is_profiling()  # nobody holds it any more


def test_modules_must_have_been_recorded() -> None:
    with pytest.raises(RuntimeError, match="with_modules=True"):
        trained().by_module()


def test_an_error_inside_ends_the_profile() -> None:
    def fail() -> None:
        fb.ones(2)
        raise ValueError("oops")

    with pytest.raises(ValueError, match="oops"), profile() as prof:
        fail()
    assert len(prof.events()) == 1
    with profile() as another:
        fb.zeros(2)
    assert [event.name for event in another.events()] == ["aten::zeros"]


# --- sums and tables


def test_sums_by_name_and_by_shape() -> None:
    with profile(record_shapes=True) as prof:
        for size in (2, 3, 3):
            fb.ones(size) + 1
    by_name = {event.key: event.count for event in prof.key_averages()}
    assert by_name == {"aten::ones": 3, "aten::add": 3}
    shapes = prof.key_averages(group_by_input_shape=True)
    counts = {event.input_shapes[0][0]: event.count for event in shapes if "add" in event.key}
    assert counts == {2: 1, 3: 2}


def test_sums_by_line() -> None:
    with profile(with_stack=True) as prof:
        fb.ones(2)
        for _ in range(3):
            fb.ones(2)
    counts = sorted(event.count for event in prof.key_averages(group_by_stack_n=1))
    assert counts == [1, 3]
    assert "test_profile.py(" in prof.key_averages(group_by_stack_n=2).table()


def test_times_of_sums_agree_with_events() -> None:
    prof = trained()
    sums = prof.key_averages()
    assert sum(e.cpu_time_total for e in prof.events()) == pytest.approx(
        sum(e.cpu_time_total for e in sums)
    )
    assert sums.self_cpu_time_total == pytest.approx(
        sum(e.cpu_time_total for e in prof.events() if e.cpu_parent is None)
    )
    assert sums.total_average().count == len(prof.events())
    assert all(event.self_cpu_time_total >= 0 for event in prof.events())


def test_a_table_fits_a_terminal() -> None:
    prof = trained(profile_memory=True, with_flops=True)
    text = prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=30)
    assert max(map(len, text.splitlines())) <= 120
    assert "aten::addmm" in text
    assert text.splitlines()[-1].startswith("Self CPU time total: ")


def test_a_table_is_sorted_and_cut() -> None:
    prof = trained()
    lines = prof.key_averages().table(sort_by="count", row_limit=3, header="Mine").splitlines()
    assert lines[1] == "Mine"
    rows = lines[6:9]
    counts = [int(row.split()[-1]) for row in rows]
    assert counts == sorted(counts, reverse=True)
    assert set(lines[9].strip()) <= {"-", " "}
    with pytest.raises(AttributeError, match="nonsense"):
        prof.key_averages().table(sort_by="nonsense")


def test_only_outermost_events() -> None:
    text = trained().key_averages().table(top_level_events_only=True)
    assert "forward" in text
    assert "aten::addmm" not in text


def test_old_names_of_device_times_warn() -> None:
    with pytest.warns(FutureWarning, match="device_time_total"):
        assert trained().key_averages()[0].cuda_time_total == 0


# --- modules


def test_time_and_memory_by_module() -> None:
    modules = trained(with_modules=True, profile_memory=True).by_module()
    assert [m.name for m in modules] == ["Net", "Net.body", "Net.body.0", "Net.body.1", "Net.head"]
    assert [m.count for m in modules] == [2] * 5
    whole, body, linear, relu, head = modules
    assert linear.kind == "Linear"
    assert linear.memory == 2 * 5 * 8 * 4
    assert head.memory == 2 * 5 * 3 * 4
    assert all(m.backward_time > 0 for m in modules)
    assert whole.backward_time == pytest.approx(body.backward_time + head.backward_time)
    assert body.forward_time >= linear.forward_time + relu.forward_time
    text = modules.table()
    assert "    0 (Linear)" in text
    assert "body.0" not in modules.table(sort_by="time", depth=1)


# --- traces


def check_nesting(events: list[dict[str, Any]]) -> None:
    """Complete events of a thread are apart, or one is within the other."""
    threads = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            threads[event["pid"], event["tid"]].append(event)
    rounding = 2e-3  # microseconds: ends are sums of rounded numbers
    for of_thread in threads.values():
        ends: list[float] = []
        for event in sorted(of_thread, key=lambda e: (e["ts"], -e["dur"])):
            while ends and ends[-1] <= event["ts"] + rounding:
                ends.pop()
            end = event["ts"] + event["dur"]
            assert not ends or end <= ends[-1] + rounding
            ends.append(end)


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_a_trace_is_well_formed(tmp_path: Path, name: str) -> None:
    prof = trained(
        record_shapes=True, profile_memory=True, with_stack=True, with_modules=True, with_flops=True
    )
    prof.add_metadata("who", "me")
    path = str(tmp_path / name)
    prof.export_chrome_trace(path)
    opened = gzip.open(path, "rt") if name.endswith("gz") else open(path)  # noqa: SIM115
    with opened as file:
        trace = json.load(file)
    events = trace["traceEvents"]
    assert trace["record_shapes"] == 1
    assert {event["ph"] for event in events} == {"M", "X", "i", "s", "f"}
    for event in events:
        assert isinstance(event["ts"], int | float)
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        assert event["name"]
    complete = [event for event in events if event["ph"] == "X"]
    assert all(event["dur"] >= 0 and event["cat"] and "args" in event for event in complete)
    check_nesting(events)
    arrows = defaultdict(list)
    for event in events:
        if event["ph"] in "sf":
            arrows[event["id"]].append(event["ph"])
    assert arrows
    assert all(sorted(ends) == ["f", "s"] for ends in arrows.values())
    addmm = next(event for event in complete if event["name"] == "aten::addmm")
    assert addmm["args"]["Input Dims"] == [[8], [5, 6], [8, 6]]
    assert addmm["args"]["Input type"] == ["float"] * 3
    assert any(event["name"].startswith("nn.Module: Linear") for event in complete)
    memory = [event["args"] for event in events if event["ph"] == "i"]
    assert memory[-1]["Total Allocated"] == sum(m["Bytes"] for m in memory)


def test_traces_for_tensorboard(tmp_path: Path) -> None:
    handler = tensorboard_trace_handler(str(tmp_path / "runs"), worker_name="me", use_gzip=True)
    trained(on_trace_ready=handler)
    trained(on_trace_ready=tensorboard_trace_handler(str(tmp_path / "runs")))
    files = sorted(path.name for path in (tmp_path / "runs").iterdir())
    assert len(files) == 2
    assert any(n.startswith("me.") and n.endswith(".pt.trace.json.gz") for n in files)


def test_stacks_for_flame_graphs(tmp_path: Path) -> None:
    path = tmp_path / "stacks.txt"
    trained(with_stack=True).export_stacks(str(path), "self_cpu_time_total")
    for line in path.read_text().splitlines():
        frames, weight = line.rsplit(" ", 1)
        assert int(weight) > 0
        assert "test_profile.py" in frames
    with pytest.raises(AssertionError, match="with_stack=True"):
        trained().export_stacks(str(path))
    with pytest.raises(ValueError, match="metric should be one of"):
        trained(with_stack=True).export_stacks(str(path), "nonsense")


def test_memory_over_time(tmp_path: Path) -> None:
    path = tmp_path / "memory.json"
    with profile(profile_memory=True) as prof:
        fb.zeros(1000)
    prof.export_memory_timeline(str(path))
    times, sizes = json.loads(path.read_text())
    assert sizes == [4000, 0]
    assert times == sorted(times)
    with pytest.raises(ValueError, match=r"\.json"):
        prof.export_memory_timeline("memory.html")


def test_with_flops() -> None:
    conv, linear = nn.Conv2d(4, 8, 3, stride=2, groups=2), nn.Linear(4, 5)
    with profile(with_flops=True) as prof:
        conv(fb.ones(2, 4, 9, 9))
        linear(fb.ones(2, 3, 4))
        fb.ones(2, 3) * fb.ones(3)
    flops = {event.key: event.flops for event in prof.key_averages() if event.flops}
    assert flops == {"aten::conv2d": 9216, "aten::addmm": 240, "aten::mul": 6}
