"""Losses as users meet them."""

import math
import warnings

import numpy as np
import pytest

import flambeau as torch
import flambeau.nn.functional as F
from flambeau import nn
from flambeau.autograd import gradcheck, gradgradcheck
from flambeau.nn import _reduction


def randn(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


# --- cross entropy


def test_cross_entropy_is_nll_of_log_softmax():
    x, target = torch.randn(6, 5), torch.randint(0, 5, (6,))
    expected = F.nll_loss(x.log_softmax(1), target)
    torch.testing.assert_close(F.cross_entropy(x, target), expected)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_numbers_and_their_probabilities_agree(reduction):
    x, target = randn(6, 5).requires_grad_(), torch.randint(0, 5, (6,))
    certain = F.one_hot(target, 5).double()
    kwargs = {"reduction": reduction, "label_smoothing": 0.1, "weight": randn(5).abs()}
    by_number = F.cross_entropy(x, target, **kwargs)
    by_share = F.cross_entropy(x, certain, **kwargs)
    if reduction == "mean":  # over weights, and over samples
        by_number = by_number * kwargs["weight"][target].sum() / 6
    torch.testing.assert_close(by_number, by_share)
    grads = [torch.autograd.grad(loss.sum(), x)[0] for loss in (by_number, by_share)]
    torch.testing.assert_close(*grads)


def test_ignored_samples_count_for_nothing():
    x = torch.randn(4, 3, requires_grad=True)
    target = torch.tensor([0, -100, 2, -100])
    loss = F.cross_entropy(x, target)
    torch.testing.assert_close(loss, F.cross_entropy(x[::2], target[::2]))
    loss.backward()
    assert (x.grad[1::2] == 0).all()
    assert (x.grad[::2] != 0).all()


def test_ignored_samples_may_be_nan():
    x = torch.tensor([[1.0, 2.0], [float("nan"), 0.0]], requires_grad=True)
    F.cross_entropy(x, torch.tensor([0, -100])).backward()
    assert x.grad.isfinite().all()


def test_mean_of_no_samples_is_nan():
    assert F.cross_entropy(torch.ones(0, 3), torch.ones(0, dtype=torch.int64)).isnan()
    assert F.cross_entropy(torch.ones(2, 3), torch.full((2,), -100)).isnan()


def test_large_scores_do_not_overflow():
    x = torch.tensor([[1e4, 0.0, -1e4]], requires_grad=True)
    loss = F.cross_entropy(x, torch.tensor([1]))
    assert loss.item() == 1e4
    loss.backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[1, -1, 0]])


def test_a_certain_prediction_keeps_its_digits():
    x = torch.tensor([[1000.0, 990.0]])
    expected = math.log1p(math.exp(-10))
    assert F.cross_entropy(x, torch.tensor([0])).item() == pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize("classes", [1, 2, 15, 16, 17, 33, 1000, 20000])
