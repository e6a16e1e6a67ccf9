"""How much of the API that real code uses is there, area by area and in all.

``tests/data/census.tsv`` counts the uses of every public name in 83 public repositories, those used
by most repositories first, with the keyword arguments they are called with. ``EXAMPLES`` holds, for
each name that is needed, small calls that together use all of those keyword arguments.
``python -m tests.census`` prints the share of uses that works.
"""

from __future__ import annotations

import ast
import csv
import importlib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from flambeau.compat._names import ABSENT, declares, resolve

from .amp import AMP
from .attributes import ATTRIBUTES
from .data import DATA
from .devices import DEVICES
from .distributions import DISTRIBUTIONS
from .functionals import FUNCTIONALS
from .functions import FUNCTIONS
from .gradients import GRADIENTS
from .graphs import GRAPHS
from .methods import METHODS
from .modules import MODULES
from .optim import OPTIMIZERS
from .processes import PROCESSES, grouped
from .profiler import PROFILER
from .scripts import SCRIPTS
from .seldom import SELDOM
from .serialization import CHECKPOINTS
from .tensorboard import TENSORBOARD
from .vision import VISION
from .widespread import WIDESPREAD

# Of all uses, names in the order of the count are needed until this share is reached...
TARGET = 0.98
# ...and more of some areas: their most used names, until this share of the area is reached.
AREA_TARGETS = dict.fromkeys(("tensor", "nn", "functional", "optim", "data", "serialization"), 0.99)
EXAMPLES: dict[str, list[str]] = {
    **{f"torch.{name}": calls for name, calls in (ATTRIBUTES | FUNCTIONS).items()},
    **{f"torch.Tensor.{name}": calls for name, calls in METHODS.items()},
    **{f"torch.nn.{name}": calls for name, calls in MODULES.items()},
    **{f"torch.nn.functional.{name}": calls for name, calls in FUNCTIONALS.items()},
    **{f"torch.optim.{name}": calls for name, calls in OPTIMIZERS.items()},
    **{f"torch.distributions.{name}": calls for name, calls in DISTRIBUTIONS.items()},
    **{f"torch.utils.data.{name}": calls for name, calls in DATA.items()},
    **{f"torch.utils.tensorboard.{name}": calls for name, calls in TENSORBOARD.items()},
    **{f"torch.{name}": calls for name, calls in GRADIENTS.items()},
    **{f"torch.{name}": calls for name, calls in (AMP | DEVICES | PROFILER).items()},
    **{f"torchvision.{name}": calls for name, calls in VISION.items()},
    **{f"torch.{name}": calls for name, calls in (GRAPHS | PROCESSES | SCRIPTS).items()},
    **{f"torch.{name}": calls for name, calls in (CHECKPOINTS | WIDESPREAD | SELDOM).items()},
}
# Keyword arguments that the count holds and no example uses, and why.
KEYWORDS_LEFT_OUT: dict[str, dict[str, str]] = {
    "torch.tensor": {"copy": "PyTorch refuses it"},
    "torch.zeros": {"memory_format": "PyTorch refuses it"},
    "torch.einsum": {"backend": "PyTorch refuses it"},
    "torch.mm": {"out_dtype": "PyTorch has it on CUDA only"},
    "torch.randn": {"names": "named dimensions, which PyTorch never finished"},
    "torch.distributions.Distribution.sample": {
        "generator": "PyTorch refuses it",
        "base_samples": "PyTorch refuses it",
    },
    "torch.distributions.Distribution.rsample": {"base_samples": "PyTorch refuses it"},
    "torch.nn.Module.cuda": {"device": "there may be none"},
    "torch.distributed.init_process_group": {"_ranks": "not part of PyTorch's interface"},
    "torch.optim.lr_scheduler.ReduceLROnPlateau": {"verbose": "PyTorch refuses it"},
    "torchvision.utils.save_image": {"range": "torchvision refuses it"},
    "torch.utils.data.TensorDataset": {
        "data_tensor": "PyTorch refuses it",
        "target_tensor": "PyTorch refuses it",
    },
    "torch.Tensor.backward": {"retain_variables": "PyTorch refuses it"},
    "torch.autograd.Variable": {"volatile": "PyTorch refuses it"},
}
# Names that exist and raise NotImplementedError, which says what to use instead.
REFUSED = {
    "torch.onnx.export": (
        "t.onnx.export(nn.Linear(3, 2), x, f='net.onnx', export_params=True, opset_version=17,"
        " do_constant_folding=True, input_names=['a'], output_names=['b'], dynamic_axes={},"
        " verbose=False)"
    ),
    "torch.utils.cpp_extension.CUDAExtension": (
        "t.utils.cpp_extension.CUDAExtension(name='a', sources=['a.cu'], include_dirs=[],"
        " extra_compile_args=[])"
    ),
    "torch.utils.cpp_extension.CppExtension": (
        "t.utils.cpp_extension.CppExtension('a', sources=['a.cpp'], include_dirs=[])"
    ),
    "torch.distributed.fsdp.FullyShardedDataParallel": (
        "t.distributed.fsdp.FullyShardedDataParallel(module=nn.Linear(3, 2), device_id=0)"
    ),
    "torch.distributed.tensor.distribute_tensor": (
        "t.distributed.tensor.distribute_tensor(x, None, [], src_data_rank=0)"
    ),
}

