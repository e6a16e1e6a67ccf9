"""Whatever autograd does on the CPU, on the device: hooks, modes, functions, transforms."""

import copy
import pickle
from typing import Any

import pytest

import flambeau as fb
from flambeau import func, nn
from flambeau.utils.checkpoint import checkpoint, checkpoint_sequential
from tests.cuda.moving import CUDA


def leaf(*values: float) -> fb.Tensor:
    return fb.tensor(values, dtype=fb.float32, device=CUDA, requires_grad=True)


def test_hooks_of_tensors_and_nodes() -> None:
    x = leaf(1, 2, 3)
    y = x * 2
    y.register_hook(lambda grad: grad * 10)
    y.retain_grad()
    seen: list[fb.Tensor] = []
    x.register_post_accumulate_grad_hook(lambda each: seen.append(each.grad))  # type: ignore[arg-type]
    assert y.grad_fn is not None
    y.grad_fn.register_hook(lambda results, grads: (results[0] + 1, *results[1:]))
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.device == CUDA
    assert x.grad.tolist() == [21.0] * 3
    assert y.grad is not None
    assert y.grad.tolist() == [10.0] * 3
    assert seen[0] is x.grad


def allocations() -> int:
    return int(fb.cuda.memory_stats()["allocation.all.allocated"])


def test_a_gradient_that_nobody_else_holds_is_not_copied() -> None:
    x, y = leaf(1, 2), leaf(3, 4)
    out = (x * y).sum()
    before = allocations()
    out.backward()
    assert allocations() - before == 3  # of the sum, of x and of y
    assert x.grad is not None
    assert y.grad is not None
    assert x.grad.tolist() == [3.0, 4.0]
    assert y.grad.tolist() == [1.0, 2.0]


def test_a_sum_of_gradients_is_added_up_in_place() -> None:
    x = leaf(1, 2)
    out = (x * 2 + x * 3 + x * 4).sum()
    before = allocations()
    out.backward()
    assert allocations() - before == 4  # of the sum and of each product
    assert x.grad is not None
    assert x.grad.tolist() == [9.0, 9.0]


def test_a_gradient_that_others_hold_is_copied() -> None:
    x, y = leaf(1, 2), leaf(3, 4)
    grad = fb.ones(2, device=CUDA)
    (x + y).backward(grad)
    assert x.grad is not None
    assert y.grad is not None
    assert len({grad.data_ptr(), x.grad.data_ptr(), y.grad.data_ptr()}) == 3
    x.grad.zero_()
    assert y.grad.tolist() == [1.0, 1.0]
    assert grad.tolist() == [1.0, 1.0]


def test_modes() -> None:
    x = leaf(1, 2)
    with fb.no_grad():
        assert not (x * 2).requires_grad
    with fb.inference_mode():
        assert (x * 2).is_inference()
    with fb.enable_grad():
        assert (x * 2).grad_fn is not None
    with pytest.raises(RuntimeError, match="leaf"):
        x.add_(1)
    y = x.detach()
    y.add_(1)
    assert x.tolist() == [2.0, 3.0]


def test_saved_tensors_and_versions() -> None:
    x = leaf(1, 2)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified"):
        y.sum().backward()
    packed: list[Any] = []

    def pack(tensor: fb.Tensor) -> fb.Tensor:
        packed.append(tensor.device)
        return tensor.cpu()

    with fb.autograd.graph.saved_tensors_hooks(pack, lambda each: each.to(CUDA)):
        y = x * x
    y.sum().backward()
    assert packed == [CUDA, CUDA]
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 4.0]
    with fb.autograd.graph.save_on_cpu(pin_memory=True):
        y = x * x
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 8.0]


class Cube(fb.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: fb.Tensor, factor: float) -> fb.Tensor:
        ctx.save_for_backward(x)
        ctx.factor = factor
        return factor * x * x * x

    @staticmethod
    def backward(ctx: Any, grad: fb.Tensor) -> tuple[fb.Tensor, None]:
        (x,) = ctx.saved_tensors
        return 3 * ctx.factor * x * x * grad, None


