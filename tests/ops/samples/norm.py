"""Samples of normalisations."""

import numpy as np

from tests.ops.registry import call, errors, forward_only, samples

# Statistics are float32 in both, but PyTorch rounds some steps between them to 16 bits.
_ROUGH = {"float16": (1e-2, 1e-2), "bfloat16": (5e-2, 5e-2)}


def _by_channel(numbers, x):
    return numbers.reshape((1, -1) + (1,) * (x.ndim - 2))


def _affine(y, weight, bias):
    y = y if weight is None else y * _by_channel(weight, y)
    return y if bias is None else y + _by_channel(bias, y)


def _standard(x, axes, eps):
    if x.size == 0:
        return x
    mean = x.mean(axes, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axes, keepdims=True) + eps)


def _batch_norm(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    axes = tuple(d for d in range(input.ndim) if d != 1)
    if training:
        return _affine(_standard(input, axes, eps), weight, bias)
    scale = np.sqrt(_by_channel(running_var, input) + eps)
    return _affine((input - _by_channel(running_mean, input)) / scale, weight, bias)


def _running(make, channels):
    return make(channels), make.positive(channels)


@samples("nn.functional.batch_norm", reference=_batch_norm, tolerance=_ROUGH)
def functional_batch_norm(make):
    yield call(make(5, 3), None, None, training=True)
    yield call(make(4, 3, 2), None, None, training=True, eps=0.1)
    for shape in (5, 3), (4, 3, 2), (2, 3, 4, 5), (2, 3, 2, 3, 2):
        yield call(make(*shape), None, None, make(3), make(3), training=True)
        # Running statistics have no gradients, so that these are not differentiated by all.
        yield forward_only(make(*shape), *_running(make, 3), make(3), make(3))
    yield call(make(4, 20, 3, 3).channels_last(), None, None, make(20), make(20), True, eps=0.1)
    yield forward_only(make(4, 3, 3, 3).channels_last(), *_running(make, 3), weight=make(3))
    yield call(make(2, 3, 4).transposed(), None, None, training=True)
    yield call(make(3, 70, 3, 2).channels_last(), None, None, None, make(70), training=True)
    yield forward_only(make(4, 3, 2), *_running(make, 3), training=True, momentum=0.3)
    yield call(make(0, 3, 2), None, None, make(3), make(3), training=True)
    yield forward_only(make(0, 3, 2), *_running(make, 3))
    yield forward_only(make(300, 5, 60), None, None, training=True)
    yield forward_only(make(3000, 12), None, None, training=True)


@errors("nn.functional.batch_norm")
def functional_batch_norm_errors(make):
    x = make(4, 3, 2)
    yield (x, None, None), RuntimeError, "batch_norm: expected running_mean and running_var"
    yield (x, make(2), make(2)), RuntimeError, "running_mean should contain 3 elements"
    yield (
        call(x, None, None, make(4), training=True),
        RuntimeError,
        "weight should contain 3 elements, one for each channel, not 4",
    )
    yield (
        call(make(1, 3, 1), None, None, training=True),
        ValueError,
        "expected more than 1 value per channel when training, got the input shape (1, 3, 1)",
    )
    yield (
        call(make(4, 3, dtype="int64"), None, None, training=True),
        NotImplementedError,
        "not implemented for dtype int64",
    )


def _top_batch_norm(input, weight, bias, mean, var, training, momentum, eps, cudnn_enabled=True):
    return _batch_norm(input, mean, var, weight, bias, training, momentum, eps)


@samples("batch_norm", reference=_top_batch_norm, tolerance=_ROUGH)
def batch_norm(make):
    yield make(4, 3, 2), None, None, None, None, True, 0.1, 1e-5, True
    yield make(4, 3), None, None, None, None, True, 0.1, 1e-5, True
    yield make(4, 3, 2), make(3), make(3), None, None, True, 0.1, 1e-5, True
    yield forward_only(make(4, 3, 2), make(3), None, *_running(make, 3), False, 0.1, 1e-5, True)


def _native_batch_norm(input, weight, bias, mean, var, training, momentum, eps):
    result = _batch_norm(input, mean, var, weight, bias, training, momentum, eps)
    if not training:
        return result, np.empty(0), np.empty(0)
    axes = tuple(d for d in range(input.ndim) if d != 1)
    return result, input.mean(axes), 1 / np.sqrt(input.var(axes) + eps)


@samples("native_batch_norm", reference=_native_batch_norm, dtypes=("float32", "float64"))
def native_batch_norm(make):
    yield make(4, 3, 2), None, None, None, None, True, 0.1, 1e-5
    yield make(4, 3), None, None, None, None, True, 0.1, 1e-5
    yield make(4, 3, 2), make(3), make(3), None, None, True, 0.1, 1e-5
    yield forward_only(make(4, 3, 2, 2), None, None, *_running(make, 3), False, 0.1, 1e-5)


def _instance_norm(
    input,
    running_mean=None,
    running_var=None,
    weight=None,
    bias=None,
    use_input_stats=True,
    momentum=0.1,
    eps=1e-5,
):
    if not use_input_stats:
        return _batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    return _affine(_standard(input, tuple(range(2, input.ndim)), eps), weight, bias)


@samples("nn.functional.instance_norm", reference=_instance_norm, tolerance=_ROUGH)
def functional_instance_norm(make):
    yield make(2, 3, 4)
    yield call(make(2, 3, 4), eps=0.1)
    yield call(make(2, 3, 4, 5), weight=make(3), bias=make(3))
    yield call(make(2, 3, 4, 5).channels_last(), weight=make(3), bias=make(3), eps=0.1)
    yield call(make(2, 3, 2, 3, 2))
    yield forward_only(make(2, 3, 4), *_running(make, 3), use_input_stats=False)
    yield forward_only(make(2, 3, 4), *_running(make, 3), momentum=0.3)


@errors("nn.functional.instance_norm")
def functional_instance_norm_errors(make):
    yield (
        (make(2, 3, 1),),
        ValueError,
        "instance_norm: expected more than 1 spatial element when training, got the input shape",
    )
    yield (
        call(make(2, 3, 4), use_input_stats=False),
        RuntimeError,
        "expected running_mean and running_var",
    )


def _top_instance_norm(input, weight, bias, mean, var, use_input_stats, momentum, eps, cudnn):
    return _instance_norm(input, mean, var, weight, bias, use_input_stats, momentum, eps)


@samples("instance_norm", reference=_top_instance_norm, tolerance=_ROUGH)
def instance_norm(make):
    yield make(2, 3, 4), None, None, None, None, True, 0.1, 1e-5, True
    yield make(2, 3, 4, 2), None, None, None, None, True, 0.1, 1e-5, True
    yield make(2, 3, 4), make(3), make(3), None, None, True, 0.1, 1e-5, True
    yield forward_only(make(2, 3, 4), make(3), None, *_running(make, 3), False, 0.1, 1e-5, True)


def _group_norm(input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    groups = input.reshape(input.shape[0], num_groups, -1)
    return _affine(_standard(groups, (2,), eps).reshape(input.shape), weight, bias)


@samples("group_norm", "nn.functional.group_norm", reference=_group_norm, tolerance=_ROUGH)
def group_norm(make):
    yield make(2, 4, 3), 2
    yield make(2, 4, 3), 4
    yield make(2, 6, 3, 3), 3, make(6), make(6)
    yield call(make(2, 6, 3, 3).channels_last(), 3, make(6), make(6), eps=0.1)
    yield make(2, 6, 2, 1, 3), 1, make(6)
    yield make(3, 6), 2, make(6), make(6)
    yield make(2, 4, 3).transposed(), 4
    yield forward_only(make(5, 32, 20, 20), 8)


@errors("nn.functional.group_norm")
def group_norm_errors(make):
    yield (
        (make(2, 4, 3), 3),
        RuntimeError,
        (
            "expected the number of channels to be divisible by num_groups, got the input shape"
            " (2, 4, 3) and num_groups=3"
        ),
    )
    yield (make(4), 2), RuntimeError, "expected an input of at least 2 dimensions"
    yield (make(2, 4, 3), 2, make(3)), RuntimeError, "weight should contain 4 elements"
    yield (make(1, 1, 1), 1), ValueError, "expected more than 1 value per channel"


def _native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    sets = input.reshape(N, group, -1)
    rstd = 1 / np.sqrt(sets.var(2) + eps)
    return _group_norm(input, group, weight, bias, eps), sets.mean(2), rstd


@samples("native_group_norm", reference=_native_group_norm, dtypes=("float32", "float64"))
def native_group_norm(make):
    yield make(2, 6, 3), None, None, 2, 6, 3, 2, 1e-5
    yield make(2, 6, 3), None, None, 2, 6, 3, 3, 1e-5
    yield make(2, 6, 3, 3), make(6), make(6), 2, 6, 9, 3, 1e-5


def _layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    y = _standard(input, axes, eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


@samples("layer_norm", "nn.functional.layer_norm", reference=_layer_norm, tolerance=_ROUGH)
def layer_norm(make):
    yield make(3, 4), (4,)
    yield make(3, 20), (20,), make(20), make(20)
    yield make(2, 3, 4), (3, 4), make(3, 4), make(3, 4), 0.1
    yield call(make(2, 3, 4).transposed(), (4,), weight=make(4))
    yield call(make(2, 3, 4), (4,), bias=make(4))
    yield make(5), (5,)
    yield make(0, 4), (4,), make(4), make(4)
    yield forward_only(make(300, 260), (260,), make(260), make(260))
    yield forward_only(make(3, 10000), (10000,))


@errors("nn.functional.layer_norm")
def layer_norm_errors(make):
    yield (
        (make(2, 3), (4,)),
        RuntimeError,
        (
            "given normalized_shape=(4,), expected an input whose last dimensions these are, got"
            " the shape (2, 3)"
        ),
    )
    yield (make(2, 3), (3,), make(2)), RuntimeError, "expected weight to be of the same shape"
    yield (make(2, 3), ()), RuntimeError, "expected normalized_shape to have at least 1 dimension"
    yield (make(2, 3), 3), TypeError, "normalized_shape"
    yield (make(3, dtype="int64"), (3,)), NotImplementedError, "not implemented for dtype int64"


def _native_layer_norm(input, normalized_shape, weight, bias, eps):
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    rstd = 1 / np.sqrt(input.var(axes, keepdims=True) + eps)
    mean = input.mean(axes, keepdims=True)
    return _layer_norm(input, normalized_shape, weight, bias, eps), mean, rstd


@samples("native_layer_norm", reference=_native_layer_norm, dtypes=("float32", "float64"))
def native_layer_norm(make):
    yield make(2, 3, 4), (4,), make(4), make(4), 1e-5
    yield make(2, 3, 4), (3, 4), None, None, 0.1


def _rms_norm(input, normalized_shape, weight=None, eps=None):
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    y = input / np.sqrt((input**2).mean(axes, keepdims=True) + (eps or 0))
    return y if weight is None else y * weight


@samples("rms_norm", reference=_rms_norm, tolerance=_ROUGH)
def rms_norm(make):
    yield make(3, 4), (4,)
    yield make(3, 20), (20,), make(20)
    yield make(2, 3, 4), (3, 4), make(3, 4), 0.1
    yield call(make(2, 3, 4).transposed(), (4,), eps=1e-3)
    yield forward_only(make(300, 260), (260,), make(260))


@errors("rms_norm")
def rms_norm_errors(make):
    yield (make(2, 3), (4,)), RuntimeError, "rms_norm: given normalized_shape=(4,)"


def _local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    padding = [(0, 0), (size // 2, (size - 1) // 2)] + [(0, 0)] * (input.ndim - 2)
    padded = np.pad(input**2, padding)
    total = sum(padded[:, i : i + input.shape[1]] for i in range(size))
    return input / (k + alpha * total / size) ** beta


@samples("nn.functional.local_response_norm", reference=_local_response_norm, tolerance=_ROUGH)
def local_response_norm(make):
    yield make(2, 5, 3), 2
    yield call(make(2, 5, 3, 2), 3, alpha=0.5, beta=0.5, k=2.0)
    yield call(make(1, 4, 2, 2, 2), 4, 0.1)
    yield make(2, 3, 2), 1


@errors("nn.functional.local_response_norm")
def local_response_norm_errors(make):
    yield (make(2, 5), 2), ValueError, "expected an input of 3 or more dimensions"
    yield (make(2, 5, 3), 0), RuntimeError, "expected size to be greater than 0, got 0"


def _normalize(input, p=2.0, dim=1, eps=1e-12):
    norm = np.linalg.norm(input, p, axis=dim, keepdims=True)
    return input / np.maximum(norm, eps)


@samples("nn.functional.normalize", reference=_normalize)
def normalize(make):
    yield make(3, 4)
    yield call(make(2, 3, 4), p=1.0, dim=-1)
    yield call(make(2, 3, 4), 3.0, 0)
    yield forward_only(make.of([[0, 0], [0, 2]]), eps=0.5)


@errors("nn.functional.normalize")
def normalize_errors(make):
    yield call(make(2, 3), dim=5), IndexError, "normalize: "
