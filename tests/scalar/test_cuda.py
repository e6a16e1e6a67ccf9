"""The element functions of every pointwise operator compile for the GPU, from the same source."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from opgen.__main__ import load_table
from opgen.emit.text import CPP_TYPES
from opgen.model import TABLE, Op

CSRC = Path(__file__).parents[2] / "csrc"
NVCC = shutil.which("nvcc")
TYPES = ("float32", "float64", "complex64", "int64", "bool")


def kernel(op: Op, dtype: str) -> str:
    """A CUDA kernel that calls the element function once."""
    cpp = CPP_TYPES[dtype].replace("int64_t", "long long")
    given = [
        "mask[0]" if arg.name in op.bool_inputs else f"x[{i}]"
        for i, arg in enumerate(op.tensor_inputs)
    ]
    given += [f"x[{len(op.tensor_inputs) + i}]" for i in range(len(op.params))]
    return (
        f"__global__ void {op.function}_{dtype}(const {cpp}* x, const bool* mask, void* out) {{\n"
        f"  auto value = fb::scalar::{op.function}({', '.join(given)});\n"
        "  *static_cast<decltype(value)*>(out) = value;\n"
        "}\n"
    )


@pytest.mark.skipif(NVCC is None, reason="nvcc is not installed")
def test_element_functions_compile_for_cuda(tmp_path: Path) -> None:
    load_table()
    ops = [op for op in TABLE.ops if op.kind == "pointwise" and not op.alias_of]
    families = sorted({op.family for op in ops})
    source = tmp_path / "elements.cu"
    source.write_text(
        "".join(f'#include "scalar/{family}.h"\n' for family in families)
        + "using namespace fb;\n"
        + "".join(kernel(op, t) for op in ops for t in TYPES if t in op.kernel_types)
    )
    command = [NVCC, "-arch=sm_90", "-std=c++20", "-Xptxas", "-O1", f"-I{CSRC}", "-c", source.name]
    # The compiler is not to be looked at by a sanitizer that looks at us.
    environment = {name: text for name, text in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert len(ops) > 100
