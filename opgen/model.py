"""Table entries of operators, and every check on them. Records carry their file and line."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from opgen.types import ARGUMENTS, RESULTS, ArgumentType, ResultType

if TYPE_CHECKING:
    from opgen.describe import Help

# Element types, by their public names. The 16-bit floats have no kernels: they use float32 ones.
BOOL = ("bool",)
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
REDUCED = ("float16", "bfloat16")
FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")

boolean = BOOL
integers = INTEGERS
integral = BOOL + INTEGERS
floating = REDUCED + FLOATS
floating_complex = floating + COMPLEX
real = INTEGERS + floating
real_bool = BOOL + real
numeric = real + COMPLEX
all_types = BOOL + numeric

# How an operator is applied to a batch: see emit/batching.py.
BATCH_RULES = ("aligned", "dims", "same", "sized", "own", "loop", "refuse")

# What an operator does with a sparse tensor besides refusing it: see emit/sparse.py.
SPARSE_RULES = ("any", "own", "values")

# What an operator does with its inputs while autocast is on: see emit/autocast.py.
AUTOCAST_RULES = ("lower", "float32", "cuda_float32", "promote", "off", "own")

# Rules for `out=`; without one, its type must hold the result's category.
OUT_RULES = (
    # of its type
    "exact",  # that of the result and no other
    "truth",  # bool or uint8
    "any",  # whichever it has, and the operator computes in it if it takes a dtype
    "type_error",  # a type that does not hold the result is a TypeError
    # of its shape, which becomes that of the result
    "row",  # it may have any shape with the same number of elements
    "quiet",  # without a warning; said of all operators that take no tensors
    "ordered",  # in the order of the dimensions, whatever the order of the result is
    # of its memory
    "whole",  # it may be an input, but not overlap one; said of all pointwise operators
    "apart",  # it shares none with an input
    "changed",  # it may be the first input, but shares none with the others
    "own",  # python: the body takes it and checks all of this itself
)

KINDS = ("pointwise", "native", "view", "python", "bound")
pointwise, native, view, python, bound = KINDS

# An inner operator has no form in Python: others call it, and have checked what they pass. A named
# one has none either, but checks its arguments: recorded programs call it by its name.
FORMS = ("function", "method", "inplace", "inner", "named")

# What `grad=` may say besides formulas.
composite = "composite"  # a composition of operators: differentiates through its parts
none = "none"  # nothing about the result is differentiable
not_implemented = "not_implemented"  # differentiable, but PyTorch has no derivative either
# Arguments that the generated entry point handles, so that no operator has to.
ENTRY_POINT_ARGUMENTS = ("out", "inplace", "layout", "pin_memory", "requires_grad")


# Python's operators and their slots of the number protocol.
OPERATOR_SLOTS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "matmul": "matrix_multiply",
    "lshift": "lshift",
    "rshift": "rshift",
    "and": "and",
    "or": "or",
    "xor": "xor",
    "neg": "negative",
    "pos": "positive",
    "abs": "absolute",
    "invert": "invert",
}
COMPARISONS = ("lt", "le", "eq", "ne", "gt", "ge")  # in the order of Py_LT..Py_GE


class TableError(Exception):
    """An invalid table entry; the message starts with its file and line."""


@dataclass(frozen=True)
class Arg:
    name: str
    type: ArgumentType
    default: str | None  # Python source, None when the argument is required
    keyword_only: bool

    @property
    def required(self) -> bool:
        return self.default is None


@dataclass(frozen=True)
class Op:
    """One overload of one operator."""

    name: str
    args: tuple[Arg, ...]
    result: ResultType
    kind: str
    forms: tuple[str, ...]
    dtypes: tuple[str, ...]
    doc: str
    family: str
    where: str  # file:line
    namespace: str = ""
    overload: str = ""  # its name among the entries of the operator; the first may have none
    cpp: str = ""  # the C++ function, if its name is not the operator's
    promote: str = "same"  # pointwise: "same", or "float" when integers become the default float
    output: str = "same"  # pointwise: "same", "bool", "real" (of complex), "complex" (of real)
    bool_inputs: tuple[str, ...] = ()  # pointwise: operands that stay bool whatever the others are
    ranged: bool = False  # pointwise: see Note [Range checks] in csrc/scalar/arith.h
    check: str = ""  # pointwise: fb::ops::check_<this> may refuse the arguments
    returns: tuple[str, ...] = ()  # field names of a named result
    body: str = ""  # python: "module:function"
    mutates: bool = False  # writes to its first argument, like copy_
    writes: tuple[str, ...] = ()  # tensors and lists that it writes to besides that
    operator: str = ""  # Python's name of the operator: "add" for +, "truediv" for /, "lt" for <
    random: bool = False  # draws from a generator
    alias_of: str = ""  # the operator that this is another name of
    grad: str = ""  # "formulas", composite or none; empty: not given yet
    # Differentiable inputs (several, where one kernel gives all gradients) and the expression.
    formulas: tuple[tuple[str, str], ...] = ()
    node: str = ""  # its name in the graph, if not <Name>Backward0
    number_nodes: tuple[tuple[str, str], ...] = ()  # and where an argument is a number
    retypes: bool = False  # view: reads the elements as another type
    batch: str = ""  # how vmap applies it, if the signature does not imply it: see emit/batching.py
    sparse: str = ""  # what it does with a sparse tensor; empty: refuses it
    device: str = ""  # where its tensors may be; empty: all on one device
    host: str = ""  # devices whose kernel of it is a round trip through the host's memory
    type_check: str = ""  # who refuses other types than `dtypes`: see emit/type_checks.py
    hands_out: bool = False  # bound: it hands out elements as numbers or memory; observers are told
    autocast: str = ""  # how it takes its inputs while autocast is on; empty: as they are
    out: tuple[str, ...] = ()  # what it asks of `out=`
    old_order: tuple[str, ...] = ()  # factors that once came before the tensors
    signature: str = field(default="", repr=False)

    @property
    def symbol(self) -> str:
        """The name for Python and C++ identifiers: linalg_norm for linalg.norm."""
        return self.public_name.replace(".", "_")

    @property
    def overload_symbol(self) -> str:
        """The name of what is generated for this entry alone."""
        return f"{self.symbol}_{self.overload}" if self.overload else self.symbol

    @property
    def gradient_inputs(self) -> list[str]:
        """The inputs that have formulas."""
        return [name for names, _ in self.formulas for name in names.split()]

    @property
    def public_name(self) -> str:
        return f"{self.namespace}.{self.name}" if self.namespace else self.name

    @property
    def function(self) -> str:
        return self.cpp or self.symbol

    @property
    def core_args(self) -> tuple[Arg, ...]:
        """The arguments that the operator itself sees."""
        own = ("inplace",) if self.sees_inplace else ()
        return tuple(a for a in self.args if a.name not in ENTRY_POINT_ARGUMENTS or a.name in own)

    @property
    def sees_inplace(self) -> bool:
        """Whether `inplace` is passed on: to a composition that has no in-place form."""
        return self.grad == composite and "inplace" not in self.forms and not self.alias_of

    @property
    def tensor_inputs(self) -> tuple[Arg, ...]:
        return tuple(a for a in self.core_args if a.type.is_operand)

    @property
    def tensor_args(self) -> tuple[Arg, ...]:
        """The arguments that hold one or more tensors."""
        return tuple(a for a in self.core_args if "Tensor" in a.type.annotation)

    @property
    def params(self) -> tuple[Arg, ...]:
        return tuple(a for a in self.core_args if not a.type.is_operand)

    @property
    def node_name(self) -> str:
        prefix = f"{self.namespace}_" if self.namespace in ("linalg", "special") else ""
        # PyTorch's names have a capital after a digit too: Log1PBackward0.
        words = re.sub(
            r"(?:^|_|(?<=\d))([a-z])", lambda m: m[1].upper(), prefix + self.name.strip("_")
        )
        return self.node or f"{words}Backward0"

    @property
    def is_recorded(self) -> bool:
        """Whether the generated operator records one node, or none, for the body `compute::`."""
        if self.kind == "pointwise":
            return True
        if self.kind in ("python", "bound") or self.grad in ("", composite):
            return False
        makes = self.mutates or bool(self.writes) or "Tensor" in self.result.annotation
        return bool(self.tensor_args) and makes

    @property
    def is_factory(self) -> bool:
        """Whether it makes tensors from nothing: the generated operator only tells observers."""
        makes = "Tensor" in self.result.annotation
        return self.kind == "native" and makes and not self.tensor_args

    @property
    def is_writing_composition(self) -> bool:
        """Whether its parts do the writing: the generated operator only tells observers of it."""
        return self.grad == composite and bool(self.writes)

    @property
    def is_cast(self) -> bool:
        """Whether the generated operator checks autocast before it calls its body."""
        return bool(self.autocast) and self.kind != "python"

    @property
    def body_namespace(self) -> str:
        """The namespace of a generated operator's hand-written body; empty: the operator itself."""
        if self.is_recorded or self.is_factory:
            return "compute"
        return "composed" if self.is_cast or self.is_writing_composition else ""

    @property
    def runs(self) -> str:
        """The devices it runs on: all, those of its parts, or those with its kernel.

        "host" is a kernel too, but for the devices that `host` names, the CPU's.
        """
        if self.kind in ("pointwise", "view"):
            return "everywhere"
        if not self.is_recorded:
            return "parts"
        return "host" if self.host else "kernel"

    @property
    def has_inplace_operator(self) -> bool:
        return "inplace" in self.forms and self.kind not in ("python", "bound")

    @property
    def has_out(self) -> bool:
        return any(a.name == "out" for a in self.args)

    @property
    def out_rules(self) -> tuple[str, ...]:
        """The rules for `out=`, including the implied ones."""
        makes = not self.tensor_args and self.kind != "python"
        return (*self.out, "quiet") if makes else self.out

    @property
    def makes_in_type_of_out(self) -> bool:
        """Whether it computes in the type of `out=`, where no type is named."""
        return "any" in self.out or not self.tensor_args

    @property
    def stores_out(self) -> bool:
        """Whether the entry point stores the result in `out=`."""
        return self.has_out and "own" not in self.out

    @property
    def is_called(self) -> bool:
        """Whether Python has a form of it."""
        return bool({"function", "method", "inplace"} & set(self.forms))

    @property
    def has_inplace_method(self) -> bool:
        """`elu_` is a function too if `elu` is not a method."""
        return "inplace" in self.forms and ("method" in self.forms or "function" not in self.forms)

    @property
    def has_inplace_function(self) -> bool:
        """PyTorch has `torch.exp_` next to `Tensor.exp_`: element-wise, one tensor."""
        if self.namespace or self.kind != "pointwise" or len(self.tensor_inputs) != 1:
            return False
        return self.has_inplace_method and "function" in self.forms

    @property
    def inplace_args(self) -> tuple[Arg, ...]:
        """The arguments of the in-place form."""
        return tuple(a for a in self.args if a.name not in ("out", "inplace"))

    @property
    def accepted_types(self) -> tuple[str, ...]:
        """The element types users may pass, including those converted to floating point first."""
        return (*integral, *self.dtypes) if self.promote == "float" else self.dtypes

    @property
    def kernel_types(self) -> tuple[str, ...]:
        return tuple(t for t in self.dtypes if t not in REDUCED)


