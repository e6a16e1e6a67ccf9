"""Examples of names that ask about GPUs and other devices, on a machine that has none."""

from __future__ import annotations

_SILENT = "empty_cache is_available device_count memory_allocated memory_reserved"
_NEED_A_GPU = "current_device get_device_name get_device_capability get_device_properties"
_NEED_A_GPU += " reset_peak_memory_stats mem_get_info get_rng_state"
_SETTINGS = "benchmark deterministic enabled allow_tf32"


def assigned(setting: str) -> str:
    """A setting at first, with both values, and restored."""
    owner, _, name = setting.rpartition(".")
    step = f"[setattr({owner}, '{name}', value), {setting}][1]"
    return f"(lambda before: [before, *({step} for value in (True, False, before))])({setting})"


DEVICES: dict[str, list[str]] = {
    **{f"cuda.{name}": [f"t.cuda.{name}()"] for name in _SILENT.split(" ")},
    **{f"cuda.{name}": [f"refused(lambda: t.cuda.{name}())"] for name in _NEED_A_GPU.split(" ")},
    **{
        f"backends.cudnn.{name}": [assigned(f"t.backends.cudnn.{name}")]
        for name in _SETTINGS.split(" ")
    },
    "cuda.manual_seed": ["[t.cuda.manual_seed(3), t.rand(2)]"],
    "cuda.manual_seed_all": ["[t.cuda.manual_seed_all(3), t.rand(2)]"],
    "cuda.max_memory_allocated": ["t.cuda.max_memory_allocated(device=None)"],
    "cuda.max_memory_reserved": ["t.cuda.max_memory_reserved(device=0)"],
    "cuda.memory_stats": ["len(t.cuda.memory_stats(device=None))"],
    "cuda.set_device": ["t.cuda.set_device(-1)", "refused(lambda: t.cuda.set_device(0))"],
    "cuda.synchronize": ["refused(lambda: t.cuda.synchronize(device=0))"],
    "cuda.current_stream": ["refused(lambda: t.cuda.current_stream(device=0))"],
    "cuda.stream": ["t.cuda.stream(None).__enter__()"],
    "cuda.Stream": ["refused(lambda: t.cuda.Stream(device=0))", "isinstance(3, t.cuda.Stream)"],
    "cuda.Event": ["refused(lambda: t.cuda.Event(enable_timing=True))"],
    "cuda.Event.record": ["callable(t.cuda.Event.record)"],
    "cuda.Event.elapsed_time": ["callable(t.cuda.Event.elapsed_time)"],
    "cuda.Event.synchronize": ["callable(t.cuda.Event.synchronize)"],
    "cuda.device": ["t.cuda.device(device=-1).__enter__()"],
    "cuda.is_bf16_supported": ["t.cuda.is_bf16_supported(including_emulation=False)"],
    "cuda.get_rng_state_all": ["t.cuda.get_rng_state_all()"],
    "cuda.FloatTensor": ["isinstance(x, t.cuda.FloatTensor)", "t.cuda.FloatTensor.dtype"],
    "cuda.LongTensor": ["isinstance(n, t.cuda.LongTensor)", "t.cuda.LongTensor.is_cuda"],
    "cuda.HalfTensor": ["t.cuda.HalfTensor.dtype"],
    "Tensor.cuda": ["refused(lambda: x.cuda(device=None, non_blocking=True))"],
    "Tensor.is_cuda": ["x.is_cuda"],
    "Tensor.get_device": ["x.get_device()"],
    "Tensor.is_pinned": ["x.is_pinned()"],
    "Tensor.pin_memory": ["refused(lambda: x.pin_memory())"],
    "Tensor.record_stream": ["refused(lambda: x.record_stream(None))"],
    "version.cuda": ["t.version.cuda"],
    "version.hip": ["t.version.hip"],
    "backends.cudnn.version": ["t.backends.cudnn.version()"],
    "backends.cudnn.flags": [
        (
            "[[f.__enter__(), t.backends.cudnn.enabled, f.__exit__(None, None, None),"
            " t.backends.cudnn.enabled] for f in"
            " [t.backends.cudnn.flags(enabled=False, allow_tf32=False)]]"
        ),
    ],
    "backends.cuda.matmul.allow_tf32": [assigned("t.backends.cuda.matmul.allow_tf32")],
    "backends.cuda.sdp_kernel": [
        (
            "[[f.__enter__() is None, t.backends.cuda.flash_sdp_enabled(),"
            " f.__exit__(None, None, None), t.backends.cuda.flash_sdp_enabled()] for f in"
            " [t.backends.cuda.sdp_kernel(enable_flash=False, enable_math=True,"
            " enable_mem_efficient=False)]][0][1:]"
        ),
    ],
    "backends.mps.is_available": ["t.backends.mps.is_available()"],
    "backends.mps.is_built": ["t.backends.mps.is_built()"],
    "xpu.is_available": ["t.xpu.is_available()"],
    "xpu.device_count": ["t.xpu.device_count()"],
    "xpu.empty_cache": ["t.xpu.empty_cache()"],
    "mps.synchronize": ["refused(lambda: t.mps.synchronize())"],
    "accelerator.is_available": ["t.accelerator.is_available()"],
    "accelerator.current_accelerator": ["t.accelerator.current_accelerator()"],
    "set_float32_matmul_precision": [
        (
            "[[t.set_float32_matmul_precision(word), t.get_float32_matmul_precision()]"
            " for word in ('high', 'highest')]"
        ),
    ],
    "get_float32_matmul_precision": ["t.get_float32_matmul_precision()"],
}
