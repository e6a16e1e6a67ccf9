"""Known networks for images of 224 x 224: training steps, and one image in evaluation."""

from collections.abc import Callable
from typing import Any

from benchmarks.case import Namespace, add_case
from benchmarks.networks import NETWORKS, Network, images, training_program
from benchmarks.training import training_step

# With the usual rates the losses of deep networks diverge from the third step on, also of two runs
# in float64 whose images differ in the seventh digit.
OPTIMIZER = "small momentum"


def _training(network: Network) -> Callable[[Any], Namespace]:
    def prepare(t: Any) -> Namespace:
        t.manual_seed(0)
        return training_step(t, training_program(t, network), OPTIMIZER)

    return prepare


def _inference(network: Network) -> Callable[[Any], Namespace]:
    def prepare(t: Any) -> Namespace:
        t.manual_seed(0)
        module = network.make(t).eval()
        *_, head = (each for each in module.modules() if isinstance(each, t.nn.Linear))
        t.nn.init.normal_(head.weight)  # some begin as zeros and hide what is before
        x = images(t, 1)

        def infer() -> Any:
            with t.inference_mode():
                return module(x)

        return {"infer": infer, "norm": infer().norm().item()}

    return prepare


for each in NETWORKS:
    add_case(
        "networks-train",
        f"{each.title}, batch {each.batch}, SGD momentum",
        _training(each),
        "step()",
        check="losses",
    )
    add_case("networks-infer", each.title, _inference(each), "infer()", check="[norm]")