def test_rows_of_every_length(classes):
    x = randn(3, classes).requires_grad_()
    target = torch.tensor([0, classes // 2, classes - 1])
    loss = F.cross_entropy(x, target)
    loss.backward()
    scores = x.detach().numpy()
    top = scores.max(1, keepdims=True)
    exp = np.exp(scores - top)
    log_sum = np.log(exp.sum(1)) + top[:, 0]
    picked = scores[np.arange(3), target.numpy()]
    assert loss.item() == pytest.approx((log_sum - picked).mean(), rel=1e-12)
    expected = exp / exp.sum(1, keepdims=True)
    expected[np.arange(3), target.numpy()] -= 1
    np.testing.assert_allclose(x.grad.numpy(), expected / 3, atol=1e-15)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_images_are_rows_of_pixels(smoothing):
    images = randn(2, 3, 5, 70)
    target = torch.randint(0, 3, (2, 5, 70))
    weight = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64)
    rows = images.permute(0, 2, 3, 1).reshape(-1, 3).requires_grad_()
    kwargs = {"weight": weight, "label_smoothing": smoothing, "ignore_index": 1}
    expected = F.cross_entropy(rows, target.reshape(-1), **kwargs)
    expected.backward()
    grads = rows.grad.reshape(2, 5, 70, 3).permute(0, 3, 1, 2)
    for layout in (torch.contiguous_format, torch.channels_last):
        x = images.clone(memory_format=layout).requires_grad_()
        loss = F.cross_entropy(x, target, **kwargs)
        loss.backward()
        torch.testing.assert_close(loss, expected)
        torch.testing.assert_close(x.grad, grads)


@pytest.mark.parametrize("looked_at", [False, True])
def test_scores_of_a_convolution(looked_at):
    torch.manual_seed(0)
    conv = nn.Conv2d(2, 3, 3, padding=1).double()
    images, shares = randn(2, 2, 5, 4), randn(2, 3, 5, 4, seed=1).softmax(1)
    for target in (shares, shares.argmax(1)):
        grads = []
        for copied in (True, False):
            scores = conv(images)
            loss = F.cross_entropy(scores.contiguous().clone() if copied else scores, target)
            if looked_at:
                assert scores.stride() == (60, 20, 4, 1)  # which may put them in another order
            grads.append(torch.autograd.grad(loss, conv.weight)[0])
        torch.testing.assert_close(*grads)


def test_many_classes_of_images():
    x = randn(2, 150, 3).requires_grad_()
    target = torch.randint(0, 150, (2, 3))
    loss = F.cross_entropy(x, target, reduction="none")
    expected = -x.log_softmax(1).gather(1, target[:, None])[:, 0]
    torch.testing.assert_close(loss, expected)
    grads = [torch.autograd.grad(each.square().sum(), x)[0] for each in (loss, expected)]
    torch.testing.assert_close(*grads)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision(dtype):
    x = torch.randn(4, 7).to(dtype).requires_grad_()
    target = torch.tensor([0, 6, 3, 1])
    loss = F.cross_entropy(x, target)
    assert loss.dtype == dtype
    loss.backward()
    assert x.grad.dtype == dtype
    expected = F.cross_entropy(x.float(), target)
    torch.testing.assert_close(loss.float(), expected, rtol=torch.finfo(dtype).eps, atol=0)


def test_target_out_of_range_is_named():
    with pytest.raises(IndexError, match=r"Target 7 is out of bounds\. There are 3 classes"):
        F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 7]))
    with pytest.raises(IndexError, match=r"Target -1 is out of bounds\."):
        F.nll_loss(torch.ones(2, 3, 4), torch.full((2, 4), -1))
    with pytest.raises(IndexError, match=r"Target 0 is out of bounds\. There are 0 classes"):
        F.cross_entropy(torch.ones(2, 0), torch.tensor([0, 0]))


def test_names_in_the_graph():
    x = torch.randn(2, 3, requires_grad=True)
    target = torch.tensor([0, 1])
    images = torch.randn(2, 3, 2, 2, requires_grad=True)
    pixels = torch.zeros(2, 2, 2, dtype=torch.int64)
    for function in (F.cross_entropy, F.nll_loss):
        assert function(x, target).grad_fn.name() == "NllLossBackward0"
        assert function(images, pixels).grad_fn.name() == "NllLoss2DBackward0"
    y = torch.rand(2, 3)
    for function, name in (
        (F.mse_loss, "MseLossBackward0"),
        (F.smooth_l1_loss, "SmoothL1LossBackward0"),
        (F.huber_loss, "HuberLossBackward0"),
        (F.soft_margin_loss, "SoftMarginLossBackward0"),
        (F.binary_cross_entropy_with_logits, "BinaryCrossEntropyWithLogitsBackward0"),
    ):
        assert function(x, y).grad_fn.name() == name
    assert F.multi_margin_loss(x, target).grad_fn.name() == "MultiMarginLossBackward0"


# --- losses of elements


def test_shapes_that_broadcast_are_warned_of():
    x, y = torch.ones(3, 1, requires_grad=True), torch.zeros(3)
    for function in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss):
        with pytest.warns(UserWarning, match=r"size \(torch\.Size\(\[3\]\)\) that is different to"):
            loss = function(x, y, reduction="none")
        assert loss.shape == (3, 3)
        loss.sum().backward()
        assert x.grad.shape == (3, 1)


def test_a_warning_may_be_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="Using a target size"):
            F.mse_loss(torch.ones(3, 1), torch.ones(3))


def test_mean_over_few_and_many_elements():
    torch.manual_seed(0)
    for size in (1, 7, 1000, 100_003):
        x, y = torch.randn(size), torch.randn(size)
        difference = x.double() - y.double()
        # The result is a float32, of 24 bits: some units in the last place.
        torch.testing.assert_close(
            F.mse_loss(x, y).double(), (difference**2).mean(), rtol=1e-6, atol=0
        )
        torch.testing.assert_close(
            F.l1_loss(x, y, reduction="sum").double(), difference.abs().sum(), rtol=1e-6, atol=1e-5
        )


