"""mkdocs hook: adds the reference pages that the operator table gives, without writing files."""

from typing import Any

from mkdocs.structure.files import File, Files

from opgen.__main__ import load_table
from opgen.emit import docs
from opgen.model import TABLE


def on_files(files: Files, config: Any) -> Files:
    """Add a page for each family of operators."""
    load_table()
    for path, text in docs.emit(TABLE).items():
        files.append(File.generated(config, path.removeprefix("docs/"), content=text))
    return files
