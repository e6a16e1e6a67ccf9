"""TorchScript's interface: scripts run by Python, traces as programs without Python.

``script`` keeps functions and modules as they are. ``trace`` records the operators that are called
for example inputs; ``save`` and ``load`` carry such a recording to a process that does not have the
code.
"""

from flambeau.futures import Future
from flambeau.jit import annotations as annotations
from flambeau.jit._async import fork, wait
from flambeau.jit._keeping import script_if_tracing
from flambeau.jit._looks import TracerWarning, is_tracing
from flambeau.jit._marks import (
    Attribute,
    Final,
    annotate,
    export,
    ignore,
    interface,
    is_scripting,
    script_method,
    unused,
)
from flambeau.jit._marks import _drop as _drop
from flambeau.jit._marks import _overload as _overload
from flambeau.jit._marks import _overload_method as _overload_method
from flambeau.jit._marks import _unwrap_optional as _unwrap_optional
from flambeau.jit._options import (
    enable_onednn_fusion,
    freeze,
    fuser,
    onednn_fusion_enabled,
    optimize_for_inference,
    optimized_execution,
    run_frozen_optimizations,
    set_fusion_strategy,
    strict_fusion,
)
from flambeau.jit._script import (
    CompilationUnit,
    RecursiveScriptModule,
    ScriptFunction,
    ScriptModule,
    script,
)
from flambeau.jit._serialization import load, save
from flambeau.jit._trace import (
    TopLevelTracedModule,
    TracedModule,
    TracingCheckError,
    trace,
    trace_module,
)
from flambeau.jit._types import isinstance

__all__ = [
    "Attribute",
    "CompilationUnit",
    "Error",
    "Final",
    "Future",
    "RecursiveScriptModule",
    "ScriptFunction",
    "ScriptModule",
    "ScriptWarning",
    "TopLevelTracedModule",
    "TracedModule",
    "TracerWarning",
    "TracingCheckError",
    "annotate",
    "annotations",
    "enable_onednn_fusion",
    "export",
    "fork",
    "freeze",
    "fuser",
    "ignore",
    "interface",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "load",
    "onednn_fusion_enabled",
    "optimize_for_inference",
    "optimized_execution",
    "run_frozen_optimizations",
    "save",
    "script",
    "script_if_tracing",
    "script_method",
    "set_fusion_strategy",
    "strict_fusion",
    "trace",
    "trace_module",
    "unused",
    "wait",
]

# Of programs that catch what a script raises.
Error = RuntimeError


class ScriptWarning(Warning):
    """Something in a script that PyTorch would not compile as it is meant."""
