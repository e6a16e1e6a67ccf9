"""Samples of resampling. The references compute every weight from the definition."""

import itertools
import math

import numpy as np

from tests.ops.registry import call, errors, samples

FLOATS = ("float32", "float64")


def _cubic(x, a):
    x = abs(x)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0


def _lanczos(x):
    return float(np.sinc(x) * np.sinc(x / 3)) if abs(x) < 3 else 0.0


# How far a filter reaches, and its values.
SMOOTH = {
    "bilinear": (1, lambda x: max(1 - abs(x), 0.0)),
    "bicubic": (2, lambda x: _cubic(x, -0.5)),
    "lanczos": (3, _lanczos),
}


def _row(n, out, o, mode, align_corners, factor, antialias):
    """The weights of output `o` of a line of `n` elements."""
    weights = np.zeros(n)
    if align_corners:
        step = (n - 1) / (out - 1) if out > 1 else 0.0
        position = step * o
    else:
        step = 1 / factor if factor else n / out
        position = step * (o + 0.5) - 0.5
    if antialias:
        reach, kernel = SMOOTH[mode]
        stretch, centre = max(step, 1.0), step * (o + 0.5)
        first = max(int(centre - reach * stretch + 0.5), 0)
        for i in range(first, min(int(centre + reach * stretch + 0.5), n)):
            weights[i] = kernel((i - centre + 0.5) / stretch)
        return weights / weights.sum()
    if mode == "area":
        low, high = o * n // out, -(-(o + 1) * n // out)
        weights[low:high] = 1 / (high - low)
    elif mode == "nearest":
        weights[min(math.floor(o * step), n - 1)] = 1
    elif mode == "nearest-exact":
        weights[min(math.floor((o + 0.5) * step), n - 1)] = 1
    elif mode == "bicubic":
        low = math.floor(position)
        for k in range(-1, 3):
            weights[min(max(low + k, 0), n - 1)] += _cubic(position - low - k, -0.75)
    else:
        position = max(position, 0.0)
        low = min(math.floor(position), n - 1)
        weights[low] += 1 - (position - low)
        weights[min(low + 1, n - 1)] += position - low
    return weights


