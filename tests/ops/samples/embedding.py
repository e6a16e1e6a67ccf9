"""Samples of embeddings."""

import numpy as np

from tests.ops.registry import call, errors, forward_only, samples

# Sums of 16-bit rows are float32 in ours; PyTorch rounds after every row.
_ROUGH = {"float16": (1e-2, 1e-2), "bfloat16": (5e-2, 5e-2)}


@samples("embedding", reference=lambda weight, indices, *rest, **options: weight[indices])
def embedding(make):
    yield make(10, 3), make.index(2, 5, high=10)
    # By intent the gradients of these are not the derivatives.
    yield forward_only(make(10, 3), make.index(4, high=10), 2)
    yield forward_only(make(4, 3), make.index(9, high=4), scale_grad_by_freq=True)
    yield make(10, 3).transposed(), make.index(4, high=10)
    yield make(10, 3), make.index(0, high=10)
    yield make(10, 40), make.index(high=10)
    yield make(50, 70), make.index(30, 20, high=50)


@errors("embedding")
def embedding_errors(make):
    out_of_range = "embedding: index out of range: got 10 for a table of 10 rows"
    yield (make(10, 3), make.index(2, low=10, high=11)), IndexError, out_of_range
    yield (make(10, 3), make(2)), RuntimeError, "expected indices of type int64 or int32"
    yield (make(10), make.index(2, high=10)), RuntimeError, "expected weight to be a table"


@samples("nn.functional.embedding", reference=lambda input, weight, *rest, **options: weight[input])
def functional_embedding(make):
    yield make.index(2, 5, high=10), make(10, 3)
    yield make.index(4, high=10), make(10, 3)
    yield forward_only(make.index(9, high=4), make(4, 3), padding_idx=-1)
    yield forward_only(make.index(9, high=4), make(4, 3), padding_idx=1, scale_grad_by_freq=True)


@errors("nn.functional.embedding")
def functional_embedding_errors(make):
    yield (make.index(2, low=-1, high=0), make(4, 3)), IndexError, "got -1 for a table of 4 rows"


def _renorm(input, indices, max_norm, norm_type):
    result = input.copy()
    for row in np.unique(indices):
        norm = np.linalg.norm(result[row], norm_type)
        if norm > max_norm:
            result[row] *= max_norm / (norm + 1e-7)
    return result


@samples("embedding_renorm_", reference=_renorm, dtypes=("float32", "float64"))
def embedding_renorm_(make):
    yield make(5, 3), make.index(6, high=5), 1.0, 2.0
    yield make(5, 3), make.index(2, high=5), 2.0, 1.0
    yield make(5, 3), make.index(2, high=5), 0.5, 3.0


_MODES = (np.sum, np.mean, np.max)


def _bag(
    weight,
    indices,
    offsets,
    scale_grad_by_freq=False,
    mode=0,
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    ends = [*offsets[1:], len(indices)]
    if include_last_offset:
        offsets, ends = offsets[:-1], ends[:-1]
    rows = []
    for begin, end in zip(offsets, ends, strict=True):
        kept = [i for i in range(begin, end) if padding_idx is None or indices[i] != padding_idx]
        kept = np.array(kept, int)
        picked = weight[indices[kept]]
        if per_sample_weights is not None:
            picked = picked * per_sample_weights[kept][:, None]
        rows.append(_MODES[mode](picked, 0) if len(kept) else np.zeros(weight.shape[1]))
    return np.array(rows).reshape(len(ends), weight.shape[1])


def _bag_outputs(*args, **kwargs):
    return (_bag(*args, **kwargs),)


@samples(
    "embedding_bag", reference=_bag_outputs, through=lambda result, *rest: result, tolerance=_ROUGH
)
def embedding_bag(make):
    # Of other modes PyTorch leaves the further results out where it can.
    offsets = make.of(0, 2, 2, 5, dtype="int64")
    yield call(make(10, 3), make.index(7, high=10), offsets, mode=2)
    yield call(make(10, 3), make.index(5, high=10), offsets, mode=2, include_last_offset=True)


@errors("embedding_bag")
def embedding_bag_errors(make):
    offsets = make.of(0, 2, dtype="int64")
    yield (
        (make(10, 3), make.index(4, low=10, high=11), offsets),
        RuntimeError,
        "embedding_bag: index 0 of input is 10, which is no row of a table of 10 rows",
    )
    yield (
        (make(10, 3), make.index(1, high=10), offsets),
        RuntimeError,
        "offsets[-1] can not be greater than the number of indices, 1, got 2",
    )
    yield (
        (make(10, 3), make.index(4, high=10), make.of(1, 2, dtype="int64")),
        RuntimeError,
        "offsets[0] has to be 0",
    )


def _functional_bag(input, weight, offsets=None, mode="mean", **options):
    names = {"sum": 0, "mean": 1, "max": 2}
    if input.ndim == 2:
        offsets = np.arange(input.shape[0]) * input.shape[1]
        if options.get("per_sample_weights") is not None:
            options["per_sample_weights"] = options["per_sample_weights"].reshape(-1)
    return _bag(weight, input.reshape(-1), offsets, mode=names[mode], **options)


@samples("nn.functional.embedding_bag", reference=_functional_bag, tolerance=_ROUGH)
def functional_embedding_bag(make):
    yield make.index(3, 4, high=10), make(10, 5)
    for mode in ("sum", "mean", "max"):
        yield call(make.index(3, 4, high=10), make(10, 5), mode=mode)
        yield call(make.index(6, high=10), make(10, 5), make.of(0, 3, dtype="int64"), mode=mode)
        offsets = make.of(0, 2, 2, 5, dtype="int64")
        yield call(make.index(7, high=4), make(4, 3), offsets, mode=mode, padding_idx=1)
        yield call(make.index(5, high=4), make(4, 3), offsets, mode=mode, include_last_offset=True)
    yield call(make.index(2, 3, high=6), make(6, 4), mode="sum", per_sample_weights=make(2, 3))
    yield call(make.index(5, high=6), make(6, 4), offsets, mode="sum", per_sample_weights=make(5))
    yield call(make.index(40, 7, high=50), make(50, 70), mode="sum")


@errors("nn.functional.embedding_bag")
def functional_embedding_bag_errors(make):
    table, numbers = make(10, 3), make.index(2, 2, high=10)
    yield call(numbers, table, mode="x"), ValueError, "expected mode to be 'sum', 'mean' or 'max'"
    yield (make.index(2, high=10), table), ValueError, "expected offsets of 1 dimension"
    yield (
        (numbers, table, make.of(0, 1, dtype="int64")),
        ValueError,
        "expected no offsets with an input of 2 dimensions",
    )
    yield (
        call(numbers, table, mode="mean", per_sample_weights=make(2, 2)),
        NotImplementedError,
        "per_sample_weights are only allowed with mode 'sum'",
    )
    yield (
        call(numbers, table, mode="sum", per_sample_weights=make(2, 3)),
        ValueError,
        "expected per_sample_weights of the shape of the input, (2, 2), got (2, 3)",
    )
