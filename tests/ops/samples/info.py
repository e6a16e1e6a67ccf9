"""Samples of questions about a tensor."""

from tests.ops.registry import attr, call, errors, samples


@samples("numel", "nelement", reference=lambda x: x.size)
def numel(make):
    yield make(2, 3)
    yield make()
    yield make(0, 3)


@samples("dim", reference=lambda x: x.ndim)
def dim(make):
    yield make(2, 3)
    yield make()


def _size(x, dim=None):
    return x.shape if dim is None else x.shape[dim]


@samples("size", reference=_size)
def size(make):
    yield make(2, 3)
    yield make(2, 3), -1
    yield call(make(2, 3), dim=0)
    yield make()


@errors("size", "stride")
def size_errors(make):
    yield (make(2, 3), 2), IndexError, "dim 2 is out of range"
    yield (make(), 0), IndexError, "0-dimensional"


@samples("stride")
def stride(make):
    yield make(2, 3)
    yield make(2, 3).transposed()
    yield make(2, 3), -1
    yield make()


@samples("storage_offset")
def storage_offset(make):
    yield make(2, 3)
    yield make(2, 3).strided()


@samples("is_contiguous")
def is_contiguous(make):
    yield make(2, 3)
    yield make(2, 3).transposed()
    yield call(make(2, 3, 4, 5).channels_last(), memory_format=attr("channels_last"))
    yield call(make(2, 3, 4, 5), memory_format=attr("channels_last"))
    yield make(0, 3).transposed()


@samples("element_size")
def element_size(make):
    yield make(2, 3)


@samples("data_ptr", values=False)
def data_ptr(make):
    yield make(0)


@samples("get_device", reference=lambda x: -1)
def get_device(make):
    yield make(2, 3)


@samples("is_floating_point", "is_complex", "is_signed", "is_conj", "is_neg", "is_inference")
def of_one(make):
    yield make(2, 3)


@samples("is_pinned", "is_shared", reference=lambda x: False)
def of_memory(make):
    yield make(2, 3)


@samples("is_nonzero", reference=bool)
def is_nonzero(make):
    yield make.zero_dim(1)
    yield make.of(0)


@errors("is_nonzero")
def is_nonzero_errors(make):
    yield make(2), RuntimeError, "is_nonzero: a Tensor with 2 elements"
    yield make(0), RuntimeError, "is_nonzero: a Tensor with 0 elements"


@samples("is_same_size", reference=lambda x, y: x.shape == y.shape)
def is_same_size(make):
    yield make(2, 3), make(2, 3)
    yield make(2, 3), make(3, 2)


@samples("is_set_to", reference=lambda x, y: False)
def is_set_to(make):
    yield make(2, 3), make(2, 3)
