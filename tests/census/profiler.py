"""Examples of profilers and timers (operands: see ``tests/census/__init__.py``)."""

from __future__ import annotations

from pathlib import Path

from .serialization import new_folder as new_folder

_HERE = f"__import__('importlib').import_module('{__name__}')"
_FOLDER = f"{_HERE}.new_folder()"
_CPU = "activities=[t.profiler.ProfilerActivity.CPU]"
_PLAN = "t.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)"
_PRODUCTS = "[(e.key, e.count) for e in p.key_averages() if e.key == 'aten::mul']"
_TIMER = "t.utils.benchmark.Timer(stmt='f(1)', globals={'f': abs}"


def traces(folder: str, ending: str) -> int:
    """How many traces a folder holds."""
    return len(list(Path(folder).glob(f"*{ending}")))


def profiled(profile: str, result: str = _PRODUCTS) -> str:
    """What a profile `p` of two products shows."""
    run = f"(p.__enter__(), x * y, y * x, p.__exit__(None, None, None), {result})[-1]"
    return f"(lambda p: {run})({profile})"


def stepped(options: str, result: str) -> str:
    """What a profile `p` with a schedule shows after five steps."""
    steps = "[(x * y, p.step()) for _ in range(5)]"
    run = f"(p.start(), {steps}, p.stop(), {result})[-1]"
    return f"(lambda p: {run})(t.profiler.profile({_CPU}, {options}))"


def handed_over(handler: str, ending: str) -> str:
    """How many traces a handler wrote into the folder `f`."""
    ran = profiled(f"t.profiler.profile({_CPU}, on_trace_ready={handler})")
    return f"(lambda f: ({ran}, {_HERE}.traces(f, '{ending}'))[-1])({_FOLDER})"


def in_range(scope: str) -> str:
    """A product within a range."""
    return f"(lambda r: (r.__enter__(), x * y, r.__exit__(None, None, None))[1])({scope})"


def counted(counter: str, result: str = "c.get_total_flops()") -> str:
    """What a counter `c` of operations says of a layer."""
    run = "nn.Linear(3, 4)(x).sum().backward()"
    return (
        f"(lambda c: (c.__enter__(), {run}, c.__exit__(None, None, None), {result})[-1])({counter})"
    )