def test_types_are_promoted():
    x = torch.ones(3, requires_grad=True)
    loss = F.mse_loss(x, torch.zeros(3, dtype=torch.float64))
    assert loss.dtype == torch.float64
    loss.backward()
    assert x.grad.dtype == torch.float32
    assert F.mse_loss(x, torch.zeros(3, dtype=torch.int64)).dtype == torch.float32


def test_old_arguments_are_understood():
    x, y = torch.ones(2, 2), torch.zeros(2, 2)
    for old, new in (
        ({"size_average": False}, "sum"),
        ({"reduce": False}, "none"),
        ({"size_average": False, "reduce": False}, "none"),
        ({"size_average": True}, "mean"),
    ):
        with pytest.warns(UserWarning, match=f"please use reduction='{new}' instead"):
            assert (
                _reduction.legacy_get_string(**{"size_average": None, "reduce": None} | old) == new
            )
        with pytest.warns(UserWarning, match=f"please use reduction='{new}' instead"):
            torch.testing.assert_close(F.mse_loss(x, y, **old), F.mse_loss(x, y, reduction=new))
        with pytest.warns(UserWarning, match=f"please use reduction='{new}' instead"):
            assert nn.MSELoss(**old).reduction == new
    with pytest.warns(UserWarning, match="elementwise_mean"):
        assert F.mse_loss(x, y, reduction="elementwise_mean") == 1
    assert [_reduction.get_enum(name) for name in ("none", "mean", "sum")] == [0, 1, 2]
    with pytest.raises(ValueError, match="most is not a valid value"):
        _reduction.get_enum("most")


def test_kl_div_warns_of_its_mean():
    with pytest.warns(UserWarning, match="'batchmean' divides only by the batch size"):
        F.kl_div(torch.zeros(2, 2), torch.ones(2, 2))


def test_logits_are_sigmoids():
    x, y = randn(4, 3), randn(4, 3, seed=1).sigmoid()
    torch.testing.assert_close(
        F.binary_cross_entropy_with_logits(x, y), F.binary_cross_entropy(x.sigmoid(), y)
    )


def test_logits_far_away():
    x = torch.tensor([-1e4, 1e4, 1e4], requires_grad=True)
    loss = F.binary_cross_entropy_with_logits(x, torch.tensor([0.0, 1.0, 0.0]), reduction="none")
    np.testing.assert_array_equal(loss.detach().numpy(), [0, 0, 1e4])
    loss.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [0, 0, 1])


def test_what_is_no_probability():
    half = torch.full((3,), 0.5)
    for bad in (torch.tensor([0.5, 1.5, 0.5]), torch.tensor([0.5, float("nan"), 0.5])):
        with pytest.raises(RuntimeError, match="all elements of input should be between 0 and 1"):
            F.binary_cross_entropy(bad, half)
        with pytest.raises(RuntimeError, match="all elements of target should be between 0 and 1"):
            F.binary_cross_entropy(half, bad, reduction="none")


SECOND_ORDER = {
    "mse": lambda x, y: F.mse_loss(x, y),
    "smooth_l1": lambda x, y: F.smooth_l1_loss(x, y, beta=0.7, reduction="sum"),
    "huber": lambda x, y: F.huber_loss(x, y, delta=0.7, reduction="none"),
    "bce": lambda x, y: F.binary_cross_entropy(x.sigmoid(), y.sigmoid()),
    "logits": lambda x, y: F.binary_cross_entropy_with_logits(x, y, pos_weight=y.exp()),
    "kl_div": lambda x, y: F.kl_div(x, y.exp(), reduction="batchmean"),
    "kl_div logs": lambda x, y: F.kl_div(x, y, reduction="sum", log_target=True),
    "poisson": lambda x, y: F.poisson_nll_loss(x, y.exp(), full=True),
    "rates": lambda x, y: F.poisson_nll_loss(x.exp(), y.exp(), log_input=False),
    "gaussian": lambda x, y: F.gaussian_nll_loss(x, y, (x * y).exp()),
    "soft margin": lambda x, y: F.soft_margin_loss(x, y),
    "cross entropy": lambda x, y: F.cross_entropy(
        x, y[:, 0].gt(0).long(), weight=randn(4, seed=2).abs(), label_smoothing=0.2
    ),
    "each": lambda x, y: F.cross_entropy(x, y[:, 0].gt(0).long(), reduction="none"),
    "shares": lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1),
    "nll": lambda x, y: F.nll_loss(x.log_softmax(1), y[:, 0].gt(0).long()),
    "multi margin": lambda x, y: F.multi_margin_loss(x, y[:, 0].gt(0).long(), p=2),
    "cosine": lambda x, y: F.cosine_embedding_loss(x, y, torch.tensor([1, -1, 1]), margin=-1),
    "triplet": lambda x, y: F.triplet_margin_loss(x, y, x * y, margin=5),
}


