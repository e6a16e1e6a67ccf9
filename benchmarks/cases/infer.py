"""One sample through a network in evaluation: a text for a GPT, a row for a perceptron."""

from collections.abc import Callable
from typing import Any

from benchmarks.case import Namespace, add_case
from benchmarks.cases import train_gpt, train_mlp

SIZES = (784, 512, 256, 10)


def evaluation(make: Callable[[Any], tuple[Any, Any]]) -> Callable[[Any], Namespace]:
    """`make(t)` gives a module and its input."""

    def prepare(t: Any) -> Namespace:
        t.manual_seed(0)
        module, x = make(t)
        module.eval()

        def infer() -> Any:
            with t.inference_mode():
                return module(x)

        return {"infer": infer, "norm": infer().norm().item()}

    return prepare


def gpt(t: Any) -> tuple[Any, Any]:
    module = train_gpt.network(t)
    return module, t.randint(0, train_gpt.VOCABULARY, (1, train_gpt.LENGTH))


def perceptron(t: Any) -> tuple[Any, Any]:
    return train_mlp.network(t, SIZES), t.randn(1, SIZES[0])


for name, make in (
    (f"GPT {train_gpt.LAYERS} x {train_gpt.WIDTH}, one text of {train_gpt.LENGTH} characters", gpt),
    (f"MLP {'-'.join(map(str, SIZES))}, one row", perceptron),
):
    add_case("infer", name, evaluation(make), "infer()", check="[norm]")