def _interpolate(
    x,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    rank = x.ndim - 2
    factors = scale_factor if isinstance(scale_factor, tuple) else (scale_factor,) * rank
    sizes = size if isinstance(size, tuple) else (size,) * rank
    for d in range(rank):
        n = x.shape[2 + d]
        out = sizes[d] if size is not None else math.floor(n * factors[d])
        factor = None if recompute_scale_factor else factors[d]
        matrix = np.array(
            [_row(n, out, o, mode, align_corners, factor, antialias) for o in range(out)]
        )
        x = np.moveaxis(np.tensordot(x, matrix, (2 + d, 1)), -1, 2 + d)
    return x


@samples("nn.functional.interpolate", reference=_interpolate, dtypes=FLOATS)
def interpolate(make):
    signal, image, volume = (2, 2, 5), (1, 2, 4, 5), (1, 1, 3, 2, 4)
    for mode in ("nearest", "nearest-exact", "area"):
        yield call(make(*signal), 8, mode=mode)
        yield call(make(*image), (3, 10), mode=mode)
        yield call(make(*volume), scale_factor=2, mode=mode)
    for mode, shape in (
        ("linear", signal),
        ("bilinear", image),
        ("bicubic", image),
        ("trilinear", volume),
    ):
        yield call(make(*shape), scale_factor=1.7, mode=mode)
        yield call(make(*shape), scale_factor=1.7, mode=mode, recompute_scale_factor=True)
        yield call(make(*shape), 7, mode=mode, align_corners=True)
        yield call(make(*shape), 3, mode=mode, align_corners=False)
    for mode in ("bilinear", "bicubic", "lanczos"):
        yield call(make(1, 1, 9, 7), (4, 10), mode=mode, antialias=True)
    yield call(make(1, 20, 3, 4).channels_last(), scale_factor=(2.0, 1.5), mode="bilinear")
    yield call(make(1, 3, 3, 4).channels_last(), scale_factor=2, mode="nearest")


@errors("nn.functional.interpolate")
def interpolate_errors(make):
    x = make(1, 2, 4, 5)
    yield call(x), ValueError, "either size or scale_factor"
    yield call(x, 4, 2.0), ValueError, "only one of size or scale_factor"
    yield call(x, (4, 4, 4)), ValueError, "2 spatial dimensions"
    yield call(x, scale_factor=(2.0, 2.0, 2.0)), ValueError, "scale_factor has 3"
    yield call(x, 4, align_corners=True), ValueError, "align_corners is only valid for"
    yield call(x, 4, antialias=True), ValueError, "antialias is only valid for"
    yield call(x, 4, mode="linear"), NotImplementedError, "mode 'linear' does not exist"
    yield call(x, 4, mode="lanczos"), ValueError, "requires antialias=True"
    yield call(x, 0), RuntimeError, "greater than zero"
    yield call(x, 4, recompute_scale_factor=True), ValueError, "not meaningful"
    yield call(make(4, 5), 4), NotImplementedError, "3D, 4D or 5D"


# --- channels and pixels exchanged


def _pixel_shuffle(x, r):
    *lead, c, h, w = x.shape
    blocks = x.reshape(-1, c // r**2, r, r, h, w).transpose(0, 1, 4, 2, 5, 3)
    return blocks.reshape(*lead, c // r**2, h * r, w * r)


def _pixel_unshuffle(x, r):
    *lead, c, h, w = x.shape
    blocks = x.reshape(-1, c, h // r, r, w // r, r).transpose(0, 1, 3, 5, 2, 4)
    return blocks.reshape(*lead, c * r**2, h // r, w // r)


def _channel_shuffle(x, groups):
    n, c, *rest = x.shape
    return x.reshape(n, groups, c // groups, *rest).swapaxes(1, 2).reshape(x.shape)


@samples("pixel_shuffle", reference=_pixel_shuffle)
def pixel_shuffle(make):
    yield make(2, 8, 2, 3), 2
    yield make(9, 2, 1), 3
    yield make(1, 4, 3, 2).channels_last(), 2


@errors("pixel_shuffle")
def pixel_shuffle_errors(make):
    yield (make(3, 2, 2), 2), RuntimeError, "divisible by the square of upscale_factor 2"
    yield (make(4, 2), 2), RuntimeError, "at least 3 dimensions"
    yield (make(4, 2, 2), 0), RuntimeError, "upscale_factor must be positive"


@samples("pixel_unshuffle", reference=_pixel_unshuffle)
def pixel_unshuffle(make):
    yield make(2, 2, 4, 6), 2
    yield make(2, 4, 2), 2
    yield make(1, 3, 6), 3


@errors("pixel_unshuffle")
def pixel_unshuffle_errors(make):
    yield (make(1, 3, 4), 2), RuntimeError, "divisible by downscale_factor 2"
    yield (make(1, 4, 4), -1), RuntimeError, "downscale_factor must be positive"


@samples("channel_shuffle", reference=_channel_shuffle)
def channel_shuffle(make):
    yield make(2, 6, 2, 2), 3
    yield make(1, 4, 3), 2


@errors("channel_shuffle")
def channel_shuffle_errors(make):
    yield (make(1, 3, 2), 2), RuntimeError, "divisible by groups 2"
    yield (make(1, 3, 2), 0), RuntimeError, "groups must be positive"
    yield (make(1, 3), 3), RuntimeError, "more than 2 dimensions"


# --- points on images


def _line(n, align_corners):
    if not align_corners:
        return (2 * np.arange(n) + 1) / n - 1
    return np.linspace(-1, 1, n) if n > 1 else np.zeros(1)


def _affine_grid(theta, size, align_corners=None):
    axes = [_line(n, align_corners) for n in size[2:]]
    grid = np.meshgrid(*axes, indexing="ij")[::-1]  # width first
    points = np.stack([*grid, np.ones(tuple(size[2:]))], -1)
    return np.einsum("...k,njk->n...j", points, theta)


@samples(
    "nn.functional.affine_grid", "affine_grid_generator", reference=_affine_grid, dtypes=FLOATS
)
def affine_grid(make):
    yield make(2, 2, 3), (2, 1, 3, 4), False
    yield make(1, 2, 3), (1, 5, 1, 3), True
    yield make(1, 3, 4), (1, 1, 2, 3, 2), False


@errors("nn.functional.affine_grid")
def affine_grid_errors(make):
    yield (make(2, 2, 4), (2, 3, 4, 5)), ValueError, "matrices of shape (N, 2, 3)"
    yield (make(2, 2, 3), (2, 3, 4)), NotImplementedError, "4 or 5 dimensions"
    yield (make(2, 2, 3), (2, 3, 0, 5)), ValueError, "greater than zero"


def _reflect(x, n, align_corners):
    low, span = (0, n - 1) if align_corners else (-0.5, n)
    if span == 0:
        return 0.0
    turns, rest = divmod(abs(x - low), span)
    return min(max((span - rest if turns % 2 else rest) + low, 0), n - 1)


def _padded(x, n, padding_mode, align_corners):
    if padding_mode == "border":
        return min(max(x, 0), n - 1)
    return _reflect(x, n, align_corners) if padding_mode == "reflection" else x


def _taps(g, n, mode, padding_mode, align_corners):
    """Places and weights along one coordinate."""
    x = (g + 1) / 2 * (n - 1) if align_corners else ((g + 1) * n - 1) / 2
    if mode == "bicubic":
        low = math.floor(x)
        return [
            (round(_padded(low + k, n, padding_mode, align_corners)), _cubic(x - low - k, -0.75))
            for k in range(-1, 3)
        ]
    x = _padded(x, n, padding_mode, align_corners)
    if mode == "nearest":
        return [(round(x), 1.0)]
    low = math.floor(x)
    return [(low, 1 - (x - low)), (low + 1, x - low)]


def _grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    space = x.shape[2:]
    out = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for at in np.ndindex(*grid.shape[:-1]):
        n, *point = at
        axes = [
            _taps(grid[(*at, a)], space[-1 - a], mode, padding_mode, align_corners)
            for a in range(len(space))
        ][::-1]
        for taps in itertools.product(*axes):
            place = tuple(i for i, _ in taps)
            if all(0 <= i < size for i, size in zip(place, space, strict=True)):
                out[(n, slice(None), *point)] += x[(n, slice(None), *place)] * math.prod(
                    w for _, w in taps
                )
    return out


MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")


@samples("nn.functional.grid_sample", reference=_grid_sample, dtypes=FLOATS)
def grid_sample(make):
    for mode, padding, corners in itertools.product(MODES, PADDINGS, (False, True)):
        image, grid = make(1, 2, 3, 4), make(1, 3, 3, 2, low=-1.4, high=1.4)
        yield call(image, grid, mode, padding, corners)
    for mode, padding in itertools.product(MODES[:2], PADDINGS):
        volume, grid = make(1, 2, 3, 2, 4), make(1, 2, 2, 2, 3, low=-1.3, high=1.3)
        yield call(volume, grid, mode, padding, False)
    yield call(make(2, 1, 2, 2), make.unit(2, 9, 9, 2), align_corners=False)


@errors("nn.functional.grid_sample")
def grid_sample_errors(make):
    image, grid = make(1, 2, 3, 4), make.unit(1, 3, 3, 2)
    yield call(image, grid, "cubic"), ValueError, "expected mode 'bilinear'"
    yield call(image, grid, padding_mode="edge"), ValueError, "expected padding_mode 'zeros'"
    yield call(image, make.unit(2, 3, 3, 2)), RuntimeError, "the same batch size"
    yield call(image, make.unit(1, 3, 3, 3)), RuntimeError, "ends in 2 coordinates"
    yield (
        call(make(1, 2, 3, 3, 3), make.unit(1, 2, 2, 2, 3), "bicubic"),
        RuntimeError,
        "bicubic interpolation takes 4D input",
    )


def _by_number(x, grid, interpolation_mode, padding_mode, align_corners):
    return _grid_sample(x, grid, MODES[interpolation_mode], PADDINGS[padding_mode], align_corners)


@samples("grid_sampler", "grid_sampler_2d", reference=_by_number, dtypes=FLOATS)
def grid_sampler(make):
    yield make(1, 2, 3, 4), make.unit(1, 3, 3, 2), 0, 0, False
    yield make(1, 2, 3, 4), make.unit(1, 3, 3, 2), 2, 1, True


@samples("grid_sampler_3d", reference=_by_number, dtypes=FLOATS)
def grid_sampler_3d(make):
    yield make(1, 2, 3, 2, 4), make.unit(1, 2, 2, 2, 3), 0, 1, True
