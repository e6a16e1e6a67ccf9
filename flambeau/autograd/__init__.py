"""Automatic differentiation: gradients of what operators have computed."""

import typing as _typing

from flambeau._core.lazy import lazy as _lazy
from flambeau.autograd import forward_ad as forward_ad
from flambeau.autograd import functional as functional
from flambeau.autograd import grad_mode as grad_mode
from flambeau.autograd import graph as graph
from flambeau.autograd.anomaly_mode import detect_anomaly as detect_anomaly
from flambeau.autograd.anomaly_mode import set_detect_anomaly as set_detect_anomaly
from flambeau.autograd.engine import backward as backward
from flambeau.autograd.engine import grad as grad
from flambeau.autograd.function import Function as Function
from flambeau.autograd.grad_mode import enable_grad as enable_grad
from flambeau.autograd.grad_mode import inference_mode as inference_mode
from flambeau.autograd.grad_mode import no_grad as no_grad
from flambeau.autograd.grad_mode import set_grad_enabled as set_grad_enabled
from flambeau.autograd.grad_mode import set_multithreading_enabled as set_multithreading_enabled
from flambeau.autograd.gradcheck import gradcheck as gradcheck
from flambeau.autograd.gradcheck import gradgradcheck as gradgradcheck
from flambeau.autograd.variable import Variable as Variable
from flambeau.autograd.variable import variable as variable

if _typing.TYPE_CHECKING:
    from flambeau.autograd import profiler as profiler
    from flambeau.autograd import profiler_util as profiler_util
    from flambeau.autograd.profiler import _disable_profiler as _disable_profiler
    from flambeau.autograd.profiler import _profiler_enabled as _profiler_enabled
else:
    __getattr__ = _lazy(
        __name__,
        "profiler profiler_util",
        {"flambeau.autograd.profiler": "_disable_profiler _profiler_enabled"},
    )


__all__ = [
    "Function",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]
