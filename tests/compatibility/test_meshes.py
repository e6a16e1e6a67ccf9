"""Meshes, modules on several devices, and what needs several processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import flambeau as torch
import flambeau.distributed as dist
from flambeau import nn

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("no_group_is_left")


def test_meshes():
    mesh = dist.init_device_mesh("cpu", (1, 1), mesh_dim_names=("dp", "tp"))
    assert dist.is_initialized()
    assert mesh.size() == mesh.size(0) == 1
    assert mesh.ndim == 2
    assert mesh["dp"].mesh_dim_names == ("dp",)
    assert mesh.get_group("tp").size() == 1
    assert mesh.get_local_rank("dp") == mesh.get_rank() == 0
    assert mesh.get_coordinate() == [0, 0]
    assert mesh == dist.DeviceMesh("cpu", [[0]], mesh_dim_names=("dp", "tp"))
    assert repr(mesh) == "DeviceMesh((dp=1, tp=1), device: 'cpu')"
    with pytest.raises(KeyError, match="there is no dimension 'pp'"):
        _ = mesh["pp"]
    with pytest.raises(RuntimeError, match="expected mesh_dim for several dimensions"):
        mesh.get_group()
    with pytest.raises(NotImplementedError, match="needs 8 processes"):
        dist.init_device_mesh("cpu", (2, 4))


def test_placements():
    from flambeau.distributed.tensor import Partial, Replicate, Shard

    assert Shard(0) == Shard(0) != Shard(1)
    assert Shard(0).is_shard(0)
    assert Replicate().is_replicate()
    assert Partial("max").is_partial("max")
    assert [repr(each) for each in (Shard(1), Replicate())] == ["Shard(dim=1)", "Replicate()"]
    sizes = [tuple(Shard.local_shard_size_and_offset(10, 4, rank)) for rank in range(4)]
    assert sizes == [(3, 0), (3, 3), (3, 6), (1, 9)]


def test_what_needs_several_processes():
    from flambeau.distributed import fsdp, rpc, tensor
    from flambeau.distributed.tensor import parallel

    plan = parallel.ColwiseParallel(output_layouts=tensor.Replicate(), use_local_output=False)
    for call in (
        lambda: fsdp.FullyShardedDataParallel(
            nn.Linear(1, 1), sharding_strategy=fsdp.ShardingStrategy.NO_SHARD
        ),
        lambda: fsdp.fully_shard(nn.Linear(1, 1), reshard_after_forward=True),
        lambda: fsdp.FullyShardedDataParallel.summon_full_params(None, writeback=False),
        lambda: tensor.DTensor.from_local(torch.ones(1), run_check=False),
        lambda: tensor.distribute_tensor(torch.ones(1)),
        lambda: parallel.parallelize_module(nn.Linear(1, 1), None, plan),
        lambda: rpc.init_rpc("worker", rank=0, world_size=1),
    ):
        with pytest.raises(NotImplementedError, match="several cooperating processes"):
            call()
    assert not isinstance(torch.ones(1), tensor.DTensor)
    assert not isinstance(nn.Linear(1, 1), fsdp.FullyShardedDataParallel)


def test_policies():
    from flambeau.distributed.fsdp import wrap

    policy = wrap.ModuleWrapPolicy({nn.Linear})
    assert policy(nn.Linear(1, 1), False, 0)
    assert not policy(nn.ReLU(), False, 0)
    assert wrap.size_based_auto_wrap_policy(nn.Linear(1, 1), False, 10, min_num_params=5)
    assert not wrap.size_based_auto_wrap_policy(nn.ModuleList(), False, 10, min_num_params=5)
    assert wrap.transformer_auto_wrap_policy(nn.ReLU(), False, 0, {nn.ReLU})
    with wrap.enable_wrap(wrapper_cls=nn.Sequential):
        assert isinstance(wrap.wrap(nn.ReLU()), nn.Sequential)
    assert isinstance(wrap.wrap(nn.ReLU()), nn.ReLU)


def test_record(monkeypatch, tmp_path):
    from flambeau.distributed.elastic.multiprocessing.errors import record

    @record
    def main(x):
        return 1 / x

    assert main(2) == 0.5
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(tmp_path / "error.json"))
    with pytest.raises(ZeroDivisionError):
        main(0)
    assert "ZeroDivisionError" in (tmp_path / "error.json").read_text()


def test_activations_computed_again():
    from flambeau.distributed.algorithms._checkpoint.checkpoint_wrapper import (
        CheckpointImpl,
        CheckpointWrapper,
        apply_activation_checkpointing,
        checkpoint_wrapper,
    )

    layer = nn.Linear(2, 2)
    wrapped = checkpoint_wrapper(layer, checkpoint_impl=CheckpointImpl.NO_REENTRANT)
    assert list(wrapped.state_dict()) == ["weight", "bias"]
    assert [name for name, _ in wrapped.named_parameters()] == ["weight", "bias"]
    assert wrapped.in_features == 2
    wrapped(torch.ones(1, 2)).sum().backward()
    assert layer.weight.grad.tolist() == [[1, 1], [1, 1]]
    checkpoint_wrapper(nn.Linear(2, 2)).load_state_dict(wrapped.state_dict())
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    apply_activation_checkpointing(model, check_fn=lambda module: isinstance(module, nn.Linear))
    assert isinstance(model[0], CheckpointWrapper)
    assert isinstance(model[1], nn.ReLU)
    assert list(model.state_dict()) == ["0.weight", "0.bias"]


def test_a_folder_becomes_a_file(tmp_path):
    from flambeau.distributed.checkpoint import format_utils, save

    save({"x": torch.ones(2)}, checkpoint_id=tmp_path / "folder")
    format_utils.dcp_to_torch_save(tmp_path / "folder", tmp_path / "file.pt")
    assert torch.load(tmp_path / "file.pt")["x"].tolist() == [1, 1]
    format_utils.torch_save_to_dcp(tmp_path / "file.pt", tmp_path / "other")


PROGRAM = """
import os, sys
import flambeau.distributed as dist
dist.init_process_group("gloo")
print(dist.get_world_size(), os.environ["LOCAL_RANK"], *sys.argv[1:], __name__)
"""


def test_launcher(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(PROGRAM)
    command = [sys.executable, "-m", "flambeau.distributed.run", "--standalone"]
    command += ["--nproc_per_node=1", str(script), "--epochs", "3"]
    result = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert result.stdout.split() == ["1", "0", "--epochs", "3", "__main__"]


def test_launcher_of_several_processes():
    from flambeau.distributed import run

    with pytest.raises(NotImplementedError, match=r"4 processes .* are not supported"):
        run.main(["--nproc-per-node", "4", "train.py"])


# --- modules on several devices


def test_batches_in_pieces():
    from flambeau.nn import parallel
    from flambeau.nn.parallel.scatter_gather import scatter_kwargs

    x = torch.arange(4.0)
    devices = ["cpu", "cpu"]
    first, second = parallel.scatter((x, {"a": x, "b": "same"}), devices)
    assert first[0].tolist() == [0, 1]
    assert second[1]["a"].tolist() == [2, 3]
    assert second[1]["b"] == "same"
    args, kwargs = scatter_kwargs((x,), {"y": x}, devices)
    assert kwargs[1]["y"].tolist() == [2, 3]
    net = nn.Linear(1, 1)
    copies = parallel.replicate(net, devices)
    assert copies[1].weight is net.weight
    inputs = [args[0][0][:, None], args[1][0][:, None]]
    results = parallel.parallel_apply(copies, inputs, devices=devices)
    assert torch.equal(parallel.gather(results, "cpu"), net(x[:, None]))
    pairs = parallel.gather([{"a": (x, None)}, {"a": (x, None)}], "cpu")
    assert pairs["a"][0].shape == (8,)
    assert parallel.gather([x.sum(), x.sum()], "cpu").tolist() == [6, 6]
    with pytest.raises(AssertionError, match="no device cuda:0 here"):
        parallel.scatter(x, [0, 1])
    with pytest.raises(AssertionError, match="as many inputs as modules"):
        parallel.parallel_apply([net], [])
