"""Summaries of numbers: scalars, histograms, tensors, precision and recall."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import flambeau as fb
from flambeau import Tensor
from flambeau.utils.tensorboard._convert_np import make_np
from flambeau.utils.tensorboard._messages import (
    ELEMENT_TYPES,
    HistogramProto,
    PluginData,
    PrCurvePluginData,
    Summary,
    SummaryMetadata,
    TensorProto,
    TensorShapeProto,
)

__all__ = [
    "compute_curve",
    "default_bins",
    "histogram",
    "histogram_raw",
    "make_histogram",
    "plugin",
    "pr_curve",
    "pr_curve_raw",
    "scalar",
    "tensor_proto",
]

_Array = np.ndarray[Any, Any]
_MOST_THRESHOLDS = 127
_GROWTH = 1.1  # of the default bins of histograms
_BLOCK = 8192  # values that stay in the cache while they are counted
_TINY = 1e-7  # keeps quotients with empty counts finite


def plugin(name: str, content: bytes | None = None) -> SummaryMetadata:
    """Metadata that tell TensorBoard which plugin reads a value."""
    return SummaryMetadata(plugin_data=PluginData(plugin_name=name, content=content))


def scalar(
    name: str,
    tensor: Any,
    collections: object = None,
    new_style: bool = False,
    double_precision: bool = False,
) -> Summary:
    """One number. In the old form it has single precision, whatever `double_precision` says."""
    value = float(tensor) if isinstance(tensor, (float, int)) else _single(tensor)
    if not new_style:
        return Summary(value=[Summary.Value(tag=name, simple_value=value)])
    if double_precision:
        content = TensorProto(dtype=ELEMENT_TYPES["float64"], double_val=[value])
    else:
        content = TensorProto(dtype=ELEMENT_TYPES["float32"], float_val=[value])
    return Summary(value=[Summary.Value(tag=name, tensor=content, metadata=plugin("scalars"))])


def _single(value: Any) -> float:
    if isinstance(value, Tensor) and value.numel() == 1:
        return float(value.item())
    array = make_np(value)
    if array.size != 1:
        raise AssertionError(
            f"a scalar must be one number; got {array.size} of them, of shape {array.shape}"
        )
    return float(array.item())


_INTEGERS = ("int32", "int16", "int8", "uint8")


def tensor_proto(tag: str, tensor: Tensor) -> Summary:
    """A whole tensor, with its dtype and shape."""
    kind = str(tensor.dtype).rpartition(".")[2]
    flat = tensor.detach().cpu().resolve_conj().contiguous().flatten()
    content = TensorProto(
        dtype=ELEMENT_TYPES[kind], tensor_shape=TensorShapeProto.of(tuple(tensor.shape))
    )
    if kind in ("float16", "bfloat16"):
        content.half_val = flat.view(fb.int16).numpy().view(np.uint16).tolist()
    elif kind in ("float32", "float64"):
        setattr(content, "float_val" if kind == "float32" else "double_val", flat.numpy())
    elif kind in ("complex64", "complex128"):
        pairs = fb.view_as_real(flat).flatten().numpy()
        setattr(content, "scomplex_val" if kind == "complex64" else "dcomplex_val", pairs)
    else:
        setattr(content, "int_val" if kind in _INTEGERS else f"{kind}_val", flat.tolist())
    return Summary(value=[Summary.Value(tag=tag, tensor=content, metadata=plugin("tensor"))])


def histogram_raw(
    name: str,
    min: float,
    max: float,
    num: float,
    sum: float,
    sum_squares: float,
    bucket_limits: Sequence[float],
    bucket_counts: Sequence[float],
) -> Summary:
    """A precomputed histogram; `bucket_limits` are the upper ends of the bins."""
    counted = HistogramProto(
        min=min,
        max=max,
        num=num,
        sum=sum,
        sum_squares=sum_squares,
        bucket_limit=bucket_limits,
        bucket=bucket_counts,
    )
    return Summary(value=[Summary.Value(tag=name, histo=counted)])


def histogram(name: str, values: Any, bins: Any, max_bins: int | None = None) -> Summary:
    """A histogram of values. `bins` are limits, a number of bins or a method of NumPy's."""
    counted = make_histogram(make_np(values).astype(float), bins, max_bins)
    return Summary(value=[Summary.Value(tag=name, histo=counted)])