PROFILER: dict[str, list[str]] = {
    "profiler": ["t.profiler.kineto_available()"],
    "profiler.profile": [
        profiled(
            f"t.profiler.profile({_CPU}, record_shapes=True, profile_memory=True, with_flops=True,"
            " on_trace_ready=len and None, experimental_config=None)"
        ),
        profiled(f"t.profiler.profile({_CPU}, with_stack=True)"),
        stepped(f"schedule={_PLAN}", _PRODUCTS),
    ],
    "profiler.profile.export_chrome_trace": [
        profiled(
            "t.profiler.profile()",
            f"(lambda f: (p.export_chrome_trace(str(f) + '/a.json'), {_HERE}.traces(f, '.json')))"
            f"({_FOLDER})[-1]",
        )
    ],
    "profiler.profile.export_stacks": [
        profiled(
            "t.profiler.profile(with_stack=True)",
            f"p.export_stacks(str({_FOLDER}) + '/a.txt', metric='self_cpu_time_total')",
        )
    ],
    "profiler.profile.key_averages": [
        profiled(
            "t.profiler.profile(record_shapes=True)",
            "[e.count for e in p.key_averages(group_by_input_shape=True) if 'mul' in e.key]",
        ),
        profiled(
            "t.profiler.profile()",
            "[e.count for e in p.key_averages(group_by_stack_n=2) if 'mul' in e.key]",
        ),
    ],
    "profiler.profile.events": [
        profiled("t.profiler.profile()", "[e.name for e in p.events() if 'mul' in e.name]")
    ],
    "profiler.profile.step": [stepped(f"schedule={_PLAN}", "len(p.events()) > 0")],
    "profiler.profile.step_num": [stepped(f"schedule={_PLAN}", "p.step_num")],
    "profiler.profile.record_shapes": ["t.profiler.profile(record_shapes=True).record_shapes"],
    "profiler.profile.profile_memory": ["t.profiler.profile(profile_memory=True).profile_memory"],
    "profiler.profile.with_stack": ["t.profiler.profile(with_stack=True).with_stack"],
    "profiler.schedule": [
        (
            "[t.profiler.schedule(wait=1, warmup=1, active=2, repeat=1, skip_first=2)(i).name"
            " for i in range(9)]"
        ),
    ],
    "profiler.tensorboard_trace_handler": [
        handed_over(
            "t.profiler.tensorboard_trace_handler(dir_name=f, worker_name='w', use_gzip=True)",
            ".gz",
        ),
        handed_over("t.profiler.tensorboard_trace_handler(f)", ".pt.trace.json"),
    ],
    "profiler.record_function": [in_range("t.profiler.record_function('range')")],
    "profiler.kineto_available": ["t.profiler.kineto_available()"],
    "profiler.ProfilerAction": ["[action.name for action in t.profiler.ProfilerAction][:4]"],
    **{
        f"profiler.ProfilerAction.{name}": [f"t.profiler.ProfilerAction.{name}.name"]
        for name in ("NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE")
    },
    "profiler.ProfilerActivity": ["t.profiler.ProfilerActivity.CPU.name"],
    **{
        f"profiler.ProfilerActivity.{name}": [f"t.profiler.ProfilerActivity.{name}.name"]
        for name in ("CPU", "CUDA", "XPU", "HPU")
    },
    "autograd.profiler": ["t.autograd.profiler.profile(enabled=False).__enter__()"],
    "autograd.profiler.record_function": [in_range("t.autograd.profiler.record_function('range')")],
    "autograd.profiler.profile": [
        profiled("t.autograd.profiler.profile(use_cuda=True)"),
        profiled("t.autograd.profiler.profile()", "'aten::mul' in p.table()"),
    ],
    "autograd.profiler.profile.function_events": [
        profiled(
            "t.autograd.profiler.profile()",
            "[e.name for e in p.function_events if 'mul' in e.name]",
        )
    ],
    "autograd.profiler.profile.self_cpu_time_total": [
        profiled("t.autograd.profiler.profile()", "p.self_cpu_time_total > 0")
    ],
    "autograd.profiler.EventList": ["len(t.autograd.profiler.EventList([], use_device=None))"],
    "autograd.profiler.EventList.table": ["t.autograd.profiler.EventList([]).table()"],
    "autograd.profiler.emit_nvtx": [
        in_range("t.autograd.profiler.emit_nvtx(enabled=False)"),
    ],
    "utils.benchmark": ["t.utils.benchmark.select_unit(1e-5)"],
    "utils.benchmark.Timer": [
        (
            f"{_TIMER}, setup='g = 2', label='L', sub_label='s', description='d', num_threads=1)"
            ".timeit(3).title"
        )
    ],
    "utils.benchmark.Timer.timeit": [f"{_TIMER}).timeit(5).number_per_run"],
    "utils.benchmark.Timer.blocked_autorange": [
        f"{_TIMER}).blocked_autorange(min_run_time=0.001).median > 0"
    ],
    "utils.benchmark.Compare": [
        f"len(str(t.utils.benchmark.Compare([{_TIMER}, description='d').timeit(3)]))) > 0"
    ],
    "utils.benchmark.Compare.print": [
        f"t.utils.benchmark.Compare([{_TIMER}, label='L', description='d').timeit(3)]).print()"
    ],
    "utils.flop_counter": ["t.utils.flop_counter.FlopCounterMode(display=False).get_total_flops()"],
    "utils.flop_counter.FlopCounterMode": [
        counted("t.utils.flop_counter.FlopCounterMode(display=False, mods=None, depth=1)")
    ],
    "utils.flop_counter.FlopCounterMode.get_total_flops": [
        counted("t.utils.flop_counter.FlopCounterMode(display=False)")
    ],
    "utils.flop_counter.FlopCounterMode.get_flop_counts": [
        counted(
            "t.utils.flop_counter.FlopCounterMode(display=False)",
            "sorted(map(str, c.get_flop_counts()['Linear']))",
        )
    ],
}
