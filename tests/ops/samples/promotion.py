"""Questions about element types."""

import numpy as np

from tests.ops.dtypes import ALL
from tests.ops.registry import DType, errors, samples


@samples("promote_types", "can_cast")
def promote_types(make):
    for other in ALL:
        yield make.dtype, DType(other)


@samples("result_type")
def result_type(make):
    yield make(2), make(2)
    for other in ("uint8", "int32", "float16", "complex64"):
        yield make(2), make(3, dtype=other)
        yield make(), make(dtype=other)
        # float16 lifted by a complex number would be complex32, which is not among the types.
        if (make.dtype, other) != ("float16", "complex64"):
            yield make(2), make(dtype=other)
    numbers = [True, 2, 2.5, np.float32(2), np.int64(2)]
    for number in numbers if make.dtype == "float16" else [*numbers, 1j]:
        yield make(2), number
        yield number, make()
    yield 2, 2.5


@errors("result_type")
def result_type_errors(make):
    yield ("a", 2), TypeError, "result_type"
