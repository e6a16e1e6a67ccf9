"""Deferred layouts of images: no program can tell, whatever it does with them."""

import threading

import numpy as np
import pytest

import flambeau as fb
from flambeau.nn import functional as F


def convolved(requires_grad: bool = False) -> fb.Tensor:
    """A tensor whose elements lie channels last, though its dimensions say otherwise."""
    fb.manual_seed(0)
    x = fb.randn(2, 3, 6, 7, requires_grad=requires_grad)
    return F.conv2d(x, fb.randn(8, 3, 3, 3), padding=1)


EXPECTED = convolved().numpy().copy()


def same(t: fb.Tensor, expected: np.ndarray) -> bool:
    return np.array_equal(t.numpy(), expected)


def test_strides_are_those_of_the_dimensions() -> None:
    y = convolved()
    assert y.is_contiguous()
    assert not y.is_contiguous(memory_format=fb.channels_last)
    assert y.stride() == (8 * 42, 42, 7, 1)
    assert y.contiguous() is y
    assert same(y, EXPECTED)


@pytest.mark.parametrize(
    "look",
    [
        lambda t: t.view(2, -1),
        lambda t: t.flatten(1),
        lambda t: t.reshape(-1),
        lambda t: t[1:, ::2],
        lambda t: t.permute(0, 2, 3, 1),
        lambda t: t.detach(),
        lambda t: t.data,
        lambda t: t.unbind(0)[1],
        lambda t: t.view_as(t),
        lambda t: t.as_strided((2, 2), (1, 2)),
        lambda t: t.expand(3, 2, 8, 6, 7),
    ],
)
def test_views_share_elements(look) -> None:
    """A write through a view is seen in the tensor, whichever was accessed first."""
    y = convolved()
    expected = fb.tensor(EXPECTED)
    assert same(look(y), look(expected).numpy())
    if look(y).numel() <= y.numel():
        look(y).zero_()
        look(expected).zero_()
    assert same(y, expected.numpy())


def test_indexed_writes() -> None:
    y, expected = convolved(), EXPECTED.copy()
    y[0, 1] = 3.0
    y[:, 2:4, 1] += 1
    expected[0, 1] = 3.0
    expected[:, 2:4, 1] += 1
    assert same(y, expected)


def test_results_of_kernels_follow() -> None:
    y = convolved()
    z = (y.relu() * 2 + y).clone()
    expected = np.maximum(EXPECTED, 0) * 2 + EXPECTED
    assert z.is_contiguous()
    assert same(z.view(-1), expected.reshape(-1))
    assert same(fb.cat([y, z], 1), np.concatenate([EXPECTED, expected], 1))
    assert same(fb.cat([convolved(), convolved()], 0), np.concatenate([EXPECTED] * 2))
    assert fb.zeros_like(convolved()).stride() == z.stride()


def test_what_was_saved_stays_valid() -> None:
    """Accessing a tensor between forward and backward changes nothing."""
    gradients = []
    for looks in (False, True):
        y = convolved(requires_grad=True)
        leaf = y.grad_fn.next_functions[0][0].variable
        z = y.relu()
        if looks:
            assert z.stride() == y.stride()
        (z * z).sum().backward()
        gradients.append(leaf.grad)
    assert gradients[0].is_contiguous()
    assert gradients[1].equal(gradients[0])


def test_changes_in_place_are_noticed() -> None:
    z = convolved(requires_grad=True).sigmoid()
    z.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_changes_after_a_look_do_not_reach_what_was_saved() -> None:
    """The elements have moved: backward has its own, and the gradient of the change is right."""
    y = convolved(requires_grad=True)
    z = y.sigmoid()
    z.view(2, -1)[0] = 0
    (gradient,) = fb.autograd.grad(z.sum(), y)
    expected = fb.tensor(EXPECTED).sigmoid()
    expected = expected * (1 - expected)
    expected[0] = 0
    assert fb.allclose(gradient, expected)


def test_formats_that_users_ask_for() -> None:
    x = convolved().to(memory_format=fb.channels_last)
    assert x.stride() == (8 * 42, 1, 56, 8)
    y = F.conv2d(x, fb.randn(4, 8, 1, 1))
    assert y.is_contiguous(memory_format=fb.channels_last)
    assert y.stride() == (4 * 42, 1, 28, 4)
    assert convolved().clone(memory_format=fb.contiguous_format).stride() == (336, 42, 7, 1)


def test_looking_while_another_thread_computes() -> None:
    fb.manual_seed(0)
    weight = fb.randn(16, 16, 3, 3)
    for _ in range(5):
        y = F.conv2d(fb.randn(4, 16, 32, 32), weight, padding=1)
        expected = y.clone().numpy()
        results: list[fb.Tensor] = []
        thread = threading.Thread(target=lambda y=y, r=results: r.extend(y + 0 for _ in range(20)))
        thread.start()
        flat = y.view(-1)
        thread.join()
        assert same(flat, expected.reshape(-1))
        assert len(results) == 20
        assert all(np.isfinite(r.numpy()).all() for r in results)
