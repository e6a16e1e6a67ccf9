"""Distributions against torch: samples for the seed, densities, moments, gradients, errors."""

from __future__ import annotations

import contextlib
import itertools
import math
import warnings
from collections.abc import Callable, Iterator
from operator import methodcaller
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributions.kl

import flambeau
import flambeau.distributions
from tests.conformance.differences import (
    DISTRIBUTION_EDGES,
    DISTRIBUTION_GRADIENTS,
    DISTRIBUTIONS,
    DIVERGENCES,
)
from tests.conformance.distribution_edges import EDGES, POINTS, SHARES
from tests.distributions.cases import ALL, IDS, TRANSFORMS, build
from tests.distributions.pairs import FAMILIES, PAIRS

FRAMEWORKS = (torch, flambeau)

# Where rounding shows more than elsewhere.
LOOSE = {
    ("LKJCholesky", "sample"): (1e-3, 1e-4),  # 1 - a sum of squares that may be nearly 1
    ("ContinuousBernoulli", "icdf"): (1e-4, 1e-5),  # quotients of differences near p = 1/2
    ("ContinuousBernoulli", "sample"): (1e-4, 1e-5),
    ("ContinuousBernoulli", "rsample"): (1e-4, 1e-5),
}


@pytest.fixture(autouse=True, scope="module")
def _validation_is_on() -> None:
    """torch._dynamo, which other tests may have loaded, switches it off for the whole process."""
    torch.distributions.Distribution.set_default_validate_args(True)


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """The result, or the class of the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of singular samples that are none
        try:
            return function(*args)
        except Exception as error:
            return type(error)


def assert_agree(ours: Any, theirs: Any, what: str, rtol: float = 2e-5, atol: float = 2e-6) -> None:
    if not isinstance(theirs, torch.Tensor):
        assert ours == theirs, what
        return
    assert isinstance(ours, flambeau.Tensor), f"{what}: {ours}"
    assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1], what
    np.testing.assert_allclose(
        ours.detach().numpy(), theirs.detach().numpy(), rtol, atol, err_msg=what
    )


def seeded(t: Any, function: Callable[..., Any], *args: Any) -> Any:
    t.manual_seed(3)
    return outcome(function, *args)


def of(t: Any, array: torch.Tensor) -> Any:
    return t.tensor(array.numpy())


@pytest.mark.parametrize(("name", "source"), ALL, ids=IDS)
def test_samples(name: str, source: str) -> None:
    theirs, ours = (build(t, source) for t in FRAMEWORKS)
    for kind, shape in itertools.product(("sample", "rsample"), ((), (4,), (20, 3))):
        draw = methodcaller(kind, shape)
        a, b = seeded(torch, draw, theirs), seeded(flambeau, draw, ours)
        assert_agree(b, a, f"{kind}{shape}", *LOOSE.get((name, kind), ()))
        assert torch.rand(1).item() == flambeau.rand(1).item(), "the stream is out of step"


@pytest.mark.parametrize(("name", "source"), ALL, ids=IDS)
def test_moments(name: str, source: str) -> None:
    theirs, ours = (build(t, source) for t in FRAMEWORKS)
    for attribute in ("mean", "mode", "variance", "stddev"):
        if (name, attribute) in DISTRIBUTIONS:
            continue
        a, b = (outcome(getattr, p, attribute) for p in (theirs, ours))
        assert_agree(b, a, attribute)
    for method in ("entropy", "perplexity", "enumerate_support"):
        a, b = (outcome(methodcaller(method), p) for p in (theirs, ours))
        assert_agree(b, a, method)
    a, b = (outcome(methodcaller("enumerate_support", False), p) for p in (theirs, ours))
    assert_agree(b, a, "enumerate_support(expand=False)")


@pytest.mark.parametrize(("name", "source"), ALL, ids=IDS)
def test_densities(name: str, source: str) -> None:
    theirs, ours = (build(t, source) for t in FRAMEWORKS)
    value = seeded(torch, theirs.sample, (5,))
    for method in ("log_prob", "cdf"):
        a = outcome(methodcaller(method, value), theirs)
        b = outcome(methodcaller(method, of(flambeau, value)), ours)
        assert_agree(b, a, method)
    share = torch.linspace(0.02, 0.98, 5).reshape(5, *(1 for _ in value.shape[1:]))
    share = share.expand(value.shape).contiguous()
    a, b = outcome(theirs.icdf, share), outcome(ours.icdf, of(flambeau, share))
    assert_agree(b, a, "icdf", *LOOSE.get((name, "icdf"), ()))


@pytest.mark.parametrize(("name", "source"), ALL, ids=IDS)
def test_description(name: str, source: str) -> None:
    theirs, ours = (build(t, source) for t in FRAMEWORKS)
    for attribute in ("support", "has_rsample", "has_enumerate_support", "arg_constraints"):
        assert repr(getattr(ours, attribute)) == repr(getattr(theirs, attribute))
    assert repr(ours) == repr(theirs)
    for each in (lambda p: p, lambda p: p.expand((6, *p.batch_shape))):
        assert each(ours).batch_shape == tuple(each(theirs).batch_shape)
        assert each(ours).event_shape == tuple(each(theirs).event_shape)
        assert repr(each(ours)) == repr(each(theirs))


@pytest.mark.parametrize(("name", "source"), ALL, ids=IDS)
def test_expand(name: str, source: str) -> None:
    theirs, ours = (build(t, source) for t in FRAMEWORKS)
    wide, own = (p.expand((6, *p.batch_shape)) for p in (theirs, ours))
    a, b = seeded(torch, wide.sample, (2,)), seeded(flambeau, own.sample, (2,))
    assert_agree(b, a, "sample", *LOOSE.get((name, "sample"), ()))
    value = seeded(torch, theirs.sample, (6,))
    a, b = outcome(wide.log_prob, value), outcome(own.log_prob, of(flambeau, value))
    assert_agree(b, a, "log_prob")
    a, b = (outcome(getattr, p, "mean") for p in (wide, own))
    assert_agree(b, a, "mean")


@contextlib.contextmanager
def unchecked() -> Iterator[None]:
    """Without a word of values outside the support."""
    for t in FRAMEWORKS:
        t.distributions.Distribution.set_default_validate_args(False)
    yield
    for t in FRAMEWORKS:
        t.distributions.Distribution.set_default_validate_args(True)


def edge(t: Any, source: str) -> Any:
    return eval(source, {"t": t, "d": t.distributions, "inf": math.inf})


def values_at_edges(source: str) -> Iterator[tuple[str, Any, Any]]:
    """What is asked, and the answers of torch and of Flambeau."""
    pair = [edge(t, source) for t in FRAMEWORKS]

    def ask(what: str, question: Callable[[Any, Any], Any]) -> tuple[str, Any, Any]:
        theirs, ours = (seeded(t, question, t, p) for t, p in zip(FRAMEWORKS, pair, strict=True))
        return what, theirs, ours

    for attribute in ("mean", "mode", "variance", "stddev"):
        yield ask(attribute, lambda t, p, name=attribute: getattr(p, name))
    for method in ("entropy", "enumerate_support"):
        yield ask(method, lambda t, p, name=method: getattr(p, name)())
    for method in ("sample", "rsample"):
        yield ask(method, lambda t, p, name=method: getattr(p, name)((7,)))
    yield ask("expand", lambda t, p: p.expand((2, *p.batch_shape)).mean)
    yield ask("kl_divergence", lambda t, p: t.distributions.kl_divergence(p, p))
    drawn = seeded(torch, pair[0].sample, (5,))
    for method in ("log_prob", "cdf"):
        yield ask(method, lambda t, p, name=method: getattr(p, name)(of(t, drawn)))
    if pair[0].event_shape:
        return
    kind = drawn.dtype if drawn.dtype.is_floating_point else torch.float32
    for method, points in (("log_prob", POINTS), ("cdf", POINTS), ("icdf", SHARES)):
        at = torch.tensor(points, dtype=kind).reshape(-1, *(1 for _ in pair[0].batch_shape))
        with unchecked():
            yield ask(
                f"{method} at points",
                lambda t, p, name=method, at=at: getattr(p, name)(of(t, at)),
            )


@pytest.mark.parametrize("source", [source for each in EDGES.values() for source in each])
def test_edges(source: str) -> None:
    """At the edges of parameters; where torch is wrong there, with a reason."""
    name = source.removeprefix("d.").partition("(")[0]
    for what, theirs, ours in values_at_edges(source):
        reason = DISTRIBUTION_EDGES.get((name, what))
        try:
            assert_agree(ours, theirs, f"{source}: {what}", 1e-4, 1e-5)
        except AssertionError:
            if reason is None:
                raise


def test_every_class_has_edges() -> None:
    classes = {
        name
        for name in torch.distributions.__all__
        if isinstance(getattr(torch.distributions, name), type)
        and issubclass(getattr(torch.distributions, name), torch.distributions.Distribution)
    }
    assert classes - set(EDGES) == {
        *("Distribution", "ExponentialFamily", "Independent"),  # of other distributions
    }


class Leaves:
    """A framework whose tensors require gradients and are remembered."""

    def __init__(self, t: Any) -> None:
        self.framework = t
        self.made: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.framework, name)

    def tensor(self, values: Any) -> Any:
        leaf = self.framework.tensor(values, requires_grad=True)
        self.made.append(leaf)
        return leaf

    def gradients(self, result: Any) -> list[Any]:
        self.framework.manual_seed(0)
        weights = self.framework.rand(result.shape)
        (result * weights).sum().backward()
        return [leaf.grad for leaf in self.made]


def compare_gradients(make: Callable[[Any, Any], Any], source: str, rtol: float = 1e-4) -> None:
    """Gradients by all tensors of an expression of what `make` gets from it."""
    grads = []
    for t in FRAMEWORKS:
        leaves = Leaves(t)
        t.manual_seed(3)
        result = outcome(make, t, build(leaves, source))
        differentiable = not isinstance(result, type) and result.requires_grad
        grads.append(leaves.gradients(result) if differentiable else [])
    for a, b in zip(*grads, strict=True):
        assert (a is None) == (b is None)
        if a is not None:  # torch makes NaN of many a branch that is not taken
            assert_agree(
                flambeau.where(of(flambeau, a).isnan(), 0, b),
                a.nan_to_num(nan=0.0),
                "gradient",
                rtol,
                1e-5,
            )


# Implicit gradients of gamma and Dirichlet numbers: torch's are approximations of up to this error.
APPROXIMATE = 3e-3


def differentiable(method: str) -> list[Any]:
    return [
        pytest.param(source, id=source)
        for name, source in ALL
        if (name, method) not in DISTRIBUTION_GRADIENTS
    ]


@pytest.mark.parametrize("source", differentiable("log_prob"))
def test_gradients_of_densities(source: str) -> None:
    value = seeded(torch, build(torch, source).sample, (5,))
    compare_gradients(lambda t, p: p.log_prob(of(t, value)), source)


@pytest.mark.parametrize("source", differentiable("rsample"))
def test_gradients_of_samples(source: str) -> None:
    compare_gradients(lambda t, p: p.rsample((5,)), source, APPROXIMATE)


@pytest.mark.parametrize("attribute", ["mean", "variance"])
@pytest.mark.parametrize("source", IDS)
def test_gradients_of_moments(source: str, attribute: str) -> None:
    compare_gradients(lambda t, p: getattr(p, attribute), source)


def test_all_pairs_are_registered() -> None:
    def names(module: Any) -> set[tuple[str, str]]:
        pairs = module.distributions.kl._KL_REGISTRY
        own = f"{module.__name__}."  # other tests may have registered classes of theirs
        return {
            (p.__name__, q.__name__)
            for p, q in pairs
            if getattr(p, "__module__", "").startswith(own)
        }

    theirs = names(torch)
    ours = names(flambeau)
    assert theirs <= ours
    tried = {
        (type(build(flambeau, p)).__name__, type(build(flambeau, q)).__name__) for p, q in PAIRS
    }
    missing = theirs - tried - {("ExponentialFamily", "ExponentialFamily")}
    assert missing == {("TransformedDistribution", "TransformedDistribution")}  # LogNormal has it


# Pairs of which torch's divergence is wrong; tests/distributions integrates all of them.
WRONG = {(FAMILIES[p][0], FAMILIES[q][1]) for p, q in DIVERGENCES}


@pytest.mark.parametrize(("p", "q"), PAIRS, ids=[f"{p} from {q}" for p, q in PAIRS])
def test_divergences(p: str, q: str) -> None:
    if (p, q) in WRONG:
        return
    a, b = (outcome(t.distributions.kl_divergence, build(t, p), build(t, q)) for t in FRAMEWORKS)
    assert_agree(b, a, "kl_divergence", 1e-4, 1e-5)
    compare_gradients(lambda t, both: t.distributions.kl_divergence(*both), f"({p}, {q})", 1e-3)


def point(source: str, shape: str) -> torch.Tensor:
    torch.manual_seed(0)
    if shape == "positive":
        return torch.rand(3) + 0.5
    value = torch.randn(eval(shape))
    return value.abs() if "Power" in source else value


@pytest.mark.parametrize(("source", "shape"), TRANSFORMS.items(), ids=list(TRANSFORMS))
def test_transforms(source: str, shape: str) -> None:
    theirs, ours = (build(t, source) for t in FRAMEWORKS)
    x = point(source, shape)
    y = theirs(x)
    assert_agree(ours(of(flambeau, x)), y, "call")
    assert_agree(ours.inv(of(flambeau, y)), theirs.inv(y), "inverse", 1e-4, 1e-5)
    a = outcome(theirs.log_abs_det_jacobian, x, y)
    b = outcome(ours.log_abs_det_jacobian, of(flambeau, x), of(flambeau, y))
    assert_agree(b, a, "log_abs_det_jacobian", 1e-4, 1e-5)
    for attribute in ("domain", "codomain", "bijective", "event_dim"):
        a, b = (outcome(getattr, f, attribute) for f in (theirs, ours))
        assert isinstance(b, type) or repr(a) == repr(b), attribute
    a, b = (outcome(getattr, f, "sign") for f in (theirs, ours))
    assert_agree(b, a, "sign")
    assert tuple(ours.forward_shape(x.shape)) == tuple(theirs.forward_shape(x.shape))
    assert tuple(ours.inverse_shape(y.shape)) == tuple(theirs.inverse_shape(y.shape))
    assert repr(ours) == repr(theirs)
    assert repr(ours.inv) == repr(theirs.inv)
    assert ours == build(flambeau, source) or theirs != build(torch, source)


CONSTRAINTS = {
    "c.boolean": "[[0.0, 1.0, 0.5]]",
    "c.real": "[0.0, float('inf'), float('nan')]",
    "c.real_vector": "[[0.0, 1.0], [float('nan'), 1.0]]",
    "c.positive": "[0.0, 1.0, -1.0, float('nan')]",
    "c.nonnegative": "[0.0, 1.0, -1.0]",
    "c.greater_than(0.1)": "[0.1, 0.2]",
    "c.greater_than_eq(t.tensor([1.0, 2.0]))": "[1.5, 1.5]",
    "c.less_than(0.5)": "[0.5, 0.25]",
    "c.interval(-1.0, 2.0)": "[-1.0, 2.0, 2.5]",
    "c.half_open_interval(-1.0, 2.0)": "[-1.0, 2.0, 1.5]",
    "c.unit_interval": "[0.0, 1.0, 1.5]",
    "c.integer_interval(0, 3)": "[0.0, 3.0, 4.0, 1.5]",
    "c.nonnegative_integer": "[0.0, 1.0, -1.0, 0.5]",
    "c.positive_integer": "[0.0, 1.0, 1.5]",
    "c.simplex": "[[0.25, 0.75], [0.5, 0.25], [-0.5, 1.5]]",
    "c.one_hot": "[[0.0, 1.0], [1.0, 1.0], [0.5, 0.5]]",
    "c.multinomial(3)": "[[1.0, 2.0], [2.0, 2.0], [0.5, 0.5]]",
    "c.lower_triangular": "[[[1.0, 0.0], [2.0, 3.0]], [[1.0, 1.0], [2.0, 3.0]]]",
    "c.lower_cholesky": "[[[1.0, 0.0], [2.0, 3.0]], [[1.0, 0.0], [2.0, -3.0]]]",
    "c.corr_cholesky": "[[[1.0, 0.0], [0.6, 0.8]], [[1.0, 0.0], [0.6, 0.6]]]",
    "c.square": "[[[1.0, 0.0]], [[2.0, 3.0]]]",
    "c.symmetric": "[[[1.0, 2.0], [2.0, 3.0]], [[1.0, 1.0], [2.0, 3.0]]]",
    "c.positive_semidefinite": "[[[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]]",
    "c.positive_definite": "[[[2.0, 1.0], [1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]]]",
    "c.independent(c.positive, 1)": "[[1.0, 2.0], [-1.0, 2.0]]",
    "c.cat([c.positive, c.real], dim=-1, lengths=[2, 1])": "[[1.0, -2.0, -1.0]]",
    "c.stack([c.positive, c.real], dim=-1)": "[[1.0, -2.0], [-1.0, 1.0]]",
}


@pytest.mark.parametrize(("source", "value"), CONSTRAINTS.items(), ids=list(CONSTRAINTS))
def test_constraints(source: str, value: str) -> None:
    theirs, ours = (eval(source, {"t": t, "c": t.distributions.constraints}) for t in FRAMEWORKS)
    a, b = (
        constraint.check(t.tensor(eval(value)))
        for t, constraint in zip(FRAMEWORKS, (theirs, ours), strict=True)
    )
    assert_agree(b, a, "check")
    assert ours._fb_holds(flambeau.tensor(eval(value))) == bool(a.all())
    assert (ours.event_dim, ours.is_discrete) == (theirs.event_dim, theirs.is_discrete)
    assert repr(ours) == repr(theirs)
    for registry in ("biject_to", "transform_to"):
        a = outcome(getattr(torch.distributions, registry), theirs)
        b = outcome(getattr(flambeau.distributions, registry), ours)
        assert repr(a) == repr(b)


REFUSED = (
    "d.Normal(t.zeros(2), t.tensor([1.0, -1.0]))",
    "d.Normal(float('nan'), 1.0)",
    "d.Normal('a', 1.0)",
    "d.Normal(0.0, 1.0).log_prob(t.tensor(float('nan')))",
    "d.Normal(0.0, 1.0).log_prob(1.0)",
    "d.Normal(t.zeros(3), 1.0).log_prob(t.zeros(2))",
    "d.Normal(t.zeros(3), 1.0).expand((2,))",
    "d.Categorical()",
    "d.Categorical(t.ones(2), t.ones(2))",
    "d.Categorical(t.tensor(1.0))",
    "d.Categorical(t.ones(3)).log_prob(t.tensor(3))",
    "d.Categorical(t.tensor([0.5, -0.5]))",
    "d.Categorical(t.ones(3)).rsample()",
    "d.Bernoulli(1.5)",
    "d.Bernoulli(0.5).log_prob(t.tensor(0.5))",
    "d.Uniform(1.0, 0.0)",
    "d.Uniform(0.0, 1.0).log_prob(t.tensor(2.0))",
    "d.Gamma(-1.0, 1.0)",
    "d.Beta(0.0, 1.0)",
    "d.Dirichlet(t.tensor(1.0))",
    "d.Dirichlet(t.ones(2)).log_prob(t.ones(2))",
    "d.Dirichlet(t.ones(2)).log_prob(t.ones(3))",
    "d.MultivariateNormal(t.zeros(2))",
    "d.MultivariateNormal(t.zeros(2), t.eye(2), t.eye(2))",
    "d.MultivariateNormal(t.tensor(0.0), t.eye(2))",
    "d.MultivariateNormal(t.zeros(2), t.ones(2))",
    "d.MultivariateNormal(t.zeros(2), -t.eye(2))",
    "d.LowRankMultivariateNormal(t.zeros(2), t.ones(3, 1), t.ones(2))",
    "d.LowRankMultivariateNormal(t.zeros(2), t.ones(2, 1), t.ones(3))",
    "d.Wishart(t.tensor(0.5), t.eye(2))",
    "d.Independent(d.Normal(0.0, 1.0), 1)",
    "d.Independent(d.Bernoulli(t.ones(2) / 2), 1).enumerate_support()",
    "d.Geometric(t.tensor([0.0, 0.5]))",
    "d.ContinuousBernoulli(1.5, validate_args=True)",
    "d.LKJCholesky(1)",
    "d.Multinomial(t.tensor(3), t.ones(2))",
    "d.Binomial(t.tensor([3.0, 4.0]), t.tensor(0.5)).enumerate_support()",
    "d.Binomial(-1, t.tensor(0.5))",
    "d.MixtureSameFamily(d.Normal(0.0, 1.0), d.Normal(t.zeros(2), 1.0))",
    "d.MixtureSameFamily(d.Categorical(t.ones(2)), 3)",
    "d.MixtureSameFamily(d.Categorical(t.ones(2)), d.Normal(t.zeros(3), 1.0))",
    "d.MixtureSameFamily(d.Categorical(t.ones(4, 2)), d.Normal(t.zeros(3, 2), 1.0))",
    "d.TransformedDistribution(d.Normal(0.0, 1.0), 3)",
    "d.TransformedDistribution(d.Normal(0.0, 1.0), [3])",
    "d.TransformedDistribution(d.Normal(0.0, 1.0), d.StickBreakingTransform())",
    "d.ExpTransform(cache_size=2)",
    "d.ReshapeTransform((2,), (3,))",
    "d.ReshapeTransform((2, 3), (6,)).forward_shape((4, 3, 2))",
    "d.CorrCholeskyTransform().forward_shape((4,))",
    "d.CorrCholeskyTransform().inverse_shape((3, 2))",
    "d.IndependentTransform(d.ExpTransform(), 2)(t.ones(2))",
    "d.CatTransform([d.ExpTransform()], lengths=[2])(t.ones(3))",
    "d.StackTransform([d.ExpTransform(), d.ExpTransform()])(t.ones(3))",
    "d.AbsTransform().log_abs_det_jacobian(t.ones(1), t.ones(1))",
    "d.kl_divergence(d.Normal(0.0, 1.0), d.Bernoulli(0.5))",
    "d.kl_divergence(d.Normal(0.0, 1.0), d.VonMises(t.tensor(0.0), t.tensor(1.0)))",
    "d.kl_divergence(d.LogNormal(0.0, 1.0), d.HalfNormal(1.0))",
    "d.kl_divergence(*(d.MultivariateNormal(t.zeros(n), t.eye(n)) for n in (2, 3)))",
    "d.register_kl(3, 4)",
    "d.biject_to(3)",
    "d.biject_to(d.constraints.dependent)",
    "d.biject_to.register(3, 4)",
    "d.constraints.dependent.check(t.ones(2))",
    "d.constraints.dependent.event_dim",
    "d.Distribution.set_default_validate_args(3)",
    "d.utils.broadcast_all(1, None)",
    "d.utils.vec_to_tril_matrix(t.ones(5))",
    "d.utils.tril_matrix_to_vec(t.ones(3, 3), 4)",
)


@pytest.mark.parametrize("source", REFUSED)
def test_errors(source: str) -> None:
    a, b = (outcome(build, t, source) for t in FRAMEWORKS)
    assert isinstance(a, type), "torch accepts it"
    assert b is a


UTILITIES = (
    "d.utils.probs_to_logits(t.tensor([0.0, 0.25, 1.0]), is_binary=True)",
    "d.utils.probs_to_logits(t.tensor([0.0, 0.25, 0.75]))",
    "d.utils.logits_to_probs(t.tensor([0.0, 0.25, 1.0]), is_binary=True)",
    "d.utils.logits_to_probs(t.tensor([0.0, 0.25, 1.0]))",
    "d.utils.clamp_probs(t.tensor([0.0, 0.25, 1.0]))",
    "d.utils.broadcast_all(t.zeros(2, 1), t.ones(3), 2)[2]",
    "d.utils.broadcast_all(1, 2.5)[0]",
    "d.utils.broadcast_all(1, t.zeros(2, dtype=t.float64))[0]",
    *(f"d.utils.tril_matrix_to_vec(t.arange(9.0).reshape(3, 3), {k})" for k in (-2, -1, 0, 1, 2)),
    *(f"d.utils.vec_to_tril_matrix(t.arange(6.0), {k})" for k in (-1, 0)),
    "d.utils.vec_to_tril_matrix(t.arange(16.0).reshape(2, 8), 1)",
)


@pytest.mark.parametrize("source", UTILITIES)
def test_utilities(source: str) -> None:
    assert_agree(build(flambeau, source), build(torch, source), source)


def test_public_names() -> None:
    assert set(flambeau.distributions.__all__) == set(torch.distributions.__all__)
    for module in ("constraints", "transforms", "utils", "kl", "constraint_registry"):
        theirs, ours = (getattr(t.distributions, module) for t in FRAMEWORKS)
        assert set(ours.__all__) == set(theirs.__all__)
