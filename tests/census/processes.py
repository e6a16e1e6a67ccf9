"""Examples of names of ``torch.distributed``, in a group of one process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_GROUP = "t.distributed.group.WORLD"
_SAMPLER = (
    "t.utils.data.DistributedSampler(dataset=[1, 2, 3, 4, 5], num_replicas=2, rank=1,"
    " shuffle=True, seed=3, drop_last=False)"
)
_SAMPLER_ATTRIBUTES = (
    "num_replicas total_size num_samples rank epoch shuffle dataset drop_last seed"
)
_PARALLEL = "nn.parallel.DistributedDataParallel(nn.Linear(3, 2))"


def grouped(t: Any) -> Callable[[Callable[[], Any]], Any]:
    """A function that calls another one in a group of this process."""

    def call(function: Callable[[], Any]) -> Any:
        t.distributed.init_process_group(
            "gloo", store=t.distributed.HashStore(), rank=0, world_size=1
        )
        try:
            return function()
        finally:
            t.distributed.destroy_process_group()

    return call


def _in_group(call: str) -> list[str]:
    return [f"grouped(lambda: {call})"]


PROCESSES: dict[str, list[str]] = {
    "distributed.is_available": ["t.distributed.is_available()"],
    "distributed.is_initialized": [
        "t.distributed.is_initialized()",
        *_in_group("t.distributed.is_initialized()"),
    ],
    "distributed.is_nccl_available": ["t.distributed.is_nccl_available()"],
    "distributed.init_process_group": [
        (
            "[t.distributed.init_process_group(backend='gloo', store=t.distributed.HashStore(),"
            " rank=0, world_size=1, timeout=__import__('datetime').timedelta(seconds=60),"
            " device_id=None), t.distributed.get_rank(), t.distributed.destroy_process_group()]"
        ),
        (
            "[t.distributed.init_process_group('gloo', init_method='file://' +"
            " __import__('tempfile').mktemp(), rank=0, world_size=1),"
            " t.distributed.destroy_process_group()]"
        ),
    ],
    "distributed.destroy_process_group": [
        "[grouped(lambda: 3), t.distributed.is_initialized()]",
    ],
    "distributed.get_rank": _in_group(f"t.distributed.get_rank(group={_GROUP})"),
    "distributed.get_world_size": _in_group(f"t.distributed.get_world_size(group={_GROUP})"),
    "distributed.get_backend": _in_group(f"str(t.distributed.get_backend(group={_GROUP}))"),
    "distributed.barrier": _in_group(f"t.distributed.barrier(group={_GROUP}, device_ids=None)"),
    "distributed.all_reduce": _in_group(
        f"[t.distributed.all_reduce(tensor=x, op=t.distributed.ReduceOp.SUM, group={_GROUP},"
        " async_op=True).wait(), x]"
    ),
    "distributed.broadcast": _in_group(
        f"[t.distributed.broadcast(tensor=x, src=0, group={_GROUP}, async_op=False), x]"
    ),
    "distributed.all_gather": _in_group(
        f"[[t.distributed.all_gather(o, x, group={_GROUP}), o] for o in [[t.zeros(2, 3)]]]"
    ),
    "distributed.all_gather_object": _in_group(
        f"[[t.distributed.all_gather_object(o, 'a', group={_GROUP}), o] for o in [[None]]]"
    ),
    "distributed.broadcast_object_list": _in_group(
        f"[[t.distributed.broadcast_object_list(o, src=0, group={_GROUP}, device=None), o]"
        " for o in [['a']]]"
    ),
    "distributed.new_group": _in_group(
        "t.distributed.new_group(ranks=[0], backend='gloo', timeout=None, pg_options=None,"
        " use_local_synchronization=False, group_desc='mine').size()"
    ),
    "distributed.ProcessGroup": _in_group(f"isinstance({_GROUP}, t.distributed.ProcessGroup)"),
    **{
        f"distributed.ReduceOp.{name}": [f"int(t.distributed.ReduceOp.{name})"]
        for name in ("SUM", "AVG", "MAX", "MIN")
    },
    "distributed.init_device_mesh": _in_group(
        "t.distributed.init_device_mesh(device_type='cpu', mesh_shape=(1,),"
        " mesh_dim_names=('dp',)).size()"
    ),
    "distributed.DeviceMesh": _in_group(
        "t.distributed.DeviceMesh(device_type='cpu', mesh=[0], mesh_dim_names=('dp',)).ndim"
    ),
    "distributed.tensor.Shard": ["t.distributed.tensor.Shard(1).dim"],
    "distributed.tensor.Replicate": ["t.distributed.tensor.Replicate().is_replicate()"],
    "distributed.tensor.DTensor": ["isinstance(x, t.distributed.tensor.DTensor)"],
    "distributed.checkpoint.state_dict.StateDictOptions": [
        (
            "t.distributed.checkpoint.state_dict.StateDictOptions(full_state_dict=True,"
            " cpu_offload=True, broadcast_from_rank0=False, strict=False).strict"
        ),
    ],
    "nn.parallel.DistributedDataParallel": _in_group(
        "nn.parallel.DistributedDataParallel(module=nn.Linear(3, 2), device_ids=None,"
        " output_device=None, broadcast_buffers=True, find_unused_parameters=True,"
        f" bucket_cap_mb=1, process_group={_GROUP}, gradient_as_bucket_view=True)(x).detach()"
    ),
    "nn.parallel.DistributedDataParallel.module": _in_group(f"repr({_PARALLEL}.module)"),
    "nn.parallel.DistributedDataParallel.no_sync": _in_group(
        f"{_PARALLEL}.no_sync().__enter__() is None"
    ),
    "nn.parallel.DistributedDataParallel.require_backward_grad_sync": _in_group(
        f"{_PARALLEL}.require_backward_grad_sync"
    ),
    "nn.DataParallel": [
        "nn.DataParallel(module=nn.Linear(3, 2), device_ids=None)(x).detach()",
    ],
    "nn.DataParallel.module": ["repr(nn.DataParallel(nn.Linear(3, 2)).module)"],
    "nn.SyncBatchNorm": [
        (
            "repr(nn.SyncBatchNorm(num_features=3, eps=1e-3, affine=True,"
            " track_running_stats=True, process_group=None))"
        ),
    ],
    "nn.SyncBatchNorm.convert_sync_batchnorm": [
        "repr(nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm2d(3))))",
    ],
    "utils.data.DistributedSampler": [f"list({_SAMPLER})"],
    "utils.data.DistributedSampler.set_epoch": [
        f"[[s.set_epoch(4), list(s)] for s in [{_SAMPLER}]]",
    ],
    **{
        f"utils.data.DistributedSampler.{name}": [f"{_SAMPLER}.{name}"]
        for name in _SAMPLER_ATTRIBUTES.split(" ")
    },
}
