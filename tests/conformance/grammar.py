"""What random programs are made of: productions that write one statement over live tensors.

Every production keeps values bounded and away from where derivatives blow up, so that whatever is
composed of them can be compared to the last digits.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

LARGEST = 96  # elements of a tensor that programs may make
DEEPEST = 4  # its dimensions

Suits = Callable[[Any], bool]


class NoChoice(Exception):
    """No live tensor suits a production."""


@dataclass
class Draw:
    """Choices of one program: its random numbers, and the tensors that are alive under torch."""

    rng: random.Random
    tensors: dict[str, Any]
    leaves: list[str] = field(default_factory=list)

    def one(self, options: Any) -> Any:
        return self.rng.choice(list(options))

    def tensor(self, suits: Suits = lambda _: True) -> str:
        """The name of a live tensor; recent ones are likelier."""
        names = [name for name, each in self.tensors.items() if suits(each)]
        if not names:
            raise NoChoice
        return names[-1 - min(int(self.rng.expovariate(0.35)), len(names) - 1)]

    def written(self, suits: Suits = lambda _: True) -> str:
        """The name of a tensor to be written to; seldom one where that is forbidden."""
        anything = self.rng.random() < 0.08
        return self.tensor(
            lambda t: suits(t) and not _overlaps(t) and (anything or not _guarded(t))
        )

    def of(self, name: str) -> Any:
        return self.tensors[name]

    def dim(self, name: str) -> int:
        """A dimension of a tensor, counted from either end."""
        count = self.of(name).dim()
        return self.rng.randrange(-count, count)

    def number(self) -> str:
        return self.one(["0.5", "-1.5", "2", "0.25", "3"])

    def operand(self, name: str, within: bool = False) -> str:
        """A tensor that broadcasts with `name` (`within`: to its own shape), or a number."""
        shape = self.of(name).shape
        if self.rng.random() < 0.2:
            return self.number()
        return self.tensor(lambda other: _broadcasts(shape, other.shape, within))

    def index(self, size: int) -> str:
        """An index tensor for a dimension of `size`, written out."""
        return f"torch.tensor({[self.rng.randrange(size) for _ in range(self.one([1, 2, 3]))]})"

    def place(self, name: str) -> str:
        """A basic subscript of a tensor: what x[...] gives as a view."""
        parts = []
        for size in self.of(name).shape[: self.rng.randrange(1, DEEPEST)]:
            start = self.rng.randrange(size)
            parts.append(self.one([":", f"{start}:", f"{start}", f":{start + 1}", "::2", "None"]))
        if self.rng.random() < 0.2:
            parts.append("...")
        return ", ".join(parts) or "..."


def _overlaps(tensor: Any) -> bool:
    """Whether elements share memory; which writes are refused then differs between kernels."""
    reach = 0
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size > 1 and stride <= reach:
            return True
        reach += stride * (size - 1)
    return False


def _guarded(tensor: Any) -> bool:
    """Whether a tensor is a leaf that requires grad, or a view of one."""
    base = tensor._base if tensor._is_view() else tensor
    return bool(base.requires_grad and base.is_leaf)


def _broadcasts(shape: Any, other: Any, within: bool) -> bool:
    size = 1
    for i in range(max(len(shape), len(other))):
        a = shape[-1 - i] if i < len(shape) else 1
        b = other[-1 - i] if i < len(other) else 1
        if a != b and 1 not in (a, b):
            return False
        if within and (i >= len(shape) or max(a, b) != a):
            return False
        size *= max(a, b)
    return size <= LARGEST


def not_scalar(tensor: Any) -> bool:
    return tensor.dim() > 0 and tensor.numel() > 0


def matrix(tensor: Any) -> bool:
    return tensor.dim() == 2 and tensor.numel() > 0


def may_grow(tensor: Any) -> bool:
    return tensor.dim() < DEEPEST and 0 < tensor.numel() <= LARGEST // 2


Production = Callable[[Draw], str]
EXPRESSIONS: list[Production] = []  # give a new tensor
WRITES: list[Production] = []  # change tensors that are there


def _registers(productions: list[Production], weight: int) -> Callable[[Production], Production]:
    def register(production: Production) -> Production:
        productions.extend([production] * weight)
        return production

    return register


def expression(weight: int) -> Callable[[Production], Production]:
    return _registers(EXPRESSIONS, weight)


def write(weight: int) -> Callable[[Production], Production]:
    return _registers(WRITES, weight)


UNARY = """
-{a}|{a}.abs()|{a}.sin()|{a}.cos()|{a}.tanh()|{a}.sigmoid()|{a}.tanh().exp()|{a}.relu()|{a}.square()
torch.log({a} * {a} + 1)|torch.sqrt({a} * {a} + 0.5)|{a}.sigmoid().logit()|torch.log1p({a}.abs())
torch.exp(-{a} * {a})|{a}.atan()|{a}.tanh().asin()|{a}.tanh().acos()|{a}.asinh()|torch.erf({a})
({a} * {a} + 1).rsqrt()|({a}.abs() + 1).reciprocal()|{a}.tanh().expm1()
{a}.clamp(-0.5, 0.7)|{a}.clamp(min=-0.3)|{a}.clamp(max=0.4)|{a} ** 2|({a}.abs() + 0.5) ** 1.5
2 ** {a}.tanh()|{a}.tanh().sinh()|{a}.tanh().cosh()|{a}.floor()|{a}.sign() * {a}|{a}.frac()
{a}.clone()|{a} * {n}|{a} + {n}|{n} - {a}|{a} / {n}|{n} * {a}|{a}.nan_to_num()|{a}.tanh().exp2()
torch.where({a} > 0.1, {a}, {n})|{a}.masked_fill({a} > 0.3, {n})|{a}.tan().atan()
""".replace("\n", "|").strip("|")


@expression(6)
def unary(draw: Draw) -> str:
    return str(draw.one(UNARY.split("|"))).format(a=draw.tensor(), n=draw.number())


BINARY = """
{a} + {b}|{a} - {b}|{a} * {b}|{a} / ({b} * {b} + 1)|torch.add({a}, {b}, alpha=2)|{b} - {a}
torch.maximum({a}, {t})|torch.minimum({a}, {t})|torch.atan2({a}, {t} * {t} + 1)|{b} * {a}
torch.hypot({a}, {t} + 3)|torch.where({a} > {b}, {a}, {b})|torch.logaddexp({a}, {t})
({a} * {a} + 0.5) ** {t}.tanh()|torch.lerp({a}, {t}, 0.3)|torch.sub({a}, {t}, alpha=0.5)
torch.addcmul({a}, {t}, {t}, value=0.5)|torch.addcdiv({a}, {t}, {t} * {t} + 1)|torch.fmod({a}, 1.3)
torch.complex({a} * 1.0, {t} + {a} * 0).abs()|torch.xlogy({a}, {t} * {t} + 1)|{a}.remainder(0.7)
""".replace("\n", "|").strip("|")


@expression(8)
def binary(draw: Draw) -> str:
    a = draw.tensor()
    shape = draw.of(a).shape
    other = draw.tensor(lambda t: _broadcasts(shape, t.shape, within=False))
    return str(draw.one(BINARY.split("|"))).format(a=a, b=draw.operand(a), t=other)


@expression(2)
def reduction(draw: Draw) -> str:
    a = draw.tensor(not_scalar)
    name = draw.one(["sum", "mean", "amax", "amin", "logsumexp", "var", "nansum"])
    keep = draw.one(["", ", keepdim=True"])
    correction = ", correction=0" if name == "var" else ""
    return f"{a}.{name}({draw.dim(a)}{correction}{keep})"


@expression(2)
def reduction_of_all(draw: Draw) -> str:
    a = draw.tensor(not_scalar)
    calls = ["sum()", "mean()", "max()", "min()", "tanh().prod()", "var(correction=0)", "norm()"]
    return f"{a}.{draw.one(calls)}"


@expression(3)
def along_a_dimension(draw: Draw) -> str:
    a = draw.tensor(not_scalar)
    dim = draw.dim(a)
    calls = [
        f"{a}.softmax({dim})",
        f"{a}.log_softmax({dim})",
        f"{a}.cumsum({dim})",
        f"{a}.tanh().cumprod({dim})",
        f"{a}.logcumsumexp({dim})",
        f"{a}.flip({dim})",
        f"{a}.roll(1, {dim})",
        f"torch.sort({a}, dim={dim}, stable=True).values",
        f"{a}.max({dim}).values",
        f"{a}.min({dim}, keepdim=True).values",
        f"{a}.tanh().prod({dim})",
        f"{a}.sum({dim}).unsqueeze({dim}) * 0.5" if dim >= 0 else f"{a}.sum({dim}, keepdim=True)",
        f"torch.linalg.vector_norm({a}, dim={dim})",
    ]
    return str(draw.one(calls))


@expression(3)
def product(draw: Draw) -> str:
    a = draw.tensor(not_scalar)
    depth = draw.of(a).shape[-1]
    if draw.of(a).dim() == 1 or draw.rng.random() < 0.3:
        b = draw.tensor(lambda t: t.dim() == 1 and t.shape[0] == depth)
        return f"{a} @ {b}"
    b = draw.tensor(lambda t: t.dim() == 2 and t.shape[0] == depth)
    return f"{a} @ {b}"


@expression(2)
def product_of_matrices(draw: Draw) -> str:
    a = draw.tensor(matrix)
    rows, columns = draw.of(a).shape
    calls = [f"{a} @ {a}.t()", f"{a}.t().mm({a})", f"torch.einsum('ij,kj->ik', {a}, {a})"]
    calls += [f"torch.addmm({a} @ {a}.t(), {a}, {a}.t(), beta=0.5, alpha=2)"]
    calls += [f"torch.outer({a}[0], {a}[:, 0])", f"torch.bmm({a}[None], {a}.t()[None])"]
    calls += [f"{a}.triu()", f"{a}.tril(-1)", f"torch.dot({a}[0], {a}[-1])", f"{a}.mv({a}[0])"]
    if rows == columns:
        calls += [f"{a}.trace()"]
        calls += [f"torch.linalg.solve({a} @ {a}.t() + torch.eye({rows}, dtype={a}.dtype), {a})"]
    return str(draw.one(calls))


@expression(5)
def view(draw: Draw) -> str:
    a = draw.tensor(not_scalar)
    first, second = draw.dim(a), draw.dim(a)
    size = draw.of(a).shape[first]
    order = list(range(draw.of(a).dim()))
    draw.rng.shuffle(order)
    views = [
        f"{a}.transpose({first}, {second})",
        f"{a}.permute({', '.join(map(str, order))})",
        f"{a}.reshape(-1)",
        f"{a}.flatten()",
        f"{a}.select({first}, {draw.rng.randrange(size)})",
        f"{a}.narrow({first}, {draw.rng.randrange(size)}, 1)",
        f"{a}.unfold({first}, {draw.rng.randrange(1, size + 1)}, 1)",
        f"{a}.squeeze()",
        f"{a}.squeeze({first})",
        f"{a}.movedim({first}, {second})",
        f"{a}.unbind({first})[{draw.rng.randrange(size)}]",
        f"{a}.split({draw.rng.randrange(1, size + 1)}, {first})[0]",
        f"{a}.chunk(2, {first})[0]",
        f"{a}.view_as({a})",
        f"{a}.unflatten({first}, ({size}, 1))",
        f"{a}.contiguous()",
        f"{a}.view(-1)",
    ]
    return str(draw.one(views))


@expression(2)
def wider_view(draw: Draw) -> str:
    a = draw.tensor(may_grow)
    count = draw.of(a).dim()
    shape = tuple(draw.of(a).shape)
    views = [f"{a}.unsqueeze({draw.rng.randrange(-count - 1, count + 1)})", f"{a}[None]"]
    views += [f"{a}.expand(2, {', '.join(map(str, shape))})" if shape else f"{a}.expand(2)"]
    views += [f"{a}.repeat(2, {', '.join('1' for _ in shape)})" if shape else f"{a}.repeat(2)"]
    return str(draw.one(views))


@expression(1)
def view_of_a_matrix(draw: Draw) -> str:
    a = draw.tensor(matrix)
    views = [f"{a}.t()", f"{a}.diagonal()", f"{a}.mT", f"{a}.T", f"{a}.diagonal(1)"]
    return str(draw.one(views))


@expression(3)
def subscript(draw: Draw) -> str:
    a = draw.tensor(not_scalar)
    return f"{a}[{draw.place(a)}]"


@expression(3)
def gathering(draw: Draw) -> str:
    a = draw.tensor(not_scalar)
    dim = draw.dim(a)
    size = draw.of(a).shape[dim]
    first = draw.of(a).shape[0]
    calls = [
        f"{a}[{draw.index(first)}]",
        f"{a}[{a} > 0.1]",
        f"{a}.index_select({dim}, {draw.index(size)})",
        f"{a}.masked_select({a} < 0.5)",
        f"torch.gather({a}, {dim}, torch.zeros_like({a}, dtype=torch.int64))",
        f"torch.take_along_dim({a}, {a}.argmax({dim}, keepdim=True), {dim})",
        f"{a}.take({draw.index(draw.of(a).numel())})",
        f"{a}[..., {draw.index(draw.of(a).shape[-1])}]",
    ]
    return str(draw.one(calls))


@expression(2)
def joining(draw: Draw) -> str:
    a = draw.tensor(lambda t: not_scalar(t) and may_grow(t))
    shape = draw.of(a).shape
    b = draw.tensor(lambda t: t.shape == shape)
    if draw.rng.random() < 0.5:
        return f"torch.stack([{a}, {b}], {draw.dim(a)})"
    return f"torch.cat([{a}, {b}], {draw.dim(a)})"


@expression(1)
def off_the_tape(draw: Draw) -> str:
    a = draw.tensor()
    return str(draw.one([f"{a}.detach()", f"{a}.detach().clone()", f"{a}.data * 2"]))


@expression(1)
def other_types(draw: Draw) -> str:
    a = draw.tensor()
    calls = [f"{a}.float().double()", f"({a} > 0).double()", f"{a}.to({a}.dtype)"]
    calls += [f"torch.view_as_real(torch.complex({a} * 1.0, {a}.sin()))", f"{a}.real"]
    return str(draw.one(calls))


TARGETS = ["{a}", "{a}", "{a}[{p}]", "{a}.reshape(-1)", "{a}.t()", "{a}.view(-1)[1:]"]
TARGETS += ["{a}.unsqueeze(0)", "{a}.detach()", "{a}.unbind()[0]", "{a}.diagonal()"]


def target(draw: Draw, a: str) -> str:
    """A tensor or a view of it, to be written to."""
    if draw.of(a).dim() == 0:
        return a
    templates = TARGETS if draw.of(a).dim() == 2 else TARGETS[:4]
    return str(draw.one(templates)).format(a=a, p=draw.place(a))


IN_PLACE = """
sin_()|cos_()|tanh_()|sigmoid_()|relu_()|neg_()|square_().tanh_()|clamp_(-1, 1)|zero_()|abs_()
fill_(0.5)|mul_(0.5)|add_(1)|sub_(0.25)|div_(2)|masked_fill_({a} > 0.2, 0.1)|floor_()|atan_()
frac_()|erf_()
copy_(torch.full((), 0.3))|fill_(torch.tensor(0.7))|pow_(2)|tanh_().exp_()|clamp_(min=-0.2)|sign_()
""".replace("\n", "|").strip("|")


@write(4)
def unary_in_place(draw: Draw) -> str:
    a = draw.written()
    call = str(draw.one(IN_PLACE.split("|")))
    return f"{a if '{a}' in call else target(draw, a)}.{call.format(a=a)}"


@write(4)
def binary_in_place(draw: Draw) -> str:
    a = draw.written()
    b = draw.operand(a, within=True)
    calls = [f"add_({b})", f"mul_({b})", f"sub_({b}, alpha=0.5)", f"copy_({b} + {a} * 0)"]
    calls += [f"div_({b} * {b} + 1)", f"addcmul_({a}, {a}, value=0.1)", f"lerp_({a}.sin(), 0.5)"]
    return f"{a}.{draw.one(calls)}"


@write(2)
def augmented(draw: Draw) -> str:
    a = draw.written()
    return f"{a} {draw.one(['+=', '-=', '*='])} {draw.operand(a, within=True)}"


@write(4)
def row_in_place(draw: Draw) -> str:
    """A write to one row, from a row of another tensor."""
    a = draw.written(not_scalar)
    shape = draw.of(a).shape[1:]
    b = draw.tensor(lambda t: t.shape == shape)
    row = draw.rng.randrange(draw.of(a).shape[0])
    calls = [f"{a}[{row}] = {b}", f"{a}[{row}].mul_({b})", f"{a}[{row}] += {b}"]
    calls += [f"{a}[{row}].copy_({b})", f"{a}[{row}, ...].sub_({b})"]
    return str(draw.one(calls))


@write(4)
def assignment(draw: Draw) -> str:
    a = draw.written(not_scalar)
    scalar = draw.one([draw.number(), f"{draw.tensor()}.sum().tanh()"])
    first = draw.of(a).shape[0]
    places = [draw.place(a), draw.place(a), f"{a} > 0.2", draw.index(first), "..., 0"]
    return f"{a}[{draw.one(places)}] = {scalar}"


@write(2)
def scattering(draw: Draw) -> str:
    a = draw.written(not_scalar)
    shape = draw.of(a).shape
    b = draw.tensor(lambda t: t.shape == shape)
    dim = draw.dim(a)
    everything = f"torch.arange({shape[dim]})"
    calls = [
        f"index_add_({dim}, {everything}, {b} * 2)",
        f"index_copy_({dim}, {everything}, {b} * 2)",
        f"index_fill_({dim}, {draw.index(shape[dim])}, 0.5)",
        f"scatter_add_({dim}, torch.zeros_like({a}, dtype=torch.int64), {b} * 2)",
        f"masked_scatter_({a} > 0.1, {b} * 1)",
        f"index_put_(({draw.index(shape[0])},), torch.ones((), dtype={a}.dtype), accumulate=True)",
    ]
    return f"{a}.{draw.one(calls)}"


@write(1)
def shape_in_place(draw: Draw) -> str:
    a = draw.written(lambda t: matrix(t) and may_grow(t))
    return f"{a}.{draw.one(['t_()', 'unsqueeze_(0)', 'squeeze_()', 'transpose_(0, 1)'])}"


@write(1)
def start_to_record(draw: Draw) -> str:
    return f"{draw.tensor(lambda t: not t.requires_grad)}.requires_grad_()"


@write(1)
def hook(draw: Draw) -> str:
    # torch 2.13 crashes where the base of a view was changed since.
    a = draw.tensor(lambda t: t.requires_grad and not t._is_view())
    return f"{a}.register_hook(lambda grad: grad * 0.5)"


@write(2)
def backward(draw: Draw) -> str:
    a = draw.tensor(lambda t: t.requires_grad)
    calls = [
        f"{a}.sum().backward(retain_graph=True)",
        f"{a}.sum().backward()",
        f"{a}.backward(torch.full_like({a}, 0.5), retain_graph=True)",
        f"({a} * {a}).mean().backward(retain_graph=True)",
        f"{a}.sum().backward(inputs=[{draw.one(draw.leaves)}], retain_graph=True)",
    ]
    return str(draw.one(calls))


@write(1)
def clear(draw: Draw) -> str:
    return f"{draw.one(draw.leaves)}.grad = None"


@write(1)
def detach_in_place(draw: Draw) -> str:
    # Gradients are taken by the leaves; and views of a tensor that left the graph are nowhere.
    bases = {id(t._base) for t in draw.tensors.values()}
    a = draw.tensor(lambda t: id(t) not in bases)
    if a in draw.leaves:
        raise NoChoice
    return f"{a}.detach_()"


def first_name(statement: str) -> str:
    """The tensor that a statement makes or changes: the first name in its last line."""
    found = re.search(r"[a-z]\w*", statement.splitlines()[-1])
    assert found is not None
    return found.group()