# Modules that PyTorch loads only when a program imports them.
_ASKED_FOR = (
    "distributed.checkpoint.state_dict",
    "distributed.tensor",
    "fx.experimental.symbolic_shapes",
    "nn.attention.flex_attention",
    "onnx.operators",
    "utils.benchmark",
    "utils.cpp_extension",
    "utils.flop_counter",
    "utils.tensorboard",
)


class Entry(NamedTuple):
    name: str
    kind: str
    area: str
    uses: int  # of a module: of the statements that import it
    keywords: frozenset[str]

    @property
    def weight(self) -> int:
        """What it adds to the uses of an area: those of a module are those of its names."""
        return 0 if self.kind == "module" else self.uses


def load() -> list[Entry]:
    """Every counted name, those that most repositories use first."""
    path = Path(__file__).parent.parent / "data" / "census.tsv"
    with path.open(newline="") as file:
        return [
            Entry(
                row["name"],
                row["kind"],
                row["area"],
                int(row["uses"]),
                frozenset(row["keywords"].split()),
            )
            for row in csv.DictReader(file, delimiter="\t")
        ]


def needed() -> list[Entry]:
    """The names that together make up the targets."""
    entries = load()
    chosen = {entry.name: entry for entry in _until(TARGET, entries)}
    for area, target in AREA_TARGETS.items():
        most_used = sorted(
            (entry for entry in entries if entry.area == area), key=lambda each: -each.weight
        )
        chosen.update({entry.name: entry for entry in _until(target, most_used)})
    return list(chosen.values())


def _until(share: float, entries: list[Entry]) -> list[Entry]:
    missing = share * sum(entry.weight for entry in entries)
    chosen = []
    for entry in entries:
        if missing <= 0:
            break
        chosen.append(entry)
        missing -= entry.weight
    return chosen


def keywords_of(name: str) -> set[str]:
    """The keyword arguments that the examples of ``name`` pass to it."""
    last = name.rpartition(".")[2]
    passed: set[str] = set()
    for call in EXAMPLES.get(name, []):
        for node in ast.walk(ast.parse(call, mode="eval")):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", None) == last:
                passed.update(keyword.arg for keyword in node.keywords if keyword.arg)
    return passed


def exists(name: str) -> bool:
    """Whether a name is there; what only objects of a class have, by examples or declaration."""
    if resolve(name) is not ABSENT:
        return True
    owner, _, attribute = name.rpartition(".")
    made = resolve(owner)
    return isinstance(made, type) and (name in EXAMPLES or declares(made, attribute))


def _vision(module: Any) -> Any:
    if module.__name__ == "flambeau":
        return importlib.import_module("flambeau.vision")
    return importlib.import_module("tests.conformance.vision_oracle").load()


def run(module: Any, call: str) -> Any:
    """Evaluate an example with ``t`` as the module and freshly made operands."""
    module.manual_seed(0)
    names = {"t": module, "nn": module.nn, "F": module.nn.functional}
    names |= {"grouped": grouped(module), "refused": _refused}
    if "tv." in call:
        names["tv"] = _vision(module)
        importlib.import_module(f"{names['tv'].__name__}.transforms.v2")
    for part in _ASKED_FOR:
        if part in call:
            importlib.import_module(f"{module.__name__}.{part}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # advice against some old spellings
        return eval(call, names | _operands(module))


def _refused(call: Callable[[], Any]) -> bool:
    """Whether a call raises an error: on a machine without GPUs some do."""
    try:
        call()
    except Exception:
        return True
    return False


def _operands(t: Any) -> dict[str, Any]:
    matrix = t.tensor([[4.0, 1.0, 0.5], [1.0, 3.0, -0.25], [0.5, -0.25, 2.0]])
    x = t.tensor([[0.5, -1.25, 2.0], [3.5, 0.25, -0.75]])
    return {
        "x": x,
        "y": t.tensor([[1.5, 2.25, -0.5], [0.125, -3.0, 1.0]]),
        "u": t.tensor([[0.5, 0.25, 0.125], [0.75, 0.875, 0.625]]),  # inside (0, 1)
        "v": t.tensor([3.0, -1.0, 2.0, 0.5]),
        "w": t.tensor([1.0, float("inf"), float("nan"), -2.0]),
        "n": t.tensor([[5, -3, 2], [0, 7, 2]]),
        "k": t.tensor([1, 0]),  # positions
        "kk": t.tensor([[1, 0, 2], [2, 1, 0]]),  # positions, one for each element of x
        "m": t.tensor([[True, False, True], [False, False, True]]),
        "c": t.tensor([1 + 2j, -0.5 - 1j, 3j]),
        "s": matrix,  # symmetric positive definite
        "b": t.linspace(0, 1.7, 18).reshape(2, 3, 3),
        "image": t.arange(48.0).reshape(1, 3, 4, 4),
    }
