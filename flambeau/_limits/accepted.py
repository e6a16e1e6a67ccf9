"""Options that Flambeau accepts without effect: one list, and one warning for each.

An option is in the list if PyTorch, on a machine without a GPU, would do something that a program
can see (another result, an error, a call, a file, speed that was asked for) and Flambeau does not.
Options that PyTorch ignores on such a machine too are not. ``flambeau run --audit`` reads the list,
and the table of docs/compatibility.md is generated from it.
"""

from __future__ import annotations

import warnings

__all__: list[str] = []

# A name, or one option of it as ``name(option)``: what happens instead, and the remedy.
ACCEPTED: dict[str, str] = {
    "torch.autograd.gradcheck(masked)": (
        "tensors are compared as dense ones; pass a function that masks its result"
    ),
    "torch.backends.mkldnn.enabled": (
        "oneDNN computes convolutions and products where it is the fastest, even if it is switched "
        "off; results differ by rounding only"
    ),
    "torch.compile": (
        "functions and modules run eagerly, with the same results; nothing needs to be changed"
    ),
    "torch.compile(backend)": (
        "the function is not one graph, so it runs eagerly and the backend is not called; "
        "fullgraph=True raises the reason"
    ),
    "torch.compile(fullgraph)": (
        "functions run eagerly and graph breaks are not detected; torch.fx.symbolic_trace or "
        "torch.export.export refuse a function that is not one graph"
    ),
    "torch.cuda.nvtx": (
        "NVIDIA's profilers see no ranges, as libnvToolsExt is not there; python -m pip install "
        "nvidia-nvtx-cu12, or use torch.profiler"
    ),
    "torch.export.export(strict)": (
        "modules are recorded by running them, as with strict=False; what Python decides is fixed"
    ),
    "torch.export.ExportedProgram.run_decompositions": (
        "the program keeps its operators, which are those that Flambeau runs, instead of PyTorch's "
        "core operators; pass an empty table, {}, if that is intended"
    ),
    "torch.hub.load(skip_validation)": (
        "nothing checks whether a commit belongs to a fork of the repository; name one that you "
        "know"
    ),
    "torch.jit.ScriptModule.train": (
        "the file of a script holds the module in evaluation mode, without dropout; train the "
        "module that the script was made from"
    ),
    "torch.profiler.profile(custom_trace_id_callback)": (
        "the function is not called; name the trace in on_trace_ready"
    ),
    "torch.profiler.profile(execution_trace_observer)": (
        "no execution trace is written; export_chrome_trace writes what was recorded"
    ),
    "torch.profiler.profile(experimental_config)": (
        "options of Kineto are not read; with_stack, profile_memory and similar options are"
    ),
    "torch.utils.checkpoint.create_selective_checkpoint_contexts": (
        "everything is recomputed, whatever the policy says; gradients are the same"
    ),
    "torch.utils.deterministic.fill_uninitialized_memory": (
        "torch.empty does not fill its memory in deterministic mode; use torch.full where a "
        "program reads what it has not written"
    ),
}

_said: set[str] = set()


class AcceptedWarning(UserWarning):
    """An option was accepted that has no effect."""


def accepted(name: str, stacklevel: int = 1) -> None:
    """Warn, once per process, that a name in ``ACCEPTED`` has no effect.

    The warning points at the caller of the function that calls this, or further out.
    """
    if name in _said:
        return
    _said.add(name)
    text = f"{name} is accepted without effect: {ACCEPTED[name]}"
    warnings.warn(text, AcceptedWarning, stacklevel=stacklevel + 2)


def table() -> str:
    """Return the list as a Markdown table."""
    rows = [f"| `{name}` | {ACCEPTED[name]} |" for name in sorted(ACCEPTED)]
    return "\n".join(["| accepted | what happens, and the remedy |", "|---|---|", *rows])
