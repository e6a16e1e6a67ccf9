"""``torch.distributed`` in one process: right there, and clear about more."""

from __future__ import annotations

import datetime
import threading

import pytest

import flambeau as torch
import flambeau.distributed as dist
from flambeau import nn
from flambeau.nn.parallel import DistributedDataParallel

pytestmark = pytest.mark.usefixtures("no_group_is_left")


@pytest.fixture
def group(monkeypatch):
    for name, value in {
        "RANK": "0",
        "WORLD_SIZE": "1",
        "MASTER_ADDR": "localhost",
        "MASTER_PORT": "29500",
    }.items():
        monkeypatch.setenv(name, value)
    dist.init_process_group(backend="gloo")
    yield dist.group.WORLD
    if dist.is_initialized():
        dist.destroy_process_group()


# --- beginning and end


def test_before_the_beginning():
    assert dist.is_available()
    assert not dist.is_initialized()
    assert not dist.is_nccl_available()
    assert dist.is_gloo_available()
    assert dist.is_backend_available("gloo")
    for question in (dist.get_rank, dist.get_world_size, dist.get_backend, dist.barrier):
        with pytest.raises(ValueError, match="has not been initialized"):
            question()
    with pytest.raises(AssertionError, match="there is no such process group"):
        dist.destroy_process_group()


def test_by_the_environment(group):
    assert dist.is_initialized()
    assert dist.get_rank() == dist.get_rank(group=group) == 0
    assert dist.get_world_size() == 1
    assert dist.get_backend() == "gloo"
    with pytest.raises(ValueError, match="twice"):
        dist.init_process_group("gloo")
    dist.destroy_process_group()
    assert not dist.is_initialized()
    assert dist.group.WORLD is None


@pytest.mark.parametrize(
    "options",
    [
        {"init_method": "tcp://127.0.0.1:29500", "rank": 0, "world_size": 1},
        {"init_method": "file:///tmp/group", "rank": 0, "world_size": 1},
        {"store": dist.HashStore(), "rank": 0, "world_size": 1},
        {
            "backend": "nccl",
            "init_method": "tcp://localhost:1",
            "rank": 0,
            "world_size": 1,
            "timeout": datetime.timedelta(seconds=1),
        },
        {
            "backend": "cpu:gloo,cuda:nccl",
            "init_method": "tcp://localhost:1",
            "rank": 0,
            "world_size": 1,
        },
    ],
)
def test_by_arguments(options):
    dist.init_process_group(**options)
    assert dist.get_world_size() == 1
    assert dist.get_backend() == options.get("backend", "undefined")


def test_more_than_one_process():
    with pytest.raises(NotImplementedError, match=r"4 processes .* not supported yet; start one"):
        dist.init_process_group("gloo", init_method="tcp://localhost:1", rank=0, world_size=4)
    assert not dist.is_initialized()


def test_beginnings_that_make_no_sense(monkeypatch):
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="the environment variable RANK, which is not set"):
        dist.init_process_group("gloo")
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    with pytest.raises(ValueError, match="MASTER_ADDR"):
        dist.init_process_group("gloo", rank=0, world_size=1)
    with pytest.raises(AssertionError, match="expected a backend of undefined, gloo"):
        dist.init_process_group("pigeon", init_method="tcp://a", rank=0, world_size=1)
    with pytest.raises(RuntimeError, match="expected an init_method of env://"):
        dist.init_process_group("gloo", init_method="ftp://a", rank=0, world_size=1)
    with pytest.raises(ValueError, match="got rank=3, world_size=1"):
        dist.init_process_group("gloo", init_method="tcp://a", rank=3, world_size=1)
    with pytest.raises(AssertionError, match="exclude each other"):
        dist.init_process_group("gloo", init_method="tcp://a", store=dist.HashStore())


def test_groups(group):
    made = dist.new_group(ranks=[0], backend="gloo", timeout=None, group_desc="mine")
    assert dist.get_world_size(made) == made.size() == 1
    assert dist.get_process_group_ranks(made) == [0]
    assert dist.get_global_rank(made, 0) == dist.get_group_rank(made, 0) == 0
    assert dist.get_rank(dist.new_group([])) == -1
    with pytest.raises(ValueError, match="less or equal to the world size"):
        dist.new_group([0, 1])
    dist.destroy_process_group(made)
    with pytest.raises(ValueError, match="has been destroyed"):
        dist.barrier(group=made)
    assert group.name() == "gloo"
    assert group.rank() == 0


# --- collective operations


@pytest.mark.parametrize("op", list(dist.ReduceOp))
def test_all_reduce(group, op):
    of_bits = (dist.ReduceOp.BAND, dist.ReduceOp.BOR, dist.ReduceOp.BXOR)
    x = torch.tensor([1, -2], dtype=torch.int64 if op in of_bits else torch.float32)
    assert dist.all_reduce(tensor=x, op=op, group=group) is None
    assert x.tolist() == [1, -2]


def test_work(group):
    x = torch.ones(2)
    work = dist.all_reduce(x, async_op=True)
    assert work.wait()
    assert work.is_completed()
    assert torch.equal(work.get_future().wait()[0], x)
    assert dist.barrier(async_op=True, device_ids=[0]).wait()


