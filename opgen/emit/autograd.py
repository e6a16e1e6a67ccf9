"""gen/autograd/<family>.cpp: the nodes of the graph, and the operators that record them."""

from __future__ import annotations

from opgen.emit import autocast, batching, boxed, devices, sparse, type_checks
from opgen.emit.inputs import (
    is_list,
    results_list,
    tensor_args,
)
from opgen.emit.nodes import NodeText
from opgen.emit.operators import inplace_parameters, parameters
from opgen.emit.text import HEADER, cpp_name, quote
from opgen.model import Op, Table

# What nodes keep of tensors besides elements: name in Formula, member, and the function to read it.
GEOMETRY = (
    ("shapes", "shape", "shape_of"),
    ("dtypes", "dtype", "dtype_of"),
    ("layouts", "by_columns", "is_by_columns"),
    ("windows", "window", "window_of"),
)


def emit(table: Table) -> dict[str, str]:
    return {
        f"gen/autograd/{family}.cpp": recorded_family(family, ops, table)
        for family, ops in table.families().items()
        if any(boxed.rows_of(op) for op in ops)
    }


def is_generated(op: Op) -> bool:
    """Whether the operator itself, or its in-place form, is generated here."""
    is_body = op.is_cast or op.is_factory or op.is_writing_composition
    return op.is_recorded or op.has_inplace_operator or is_body


def recorded_family(family: str, ops: list[Op], table: Table) -> str:
    faces: set[tuple[str, ...]] = set()
    recorders = []
    for op in ops:
        if op.alias_of:
            continue
        # Entries may share a function: the first one represents it.
        face = (op.function, *(a.type.cpp for a in op.core_args))
        if face in faces:
            continue
        faces.add(face)
        if is_generated(op):
            recorders.append(Recorded(op, table))
    lines = [
        HEADER.format(family=family) + '#include "autograd/formula.h"',
        *includes(family, recorders),
    ]
    lines += ["", *boxed.declarations(ops)]
    lines += ["namespace fb::autograd {", "namespace {", "using namespace formula;", ""]
    for recorded in recorders:
        lines += recorded.node()
    lines += ["}  // namespace", "}  // namespace fb::autograd", "", "namespace fb::ops {"]
    lines += ["using namespace autograd;", ""]
    for recorded in recorders:
        lines += recorded.operators()
    return "\n".join([*lines, "}  // namespace fb::ops", "", *boxed.definitions(ops)])


def includes(family: str, recorders: list[Recorded]) -> list[str]:
    """Only what the formulas use: an operator added elsewhere must not rebuild this file."""
    called = {family}
    for recorder in recorders:
        for formula in recorder.formulas.values():
            called |= formula.families
    lines = [
        '#include "autograd/batch_rules.h"',
        '#include "autograd/inplace.h"',
        '#include "autograd/one_device.h"',
        '#include "ops/boxing.h"',
        '#include "ops/observe.h"',
        '#include "ops/type_check.h"',
    ]
    if any(recorder.op.is_cast for recorder in recorders):
        lines.append('#include "autograd/autocast_rules.h"')
    if any(recorder.op.kind == "view" for recorder in recorders):
        lines.append('#include "ops/layout.h"')
    if any(recorder.op.sparse == "values" for recorder in recorders):
        lines.append('#include "ops/sparse.h"')
    for family in sorted(called):
        lines.append(f'#include "gen/ops/{family}.h"')
        lines += [
            f'#if __has_include("autograd/formulas/{family}.h")',
            f'#include "autograd/formulas/{family}.h"',
            "#endif",
        ]
    return lines


