"""Names that our base classes have and PyTorch's have not, which programs may give to their own."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import pkgutil
import textwrap
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import torch

import flambeau as fb
from tests.conformance.with_torch import allow_torchvision

# Classes that programs derive their own from. Whatever a method of ours calls through an object of
# such a class has PyTorch's name, or one that begins with this:
OURS = "_fb_"
ROOTS = {
    "Module": fb.nn.Module,
    "Optimizer": fb.optim.Optimizer,
    "LRScheduler": fb.optim.lr_scheduler.LRScheduler,
    "Dataset": fb.utils.data.Dataset,
    "Sampler": fb.utils.data.Sampler,
    "DataLoader": fb.utils.data.DataLoader,
    "Function": fb.autograd.Function,
    "Distribution": fb.distributions.Distribution,
    "Transform": fb.distributions.Transform,
    "Constraint": fb.distributions.constraints.Constraint,
    "Tensor": fb.Tensor,
    "GradScaler": fb.amp.GradScaler,
    "Tracer": fb.fx.Tracer,
    "Interpreter": fb.fx.Interpreter,
    "BasePruningMethod": fb.nn.utils.prune.BasePruningMethod,
}

# Methods for programs that PyTorch has not. No method of ours calls them.
ADDITIONS = {
    ("Module", "summary"): "the table of a network; gives way to members",
    ("Tensor", "describe"): "one line about a tensor",
    ("Optimizer", "named_state_dict"): "state by the names of parameters",
    ("Optimizer", "load_named_state_dict"): "and back",
    ("DataLoader", "state_dict"): "where a pass stands; torchdata's loader has them too",
    ("DataLoader", "load_state_dict"): "and back",
}

# Names of PyTorch's that other classes of the family have there.
OF_THE_FAMILY = {
    ("Distribution", "_param"): "the probabilities or logits, of all distributions that have them",
    ("Distribution", "_new"): "makes a tensor beside them",
    ("Distribution", "param_shape"): "their shape",
    ("Constraint", "lower_bound"): "a bound that some ranges leave at infinity",
    ("Constraint", "upper_bound"): "likewise",
    ("Optimizer", "grad_scale"): "what GradScaler sets before a step",
    ("Optimizer", "found_inf"): "likewise",
    ("Module", "activation_post_process"): "the observer, which torch adds when it prepares",
    ("Module", "weight"): "of quantised layers: torch has it in those of one weight",
    ("Module", "dtype"): "of quantised layers: torch has it in those of several weights",
    ("Module", "num_anchors"): "of the heads of a detector: torchvision has it in one of the two",
    ("Dataset", "_image_files"): "of lists of images: torchvision has it in most of them",
    ("Dataset", "_labels"): "likewise",
    ("Dataset", "classes"): "likewise",
    ("Dataset", "class_to_idx"): "likewise",
    ("Dataset", "loader"): "likewise",
}


def public_modules(package: ModuleType, theirs: str) -> Iterator[tuple[ModuleType, ModuleType]]:
    """Every public module of a package, with PyTorch's of that name."""
    names = [package.__name__]
    prefix = f"{package.__name__}."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names += [m.name for m in pkgutil.walk_packages(package.__path__, prefix, lambda _: None)]
        for name in names:
            rest = name.removeprefix(package.__name__)
            if any(part.startswith("_") for part in rest.split(".")):
                continue
            try:
                yield importlib.import_module(name), importlib.import_module(theirs + rest)
            except (ImportError, AttributeError):  # one that only one of the two has or can load
                continue


@functools.cache
def class_pairs() -> dict[str, tuple[type, type]]:
    """Every public class, with PyTorch's of that name."""
    allow_torchvision()
    found = {}
    vision = importlib.import_module("flambeau.vision")
    for package, theirs in [(fb, "torch"), (vision, "torchvision")]:
        for our_module, their_module in public_modules(package, theirs):
            for name in dir(our_module):  # also those that are loaded when somebody asks
                ours, other = (
                    None if name.startswith("_") else getattr(module, name, None)
                    for module in (our_module, their_module)
                )
                if inspect.isclass(ours) and inspect.isclass(other):
                    found.setdefault(f"{ours.__module__}.{name}", (ours, other))
    return found


@functools.cache
def names_through_self(cls: type) -> frozenset[str]:
    """What the methods of a class look up or set in the object, or its class."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError):  # a class of C++ code
        return frozenset()
    names = set()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.args.args:
            first = function.args.args[0].arg
            if first in ("self", "cls"):
                names |= {
                    node.attr
                    for node in ast.walk(function)
                    if isinstance(node, ast.Attribute)
                    and isinstance(node.value, ast.Name)
                    and node.value.id == first
                }
    return frozenset(names)


def names_of(cls: type) -> set[str]:
    """All names of a class and its objects."""
    names = set(dir(cls))
    for base in cls.__mro__:
        annotations = vars(base).get("__annotations__", {})
        names |= names_through_self(base) | set(
            annotations if isinstance(annotations, dict) else ()
        )
    return names


@functools.cache
def extra_names(root: str) -> dict[str, set[str]]:
    """Names that classes below a root have and PyTorch's have not, with the classes."""
    found: dict[str, set[str]] = {}
    for path, (ours, theirs) in class_pairs().items():
        if not issubclass(ours, ROOTS[root]) or not issubclass(theirs, theirs_of(root)):
            continue
        names: set[str] = set()
        for base in ours.__mro__:
            if base.__module__.startswith("flambeau") or base is fb.Tensor:
                names |= set(vars(base)) | names_through_self(base)
        for name in names - names_of(theirs):
            if not name.startswith(("__", OURS)):
                found.setdefault(name, set()).add(path)
    return found


def theirs_of(root: str) -> type:
    """PyTorch's class of a root; anything where PyTorch's derives from less than ours."""
    theirs: Any = class_pairs()[f"{ROOTS[root].__module__}.{ROOTS[root].__name__}"][1]
    return object if root == "Constraint" else theirs


@pytest.mark.parametrize("root", ROOTS)
def test_no_other_names_stand_in_the_way(root):
    known = {name for (of, name) in {*ADDITIONS, *OF_THE_FAMILY} if of == root}
    found = extra_names(root)
    assert {name: sorted(found[name])[:3] for name in found if name not in known} == {}
    assert known <= set(found), "names that are not there any more"


@pytest.mark.parametrize(("root", "name"), ADDITIONS)
def test_attributes_of_objects_come_before_additions(root, name):
    found = inspect.getattr_static(ROOTS[root], name)
    assert not hasattr(type(found), "__set__")
    users = [
        path
        for path, (ours, _) in class_pairs().items()
        if issubclass(ours, ROOTS[root])
        and any(name in names_through_self(b) for b in ours.__mro__ if b.__module__ != "torch")
    ]
    assert users == []


def test_the_sweep_sees_methods_members_and_annotations():
    class Theirs(torch.nn.Module):
        shape: int

        def __init__(self) -> None:
            super().__init__()
            self.kept = 1

    assert {"shape", "kept", "forward", "_parameters"} <= names_of(Theirs)
    assert len(class_pairs()) > 500