class Table:
    """The operators in the order in which they were declared."""

    def __init__(self) -> None:
        self.ops: list[Op] = []
        self.help: dict[str, Help] = {}  # by public name: see describe.py
        # Type, if it is not the signature's, and text of every argument of an overload.
        self.described: dict[tuple[str, str], dict[str, tuple[str, str]]] = {}

    def add(self, op: Op) -> None:
        for other in self.ops:
            if (other.namespace, other.name) != (op.namespace, op.name):
                if other.overload_symbol == op.overload_symbol:
                    raise TableError(
                        f"{op.where}: {op.overload_symbol} is the C++ name of the entry at "
                        f"{other.where}; give the overload another name"
                    )
                continue
            if other.family != op.family:
                raise TableError(
                    f"{op.where}: {op.symbol} is already declared at {other.where}; "
                    "overloads belong in one file"
                )
            if other.overload == op.overload:
                raise TableError(
                    f"{op.where}: {op.symbol} repeats the entry at {other.where}; "
                    f"an overload has a name: '{op.name}.NAME(...)'"
                )
        self.ops.append(op)

    def resolve(self) -> None:
        """Complete `grad=`: `scatter_` takes that of `scatter`; every operator must have one."""
        functional = {
            (op.namespace, op.name, tuple(a.name for a in op.core_args)): op
            for op in self.ops
            if not op.mutates and not op.alias_of
        }
        for i, op in enumerate(self.ops):
            names = tuple(a.name for a in op.core_args)
            twin = functional.get((op.namespace, op.name.removesuffix("_"), names))
            if op.mutates and not op.grad and twin:
                self.ops[i] = replace(
                    op, grad=twin.grad, formulas=twin.formulas, node=twin.node_name
                )
        for op in self.ops:
            if not op.grad:
                raise TableError(f"{op.where}: {op.name}: grad must say how it is differentiated")

    def families(self) -> dict[str, list[Op]]:
        result: dict[str, list[Op]] = {}
        for op in self.ops:
            result.setdefault(op.family, []).append(op)
        return result