class Recorded(NodeText):
    """One operator: its node, and its recording forms."""

    def operators(self) -> list[str]:
        lines = []
        if self.op.mutates:
            lines += self.changing(self.op.function, parameters(self.op, False))
        elif self.op.is_writing_composition:
            lines += self.telling()
        elif self.op.writes:
            lines += self.writing()
        elif self.op.is_recorded:
            lines += self.computing()
            if self.op.kind == "pointwise":
                lines += self.storing()
        elif self.op.is_cast:
            lines += self.composing()
        elif self.op.is_factory:
            lines += self.making()
        if self.op.has_inplace_operator:
            lines += self.changing(f"{self.op.function}_", inplace_parameters(self.op, False))
        return lines

    @property
    def given(self) -> str:
        return ", ".join(cpp_name(a.name) for a in self.op.core_args)

    def plain(self) -> str:
        return (
            " && ".join(f"takes_fast_path({cpp_name(a.name)})" for a in tensor_args(self.op))
            or "true"
        )

    @property
    def flags(self) -> str:
        return " | ".join(f"flags_of({cpp_name(a.name)})" for a in tensor_args(self.op))

    def operands_record(self) -> str:
        """Whether an argument other than the first needs gradients."""
        others = [f"wants_grad({cpp_name(a.name)})" for a in tensor_args(self.op)[1:]]
        return f", {' || '.join(others)}" if others else ""

    def idle(self, computed: str) -> list[str]:
        return [
            f"  const unsigned flags = {self.flags};",
            *devices.check(self.op, "flags"),
            *sparse.refusal(self.op, "flags"),
            "  if (flags & kBatched) [[unlikely]]",
            f"    return {self.batched}({self.given});",
            f"  if (is_idle(flags)) return cut_off({computed}, flags);",
        ]

    @property
    def batched(self) -> str:
        """The function that computes it for a batch."""
        return f"batched_{self.struct.removeprefix('Node_')}"

    @property
    def cast(self) -> str:
        """The function that computes it while autocast is on."""
        return f"autocast_{self.struct.removeprefix('Node_')}"

    def drawing(self, function: str) -> list[str]:
        """Random operators draw for each sample of a map."""
        if not self.op.random:
            return []
        call = f"{function}({self.given})"
        returned = f"return {call}" if function == self.batched else f"return void({call})"
        return [f"  if (in_map() && draws_apart()) {returned};"]

    def recorder(self) -> list[str]:
        # Others, such as an index, have no gradient.
        inputs = [a for a in tensor_args(self.op) if a.name in self.ranges]
        return [
            "  Recorder r;",
            *(f"  r.input{'s' if is_list(a) else ''}({cpp_name(a.name)});" for a in inputs),
        ]

    def computing(self) -> list[str]:
        op = self.op
        first = cpp_name(op.core_args[0].name) if op.core_args else ""
        lines = [
            "namespace {",
            *batching.computing(op, self.batched),
            *autocast.casting(op, self.cast),
            "}  // namespace",
            f"{op.result.cpp} {op.function}({parameters(op, False)}) {{",
            *autocast.test(op, self.cast),
            *boxed.observed(boxed.Row(op, ""), self.given),
            *self.drawing(self.batched),
            *type_checks.check(op),
            *([f"  settle({first});"] if op.kind == "view" else []),
            f"  if ({self.plain()}) [[likely]]",
            f"    return {self.made_of(self.call)};",
        ]
        computed = self.made_of(sparse.computed(op, self.call))
        lines += self.idle(computed)
        lines += self.recorder()
        if not self.formulas and not self.refused:
            return [*lines, "  const Quiet quiet;", f"  return r.pass({computed});", "}"]
        lines += [f"  if (!r.wants_node()) return r.pass({computed});"]
        lines += self.saving(False)
        lines += [
            f"  {op.result.cpp} result = quietly([&] {{ return {computed}; }});",
            *self.finishing("result"),
            "  return result;",
            "}",
        ]
        return lines

    def making(self) -> list[str]:
        """A factory: there is nothing to record."""
        op = self.op
        return [
            f"{op.result.cpp} {op.function}({parameters(op, False)}) {{",
            *boxed.observed(boxed.Row(op, ""), self.given),
            *type_checks.check(op),
            f"  return {self.call};",
            "}",
        ]

    def telling(self) -> list[str]:
        """A composition that writes: its parts do the rest."""
        op = self.op
        return [
            f"{op.result.cpp} {op.function}({parameters(op, False)}) {{",
            *boxed.observed(boxed.Row(op, ""), self.given),
            f"  composed::{op.function}({self.given});",
            "}",
        ]

    def writing(self) -> list[str]:
        """Changes lists of tensors and records nothing: their versions are raised."""
        op = self.op
        written = ", ".join(cpp_name(name) for name in op.writes)
        return [
            f"{op.result.cpp} {op.function}({parameters(op, False)}) {{",
            *boxed.observed(boxed.Row(op, ""), self.given),
            f"  if (!({self.plain()})) [[unlikely]] {{",
            f"    const unsigned flags = {self.flags};",
            *(f"  {line}" for line in devices.check(op, "flags")),
            *(f"  {line}" for line in sparse.refusal(op, "flags")),
            f"    if (flags & kBatched) refuse_batched_lists({quote(op.name)});",
            f"    if (flags & kInference) check_inference({written});",
            "  }",
            f"  quietly([&] {{ {self.call}; }});",
            "}",
        ]

    def composing(self) -> list[str]:
        """A composition, which has no node of its own but a rule for autocast."""
        op = self.op
        return [
            "namespace {",
            *autocast.casting(op, self.cast),
            "}  // namespace",
            f"{op.result.cpp} {op.function}({parameters(op, False)}) {{",
            *autocast.test(op, self.cast),
            f"  return composed::{op.function}({self.given});",
            "}",
        ]

    @property
    def call(self) -> str:
        return f"compute::{self.op.function}({self.given})"

    def made_of(self, call: str) -> str:
        """The result to return: a view is registered as one, anything else is independent."""
        op = self.op
        if op.kind != "view":
            return f"owned({call})" if op.kind == "native" else call
        first = cpp_name(op.core_args[0].name)
        if op.retypes:
            return f"as_retyped_view_of({first}, {call}, {self.again('=')})"
        wrapper = "as_view_of" if op.result.annotation == "Tensor" else "as_views_of"
        return f"{wrapper}({first}, {call})"

    def differentiable(self) -> str:
        """The results that have a gradient, as bits: those whose gradient some formula reads."""
        read: set[int] = set()
        for formula in self.formulas.values():
            if formula.all_grads:
                return ""
            read |= formula.grads | formula.given_grads
        several = self.op.result.count > 1 and 0 < len(read) < self.op.result.count
        return f", {sum(1 << i for i in read):#x}U" if several else ""

    def again(self, capture: str) -> str:
        """The operator as a function of its first argument."""
        given = ["on", *(cpp_name(a.name) for a in self.op.core_args[1:])]
        return f"[{capture}](const Tensor& on) {{ return {self.op.function}({', '.join(given)}); }}"

    def finishing(self, value: str, form: str = "") -> list[str]:
        op = self.op
        if op.kind == "view":
            return [
                *self.saving_results(value),
                f"  r.finish_view(owner, {value}, {self.again('&')});",
            ]
        save = self.saving_results(value)
        results = value if form else results_list(op)
        mask = "" if form else self.differentiable()
        if not any("save_result" in line for line in save):
            return [*save, f"  r.finish{form}(owner, {results}{mask});"]
        # Saved results carry tangents too: those of inner levels need them.
        return [
            f"  const auto save_results = [&] {{ {' '.join(line.strip() for line in save)} }};",
            "  save_results();",
            f"  r.attach{form}(owner, {results}{mask});",
            "  for (const int64_t level : r.levels()) {",
            f"    r.carry{form}(owner, {results}, level{mask});",
            "    save_results();",
            "  }",
        ]

    def saving(self, in_place: bool) -> list[str]:
        lines = [f"  NodeRef owner({self.made(in_place)});"]
        lines.append(f"  auto* node = static_cast<{self.struct}*>(owner.get());")
        for name in (cpp_name(arg.name) for arg in self.lists()):
            lines += [f"  node->{name}_count_ = count_of({name});"]
        first = self.op.core_args[0].name
        for name in self.mentioned("tensors"):
            if name.startswith("result_"):
                continue
            value = cpp_name(name)
            if in_place and name == first:
                value = f"clone({value})"
            lines.append(
                f"  if ({self.needed_by('tensors', name)}) node->{cpp_name(name)}_.save({value});"
            )
        for what, part, reader in GEOMETRY:
            names = [cpp_name(n) for n in self.mentioned(what) if not n.startswith("result_")]
            lines += [f"  node->{name}_{part}_ = {reader}({name});" for name in names]
        params = map(cpp_name, self.mentioned("params"))
        lines += [f"  keep(node->{name}_, {name});" for name in params]
        if not self.mentioned("tensors") and not self.mentioned("shapes"):
            lines.append("  static_cast<void>(node);")
        return lines

    def saving_results(self, value: str) -> list[str]:
        lines = []
        single = self.op.result.count == 1
        for name in self.mentioned("tensors"):
            if name.startswith("result_"):
                source = value if single else f"std::get<{name[7:]}>({value})"
                needed = self.needed_by("tensors", name)
                lines.append(f"  if ({needed}) node->{name}_.save_result({source}, {name[7:]});")
        for what, function in (("shapes", "shape"), ("dtypes", "dtype")):
            for name in self.mentioned(what):
                if name.startswith("result_"):
                    source = value if single else f"std::get<{name[7:]}>({value})"
                    lines.append(f"  node->{name}_{function}_ = {function}_of({source});")
        return lines

    def needed_by(self, what: str, name: str) -> str:
        conditions = []
        for input_names, formula in self.formulas.items():
            if name not in getattr(formula, what):
                continue
            for each in (self.ranges[input_name] for input_name in input_names.split()):
                if each.count:
                    conditions.append(
                        f"r.needs_any({self.runtime(each.index)}, {self.runtime(each.count)})"
                    )
                else:
                    conditions.append(f"r.needs({self.runtime(each.index)})")
        return " || ".join(conditions)

    def runtime(self, expression: str) -> str:
        """Code outside of the node, where the lists are available."""
        for arg in self.lists():
            name = cpp_name(arg.name)
            expression = expression.replace(f"{name}_count_", f"node->{name}_count_")
        return expression

    def storing(self) -> list[str]:
        op = self.op
        return [
            f"void {op.function}_out(const Tensor& out, {parameters(op, False)}) {{",
            *boxed.observed(boxed.Row(op, "out"), self.given),
            f"  if (!({self.plain()} && takes_fast_path(out))) [[unlikely]] {{",
            f"    const unsigned flags = {self.flags} | flags_of(out);",
            *devices.check(op, "flags", "out"),
            f"    if (flags & kSparse) refuse_sparse({quote(op.public_name)});",
            f"    if (flags & kBatched) refuse_batched_out({quote(op.name)});",
            *[f"  {line}" for line in self.recorder()],
            "    r.input(out);",
            f"    if (r.wants_node()) refuse_out({quote(op.name)});",
            "    check_inplace(out);",
            "  }",
            f"  compute::{op.function}_out(out, {self.given});",
            "}",
        ]

    def changing(self, function: str, params: str) -> list[str]:
        """The form that changes its first argument."""
        op = self.op
        first = cpp_name(op.core_args[0].name)
        public = op.name if op.mutates else f"{op.name}_"
        form = "" if op.mutates else "inplace"
        head = [
            f"void {function}({params}) {{",
            *boxed.observed(boxed.Row(op, form), self.given),
        ]
        if op.kind == "view":
            return [*head, *self.reseating(first, public), "}"]
        if not op.mutates and not op.is_recorded:
            return [*head, *self.replacing(first, public), "}"]
        if op.mutates or op.kind == "pointwise":
            change = f"compute::{function}({self.given})"
        else:
            change = f"overwrite({first}, compute::{op.function}({self.given}))"
        bump = "" if op.kind == "pointwise" else f" {first}.bump_version({quote(public)});"
        lines = [
            "namespace {",
            *batching.changing(op, function, f"{self.batched}_"),
            "}  // namespace",
            *head,
            *self.drawing(f"{self.batched}_"),
            *type_checks.check(op),
            f"  if ({self.plain()}) [[likely]] {{",
            f"    {change};{bump}",
            "    return;",
            "  }",
            f"  const unsigned flags = {self.flags};",
            *devices.check(op, "flags"),
            *sparse.refusal(op, "flags"),
            "  if (flags & kBatched) [[unlikely]]",
            f"    return {self.batched}_({self.given});",
            f"  check_inplace({first}{self.operands_record()});",
            *self.recorder(),
        ]
        change = sparse.changed(op, function, change, f"{first}.bump_version({quote(public)})")
        if not self.formulas and not self.refused:
            return [*lines, f"  quietly([&] {{ {change}; }});{bump}", "}"]
        lines += [
            "  if (!r.wants_node()) {",
            f"    {change};{bump}",
            "    return;",
            "  }",
            *self.saving(True),
            f"  quietly([&] {{ {change}; }});{bump}",
            *self.finishing(first, "_inplace"),
            "}",
        ]
        return lines

    def reseating(self, first: str, public: str) -> list[str]:
        call = f"{self.op.function}({self.given})"
        return [f"  become_recorded_view({quote(public)}, {first}, [&] {{ return {call}; }});"]

    def replacing(self, first: str, public: str) -> list[str]:
        """A composition has no in-place form of its own: its result replaces the elements."""
        rest = [cpp_name(a.name) for a in self.op.core_args[1:]]
        call = f"{self.op.function}({', '.join(['before', *rest])})"
        return [
            f"  replace_elements({quote(public)}, {first}, [&](const Tensor& before) {{ return {call}; }});"
        ]
