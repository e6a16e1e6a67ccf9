"""Random programs over tensors that record: written from a seed, run in torch and in Flambeau."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from tests.conformance.differences import REFUSED_FOR_MORE_SAVED, SAME_NODES, accepted
from tests.conformance.finite import STEP, TOLERANCE, Shifted, Unclear, directions
from tests.conformance.grammar import (
    EXPRESSIONS,
    LARGEST,
    WRITES,
    Draw,
    NoChoice,
    first_name,
)

BOUND = 1e4  # of the values in a program: beyond it, sums lose the digits that are compared


@dataclass
class Program:
    """Inputs and statements. It prints as a script that runs."""

    seed: int
    leaves: dict[str, np.ndarray]
    constants: dict[str, np.ndarray]
    statements: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"# program {self.seed}", "import torch"]
        for name, array in {**self.leaves, **self.constants}.items():
            grad = ", requires_grad=True" if name in self.leaves else ""
            lines.append(f"{name} = torch.tensor({array.tolist()}, dtype=torch.float64{grad})")
        return "\n".join([*lines, *self.statements])


@dataclass
class Seen:
    """All that a user can see of a tensor."""

    shape: tuple[int, ...]
    dtype: str
    values: np.ndarray
    requires_grad: bool
    is_leaf: bool
    grad_fn: str | None

    def differs(self, other: Seen) -> str:
        """What is not the same in `other`, in words; empty when all is."""
        for name in ("shape", "dtype", "requires_grad", "is_leaf", "grad_fn"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs and (mine, theirs) not in SAME_NODES:
                return f"{name} {mine}, torch gives {theirs}"
        # A value may have been rounded to float32 on its way.
        if not np.allclose(self.values, other.values, rtol=1e-6, atol=1e-8, equal_nan=True):
            return f"values\n{self.values}\ntorch gives\n{other.values}"
        return ""


Outcome = Seen | type[Exception] | None


class Run:
    """A program in one module, statement by statement."""

    def __init__(self, module: Any, program: Program) -> None:
        self.names: dict[str, Any] = {"torch": module}
        self.module = module
        self.errors: dict[str, Exception] = {}
        for name, array in {**program.leaves, **program.constants}.items():
            self.names[name] = module.from_numpy(array.copy())
        for name in program.leaves:
            self.names[name].requires_grad_()

    def step(self, statement: str) -> Outcome:
        """Runs a statement: what the tensor that it names first looks like then, or its error."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(statement, self.names)
        except Exception as error:
            self.errors[statement] = error
            return type(error)
        return self.look(first_name(statement))

    def look(self, name: str) -> Outcome:
        tensor = self.names[name]
        try:
            node = tensor.grad_fn
        except RuntimeError as error:  # a view whose base was changed against the rules
            return type(error)
        return Seen(
            tuple(tensor.shape),
            str(tensor.dtype),
            tensor.detach().numpy().copy(),
            tensor.requires_grad,
            tensor.is_leaf,
            None if node is None else type(node).__name__,
        )

    def tensors(self) -> dict[str, Any]:
        return {
            name: each for name, each in self.names.items() if isinstance(each, self.module.Tensor)
        }

    def gathered(self, leaf: str) -> Outcome:
        """The gradient that a leaf has gathered."""
        grad = self.names[leaf].grad
        if grad is None:
            return None
        return Seen(tuple(grad.shape), str(grad.dtype), grad.detach().numpy(), False, True, None)

    def gradients(self, name: str, leaves: list[str]) -> Outcome:
        """First and second derivatives of a tensor by the leaves, in one vector."""
        to = [self.names[leaf] for leaf in leaves]
        options = {"retain_graph": True, "create_graph": True, "materialize_grads": True}
        try:
            first = self.module.autograd.grad(self.names[name].sum(), to, **options)
            slope = sum((each * each).sum() for each in first)
            second = (
                [] if not slope.requires_grad else self.module.autograd.grad(slope, to, **options)
            )
        except RuntimeError as error:
            self.errors[name] = error
            return type(error)
        values = np.concatenate([self._dense(each).ravel() for each in (*first, *second)])
        return Seen(values.shape, "", values, bool(second), True, None)

    def first_gradients(self, name: str, leaves: list[str]) -> dict[str, np.ndarray] | RuntimeError:
        """The gradient of the sum of a tensor by each leaf, or the refusal."""
        tensor, to = self.names[name], [self.names[leaf] for leaf in leaves]
        if not tensor.requires_grad:
            return {}
        try:
            found = self.module.autograd.grad(
                tensor.sum(), to, retain_graph=True, materialize_grads=True
            )
        except RuntimeError as error:
            return error
        return {leaf: self._dense(each) for leaf, each in zip(leaves, found, strict=True)}

    def _dense(self, tensor: Any) -> np.ndarray:
        # torch has zeros without memory, which it lends to NumPy as a null pointer.
        zeros = self.module.zeros(tuple(tensor.shape), dtype=tensor.dtype)
        return (zeros + tensor.detach()).numpy()  # type: ignore[no-any-return]


