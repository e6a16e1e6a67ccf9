"""What users write: a type checker must accept all of it, and infer these types."""

import flambeau as torch
from flambeau import Tensor


def mean_of_rows(x: Tensor) -> list[float]:
    rows: list[float] = x.mean(dim=1).tolist()
    return rows


def main() -> None:
    a = torch.zeros(2, 3, dtype=torch.float64)
    b: Tensor = torch.randn((2, 3)) + 1
    c: Tensor = (a * 2 - b / 3) @ b.t()
    d: Tensor = torch.cat([a, b], dim=0)[1:, ..., None]
    e: Tensor = torch.where(a > 0, a, b)
    n: int = a.dim() + a.numel() + a.size(0)
    rows, columns = a.shape
    values, indices = torch.max(b, dim=1)
    x: Tensor = torch.linalg.solve(torch.eye(3), torch.ones(3))
    generator = torch.Generator().manual_seed(rows * columns)
    f: Tensor = torch.rand(3, generator=generator).clamp_(min=0.1)
    contiguous: bool = c.is_contiguous()
    a += 1
    a[0, :] = 5
    print(mean_of_rows(d), e, n, values, indices, x, f, contiguous, a.dtype, a.device)
