"""Print the packages that a task needs, as pyproject.toml lists them.

`requirements.py build` gives what the build needs, any other name an optional dependency group.
"""

import sys
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10: pip carries the same parser
    from pip._vendor import tomli as tomllib


def main() -> None:
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    found: list[str] = []
    for group in sys.argv[1:]:
        if group == "build":
            found += project["build-system"]["requires"]
        else:
            found += project["project"]["optional-dependencies"][group]
    print("\n".join(found))


if __name__ == "__main__":
    main()