def test_functions_of_the_user() -> None:
    x = leaf(1, 2)
    y = Cube.apply(x, 2.0)
    (grad,) = fb.autograd.grad(y.sum(), x, create_graph=True)
    assert grad.tolist() == [6.0, 24.0]
    grad.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [12.0, 24.0]


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoints(reentrant: bool) -> None:
    net = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3), nn.ReLU()).to(CUDA)
    x = fb.ones(2, 5, device=CUDA, requires_grad=True)
    net(x).sum().backward()
    expected = [each.grad.clone() for each in net.parameters() if each.grad is not None]
    net.zero_grad()
    checkpoint(net, x, use_reentrant=reentrant).sum().backward()
    for parameter, grad in zip(net.parameters(), expected, strict=True):
        assert fb.equal(parameter.grad.cpu(), grad.cpu())  # type: ignore[union-attr]
    net.zero_grad()
    checkpoint_sequential(net, 2, x, use_reentrant=reentrant).sum().backward()
    for parameter, grad in zip(net.parameters(), expected, strict=True):
        assert fb.equal(parameter.grad.cpu(), grad.cpu())  # type: ignore[union-attr]


def energy(x: fb.Tensor) -> fb.Tensor:
    return (x.sin() * x).sum()


def close(there: Any, here: Any) -> None:
    assert there.device == CUDA
    assert fb.allclose(there.cpu(), here, rtol=1e-5, atol=1e-6)


def test_transforms() -> None:
    here = fb.linspace(-1.0, 2.0, 6).reshape(2, 3)
    there = here.to(CUDA)
    close(func.grad(energy)(there), func.grad(energy)(here))
    close(func.jacrev(fb.exp)(there[0]), func.jacrev(fb.exp)(here[0]))
    close(func.jacfwd(fb.sin)(there[0]), func.jacfwd(fb.sin)(here[0]))
    close(func.hessian(energy)(there[0]), func.hessian(energy)(here[0]))
    for mapped in (
        func.vmap(energy),
        func.vmap(func.grad(energy)),
        func.vmap(lambda row: row @ row),
        func.vmap(lambda column: column * 2 + 1, in_dims=1, out_dims=1),
    ):
        close(mapped(there), mapped(here))
    out, tangent = func.jvp(energy, (there,), (fb.ones_like(there),))
    close(out, energy(here))
    close(tangent, func.grad(energy)(here).sum())
    _, pull = func.vjp(fb.tanh, there)
    close(pull(fb.ones_like(there))[0], 1 - here.tanh() ** 2)


def test_gradients_of_each_sample() -> None:
    net = nn.Linear(3, 2).to(CUDA)
    x = fb.linspace(0.0, 1.0, 12).reshape(4, 3).to(CUDA)

    def loss(parameters: dict[str, fb.Tensor], sample: fb.Tensor) -> fb.Tensor:
        return func.functional_call(net, parameters, (sample,)).square().sum()

    parameters = {name: each.detach() for name, each in net.named_parameters()}
    grads = func.vmap(func.grad(loss), in_dims=(None, 0))(parameters, x)
    assert grads["weight"].shape == (4, 2, 3)
    single = func.grad(loss)(parameters, x[2])
    close(grads["weight"][2], single["weight"].cpu())


def test_gradients_across_devices() -> None:
    here = fb.ones(3, requires_grad=True)
    there = here.to(CUDA) * leaf(1, 2, 3)
    (there.cpu() * 2).sum().backward()
    assert here.grad is not None
    assert here.grad.device.type == "cpu"
    assert here.grad.tolist() == [2.0, 4.0, 6.0]
    with pytest.raises(RuntimeError, match="device"):
        here.grad = fb.ones(3, device=CUDA)


def test_anomalies_are_found() -> None:
    x = leaf(0.0)
    with fb.autograd.set_detect_anomaly(True), pytest.raises(RuntimeError, match="nan"):
        (x.sqrt() * 0).sum().backward()


def test_modules_move() -> None:
    net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    first = net[0].weight
    assert net.cuda() is net
    assert net[0].weight is first
    assert all(each.device == CUDA for each in (*net.parameters(), *net.buffers()))
    assert net.cpu()[0].weight.device.type == "cpu"
    assert net.to("cuda:0", fb.float64)[0].bias.dtype == fb.float64
    assert net.to(fb.ones(1)).state_dict()["1.running_mean"].device.type == "cpu"
    net.to(device=CUDA, non_blocking=True)
    twin = copy.deepcopy(net)
    assert twin[0].weight.device == CUDA
    assert pickle.loads(pickle.dumps(net))[0].weight.device == CUDA
    here = nn.Linear(3, 2)
    here.load_state_dict({"weight": fb.ones(2, 3, device=CUDA), "bias": fb.zeros(2, device=CUDA)})
    assert here.weight.device.type == "cpu"
    assert here.weight.sum().item() == 6.0
    assert nn.LayerNorm(3, device="cuda").weight.device == CUDA
    assert nn.Linear(3, 2, device="meta").to_empty(device="cuda").weight.device == CUDA
