"""Settings of ``torch.backends``: assigned, read back, and refused when they make no sense."""

from __future__ import annotations

import warnings

import pytest

import flambeau as torch
from flambeau import backends
from flambeau._limits.accepted import AcceptedWarning


@pytest.fixture(autouse=True)
def settings_come_back():
    with backends.cudnn.flags(enabled=True, fp32_precision="none"):
        yield
    backends.fp32_precision = "none"
    torch.set_float32_matmul_precision("highest")


@pytest.mark.parametrize("name", ["benchmark", "deterministic", "enabled", "allow_tf32"])
@pytest.mark.parametrize("value", [True, False])
def test_cudnn(name, value):
    setattr(backends.cudnn, name, value)
    assert getattr(backends.cudnn, name) is value
    import flambeau.backends.cudnn as cudnn

    assert getattr(cudnn, name) is value


def test_values_that_make_no_sense():
    with pytest.raises(RuntimeError, match=r"backends\.cudnn\.benchmark: expected a bool, got int"):
        backends.cudnn.benchmark = 1
    with pytest.raises(RuntimeError, match="expected a bool, got str"):
        backends.cuda.matmul.allow_tf32 = "yes"
    with pytest.raises(AttributeError, match="matmul has no setting 'allow_tf23'"):
        backends.cuda.matmul.allow_tf23 = True
    with pytest.raises(RuntimeError, match="expected one of qnnpack, onednn, x86, fbgemm"):
        backends.quantized.engine = "abacus"
    with pytest.raises(RuntimeError, match="supported_engines: cannot be assigned"):
        backends.quantized.supported_engines = []
    with pytest.raises(RuntimeError, match="expected one of none, ieee, tf32, bf16, got 'fp8'"):
        backends.fp32_precision = "fp8"
    with pytest.raises(RuntimeError, match="backend 'cuda' does not support 'bf16'"):
        backends.cudnn.conv.fp32_precision = "bf16"
    with pytest.raises(TypeError, match="expected a string, got int"):
        backends.fp32_precision = 3
    with pytest.raises(RuntimeError, match="expected a bool, got str"):
        backends.cuda.enable_flash_sdp("no")
    with pytest.raises(RuntimeError, match="expected one of auto, cudnn, native"):
        backends.cudnn.depthwise_kernel = "fast"


def test_flags_last_for_a_block():
    backends.cudnn.benchmark = True
    with backends.cudnn.flags(enabled=False, allow_tf32=False):
        assert not backends.cudnn.enabled
        assert not backends.cudnn.benchmark
        assert not backends.cudnn.allow_tf32
    assert backends.cudnn.enabled
    assert backends.cudnn.benchmark
    assert backends.cudnn.allow_tf32
    with backends.mkldnn.flags(enabled=False):
        assert not backends.mkldnn.enabled
    assert backends.mkldnn.enabled
    with backends.opt_einsum.flags(strategy="greedy"):
        assert backends.opt_einsum.strategy == "greedy"
    assert backends.opt_einsum.strategy is None


def test_flags_come_back_after_an_error():
    with pytest.raises(RuntimeError), backends.cudnn.flags(benchmark=True, deterministic="no"):
        pass
    assert not backends.cudnn.benchmark


def test_set_flags_returns_what_was():
    backends.cudnn.benchmark = False
    before = backends.cudnn.set_flags(_benchmark=True)
    assert before[:2] == (True, False)
    assert backends.cudnn.benchmark


def test_precision_of_products():
    assert torch.get_float32_matmul_precision() == "highest"
    torch.set_float32_matmul_precision("high")
    assert backends.cuda.matmul.allow_tf32
    assert backends.mkldnn.matmul.fp32_precision == "tf32"
    torch.set_float32_matmul_precision("medium")
    assert torch.get_float32_matmul_precision() == "medium"
    backends.cuda.matmul.allow_tf32 = False
    assert torch.get_float32_matmul_precision() == "highest"


def test_precision_is_inherited():
    backends.cuda.matmul.fp32_precision = "none"  # as at first
    assert backends.mkldnn.conv.fp32_precision == "none"
    backends.fp32_precision = "tf32"
    assert backends.mkldnn.conv.fp32_precision == "tf32"
    backends.mkldnn.fp32_precision = "bf16"
    assert backends.mkldnn.conv.fp32_precision == "bf16"
    assert backends.cuda.matmul.fp32_precision == "tf32"
    backends.mkldnn.fp32_precision = "none"


