"""What is recorded: operators, backward nodes, ranges, memory, stacks and modules."""

import threading
from typing import Any

import pytest

import flambeau as fb
from flambeau import nn
from flambeau.autograd import profiler as autograd_profiler
from flambeau.profiler import profile, record_function


def names(events: Any) -> list[str]:
    return [event.name for event in events]


def find(events: Any, name: str) -> Any:
    return next(event for event in events if event.name == name)


def test_an_operator_has_its_name_and_shapes() -> None:
    a, b = fb.ones(2, 3), fb.ones(3)
    with profile(record_shapes=True) as prof:
        a + b
        fb.cat([a, a])
        a.add_(1)
    events = prof.events()
    assert names(events) == ["aten::add", "aten::cat", "aten::add_"]
    assert events[0].input_shapes[:2] == [[2, 3], [3]]
    assert events[0].input_dtypes[:2] == ["float", "float"]
    assert events[1].input_shapes == [[], []]
    assert events[1].concrete_inputs[1] == 0


def test_the_result_comes_last() -> None:
    out = fb.empty(2, 3)
    with profile(record_shapes=True) as prof:
        fb.add(fb.ones(2, 3), 1, out=out)
    assert prof.events()[-1].input_shapes == [[2, 3], [], [], [2, 3]]


def test_shapes_are_kept_only_if_asked_for() -> None:
    a = fb.ones(2)
    with profile() as prof:
        a * a
    assert prof.events()[0].input_shapes == []
    assert prof.events()[0].stack == []


def test_calls_within_calls_are_children() -> None:
    layer, x = nn.Linear(3, 2), fb.ones(4, 3)
    with profile() as prof:
        layer(x)
    linear, addmm = find(prof.events(), "aten::linear"), find(prof.events(), "aten::addmm")
    assert addmm.cpu_parent is linear
    assert linear.cpu_children == [addmm]
    assert linear.time_range.start <= addmm.time_range.start
    assert addmm.time_range.end <= linear.time_range.end
    assert linear.self_cpu_time_total == pytest.approx(linear.cpu_time_total - addmm.cpu_time_total)


def test_factories_and_compositions_are_recorded() -> None:
    with profile() as prof:
        fb.zeros(2)
        fb.rand(3).flatten().reshape(3, 1)
    assert {"aten::zeros", "aten::rand", "aten::flatten", "aten::reshape"} <= set(
        names(prof.events())
    )
    assert "aten::size" not in names(prof.events())


def test_numbers_taken_out_of_tensors_are_recorded() -> None:
    x = fb.ones(1)
    with profile() as prof:
        assert x.item() == 1.0
    assert names(prof.events()) == ["aten::item"]


def test_events_of_all_threads_are_in_the_order_of_time() -> None:
    with profile() as prof:
        for _ in range(3):
            thread = threading.Thread(target=lambda: fb.ones(1))
            thread.start()
            thread.join()
            fb.zeros(1)
    assert names(prof.events()) == ["aten::ones", "aten::zeros"] * 3


def test_backward_nodes_know_their_forward() -> None:
    layer = nn.Linear(3, 2)
    with profile() as prof:
        layer(fb.ones(4, 3)).sum().backward()
    events = prof.events()
    evaluation = find(events, "autograd::engine::evaluate_function: AddmmBackward0")
    node = find(events, "AddmmBackward0")
    assert node.cpu_parent is evaluation
    assert node.sequence_nr == find(events, "aten::addmm").sequence_nr > 0
    assert node.fwd_thread == node.thread
    assert names(events).count("torch::autograd::AccumulateGrad") == 2


def test_custom_functions_have_their_own_names() -> None:
    class Twice(fb.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: fb.Tensor) -> fb.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: fb.Tensor) -> fb.Tensor:
            return grad * 2

    x = fb.ones(2, requires_grad=True)
    with profile() as prof:
        Twice.apply(x).sum().backward()
    events = prof.events()
    assert find(events, "Twice").cpu_children[0].name == "aten::mul"
    assert find(events, "TwiceBackward").sequence_nr == find(events, "Twice").sequence_nr


def test_ranges_nest_decorate_and_survive_errors() -> None:
    @record_function("work")
    def work(depth: int) -> None:
        fb.ones(2)
        if depth:
            work(depth - 1)

    with profile() as prof:
        with record_function("outer", "epoch 1"):
            work(2)
        with pytest.raises(ZeroDivisionError), record_function("fails"):
            fb.ones(2) / (1 / 0)
        after = fb.ones(2) + 1
    assert after.sum() == 4
    events = prof.events()
    assert find(events, "outer").is_user_annotation
    assert names(events).count("work") == 3
    assert find(events, "work").cpu_parent.name == "outer"
    assert find(events, "fails").cpu_children[0].name == "aten::ones"
    assert find(events, "aten::add").cpu_parent is None


