"""Tensors in memory that several processes see."""

from __future__ import annotations

import os
import resource
from typing import Any

import pytest

import flambeau as fb
import flambeau.multiprocessing as mp
from flambeau import nn
from tests.process_files import file_behind, open_files

METHODS = ("fork", "spawn", "forkserver")


def in_child(function: Any) -> None:
    """Run `function` in a forked child, and fail with it."""
    pid = os.fork()
    if pid == 0:
        try:
            function()
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


class TestSharedMemory:
    def test_elements_stay_and_children_see_them(self) -> None:
        tensor = fb.arange(6.0).view(2, 3)
        window = tensor[1]
        assert not tensor.is_shared()
        assert tensor.share_memory_() is tensor
        assert tensor.is_shared()
        assert window.is_shared()
        assert tensor.untyped_storage().is_shared()
        assert tensor.storage().is_shared()
        in_child(lambda: window.fill_(7))
        assert tensor.tolist() == [[0, 1, 2], [7, 7, 7]]

    def test_twice_is_once(self) -> None:
        tensor = fb.ones(3).share_memory_()
        address = tensor.data_ptr()
        assert tensor.share_memory_().data_ptr() == address

    @pytest.mark.parametrize("size", [(0,), (), (3, 0)])
    def test_little_or_nothing(self, size: tuple[int, ...]) -> None:
        tensor = fb.ones(size).share_memory_()
        assert tensor.is_shared()
        assert tensor.shape == size

    def test_data_and_original_are_one(self) -> None:
        parameter = nn.Parameter(fb.ones(4))
        parameter.data.share_memory_()
        assert parameter.is_shared()
        assert parameter.data.is_shared()
        in_child(lambda: parameter.data.fill_(5))
        assert parameter.tolist() == [5, 5, 5, 5]

    def test_module(self) -> None:
        model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
        assert model.share_memory() is model
        assert all(value.is_shared() for value in model.state_dict().values())
        in_child(lambda: nn.init.constant_(model[0].weight, 2.0))
        assert model[0].weight.eq(2).all()

    def test_array_taken_before_stays_readable(self) -> None:
        tensor = fb.arange(300_000)
        array = tensor.numpy()
        tensor.share_memory_()
        assert array[-1] == 299_999
        assert tensor[-1] == 299_999

    def test_shared_memory_is_not_resized(self) -> None:
        tensor = fb.ones(3).share_memory_()
        with pytest.raises(RuntimeError, match="cannot be resized"):
            tensor.untyped_storage().resize_(1000)

    def test_results_are_private(self) -> None:
        tensor = fb.ones(3).share_memory_()
        assert not (tensor + 1).is_shared()
        assert not tensor.clone().is_shared()

    def test_nothing_in_the_file_system(self) -> None:
        tensor = fb.ones(50_000_000).share_memory_()
        assert file_behind(tensor.data_ptr()) == "/memfd:flambeau (deleted)"
        assert tensor[-1] == 1

    def test_descriptors_come_back(self) -> None:
        before = open_files()
        tensors = [fb.ones(1).share_memory_() for _ in range(20)]
        assert len(open_files() - before) == 20
        del tensors
        assert not open_files() - before

    def test_limit_on_open_files_is_raised(self) -> None:
        def share_many() -> None:
            _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
            tensors = [fb.ones(1).share_memory_() for _ in range(100)]
            assert len(tensors) == 100

        in_child(share_many)


def double(queue: Any, answers: Any, received: Any) -> None:
    for tensor in iter(queue.get, None):
        tensor.mul_(2)
        answers.put(tensor)
    received.wait(60)  # a sender lives until its tensors have arrived


def sent_and_back(method: str, tensors: list[Any]) -> list[Any]:
    context = mp.get_context(method)
    queue, answers, received = context.Queue(), context.Queue(), context.Event()
    worker = context.Process(target=double, args=(queue, answers, received), daemon=True)
    worker.start()
    for tensor in [*tensors, None]:
        queue.put(tensor)
    back = [answers.get(timeout=60) for _ in tensors]
    received.set()
    worker.join(60)
    assert worker.exitcode == 0
    queue.close()
    queue.join_thread()
    return back


