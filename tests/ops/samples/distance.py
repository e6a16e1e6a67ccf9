"""Samples of distances."""

import numpy as np

from tests.ops.registry import call, errors, forward_only, samples


def cosine(x1, x2, dim=1, eps=1e-8):
    def unit(x):
        return x / np.maximum(np.linalg.norm(x, axis=dim, keepdims=True), eps)

    x1, x2 = np.broadcast_arrays(x1, x2)
    return (unit(x1) * unit(x2)).sum(dim)


# Products of both signs cancel.
@samples(
    "cosine_similarity",
    reference=cosine,
    tolerance={"float16": (3e-2, 3e-2), "bfloat16": (2e-1, 2e-1)},
)
def cosine_similarity(make):
    yield make(3, 4), make(3, 4)
    yield call(make(3, 4), make(4), dim=-1)
    yield call(make(5), make(5), dim=0)
    if make.dtype != "float16":  # where the default eps is zero
        yield forward_only(make.of(0, 0), make.of(1, 2), dim=0)


@errors("cosine_similarity")
def cosine_similarity_errors(make):
    yield (make(2, 3), make(2, 4)), RuntimeError, "do not broadcast"


def minkowski(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    return np.linalg.norm(x1 - x2 + eps, ord=p, axis=-1, keepdims=keepdim)


@samples("pairwise_distance", reference=minkowski)
def pairwise_distance(make):
    yield make(3, 4), make(3, 4)
    yield call(make(3, 4), make(3, 4), p=1.0, keepdim=True)
    yield call(make(4), make(4), p=3.0, eps=0.5)


@samples("dist", reference=lambda x, y, p=2: np.linalg.norm((x - y).ravel(), ord=p))
def dist(make):
    yield make(3, 4), make(3, 4)
    yield make(3, 4), make(4), 1
    yield make(3), make(3), np.inf


@samples(
    "pdist",
    reference=lambda x, p=2.0: np.array(
        [np.linalg.norm(x[i] - x[j], ord=p) for i in range(len(x)) for j in range(i + 1, len(x))]
    ),
)
def pdist(make):
    yield make(4, 3)
    yield make(4, 3), 1.0
    yield make(5, 2), np.inf
    yield make(1, 3)


@errors("pdist")
def pdist_errors(make):
    yield (make(3),), RuntimeError, "pdist: only supports 2D tensors, got: 1D"
