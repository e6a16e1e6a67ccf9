"""Refuse files with trailing spaces, without a final newline, with tabs, binary, or too large.

usage: check_files.py [FILE...]; without names, every file that git tracks.
"""

import subprocess
import sys
from pathlib import Path

LARGEST = 300_000  # bytes; data belongs elsewhere
PICTURES = Path("docs/images")  # the only place of binary files
TABS_ALLOWED = {"Makefile"}
TABLES = {".tsv", ".csv"}  # files in which white space is data


def complaints(path: Path) -> list[str]:
    """What is wrong with one file."""
    content = path.read_bytes()
    if len(content) > LARGEST:
        return [f"{path}: {len(content)} bytes, the limit is {LARGEST}"]
    if path.parent == PICTURES and path.suffix == ".png":
        return []
    if b"\0" in content:
        return [f"{path}: a binary file"]
    if path.suffix in TABLES:
        return []
    found = []
    for number, line in enumerate(content.split(b"\n"), 1):
        if line != line.rstrip():
            found.append(f"{path}:{number}: trailing white space")
        if b"\t" in line and path.name not in TABS_ALLOWED:
            found.append(f"{path}:{number}: a tab")
    if content and not content.endswith(b"\n"):
        found.append(f"{path}: no newline at the end")
    return found


def main() -> int:
    names = sys.argv[1:]
    if not names:
        tracked = subprocess.run(["git", "ls-files", "-z"], capture_output=True, check=True)
        names = [name for name in tracked.stdout.decode().split("\0") if name]
    paths = [path for path in map(Path, names) if path.is_file() and not path.is_symlink()]
    found = [complaint for path in paths for complaint in complaints(path)]
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