TABLE = Table()


def op(
    signature: str,
    *,
    kind: str,
    doc: str,
    dtypes: tuple[str, ...] = all_types,
    forms: str = "function method",
    namespace: str = "",
    cpp: str = "",
    promote: str = "same",
    output: str = "same",
    bool_inputs: tuple[str, ...] = (),
    ranged: bool = False,
    check: str = "",
    returns: str = "",
    body: str = "",
    mutates: bool = False,
    writes: str = "",
    operator: str = "",
    random: bool = False,
    aliases: str = "",
    grad: dict[str, str] | str = "",
    node: str = "",
    number_nodes: dict[str, str] | None = None,
    retypes: bool = False,
    batch: str = "",
    sparse: str = "",
    device: str = "",
    host: str = "",
    type_check: str = "",
    hands_out: bool = False,
    autocast: str = "",
    out: str = "",
    old_order: str = "",
) -> None:
    """Declare an operator, or an overload. Refuses invalid entries, naming file and line.

    aliases: other names of it, such as "special.expit"; those of a namespace are functions only.
    "nn.functional.relu(inplace)" has one more argument than the operator, which asks for the
    in-place form.
    grad: the gradient of each differentiable input, as an expression over other operators; or
    composite, or none. See docs/derivatives.md.
    number_nodes: the node's name where the argument of that name is a number.
    writes: the arguments that it changes, where that is not the first one alone. Its body counts
    their versions.
    batch: how vmap applies it, if the signature does not imply it.
    sparse: what it does with sparse tensors; by default it refuses them.
    device: "any" where its tensors may be on several devices.
    host: "cuda" where the CPU computes it for that device too, on copies: see csrc/cuda/host.h.
    type_check: "own" where the body refuses types itself, because more than the type decides.
    hands_out: it hands out elements, as numbers or as memory; observers are told of it.
    autocast: how it takes its inputs while autocast is on; by default as they are.
    out: the rules for `out=`, from OUT_RULES.
    old_order: factors that programs older than PyTorch 1.5 give before the tensors.
    """
    frame = sys._getframe(1)
    path = Path(frame.f_code.co_filename)
    where = f"{path.parent.name}/{path.name}:{frame.f_lineno}"
    overload, signature = split_overload(signature)
    name, args, result = parse_signature(signature, where)
    entry = Op(
        name=name,
        overload=overload,
        args=args,
        result=result,
        kind=kind,
        forms=tuple(forms.split()),
        dtypes=dtypes,
        doc=doc,
        family=path.stem,
        where=where,
        namespace=namespace,
        cpp=cpp,
        promote=promote,
        output=output,
        bool_inputs=bool_inputs,
        ranged=ranged,
        check=check,
        returns=tuple(returns.split()),
        body=body,
        mutates=mutates,
        writes=tuple(writes.split()),
        operator=operator,
        random=random,
        signature=signature,
        grad="formulas" if isinstance(grad, dict) else grad,
        formulas=tuple(grad.items()) if isinstance(grad, dict) else (),
        node=node,
        number_nodes=tuple((number_nodes or {}).items()),
        retypes=retypes,
        batch=batch,
        sparse=sparse,
        device=device,
        host=host,
        type_check=type_check,
        hands_out=hands_out,
        autocast=autocast,
        out=tuple(out.split()),
        old_order=tuple(old_order.split()),
    )
    entry = replace(entry, grad=entry.grad or implied_grad(entry))
    validate(entry)
    TABLE.add(entry)
    for other in aliases.split():
        TABLE.add(alias(entry, other))


