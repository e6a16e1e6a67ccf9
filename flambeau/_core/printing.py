"""How a tensor is shown: ``repr(tensor)`` and ``set_printoptions``.

Only the elements that will be shown are read: a tensor above the threshold first becomes a nested
list of its edges, from which widths, notation and layout are computed.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any

from flambeau import _C

__all__ = [
    "set_printoptions",
]


class PrintOptions:
    """How tensors are printed; ``set_printoptions`` says what the words mean."""

    def __init__(
        self,
        precision: int = 4,
        threshold: float = 1000,
        edgeitems: int = 3,
        linewidth: int = 80,
        sci_mode: bool | None = None,
    ) -> None:
        self.precision = precision
        self.threshold = threshold
        self.edgeitems = edgeitems
        self.linewidth = linewidth
        self.sci_mode = sci_mode


PRINT_OPTS = PrintOptions()

_PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}

# Classes shown as "tensor(...)"; any other subclass is shown under its own name.
PLAIN_TYPES: set[type] = {_C.Tensor}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed. Options that are not given stay, except `sci_mode`.

    Args:
        precision: Digits after the point. Default: 4 at the start.
        threshold: Number of elements above which tensors are summarised; 1000 at the start.
        edgeitems: Elements at each end of a summarised dimension; 3 at the start.
        linewidth: Characters of a line; 80 at the start.
        profile: `"default"`, `"short"` or `"full"`, applied before the others.
        sci_mode: Whether to use scientific notation; None decides by the values. Default: None.

    Example:
        >>> torch.set_printoptions(precision=2)
        >>> torch.tensor([1 / 3])
        tensor([0.33])
        >>> torch.set_printoptions(profile="default")
    """
    base = _PROFILES.get(profile, PRINT_OPTS) if profile is not None else PRINT_OPTS
    PRINT_OPTS.precision = base.precision if precision is None else precision
    PRINT_OPTS.threshold = base.threshold if threshold is None else threshold
    PRINT_OPTS.edgeitems = base.edgeitems if edgeitems is None else edgeitems
    PRINT_OPTS.linewidth = base.linewidth if linewidth is None else linewidth
    PRINT_OPTS.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """Return the current options, in a form that ``set_printoptions(**options)`` takes."""
    return dict(vars(PRINT_OPTS))


