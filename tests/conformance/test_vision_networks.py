"""Every network against torchvision's: states, initial weights of a seed, results, gradients."""

from __future__ import annotations

import contextlib
import functools
import importlib
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
import torch

import flambeau
from flambeau.vision import models as ours
from tests.conformance import vision_oracle
from tests.vision.test_facts import FACTS

theirs = vision_oracle.load("models")
LIGHT = 30_000_000  # parameters; of larger networks the state is compared, without its elements
# Detectors are compared by a test of their own.
NAMES = [name for name, fact in FACTS.items() if fact["package"] != "detection"]


def _made(package: Any, name: str, **options: Any) -> Any:
    if FACTS[name]["package"] in ("detection", "segmentation"):
        options["weights_backbone"] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about initial weights that will change some day
        return package.get_model(name, **options)


@contextlib.contextmanager
def _without_elements(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Models on the device meta; torchvision computes the widths of RegNets with tensors."""
    params = vision_oracle.load("models.regnet").BlockParams
    made = params.from_init_params

    @functools.wraps(made)
    def on_cpu(*args: Any, **kwargs: Any) -> Any:
        with torch.device("cpu"):
            return made(*args, **kwargs)

    monkeypatch.setattr(params, "from_init_params", on_cpu)
    with flambeau.device("meta"), torch.device("meta"):
        yield


@pytest.mark.parametrize("name", list(FACTS))
def test_state(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names and shapes."""
    with _without_elements(monkeypatch):
        states = [_made(package, name).state_dict() for package in (ours, theirs)]
    shapes = [{key: tuple(value.shape) for key, value in state.items()} for state in states]
    assert list(shapes[0].items()) == list(shapes[1].items())
    types = [[str(value.dtype).partition(".")[2] for value in state.values()] for state in states]
    assert types[0] == types[1]


def _pair(name: str, **options: Any) -> list[Any]:
    flambeau.manual_seed(7)
    torch.manual_seed(7)
    return [_made(package, name, **options) for package in (ours, theirs)]


def _inputs(name: str, batch: int = 1) -> list[np.ndarray]:
    _, *shape = (int(side) for side in FACTS[name]["input"].split("x"))
    if name == "inception_v3" and batch > 1:  # the auxiliary classifier fits one size
        shape = [3, 299, 299]
    rng = np.random.default_rng(0)
    count = 2 if FACTS[name]["package"] == "optical_flow" else 1
    return [rng.standard_normal((batch, *shape), dtype=np.float32) for _ in range(count)]


def _parts(result: Any) -> dict[str, Any]:
    """A result as tensors with names."""
    if isinstance(result, Mapping):
        return dict(result)
    if hasattr(result, "_asdict"):
        return result._asdict()  # type: ignore[no-any-return]
    return dict(enumerate(result)) if isinstance(result, list) else {"": result}  # type: ignore[dict-item]


def _close(actual: Any, expected: Any, within: float, key: str = "") -> None:
    """Compare by the size of the largest element: sums of many products are rounded apart."""
    scale = max(np.abs(expected).max(initial=0), 1e-3)
    np.testing.assert_allclose(actual / scale, expected / scale, atol=within, err_msg=key)


def _compare(results: list[Any], within: float = 2e-4) -> None:
    parts = [_parts(result) for result in results]
    assert list(parts[0]) == list(parts[1])
    for key, expected in parts[1].items():
        _close(parts[0][key].detach().numpy(), expected.detach().numpy(), within, key)


@pytest.mark.parametrize("name", [n for n in NAMES if int(FACTS[n]["parameters"]) < LIGHT])
def test_initial_weights_and_results(name: str) -> None:
    pair = _pair(name)
    states = [model.eval().state_dict() for model in pair]
    for key, value in states[1].items():
        np.testing.assert_allclose(
            states[0][key].numpy(), value.numpy(), rtol=1e-6, atol=1e-7, err_msg=key
        )
    images = _inputs(name)
    with flambeau.no_grad(), torch.no_grad():
        mine = pair[0](*map(flambeau.from_numpy, images))
        other = pair[1](*map(torch.from_numpy, images))
    _compare([mine, other])


TRAINED: list[tuple[str, dict[str, Any]]] = [
    ("resnet18", {}),
    ("densenet121", {"drop_rate": 0.1}),
    ("googlenet", {"init_weights": True}),
    ("inception_v3", {"init_weights": True}),
    ("mobilenet_v3_small", {}),
    ("shufflenet_v2_x0_5", {}),
    ("efficientnet_b0", {}),
    ("convnext_tiny", {"stochastic_depth_prob": 0.5}),
    ("swin_t", {}),
    ("swin_v2_t", {}),
    ("regnet_y_400mf", {}),
    ("deeplabv3_mobilenet_v3_large", {"aux_loss": True}),
    ("lraspp_mobilenet_v3_large", {}),
    ("mc3_18", {}),
    ("swin3d_t", {}),
    ("raft_small", {}),
]


@pytest.mark.parametrize(("name", "options"), TRAINED, ids=[name for name, _ in TRAINED])
def test_training(name: str, options: dict[str, Any]) -> None:
    """Results in training, with what is drawn there, and the gradients of all parameters."""
    # Statistics of few pixels are ill-conditioned: double precision, but where torchvision has
    # coordinates in single.
    single = FACTS[name]["package"] == "optical_flow"
    within = 5e-3 if single else 1e-7
    pair = [model.train() if single else model.train().double() for model in _pair(name, **options)]
    images = [each if single else each.astype(np.float64) for each in _inputs(name, batch=4)]
    results = []
    for model, package in zip(pair, (flambeau, torch), strict=True):
        package.manual_seed(3)
        result = model(*map(package.from_numpy, images))
        sum((part * part).mean() for part in _parts(result).values()).backward()
        results.append(result)
    assert type(results[0]).__name__ == type(results[1]).__name__
    _compare(results, within)
    gradients = [
        {key: p.grad.numpy() for key, p in model.named_parameters() if p.grad is not None}
        for model in pair
    ]
    assert list(gradients[0]) == list(gradients[1])
    total = np.sqrt(sum(np.linalg.norm(gradient) ** 2 for gradient in gradients[1].values()))
    for key, expected in gradients[1].items():
        assert np.linalg.norm(gradients[0][key] - expected) <= within * total, key


def test_a_checkpoint_of_the_first_mnasnet() -> None:
    """It had a stem that was not scaled."""
    mine, other = _pair("mnasnet0_5")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        mine._fb_unscale_stem()
    state = OrderedDict((k, torch.from_numpy(v.numpy())) for k, v in mine.state_dict().items())
    state._metadata = mine.state_dict()._metadata  # type: ignore[attr-defined]
    with pytest.warns(UserWarning, match="A new version of MNASNet"):
        other.load_state_dict(state)
    again = _made(ours, "mnasnet0_5")
    with pytest.warns(UserWarning, match="A new version of MNASNet"):
        again.load_state_dict(mine.state_dict())
    (image,) = _inputs("mnasnet0_5")
    with flambeau.no_grad(), torch.no_grad():
        results = again.eval()(flambeau.from_numpy(image)), other.eval()(torch.from_numpy(image))
    _compare(list(results))


@pytest.mark.parametrize("reset", [False, True])
def test_places_of_another_size(reset: bool) -> None:
    options = {"image_size": 32, "num_layers": 1, "num_heads": 2, "hidden_dim": 8, "mlp_dim": 8}
    flambeau.manual_seed(0)
    torch.manual_seed(0)
    states = [
        package.vision_transformer.interpolate_embeddings(
            48,
            8,
            package.VisionTransformer(patch_size=8, **options).state_dict(),
            reset_heads=reset,
        )
        for package in (ours, theirs)
    ]
    assert list(states[0]) == list(states[1])
    for key, value in states[1].items():
        np.testing.assert_allclose(states[0][key].numpy(), value.numpy(), atol=1e-6)


def test_a_stem_of_convolutions() -> None:
    models = []
    for package, t in ((ours, flambeau), (theirs, torch)):
        t.manual_seed(0)
        stem = [package.vision_transformer.ConvStemConfig(4, 3, 2) for _ in range(3)]
        models.append(
            package.VisionTransformer(32, 8, 1, 2, 8, 8, num_classes=3, conv_stem_configs=stem)
        )
    for (key, value), (name, expected) in zip(
        models[0].state_dict().items(), models[1].state_dict().items(), strict=True
    ):
        assert key == name
        np.testing.assert_allclose(value.numpy(), expected.numpy(), atol=1e-6)
    assert models[0](flambeau.randn(1, 3, 32, 32)).shape == (1, 3)


@pytest.mark.parametrize("name", ["SemanticSegmentation", "VideoClassification", "OpticalFlow"])
def test_preparation(name: str) -> None:
    presets = [
        importlib.import_module("flambeau.vision.transforms._presets"),
        vision_oracle.load("transforms._presets"),
    ]
    settings: dict[str, Any] = {
        "SemanticSegmentation": {"resize_size": 30},
        "VideoClassification": {"crop_size": (24, 24), "resize_size": (28, 34)},
        "OpticalFlow": {},
    }[name]
    pixels = np.random.default_rng(0).integers(0, 256, (2, 3, 40, 50), dtype=np.uint8)
    images = [pixels, pixels] if name == "OpticalFlow" else [pixels]
    mine, other = (getattr(package, name)(**settings) for package in presets)
    assert repr(mine) == repr(other)
    results = mine(*map(flambeau.from_numpy, images)), other(*map(torch.from_numpy, images))
    # A byte may be rounded to the next one when images are resized.
    _compare(
        [r if isinstance(r, torch.Tensor | flambeau.Tensor) else list(r) for r in results], 0.02
    )
