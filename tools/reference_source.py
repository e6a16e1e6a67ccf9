"""The source files of the package as pages with a line number to link to on every line."""

from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

STYLE = """
body { margin: 0; background: #fbfaf8; color: #211d19; font: 14px/1.5 system-ui, sans-serif; }
header { padding: .7rem 1rem; background: #d9480f; color: #fff; font-weight: 600; }
pre { margin: 0; padding: 1rem; font: 13px/1.5 ui-monospace, Menlo, Consolas, monospace; }
.highlight { background: none; overflow-x: auto; }
.linenos, .linenos a { color: #a79e94; text-decoration: none; }
span:target { background: #ffe8cc; }
"""


def page(path: Path, name: str) -> str:
    """A whole HTML page of the Python file at `path`."""
    formatter = HtmlFormatter(
        style="xcode", linenos="inline", linespans="L", anchorlinenos=True, lineanchors="N"
    )
    code = highlight(path.read_text(encoding="utf-8"), PythonLexer(), formatter)
    code = code.replace('id="L-', 'id="L')
    rules = formatter.get_style_defs(".highlight")
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{name}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{rules}{STYLE}</style>'
        f"<header>{name}</header>{code}</html>\n"
    )
