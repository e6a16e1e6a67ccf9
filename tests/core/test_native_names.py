"""Names that packages expect in PyTorch's native module."""

import pytest

import flambeau as fb
from flambeau import _C


def test_names():
    assert isinstance(fb.Tensor, _C._TensorMeta)
    device, dtype, non_blocking, memory_format = _C._nn._parse_to("cpu", fb.float64)
    assert (device, dtype, non_blocking, memory_format) == (
        fb.device("cpu"),
        fb.float64,
        False,
        None,
    )


def test_no_tracer_is_at_work():
    assert _C._get_tracing_state() is None


def test_identity_of_tensors():
    a = fb.zeros(2)
    b = a
    assert a._cdata == b._cdata
    assert a._cdata != a.view(2)._cdata


def test_names_of_traces_stand_beside_them():
    fb.fx.symbolic_trace(fb.nn.GELU())
    assert callable(_C._nn.gelu)
    assert callable(_C._nn._parse_to)


def test_others_are_missing():
    with pytest.raises(AttributeError, match="_no_such_name"):
        _ = _C._no_such_name
    assert not hasattr(_C, "__wrapped__")


def test_transforms_at_work():
    assert not _C._are_functorch_transforms_active()
    seen = []

    def watch(x):
        seen.append(_C._are_functorch_transforms_active())
        return x * 2

    fb.vmap(watch)(fb.ones(3))
    fb.func.jvp(watch, (fb.ones(3),), (fb.ones(3),))
    assert seen == [True, True]
    assert not _C._are_functorch_transforms_active()
