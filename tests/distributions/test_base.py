"""What all distributions share: checks, expanding, laziness, subclasses of users."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest

import flambeau as t
from flambeau import distributions as d
from flambeau.distributions import constraints as c
from flambeau.distributions.utils import broadcast_all, lazy_property
from tests.distributions.cases import ALL, IDS, build


def refused(*parts: str) -> Any:
    return pytest.raises(ValueError, match="(?s)" + ".*".join(re.escape(part) for part in parts))


@pytest.mark.parametrize(("name", "source"), ALL, ids=IDS)
def test_classes_of_programs_are_expanded(name: str, source: str) -> None:
    base: Any = getattr(d, name, None) or type(build(t, source))
    derived = type("Derived", (base,), {})
    made = eval("derived(" + source.partition("(")[2], {"t": t, "d": d, "derived": derived})
    wide = made.expand((2, *made.batch_shape))
    sample = wide.sample()
    assert type(wide) is derived
    assert sample.shape == (2, *made.batch_shape, *made.event_shape)
    t.testing.assert_close(wide.log_prob(sample), made.log_prob(sample), equal_nan=True)

    own = type("Own", (base,), {"__init__": lambda self, *a, **k: base.__init__(self, *a, **k)})
    made = eval("own(" + source.partition("(")[2], {"t": t, "d": d, "own": own})
    if name == "VonMises":  # which is made anew
        assert type(made.expand((2, *made.batch_shape))) is own
        return
    with pytest.raises(NotImplementedError, match="must also define a custom"):
        made.expand((2, *made.batch_shape))


def test_numbers_for_samples() -> None:
    assert d.Gamma(t.tensor(1.0), t.tensor(1.0)).log_prob(0).item() == 0  # type: ignore[arg-type]
    assert d.Gamma(t.tensor(1.0), t.tensor(1.0)).log_prob(1).item() == -1  # type: ignore[arg-type]
    for made in (d.Normal(0.0, 1.0), d.Poisson(2.0), d.HalfCauchy(1.0)):
        made._validate_args = False
        t.testing.assert_close(made.log_prob(1), made.log_prob(t.tensor(1.0)))


@pytest.mark.parametrize("logit", [-300.0, -40.0, 20.0, 50.0, 1e4])
@pytest.mark.parametrize("dtype", [t.float32, t.float64])
def test_continuous_coins_that_nearly_always_show_one_side(logit: float, dtype: t.dtype) -> None:
    made = d.ContinuousBernoulli(logits=t.tensor(logit, dtype=dtype))
    half = t.tensor(0.5, dtype=dtype)
    values = [made.mean, made.variance, made.entropy(), made.log_prob(half), made.icdf(half)]
    assert all(bool(value.isfinite()) for value in values)
    assert 0 < made.mean < 1
    assert (made.mean > 0.5) == (logit > 0)
    assert 0 <= made.sample() <= 1


@pytest.mark.parametrize("extra", [0.01, 0.5, 2.0])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_wishart_accepts_its_samples(extra: float, batch: tuple[int, ...]) -> None:
    t.manual_seed(0)
    factor = t.randn(4, 4)
    covariance = (factor @ factor.mT + 0.1 * t.eye(4)).expand(*batch, 4, 4)
    made = d.Wishart(t.full(batch, 3 + extra), covariance, validate_args=True)
    made.log_prob(made.sample((100,)))
    made.log_prob(made.rsample())


def test_bad_parameters_are_named() -> None:
    with refused(
        "Expected parameter scale (Tensor of shape (2,)) of distribution",
        "Normal(loc: torch.Size([2])",
        "to satisfy the constraint GreaterThan(lower_bound=0.0), but found invalid values:\n"
        "tensor([ 1., -1.])",
    ):
        d.Normal(t.zeros(2), t.tensor([1.0, -1.0]))
    with refused("parameter loc", "Normal", "Real()", "nan"):
        d.Normal(float("nan"), 1.0)
    with refused("parameter probs", "Bernoulli(probs: 1.5)", "Interval(lower_bound=0.0"):
        d.Bernoulli(1.5)
    with refused("parameter low", "Uniform(low: 1.0, high: 0.0)", "LessThan(upper_bound=0.0)"):
        d.Uniform(1.0, 0.0)
    with refused("parameter covariance_matrix", "MultivariateNormal", "PositiveDefinite()"):
        d.MultivariateNormal(t.zeros(2), -t.eye(2))
    with refused("parameter probs", "Geometric", "to be positive"):
        d.Geometric(t.tensor([0.0, 0.5]))


@pytest.mark.parametrize(
    "source",
    [
        "d.OneHotCategorical(logits=t.tensor([0.0, float('nan')]), validate_args=True)",
        "d.Multinomial(3, t.tensor([0.5, -0.5]), validate_args=True)",
        "d.RelaxedBernoulli(t.tensor(1.0), t.tensor(1.5), validate_args=True)",
        "d.RelaxedOneHotCategorical(t.tensor(1.0), t.tensor([0.5, -0.5]), validate_args=True)",
        "d.LogNormal(0.0, -1.0, validate_args=True)",
        "d.LogisticNormal(t.zeros(2), -1.0, validate_args=True)",
        "d.InverseGamma(0.0, 1.0, validate_args=True)",
        "d.HalfNormal(-1.0, validate_args=True)",
        "d.Chi2(-1.0, validate_args=True)",
    ],
)
def test_parameters_of_parts_are_checked(source: str) -> None:
    d.Distribution.set_default_validate_args(False)
    try:
        with pytest.raises(ValueError, match="Expected parameter"):
            build(t, source)
        build(t, source.replace("True)", "False)"))
    finally:
        d.Distribution.set_default_validate_args(True)


def test_bad_values_are_named() -> None:
    with refused("value argument (Tensor of shape ())", "(Real())", "Normal(loc: 0.0", "nan"):
        d.Normal(0.0, 1.0).log_prob(t.tensor(float("nan")))
    with refused("The value argument to log_prob must be a Tensor, got float"):
        d.Normal(0.0, 1.0).log_prob(1.0)  # type: ignore[arg-type]
    with refused("not broadcastable", "torch.Size([2]) vs torch.Size([3])"):
        d.Normal(t.zeros(3), 1.0).log_prob(t.zeros(2))
    with refused("right-most size", "torch.Size([3]) vs torch.Size([2])"):
        d.Dirichlet(t.ones(2)).log_prob(t.ones(3))
    with refused("IntegerInterval(lower_bound=0, upper_bound=2)", "Categorical", "3"):
        d.Categorical(t.ones(3)).log_prob(t.tensor(3))


def test_checks_can_be_switched_off() -> None:
    wild = d.Normal(0.0, -1.0, validate_args=False)
    assert np.isnan(wild.log_prob(t.tensor(0.0)).item())
    d.Normal(0.0, 1.0, validate_args=False).log_prob(t.tensor(float("nan")))
    d.Distribution.set_default_validate_args(False)
    try:
        d.Normal(0.0, -1.0)
        with pytest.raises(ValueError, match="scale"):
            d.Normal(0.0, -1.0, validate_args=True)
    finally:
        d.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="expected True or False, got 3"):
        d.Distribution.set_default_validate_args(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "source"), ALL, ids=IDS)
def test_expand(name: str, source: str) -> None:
    p = build(t, source)
    wide = p.expand((5, *p.batch_shape))
    assert type(wide) is type(p)
    assert wide.batch_shape == (5, *p.batch_shape)
    assert wide.event_shape == p.event_shape
    t.manual_seed(0)
    value = p.sample((5,))
    np.testing.assert_allclose(wide.log_prob(value).numpy(), p.log_prob(value).numpy(), 1e-5)
    assert wide.sample((2,)).shape == (2, 5, *p.batch_shape, *p.event_shape)
    if p.batch_shape:
        with pytest.raises((RuntimeError, ValueError)):
            p.expand([size + 5 for size in p.batch_shape])


@pytest.mark.parametrize(("name", "source"), ALL, ids=IDS)
def test_copies_and_pickles(name: str, source: str) -> None:
    p = build(t, source)
    t.manual_seed(0)
    value = p.sample()
    for other in (copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
        np.testing.assert_array_equal(other.log_prob(value).numpy(), p.log_prob(value).numpy())
        assert repr(other) == repr(p)


def test_expand_of_subclasses() -> None:
    class Shifted(d.Normal):
        def __init__(self, loc: t.Tensor, shift: float) -> None:
            self.shift = shift
            super().__init__(loc + shift, 1.0)

        def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
            new = self._get_checked_instance(Shifted, _instance)
            new.shift = self.shift
            return super().expand(batch_shape, _instance=new)

    wide = Shifted(t.zeros(2), 3.0).expand((4, 2))
    assert (type(wide), wide.shift, wide.loc.shape) == (Shifted, 3.0, (4, 2))

    class Careless(Shifted):
        def __init__(self) -> None:
            super().__init__(t.zeros(2), 1.0)

    with pytest.raises(NotImplementedError, match=r"Subclass Careless of Shifted.*\.expand\(\)"):
        Careless().expand((4, 2))


def test_distributions_of_users() -> None:
    class Coin(d.Distribution):
        arg_constraints = {"bias": c.unit_interval}  # noqa: RUF012
        support = c.boolean

        def __init__(self, bias: t.Tensor, validate_args: bool | None = None) -> None:
            self.bias = bias
            super().__init__(bias.shape, validate_args=validate_args)

        def log_prob(self, value: t.Tensor) -> t.Tensor:
            if self._validate_args:
                self._validate_sample(value)
            return t.where(value == 1, self.bias, 1 - self.bias).log()

    coin = Coin(t.tensor([0.25, 0.5]))
    assert repr(coin) == "Coin(bias: torch.Size([2]))"
    assert coin.expand((3, 2)).bias.shape == (3, 2)
    np.testing.assert_allclose(coin.log_prob(t.tensor([1.0, 0.0])).exp().numpy(), [0.25, 0.5])
    with pytest.raises(ValueError, match=r"parameter bias .* of distribution Coin"):
        Coin(t.tensor([2.0]))
    for read in ("mean", "variance", "stddev"):
        with pytest.raises(NotImplementedError):
            getattr(coin, read)
    for call in (coin.sample, coin.rsample, coin.entropy, coin.enumerate_support):
        with pytest.raises(NotImplementedError):
            call()

    class Nameless(d.Distribution):
        pass

    with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
        nameless = Nameless()
    assert nameless.batch_shape == nameless.event_shape == t.Size()
    with pytest.warns(UserWarning, match="does not define `support`"):
        nameless._validate_sample(t.zeros(()))


def test_constraints_of_users() -> None:
    class Even(c._GreaterThan):
        def check(self, value: t.Tensor) -> t.Tensor:
            return (value % 2 == 0) & super().check(value)

    assert not Even(0)._fb_holds(t.tensor([2.0, 3.0]))
    assert Even(0)._fb_holds(t.tensor([2.0, 4.0]))

    class Bounded(d.Distribution):
        arg_constraints = {"low": c.real}  # noqa: RUF012

        def __init__(self) -> None:
            self.low = t.zeros(2)
            super().__init__(t.Size([2]))

        @c.dependent_property(is_discrete=False, event_dim=0)
        def support(self) -> c.Constraint:
            return c.greater_than(self.low)

    assert c.is_dependent(Bounded.support)
    assert (Bounded.support.is_discrete, Bounded.support.event_dim) == (False, 0)
    assert not c.is_dependent(Bounded().support)
    assert c.dependent(event_dim=3).event_dim == 3
    with pytest.raises(NotImplementedError, match="is_discrete cannot be determined statically"):
        _ = c.dependent(event_dim=3).is_discrete


def test_lazy_property() -> None:
    class Slow:
        calls = 0

        @lazy_property
        def value(self) -> int:
            """What takes long."""
            self.calls += 1
            return 7

    slow = Slow()
    assert (slow.value, slow.value, slow.calls) == (7, 7, 1)
    assert vars(slow)["value"] == 7
    assert Slow.value.__doc__ == "What takes long."


def test_other_parameter_is_computed_when_asked_for() -> None:
    p = d.Bernoulli(logits=t.tensor([0.0, 1.0]))
    assert repr(p) == "Bernoulli(logits: torch.Size([2]))"
    np.testing.assert_allclose(p.probs.numpy(), [0.5, 1 / (1 + np.exp(-1.0))], 1e-6)
    assert repr(p) == "Bernoulli(probs: torch.Size([2]), logits: torch.Size([2]))"
    with t.no_grad():
        logits = t.zeros(2, requires_grad=True)
        assert d.Bernoulli(logits=logits).probs.requires_grad


def test_broadcast_all() -> None:
    a, b, number = broadcast_all(t.zeros(2, 1), t.ones(3), 2)
    assert a.shape == b.shape == number.shape == (2, 3)
    assert broadcast_all(1, t.zeros(2, dtype=t.float64))[0].dtype == t.float64
    with pytest.raises(ValueError, match="got int, NoneType"):
        broadcast_all(1, None)


def test_stick_breaking_support_of_mixtures() -> None:
    mixture = d.MixtureSameFamily(
        d.Categorical(t.ones(2)), d.Uniform(t.tensor([0.0, 1.0]), t.tensor([2.0, 3.0]))
    )
    assert mixture.support.check(t.tensor([1.5, 0.5])).tolist() == [True, False]