class TestQueues:
    @pytest.mark.parametrize("method", METHODS)
    def test_sender_sees_what_the_receiver_writes(self, method: str) -> None:
        tensor = fb.arange(4.0)
        strided = fb.arange(6).view(2, 3).t()[1:]
        (back, strided_back) = sent_and_back(method, [tensor, strided])
        assert tensor.tolist() == [0, 2, 4, 6] == back.tolist()
        assert strided.tolist() == [[2, 8], [4, 10]] == strided_back.tolist()
        assert tensor.is_shared()
        assert back.is_shared()
        back[0] = 9
        assert tensor[0] == 9

    def test_argument_of_a_new_process(self) -> None:
        tensor = fb.zeros(3)
        mp.spawn(write_index, args=(tensor,), nprocs=3)
        assert tensor.tolist() == [1, 2, 3]

    def test_tensors_on_one_storage_still_are(self) -> None:
        context = mp.get_context("fork")
        queue = context.SimpleQueue()
        whole = fb.zeros(4)
        queue.put((whole, whole[2:]))
        queue.put(whole[:1])
        left, right = queue.get()
        again = queue.get()
        right.fill_(1)
        again.fill_(3)
        assert left.tolist() == whole.tolist() == [3, 0, 1, 1]

    def test_parameter(self) -> None:
        queue = mp.get_context("fork").SimpleQueue()
        parameter = nn.Parameter(fb.ones(2))
        queue.put(parameter)
        back = queue.get()
        assert type(back) is nn.Parameter
        assert back.requires_grad
        back.data.fill_(4)
        assert parameter.tolist() == [4, 4]

    def test_history_does_not_travel(self) -> None:
        queue = mp.get_context("fork").SimpleQueue()
        with pytest.raises(RuntimeError, match=r"not a leaf.*detach\(\)"):
            queue.put(fb.ones(2, requires_grad=True) * 2)

    def test_pool(self) -> None:
        with mp.get_context("fork").Pool(2) as pool:
            squares = pool.map(fb.square, [fb.tensor([1.0, 2.0]), fb.tensor([3.0])])
        assert [square.tolist() for square in squares] == [[1, 4], [9]]


def write_index(index: int, tensor: Any) -> None:
    tensor[index] = index + 1


def fail_second(index: int) -> None:
    if index == 1:
        raise KeyError("lost")


def exit_with(index: int, code: int) -> None:
    os._exit(code)


def abort(index: int) -> None:
    os.kill(os.getpid(), 9)


class TestStartProcesses:
    def test_exception_carries_the_traceback(self) -> None:
        with pytest.raises(mp.ProcessRaisedException, match="fail_second") as caught:
            mp.start_processes(fail_second, nprocs=2, start_method="fork")
        assert "-- Process 1 terminated with the following error" in str(caught.value)
        assert "KeyError: 'lost'" in str(caught.value)
        assert caught.value.error_index == 1

    def test_exit_code(self) -> None:
        with pytest.raises(mp.ProcessExitedException, match="exit code 3") as caught:
            mp.start_processes(exit_with, args=(3,), start_method="fork")
        assert caught.value.exit_code == 3
        assert caught.value.signal_name is None

    def test_signal(self) -> None:
        with pytest.raises(mp.ProcessExitedException, match="signal SIGKILL") as caught:
            mp.start_processes(abort, start_method="fork")
        assert caught.value.signal_name == "SIGKILL"

    def test_not_joined(self) -> None:
        context = mp.start_processes(exit_with, (0,), nprocs=2, join=False, start_method="fork")
        assert isinstance(context, mp.ProcessContext)
        assert len(context.pids()) == 2
        while not context.join():
            pass


class TestStrategies:
    def test_names(self) -> None:
        assert mp.get_all_sharing_strategies() == {"file_descriptor", "file_system"}
        assert mp.get_sharing_strategy() == "file_descriptor"
        mp.set_sharing_strategy("file_system")
        assert mp.get_sharing_strategy() == "file_system"
        mp.set_sharing_strategy("file_descriptor")

    def test_unknown(self) -> None:
        with pytest.raises(ValueError, match=r"expected one of .*, got 'pigeon'"):
            mp.set_sharing_strategy("pigeon")
