"""Examples of gradients, sparse tensors and settings (operands: see ``__init__.py``)."""

from __future__ import annotations

_LEAF = "x.requires_grad_()"
_SPARSE = "t.sparse_coo_tensor(t.tensor([[0, 1, 1], [2, 0, 0]]), t.tensor([3.0, 4.0, 5.0]), (2, 3))"
# A custom Function: doubles its input, and saves it for backward.
_DOUBLE = (
    "type('Double', (t.autograd.Function,), {'forward': staticmethod(lambda ctx, a:"
    " [ctx.save_for_backward(a), a * 2][1]), 'backward': staticmethod(lambda ctx, g:"
    " g * ctx.saved_tensors[0] if ctx.needs_input_grad[0] else None)})"
)


def _after_backward(call: str) -> str:
    """The gradient that ``call``, made of the leaf ``p``, leaves."""
    return f"(lambda p: [{call}, p.grad][1])({_LEAF})"


def _with(block: str, value: str) -> str:
    """A value that is computed inside a ``with`` block."""
    return f"(lambda b: [b.__enter__(), {value}, b.__exit__(None, None, None)][1])({block})"


GRADIENTS: dict[str, list[str]] = {
    "Tensor.backward": [
        _after_backward("(p * p).sum().backward(retain_graph=True, create_graph=False)"),
        _after_backward("(p * p).backward(gradient=t.ones_like(p))"),
    ],
    "Tensor.grad": [_after_backward("p.exp().sum().backward()"), "x.grad"],
    "Tensor.grad_fn": [f"type(({_LEAF} * 2).grad_fn).__name__", "x.grad_fn"],
    "Tensor.requires_grad": ["x.requires_grad", f"({_LEAF} + 1).requires_grad"],
    "Tensor.requires_grad_": ["x.requires_grad_(requires_grad=True).requires_grad"],
    "Tensor.detach": [f"({_LEAF} * 2).detach()"],
    "Tensor.detach_": [f"({_LEAF} * 2).detach_().requires_grad"],
    "Tensor.is_leaf": [f"({_LEAF} * 2).is_leaf", "x.is_leaf"],
    "Tensor.retain_grad": [
        f"(lambda h: [h.retain_grad(), h.sum().backward(), h.grad][2])({_LEAF} * 2)"
    ],
    "Tensor.register_hook": [
        _after_backward("[p.register_hook(lambda g: g * 3), p.sum().backward()]")
    ],
    "no_grad": [_with("t.no_grad()", f"({_LEAF} * 2).requires_grad")],
    "enable_grad": [_with("t.enable_grad()", f"({_LEAF} * 2).requires_grad")],
    "set_grad_enabled": [_with("t.set_grad_enabled(False)", "t.is_grad_enabled()")],
    "inference_mode": [_with("t.inference_mode(mode=True)", "(x + 1).is_inference()")],
    "is_grad_enabled": ["t.is_grad_enabled()"],
    "autograd.backward": [_after_backward("t.autograd.backward([p * 2], grad_tensors=[y])")],
    "autograd.grad": [
        (
            "(lambda p: t.autograd.grad(outputs=p * p, inputs=[p], grad_outputs=y,"
            " only_inputs=True, retain_graph=True, create_graph=False,"
            f" allow_unused=False))({_LEAF})"
        ),
    ],
    "autograd.gradcheck": [
        (
            "t.autograd.gradcheck(t.sin, (x.double().requires_grad_(),), eps=1e-6, atol=1e-5,"
            " rtol=1e-3, raise_exception=True, nondet_tol=0.0, fast_mode=True)"
        ),
    ],
    "autograd.Variable": ["t.autograd.Variable(x, requires_grad=True).requires_grad"],
    "autograd.Function": [_after_backward(f"{_DOUBLE}.apply(p).sum().backward()")],
    "autograd.function.FunctionCtx.save_for_backward": [
        _after_backward(f"{_DOUBLE}.apply(p).sum().backward()")
    ],
    "autograd.function.FunctionCtx.needs_input_grad": [
        _after_backward(f"{_DOUBLE}.apply(p).sum().backward()")
    ],
    "utils.checkpoint.checkpoint": [
        _after_backward(
            "t.utils.checkpoint.checkpoint(t.sin, p, use_reentrant=False).sum().backward()"
        )
    ],
    # sparse tensors
    "strided": ["x.layout == t.strided"],
    "sparse_coo_tensor": [
        (
            "t.sparse_coo_tensor(indices=t.tensor([[0, 1], [2, 0]]), values=t.tensor([3.0, 4.0]),"
            " size=(2, 3), dtype=t.float64, device='cpu', requires_grad=False,"
            " is_coalesced=True).to_dense()"
        ),
    ],
    "Tensor.is_sparse": ["x.is_sparse", f"{_SPARSE}.is_sparse"],
    "Tensor.coalesce": [f"{_SPARSE}.coalesce().to_dense()"],
    "Tensor.values": [f"{_SPARSE}.coalesce().values()"],
    # settings and processes
    "__version__": ["isinstance(t.__version__, str)"],
    "set_num_threads": ["t.set_num_threads(t.get_num_threads())"],
    "get_num_threads": ["t.get_num_threads() > 0"],
    "use_deterministic_algorithms": [
        (
            "[t.use_deterministic_algorithms(True, warn_only=True),"
            " t.are_deterministic_algorithms_enabled(), t.use_deterministic_algorithms(False)]"
        ),
    ],
    "are_deterministic_algorithms_enabled": ["t.are_deterministic_algorithms_enabled()"],
    "is_deterministic_algorithms_warn_only_enabled": [
        "t.is_deterministic_algorithms_warn_only_enabled()"
    ],
    "random.manual_seed": ["[t.random.manual_seed(seed=3), t.rand(2)][1]"],
    "random.fork_rng": [
        f"[{_with('t.random.fork_rng(devices=[], enabled=True)', 't.rand(2)')}, t.rand(2)]"
    ],
    "multiprocessing.get_context": ["t.multiprocessing.get_context('spawn').get_start_method()"],
    "multiprocessing.set_start_method": [
        (
            "[t.multiprocessing.set_start_method(t.multiprocessing.get_start_method(), force=True),"
            " t.multiprocessing.get_start_method()]"
        ),
    ],
    "multiprocessing.spawn": [
        "t.multiprocessing.spawn(fn=int, args=(10,), nprocs=0, join=True) is not None"
    ],
    "testing.assert_close": [
        (
            "t.testing.assert_close(actual=x, expected=x + 1e-7, rtol=1e-3, atol=1e-3,"
            " equal_nan=True, check_device=True, check_dtype=True, msg='different')"
        ),
    ],
}
