"""Steps of every optimiser: the kernel against the composed form, and against facts."""

import math
from typing import Any

import numpy as np
import pytest

import flambeau as torch
from flambeau import optim
from tests.optim.options import CASES, OPTIONS, Options, shown

SHAPES = ((3,), (7, 5), (130,), (), (0,))
# Both forms round after every operator; the 16-bit ones differ in how `add` takes its `alpha`.
TOLERANCES = {"float64": 0.0, "float32": 0.0, "bfloat16": 0.05, "float16": 0.01}


class Run:
    """An optimiser with parameters and gradients that depend on the seed alone."""

    def __init__(self, name: str, options: Options, dtype: str = "float64") -> None:
        self.random = np.random.default_rng(0)
        self.dtype = getattr(torch, dtype)
        self.params = [self.make(shape).requires_grad_() for shape in SHAPES]
        self.optimizer: Any = getattr(optim, name)(self.params, **options)

    def make(self, shape: tuple[int, ...]) -> torch.Tensor:
        values = self.random.standard_normal(shape)
        if self.dtype.is_complex:
            values = values + 1j * self.random.standard_normal(shape)
        return torch.tensor(values).to(self.dtype)

    def gradients(self) -> None:
        for param in self.params:
            param.grad = self.make(tuple(param.shape))

    def step(self, composed: bool = False) -> None:
        self.gradients()
        if not composed:
            self.optimizer.step()
            return
        for group in self.optimizer.param_groups:
            self.optimizer._fb_step_composed(group, group["params"])

    def tensors(self) -> list[torch.Tensor]:
        states = [self.optimizer.state[param] for param in self.params]
        found = [value for state in states for _, value in sorted(state.items())]
        return [*self.params, *found]


def assert_same(run: Run, other: Run, tolerance: float = 0.0) -> None:
    pairs = zip(run.tensors(), other.tensors(), strict=True)
    for a, b in pairs:
        assert a.dtype == b.dtype
        if tolerance == 0:
            assert torch.equal(a, b)
        else:
            torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("name", "options"), CASES, ids=shown)
@pytest.mark.parametrize("dtype", TOLERANCES)
def test_the_kernel_computes_what_operators_do(name: str, options: Options, dtype: str) -> None:
    if TOLERANCES[dtype] and "eps" in Run(name, options).optimizer.defaults:
        options = options | {"eps": 1e-3}  # the usual 1e-8 is 0 in float16
    native, composed = Run(name, options, dtype), Run(name, options, dtype)
    for _ in range(8):
        native.step()
        composed.step(composed=True)
    assert_same(native, composed, TOLERANCES[dtype])


@pytest.mark.parametrize("name", OPTIONS)
def test_complex_parameters_are_pairs_of_real_ones(name: str) -> None:
    run = Run(name, {}, "complex128")
    before = run.random.bit_generator.state
    parts = Run(name, {}, "float64")
    parts.params = [torch.view_as_real(p.detach()).clone().requires_grad_() for p in run.params]
    parts.optimizer = getattr(optim, name)(parts.params)
    run.random.bit_generator.state = before
    for _ in range(5):
        run.gradients()
        for param, pair in zip(run.params, parts.params, strict=True):
            assert param.grad is not None
            pair.grad = torch.view_as_real(param.grad).clone()
        run.optimizer.step()
        parts.optimizer.step()
    for param, pair in zip(run.params, parts.params, strict=True):
        assert torch.equal(torch.view_as_real(param.detach()), pair)


@pytest.mark.parametrize("name", OPTIONS)
def test_other_memory_orders_change_nothing(name: str) -> None:
    values = torch.arange(24.0).reshape(2, 3, 4) / 7
    wide = torch.zeros(2, 3, 8)
    wide[..., ::2] = values
    params = [
        values.clone(),
        values.permute(2, 0, 1).contiguous().permute(1, 2, 0),  # dense, in another order
        wide[..., ::2],  # with gaps
        values.clone(),  # with a gradient in another order
    ]
    grads = [values.sin() for _ in params]
    grads[3] = grads[3].transpose(0, 2).contiguous().transpose(0, 2)
    leaves = [param.detach().requires_grad_() for param in params]
    optimizer = getattr(optim, name)(leaves)
    for step in range(3):
        for leaf, grad in zip(leaves, grads, strict=True):
            leaf.grad = grad * (step + 1)
        optimizer.step()
    assert all(torch.equal(leaves[0], leaf) for leaf in leaves[1:])


@pytest.mark.parametrize("name", OPTIONS)
def test_many_elements_on_threads(name: str) -> None:
    threads = torch.get_num_threads()
    whole = torch.randn(100_003, dtype=torch.float64)
    grad = torch.randn(100_003, dtype=torch.float64)
    pieces = [1, 50_000, 2, 50_000]
    results = []
    try:
        for count, split in ((1, [100_003]), (3, pieces)):
            torch.set_num_threads(count)
            params = [part.clone().requires_grad_() for part in whole.split(split)]
            optimizer = getattr(optim, name)(params)
            for _ in range(3):
                for param, part in zip(params, grad.split(split), strict=True):
                    param.grad = part.clone()
                optimizer.step()
            results.append(torch.cat([param.detach() for param in params]))
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(*results)


