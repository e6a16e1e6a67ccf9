"""``tools/vectorised.py``: which loops of a disassembly are vectors, and what it exempts."""

from __future__ import annotations

import pytest

from opgen.__main__ import load_table
from opgen.model import TABLE
from tools import vectorised

# As objdump prints them: operands with the result last, and below a call what it refers to.
VECTOR = """\
0000000000000040 <run>:
  40:\tvmovups (%rsi,%rax,1),%ymm0
  45:\tvmulps %ymm0,%ymm0,%ymm0
  49:\tvmovups %ymm0,(%rdi,%rax,1)
  4e:\tadd    $0x20,%rax
  52:\tcmp    %rax,%rdx
  55:\tjne    40 <run>
  57:\tret
"""
SCALAR = """\
0000000000000040 <run>:
  3c:\tvxorps %ymm1,%ymm1,%ymm1
  40:\tvmovss (%rsi,%rax,4),%xmm0
  45:\tvmulss %xmm0,%xmm0,%xmm0
  49:\tvmovss %xmm0,(%rdi,%rax,4)
  4e:\tinc    %rax
  55:\tjne    40 <run+0x4>
"""
CALLING = """\
0000000000000040 <run>:
  40:\tvmulps %ymm0,%ymm0,%ymm0
  44:\tcall   49 <run+0x9>
\t\t\t45: R_X86_64_PLT32\tfmodf-0x4
  49:\tvmovups %ymm0,(%rdi,%rax,1)
  4e:\tjne    40 <run>
"""
FILLING = VECTOR.replace("vmulps %ymm0,%ymm0,%ymm0", "vxorps %ymm0,%ymm0,%ymm0")
CHOOSING = VECTOR.replace("vmulps %ymm0,%ymm0,%ymm0", "vmovaps %zmm1,%zmm0{%k1}")
OUTSIDE = SCALAR.replace("vxorps %ymm1,%ymm1,%ymm1", "vaddps %ymm1,%ymm2,%ymm1")


def verdict(disassembly: str) -> vectorised.Verdict:
    ((_, body),) = vectorised.functions(disassembly.splitlines())
    return vectorised.Verdict(list(vectorised.innermost_loops(body)))


@pytest.mark.parametrize("disassembly", [VECTOR, CHOOSING])
def test_vectors(disassembly: str) -> None:
    assert verdict(disassembly).word == "vector"


@pytest.mark.parametrize("disassembly", [SCALAR, CALLING, FILLING, OUTSIDE])
def test_scalars(disassembly: str) -> None:
    assert verdict(disassembly).word == "scalar"


def test_calls_are_named() -> None:
    assert verdict(CALLING).calls == ["fmodf"]
    assert verdict(SCALAR).calls == []


def test_outer_loops_do_not_count() -> None:
    """What is between the loops of a nest does not make vectors of the inner one."""
    nest = SCALAR + "  60:\tvaddps %ymm1,%ymm2,%ymm1\n  64:\tjne    3c <run>\n"
    assert len(verdict(nest).loops) == 1
    assert verdict(nest).word == "scalar"


def test_exemptions_are_of_loops_that_exist() -> None:
    load_table()
    loops = {
        op.function: op.kernel_types
        for op in TABLE.ops
        if op.kind == "pointwise" and not op.alias_of
    }
    for operators in vectorised.EXEMPT.values():
        for name, types in operators.items():
            assert set(types) <= set(loops[name]), name


def test_reasons() -> None:
    assert vectorised.excuse("gcd", "int64") == "the machine divides integers one by one"
    assert vectorised.excuse("gelu", "float32") is None
    assert vectorised.excuse("lgamma", "float32") is None