def make_histogram(values: _Array, bins: Any, max_bins: int | None = None) -> HistogramProto:
    """Count the values of each bin, from the first bin that holds any to the last."""
    if values.size == 0:
        raise ValueError("a histogram of no values at all: the input has no element")
    values = values.reshape(-1).astype(float, copy=False)
    if bins is default_bins():
        counts, limits = _in_default_bins(values), bins
    else:
        counts, limits = np.histogram(values, bins=bins)
    if max_bins is not None and (merged := len(counts) // max_bins) > 1:
        counts = np.add.reduceat(counts, np.arange(0, len(counts), merged))
        limits = np.append(limits[:-1:merged], limits[-1])
    filled = np.flatnonzero(counts)
    first, last = (filled[0], filled[-1] + 1) if len(filled) else (len(counts), len(counts))
    return HistogramProto(
        min=float(values.min()),
        max=float(values.max()),
        num=len(values),
        sum=float(values.sum()),
        sum_squares=float(values.dot(values)),
        # An empty bin ahead of the others tells where the first of them begins.
        bucket_limit=limits[first : last + 1],
        bucket=np.append(0, counts[first:last]),
    )


@functools.cache
def default_bins() -> _Array:
    """Limits on both sides of zero that grow by a tenth, from 1e-12 to 1e20."""
    limits = [1e-12]
    while limits[-1] * _GROWTH < 1e20:
        limits.append(limits[-1] * _GROWTH)
    return np.array([*(-limit for limit in reversed(limits)), 0.0, *limits])


def _in_default_bins(values: _Array) -> _Array:
    """Count by logarithms, which locate a value without a search."""
    limits = default_bins()
    if not max(values.max(), -values.min()) < limits[-1]:  # nor if one is NaN
        return np.histogram(values, limits)[0]
    counts = np.zeros(len(limits) - 1, np.intp)
    for start in range(0, len(values), _BLOCK):
        places = _default_places(values[start : start + _BLOCK])
        counts += np.bincount(places, minlength=len(counts))
    return counts


def _default_places(values: _Array) -> _Array:
    limits = default_bins()
    middle = len(limits) // 2
    least = limits[middle + 1]
    steps = np.log(np.maximum(np.abs(values), least) / least) / math.log(_GROWTH)
    above = steps.astype(np.intp) + 1  # for values above zero, counted from it
    places: _Array = middle + above - (values < 0) * (2 * above + 1)
    # The logarithm is rounded, and what is smaller than the least limit lies beside zero.
    places -= values < limits[places]
    places += values >= limits[places + 1]
    return places


def pr_curve(
    tag: str,
    labels: Any,
    predictions: Any,
    num_thresholds: int = _MOST_THRESHOLDS,
    weights: Any = None,
) -> Summary:
    """Precision and recall of predictions between 0 and 1, for each threshold."""
    num_thresholds = min(num_thresholds, _MOST_THRESHOLDS)
    curve = compute_curve(labels, predictions, num_thresholds, weights)
    return _curve(tag, curve, num_thresholds)


def pr_curve_raw(
    tag: str,
    tp: Any,
    fp: Any,
    tn: Any,
    fn: Any,
    precision: Any,
    recall: Any,
    num_thresholds: int = _MOST_THRESHOLDS,
    weights: Any = None,
) -> Summary:
    """Precomputed precision and recall, with the counts behind them."""
    num_thresholds = min(num_thresholds, _MOST_THRESHOLDS)
    return _curve(tag, np.stack((tp, fp, tn, fn, precision, recall)), num_thresholds)


def compute_curve(
    labels: Any, predictions: Any, num_thresholds: int | None = None, weights: Any = None
) -> _Array:
    """True and false positives, true and false negatives, precision and recall, row by row."""
    labels, predictions = np.asarray(labels).ravel(), np.asarray(predictions).ravel()
    count = num_thresholds or _MOST_THRESHOLDS
    weights = np.ones(len(labels)) if weights is None else np.asarray(weights, float).ravel()
    truth = labels.astype(float)
    # A prediction is positive for every threshold up to its own bin.
    places = np.clip(np.floor(predictions * (count - 1)).astype(int), 0, count - 1)

    def positives(of: _Array) -> _Array:
        held: _Array = np.bincount(places, of * weights, minlength=count)
        return held[::-1].cumsum()[::-1]

    tp, fp = positives(truth), positives(1 - truth)
    tn, fn = fp[0] - fp, tp[0] - tp
    precision = tp / np.maximum(_TINY, tp + fp)
    recall = tp / np.maximum(_TINY, tp + fn)
    return np.stack((tp, fp, tn, fn, precision, recall))


def _curve(tag: str, rows: _Array, num_thresholds: int) -> Summary:
    content = TensorProto(
        dtype=ELEMENT_TYPES["float32"],
        tensor_shape=TensorShapeProto.of(rows.shape),
        float_val=rows.ravel(),
    )
    data = PrCurvePluginData(num_thresholds=num_thresholds).SerializeToString()
    metadata = plugin("pr_curves", data)
    return Summary(value=[Summary.Value(tag=tag, tensor=content, metadata=metadata)])
