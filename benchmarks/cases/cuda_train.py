"""Training steps on a GPU that are so small that launches are most of the time."""

from typing import Any

from benchmarks.case import Namespace, add_case
from benchmarks.cases.train_mlp import network
from benchmarks.device import size
from benchmarks.training import COMPARED_STEPS

SIZES = (784, 256, 256, 10)
BATCH = 64


def perceptron(t: Any) -> Namespace:
    t.manual_seed(0)
    t.set_float32_matmul_precision("highest")
    module = network(t, SIZES).to("cuda")
    x = t.randn(BATCH, SIZES[0]).to("cuda")
    y = (t.arange(BATCH) % SIZES[-1]).to("cuda")
    optimizer = t.optim.Adam(module.parameters(), lr=1e-3, fused=True, capturable=True)

    def step() -> Any:
        loss = t.nn.functional.cross_entropy(module(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return {"step": step, "losses": [step().item() for _ in range(COMPARED_STEPS)]}


add_case(
    "cuda-train",
    "MLP 784-256-256-10, batch 64, Adam",
    perceptron,
    "step()",
    check="losses",
    timer="steps",
    calls=size(100, 2),
)
