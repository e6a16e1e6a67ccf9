"""Gradients on the device meta: they reach the tensors that they reach elsewhere."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import pkgutil
import re
import resource
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import flambeau as fb
import flambeau.nn.functional as F
from flambeau import func, nn
from flambeau.autograd import forward_ad
from flambeau.utils.checkpoint import checkpoint
from tests.nn import layers
from tests.nn.layers import run
from tests.nn.layers.registry import FUNCTIONS, LAYERS, Function, Layer

for _module in pkgutil.iter_modules(layers.__path__):
    importlib.import_module(f"tests.nn.layers.{_module.name}")


def on_meta(*shape: int, grad: bool = True, dtype: fb.dtype = fb.float32) -> fb.Tensor:
    return fb.empty(*shape, device="meta", dtype=dtype, requires_grad=grad)


def described(outputs: list[fb.Tensor], leaves: dict[str, Any]) -> dict[str, Any]:
    """Shapes and types of outputs, and of the gradients of leaves after a backward."""
    found: dict[str, Any] = {
        f"output {i}": (tuple(each.shape), each.dtype, each.requires_grad)
        for i, each in enumerate(outputs)
    }
    roots = [each.sum() for each in outputs if each.requires_grad]
    if roots:
        sum(roots[1:], start=roots[0]).backward()
    for name, leaf in leaves.items():
        grad = getattr(leaf, "grad", None)
        found[name] = grad if grad is None else (tuple(grad.shape), grad.dtype)
        if grad is not None:
            assert grad.is_meta == leaf.is_meta
    return found


def layer_outcome(config: Layer, device: str) -> dict[str, Any]:
    module = run.module_of(fb, config).to(device)
    inputs = [run.tensor(fb, each, grad=False).to(device) for each in run.arrays_of(config)]
    inputs = [each.requires_grad_(each.is_floating_point()) for each in inputs]
    names = dict(zip(run.NAMES, inputs, strict=False))
    call = config.call or f"m({', '.join(names)})"
    with fb.device(device):  # where masks are made
        output = eval(call, {**run.framework_names(fb), "m": module, **names})
    leaves = {f"input {i}": each for i, each in enumerate(inputs)}
    return described(list(run.flat(output)), leaves | dict(module.named_parameters()))


def function_outcome(config: Function, device: str) -> dict[str, Any]:
    inputs = {
        name: run.tensor(fb, each, grad=False).to(device)
        for name, each in run.inputs_of(config).items()
    }
    inputs = {name: each.requires_grad_(each.is_floating_point()) for name, each in inputs.items()}
    output = eval(config.text, {**run.framework_names(fb), **inputs})
    return described(list(run.flat(output)), inputs)


# Elements decide what these do, so that they refuse a tensor on meta, as in PyTorch.
READ_ELEMENTS = ("AdaptiveLogSoftmax", "momentum=None", "CTCLoss(blank=4", "F.one_hot(x)")
# Whether a mask is that of the past is asked of its elements.
READ_MASKS = ("TransformerEncoder(", "TransformerDecoder(", "Transformer(")
# Labels that require gradients: losses are not differentiated by them, which a shape does not tell.
OF_LABELS = ("HingeEmbeddingLoss", "CosineEmbeddingLoss")


def reads_elements(text: str) -> bool:
    of_all = text.count("_mask=nn") == 3  # of which one is said to be that of the past
    of_mask = text.startswith(READ_MASKS) and ("is_causal=True" not in text or of_all)
    reads_mask = of_mask and re.search(r"(src_|tgt_|\b)mask=nn.Transformer.generate", text)
    return any(each in text for each in READ_ELEMENTS) or bool(reads_mask)


def compared(outcome: Callable[[Any, str], dict[str, Any]], config: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if reads_elements(str(config)):
            with pytest.raises(RuntimeError):
                outcome(config, "meta")
        else:
            assert outcome(config, "meta") == outcome(config, "cpu")


@pytest.mark.parametrize("config", [c for c in LAYERS if c.gradients], ids=str)
def test_layers(config: Layer):
    if config.text.startswith(OF_LABELS):
        config = dataclasses.replace(
            config, call=config.call.replace(".sign()", ".detach().sign()")
        )
    compared(layer_outcome, config)


@pytest.mark.parametrize("config", [c for c in FUNCTIONS if c.gradients], ids=str)
def test_functions(config: Function):
    compared(function_outcome, config)


def test_a_loss():
    x = on_meta(3)
    (x * 2).sum().backward()
    assert (x.grad.is_meta, x.grad.shape, x.grad.dtype) == (True, (3,), fb.float32)
    (x * 2 + x).mean().backward()  # is added to the first
    assert x.grad.is_meta
    with pytest.raises(RuntimeError, match="scalar"):
        (x * 2).backward()
    with pytest.raises(RuntimeError, match="does not require grad"):
        x.detach().sum().backward()


def test_asking_for_gradients():
    x, y = on_meta(3, 4), on_meta(4, dtype=fb.float64)
    of_x, of_y = fb.autograd.grad((x * y).sum(), [x, y])
    assert (of_x.is_meta, of_x.shape, of_x.dtype) == (True, (3, 4), fb.float32)
    assert (of_y.is_meta, of_y.shape, of_y.dtype) == (True, (4,), fb.float64)
    with pytest.raises(RuntimeError, match="not have been used"):
        fb.autograd.grad((x * 2).sum(), [x, y])
    (first,) = fb.autograd.grad((x**3).sum(), [x], create_graph=True)
    (first**2).sum().backward()
    assert x.grad.shape == (3, 4)


def test_changes_in_place_are_in_the_graph():
    x, w = on_meta(3, 4), on_meta(4)
    y = x * 2
    y += w  # as the other branch of a residual network
    y[0] = on_meta(4) * w
    y[1].mul_(w)
    y.relu_().sum().backward()
    assert (x.grad.shape, w.grad.shape) == ((3, 4), (4,))
    other, z = on_meta(4), x * 1
    z[1].mul_(other)  # reaches z by a view of it
    z.sum().backward()
    assert other.grad.is_meta
    with pytest.raises(RuntimeError, match="leaf"):
        x.add_(1)
    with fb.no_grad():
        assert x.add_(1) is x


def test_views_and_hooks():
    x = on_meta(3, 4)
    y = x * 2
    seen: list[tuple[bool, fb.Size]] = []
    y.register_hook(lambda grad: seen.append((grad.is_meta, grad.shape)))
    x.register_hook(lambda grad: grad * 2)
    y.retain_grad()
    y.mT.reshape(-1)[None].expand(2, -1).sum().backward()
    assert seen == [(True, (3, 4))]
    assert (y.grad.is_meta, x.grad.is_meta) == (True, True)
    assert (x.is_leaf, y.is_leaf, y.grad_fn is None) == (True, False, False)


class Square(fb.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: fb.Tensor) -> fb.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, grad: fb.Tensor) -> fb.Tensor:
        (x,) = ctx.saved_tensors
        return 2 * x * grad


def test_functions_of_a_program():
    x = on_meta(3)
    for _ in range(2):
        Square.apply(x).sum().backward()
    assert x.grad.is_meta
    for reentrant in (True, False):
        layer = nn.Linear(3, 3, device="meta")
        checkpoint(layer, on_meta(2, 3), use_reentrant=reentrant).sum().backward()
        assert layer.weight.grad.is_meta


def test_a_step_of_a_model_larger_than_memory():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with fb.device("meta"):
        model = nn.Sequential(nn.Linear(1 << 16, 1 << 18), nn.GELU(), nn.Linear(1 << 18, 10))
        images, labels = fb.empty(64, 1 << 16), fb.empty(64, dtype=fb.int64)
    optimizer = fb.optim.AdamW(model.parameters())
    for _ in range(2):
        F.cross_entropy(model(images), labels).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
    for parameter in model.parameters():
        assert parameter.grad.is_meta
        assert parameter.grad.shape == parameter.shape
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4 << 20


def of(result: fb.Tensor) -> tuple[bool, tuple[int, ...]]:
    return result.is_meta, tuple(result.shape)


def test_maps():
    e = functools.partial(on_meta, grad=False)
    assert of(func.vmap(fb.dot)(e(3, 4), e(3, 4))) == (True, (3,))
    assert of(func.vmap(fb.mv, in_dims=(None, 1), out_dims=1)(e(5, 4), e(4, 3))) == (True, (5, 3))
    assert of(func.vmap(func.vmap(fb.dot))(e(2, 3, 4), e(2, 3, 4))) == (True, (2, 3))
    assert of(func.vmap(fb.sin, chunk_size=2)(e(0, 4))) == (True, (0, 4))
    sums, same = func.vmap(lambda x: (x.sum(), 3), out_dims=(0, None))(e(3, 4))
    assert (of(sums), same) == ((True, (3,)), 3)
    with pytest.raises(ValueError, match="same size"):
        func.vmap(fb.dot)(e(3, 4), e(2, 4))
    with pytest.raises(ValueError, match="must only return Tensors"):
        func.vmap(lambda x: 3)(e(3, 4))
    x = on_meta(3, 4)
    func.vmap(lambda v: (v * v).sum())(x).sum().backward()
    assert of(x.grad) == (True, (3, 4))


def test_derivatives_of_functions():
    x = on_meta(4, grad=False)
    assert of(func.grad(lambda x: (x * x).sum())(x)) == (True, (4,))
    assert of(func.vjp(lambda x: x * x, x)[1](x)[0]) == (True, (4,))
    assert of(func.jacrev(lambda x: x * x)(x)) == (True, (4, 4))
    assert of(func.jacfwd(lambda x: x * x)(x)) == (True, (4, 4))
    assert of(func.hessian(lambda x: (x**3).sum())(x)) == (True, (4, 4))
    value, slope = func.jvp(lambda x: x.sum(), (x,), (x,))
    assert (of(value), of(slope)) == ((True, ()), (True, ()))
    layer = nn.Linear(4, 2, device="meta")
    each = func.vmap(
        func.grad(lambda p, x: func.functional_call(layer, p, (x,)).sum()), in_dims=(None, 0)
    )(dict(layer.named_parameters()), fb.empty(3, 4, device="meta"))
    assert {name: of(grad) for name, grad in each.items()} == {
        "weight": (True, (3, 2, 4)),
        "bias": (True, (3, 2)),
    }
    with forward_ad.dual_level(), pytest.raises(NotImplementedError, match=r"func\.jvp"):
        forward_ad.make_dual(x, x)
