"""Optimisers over 10^8 parameters on a GPU."""

from typing import Any

from benchmarks.case import Namespace, add_case
from benchmarks.device import size
from benchmarks.roofline import FLOAT, Work

LENGTHS = (1_300_000, 600_000, 100_000)
TENSORS = 150
COUNT = sum(LENGTHS) * TENSORS // len(LENGTHS)


def parameters(t: Any) -> list[Any]:
    found: list[Any] = []
    for index in range(size(TENSORS, 6)):
        length = size(LENGTHS[index % len(LENGTHS)], 10)
        found.append(t.nn.Parameter(t.randn(length, device="cuda")))
        found[-1].grad = t.randn(length, device="cuda")
    return found


def adamw(t: Any) -> Namespace:
    return {"optimizer": t.optim.AdamW(parameters(t), lr=1e-4, fused=True)}


def clipping(t: Any) -> Namespace:
    return {"clip": t.nn.utils.clip_grad_norm_, "parameters": parameters(t)}


for name, prepare, statement, passes in (
    ("AdamW, 150 tensors", adamw, "optimizer.step()", 7),
    ("clip_grad_norm_, 150 tensors", clipping, "clip(parameters, 1.0)", 3),
):
    work = Work(0, passes * FLOAT * COUNT)
    add_case("cuda-optim", name, prepare, statement, work=work, timer="steps", calls=size(20, 1))
