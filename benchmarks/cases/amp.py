"""Mixed precision: training steps in bfloat16, a scaler of gradients, and what a region costs."""

from collections.abc import Callable
from typing import Any

from benchmarks.case import Namespace, add_case

GROUP = "amp"
LARGE = [(1000, 1000)] * 10


def perceptron(t: Any) -> Any:
    nn = t.nn
    hidden = (nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU())
    module = nn.Sequential(*hidden, nn.Linear(512, 10))
    x, y = t.randn(128, 784), t.randint(0, 10, (128,))
    return module, lambda: nn.functional.cross_entropy(module(x), y)


def convolutional(t: Any) -> Any:
    nn = t.nn
    first = (nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU())
    second = (nn.Conv2d(32, 64, 3, padding=1, stride=2), nn.BatchNorm2d(64), nn.ReLU())
    last = (nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    module = nn.Sequential(*first, *second, *last, nn.Linear(64, 10))
    x, y = t.randn(16, 3, 32, 32), t.randint(0, 10, (16,))
    return module, lambda: nn.functional.cross_entropy(module(x), y)


def transformer(t: Any) -> Any:
    module = t.nn.TransformerEncoderLayer(256, 8, 1024, dropout=0.0, batch_first=True)
    x = t.randn(8, 64, 256)
    return module, lambda: module(x).square().mean()


def recurrent(kind: str) -> Callable[[Any], Any]:
    def make(t: Any) -> Any:
        module = getattr(t.nn, kind)(64, 128, batch_first=True)
        x = t.randn(16, 32, 64)
        return module, lambda: module(x)[0].float().square().mean()

    return make


def tiny(t: Any) -> Any:
    module = t.nn.Sequential(t.nn.Linear(16, 32), t.nn.ReLU(), t.nn.Linear(32, 4))
    x, y = t.randn(8, 16), t.randint(0, 4, (8,))
    return module, lambda: t.nn.functional.cross_entropy(module(x), y)


def training(make: Callable[[Any], Any], scaled: bool = False) -> Callable[[Any], Namespace]:
    """Names for `step()`: forward and loss in a region of bfloat16, backward, and SGD."""

    def prepare(t: Any) -> Namespace:
        t.manual_seed(0)
        module, loss_of_batch = make(t)
        optimizer = t.optim.SGD(module.parameters(), lr=1e-3)
        scaler = t.amp.GradScaler("cpu", init_scale=256.0, enabled=scaled)

        def step() -> None:
            optimizer.zero_grad()
            with t.autocast("cpu", dtype=t.bfloat16):
                loss = loss_of_batch()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()

        return {"step": step}

    return prepare


for name, make in {
    "MLP 784-512-512-10, batch 128": perceptron,
    "three convolutions, batch 16": convolutional,
    "transformer layer of 256, batch 8 x 64": transformer,
    "LSTM 64-128, batch 16 x 32": recurrent("LSTM"),
    "GRU 64-128, batch 16 x 32": recurrent("GRU"),
    "MLP 16-32-4, batch 8": tiny,
}.items():
    add_case(GROUP, f"step in bfloat16: {name}", training(make), "step()")
add_case(GROUP, "the same with a GradScaler", training(tiny, scaled=True), "step()")


def gradients(t: Any) -> Namespace:
    grads = [t.randn(shape) for shape in LARGE]
    return {"t": t, "grads": grads, "found": t.zeros(()), "one": t.ones(())}


add_case(
    GROUP,
    "gradients of 10^7 parameters scaled back",
    gradients,
    "t._amp_foreach_non_finite_check_and_unscale_(grads, found, one)",
)


def region(t: Any) -> Namespace:
    x = t.randn(4, 4)
    source = "def run():\n    with t.autocast('cpu'):\n        x + x"
    names = {"t": t, "x": x}
    exec(source, names)
    return names


add_case(GROUP, "a region around one operator", region, "run()")