def test_gathering(group):
    x = torch.tensor([1.0, 2.0])
    outputs = [torch.zeros(2)]
    dist.all_gather(outputs, x, group=group)
    assert torch.equal(outputs[0], x)
    outputs = [torch.zeros(2)]
    dist.gather(x, gather_list=outputs, dst=0)
    assert torch.equal(outputs[0], x)
    whole = torch.zeros(2)
    dist.all_gather_into_tensor(whole, x)
    assert torch.equal(whole, x)
    outputs = [torch.zeros(2)]
    dist.all_to_all(outputs, [x])
    assert torch.equal(outputs[0], x)
    whole = torch.zeros(2)
    dist.all_to_all_single(whole, x, output_split_sizes=[2], input_split_sizes=[2])
    assert torch.equal(whole, x)


def test_scattering(group):
    x = torch.zeros(2)
    dist.scatter(x, scatter_list=[torch.tensor([3.0, 4.0])], src=0)
    assert x.tolist() == [3, 4]
    dist.reduce_scatter(x, [torch.tensor([5.0, 6.0])], op=dist.ReduceOp.SUM)
    assert x.tolist() == [5, 6]
    dist.reduce_scatter_tensor(x, torch.tensor([7.0, 8.0]))
    assert x.tolist() == [7, 8]
    dist.broadcast(tensor=x, src=0, group=group, async_op=False)
    dist.reduce(x, dst=0, op=dist.ReduceOp.MAX)
    assert x.tolist() == [7, 8]


def test_parameters_may_be_filled(group):
    weight = nn.Parameter(torch.zeros(2))
    dist.scatter(weight, [torch.ones(2)], src=0)
    assert weight.tolist() == [1, 1]


def test_objects(group):
    gathered = [None]
    original = {"a": [1]}
    dist.all_gather_object(gathered, original)
    assert gathered == [original]
    assert gathered[0] is not original
    dist.gather_object("b", gathered, dst=0)
    assert gathered == ["b"]
    objects = [1, "two"]
    dist.broadcast_object_list(objects, src=0, device=torch.device("cpu"))
    assert objects == [1, "two"]
    dist.scatter_object_list(gathered, ["c"], src=0)
    assert gathered == ["c"]


def test_calls_that_make_no_sense(group):
    x = torch.ones(2)
    with pytest.raises(TypeError, match="all_reduce: expected tensor to be a tensor, got list"):
        dist.all_reduce([x])
    with pytest.raises(RuntimeError, match="broadcast: there is no rank 1 in a group of one"):
        dist.broadcast(x, src=1)
    with pytest.raises(RuntimeError, match="expected tensor_list to hold 1 tensors, got 2"):
        dist.all_gather([x, x], x)
    with pytest.raises(RuntimeError, match="expected tensors of the same size and dtype"):
        dist.all_gather([torch.ones(3)], x)
    with pytest.raises(ValueError, match="gather: expected gather_list"):
        dist.gather(x)
    with pytest.raises(ValueError, match="reduce: expected dst or group_dst"):
        dist.reduce(x)
    for call in (dist.send, dist.recv, dist.isend, dist.irecv):
        with pytest.raises(ValueError, match="there is no other process, got rank 1"):
            call(x, 1)
    with pytest.raises(RuntimeError, match="expected one part of size 2"):
        dist.all_to_all_single(x, x, [1, 1], [1, 1])


def test_names_of_backends():
    assert dist.Backend("GLOO") == "gloo"
    assert dist.Backend.NCCL == "nccl"
    assert dist.Backend.default_device_backend_map["cpu"] == "gloo"
    with pytest.raises(ValueError, match="expected a string, got int"):
        dist.Backend(3)
    assert dist.supports_complex(dist.ReduceOp.SUM)
    assert not dist.supports_complex(dist.ReduceOp.MAX)


def test_gradients_flow_through(group):
    from flambeau.distributed.nn import all_gather, all_reduce

    x = torch.ones(2, requires_grad=True)
    (all_reduce(x * 2).sum() + all_gather(x, group=group)[0].sum()).backward()
    assert x.grad.tolist() == [3, 3]


def test_stores():
    store = dist.HashStore()
    threading.Timer(0.01, store.set, ["key", "value"]).start()
    assert store.get("key") == b"value"
    assert store.add("count", 2) == 2
    assert store.add("count", 3) == 5
    inner = dist.PrefixStore("a", store)
    inner.set("key", "other")
    assert store.get("a/key") == b"other"
    assert store.num_keys() == 3
    assert store.compare_set("key", "value", "new") == b"new"
    assert store.delete_key("key")
    with pytest.raises(dist.DistStoreError, match=r"within 0\.01 seconds"):
        store.wait(["key"], datetime.timedelta(seconds=0.01))
    assert dist.TCPStore("localhost", 1, 1, is_master=True).port == 1
    with pytest.raises(NotImplementedError, match="2 processes are not supported yet"):
        dist.TCPStore("localhost", 1, 2, True)


# --- training


