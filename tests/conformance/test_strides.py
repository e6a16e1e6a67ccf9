"""The strides of results against torch, for inputs in every order of memory."""

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

import flambeau

SHAPES = [(2, 3, 4, 5), (1, 3, 4, 5), (2, 1, 4, 5), (2, 3, 1, 1), (2, 3, 1, 5), (0, 3, 4, 5)]
SHAPES += [(2, 3, 4, 5, 6), (2, 3, 4), (2, 1, 4), (3, 4), (1, 4), (3, 1), (0, 4)]


def counted(t: Any, *shape: int) -> Any:
    return t.arange(float(math.prod(shape))).reshape(shape)


def layouts(shape: tuple[int, ...]) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Tensors of one shape that lie in memory in different ways."""
    backwards, n = tuple(reversed(range(len(shape)))), len(shape)
    turned = tuple(reversed(shape))
    yield "contiguous", lambda t: counted(t, *shape)
    yield "every second", lambda t: counted(t, *shape[:-1], 2 * shape[-1])[..., ::2]
    yield "permuted", lambda t: counted(t, *turned).permute(backwards)
    yield (
        "permuted with gaps",
        lambda t: counted(t, *turned[:-1], 2 * turned[-1])[..., ::2].permute(backwards),
    )
    yield "half of the rows", lambda t: counted(t, 2 * shape[0], *shape[1:])[::2]
    yield "expanded", lambda t: counted(t, *shape[1:]).expand(shape)
    yield "expanded at the end", lambda t: counted(t, *shape[:-1], 1).expand(shape)
    if n in (4, 5):
        order = "channels_last" if n == 4 else "channels_last_3d"
        yield order, lambda t: counted(t, *shape).contiguous(memory_format=getattr(t, order))


LIKE_THE_INPUT: dict[str, Callable[[Any, Any], Any]] = {
    "clone": lambda t, x: x.clone(),
    "to": lambda t, x: x.to(t.float64),
    "bool": lambda t, x: x.bool(),
    "empty_like": lambda t, x: t.empty_like(x),
    "zeros_like": lambda t, x: t.zeros_like(x),
    "full_like": lambda t, x: t.full_like(x, 1.0),
    "rand_like": lambda t, x: t.rand_like(x),
    "flip": lambda t, x: x.flip(0),
}
OF_IMAGES: dict[str, Callable[[Any, Any], Any]] = {
    "nearest": lambda t, x: t.nn.functional.interpolate(x, size=(3, 3)),
    "bilinear": lambda t, x: t.nn.functional.interpolate(x, size=(3, 3), mode="bilinear"),
    "bicubic": lambda t, x: t.nn.functional.interpolate(x, size=(3, 3), mode="bicubic"),
    "area": lambda t, x: t.nn.functional.interpolate(x, size=(3, 3), mode="area"),
    "adaptive_avg_pool2d": lambda t, x: t.nn.functional.adaptive_avg_pool2d(x, 2),
    "adaptive_max_pool2d": lambda t, x: t.nn.functional.adaptive_max_pool2d(x, 2),
    "max_pool2d": lambda t, x: t.nn.functional.max_pool2d(x, 2, 1, 1),
    "avg_pool2d": lambda t, x: t.nn.functional.avg_pool2d(x, 2, 1, 1),
}
EQUATIONS = ["ij->ji", "ij,kj->ik", "ij,kj->ki", "ij,ij->i", "ij,jk->ki", "ij,kl->ikjl"]


def compare(call: Callable[[Any, Any], Any], shape: tuple[int, ...], seen: Any) -> None:
    for name, make in layouts(shape):
        try:
            theirs = call(torch, make(torch))
        except (RuntimeError, IndexError, ValueError):
            continue  # not for such shapes
        ours = call(flambeau, make(flambeau))
        what = f"{name} {shape}: {ours.stride()}, torch gives {theirs.stride()}"
        assert tuple(ours.shape) == tuple(theirs.shape), what
        assert seen(ours) == seen(theirs), what


def strides_of_elements(t: Any) -> list[int]:
    """Without dimensions of size 1, in which there is nowhere to go."""
    if t.numel() == 0:
        return []
    return [stride for stride, size in zip(t.stride(), t.shape, strict=True) if size != 1]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", LIKE_THE_INPUT)
def test_like_the_input(name: str, shape: tuple[int, ...]) -> None:
    compare(LIKE_THE_INPUT[name], shape, strides_of_elements)


def test_a_rolled_image_keeps_its_order() -> None:
    image = flambeau.ones(2, 3, 4, 5).to(memory_format=flambeau.channels_last)
    assert image.roll(1, 0).stride() == image.stride() == (60, 1, 15, 3)


@pytest.mark.parametrize("shape", [s for s in SHAPES if len(s) == 4], ids=str)
@pytest.mark.parametrize("name", OF_IMAGES)
def test_of_images(name: str, shape: tuple[int, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(OF_IMAGES[name], shape, strides_of_elements)


@pytest.mark.parametrize("shape", [(3, 4), (1, 4), (0, 4)], ids=str)
@pytest.mark.parametrize("equation", EQUATIONS)
def test_of_equations(equation: str, shape: tuple[int, ...]) -> None:
    """With axes that are summed over more than one place: of one, torch multiplies elements."""

    def call(t: Any, x: Any) -> Any:
        second = x.t() if ",jk" in equation else x
        return t.einsum(equation, *[x, second][: equation.count(",") + 1])

    compare(call, shape, strides_of_elements)