@contextlib.contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Print with other options inside a ``with`` block."""
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**before)


def tensor_repr(tensor: Any) -> str:
    """``tensor([...], dtype=..., grad_fn=<...>)``, character for character as PyTorch shows it."""
    batch = _C._batch_of(tensor)
    if batch is not None:
        depth, samples = batch
        inner = "    " + tensor_repr(samples).replace("\n", "\n    ")
        return f"BatchedTensor(lvl={depth}, bdim=0, value=\n{inner}\n)"
    name = "tensor" if type(tensor) in PLAIN_TYPES else type(tensor).__name__
    indent = len(name) + 1
    if tensor.is_meta:
        contents = "..."
    else:
        data = tensor.detach() if tensor.requires_grad else tensor
        contents = _sparse_contents(data, indent) if tensor.is_sparse else _contents(data, indent)
    text = f"{name}({contents}"
    last_line = len(text) - text.rfind("\n") + 1
    if tensor.is_sparse:
        last_line = PRINT_OPTS.linewidth  # its size begins a line
    for suffix in _suffixes(tensor):
        if last_line + len(suffix) + 2 > PRINT_OPTS.linewidth:
            text += ",\n" + " " * indent + suffix
            last_line = indent + len(suffix)
        else:
            text += ", " + suffix
            last_line += len(suffix) + 2
    return text + ")"


def _suffixes(tensor: Any) -> Iterator[str]:
    """Yield the attributes that the elements do not show."""
    if tensor.device.type != "cpu":
        yield f"device='{tensor.device}'"
    default = _C.get_default_dtype()
    is_empty = tensor.numel() == 0
    is_meta = tensor.is_meta
    if tensor.is_sparse:
        yield f"size={tuple(tensor.shape)}"
        yield f"nnz={tensor._nnz()}"
    elif is_meta or (is_empty and tensor.dim() != 1) or (not is_empty and not PRINT_OPTS.edgeitems):
        yield f"size={tuple(tensor.shape)}"
    if tensor.dtype != default and (is_empty or is_meta or not _is_implied(tensor.dtype, default)):
        yield f"dtype={tensor.dtype}"
    if tensor.is_sparse:
        yield f"layout={tensor.layout}"
    grad_fn = getattr(tensor, "grad_fn", None)
    if grad_fn is not None:
        yield f"grad_fn=<{type(grad_fn).__name__}>"
    elif tensor.requires_grad:
        yield "requires_grad=True"
    tangent = _C._current_tangent(tensor)
    if tangent is not None:
        yield f"tangent={tangent}"


def _is_implied(dtype: Any, default: Any) -> bool:
    """Whether elements of this type, as printed, are read back as this type."""
    default_complex = _C.complex128 if default == _C.float64 else _C.complex64
    return dtype in (_C.int64, _C.bool, default_complex)


def _contents(tensor: Any, indent: int) -> str:
    if tensor.numel() == 0:
        return "[]"
    shown = _shown_elements(tensor) if tensor.numel() > PRINT_OPTS.threshold else tensor.tolist()
    flat = list(_flatten(shown))
    element: Callable[[Any], str]
    if tensor.dtype.is_complex:
        element, width = _complex_format(flat)
    elif tensor.dtype.is_floating_point:
        element, width = _float_format(flat)
    else:
        element, width = _plain_format(flat)
    return _layout(shown, tensor.dim(), indent, element, width + 2)


def _sparse_contents(tensor: Any, indent: int) -> str:
    """The parts of a sparse tensor, each on lines of its own."""
    parts = []
    for name, part in (("indices", tensor._indices()), ("values", tensor._values())):
        start = f"{name}=tensor("
        text = start + _contents(part, indent + len(start))
        if part.numel() == 0:
            text += f", size={tuple(part.shape)}"
        parts.append(text + ")")
    return (",\n" + " " * indent).join(parts)


def _shown_elements(tensor: Any) -> Any:
    """The elements as nested lists, with ``...`` in place of what a summary leaves out."""
    edge = PRINT_OPTS.edgeitems
    if tensor.dim() == 0 or all(size <= 2 * edge for size in tensor.shape):
        return tensor.tolist()
    if edge == 0:
        return [...]
    if tensor.dim() == 1:
        return [*tensor[:edge].tolist(), ..., *tensor[-edge:].tolist()]
    if tensor.shape[0] <= 2 * edge:
        return [_shown_elements(row) for row in tensor]
    head = [_shown_elements(tensor[i]) for i in range(edge)]
    tail = [_shown_elements(tensor[i]) for i in range(-edge, 0)]
    return [*head, ..., *tail]


def _flatten(shown: Any) -> Iterator[Any]:
    if not isinstance(shown, list):
        if shown is not ...:
            yield shown
        return
    for item in shown:
        yield from _flatten(item)


def _layout(shown: Any, dim: int, indent: int, element: Callable[[Any], str], step: int) -> str:
    """Brackets and line breaks: rows wrap at the line width, blank lines separate slices."""
    if dim == 0:
        return element(shown)
    inner = " " * (indent + 1)
    if dim > 1:
        slices = (
            "..." if item is ... else _layout(item, dim - 1, indent + 1, element, step)
            for item in shown
        )
        return "[" + ("," + "\n" * (dim - 1) + inner).join(slices) + "]"
    if shown[0] is ...:
        return "[...]"
    words = [" ..." if item is ... else element(item) for item in shown]
    per_line = max(1, (PRINT_OPTS.linewidth - indent) // step)
    lines = (", ".join(words[i : i + per_line]) for i in range(0, len(words), per_line))
    return "[" + (",\n" + inner).join(lines) + "]"


def _plain_format(values: list[int]) -> tuple[Callable[[int], str], int]:
    """Integers and truth values as Python writes them."""
    width = max((len(str(value)) for value in values), default=1)
    return lambda value: str(value).rjust(width), width


def _float_format(values: list[float]) -> tuple[Callable[[float], str], int]:
    """Choose one notation for all values, and its width.

    Zeros, infinities and NaN do not count in either: they are padded to the width of the others.
    """
    precision = PRINT_OPTS.precision
    deciding = [value for value in values if value != 0 and math.isfinite(value)]
    if not deciding:
        return _whole_format(1), 1
    magnitudes = [abs(value) for value in deciding]
    least, largest = min(magnitudes), max(magnitudes)
    scientific = PRINT_OPTS.sci_mode
    if scientific is None:
        scientific = largest / least > 1000 or largest > 1e8 or least < 1e-4
    if scientific:
        spec = f".{precision}e"
    elif all(value.is_integer() for value in deciding):
        width = max(len(f"{value:.0f}") for value in deciding) + 1
        return _whole_format(width), width
    else:
        spec = f".{precision}f"
    width = max(len(format(value, spec)) for value in deciding)
    return f"{{:>{width}{spec}}}".format, width


def _whole_format(width: int) -> Callable[[float], str]:
    def element(value: float) -> str:
        text = f"{value:.0f}." if math.isfinite(value) else f"{value}"
        return text.rjust(width)

    return element


def _complex_format(values: list[complex]) -> tuple[Callable[[complex], str], int]:
    """Format real and imaginary parts, each with its own notation."""
    real_format, real_width = _float_format([value.real for value in values])
    imag_format, imag_width = _float_format([value.imag for value in values])

    def element(value: complex) -> str:
        imag = imag_format(value.imag).lstrip()
        sign = "" if imag.startswith("-") else "+"
        return f"{real_format(value.real)}{sign}{imag}j"

    return element, real_width + imag_width + 1
