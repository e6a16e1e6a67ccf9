"""Methods that a program gives likely names are the program's: nothing here calls them."""

from __future__ import annotations

from typing import Any

import pytest

import flambeau as fb
from flambeau import nn
from flambeau.utils.data import DataLoader, Dataset, RandomSampler

# Names that programs have been seen to use, beside those that follow from the names here.
SEEN = [
    *("_prepare", "_check_param", "_check_parameters", "_set_member", "_saved_tensors"),
    *("_load_tensor", "_update", "_init_state", "_bind", "_batches", "blocks", "worker_type"),
]


def refuse(self: Any, *args: Any, **kwargs: Any) -> Any:
    raise AssertionError("a method of the program was called")


def derived(base: Any, **members: Any) -> Any:
    """A class of a program, whose methods have the names that ours would have without a prefix."""
    likely = [name.removeprefix("_fb") for name in dir(base) if name.startswith("_fb_")]
    own = dict.fromkeys([*SEEN, *likely], refuse)
    return type("Derived", (base,), {**own, **members})


@pytest.mark.parametrize("base", [nn.Linear, nn.LSTM, nn.GRUCell, nn.LazyLinear])
def test_modules(base):
    net = derived(base)(3) if base is nn.LazyLinear else derived(base)(4, 3)
    net.register_forward_hook(lambda *call: None)
    result = net(fb.ones(2, 4))
    (result[0] if isinstance(result, tuple) else result).sum().backward()
    net.load_state_dict(net.state_dict())
    net.extra = nn.Parameter(fb.ones(2))
    net.other = fb.ones(2)
    net.register_buffer("buffer", fb.ones(2))
    net.to(fb.float64).double().share_memory()
    assert net.buffer.dtype == fb.float64


def test_convolutions():
    net = nn.Sequential(derived(nn.Conv2d)(1, 2, 3), derived(nn.ConstantPad2d)(1, 0.0))
    assert net(fb.ones(1, 1, 5, 5)).shape == (1, 2, 5, 5)


@pytest.mark.parametrize("options", [{}, {"foreach": False}, {"differentiable": True}])
@pytest.mark.parametrize(
    "base", [fb.optim.SGD, fb.optim.Adam, fb.optim.NAdam, fb.optim.Adagrad, fb.optim.RMSprop]
)
def test_optimizers(base, options):
    parameter = nn.Parameter(fb.ones(3)) if not options.get("differentiable") else fb.ones(3)
    optimizer = derived(base)([parameter], lr=0.1, **options)
    parameter.grad = fb.ones(3)
    optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())
    assert (parameter < 1).all()


def test_an_optimizer_of_the_program():
    def step(self, closure=None):
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.data.sub_(parameter.grad)

    parameter = nn.Parameter(fb.ones(2))
    optimizer = derived(fb.optim.Optimizer, step=step)([parameter], {})
    optimizer.add_param_group({"params": [nn.Parameter(fb.ones(1))]})
    optimizer.param_groups[1]["params"][0].grad = fb.ones(1)
    parameter.grad = fb.ones(2)
    optimizer.step()
    assert not parameter.any()


@pytest.mark.parametrize(
    ("base", "arguments"),
    [
        (fb.optim.lr_scheduler.StepLR, (1,)),
        (fb.optim.lr_scheduler.CosineAnnealingLR, (3,)),
        (fb.optim.lr_scheduler.OneCycleLR, (0.1, 5)),
        (fb.optim.lr_scheduler.LambdaLR, (lambda epoch: 0.5**epoch,)),
    ],
)
def test_schedules(base, arguments):
    optimizer = fb.optim.SGD([nn.Parameter(fb.ones(1))], lr=0.1)
    schedule = derived(base)(optimizer, *arguments)
    before = schedule.get_last_lr()
    optimizer.step()
    schedule.step()
    schedule.load_state_dict(schedule.state_dict())
    assert schedule.get_last_lr() != before


@pytest.mark.parametrize(
    ("base", "arguments"),
    [
        (fb.distributions.Normal, (0.0, 1.0)),
        (fb.distributions.Bernoulli, (0.5,)),
        (fb.distributions.MultivariateNormal, (fb.zeros(2), fb.eye(2))),
        (fb.distributions.Weibull, (1.0, 2.0)),
    ],
)
def test_distributions(base, arguments):
    made = derived(base)(*map(fb.as_tensor, arguments), validate_args=True)
    assert made.log_prob(made.sample()).isfinite()


def test_data():
    items = derived(Dataset, __len__=lambda self: 4, __getitem__=lambda self, index: index)()
    sampler = derived(RandomSampler)(items)
    loader = derived(DataLoader)(items, 2, sampler=sampler)
    assert sorted(int(i) for batch in loader for i in batch) == [0, 1, 2, 3]
    assert loader.state_dict()["epoch"]["finished"]


def test_functions():
    def forward(ctx, x, factor=2):
        ctx.factor = factor
        return x * factor

    def backward(ctx, grad):
        return grad * ctx.factor, None

    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    x = fb.ones(2, requires_grad=True)
    derived(fb.autograd.Function, **members).apply(x).sum().backward()
    assert x.grad.tolist() == [2, 2]