def alias(entry: Op, name: str) -> Op:
    """The same operator under another name: only its entry points are its own."""
    if entry.kind == "bound":
        raise TableError(f"{entry.where}: {entry.name}: a bound operator cannot have aliases")
    name, _, switch = name.partition("(")
    namespace, _, short = name.rpartition(".")
    signature = short + entry.signature[entry.signature.index("(") :]
    args = entry.args
    if switch:
        positional = sum(not a.keyword_only for a in args)
        inplace = Arg("inplace", ARGUMENTS["bool"], "False", False)
        args = (*args[:positional], inplace, *args[positional:])
        end = ", *" if ", *" in signature else ") ->"
        signature = signature.replace(end, f", inplace: bool = False{end}")
    return replace(
        entry,
        name=short,
        args=args,
        namespace=namespace,
        cpp=entry.function,
        forms=("function",) if namespace else entry.forms,
        doc=f"{entry.doc} Another name of {entry.public_name}.",
        operator="",
        alias_of=entry.public_name,
        signature=signature,
    )


def implied_grad(entry: Op) -> str:
    """The implied rules: Python bodies are compositions; numbers and bools have no gradient."""
    if entry.kind == "python":
        return composite
    has_gradient = set(entry.dtypes) & set(floating_complex) and "Tensor" in entry.result.annotation
    return "" if has_gradient and entry.output != "bool" else none