@pytest.mark.parametrize("name", SECOND_ORDER)
def test_second_derivatives(name):
    x, y = randn(3, 4).requires_grad_(), randn(3, 4, seed=1).requires_grad_()
    loss = SECOND_ORDER[name]
    assert gradcheck(loss, (x, y))
    assert gradgradcheck(loss, (x, y))


def test_gradients_for_every_sample():
    x, target = randn(5, 3), torch.tensor([0, 1, 2, 1, 0])
    each = torch.func.vmap(torch.func.grad(F.cross_entropy))(x, target)
    for i in range(5):
        torch.testing.assert_close(each[i], torch.func.grad(F.cross_entropy)(x[i], target[i]))


# --- modules


def test_weights_are_buffers():
    loss = nn.BCEWithLogitsLoss(weight=torch.ones(3), pos_weight=torch.full((3,), 2.0))
    assert list(loss.state_dict()) == ["weight", "pos_weight"]
    assert loss.double().pos_weight.dtype == torch.float64
    assert list(nn.CrossEntropyLoss().state_dict()) == []
    assert nn.CrossEntropyLoss().weight is None


def test_a_loss_falls_while_training():
    torch.manual_seed(0)
    x, target = torch.randn(64, 2), torch.arange(64) % 2
    x[:, 0] += target * 4
    net, criterion = nn.Linear(2, 2), nn.CrossEntropyLoss()
    losses = []
    for _ in range(50):
        loss = criterion(net(x), target)
        net.zero_grad()
        loss.backward()
        with torch.no_grad():
            for parameter in net.parameters():
                parameter -= 0.5 * parameter.grad
        losses.append(loss.item())
    assert losses[-1] < 0.3 < losses[0]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_scores_of_a_linear_map_in_parts(reduction):
    torch.manual_seed(0)
    x, weight = randn(9, 4).requires_grad_(), randn(7, 4, seed=1).requires_grad_()
    bias, target = randn(7, seed=2).requires_grad_(), torch.arange(9) % 7
    results = []
    for options in (None, nn.LinearCrossEntropyOptions(batch_chunk_size=2)):
        loss = F.linear_cross_entropy(
            x,
            weight,
            target,
            linear_bias=bias,
            reduction=reduction,
            ignore_index=3,
            weight=randn(7, seed=3).abs(),
            options=options,
        )
        results.append([loss, *torch.autograd.grad(loss.sum(), (x, weight, bias))])
    for whole, parts in zip(*results, strict=True):
        torch.testing.assert_close(whole, parts)


def test_how_large_the_parts_are():
    options = nn.LinearCrossEntropyOptions(chunking_method="aspect_ratio")
    assert options.chunk_size(1024, 64, 1024) == 64
    assert nn.LinearCrossEntropyOptions().chunk_size(1024, 64, 1024) == 32
    assert nn.LinearCrossEntropyOptions(batch_chunk_size=9).chunk_size(4, 2, 8) == 4
    with pytest.raises(ValueError, match="invalid chunking_method"):
        nn.LinearCrossEntropyOptions(chunking_method="aspect_ratio:0")
    both = nn.LinearCrossEntropyOptions(batch_chunk_size=9, chunking_method="aspect_ratio")
    with pytest.raises(ValueError, match="give different chunk sizes"):
        both.chunk_size(1024, 64, 1024)


def test_scores_in_parts_are_mapped():
    x, weight = randn(3, 8, 4, seed=0), randn(5, 4, seed=1)
    target = torch.arange(24).reshape(3, 8) % 5

    def loss(part, numbers):
        options = nn.LinearCrossEntropyOptions(batch_chunk_size=2)
        return F.linear_cross_entropy(part, weight, numbers, ignore_index=3, options=options)

    expected = torch.stack([loss(*each) for each in zip(x, target, strict=True)])
    torch.testing.assert_close(torch.func.vmap(loss)(x, target), expected)
    assert nn.modules.loss.LinearCrossEntropyLoss is nn.LinearCrossEntropyLoss


def test_distance_of_ones_own():
    anchor, near, far = torch.zeros(2, 3), torch.ones(2, 3), torch.full((2, 3), 5.0)
    loss = nn.TripletMarginWithDistanceLoss(
        distance_function=lambda x, y: (x - y).abs().amax(-1), margin=6.0, reduction="none"
    )
    np.testing.assert_array_equal(loss(anchor, near, far).numpy(), [2, 2])
