"""What is generated for a handful of operators, to the letter.

A change of the generator shows itself as a difference here. When it is wanted, write the files
anew with `python -m tests.opgen.test_golden` and let the review read them.
"""

from pathlib import Path

import pytest

from opgen.emit import bindings, boxed, docs, loops, op_info, operators, stubs
from tests.opgen.planted import read_table

GOLDEN = Path(__file__).parent / "golden"
EMITTERS = {
    "operators": operators,
    "loops": loops,
    "boxed": boxed,
    "bindings": bindings,
    "op_info": op_info,
    "stubs": stubs,
    "docs": docs,
}


def generated() -> dict[str, str]:
    """All products of the table `golden/sample.py`, one text per emitter."""
    table = read_table(GOLDEN / "sample.py")
    texts = {}
    for name, emitter in EMITTERS.items():
        files = sorted(emitter.emit(table).items())
        texts[f"{name}.txt"] = "\n".join(f"=== {path}\n{text}" for path, text in files)
    return texts


@pytest.mark.parametrize("name", sorted(EMITTERS))
def test_golden(name: str) -> None:
    file = GOLDEN / f"{name}.txt"
    assert generated()[file.name] == file.read_text(encoding="utf-8"), (
        "generated code changed; if that is wanted: python -m tests.opgen.test_golden"
    )


def test_generation_repeats_itself() -> None:
    assert generated() == generated()


if __name__ == "__main__":
    for file_name, text in generated().items():
        (GOLDEN / file_name).write_text(text, encoding="utf-8")
