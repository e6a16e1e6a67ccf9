"""Calls that ask for sizes beyond all memory; run as a program, since one could take for ever.

    python -m tests.fuzz.creation

Each call is printed before it is made, over the one before: what stands last is to blame.
"""

import faulthandler
import warnings
from collections.abc import Callable
from typing import Any

import flambeau as torch
import flambeau.nn.functional as F
from tests.fuzz.calls import SECONDS, limit_memory
from tests.sanitized import IS_SANITIZED

HUGE = (2**31, 2**40, 2**62, 2**63 - 1)

# Results are empty, small, or more than memory holds.
CALLS: dict[str, Callable[[int], Any]] = {
    "tril_indices of no column": lambda n: torch.tril_indices(n, 0),
    "tril_indices of long columns": lambda n: torch.tril_indices(n, 3),
    "tril_indices of the last rows": lambda n: torch.tril_indices(n, 3, 2 - n),
    "tril_indices of the whole": lambda n: torch.tril_indices(n, n, n),
    "tril_indices of long rows": lambda n: torch.tril_indices(2, n),
    "triu_indices of no column": lambda n: torch.triu_indices(n, 0),
    "triu_indices of the first rows": lambda n: torch.triu_indices(n, 3),
    "triu_indices of nothing": lambda n: torch.triu_indices(n, n, n),
    "triu_indices of the whole": lambda n: torch.triu_indices(n, 3, -n),
    "arange": lambda n: torch.arange(n, dtype=torch.float64),
    "arange of short steps": lambda n: torch.arange(0, n, 1e-3),
    "linspace": lambda n: torch.linspace(0, 1, n, dtype=torch.complex128),
    "logspace": lambda n: torch.logspace(0, 1, n, dtype=torch.float64),
    "eye": lambda n: torch.eye(n),
    "eye without columns": lambda n: torch.eye(n, 0),
    "full": lambda n: torch.full((n, n), 1.0),
    "zeros without columns": lambda n: torch.zeros(n, 0),
    "vander": lambda n: torch.vander(torch.ones(8), n),
    "vander of nothing": lambda n: torch.vander(torch.ones(0), n),
    "linalg.vander": lambda n: torch.linalg.vander(torch.ones(8), N=n),
    "linalg.vander of nothing": lambda n: torch.linalg.vander(torch.ones(0), N=n),
    "combinations": lambda n: torch.combinations(torch.ones(3), n),
    "windows": lambda n: torch.kaiser_window(n, dtype=torch.float64),
    "randperm": lambda n: torch.randperm(n),
    "one_hot": lambda n: F.one_hot(torch.tensor([0, 1]), n),
    "one_hot of nothing": lambda n: F.one_hot(torch.tensor([], dtype=torch.int64), n),
    "one_hot of the largest class": lambda n: F.one_hot(torch.tensor([n])),
    "bincount of weights": lambda n: torch.bincount(torch.tensor([n]), torch.ones(1)),
    "bincount": lambda n: torch.bincount(torch.tensor([n])),
    "histc": lambda n: torch.histc(torch.ones(3, dtype=torch.float64), n),
    "repeat_interleave": lambda n: torch.repeat_interleave(torch.tensor([n])),
    "interpolate of no image": lambda n: F.interpolate(torch.ones(0, 1, 2, 2), size=(n, n)),
    "interpolate of no bytes": lambda n: F.interpolate(
        torch.ones(0, 1, 2, 2, dtype=torch.uint8), size=(n, n), mode="bilinear"
    ),
    "interpolate": lambda n: F.interpolate(torch.ones(1, 8, 2), size=n, mode="linear"),
    "pad": lambda n: F.pad(torch.ones(1, 8, 3), (n, 0), mode="replicate"),
    "pad of nothing": lambda n: F.pad(torch.ones(0, 3), (n, 0)),
    "diag_embed": lambda n: torch.diag_embed(torch.ones(2), n),
    "nonzero_static": lambda n: torch.nonzero_static(torch.ones(3, 1), size=n),
    "matrix_power": lambda n: torch.linalg.matrix_power(torch.eye(2), n),
    "fft": lambda n: torch.fft.fft(torch.ones(3), n),
    "tensor_split": lambda n: torch.stack(torch.tensor_split(torch.ones(4), n)),
    "chunk": lambda n: torch.cat(torch.chunk(torch.ones(4), n)),
    "split": lambda n: torch.cat(torch.split(torch.ones(4), n)),
    "split of nothing": lambda n: torch.cat(torch.split(torch.ones(0), n)),
    "unbind": lambda n: torch.stack(torch.ones(1).expand(n).unbind()),
    "split into ones": lambda n: torch.cat(torch.ones(1).expand(n).split(1)),
    "chunk into ones": lambda n: torch.cat(torch.ones(1).expand(n).chunk(n)),
    "cartesian_prod": lambda n: torch.cartesian_prod(*[torch.ones(1).expand(n)] * 2),
    "combinations of many": lambda n: torch.combinations(torch.ones(1).expand(n)),
    "unfold": lambda n: torch.ones(4).unfold(0, n, 1),
    "repeat_interleave of all": lambda n: torch.repeat_interleave(torch.ones(4), n),
    "repeat_interleave to a size": lambda n: torch.repeat_interleave(
        torch.ones(4), torch.tensor([1, 1, 1, 1]), output_size=n
    ),
    "bincount of a length": lambda n: torch.bincount(torch.tensor([1]), minlength=n),
    "histogram": lambda n: torch.histogram(torch.ones(4), n).hist,
    "tile": lambda n: torch.ones(4).tile(n),
    "multinomial": lambda n: torch.multinomial(torch.ones(4), n, replacement=True),
    "diff": lambda n: torch.diff(torch.ones(4), n),
    "pixel_shuffle": lambda n: F.pixel_shuffle(torch.ones(1, 4, 2, 2), n),
    "conv_transpose1d": lambda n: F.conv_transpose1d(
        torch.ones(1, 1, 4), torch.ones(1, 1, 2), stride=n
    ),
    "adaptive_avg_pool1d": lambda n: F.adaptive_avg_pool1d(torch.ones(1, 1, 4), n),
    "affine_grid": lambda n: F.affine_grid(torch.ones(1, 2, 3), [1, 1, n, 2]),
}
# Of many small results, the sanitizer's allocator ends the process where others say no.
MANY_RESULTS = {"unbind", "split into ones", "chunk into ones"}


def main() -> None:
    """A tensor is refused, or made at once if it has hardly any elements."""
    limit_memory()
    warnings.simplefilter("ignore")
    for name, call in CALLS.items():
        if IS_SANITIZED and name in MANY_RESULTS:
            continue
        for size in HUGE:
            print(name, size, flush=True)
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            try:
                made = call(size)
            except (RuntimeError, MemoryError, ValueError, OverflowError):
                continue
            assert made.numel() <= 100, f"{name} of {size} has {made.numel()} elements"
    faulthandler.cancel_dump_traceback_later()
    print("done")


if __name__ == "__main__":
    main()