def split_overload(signature: str) -> tuple[str, str]:
    """The name of the overload in ``sum.dim(input: ...)``, and the signature without it."""
    head, parenthesis, rest = signature.partition("(")
    name, _, overload = head.partition(".")
    return overload, f"{name}{parenthesis}{rest}"


def parse_signature(text: str, where: str) -> tuple[str, tuple[Arg, ...], ResultType]:
    try:
        function = ast.parse(f"def {text}: ...").body[0]
    except SyntaxError as error:
        raise TableError(f"{where}: not a signature: {text!r} ({error.msg})") from None
    if not isinstance(function, ast.FunctionDef) or function.returns is None:
        raise TableError(f"{where}: {text!r} lacks '-> result'")
    given = function.args
    if given.vararg or given.kwarg or given.posonlyargs:
        raise TableError(
            f"{where}: {text!r}: write a Size argument instead of *args; no **kwargs, no '/'"
        )
    positional = list(given.args)
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(given.defaults))
    defaults += given.defaults
    args = [make_arg(a, d, False, text, where) for a, d in zip(positional, defaults, strict=True)]
    args += [
        make_arg(a, d, True, text, where)
        for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    result_text = ast.unparse(function.returns)
    if result_text not in RESULTS:
        raise TableError(
            f"{where}: unknown result type {result_text!r}; known: {', '.join(RESULTS)}"
        )
    return function.name, tuple(args), RESULTS[result_text]


def make_arg(
    node: ast.arg, default: ast.expr | None, keyword_only: bool, text: str, where: str
) -> Arg:
    if node.annotation is None:
        raise TableError(f"{where}: argument {node.arg!r} of {text!r} has no type")
    type_text = ast.unparse(node.annotation)
    if type_text not in ARGUMENTS:
        raise TableError(
            f"{where}: argument {node.arg!r} has the unknown type {type_text!r}; "
            f"known: {', '.join(ARGUMENTS)}"
        )
    source = None if default is None else ast.unparse(default)
    return Arg(node.arg, ARGUMENTS[type_text], source, keyword_only)


def validate_grad(op: Op, refuse: Callable[[str], None]) -> None:
    if op.grad not in ("", "formulas", composite, none, not_implemented):
        refuse(f"grad is a dict of formulas, composite or none, not {op.grad!r}")
    if op.grad == composite and op.kind == "pointwise":
        refuse("a pointwise operator is no composition: give formulas")
    for name, _ in op.number_nodes:
        if name not in {a.name for a in op.core_args if a.type.annotation == "Tensor | Number"}:
            refuse(f"number_nodes names {name!r}, which is not a tensor or a number")
    inputs = {a.name for a in op.tensor_args}
    for name in op.gradient_inputs:
        if name not in inputs:
            refuse(f"grad names {name!r}, which is not a tensor argument")
        if op.gradient_inputs.count(name) > 1:
            refuse(f"grad names {name!r} twice")
    for names, formula in op.formulas:
        if error := syntax_error(formula):
            refuse(f"the gradient of {names!r} is not an expression: {formula!r} ({error})")


def validate_writes(op: Op, refuse: Callable[[str], None]) -> None:
    if unknown := set(op.writes) - {a.name for a in op.tensor_args}:
        refuse(f"writes names no tensor: {', '.join(sorted(unknown))}")
    if op.writes and not op.mutates and (op.kind != "native" or op.result.annotation != "None"):
        refuse("writes is for native operators that return nothing, or what they mutate")


def validate_autocast(op: Op, refuse: Callable[[str], None]) -> None:
    if not op.autocast:
        return
    if op.autocast not in AUTOCAST_RULES:
        refuse(f"autocast is one of {', '.join(AUTOCAST_RULES)}, not {op.autocast!r}")
    if op.kind == "bound" or not (op.tensor_args or op.kind == "python"):
        refuse("autocast is for operators that take tensors, and not for bound ones")
    if op.mutates:
        refuse("an operator that writes to its input computes in the type of that")
    if op.kind == "python" and op.autocast not in ("lower", "float32", "cuda_float32"):
        refuse(f"autocast={op.autocast!r} needs a body in C++")
    if not op.is_recorded and op.has_inplace_operator:
        refuse("a composition with an in-place form leaves autocast to its parts")


def validate_out(op: Op, refuse: Callable[[str], None]) -> None:
    for word in op.out:
        if word not in OUT_RULES:
            refuse(f"out consists of {', '.join(OUT_RULES)}, not {word!r}")
    if op.out and not op.has_out:
        refuse("out says what is asked of an argument that is not there")
    if "own" in op.out and op.kind != "python":
        refuse("out='own' is for bodies in Python")
    if {"whole", "apart", "changed"} & set(op.out) and op.result.annotation != "Tensor":
        refuse("what out says of memory is said of a single result")
    names = {a.name for a in op.core_args}
    if unknown := set(op.old_order) - names:
        refuse(f"old_order names no argument: {', '.join(sorted(unknown))}")


def syntax_error(expression: str) -> str:
    """The error of Python's parser; empty if there is none."""
    try:
        ast.parse(expression, mode="eval")
    except SyntaxError as error:
        return str(error.msg)
    return ""


def validate(op: Op) -> None:
    def refuse(reason: str) -> None:
        raise TableError(f"{op.where}: {op.name}: {reason}")

    if op.kind not in KINDS:
        refuse(f"unknown kind {op.kind!r}; known: {', '.join(KINDS)}")
    for form in op.forms:
        if form not in FORMS:
            refuse(f"unknown form {form!r}; known: {', '.join(FORMS)}")
    for form in {"inner", "named"} & set(op.forms):
        if len(op.forms) > 1 or not op.name.startswith("_"):
            refuse(f"an operator that is {form} has no other form, and a name that begins with _")
    if not op.doc.strip() or "\n" in op.doc or not op.doc.rstrip().endswith("."):
        refuse("doc must be one line that ends with a full stop")
    for dtype in op.dtypes:
        if dtype not in all_types:
            refuse(f"unknown dtype {dtype!r}")
    if ("method" in op.forms or "inplace" in op.forms) and not (
        op.args and op.args[0].type.is_operand
    ):
        refuse("a method's first argument must be a tensor")
    if op.operator and op.operator not in OPERATOR_SLOTS and op.operator not in COMPARISONS:
        refuse(
            f"unknown operator {op.operator!r}; known: {', '.join([*OPERATOR_SLOTS, *COMPARISONS])}"
        )
    if op.promote not in ("same", "float"):
        refuse(f"promote is 'same' or 'float', not {op.promote!r}")
    if op.output not in ("same", "bool", "real", "complex"):
        refuse(f"output is 'same', 'bool', 'real' or 'complex', not {op.output!r}")
    if op.kind == "pointwise":
        if not 1 <= len(op.tensor_inputs) <= 3:
            refuse(
                f"a pointwise operator has 1 to 3 operands, this one has {len(op.tensor_inputs)}"
            )
        if op.result.annotation != "Tensor":
            refuse("a pointwise operator returns one Tensor")
        for arg in op.params:
            if arg.type.annotation not in ("Number", "int", "float", "bool"):
                refuse(f"parameter {arg.name!r} of a pointwise operator must be a number")
        unknown = set(op.bool_inputs) - {a.name for a in op.tensor_inputs}
        if unknown:
            refuse(f"bool_inputs names no operand: {', '.join(sorted(unknown))}")
    elif op.promote != "same" or op.output != "same" or op.bool_inputs or op.ranged or op.check:
        refuse("promote, output, bool_inputs, ranged and check belong to pointwise operators")
    if (op.kind == "python") != bool(op.body):
        refuse("python operators, and only they, name their body as 'module:function'")
    validate_grad(op, refuse)
    validate_writes(op, refuse)
    if op.batch and op.batch not in BATCH_RULES:
        refuse(f"batch is one of {', '.join(BATCH_RULES)}, not {op.batch!r}")
    if op.sparse and op.sparse not in SPARSE_RULES:
        refuse(f"sparse is one of {', '.join(SPARSE_RULES)}, not {op.sparse!r}")
    if op.device not in ("", "any"):
        refuse(f"device is 'any' or not given, not {op.device!r}")
    if op.host not in ("", "cuda"):
        refuse(f"host is 'cuda' or not given, not {op.host!r}")
    if op.host and not (op.kind == "native" and op.is_recorded):
        refuse("host is for native operators that are no compositions")
    if op.hands_out and (
        op.kind != "bound" or "Tensor" in op.result.annotation or not op.tensor_args
    ):
        refuse("hands_out is for bound operators that make something else of a tensor")
    if op.type_check not in ("", "own"):
        refuse(f"type_check is 'own' or not given, not {op.type_check!r}")
    if op.type_check and not (op.kind == "native" and (op.is_recorded or op.is_factory)):
        refuse("type_check is for native operators that are no compositions")
    if op.sparse in ("own", "values") and not op.is_recorded:
        refuse(f"sparse={op.sparse!r} is for operators that are recorded; this one takes 'any'")
    validate_autocast(op, refuse)
    validate_out(op, refuse)
    if op.returns and len(op.returns) != op.result.count:
        refuse(f"returns names {len(op.returns)} fields, the result has {op.result.count}")
    if "inplace" in op.forms and op.inplace_args != op.args[: len(op.inplace_args)]:
        refuse("out and inplace stand last where there is an in-place form")
    takes_inplace = any(a.name == "inplace" for a in op.args)
    if takes_inplace and "inplace" not in op.forms and op.grad != composite:
        refuse("the argument inplace asks for an in-place form, which is not there")
    several = op.result.annotation != "Tensor" and op.kind not in ("python", "bound")
    if op.has_out and several and not op.returns:
        refuse("several results that out= takes have names: returns='values indices'")
    if "inplace" in op.forms and op.result.annotation != "Tensor":
        refuse("an in-place form needs a Tensor result")
