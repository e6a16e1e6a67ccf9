"""Writes the sources that NVRTC compiles into a C++ file: embed.py OUT ROOT FOLDER...

Files are named as they are included: by their path from ROOT.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path


def embedded(roots: list[Path], folders: list[str]) -> dict[str, str]:
    """Every header in the folders below the roots, by its path from its root."""
    found = {}
    for root in roots:
        for folder in folders:
            for path in sorted((root / folder).rglob("*")):
                if path.suffix in (".h", ".cuh"):
                    found[path.relative_to(root).as_posix()] = path.read_text()
    return found


def as_cpp(sources: dict[str, str]) -> str:
    digest = hashlib.sha256(json.dumps(sources, sort_keys=True).encode()).hexdigest()
    lines = [
        "// Written by cmake/embed.py. Do not edit.",
        '#include "cuda/sources.h"',
        "namespace fb::cuda {",
        f'const char* const kSourcesDigest = "{digest}";',
        "const Source kSources[] = {",
    ]
    for name, text in sources.items():
        lines.append(f'{{"{name}",')
        lines += [json.dumps(line, ensure_ascii=True) for line in text.splitlines(keepends=True)]
        lines.append("},")
    return "\n".join([*lines, "{nullptr, nullptr}};", "}  // namespace fb::cuda", ""])


def main() -> None:
    out, *arguments = sys.argv[1:]
    split = arguments.index("--")
    roots = [Path(each) for each in arguments[:split]]
    text = as_cpp(embedded(roots, arguments[split + 1 :]))
    target = Path(out)
    if not target.exists() or target.read_text() != text:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


if __name__ == "__main__":
    main()