def generate(seed: int) -> Program:
    """The program of a seed. torch runs along, so that statements fit the tensors there are."""
    rng = random.Random(seed)
    program = _inputs(seed, rng)
    run = Run(torch, program)
    for statement in program.statements:
        run.step(statement)
    for number in range(rng.randrange(5, 20)):
        draw = Draw(rng, run.tensors(), list(program.leaves))
        statement = _statement(draw, f"v{number}")
        if statement is None:
            continue
        outcome = run.step(statement)
        made = " = " in statement and statement.split(" = ")[0].endswith(f"v{number}")
        if made and not _keep(run.names.get(f"v{number}"), outcome):
            run.names.pop(f"v{number}", None)
            continue
        if not made and not _bounded(run):
            break  # the last statement is left out, and with it what it did
        program.statements.append(statement)
        if isinstance(outcome, type) and "backward" in statement:
            # What was accumulated before the error depends on an unspecified order.
            program.statements += [f"{leaf}.grad = None" for leaf in program.leaves]
            for leaf in program.leaves:
                run.step(f"{leaf}.grad = None")
    return program


def _inputs(seed: int, rng: random.Random) -> Program:
    values = np.random.default_rng(seed)
    sides = [rng.randrange(1, 5) for _ in range(3)]
    shapes = [tuple(sides[3 - n :]) for n in (rng.randrange(0, 4), 2, rng.randrange(1, 3))]
    shapes.append((sides[1], 1) if rng.random() < 0.5 else tuple(sides[1:]))
    arrays = [values.uniform(-1.5, 1.5, shape) for shape in shapes]
    leaves = {f"x{i}": arrays[i] for i in range(2)}
    constants = {f"c{i}": arrays[2 + i] for i in range(2)}
    return Program(seed, leaves, constants, ["y0 = x0 * 1.5", "y1 = x1.sin()"])


def _statement(draw: Draw, name: str) -> str | None:
    """One statement, some of them under no_grad; None where nothing fits."""
    try:
        if draw.rng.random() < 0.6:
            statement = f"{name} = {draw.one(EXPRESSIONS)(draw)}"
        else:
            statement = str(draw.one(WRITES)(draw))
    except NoChoice:
        return None
    if draw.rng.random() < 0.06 and "backward" not in statement and "hook" not in statement:
        return f"with torch.no_grad():\n    {statement}"
    return statement


def _keep(tensor: Any, outcome: Outcome) -> bool:
    """Whether a new tensor is one that programs go on with."""
    if not isinstance(outcome, Seen):
        return False
    return 0 < tensor.numel() <= LARGEST and _small(outcome.values)


def _bounded(run: Run) -> bool:
    return all(_small(each.detach().numpy()) for each in run.tensors().values())


def _small(values: np.ndarray) -> bool:
    return bool(np.isfinite(values).all() and (np.abs(values) < BOUND).all())


