"""Products of groups of rows or columns with a matrix for each group, as in mixtures of experts."""

from __future__ import annotations

import flambeau as fb
from flambeau import Tensor
from flambeau._core.overriding import overridable

__all__ = ["grouped_mm"]


@overridable
def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: fb.dtype | None = None,
) -> Tensor:
    """Matrix products group by group, as in mixtures of experts.

    Of a matrix and a batch, rows of the matrix are grouped; of a batch and a matrix, its columns;
    of
    two matrices, what is summed over, which gives a batch. What lies behind the last group is 0.

    Args:
        mat_a: Matrix or batch.
        mat_b: Matrix or batch.
        offs: Where each group ends, int32; two batches need none. Default: None.
        bias: Must be None.
        out_dtype: Type of the result. Default: that of the input.

    Example:
        >>> x, experts = torch.ones(3, 2), torch.stack([torch.eye(2), 2 * torch.eye(2)])
        >>> F.grouped_mm(x, experts, offs=torch.tensor([1, 3], dtype=torch.int32))
        tensor([[1., 1.],
                [2., 2.],
                [2., 2.]])
    """
    _check(mat_a, mat_b, offs, bias, out_dtype)
    if offs is None:
        return mat_a @ mat_b
    ends: list[int] = offs.tolist()
    groups = list(zip([0, *ends], ends, strict=False))
    if mat_a.dim() == 2 and mat_b.dim() == 2:
        return fb.stack([mat_a[:, start:end] @ mat_b[start:end] for start, end in groups])
    if mat_a.dim() == 2:
        parts = [mat_a[start:end] @ mat_b[i] for i, (start, end) in enumerate(groups)]
        rest = mat_a.new_zeros(mat_a.shape[0] - ends[-1], mat_b.shape[-1])
        return fb.cat([*parts, rest])
    parts = [mat_a[i] @ mat_b[:, start:end] for i, (start, end) in enumerate(groups)]
    rest = mat_a.new_zeros(mat_a.shape[-2], mat_b.shape[1] - ends[-1])
    return fb.cat([*parts, rest], dim=1)


def _check(
    mat_a: Tensor,
    mat_b: Tensor,
    offs: Tensor | None,
    bias: Tensor | None,
    out_dtype: fb.dtype | None,
) -> None:
    for name, mat in (("mat_a", mat_a), ("mat_b", mat_b)):
        if mat.dim() not in (2, 3):
            raise RuntimeError(f"grouped_mm: {name} has to be 2 or 3d, got {mat.dim()}d")
    batches = [mat for mat in (mat_a, mat_b) if mat.dim() == 3]
    if (offs is None) != (len(batches) == 2):
        raise RuntimeError(
            "grouped_mm: offs has to be given if there is a 2d matrix, and not if both are 3d"
        )
    if offs is not None and offs.dtype != fb.int32:
        raise RuntimeError(f"grouped_mm: offs has to be of torch.int32, got {offs.dtype}")
    if offs is not None and any(batch.shape[0] != offs.shape[0] for batch in batches):
        raise RuntimeError(
            f"grouped_mm: matrix batch sizes have to match: {batches[0].shape[0]} matrices for "
            f"{offs.shape[0]} groups"
        )
    if bias is not None:
        raise RuntimeError("grouped_mm: bias is not supported; add it to the result")
    if out_dtype not in (None, mat_a.dtype):
        raise RuntimeError(f"grouped_mm: out_dtype has to be that of mat_a, got {out_dtype}")
