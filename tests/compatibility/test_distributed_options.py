"""Options of ``torch.distributed``: acted on, refused, or unknown; and stores in files."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
import threading

import pytest

import flambeau as torch
import flambeau.distributed as dist
from flambeau import nn
from flambeau.distributed import _functional_collectives, checkpoint, run
from flambeau.distributed.checkpoint import default_planner, state_dict

pytestmark = pytest.mark.usefixtures("no_group_is_left")


@pytest.fixture
def group(tmp_path):
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/group", rank=0, world_size=1)


def test_a_store_in_a_file(tmp_path):
    path = str(tmp_path / "store")
    one, other = dist.FileStore(path, 2), dist.FileStore(path, 2)
    one.set("key", b"\0value")
    assert other.get("key") == b"\0value"
    assert other.add("count", 2) + one.add("count", 3) == 2 + 5
    assert one.compare_set("key", "other", "new") == b"\0value"
    assert other.delete_key("key")
    assert not one.check(["key"])
    assert one.num_keys() == other.num_keys() == 2  # one is the number of stores
    threading.Timer(0.02, one.set, ["late", "value"]).start()
    assert other.get("late") == b"value"
    with pytest.raises(dist.DistStoreError, match=r"within 0\.01 seconds"):
        one.wait(["never"], datetime.timedelta(seconds=0.01))
    del one
    assert os.path.exists(path)
    del other
    assert not os.path.exists(path)


def test_a_store_of_several_processes(tmp_path):
    path = str(tmp_path / "store")
    store = dist.FileStore(path, 4)
    code = (
        "import sys, flambeau.distributed as dist\n"
        "store = dist.FileStore(sys.argv[1], 4)\n"
        "for _ in range(50): store.add('count', 1)\n"
    )
    children = [subprocess.Popen([sys.executable, "-c", code, path]) for _ in range(2)]
    for _ in range(50):
        store.add("count", 1)
    assert [child.wait(timeout=120) for child in children] == [0, 0]
    assert store.get("count") == b"150"


def test_a_file_that_is_no_store(tmp_path):
    path = tmp_path / "text"
    path.write_text("this is a text and no store")
    with pytest.raises(RuntimeError, match="holds something else than a store"):
        dist.FileStore(str(path), 1)


def test_options_that_do_not_exist(group, tmp_path):
    net = nn.Linear(2, 2)
    for call in (
        lambda: nn.parallel.DistributedDataParallel(net, find_unused_parameter=True),
        lambda: dist.TCPStore("localhost", 1, 1, True, timeouts=3),
        lambda: dist.new_subgroups(1, size=3),
        lambda: checkpoint.FileSystemWriter(tmp_path, threads=3),
        lambda: checkpoint.FileSystemReader(tmp_path, threads=3),
        lambda: checkpoint.async_save({}, checkpoint_id=tmp_path, threads=3),
        lambda: checkpoint.load_state_dict({}, None, threads=3),
        lambda: default_planner.DefaultLoadPlanner(partial=True),
    ):
        with pytest.raises(TypeError, match="unexpected keyword argument"):
            call()
    with pytest.raises(TypeError, match="expected op to be a ReduceOp, got str"):
        dist.all_reduce(torch.ones(1), "sum")


def test_options_that_are_refused(group, tmp_path):
    with pytest.raises(NotImplementedError, match=r"call the module in a block of torch\.autocast"):
        nn.parallel.DistributedDataParallel(nn.Linear(2, 2), mixed_precision=object())
    with pytest.raises(NotImplementedError, match="asks no other planner"):
        checkpoint.save({}, checkpoint_id=tmp_path, planner=object())
    with pytest.raises(NotImplementedError, match=r"as by torch\.save, without extensions"):
        checkpoint.FileSystemWriter(tmp_path, _extensions=[])
    with pytest.raises(NotImplementedError, match="nothing is staged"):
        checkpoint.async_save({}, checkpoint_id=tmp_path, async_stager=object())


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (["--nproc-per-node=2"], NotImplementedError, "2 processes"),
        (["--nproc-per-node=auto"], NotImplementedError, "3 processes .*=auto"),
        (["--nproc-per-node=cpu"], NotImplementedError, "use --nproc-per-node=1"),
        (["--nproc-per-node=gpu"], ValueError, "there is no GPU here"),
        (["--nproc-per-node=many"], ValueError, "Unsupported nproc_per_node value: many"),
        (["--max-restarts=3"], NotImplementedError, "use --max-restarts=0"),
    ],
)
def test_options_of_the_launcher(options, error, words, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    with pytest.raises(error, match=words):
        run.main([*options, "program.py"])


def test_checkpoints_that_lack_something(tmp_path):
    checkpoint.save({"a": torch.ones(2), "in": {"b": 3}}, checkpoint_id=tmp_path / "c")
    state = {"a": torch.zeros(2), "new": torch.zeros(1), "in": {"b": 0, "c": 5}}
    with pytest.raises(RuntimeError, match="'new' is not in the checkpoint"):
        checkpoint.load(state, checkpoint_id=tmp_path / "c")
    planner = default_planner.DefaultLoadPlanner(allow_partial_load=True)
    checkpoint.load(state, checkpoint_id=tmp_path / "c", planner=planner)
    assert state["a"].tolist() == [1, 1]
    assert state["in"] == {"b": 3, "c": 5}


def test_state_dicts_of_parts_and_without_nesting():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    groups = [{"params": net[0].parameters(), "lr": 0.5}, {"params": net[1].parameters()}]
    optimizer = torch.optim.Adam(groups)
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    options = state_dict.StateDictOptions(keep_submodule_prefixes=False)
    part = state_dict.get_model_state_dict(net, submodules={net[1]})
    assert list(part) == ["1.weight", "1.bias"]
    part = state_dict.get_model_state_dict(net, submodules={net[1]}, options=options)
    assert list(part) == ["weight", "bias"]
    options = state_dict.StateDictOptions(flatten_optimizer_state_dict=True)
    flat = state_dict.get_optimizer_state_dict(net, optimizer, options=options)
    assert flat["param_groups.0.weight.lr"] == 0.5
    assert torch.equal(flat["state.1.bias.exp_avg"], optimizer.state[net[1].bias]["exp_avg"])
    other = torch.optim.Adam([{"params": net[0].parameters()}, {"params": net[1].parameters()}])
    state_dict.set_optimizer_state_dict(net, other, flat, options=options)
    assert other.param_groups[0]["lr"] == 0.5
    assert torch.equal(
        other.state[net[0].weight]["exp_avg_sq"], optimizer.state[net[0].weight]["exp_avg_sq"]
    )
    with pytest.raises(ValueError, match="full_state_dict must be True"):
        state_dict.get_model_state_dict(
            net, options=state_dict.StateDictOptions(broadcast_from_rank0=True)
        )


def test_outputs_are_written_by_operations_with_gradients(group):
    sent = torch.arange(4.0, requires_grad=True)
    for call in (
        lambda out: dist.nn.functional.reduce_scatter(out, [sent]),
        lambda out: dist.nn.functional.all_to_all([out], [sent])[0],
        lambda out: dist.nn.functional.all_to_all_single(out, sent, [4], [4]),
    ):
        out = torch.zeros(4)
        result = call(out)
        assert out.tolist() == result.tolist() == [0, 1, 2, 3]
        assert (result.requires_grad, out.requires_grad) == (True, False)
        for wrong in (torch.zeros(3), torch.zeros(4, dtype=torch.int64)):
            with pytest.raises(RuntimeError, match="expected"):
                call(wrong)
    with pytest.raises(RuntimeError, match=r"one part of 4 .* got \[1, 3\]"):
        dist.nn.functional.all_to_all_single(torch.zeros(4), sent, [1, 3], [1, 3])


def test_operations_and_times_have_to_be_some(group):
    x = torch.ones(2)
    for reduce in (dist.all_reduce, dist.nn.functional.all_reduce):
        with pytest.raises(RuntimeError, match="integers"):
            reduce(x, op=dist.ReduceOp.BAND)
    with pytest.raises(RuntimeError, match="an operation of sum, avg"):
        _functional_collectives.all_reduce(x, "nothing", None)
    with pytest.raises(TypeError, match="timedelta"):
        dist.new_group([0], timeout=3)
    with pytest.raises(AssertionError, match="is_available"):
        dist.broadcast_object_list([1], 0, device="cuda")
    layer = nn.Linear(2, 2)
    with pytest.raises(ValueError, match="param_to_hook_all_reduce"):
        nn.parallel.DistributedDataParallel(
            layer, delay_all_reduce_named_params=[("weight", layer.weight)]
        )