def test_distributed_data_parallel(group):
    torch.manual_seed(0)
    net = nn.Linear(2, 2)
    wrapped = DistributedDataParallel(
        module=net,
        device_ids=None,
        broadcast_buffers=False,
        find_unused_parameters=True,
        bucket_cap_mb=1,
        process_group=group,
        gradient_as_bucket_view=True,
    )
    assert wrapped.module is net
    assert list(wrapped.state_dict()) == ["module.weight", "module.bias"]
    x = torch.ones(1, 2)
    assert torch.equal(wrapped(x), net(x))
    with wrapped.no_sync():
        assert not wrapped.require_backward_grad_sync
        wrapped(x).sum().backward()
    assert wrapped.require_backward_grad_sync
    with wrapped.join():
        wrapped(x).sum().backward()
    assert net.weight.grad.tolist() == [[2, 2], [2, 2]]
    wrapped.eval()
    assert not net.training


def test_modules_that_cannot_be_wrapped(group):
    with pytest.raises(RuntimeError, match="no parameter of the module requires a gradient"):
        DistributedDataParallel(nn.ReLU())
    with pytest.raises(ValueError, match="device_ids and output_device are for modules on GPUs"):
        DistributedDataParallel(nn.Linear(1, 1), device_ids=[0])
    wrapped = DistributedDataParallel(nn.Linear(1, 1))
    with pytest.raises(NotImplementedError, match="no gradients to exchange"):
        wrapped.register_comm_hook(None, print)
    dist.destroy_process_group()
    with pytest.raises(ValueError, match="has not been initialized"):
        DistributedDataParallel(nn.Linear(1, 1))


def test_a_sampler_asks_the_group(group):
    sampler = torch.utils.data.DistributedSampler(list(range(5)), shuffle=False)
    assert (sampler.num_replicas, sampler.rank) == (1, 0)
    assert list(sampler) == [0, 1, 2, 3, 4]


def test_zero_redundancy_optimizer(group):
    from flambeau.distributed.optim import ZeroRedundancyOptimizer

    weights = [nn.Parameter(torch.ones(2)) for _ in range(2)]
    optimizers = [
        torch.optim.Adam([weights[0]], lr=0.1),
        ZeroRedundancyOptimizer([weights[1]], optimizer_class=torch.optim.Adam, lr=0.1),
    ]
    for weight, optimizer in zip(weights, optimizers, strict=True):
        for _ in range(2):
            optimizer.zero_grad()
            weight.square().sum().backward()
            optimizer.step()
    assert torch.equal(*weights)
    optimizers[1].consolidate_state_dict()
    optimizers[1].load_state_dict(optimizers[0].state_dict())


def test_checkpoints(group, tmp_path):
    from flambeau.distributed import checkpoint

    net = nn.Linear(2, 2)
    state = {"model": net.state_dict(), "step": 3}
    checkpoint.save(state, checkpoint_id=tmp_path / "one")
    other = nn.Linear(2, 2)
    target = {"model": other.state_dict(), "step": 0}
    checkpoint.load(target, checkpoint_id=tmp_path / "one")
    assert torch.equal(other.weight, net.weight)
    assert target["step"] == 3
    writer = checkpoint.FileSystemWriter(tmp_path / "two", thread_count=2, sync_files=False)
    checkpoint.save(state_dict={"net": net}, storage_writer=writer, no_dist=True)
    checkpoint.load({"net": other}, storage_reader=checkpoint.FileSystemReader(tmp_path / "two"))
    assert isinstance(net, checkpoint.Stateful)
    checkpoint.async_save(state, checkpoint_id=tmp_path / "three").wait()
    with pytest.raises(RuntimeError, match="'extra' is not in the checkpoint"):
        checkpoint.load({"extra": 1}, checkpoint_id=tmp_path / "one")
    with pytest.raises(RuntimeError, match="there is no checkpoint of Flambeau in"):
        checkpoint.load({}, checkpoint_id=tmp_path / "none")
    with pytest.raises(ValueError, match=r"'model.weight' has shape \(2, 2\) in the checkpoint"):
        checkpoint.load({"model": {"weight": torch.ones(3)}}, checkpoint_id=tmp_path / "one")


def test_state_dicts_by_name(group):
    from flambeau.distributed.checkpoint import state_dict as sd

    net, other = nn.Linear(2, 2), nn.Linear(2, 2)
    wrapped = DistributedDataParallel(net)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    wrapped(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    options = sd.StateDictOptions(full_state_dict=True, cpu_offload=True)
    model_state, optim_state = sd.get_state_dict(wrapped, optimizer, options=options)
    assert list(model_state) == ["weight", "bias"]
    assert set(optim_state["state"]) == {"weight", "bias"}
    second = torch.optim.Adam(other.parameters(), lr=0.5)
    sd.set_state_dict(
        other, second, model_state_dict=model_state, optim_state_dict=optim_state, options=options
    )
    assert torch.equal(other.weight, net.weight)
    assert second.param_groups[0]["lr"] == 0.1
    exp_avg = second.state[other.weight]["exp_avg"]
    assert torch.equal(exp_avg, optimizer.state[net.weight]["exp_avg"])