def test_ranges_close_in_any_order() -> None:
    first, second = record_function("first"), record_function("second")
    with profile() as prof:
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        fb.zeros(1)
        second.__exit__(None, None, None)
        fb.ones(1)
    events = prof.events()
    assert find(events, "aten::zeros").cpu_parent.name == "second"
    assert find(events, "aten::ones").cpu_parent is None
    assert all(event.self_cpu_time_total >= 0 for event in events)


def test_a_range_that_is_open_at_the_end_ends_there() -> None:
    open_range = record_function("open")
    with profile() as prof:
        open_range.__enter__()
        fb.ones(1)
    open_range.__exit__(None, None, None)
    event = find(prof.events(), "open")
    assert event.time_range.end >= find(prof.events(), "aten::ones").time_range.end


def test_memory_is_counted_by_operator() -> None:
    with profile(profile_memory=True) as prof:
        x = fb.zeros(1000)
        y = x + 1
        del x
        y.mul_(2)
    events = prof.events()
    assert find(events, "aten::zeros").cpu_memory_usage == 4000
    assert find(events, "aten::add").cpu_memory_usage == 4000
    assert find(events, "aten::mul_").cpu_memory_usage == 0
    assert find(events, "[memory]").cpu_memory_usage == -4000


def test_memory_of_parts_belongs_to_the_whole() -> None:
    layer, x = nn.Linear(8, 4), fb.ones(16, 8)
    with profile(profile_memory=True) as prof:
        layer(x)
    linear = find(prof.events(), "aten::linear")
    assert linear.cpu_memory_usage == 16 * 4 * 4
    assert linear.self_cpu_memory_usage == 0


def test_stacks_name_the_line_that_called() -> None:
    def here() -> fb.Tensor:
        return fb.ones(2, requires_grad=True) * 2

    with profile(with_stack=True) as prof:
        here().sum().backward()
    stack = find(prof.events(), "aten::mul").stack
    assert "test_events.py" in stack[0]
    assert stack[0].endswith(": here")
    assert find(prof.events(), "MulBackward0").stack == stack


def test_all_threads_are_recorded() -> None:
    ready, done = threading.Event(), threading.Event()

    def work() -> None:
        ready.wait()
        with record_function("in thread"):
            fb.ones(3).exp()
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    with profile() as prof:
        fb.zeros(1)
        ready.set()
        done.wait()
    thread.join()
    events = prof.events()
    assert find(events, "in thread").thread != find(events, "aten::zeros").thread
    assert find(events, "aten::exp").cpu_parent.name == "in thread"


def test_threads_that_end_leave_their_events() -> None:
    with profile() as prof:
        threads = [threading.Thread(target=lambda: fb.ones(2).sin()) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert names(prof.events()).count("aten::sin") == 8


def test_profiles_start_and_stop_while_threads_work() -> None:
    stop = threading.Event()

    def work() -> None:
        x = fb.ones(8, requires_grad=True)
        while not stop.is_set():
            with record_function("busy"):
                (x * 2).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(20):
        with profile(profile_memory=True, with_stack=bool(number % 2), record_shapes=True) as prof:
            fb.ones(4).cos()
        assert "aten::cos" in names(prof.events())
    stop.set()
    for thread in threads:
        thread.join()


def test_profiles_may_overlap() -> None:
    with profile() as outer:
        fb.ones(1)
        with profile(record_shapes=True) as inner:
            fb.ones(2).exp()
        fb.ones(3).sin()
    assert names(inner.events()) == ["aten::ones", "aten::exp"]
    assert names(outer.events()) == [
        *("aten::ones", "aten::ones", "aten::exp", "aten::ones", "aten::sin")
    ]


def test_nothing_is_recorded_when_disabled() -> None:
    with autograd_profiler.profile(enabled=False) as prof:
        fb.ones(1)
    assert prof is None


def test_optimisers_and_loaders_have_ranges() -> None:
    layer = nn.Linear(2, 1)
    optimizer = fb.optim.SGD(layer.parameters(), lr=0.1)
    loader = fb.utils.data.DataLoader(fb.utils.data.TensorDataset(fb.ones(4, 2)), batch_size=2)
    with profile() as prof:
        for (batch,) in loader:
            layer(batch).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
    counted = names(prof.events())
    assert counted.count("Optimizer.zero_grad#SGD.zero_grad") == 2
    assert counted.count("Optimizer.step#SGD.step") == 2
    assert counted.count("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__") == 3
