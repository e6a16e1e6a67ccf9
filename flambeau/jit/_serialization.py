"""Files of scripts: the members of a module and the programs of its methods, as plain data.

The file is a checkpoint in the archive format of ``torch.save`` and is read as one, so that loading
it runs no code from the file. It does not need the classes that the module was made of.
"""

from __future__ import annotations

import os
from typing import Any

from flambeau import serialization
from flambeau._recording import files
from flambeau.jit._keeping import traced_example
from flambeau.jit._script import ScriptFunction, ScriptModule
from flambeau.jit._trace import TopLevelTracedModule, TracedModule
from flambeau.nn import Module, Parameter
from flambeau.serialization._trees import check_names

__all__: list[str] = []

_KIND = "script"


def save(m: Any, f: Any, _extra_files: dict[str, Any] | None = None) -> None:
    """Write a traced function or module into a file; extra files go with it, by name."""
    if isinstance(m, TracedModule):
        content: dict[str, Any] = {"module": _module_data(m)}
        programs = m.__dict__["_programs"]
    elif isinstance(m, ScriptFunction) and m._program is not None:
        content = {"module": None}
        programs = {"forward": m.graph}
    elif isinstance(m, (ScriptModule, ScriptFunction)):
        return save(_traced_for_saving(m), f, _extra_files)
    else:
        raise AttributeError(
            f"jit.save: expected a script, got {type(m).__name__}; use torch.jit.trace before"
        )
    content |= {
        **files.header(_KIND),
        "programs": {name: files.program_data(program) for name, program in programs.items()},
        "evaluation_only": m.__dict__.get("_evaluation_only", False),
        "extra_files": dict(_extra_files or {}),
    }
    return serialization.save(content, f)


def load(
    f: Any,
    map_location: Any = None,
    _extra_files: dict[str, Any] | None = None,
    _restore_shapes: bool = False,
) -> Any:
    """Load a module that `jit.save` stored. No code from the file is run.

    Args:
        f: Path, or an open file.
        map_location: Device of the tensors. Default: that of the file.
        _extra_files: Names of further files in the archive; their contents are put into the dict.
        _restore_shapes: Accepted for compatibility.

    Returns:
        A module that runs the programs in the file.

    Raises:
        RuntimeError: The file is damaged, or no script.

    Example:
        >>> script = torch.jit.trace(nn.ReLU(), torch.ones(2))
        >>> torch.jit.save(script, "relu.pt")
        >>> torch.jit.load("relu.pt")(torch.tensor([-1.0, 1.0]))
        tensor([0., 1.])

    See also:
        `jit.save`, `torch.load`.
    """
    if isinstance(f, (str, os.PathLike)) and not os.path.exists(f):
        raise ValueError(f"jit.load: there is no file {os.fspath(f)!r}")
    _refuse_torchscript(f)
    content = serialization.load(f, map_location=map_location, weights_only=True)
    files.check_header(
        content,
        _KIND,
        "jit.load",
        "this is a checkpoint, not a script; torch.load reads it, and load_state_dict gives its "
        "contents to a module",
    )
    try:
        module = _loaded(content)
        extra = dict(content["extra_files"])
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise RuntimeError(f"jit.load: the file is damaged: {error!r}") from error
    for name in _extra_files or {}:
        _extra_files[name] = extra.get(name, "")  # type: ignore[index]
    return module


def _loaded(content: dict[str, Any]) -> TracedModule:
    data = content["module"] or {"name": "PlaceholderModule", "training": True}
    module = _module(data, TopLevelTracedModule)
    module.__dict__["_evaluation_only"] = bool(content.get("evaluation_only"))
    for name, program in content["programs"].items():
        module.__dict__["_programs"][name] = files.program_of(program)
    return module


def _traced_for_saving(script: ScriptModule | ScriptFunction) -> Any:
    """A trace of a script for tensors as it was called with, if it is right for others, too."""
    example = script.__dict__.get("_example")
    if example is None:
        raise RuntimeError(
            "jit.save: a script is saved as the operators it calls, and they are not known before "
            "it has been called; call it once, or use torch.jit.trace with example inputs"
        )
    return traced_example(script, example)


def _module_data(module: Module) -> dict[str, Any]:
    """Parameters, buffers and children of a module."""
    children = {name: child for name, child in module._modules.items() if child is not None}
    return {
        "name": getattr(module, "original_name", type(module).__name__),
        "training": module.training,
        "parameters": {
            name: (parameter.detach(), parameter.requires_grad)
            for name, parameter in module._parameters.items()
            if parameter is not None
        },
        "buffers": {k: buffer for k, buffer in module._buffers.items() if buffer is not None},
        "non_persistent": sorted(module._non_persistent_buffers_set),
        "children": {name: _module_data(child) for name, child in children.items()},
    }


def _module(data: dict[str, Any], kind: type[TracedModule] = TracedModule) -> TracedModule:
    check_names([data["name"], *data.get("parameters", {}), *data.get("buffers", {})])
    check_names(data.get("children", {}))
    module = kind(data["name"], data["training"])
    for name, (tensor, requires_grad) in data.get("parameters", {}).items():
        module.register_parameter(name, Parameter(tensor, requires_grad))
    for name, buffer in data.get("buffers", {}).items():
        module.register_buffer(name, buffer, persistent=name not in data["non_persistent"])
    for name, child in data.get("children", {}).items():
        module.add_module(name, _module(child))
    return module


def _refuse_torchscript(f: Any) -> None:
    import zipfile

    try:
        names = zipfile.ZipFile(f).namelist()
    except (zipfile.BadZipFile, AttributeError, TypeError, ValueError):
        names = []
    if hasattr(f, "seek"):
        f.seek(0)
    if any("/code/" in name or name.endswith("constants.pkl") for name in names):
        raise NotImplementedError(
            "jit.load: this file holds TorchScript code, which Flambeau does not run; in PyTorch, "
            "save the weights by torch.save(module.state_dict()), or export to ONNX, and load "
            "them into the module's class"
        )
