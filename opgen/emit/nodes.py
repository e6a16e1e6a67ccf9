"""The nodes of the graph, as C++."""

from __future__ import annotations

from opgen.emit.inputs import InputRange, input_ranges, is_list, kept_type, saved_type
from opgen.emit.text import cpp_name, quote
from opgen.formula import Formula, compile_formula
from opgen.model import Arg, Op, Table, not_implemented


class NodeText:
    """The node of one operator, if it has formulas."""

    def __init__(self, op: Op, table: Table) -> None:
        self.op = op
        self.table = table
        self.struct = f"Node_{op.overload_symbol}"
        self.args = {a.name: a for a in op.core_args}
        self.ranges = input_ranges(op)
        self.formulas: dict[str, Formula] = {}
        # Inputs without a known derivative: backward refuses to compute it.
        self.refused = [
            name for names, text in op.formulas if text == not_implemented for name in names.split()
        ]
        if op.grad in ("", not_implemented):
            self.refused = list(self.ranges)
        for names, text in op.formulas:
            if text != not_implemented and op.grad != not_implemented:
                self.formulas[names] = compile_formula(op, text, table)

    def node(self) -> list[str]:
        if not self.formulas and not self.refused:
            return []
        final = "" if self.op.number_nodes else " final"
        lines = [f"struct {self.struct}{final} : Node {{"]
        lines += [f"  {member}" for member in self.members()]
        lines += [
            f"  const char* name() const override {{ return {self.name()}; }}",
            f"  const char* operator_name() const override {{ return {quote(self.op.name)}; }}",
            "  void apply([[maybe_unused]] std::span<const Tensor> grads,",
            "             [[maybe_unused]] Gradients& out) override {",
        ]
        lines += [f"    {line}" for line in self.refusals()]
        for names, formula in self.formulas.items():
            lines += [f"    {line}" for line in self.gradient(names.split(), formula)]
        lines.append("  }")
        saved = self.saved_tensors()
        if saved:
            released = " ".join(f"{member}.release();" for member, _ in saved)
            lines.append(f"  void release_saved() override {{ {released} }}")
            lines += self.shown()
        return [*lines, "};", *self.number_nodes()]

    def number_nodes(self) -> list[str]:
        """The node under other names, for calls in which an argument is a number."""
        return [
            f"struct {self.struct}_{argument} final : {self.struct} {{ "
            f"const char* name() const override {{ return {quote(name)}; }} }};"
            for argument, name in self.op.number_nodes
        ]

    def made(self, in_place: bool) -> str:
        """A new node of the name that fits the arguments; one changed in place is a tensor."""
        made = f"r.make<{self.struct}>()"
        for argument, _ in self.op.number_nodes:
            if not (in_place and argument == self.op.core_args[0].name):
                other = f"r.make<{self.struct}_{argument}>()"
                made = f"({cpp_name(argument)}.is_tensor() ? {made} : {other})"
        return made

    def name(self) -> str:
        op = self.op
        if op.kind != "view" or not op.has_inplace_operator:
            return quote(op.node_name)
        forms = sum(
            other.name == op.name and other.has_inplace_operator for other in self.table.ops
        )
        stem, number = op.node_name[:-1], int(op.node_name[-1])
        return f"in_place ? {quote(f'{stem}{number + forms}')} : {quote(op.node_name)}"

    def mentioned(self, what: str) -> list[str]:
        """Names that any formula reads, in the order of arguments, then results."""
        found: set[str] = set()
        for formula in self.formulas.values():
            found |= getattr(formula, what)
        order = [*self.args, *(f"result_{i}" for i in range(8))]
        return [name for name in order if name in found]

    def members(self) -> list[str]:
        lines = [
            f"{saved_type(self.args.get(name))} {cpp_name(name)}_;"
            for name in self.mentioned("tensors")
        ]
        for name in self.mentioned("shapes"):
            kind = "std::vector<Dims>" if self.is_list(name) else "Dims"
            lines.append(f"{kind} {cpp_name(name)}_shape_;")
        lines += [f"DType {cpp_name(name)}_dtype_;" for name in self.mentioned("dtypes")]
        lines += [f"bool {cpp_name(name)}_by_columns_;" for name in self.mentioned("layouts")]
        lines += [f"Window {cpp_name(name)}_window_;" for name in self.mentioned("windows")]
        for name in self.mentioned("params"):
            lines.append(f"{kept_type(self.args[name])} {cpp_name(name)}_;")
        lines += [f"size_t {cpp_name(a.name)}_count_ = 0;" for a in self.lists()]
        return lines

    def is_list(self, name: str) -> bool:
        return name in self.args and is_list(self.args[name])

    def lists(self) -> list[Arg]:
        """The lists among the inputs that have gradients."""
        return [a for a in self.op.core_args if is_list(a) and a.name in self.ranges]

    def saved_tensors(self) -> list[tuple[str, str]]:
        return [(f"{cpp_name(name)}_", name) for name in self.mentioned("tensors")]

    def shown(self) -> list[str]:
        """Saved values under PyTorch's names, for inspecting the graph."""
        pairs = []
        for member, name in self.saved_tensors():
            if self.is_list(name):
                continue
            public = {"input": "self", "result_0": "result"}.get(name, name)
            is_operand = name in self.args and self.args[name].type.annotation == "Tensor | Number"
            reader = f"{member}.tensor()" if is_operand else member
            pairs.append(f"{{{quote(public)}, {reader}.unpack(*this)}}")
        if not pairs:
            return []
        return [
            "  std::vector<std::pair<const char*, Tensor>> saved_tensors() override {",
            f"    return {{{', '.join(pairs)}}};",
            "  }",
        ]

    def gradient(self, names: list[str], formula: Formula) -> list[str]:
        ranges = [self.ranges[name] for name in names]
        lines = [f"if ({' || '.join(self.wanted(each) for each in ranges)}) {{"]
        several = self.op.result.count != 1
        for i in sorted(formula.grads):
            value = f"grad_or_zeros(grads[{i}], outputs[{i}])" if several else f"grads[{i}]"
            lines.append(f"  const Tensor {'' if several else '&'}grad_{i} = {value};")
        if formula.all_grads:
            lines += [
                "  std::vector<Tensor> all_grads;",
                "  for (size_t i = 0; i < grads.size(); ++i)",
                "    all_grads.push_back(grad_or_zeros(grads[i], outputs[i]));",
            ]
        for value in self.ordered(formula.tensors):
            lines.append(f"  const auto {cpp_name(value)} = {cpp_name(value)}_.unpack(*this);")
        for value in self.ordered(formula.shapes):
            lines.append(f"  const auto& {cpp_name(value)}_shape = {cpp_name(value)}_shape_;")
        for value in self.ordered(formula.dtypes):
            lines.append(f"  const DType {cpp_name(value)}_dtype = {cpp_name(value)}_dtype_;")
        for value in self.ordered(formula.layouts):
            lines.append(
                f"  const bool {cpp_name(value)}_by_columns = {cpp_name(value)}_by_columns_;"
            )
        for value in self.ordered(formula.windows):
            lines.append(f"  const Window& {cpp_name(value)}_window = {cpp_name(value)}_window_;")
        for value in self.ordered(formula.params):
            lines.append(f"  const auto& {cpp_name(value)} = {cpp_name(value)}_;")
        if len(ranges) > 1:
            lines += [f"  {line}" for line in self.joint_gradients(ranges, formula)]
        elif ranges[0].count:
            lines.append(f"  spread({formula.cpp}, out, {ranges[0].index});")
        else:
            lines.append(f"  out[{ranges[0].index}] = {formula.cpp};")
        return [*lines, "}"]

    def joint_gradients(self, ranges: list[InputRange], formula: Formula) -> list[str]:
        """One expression gives all of them in order, undefined where not needed."""
        needed = ", ".join(self.wanted(each) for each in ranges)
        lines = [
            f"[[maybe_unused]] const std::array<bool, {len(ranges)}> needed{{{needed}}};",
            f"const auto gradients = {formula.cpp};",
            "size_t at = 0;",
        ]
        for each in ranges:
            if each.count:
                lines.append(f"for (size_t i = 0; i < {each.count}; ++i)")
                lines.append(f"  out[{each.index} + i] = gradients[at++];")
            else:
                lines.append(f"out[{each.index}] = gradients[at++];")
        return lines

    def ordered(self, names: set[str]) -> list[str]:
        return [n for n in [*self.args, *(f"result_{i}" for i in range(8))] if n in names]

    def refusals(self) -> list[str]:
        return [
            f"if ({self.wanted(self.ranges[name])}) refuse_derivative({quote(self.op.name)});"
            for name in self.refused
        ]

    def wanted(self, inputs: InputRange) -> str:
        many = f"needs_any({inputs.index}, {inputs.count})"
        return many if inputs.count else f"needs({inputs.index})"