def compare(program: Program, module: Any, refused: Counter[str] | None = None) -> str:
    """Where `module` first differs from torch in a program, in words; empty where nowhere.

    Gradients that torch refuses and `module` has are compared with finite differences, and counted
    in `refused`.
    """
    refused = Counter() if refused is None else refused
    theirs, ours = Run(torch, program), Run(module, program)
    for statement in program.statements:
        difference = _difference(ours.step(statement), theirs.step(statement))
        if difference and _excused(statement, ours, theirs):
            # From here on the two runs hold different values.
            return _by_finite_differences(program, module, list(ours.tensors()), refused)
        if difference:
            errors = [str(run.errors.get(statement, "")) for run in (ours, theirs)]
            return "\n".join([f"at {statement}", difference, *filter(None, errors)])
    return _compare_ends(program, ours, theirs, refused)


def _compare_ends(program: Program, ours: Run, theirs: Run, refused: Counter[str]) -> str:
    """All tensors and their gradients, after the last statement."""
    leaves, alone = list(program.leaves), []
    for name, tensor in theirs.tensors().items():
        difference = _difference(ours.look(name), theirs.look(name))
        if not difference and tensor.requires_grad:
            difference = _difference(ours.gradients(name, leaves), theirs.gradients(name, leaves))
            if difference and _excused(name, ours, theirs):
                alone.append(name)
                continue
            errors = [str(run.errors.get(name, "")) for run in (ours, theirs)]
            difference += " ".join(["", *filter(None, errors)]) if difference else ""
        if difference:
            return f"{name} at the end: {difference}"
    for name in leaves:
        difference = _difference(ours.gathered(name), theirs.gathered(name))
        if difference:
            return f"{name}.grad at the end: {difference}"
    return _by_finite_differences(program, ours.module, alone, refused) if alone else ""


def _by_finite_differences(
    program: Program, module: Any, names: list[str], refused: Counter[str]
) -> str:
    """Where the slopes of tensors are not those of their gradients, in words."""
    ways = directions(program.leaves, program.seed)
    shifted = Shifted(tuple(Run(module, _moved(program, ways, by)) for by in (0, STEP, -STEP)))
    try:
        for statement in program.statements:
            shifted.step(statement)
    except Unclear:
        refused["a tensor that shares its memory with one without a history"] += len(names)
        return ""
    for name in names:
        gradients = shifted.middle.first_gradients(name, list(ways))
        if isinstance(gradients, RuntimeError):
            refused["refused here as well, without its hooks"] += 1
            continue
        refused["agree with finite differences"] += 1
        got = sum(float((each * ways[leaf]).sum()) for leaf, each in gradients.items())
        expected = shifted.slope(name)
        if abs(got - expected) > TOLERANCE * max(1.0, abs(expected)):
            return f"{name} at the end: slope {got}, by finite differences {expected}"
    return ""


def _moved(program: Program, ways: dict[str, np.ndarray], by: float) -> Program:
    leaves = {name: np.asarray(array + by * ways[name]) for name, array in program.leaves.items()}
    return Program(program.seed, leaves, program.constants, program.statements)


def _excused(what: str, ours: Run, theirs: Run) -> bool:
    """Whether torch refused for reasons of its own what Flambeau accepts."""
    error = theirs.errors.get(what)
    if error is None or what in ours.errors:
        return False
    # torch takes a view for a leaf when its base began to record after the view was made.
    if str(error).startswith("a leaf") and theirs.names[first_name(what)]._is_view():
        return True
    return accepted(error) or str(error).startswith(REFUSED_FOR_MORE_SAVED)


def _difference(got: Outcome, expected: Outcome) -> str:
    if isinstance(got, Seen) and isinstance(expected, Seen):
        return got.differs(expected)
    if got is expected:
        return ""
    describe = [each.__name__ if isinstance(each, type) else str(each) for each in (got, expected)]
    return "{}, torch gives {}".format(*describe)
