"""Linear layers, tiny and large, and clipping of the gradients of many small parameters."""

import functools
from typing import Any

from benchmarks.case import Namespace, add_case


def layer(t: Any, rows: int, inputs: int, outputs: int) -> Namespace:
    t.manual_seed(0)
    x = t.randn(rows, inputs, requires_grad=True)
    module = t.nn.Linear(inputs, outputs)
    return {"x": x, "layer": module, "grad": t.randn(rows, outputs)}


def sixty_gradients(t: Any) -> Namespace:
    t.manual_seed(0)
    parameters = [t.randn(8, 16, requires_grad=True) for _ in range(60)]
    for p in parameters:
        p.grad = t.randn(8, 16)
    return {"clip": t.nn.utils.clip_grad_norm_, "parameters": parameters}


# Batches of one row (a policy that is asked again and again), of small networks, and of large ones.
for sizes in (
    (1, 4, 16),
    (4, 8, 16),
    (32, 64, 64),
    (64, 784, 256),
    (512, 1024, 1024),
    (2048, 384, 1536),
):
    name = " x ".join(map(str, sizes))
    make = functools.partial(layer, rows=sizes[0], inputs=sizes[1], outputs=sizes[2])
    add_case("nn-linear", f"linear  [{name}]", make, "layer(x)")
    add_case("nn-linear", f"linear, fwd+bwd  [{name}]", make, "layer(x).backward(grad)")
add_case("nn-linear", "clip_grad_norm_  [60 x 128]", sixty_gradients, "clip(parameters, 1.0)")
