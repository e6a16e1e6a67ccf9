"""Lifting, broadcasting and joining."""

import itertools

import numpy as np
import scipy.linalg

from tests.ops.registry import call, errors, samples


def at_least(function):
    def reference(*tensors):
        lifted = [function(tensor) for tensor in tensors]
        return lifted[0] if len(lifted) == 1 else tuple(lifted)

    return reference


@samples("atleast_1d", reference=at_least(np.atleast_1d))
def atleast_1d(make):
    yield make()
    yield make(3), make(), make(2, 3)


@samples("atleast_2d", reference=at_least(np.atleast_2d))
def atleast_2d(make):
    yield make()
    yield make(3), make(), make(2, 3, 4)


@samples("atleast_3d", reference=at_least(np.atleast_3d))
def atleast_3d(make):
    yield make()
    yield make(3), make(), make(2, 3), make(2, 3, 4, 1)


@samples("hstack", reference=np.hstack)
def hstack(make):
    yield ([make(3), make(2)],)
    yield ([make(), make(2)],)
    yield ([make(2, 3), make(2, 0), make(2, 1)],)
    yield ([make(3), make(2, dtype="int32")],)


@samples("vstack", reference=np.vstack)
def vstack(make):
    yield ([make(3), make(2, 3)],)
    yield ([make(), make()],)


@samples("dstack", reference=np.dstack)
def dstack(make):
    yield ([make(3), make(3)],)
    yield ([make(2, 3), make(2, 3, 2)],)


@samples("column_stack", reference=np.column_stack)
def column_stack(make):
    yield ([make(3), make(3, 2)],)
    yield ([make(3), make(3).strided()],)


@errors("hstack", "vstack", "dstack", "column_stack")
def stack_errors(make):
    yield ([],), RuntimeError, "non-empty"
    yield (make(2, 3),), TypeError, "must be tuple of Tensors, not Tensor"


@samples("block_diag", reference=scipy.linalg.block_diag)
def block_diag(make):
    yield make(2, 3), make(1, 2)
    yield make(2), make(), make(2, 1)
    yield make(2, dtype="int32"), make(3, 1)


@errors("block_diag")
def block_diag_errors(make):
    yield (
        (make(2, 2, 2),),
        RuntimeError,
        "block_diag: input tensors must have 2 or fewer dimensions",
    )


@samples("broadcast_shapes", reference=np.broadcast_shapes, dtypes=("float32",))
def broadcast_shapes(make):
    yield (2, 1), (3,)
    yield 2, (3, 1), ()
    yield (0,), (1,)
    yield (5, 1, 3), (4, 1), (1,)


@errors("broadcast_shapes")
def broadcast_shapes_errors(make):
    yield ((2,), (3,)), RuntimeError, "broadcast_shapes: shape (3,) at position 1"
    yield ((2,), (-1,)), RuntimeError, "broadcast_shapes: "


@samples("broadcast_tensors", reference=lambda *tensors: tuple(np.broadcast_arrays(*tensors)))
def broadcast_tensors(make):
    yield make(2, 1), make(3)
    yield make(), make(2, 0), make(1, 1)


@errors("broadcast_tensors")
def broadcast_tensors_errors(make):
    yield (make(2), make(3)), RuntimeError, "does not broadcast"


def grids(*tensors, indexing="ij"):
    tensors = tensors[0] if isinstance(tensors[0], list) else tensors
    return tuple(np.meshgrid(*(np.atleast_1d(t) for t in tensors), indexing=indexing))


@samples("meshgrid", reference=grids)
def meshgrid(make):
    yield call(make(2), make(3), indexing="ij")
    yield call(make(2), make(3), make(4), indexing="xy")
    yield call(make(2), make(), indexing="ij")
    yield call(make(2), make(0), indexing="ij")
    yield call([make(2), make(3)], indexing="ij")


@errors("meshgrid")
def meshgrid_errors(make):
    yield call(make(2), make(2, 2), indexing="ij"), RuntimeError, "meshgrid: "
    yield call(make(2), indexing="zz"), RuntimeError, "meshgrid: "
    yield call(make(2), make(2, dtype="int32"), indexing="ij"), RuntimeError, "same dtype"


def products(*tensors):
    if len(tensors) == 1:
        return tensors[0]
    return np.array(list(itertools.product(*tensors)))


@samples("cartesian_prod", reference=products)
def cartesian_prod(make):
    yield make(3)
    yield make(2), make(3)
    yield make(2), make(1), make(3)


@errors("cartesian_prod")
def cartesian_prod_errors(make):
    yield (make(2, 2), make(2)), RuntimeError, "cartesian_prod: "


def choices(input, r=2, with_replacement=False):
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    return np.array(list(choose(input, r)), input.dtype).reshape(-1, r)


@samples("combinations", reference=choices)
def combinations(make):
    yield make(4)
    yield call(make(3), r=3, with_replacement=True)
    yield call(make(3), r=1)
    yield call(make(2), r=3)


@errors("combinations")
def combinations_errors(make):
    yield (make(2, 2),), RuntimeError, "combinations: "
    yield call(make(2), r=-1), RuntimeError, "combinations: "
