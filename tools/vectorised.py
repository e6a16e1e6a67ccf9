"""Say which generated loops a compiler made vectors of, from the object files of its build.

    python tools/vectorised.py build/cp311-cp311-linux_x86_64 build/clang++-19

has a column for every build and level above the baseline, and a row for every loop that one of them
left scalar without a reason: see EXEMPT. Exits with 1 if there is such a loop.
"""

from __future__ import annotations

import argparse
import dataclasses
import platform
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

LEVELS = ("avx2", "avx512")
DTYPES = {
    "bool": "bool",
    "unsigned char": "uint8",
    "signed char": "int8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "Complex<float>": "complex64",
    "Complex<double>": "complex128",
}
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")

# Loops that may be scalar, by the reason: element functions and types.
EXEMPT: dict[str, dict[str, tuple[str, ...]]] = {
    "copies its input, or writes one value": {
        "abs": ("uint8",),
        "complex": FLOATS,
        "conj_physical": INTEGERS + FLOATS,
        "relu": ("uint8",),
        "signbit": ("bool", "uint8"),
        **dict.fromkeys(("ceil", "floor", "round", "trunc"), INTEGERS),
        **dict.fromkeys(
            ("isfinite", "isinf", "isnan", "isneginf", "isposinf"), ("bool", *INTEGERS)
        ),
        "isreal": ("bool", *INTEGERS, *FLOATS),
    },
    "the machine divides integers one by one": dict.fromkeys(
        ("div_trunc", "floor_divide", "fmod", "gcd", "lcm", "remainder"), INTEGERS
    ),
    "repeats as often as its elements say": {
        "pow": INTEGERS,
        **dict.fromkeys(
            (
                *("chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v"),
                *("chebyshev_polynomial_w", "shifted_chebyshev_polynomial_t"),
                *("shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v"),
                *("shifted_chebyshev_polynomial_w", "hermite_polynomial_h"),
                *("hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"),
                *("digamma", "igamma", "igammac", "polygamma", "zeta"),
            ),
            FLOATS,
        ),
    },
    "has pieces of which a branch chooses one": dict.fromkeys(
        ("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "ndtri", "nextafter"),
        FLOATS,
    ),
    "reduces large angles one by one": {
        **dict.fromkeys(("polar", "spherical_bessel_j0"), FLOATS),
        "sinc": FLOATS + COMPLEX,
        **dict.fromkeys(
            (
                *("cos", "cosh", "exp", "exp2", "expm1", "ldexp", "logaddexp", "pow", "sigmoid"),
                *("silu", "silu_backward", "sin", "sinh", "tan", "tanh", "tanhshrink"),
                "tanhshrink_backward",
            ),
            COMPLEX,
        ),
    },
    "calls the C library": {"lgamma": ("float64",)},
    "GCC up to 13 leaves branches in it": dict.fromkeys(("addcdiv", "is_close", "rsqrt"), COMPLEX),
}


@dataclasses.dataclass(frozen=True)
class Loop:
    """An innermost loop of a function: what its instructions do."""

    vectors: int  # arithmetic on whole registers of 256 bits or more
    scalars: int  # arithmetic on single floating-point numbers
    stores: bool
    calls: tuple[str, ...]


@dataclasses.dataclass
class Verdict:
    """What became of the loops of one operator and type."""

    loops: list[Loop] = dataclasses.field(default_factory=list)

    @property
    def is_vector(self) -> bool:
        """Whether some loop stores what it computed in vectors, with no call between."""
        return any(loop.vectors and loop.stores and not loop.calls for loop in self.loops)

    @property
    def word(self) -> str:
        return "vector" if self.is_vector else "scalar"

    @property
    def calls(self) -> list[str]:
        return sorted({name for loop in self.loops for name in loop.calls} - {"run"})


# Operands follow AT&T's order: the last one is what is written.
INSTRUCTION_LINE = re.compile(r"^\s*([0-9a-f]+):\t(?:\{\w+\} )?(\S+)\s*(.*)$")
RELOCATION_LINE = re.compile(
    r"^\s*[0-9a-f]+: R_X86_64_(?:PLT32|PC32|GOTPCRELX?)\t(\S+?)(?:-0x\w+)?$"
)
FUNCTION_LINE = re.compile(r"^[0-9a-f]+ <(.*)>:$")
# The loop of an operator and a type; cpu/kernels/pointwise_loop.h has the names.
LOOP_NAME = re.compile(
    r"\b(?:run|pointwise_loop)<fb::cpu::\w+::\(anonymous namespace\)::(\w+)<(.+?) ?>, "
)
# Instructions that only move elements about are no arithmetic, nor is a register cleared.
MOVES = re.compile(
    r"v(mov|p?broadcast|p?insr|insert|extract|pextr|perm|pperm|zero|lddqu|maskmov|pmaskmov"
    r"|pgather|gather|unpck|punpck|shuf|pshuf|palignr|valign|compress|expand)"
)
SCALAR = re.compile(
    r"v?(add|sub|mul|div|sqrt|min|max|fn?m(add|sub)\d+|u?comi|cmp\w*|round|rndscale)s[sd]$"
)


def functions(disassembly: Iterable[str]) -> Iterator[tuple[str, list[tuple[int, str, str]]]]:
    """Each function's name and its instructions: address, mnemonic and operands."""
    name, body = "", list[tuple[int, str, str]]()
    for line in disassembly:
        if found := INSTRUCTION_LINE.match(line):
            body.append((int(found[1], 16), found[2], found[3]))
        elif (found := RELOCATION_LINE.match(line)) and body and body[-1][1].startswith("call"):
            body[-1] = (*body[-1][:2], f"<{found[1]}>")
        elif found := FUNCTION_LINE.match(line):
            if body:
                yield name, body
            name, body = found[1], []
    if body:
        yield name, body


def innermost_loops(body: list[tuple[int, str, str]]) -> Iterator[Loop]:
    """What is between a jump backwards and its target, unless another such is inside."""
    at = {address: index for index, (address, _, _) in enumerate(body)}
    ends: dict[int, int] = {}
    for index, (_, mnemonic, operands) in enumerate(body):
        if mnemonic.startswith("j") and (found := re.match(r"([0-9a-f]+) ", operands)):
            start = at.get(int(found[1], 16), index + 1)
            if start <= index:
                ends[start] = max(ends.get(start, 0), index)
    for start, end in ends.items():
        if not any(start < inner and last <= end for inner, last in ends.items()):
            yield described(body[start : end + 1])


def called(operands: str) -> str:
    """A function's name without its namespace, arguments and address."""
    name = re.sub(r"<[^<>]*>|\([^()]*\)", "", operands.partition("<")[2].removesuffix(">"))
    while name != (name := re.sub(r"<[^<>]*>|\([^()]*\)", "", name)):
        pass
    return re.split(r"::|\+", name.removesuffix("@plt"))[-1].split(" ")[0] or "?"


def is_arithmetic(mnemonic: str, operands: list[str]) -> bool:
    if mnemonic.startswith("vmov"):
        return "{%k" in operands[-1] and "{z}" not in operands[-1]  # a choice between two vectors
    is_cleared = len(set(operands)) == 1 and re.match(r"vp?(xor|sub|cmpeq)", mnemonic)
    return not MOVES.match(mnemonic) and not is_cleared


def described(body: list[tuple[int, str, str]]) -> Loop:
    vectors = scalars = 0
    stores, calls = False, list[str]()
    for _, mnemonic, operands in body:
        parts = re.split(r",(?![^(]*\))", operands)
        if mnemonic.startswith("call"):
            calls.append(called(operands))
        elif SCALAR.match(mnemonic):
            scalars += 1
        elif mnemonic.startswith("v"):
            wide = "%ymm" in operands or "%zmm" in operands
            vectors += wide and is_arithmetic(mnemonic, parts)
            stores |= (
                mnemonic.startswith(("vmov", "vpmov", "vextract", "vcvt")) and "(" in parts[-1]
            )
        stores |= mnemonic.startswith(("mov", "kmov")) and "(" in parts[-1]
    return Loop(vectors, scalars, stores, tuple(calls))


def verdicts(objects: Iterable[Path]) -> dict[tuple[str, str], Verdict]:
    """The loops in object files, by element function and type."""
    result: dict[tuple[str, str], Verdict] = {}
    for path in objects:
        command = ["objdump", "-dr", "--no-show-raw-insn", "--demangle", str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for name, body in functions(process.stdout):
                if found := LOOP_NAME.search(name):
                    operator = re.sub(r"(?<!^)(?=[A-Z])", "_", found[1]).lower()
                    key = operator, DTYPES[found[2].replace("fb::", "")]
                    result.setdefault(key, Verdict()).loops += innermost_loops(body)
    return result


def by_build(builds: Iterable[Path]) -> dict[str, dict[tuple[str, str], Verdict]]:
    """The loops of every build and level, by a title."""
    result = {}
    for build in builds:
        folders = {level: build / f"CMakeFiles/kernels_{level}.dir" for level in LEVELS}
        several = any(folder.is_dir() for folder in folders.values())
        if not several:
            folders = {"": build / "CMakeFiles/kernels_baseline.dir"}  # built with FB_MARCH
        for level, folder in folders.items():
            objects = sorted(folder.glob("generated/gen/loops/*.o"))
            if not objects:
                raise SystemExit(f"{folder}: there are no object files of generated loops")
            result[f"{build.name} {level}".rstrip()] = verdicts(objects)
    return result


def excuse(operator: str, dtype: str) -> str | None:
    """Why a loop may be scalar, if it may."""
    for reason, operators in EXEMPT.items():
        if operator in operators and dtype in operators[operator]:
            return reason
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("builds", nargs="+", type=Path, help="folders that CMake built in")
    parser.add_argument("--all", action="store_true", help="print exempt loops and vectors too")
    options = parser.parse_args()
    if platform.machine() != "x86_64":
        print("vectors are looked for on x86-64 only")
        return 0
    builds = by_build(options.builds)
    failed = 0
    rows = []
    for key in sorted({key for found in builds.values() for key in found}):
        cells = [found[key].word if key in found else "" for found in builds.values()]
        reason = excuse(*key)
        bad = "scalar" in cells and not reason
        failed += bad
        if bad or options.all:
            calls = sorted(
                {name for found in builds.values() if key in found for name in found[key].calls}
            )
            note = reason or (f"calls {', '.join(calls)}" if calls else "")
            rows.append((" ".join(key), cells, note))
    if rows:
        width = max(len(name) for name, _, _ in rows)
        titles = [re.sub(r"^(cp\d+)-\S+", r"\1", title) for title in builds]
        print(f"{'':{width}}", *(f"{title:>8}" for title in titles))
        for name, cells, note in rows:
            padded = (
                f"{cell:>{max(8, len(title))}}" for cell, title in zip(cells, titles, strict=True)
            )
            print(f"{name:{width}}", *padded, note)
    loops = max(len(found) for found in builds.values())
    print(f"{loops} loops in {len(builds)} builds: {failed} scalar that should be vectors")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