def test_kernels_of_attention():
    with pytest.warns(FutureWarning, match=r"use torch\.nn\.attention\.sdpa_kernel"):
        block = backends.cuda.sdp_kernel(
            enable_flash=False, enable_math=True, enable_mem_efficient=False
        )
    with block:
        assert not backends.cuda.flash_sdp_enabled()
        assert backends.cuda.math_sdp_enabled()
        assert not backends.cuda.mem_efficient_sdp_enabled()
    assert backends.cuda.flash_sdp_enabled()
    backends.cuda.enable_flash_sdp(False)
    assert not backends.cuda.flash_sdp_enabled()
    backends.cuda.enable_flash_sdp(True)


def test_libraries():
    assert not backends.cuda.is_built()
    assert not backends.cudnn.is_available()
    assert backends.cudnn.version() is None
    assert not backends.mps.is_available()
    assert not backends.mps.is_built()
    assert not backends.openmp.is_available()
    assert backends.mkldnn.is_available() == ("oneDNN 3" in torch.__config__.show())
    assert backends.cpu.get_cpu_capability() in ("DEFAULT", "AVX2", "AVX512")
    assert "fbgemm" in backends.quantized.supported_engines
    assert backends.cuda.preferred_linalg_library().name == "Default"
    with pytest.raises(RuntimeError, match="magma is not part of this build"):
        backends.cuda.preferred_linalg_library("magma")
    with pytest.raises(RuntimeError, match="expected one of default, cusolver, magma"):
        backends.cuda.preferred_linalg_library("lapack")
    with pytest.raises(AssertionError, match="cufft_plan_cache"):
        _ = backends.cuda.cufft_plan_cache.size


def test_assigning_in_a_block():
    with getattr(backends, "__allow_nonbracketed_mutation")():
        backends.cudnn.benchmark = True
    assert backends.cudnn.benchmark
    backends.cudnn.benchmark = False


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)
    torch.use_deterministic_algorithms(False)


def weight_gradient(threads):
    """One that is added up from what several threads have computed."""
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    weight = torch.randn(24, 16, 3, 3, requires_grad=True)
    torch.nn.functional.conv2d(
        torch.randn(8, 16, 20, 20), weight, padding=1
    ).square().sum().backward()
    return weight.grad


@pytest.mark.parametrize("way", ["none", "algorithms", "mkldnn", "flags"])
def test_deterministic_gradients(way, two_threads):
    if way == "algorithms":
        torch.use_deterministic_algorithms(True)
    with backends.mkldnn.flags(enabled=True, deterministic=way == "flags"):
        if way == "mkldnn":
            backends.mkldnn.deterministic = True
        assert torch.equal(weight_gradient(1), weight_gradient(2))
    assert not backends.mkldnn.deterministic


def test_deterministic_settings_add_up():
    torch.use_deterministic_algorithms(True)
    with backends.mkldnn.flags(deterministic=True):
        torch.use_deterministic_algorithms(False)
        assert backends.mkldnn.deterministic
    assert not torch.are_deterministic_algorithms_enabled()


def test_what_a_switch_does_not_do(monkeypatch):
    monkeypatch.setattr("flambeau._limits.accepted._said", set())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # PyTorch ignores these on a CPU, too.
        backends.cudnn.benchmark = True
        backends.cudnn.benchmark = False
        torch.set_float32_matmul_precision("high")
        backends.mkldnn.enabled = True
    with pytest.warns(AcceptedWarning, match=r"mkldnn\.enabled is accepted") as caught:
        backends.mkldnn.enabled = False
    assert caught[0].filename == __file__
    backends.mkldnn.enabled = True
    with pytest.warns(AcceptedWarning, match=r"torch\.empty does not fill its memory"):
        torch.use_deterministic_algorithms(True)
    torch.use_deterministic_algorithms(False)


@pytest.mark.skipif(not backends.mkldnn.is_available(), reason="it prints")
def test_onednn_reports_its_calls(capfd):
    with backends.mkldnn.verbose(backends.mkldnn.VERBOSE_ON):
        torch.nn.functional.conv2d(torch.ones(1, 8, 9, 9), torch.ones(8, 8, 3, 3))
    assert "convolution" in capfd.readouterr().out
    torch.nn.functional.conv2d(torch.ones(1, 8, 9, 9), torch.ones(8, 8, 3, 3))
    assert not capfd.readouterr().out
    with pytest.raises(AssertionError, match="computes with OpenBLAS"), backends.mkl.verbose(1):
        pass
