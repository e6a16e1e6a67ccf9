"""Devices, streams and events."""

import pytest

import flambeau as fb
from flambeau import cuda


def test_what_a_device_is() -> None:
    assert cuda.is_available()
    assert cuda.device_count() >= 1
    properties = cuda.get_device_properties(0)
    assert properties.name == cuda.get_device_name()
    assert (properties.major, properties.minor) == cuda.get_device_capability("cuda")
    assert properties.total_memory > 0
    assert properties.name in repr(properties)
    assert f"sm_{properties.major}{properties.minor}" in cuda.get_arch_list()
    assert cuda.current_device() == 0
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        fb.ones(1, device=f"cuda:{cuda.device_count()}")
    with cuda.device(0), cuda.device(-1), cuda.device_of(fb.ones(1, device="cuda")):
        assert cuda.current_device() == 0
    cuda.set_device("cuda:0")
    cuda.init()
    assert cuda.is_initialized()


def test_streams() -> None:
    default, stream = cuda.default_stream(), cuda.Stream()
    assert cuda.current_stream() == default
    assert stream != default
    assert stream.device == fb.device("cuda", 0)
    with cuda.stream(stream):
        assert cuda.current_stream() == stream
        x = fb.ones(1000, device="cuda") * 2
        with cuda.stream(None):
            assert cuda.current_stream() == stream
    assert cuda.current_stream() == default
    default.wait_stream(stream)
    x.record_stream(default)
    assert x.sum().item() == 2000.0
    stream.synchronize()
    assert stream.query()
    cuda.set_stream(stream)
    assert cuda.current_stream() == stream
    cuda.set_stream(default)
    same = cuda.ExternalStream(stream.cuda_stream)
    assert same == stream
    assert hash(same) == hash(stream)
    assert "cuda:0" in repr(stream)


def test_events() -> None:
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    assert start.query()
    with pytest.raises(ValueError, match="must be recorded"):
        start.elapsed_time(end)
    start.record()
    fb.ones(1 << 16, device="cuda").mul_(2)
    end.record()
    end.synchronize()
    assert end.query()
    assert start.elapsed_time(end) >= 0
    with pytest.raises(ValueError, match="enable_timing=True"):
        cuda.Event().elapsed_time(end)
    cuda.current_stream().wait_event(end)
    assert cuda.current_stream().record_event().query() in (True, False)
