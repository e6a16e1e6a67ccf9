"""Examples of functions (operands: see ``tests/census/__init__.py``)."""

from __future__ import annotations

_UNARY = "exp abs log sqrt cos sigmoid tanh rsqrt floor expm1 ceil sign relu"

FUNCTIONS: dict[str, list[str]] = {
    **{name: [f"t.{name}(u)", f"t.{name}(input=x)"] for name in _UNARY.split(" ")},
    # creation
    "tensor": [
        "t.tensor([1.5, 2], dtype=t.float64, device='cpu', requires_grad=False)",
        "t.tensor(data=[[1, 2], [3, 4]])",
    ],
    "as_tensor": ["t.as_tensor([1, 2], dtype=t.float32, device='cpu')"],
    "from_numpy": ["t.from_numpy(n.numpy())"],
    "zeros": [
        "t.zeros(2, 3, dtype=t.int64, device='cpu', requires_grad=False, layout=t.strided)",
        "t.zeros(size=(2, 3))",
    ],
    "ones": [
        "t.ones(2, 3, dtype=t.float64, device='cpu', requires_grad=False, layout=t.strided)",
        "t.ones(size=(2,))",
    ],
    "empty": [
        "t.empty(2, 3, dtype=t.int8, device='cpu', requires_grad=False, pin_memory=False).shape",
        "t.empty(size=(2, 0))",
    ],
    "full": [
        "t.full(size=(2, 3), fill_value=7, dtype=t.float64, device='cpu', requires_grad=False)",
        "t.full((2,), 1.5, layout=t.strided)",
    ],
    "eye": ["t.eye(2, 3, dtype=t.float64, device='cpu', layout=t.strided, requires_grad=False)"],
    "arange": [
        "t.arange(start=1, end=7, step=2, dtype=t.float32, device='cpu', requires_grad=False)",
        "t.arange(5, out=t.empty(5))",
        "t.arange(0.5, 3)",
    ],
    "linspace": ["t.linspace(start=0, end=1, steps=5, dtype=t.float64, device='cpu')"],
    "hann_window": [
        "t.hann_window(window_length=8, periodic=False, dtype=t.float64, device='cpu')"
    ],
    "zeros_like": [
        "t.zeros_like(input=x, dtype=t.int32, device='cpu', memory_format=t.preserve_format)",
        "t.zeros_like(x, requires_grad=False)",
    ],
    "ones_like": [
        "t.ones_like(x, dtype=t.int32, device='cpu', memory_format=t.preserve_format)",
        "t.ones_like(x, requires_grad=False)",
    ],
    "empty_like": [
        "t.empty_like(x, dtype=t.int8, memory_format=t.contiguous_format, device='cpu').dtype",
        "t.empty_like(x, pin_memory=False).shape",
    ],
    "full_like": ["t.full_like(x, fill_value=3, dtype=t.int64, device='cpu', layout=t.strided)"],
    # random numbers
    "manual_seed": ["(t.manual_seed(seed=3), t.rand(2))[1]"],
    "rand": [
        "t.rand(2, 3, device='cpu', dtype=t.float64, requires_grad=False)",
        "t.rand(size=(4,), generator=t.Generator().manual_seed(1))",
    ],
    "randn": [
        "t.randn(2, 3, device='cpu', dtype=t.float64, requires_grad=False, layout=t.strided)",
        "t.randn(size=(20,), generator=t.Generator().manual_seed(1))",
    ],
    "randint": [
        "t.randint(low=0, high=9, size=(5,), device='cpu', dtype=t.int32, requires_grad=False)",
        "t.randint(10, (5,), generator=t.Generator().manual_seed(1))",
    ],
    "randn_like": ["t.randn_like(x, dtype=t.float64, device='cpu', requires_grad=False)"],
    "rand_like": ["t.rand_like(x, dtype=t.float64, device='cpu')"],
    "randperm": ["t.randperm(7, device='cpu', dtype=t.int32, generator=t.Generator())"],
    "normal": [
        "t.normal(mean=1.0, std=2.0, size=(3,), device='cpu', dtype=t.float64)",
        "t.normal(0.0, 1.0, (2,), requires_grad=False, generator=t.Generator())",
        "t.normal(x, u)",
    ],
    "multinomial": [
        "t.multinomial(u, num_samples=5, replacement=True, generator=t.Generator())",
        "t.multinomial(u, 2)",
    ],
    "get_rng_state": ["t.get_rng_state().dtype"],
    "set_rng_state": ["(t.rand(3), t.set_rng_state(t.get_rng_state()), t.rand(2))[2]"],
    # joining and shapes
    "cat": ["t.cat([x, y], dim=1)", "t.cat((x, y), axis=0)", "t.cat([x, y], out=t.empty(4, 3))"],
    "concat": ["t.concat([x, y], dim=1)", "t.concat([x, y], axis=0)"],
    "concatenate": ["t.concatenate([x, y], dim=1)", "t.concatenate([x, y], axis=0)"],
    "stack": ["t.stack([x, y], dim=1)", "t.stack([x, y], axis=-1)"],
    "vstack": ["t.vstack([x, y])"],
    "split": ["t.split(v, 3)", "t.split(x, split_size_or_sections=[1, 2], dim=1)"],
    "chunk": ["t.chunk(x, chunks=2, dim=1)", "t.chunk(x, 2, axis=1)"],
    "unbind": ["t.unbind(x, dim=1)"],
    "reshape": ["t.reshape(x, (3, -1))"],
    "flatten": ["t.flatten(b, start_dim=1, end_dim=2)"],
    "unsqueeze": ["t.unsqueeze(x, dim=1)", "t.unsqueeze(x, axis=-1)"],
    "squeeze": ["t.squeeze(x[:, :1], dim=1)", "t.squeeze(x[:1])"],
    "transpose": ["t.transpose(x, dim0=0, dim1=1)"],
    "flip": ["t.flip(x, dims=(0, 1))"],
    "roll": ["t.roll(x, shifts=(1, 2), dims=(0, 1))", "t.roll(x, 2)"],
    "meshgrid": ["t.meshgrid(v, v[:2], indexing='ij')", "t.meshgrid(v, v, indexing='xy')"],
    "repeat_interleave": [
        "t.repeat_interleave(x, repeats=2, dim=1)",
        "t.repeat_interleave(x, k, dim=0, output_size=1)",
        "t.repeat_interleave(x, 2, axis=0)",
    ],
    "broadcast_shapes": ["t.broadcast_shapes((2, 1), (3,), 1)"],
    "view_as_real": ["t.view_as_real(c)"],
    "view_as_complex": ["t.view_as_complex(t.stack([v, v], -1))"],
    # choosing
    "where": ["t.where(condition=m, input=x, other=y)", "t.where(m)", "t.where(m, x, 0.0)"],
    "gather": [
        "t.gather(input=x, dim=1, index=kk)",
        "t.gather(x, 1, kk, out=t.empty(2, 3))",
    ],
    "index_select": [
        "t.index_select(x, dim=0, index=k)",
        "t.index_select(x, 1, k, out=t.empty(2, 2))",
    ],
    "nonzero": ["t.nonzero(n)", "t.nonzero(n, as_tuple=True)"],
    "triu": ["t.triu(x, diagonal=1)"],
    "tril": ["t.tril(x, diagonal=-1)"],
    "diag": ["t.diag(v)", "t.diag(s, 1)"],
    "masked_select": ["t.masked_select(x, mask=m)"],
    "isin": ["t.isin(n, t.tensor([2, 5]))"],
    # reductions
    "sum": [
        "t.sum(x, dim=1, keepdim=True)",
        "t.sum(n, axis=0, dtype=t.float64)",
        "t.sum(x, dim=(0, 1), keepdims=True)",
    ],
    "mean": [
        "t.mean(x, dim=1, keepdim=True)",
        "t.mean(n, axis=0, dtype=t.float64)",
        "t.mean(x, 0, out=t.empty(3))",
    ],
    "prod": ["t.prod(x, dim=1, keepdim=True)", "t.prod(n)"],
    "std": ["t.std(x, dim=1, keepdim=True, unbiased=False)", "t.std(x, axis=0)"],
    "var": ["t.var(x, dim=1, keepdim=True, unbiased=False)"],
    "var_mean": [
        "t.var_mean(x, dim=1, keepdim=True, correction=0)",
        "t.var_mean(x, dim=0, unbiased=False)",
    ],
    "norm": ["t.norm(input=x, p=1, dim=1, keepdim=True)", "t.norm(x, dtype=t.float64)"],
    "logsumexp": ["t.logsumexp(x, dim=1, keepdim=True)", "t.logsumexp(x, axis=0)"],
    "all": ["t.all(m, dim=1, keepdim=True)", "t.all(m, axis=0, keepdims=True)", "t.all(m)"],
    "any": ["t.any(m, dim=1, keepdim=True)", "t.any(m, axis=0)", "t.any(x)"],
    "max": [
        "t.max(x, dim=1, keepdim=True)",
        "t.max(input=x, other=y)",
        "t.max(x, axis=0)",
        "t.max(x, 1, out=(t.empty(2), t.empty(2, dtype=t.long)))",
    ],
    "min": [
        "t.min(x, dim=1, keepdim=True)",
        "t.min(x, dim=0, keepdims=True)",
        "t.min(x, y, out=t.empty(2, 3))",
    ],
    "argmax": ["t.argmax(x, dim=1, keepdim=True)", "t.argmax(x, axis=0)", "t.argmax(x)"],
    "quantile": ["t.quantile(x, 0.3, dim=1, keepdim=True)", "t.quantile(v, t.tensor([0.1, 0.5]))"],
    "allclose": ["t.allclose(x, y, rtol=0.1, atol=10.0, equal_nan=True)"],
    "equal": ["t.equal(x, x.clone())", "t.equal(x, y)"],
    "isclose": ["t.isclose(x, y, rtol=0.1, atol=1.0)"],
    # scans and order
    "cumsum": [
        "t.cumsum(n, dim=1, dtype=t.float32)",
        "t.cumsum(x, axis=0)",
        "t.cumsum(x, 1, out=t.empty(2, 3))",
    ],
    "cumprod": ["t.cumprod(n, dim=1, dtype=t.float32)"],
    "sort": ["t.sort(x, dim=0, descending=True)", "t.sort(n, stable=True)"],
    "argsort": ["t.argsort(x, dim=1, descending=True)", "t.argsort(n, stable=True)"],
    "topk": [
        "t.topk(x, k=2, dim=1, largest=False, sorted=True)",
        "t.topk(x, 2, axis=1)",
        "t.topk(v, 2, out=(t.empty(2), t.empty(2, dtype=t.long)))",
    ],
    "unique": [
        "t.unique(n, sorted=True, return_inverse=True, return_counts=True)",
        "t.unique(n, dim=0)",
    ],
    # arithmetic
    "add": ["t.add(input=x, other=y, alpha=2)", "t.add(x, 1, out=t.empty(2, 3))"],
    "mul": ["t.mul(x, y, out=t.empty(2, 3))", "t.mul(x, 2.5)"],
    "div": ["t.div(x, y, rounding_mode='floor')", "t.div(n, 2, rounding_mode='trunc')"],
    "pow": ["t.pow(u, exponent=2.5)", "t.pow(2, n)"],
    "sin": ["t.sin(x)", "t.sin(x, out=t.empty(2, 3))"],
    "round": ["t.round(x, out=t.empty(2, 3))", "t.round(x, decimals=1)"],
    "clamp": ["t.clamp(x, min=-1, max=1)", "t.clamp(x, 0, out=t.empty(2, 3))"],
    "clip": ["t.clip(x, min=-1)"],
    "maximum": ["t.maximum(x, y, out=t.empty(2, 3))"],
    "eq": ["t.eq(x, y)", "t.eq(n, 2)"],
    "gt": ["t.gt(x, y)"],
    "greater": ["t.greater(x, 0.5)"],
    "isnan": ["t.isnan(w)"],
    "isinf": ["t.isinf(w)"],
    "isfinite": ["t.isfinite(w)"],
    "logical_and": ["t.logical_and(m, n)"],
    "softmax": ["t.softmax(x, dim=1, dtype=t.float64)", "t.softmax(x, -1)"],
    "log_softmax": ["t.log_softmax(x, dim=1)"],
    # products, norms and transforms
    "matmul": ["t.matmul(x, s)", "t.matmul(b, s)"],
    "mm": ["t.mm(x, s, out=t.empty(2, 3))"],
    "bmm": ["t.bmm(b, b)"],
    "outer": ["t.outer(v, v)"],
    "einsum": ["t.einsum('bij,jk->bik', b, s)", "t.einsum('ij->', x)"],
    "cdist": ["t.cdist(x, s, p=1.0)", "t.cdist(x, s, compute_mode='use_mm_for_euclid_dist')"],
    "linalg.cholesky": ["t.linalg.cholesky(s, upper=True)"],
    "linalg.norm": ["t.linalg.norm(x, ord=1, dim=1, keepdim=True)", "t.linalg.norm(s, axis=0)"],
    "linalg.vector_norm": ["t.linalg.vector_norm(x, ord=3, dim=1, keepdim=True, dtype=t.float64)"],
    "fft.rfft": ["t.fft.rfft(v, n=6, dim=0, norm='ortho')"],
    # what a tensor is, and the defaults
    "is_tensor": ["t.is_tensor(x)", "t.is_tensor([1])"],
    "is_floating_point": ["t.is_floating_point(x)"],
    "is_complex": ["t.is_complex(c)"],
    "get_default_dtype": ["t.get_default_dtype()"],
    "set_default_dtype": [
        "(t.set_default_dtype(t.float64), t.ones(1), t.set_default_dtype(t.float32))[1]"
    ],
}
