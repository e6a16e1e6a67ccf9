"""Examples of mixed precision (operands: see ``tests/census/__init__.py``)."""

from __future__ import annotations

_SCALER = "t.amp.GradScaler('cpu', init_scale=4.0, growth_interval=2)"
_STATE = (
    "{'scale': 8.0, 'growth_factor': 2.0, 'backoff_factor': 0.5, 'growth_interval': 3,"
    " '_growth_tracker': 2}"
)
_PLUS = "lambda ctx, x: x + 1"
_FWD = f"t.cuda.amp.custom_fwd({_PLUS})"
_CAST = "device_type='cpu', cast_inputs=t.bfloat16"


def within(region: str) -> str:
    """A product and a sum computed in a region."""
    return f"{region}(lambda: (x @ x.t(), x + y))()"


def trained(scaler: str) -> str:
    """A parameter and the scale after three steps, in one of which a gradient is infinite."""
    step = (
        "(o.zero_grad(), s.scale((p * y * factor).sum()).backward(), s.unscale_(o), s.step(o),"
        " s.update())"
    )
    steps = f"[{step} for factor in (1.0, float('inf'), 2.0)]"
    run = f"(lambda o: ({steps}, p, s.get_scale())[1:])(t.optim.SGD([p], lr=0.1))"
    return f"(lambda p, s: {run})(nn.Parameter(x.clone()), {scaler})"


def older(name: str, arguments: str = "") -> str:
    """Whether a scaler or region of an older name, and for CUDA, is on."""
    return f"t.cuda.amp.{name}({arguments})._enabled == t.cuda.is_available()"


AMP: dict[str, list[str]] = {
    "autocast": [
        within(
            "t.autocast(device_type='cpu', dtype=t.bfloat16, enabled=True, cache_enabled=False)"
        ),
        within("t.autocast('cpu', enabled=False)"),
        within("t.amp.autocast('cpu', dtype=t.float16)"),
    ],
    "GradScaler": [
        trained("t.GradScaler(device='cpu', enabled=True)"),
        trained(_SCALER),
        "t.GradScaler(device='cpu', enabled=False).state_dict()",
    ],
    "GradScaler.scale": [f"{_SCALER}.scale(x)", f"{_SCALER}.scale([x, (y,)])"],
    "GradScaler.step": [trained(_SCALER)],
    "GradScaler.update": [trained(_SCALER)],
    "GradScaler.unscale_": [trained(_SCALER)],
    "GradScaler.get_scale": [f"{_SCALER}.get_scale()"],
    "GradScaler.state_dict": [f"list({_SCALER}.state_dict().items())"],
    "GradScaler.load_state_dict": [
        f"(lambda s: (s.load_state_dict({_STATE}), s.scale(x), s.get_scale()))({_SCALER})"
    ],
    "cuda.amp.GradScaler": [
        older("GradScaler", "enabled=True, init_scale=2.0, growth_interval=100"),
        "t.cuda.amp.GradScaler(enabled=False).get_scale()",
    ],
    "cuda.amp.autocast": [
        older("autocast", "enabled=True, dtype=t.float16"),
        within("t.cuda.amp.autocast(enabled=False)"),
    ],
    "cuda.amp.custom_fwd": [
        f"t.cuda.amp.custom_fwd({_PLUS}, cast_inputs=t.float32)(nn.Module(), x)",
        f"{_FWD}(nn.Module(), x)",
    ],
    "cuda.amp.custom_bwd": [
        f"(lambda c, f, g: g(c, f(c, x)))(nn.Module(), {_FWD}, t.cuda.amp.custom_bwd({_PLUS}))"
    ],
    "cpu.amp.autocast": [within("t.cpu.amp.autocast(enabled=True, dtype=t.bfloat16)")],
    "amp.custom_fwd": [
        f"t.amp.custom_fwd({_CAST})({_PLUS})(nn.Module(), x)",
        f"t.autocast('cpu')(t.amp.custom_fwd({_PLUS}, {_CAST}))(nn.Module(), x)",
    ],
    "is_autocast_enabled": [
        "t.is_autocast_enabled()",
        "t.autocast('cpu')(lambda: t.is_autocast_enabled('cpu'))()",
    ],
    "is_autocast_cpu_enabled": ["t.autocast('cpu')(lambda: t.is_autocast_cpu_enabled())()"],
    "is_autocast_cache_enabled": ["t.is_autocast_cache_enabled()"],
    "get_autocast_dtype": ["t.get_autocast_dtype('cpu')", "t.get_autocast_dtype('cuda')"],
    "get_autocast_gpu_dtype": ["t.get_autocast_gpu_dtype()"],
    "get_autocast_cpu_dtype": [
        "t.autocast('cpu', dtype=t.float16)(lambda: t.get_autocast_cpu_dtype())()"
    ],
    "clear_autocast_cache": ["t.clear_autocast_cache()"],
}
