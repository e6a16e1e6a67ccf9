"""Logs for TensorBoard, into a temporary folder."""

import atexit
import importlib
import tempfile
from typing import Any

from benchmarks.case import Namespace, add_case


def logging(t: Any) -> Namespace:
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    tensorboard = importlib.import_module(f"{t.__name__}.utils.tensorboard")
    return {
        "writer": tensorboard.SummaryWriter(folder.name),
        "loss": t.tensor(0.5),
        "weights": t.linspace(-1, 1, 10_000),
        "picture": t.linspace(0, 1, 3 * 64 * 64).reshape(3, 64, 64),
    }


add_case("logging", "a number", logging, "writer.add_scalar('loss', 0.5, 1)")
add_case("logging", "a tensor of one number", logging, "writer.add_scalar('loss', loss, 1)")
add_case("logging", "a picture of 64×64", logging, "writer.add_image('picture', picture, 1)")
add_case("logging", "a histogram of 10^4", logging, "writer.add_histogram('weights', weights, 1)")