@pytest.mark.parametrize("name", OPTIONS)
def test_descends(name: str) -> None:
    point = torch.tensor([3.0, -2.0], requires_grad=True)
    optimizer = getattr(optim, name)([point])
    first = last = math.inf
    for number in range(200):
        optimizer.zero_grad()
        loss = (point**2).sum()
        loss.backward()
        optimizer.step()
        first, last = (loss.item() if number == 0 else first), loss.item()
    assert last < first


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_steps_are_counted_in_the_default_type(dtype: torch.dtype) -> None:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        param = torch.ones(2, requires_grad=True)
        param.grad = torch.ones(2)
        optimizer = optim.Adam([param])
        optimizer.step()
        assert optimizer.state[param]["step"].dtype == dtype
        assert optimizer.state[param]["step"].item() == 1
    finally:
        torch.set_default_dtype(before)


def one(**options: Any) -> tuple[torch.Tensor, optim.SGD]:
    param = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    return param, optim.SGD([param], **options)


def test_momentum_by_hand() -> None:
    param, optimizer = one(lr=0.5, momentum=0.5, dampening=0.25)
    for grad in (1.0, 2.0):
        param.grad = torch.tensor([grad], dtype=torch.float64)
        optimizer.step()
    # The buffer: 1, then 0.5 + 0.75 * 2.
    assert param.item() == 1 - 0.5 * 1 - 0.5 * 2
    assert optimizer.state[param]["momentum_buffer"].item() == 2


def test_nesterov_and_weight_decay_by_hand() -> None:
    param, optimizer = one(lr=0.5, momentum=0.5, nesterov=True, weight_decay=0.25)
    param.grad = torch.tensor([1.0], dtype=torch.float64)
    optimizer.step()
    # The gradient with its share of the weight: 1.25; one step ahead: 1.25 + 0.5 * 1.25.
    assert param.item() == 1 - 0.5 * 1.875


def test_adam_by_hand() -> None:
    param = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    optimizer = optim.Adam([param], lr=0.5, betas=(0.5, 0.75), eps=0.25)
    param.grad = torch.tensor([2.0], dtype=torch.float64)
    optimizer.step()
    # Corrected for its beginning, the first average is the gradient itself.
    assert param.item() == pytest.approx(1 - 0.5 * 2 / (2 + 0.25), rel=1e-15)
    assert optimizer.state[param]["exp_avg"].item() == 1
    assert optimizer.state[param]["exp_avg_sq"].item() == 1


def test_rprop_goes_back_to_sleep_when_the_sign_turns() -> None:
    param = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    optimizer = optim.Rprop([param], lr=0.25, etas=(0.5, 2.0))
    positions = []
    for grad in (1.0, 1.0, -1.0, -1.0):
        param.grad = torch.tensor([grad], dtype=torch.float64)
        optimizer.step()
        positions.append(param.item())
    assert positions == [0.75, 0.25, 0.25, 0.5]


def test_not_a_number_stays_where_it_is() -> None:
    param = torch.ones(40, requires_grad=True)
    grad = torch.ones(40)
    grad[3] = math.nan
    optimizer = optim.Adam([param], amsgrad=True)
    for _ in range(2):
        param.grad = grad
        optimizer.step()
    assert param.isnan().nonzero().tolist() == [[3]]
    assert optimizer.state[param]["max_exp_avg_sq"].isnan().nonzero().tolist() == [[3]]
    stuck = torch.full((2,), math.inf, requires_grad=True)
    stuck.grad = torch.ones(2)
    optimizer = optim.Adam([stuck])
    optimizer.step()
    assert optimizer.state[stuck]["exp_avg"].isfinite().all()


def test_fused_and_foreach_are_the_same_step() -> None:
    runs = [Run("Adam", options) for options in ({}, {"fused": True}, {"foreach": True})]
    for run in runs:
        run.step()
    assert_same(runs[0], runs[1])
    assert_same(runs[0], runs[2])
    with pytest.raises(RuntimeError, match="`fused=True` requires all the params to be floating"):
        Run("Adam", {"fused": True}, "complex128").step()


def test_tensors_of_inference_mode_stay_as_they_are() -> None:
    with torch.inference_mode():
        fixed = torch.ones(2)
        fixed.grad = torch.ones(2)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        optim.SGD([fixed], lr=1.0).step()
    assert fixed.tolist() == [1, 1]


def test_state_that_is_not_whole() -> None:
    run = Run("Adam", {})
    run.step()
    for state in run.optimizer.state.values():
        del state["exp_avg_sq"]
    with pytest.raises(KeyError, match="exp_avg_sq"):
        run.step()


def test_state_in_another_type_is_refused_by_its_operator() -> None:
    run = Run("Adam", {})
    run.step()
    for state in run.optimizer.state.values():
        state["exp_avg"] = state["exp_avg"].float()
    with pytest.raises(RuntimeError, match="lerp: all tensors must have the same dtype"):
        run.step()
