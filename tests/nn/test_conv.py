"""Convolutions as users meet them: layouts, gradients, state, refusals."""

import copy
import ctypes
import pickle

import numpy as np
import pytest

import flambeau as fb
from flambeau import nn
from flambeau.nn import functional as F


def direct(x, w, stride=1, padding=0):
    """A convolution by its definition, in float64."""
    x = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (padding,) * 2, (padding,) * 2])
    height, width = ((n - k) // stride + 1 for n, k in zip(x.shape[2:], w.shape[2:], strict=True))
    out = np.zeros((x.shape[0], w.shape[0], height, width))
    for i in range(height):
        for j in range(width):
            window = x[:, :, i * stride :, j * stride :][:, :, : w.shape[2], : w.shape[3]]
            out[:, :, i, j] = np.einsum("ncij,ocij->no", window, w)
    return out


@pytest.fixture(autouse=True)
def seed():
    fb.manual_seed(0)


def test_value_of_a_known_convolution():
    x = fb.arange(9.0).reshape(1, 1, 3, 3)
    w = fb.tensor([[[[1.0, 0.0], [0.0, -1.0]]]])
    assert F.conv2d(x, w).tolist() == [[[[-4.0, -4.0], [-4.0, -4.0]]]]
    assert F.conv2d(x, w, fb.tensor([4.0])).tolist() == [[[[0.0, 0.0], [0.0, 0.0]]]]
    assert F.conv_transpose2d(fb.ones(1, 1, 1, 1), w).tolist() == w.tolist()


@pytest.mark.parametrize("channels", [1, 3, 8, 16, 33])
@pytest.mark.parametrize("stride", [1, 2])
def test_against_the_definition(channels, stride):
    x, w = fb.randn(2, channels, 12, 11), fb.randn(9, channels, 3, 3)
    expected = direct(x.numpy(), w.numpy(), stride, 1)
    np.testing.assert_allclose(F.conv2d(x, w, None, stride, 1).numpy(), expected, 1e-4, 1e-4)


def test_results_look_contiguous():
    y = nn.Conv2d(3, 8, 3)(fb.randn(2, 3, 9, 9))
    assert y.is_contiguous()
    assert y.stride() == (392, 49, 7, 1)
    assert y.view(2, -1).shape == (2, 392)
    z = nn.Conv2d(8, 4, 3)(y.relu())
    assert z.is_contiguous()
    np.testing.assert_array_equal(z.detach().numpy().ravel(), z.detach().flatten().numpy())


def test_channels_last_stays_visible():
    x = fb.randn(2, 3, 9, 9).to(memory_format=fb.channels_last)
    y = nn.Conv2d(3, 8, 3)(x)
    assert y.is_contiguous(memory_format=fb.channels_last)
    assert not y.is_contiguous()
    w = fb.randn(8, 3, 3, 3).to(memory_format=fb.channels_last)
    assert F.conv2d(x.contiguous(), w).stride() == (392, 1, 56, 8)


def test_gradients_look_as_their_tensors_do():
    x, m = fb.randn(2, 3, 9, 9, requires_grad=True), nn.Conv2d(3, 8, 3)
    m(x).square().sum().backward()
    assert x.grad.is_contiguous()
    assert m.weight.grad.is_contiguous()
    assert m.weight.grad.shape == (8, 3, 3, 3)
    assert m.bias.grad.shape == (8,)
    (grad,) = fb.autograd.grad(m(x), x, fb.randn(2, 8, 7, 7))
    assert grad.stride() == x.stride()


def everything(x, w, b, gradient, **arguments):
    """The result of a convolution and all its gradients."""
    inputs = [t.detach().clone().requires_grad_() for t in (x, w, b)]
    y = F.conv2d(*inputs, **arguments)
    return [y, *fb.autograd.grad(y, inputs, gradient)]


@pytest.mark.parametrize(
    ("sizes", "kernels", "arguments"),
    [
        # Each of these takes another way through the kernels.
        ((4, 32, 21, 18), (48, 32, 3, 3), {"padding": 0}),
        ((4, 32, 21, 18), (48, 32, 3, 3), {"padding": 1}),
        ((4, 32, 21, 18), (48, 32, 3, 3), {"padding": (2, 1)}),
        ((5, 64, 16, 19), (32, 64, 3, 3), {"padding": 1}),
        ((4, 32, 21, 18), (48, 32, 3, 3), {"stride": 2}),
        ((4, 32, 21, 18), (48, 16, 3, 3), {"groups": 2, "padding": 1}),
        ((4, 32, 21, 18), (32, 1, 3, 3), {"groups": 32, "padding": 1}),
        ((4, 32, 21, 18), (48, 32, 1, 1), {}),
        ((4, 32, 21, 18), (48, 32, 1, 1), {"stride": 2}),
        ((9, 3, 32, 31), (16, 3, 7, 7), {"stride": 2, "padding": 3}),
        ((9, 1, 28, 28), (6, 1, 5, 5), {}),
        ((9, 6, 14, 14), (16, 6, 5, 5), {"dilation": 2}),
    ],
)
def test_every_kernel_against_double_precision(sizes, kernels, arguments):
    x, w, b = fb.randn(sizes), fb.randn(kernels), fb.randn(kernels[0])
    gradient = fb.randn(F.conv2d(x, w, b, **arguments).shape)
    exact = everything(x.double(), w.double(), b.double(), gradient.double(), **arguments)
    for layout in (fb.contiguous_format, fb.channels_last):
        images = (t.contiguous(memory_format=layout) for t in (x, gradient))
        x, gradient = images
        for mine, expected in zip(everything(x, w, b, gradient, **arguments), exact, strict=True):
            mine, expected = mine.detach().numpy(), expected.detach().numpy()
            np.testing.assert_allclose(mine, expected, 0, 1e-5 * np.abs(expected).max())


@pytest.mark.parametrize(("channels", "size"), [(16, 8), (32, 34)])
def test_a_step_of_training_changes_what_comes_next(channels, size):
    """Weights that a kernel has packed are packed anew after a change, whoever makes it."""
    m, x = nn.Conv2d(channels, channels, 3), fb.randn(1, channels, size, size)
    kept = []
    with fb.no_grad():
        for change in (
            lambda w: w.mul_(2),
            lambda w: w.data.mul_(2),
            lambda w: w.copy_(fb.randn(w.shape)),
            lambda w: kept.append(w.data),
            lambda w: kept[0].mul_(2),
            lambda w: kept.clear(),
            lambda w: ctypes.memset(w.data_ptr(), 0, 4),
            lambda w: np.multiply(w.detach().numpy(), 3, out=w.detach().numpy()),
            lambda w: w.set_(fb.randn(w.shape)),
        ):
            m(x), m(x), m(x)
            change(m.weight)
            expected = direct(x.numpy(), m.weight.numpy()) + m.bias.numpy()[:, None, None]
            np.testing.assert_allclose(m(x).numpy(), expected, 0, 1e-5 * np.abs(expected).max())


def test_new_weights_in_old_memory():
    x = fb.randn(1, 16, 8, 8)
    for _ in range(5):
        w = fb.randn(16, 16, 3, 3)
        for _ in range(3):
            np.testing.assert_allclose(
                F.conv2d(x, w).numpy(), direct(x.numpy(), w.numpy()), 1e-4, 1e-4
            )
        del w


def test_weight_gradient_of_many_samples():
    x, w = fb.randn(70, 2, 6, 6), fb.randn(3, 2, 3, 3, requires_grad=True)
    F.conv2d(x, w).sum().backward()
    windows = sum(x[:, :, i : i + 4, j : j + 4].sum((0, 2, 3)) for i in range(1) for j in range(1))
    np.testing.assert_allclose(w.grad[0, :, 0, 0].numpy(), windows.numpy(), 1e-4, 1e-4)


def test_second_derivatives():
    x = fb.randn(1, 2, 5, 5, dtype=fb.float64, requires_grad=True)
    w = fb.randn(3, 2, 3, 3, dtype=fb.float64, requires_grad=True)
    b = fb.randn(3, dtype=fb.float64, requires_grad=True)
    assert fb.autograd.gradgradcheck(lambda *a: F.conv2d(*a, padding=1), (x, w, b))
    y = F.conv2d(x, w).square().sum()
    (g,) = fb.autograd.grad(y, x, create_graph=True)
    (h,) = fb.autograd.grad(g.square().sum(), w, create_graph=True)
    (third,) = fb.autograd.grad(h.sum(), x)
    assert third.shape == x.shape


def test_names_in_the_graph():
    x, w = fb.randn(1, 2, 5, 5, requires_grad=True), fb.randn(3, 2, 3, 3)
    assert F.conv2d(x, w).grad_fn.name() == "ConvolutionBackward0"
    assert F.conv2d(x, w, padding="same").grad_fn.name() == "ConvolutionBackward0"
    assert F.conv_transpose2d(x, w.transpose(0, 1)).grad_fn.name() == "ConvolutionBackward0"
    assert F.conv2d(x[0], w).grad_fn.name() == "SqueezeBackward1"


def test_no_thread_or_batch_changes_a_result():
    x, w = fb.randn(8, 16, 20, 20), fb.randn(16, 16, 3, 3)
    whole = F.conv2d(x, w, padding=1)
    threads = fb.get_num_threads()
    try:
        fb.set_num_threads(1)
        alone = F.conv2d(x, w, padding=1)
    finally:
        fb.set_num_threads(threads)
    np.testing.assert_allclose(whole.numpy(), alone.numpy(), 1e-5, 1e-5)
    np.testing.assert_allclose(
        whole[3:4].numpy(), F.conv2d(x[3:4], w, padding=1).numpy(), 1e-5, 1e-5
    )


@pytest.mark.usefixtures("restored_threads")
@pytest.mark.parametrize(
    ("images", "kernels", "stride"),
    [
        ((1, 64, 28, 28), (64, 64, 3, 3), 1),  # fewer blocks of tiles than threads
        ((8, 64, 16, 16), (96, 64, 3, 3), 1),
        ((16, 128, 8, 8), (128, 128, 3, 3), 1),
        ((1, 256, 14, 14), (192, 256, 3, 3), 1),  # windows of one image at once
        ((1, 320, 7, 7), (128, 320, 5, 5), 1),
        ((1, 512, 14, 14), (256, 512, 1, 1), 1),
        ((64, 128, 8, 8), (256, 128, 3, 3), 2),  # a gradient from all windows at once
        ((64, 256, 8, 8), (512, 256, 1, 1), 2),
    ],
)
def test_result_does_not_depend_on_the_number_of_threads(images, kernels, stride):
    x, w = fb.randn(*images), fb.randn(*kernels) * 0.1
    padding = kernels[-1] // 2
    results = []
    for count in (1, 2, 3, 8):
        fb.set_num_threads(count)
        a, b = x.clone().requires_grad_(), w.clone().requires_grad_()
        y = F.conv2d(a, b, stride=stride, padding=padding)
        y.square().sum().backward()
        results.append((y.detach(), a.grad, b.grad))
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            assert fb.equal(one, two)
    a, b = x.double().requires_grad_(), w.double().requires_grad_()
    y = F.conv2d(a, b, stride=stride, padding=padding)
    y.square().sum().backward()
    for found, wanted in zip(results[0], (y.detach(), a.grad, b.grad), strict=True):
        scale = wanted.abs().max().item()
        np.testing.assert_allclose(found.numpy() / scale, wanted.numpy() / scale, 0, 1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision(dtype):
    dtype = getattr(fb, dtype)
    x, w = fb.randn(2, 8, 9, 9), fb.randn(6, 8, 3, 3)
    y = F.conv2d(x.to(dtype), w.to(dtype))
    assert y.dtype == dtype
    np.testing.assert_allclose(y.float().numpy(), F.conv2d(x, w).numpy(), 5e-2, 5e-1)


def test_repr():
    assert repr(nn.Conv2d(3, 6, 5)) == "Conv2d(3, 6, kernel_size=(5, 5), stride=(1, 1))"
    full = nn.Conv2d(4, 6, 5, 2, 1, 3, 2, False, "reflect")
    assert repr(full) == (
        "Conv2d(4, 6, kernel_size=(5, 5), stride=(2, 2), padding=(1, 1), dilation=(3, 3), "
        "groups=2, bias=False, padding_mode=reflect)"
    )
    assert "padding=same" in repr(nn.Conv1d(3, 6, 5, padding="same"))
    assert "output_padding=(1,)" in repr(nn.ConvTranspose1d(3, 6, 5, 2, output_padding=1))
    assert repr(nn.LazyConv2d(4, 3)) == "LazyConv2d(0, 4, kernel_size=(3, 3), stride=(1, 1))"


def test_copies_and_pickles():
    m, x = nn.Conv2d(3, 4, 3), fb.randn(1, 3, 5, 5)
    for other in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert fb.equal(other(x), m(x))
        assert other.padding_mode == "zeros"


@pytest.mark.parametrize(
    ("lazy", "shape", "becomes"),
    [
        (lambda: nn.LazyConv1d(4, 3), (2, 6, 9), nn.Conv1d),
        (lambda: nn.LazyConv2d(4, 3, groups=2), (2, 6, 9, 9), nn.Conv2d),
        (lambda: nn.LazyConv3d(4, 3), (2, 6, 5, 5, 5), nn.Conv3d),
        (lambda: nn.LazyConvTranspose1d(4, 3), (2, 6, 9), nn.ConvTranspose1d),
        (lambda: nn.LazyConvTranspose2d(4, 3, groups=2), (2, 6, 9, 9), nn.ConvTranspose2d),
        (lambda: nn.LazyConvTranspose3d(4, 3), (6, 5, 5, 5), nn.ConvTranspose3d),
    ],
)
def test_lazy_layers(lazy, shape, becomes):
    m = lazy()
    fb.manual_seed(3)
    y = m(fb.zeros(shape))
    assert type(m) is becomes
    assert m.in_channels == 6
    fb.manual_seed(3)
    same = becomes(6, 4, 3, groups=m.groups)
    assert fb.equal(m.weight, same.weight)
    assert y.shape == same(fb.zeros(shape)).shape


def test_output_size_of_a_transpose():
    m, x = nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1), fb.randn(2, 3, 5, 5)
    assert m(x).shape == (2, 4, 9, 9)
    assert m(x, output_size=(10, 9)).shape == (2, 4, 10, 9)
    assert m(x, output_size=fb.Size((2, 4, 10, 10))).shape == (2, 4, 10, 10)
    with pytest.raises(ValueError, match=r"output_size \(11, 9\) must lie between \(9, 9\)"):
        m(x, output_size=(11, 9))
    with pytest.raises(ValueError, match="must have 2 or 4 elements"):
        m(x, output_size=(9,))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nn.Conv2d(3, 4, 3, groups=2), "in_channels = 3 must be divisible by groups = 2"),
        (lambda: nn.Conv2d(4, 3, 3, groups=2), "out_channels = 3 must be divisible by groups = 2"),
        (lambda: nn.Conv2d(4, 4, 3, groups=0), "groups must be at least 1, got 0"),
        (lambda: nn.Conv2d(4, 4, 3, padding="full"), "got 'full'"),
        (lambda: nn.Conv2d(4, 4, 3, padding="same", stride=2), r"needs stride 1, got \(2, 2\)"),
        (lambda: nn.Conv2d(4, 4, 3, padding_mode="mirror"), "got 'mirror'"),
        (lambda: nn.ConvTranspose2d(4, 4, 3, padding_mode="reflect"), "'zeros' only"),
    ],
)
def test_layers_refuse(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_wrong_input_of_a_layer():
    m = nn.Conv2d(3, 4, 3)
    with pytest.raises(RuntimeError, match=r"expects input with 3 channels, got \(2, 4, 9, 9\)"):
        m(fb.randn(2, 4, 9, 9))
    with pytest.raises(RuntimeError, match=r"input is .*float64, weight is .*float32"):
        m(fb.randn(2, 3, 9, 9, dtype=fb.float64))
    with pytest.raises(RuntimeError, match=r"spans 3 elements along dimension 3, .* has 2"):
        m(fb.randn(2, 3, 9, 2))


def test_the_smallest_network_learns():
    """A kernel is found again from what it does."""
    target, m = fb.randn(2, 1, 3, 3), nn.Conv2d(1, 2, 3, bias=False)
    x = fb.randn(32, 1, 8, 8)
    for _ in range(60):
        loss = (m(x) - F.conv2d(x, target)).square().mean()
        loss.backward()
        with fb.no_grad():
            m.weight -= 0.1 * m.weight.grad
        m.weight.grad = None
    np.testing.assert_allclose(m.weight.detach().numpy(), target.numpy(), atol=1e-2)


def test_fold_is_the_adjoint_of_unfold():
    x = fb.randn(2, 3, 6, 7, dtype=fb.float64)
    columns = F.unfold(x, (2, 3), padding=1, stride=2)
    other = fb.randn(columns.shape, dtype=fb.float64)
    back = F.fold(other, (6, 7), (2, 3), padding=1, stride=2)
    np.testing.assert_allclose((columns * other).sum().item(), (x * back).sum().item(), 1e-10)


def test_convolution_by_unfolding():
    x, w = fb.randn(2, 3, 9, 8), fb.randn(4, 3, 3, 2)
    product = w.view(4, -1) @ F.unfold(x, (3, 2))
    y = F.fold(product, (7, 7), 1)
    np.testing.assert_allclose(y.numpy(), F.conv2d(x, w).numpy(), 1e-4, 1e-4)


def test_fold_layers():
    assert repr(nn.Unfold(3)) == "Unfold(kernel_size=3, dilation=1, padding=0, stride=1)"
    fold = nn.Fold((4, 5), 2)
    assert repr(fold) == "Fold(output_size=(4, 5), kernel_size=2, dilation=1, padding=0, stride=1)"
    counts = fold(nn.Unfold(2)(fb.ones(1, 1, 4, 5)))
    assert counts[0, 0, 1:3, 1:4].eq(4).all()
    assert counts[0, 0, 0, 0] == 1


@pytest.mark.parametrize("channels", [1, 3, 6, 8])
@pytest.mark.parametrize(
    ("kernel", "stride", "padding", "dilation"),
    [(5, 1, 0, 1), (3, 1, 1, 1), (3, 2, 1, 1), (2, 3, 0, 1), ((3, 5), (2, 1), (0, 2), (2, 1))],
)
def test_gradient_of_an_image_of_few_channels(channels, kernel, stride, padding, dilation):
    x = fb.randn(3, channels, 13, 17, dtype=fb.float64, requires_grad=True)
    w = fb.randn(16, channels, *((kernel, kernel) if isinstance(kernel, int) else kernel)).double()
    out = F.conv2d(x, w, None, stride, padding, dilation)
    back = fb.randn_like(out)
    (exact,) = fb.autograd.grad(out, x, back)
    single = x.detach().float().requires_grad_()
    out = F.conv2d(single, w.float(), None, stride, padding, dilation)
    (grad,) = fb.autograd.grad(out, single, back.float())
    fb.testing.assert_close(grad.double(), exact, rtol=1e-5, atol=1e-4)
