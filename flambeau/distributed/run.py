"""``torchrun`` and ``python -m torch.distributed.run``: a program as a job of one process."""

from __future__ import annotations

import argparse
import os
import runpy
import sys

__all__ = ["get_args_parser", "main", "parse_args", "run"]

_ENVIRONMENT = {
    "RANK": "0",
    "LOCAL_RANK": "0",
    "GROUP_RANK": "0",
    "WORLD_SIZE": "1",
    "LOCAL_WORLD_SIZE": "1",
    "MASTER_ADDR": "localhost",
    "MASTER_PORT": "29500",
    "TORCHELASTIC_RUN_ID": "none",
}


def _number(text: str) -> str:
    """PyTorch's parser knows both spellings of every option."""
    return text.replace("_", "-")


def get_args_parser() -> argparse.ArgumentParser:
    """The options of the launcher that programs are started with."""
    parser = argparse.ArgumentParser(
        "torchrun", description="Run a program as a distributed job of one process."
    )
    for name, default in {
        "nnodes": "1",
        "nproc_per_node": "1",
        "node_rank": "0",
        "master_addr": "localhost",
        "master_port": "29500",
        "rdzv_backend": "static",
        "rdzv_endpoint": "",
        "rdzv_id": "none",
        "max_restarts": "0",
    }.items():
        parser.add_argument(f"--{_number(name)}", f"--{name}", dest=name, default=default)
    parser.add_argument("--standalone", action="store_true")
    parser.add_argument("-m", "--module", action="store_true", help="a module, not a file")
    parser.add_argument("training_script", help="the program, followed by its own arguments")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER)
    return parser


def parse_args(args: list[str] | None) -> argparse.Namespace:
    """The options in a list of arguments."""
    return get_args_parser().parse_args(args)


def _process_count(text: str) -> int:
    """What ``--nproc-per-node`` means here: ``auto`` is a process for each core, without a GPU."""
    if text in ("auto", "cpu"):
        return os.cpu_count() or 1
    if text == "gpu":
        raise ValueError("torchrun: there is no GPU here; use --nproc-per-node=1")
    if not text.isdigit():
        raise ValueError(f"Unsupported nproc_per_node value: {text}")
    return int(text)


def run(args: argparse.Namespace) -> None:
    """Run the program in this process, with the environment of a job of one."""
    processes = _process_count(str(args.nproc_per_node))
    if processes != 1 or str(args.nnodes).rpartition(":")[2] != "1":
        raise NotImplementedError(
            f"torchrun: {processes} processes (--nproc-per-node={args.nproc_per_node}) on "
            f"{args.nnodes} machines are not supported yet; use --nproc-per-node=1, which uses all "
            "cores of the machine"
        )
    if int(args.max_restarts) > 0:
        raise NotImplementedError(
            f"torchrun: the program runs in this process, which cannot be restarted, got "
            f"--max-restarts={args.max_restarts}; use --max-restarts=0"
        )
    os.environ.update(_ENVIRONMENT)
    os.environ.update({"MASTER_ADDR": args.master_addr, "MASTER_PORT": str(args.master_port)})
    sys.argv = [args.training_script, *args.training_script_args]
    if args.module:
        runpy.run_module(args.training_script, run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, os.path.dirname(os.path.abspath(args.training_script)))
        runpy.run_path(args.training_script, run_name="__main__")


def main(args: list[str] | None = None) -> None:
    """The command."""
    run(parse_args(args))


if __name__ == "__main__":
    main()
