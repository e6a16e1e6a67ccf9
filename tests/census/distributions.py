"""Examples of distributions (operands: see ``tests/census/__init__.py``)."""

from __future__ import annotations

_D = "t.distributions"
_C = f"{_D}.constraints"
_NORMAL = f"{_D}.Normal(loc=x, scale=u)"


def of(made: str, *reads: str) -> list[str]:
    """Several things that are read from what one expression makes."""
    return [f"{made}.{read}" for read in reads]


def scored(made: str) -> list[str]:
    """A distribution: a sample, and its density."""
    return [f"(lambda p: (lambda a: (a, p.log_prob(a)))(p.sample((2,))))({_D}.{made})"]


def transformed(made: str, operand: str) -> list[str]:
    """A transform: its value, its inverse, and the change of volume."""
    steps = "f(a), f.inv(f(a)), f.log_abs_det_jacobian(a, f(a))"
    return [f"(lambda f, a: ({steps}))({_D}.{made}, {operand})"]


def checked(name: str, *operands: str) -> list[str]:
    """A constraint on some values."""
    return [f"{_C}.{name}.check({operand})" for operand in operands]


_BINOMIAL = f"{_D}.Binomial(3, u)"
_MULTIVARIATE = f"{_D}.MultivariateNormal(v[:3], s)"
_OWN = (
    f"(lambda C: (C().mean, C().event_shape))(type('C', ({_D}.Distribution,), "
    "{'arg_constraints': {}, 'mean': 3.0}))"
)

DISTRIBUTIONS: dict[str, list[str]] = {
    # what all of them have
    "Distribution": [_OWN, f"isinstance({_NORMAL}, {_D}.Distribution)"],
    "Distribution.sample": [
        f"{_NORMAL}.sample()",
        f"{_NORMAL}.sample(sample_shape=(4,))",
        f"{_NORMAL}.sample(t.Size([2, 3]))",
    ],
    "Distribution.rsample": [f"{_NORMAL}.rsample()", f"{_NORMAL}.rsample(sample_shape=(4,))"],
    "Distribution.sample_n": [f"{_NORMAL}.sample_n(3)"],
    "Distribution.log_prob": [f"{_NORMAL}.log_prob(y)", f"{_NORMAL}.log_prob(value=y)"],
    "Distribution.cdf": [f"{_NORMAL}.cdf(y)"],
    "Distribution.icdf": [f"{_NORMAL}.icdf(u)"],
    "Distribution.entropy": [f"{_NORMAL}.entropy()"],
    "Distribution.expand": [f"{_NORMAL}.expand((4, 2, 3)).loc", f"{_NORMAL}.expand([2, 3]).scale"],
    "Distribution.mean": [f"{_NORMAL}.mean"],
    "Distribution.variance": [f"{_NORMAL}.variance"],
    "Distribution.batch_shape": [f"tuple({_NORMAL}.batch_shape)"],
    "Distribution.event_shape": [f"tuple({_MULTIVARIATE}.event_shape)"],
    "Distribution.has_rsample": [f"{_NORMAL}.has_rsample", f"{_BINOMIAL}.has_rsample"],
    "Distribution.set_default_validate_args": [
        f"{_D}.Distribution.set_default_validate_args(True)"
    ],
    # distributions
    "Bernoulli": [*scored("Bernoulli(probs=u)"), *scored("Bernoulli(logits=x)")],
    "Bernoulli.probs": [f"{_D}.Bernoulli(logits=x).probs"],
    "Beta": scored("Beta(u, 2.0, validate_args=True)"),
    "Beta.concentration0": [f"{_D}.Beta(u, 2.0).concentration0"],
    "Beta.concentration1": [f"{_D}.Beta(u, 2.0).concentration1"],
    "Binomial": [*scored("Binomial(3, u)"), *scored("Binomial(3, logits=x, validate_args=False)")],
    **{f"Binomial.{name}": of(_BINOMIAL, name) for name in ("total_count", "logits", "probs")},
    "Categorical": [
        *scored("Categorical(probs=u)"),
        *scored("Categorical(logits=x)"),
        *scored("Categorical(u)"),
    ],
    "Categorical.probs": [f"{_D}.Categorical(logits=x).probs"],
    "Categorical.logits": [f"{_D}.Categorical(u).logits"],
    "Dirichlet": scored("Dirichlet(u)"),
    "Dirichlet.concentration": [f"{_D}.Dirichlet(u).concentration"],
    "Gamma": scored("Gamma(u, 2.0)"),
    "Gamma.concentration": [f"{_D}.Gamma(u, 2.0).concentration"],
    "Gamma.rate": [f"{_D}.Gamma(u, 2.0).rate"],
    "Geometric": scored("Geometric(u)"),
    "Geometric.logits": [f"{_D}.Geometric(u).logits"],
    "Gumbel": scored("Gumbel(x, u)"),
    "HalfCauchy": scored("HalfCauchy(u)"),
    "HalfCauchy.scale": [f"{_D}.HalfCauchy(u).scale"],
    "HalfNormal": scored("HalfNormal(u)"),
    "HalfNormal.scale": [f"{_D}.HalfNormal(u).scale"],
    "Independent": scored("Independent(t.distributions.Normal(x, u), 1)"),
    "Independent.base_dist": [f"{_D}.Independent({_NORMAL}, 1).base_dist.loc"],
    "LKJCholesky": scored("LKJCholesky(3, 0.5)"),
    "LKJCholesky.concentration": [f"{_D}.LKJCholesky(3, 0.5).concentration"],
    "LKJCholesky.dim": [f"{_D}.LKJCholesky(3, 0.5).dim"],
    "Laplace": scored("Laplace(x, u)"),
    "LogNormal": scored("LogNormal(x, u)"),
    "LogNormal.loc": [f"{_D}.LogNormal(x, u).loc"],
    "LogNormal.scale": [f"{_D}.LogNormal(x, u).scale"],
    "LogisticNormal": scored("LogisticNormal(x, u)"),
    "LowRankMultivariateNormal": scored("LowRankMultivariateNormal(v[:3], s[:, :1], u[0])"),
    "Multinomial": scored("Multinomial(5, u)"),
    "MultivariateNormal": [
        *scored("MultivariateNormal(loc=v[:3], covariance_matrix=s)"),
        *scored("MultivariateNormal(v[:3], precision_matrix=s)"),
        *scored("MultivariateNormal(v[:3], scale_tril=t.linalg.cholesky(s))"),
    ],
    "MultivariateNormal.loc": [f"{_MULTIVARIATE}.loc"],
    "MultivariateNormal.scale_tril": [f"{_MULTIVARIATE}.scale_tril"],
    "NegativeBinomial": scored("NegativeBinomial(3.0, u)"),
    "Normal": [*scored("Normal(loc=x, scale=u)"), *scored("Normal(0.0, 1.0)")],
    "Normal.loc": [f"{_NORMAL}.loc"],
    "Normal.scale": [f"{_NORMAL}.scale"],
    "OneHotCategorical": scored("OneHotCategorical(logits=x)"),
    "Poisson": scored("Poisson(rate=u)"),
    "Poisson.rate": [f"{_D}.Poisson(rate=u).rate"],
    "RelaxedBernoulli": scored("RelaxedBernoulli(temperature=t.tensor(0.5), logits=x)"),
    "RelaxedOneHotCategorical": scored("RelaxedOneHotCategorical(t.tensor(0.5), logits=x)"),
    "StudentT": scored("StudentT(u + 2)"),
    "TransformedDistribution": scored(
        "TransformedDistribution(t.distributions.Normal(x, u), [t.distributions.TanhTransform()])"
    ),
    "TransformedDistribution.base_dist": [
        f"{_D}.TransformedDistribution({_NORMAL}, []).base_dist.loc"
    ],
    "Uniform": scored("Uniform(low=x - 1, high=x + 1, validate_args=True)"),
    "Uniform.low": [f"{_D}.Uniform(0.0, u).low"],
    "Uniform.high": [f"{_D}.Uniform(0.0, u).high"],
    "VonMises": scored("VonMises(x, u)"),
    # divergences
    "kl_divergence": [f"{_D}.kl_divergence({_NORMAL}, {_D}.Normal(y, 2.0))"],
    "register_kl": [
        (
            f"(lambda C: ({_D}.register_kl(C, C)(lambda p, q: 7), "
            f"{_D}.kl_divergence(C(0.0, 1.0), C(0.0, 1.0)))[1])(type('C', ({_D}.Normal,), {{}}))"
        )
    ],
    # transforms
    "AbsTransform": [f"{_D}.AbsTransform()(x)"],
    "AffineTransform": transformed("AffineTransform(loc=1.0, scale=u, event_dim=1)", "x"),
    "ComposeTransform": transformed(
        "ComposeTransform([t.distributions.ExpTransform(), t.distributions.TanhTransform()])", "x"
    ),
    "ComposeTransform.parts": [f"len({_D}.ComposeTransform([{_D}.ExpTransform()]).parts)"],
    "CorrCholeskyTransform": transformed("CorrCholeskyTransform()", "x"),
    "ExpTransform": transformed("ExpTransform()", "x"),
    "LowerCholeskyTransform": [f"{_D}.LowerCholeskyTransform()(s)"],
    "PowerTransform": transformed("PowerTransform(t.tensor(2.0))", "u"),
    "SigmoidTransform": transformed("SigmoidTransform()", "x"),
    "StickBreakingTransform": transformed("StickBreakingTransform()", "x"),
    "TanhTransform": transformed("TanhTransform(cache_size=1)", "x"),
    "Transform": [f"isinstance({_D}.ExpTransform(), {_D}.Transform)"],
    "Transform.event_dim": [f"{_D}.AffineTransform(0.0, 1.0, event_dim=1).event_dim"],
    "Transform.inv": [f"{_D}.ExpTransform().inv(u)"],
    "biject_to": [f"{_D}.biject_to({_C}.simplex)(x)", f"{_D}.biject_to({_C}.positive)(x)"],
    "transform_to": [f"{_D}.transform_to({_C}.simplex)(x)", f"{_D}.transform_to({_C}.real)(x)"],
    # constraints
    "constraints.Constraint": [f"isinstance({_C}.real, {_C}.Constraint)"],
    "constraints.corr_cholesky": checked("corr_cholesky", "s", "t.eye(3)"),
    "constraints.dependent_property": [
        f"repr({_C}.dependent_property(is_discrete=False, event_dim=0)(lambda self: 3))"
    ],
    "constraints.greater_than": checked("greater_than(0.5)", "x"),
    "constraints.greater_than_eq": checked("greater_than_eq(0.5)", "x"),
    "constraints.half_open_interval": checked("half_open_interval(0.25, 0.5)", "u"),
    "constraints.independent": checked("independent(t.distributions.constraints.positive, 1)", "x"),
    "constraints.interval": checked("interval(0.25, 0.5)", "u"),
    "constraints.less_than": checked("less_than(0.5)", "x"),
    "constraints.lower_cholesky": checked("lower_cholesky", "s", "t.linalg.cholesky(s)"),
    "constraints.lower_triangular": checked("lower_triangular", "s", "s.tril()"),
    "constraints.nonnegative_integer": checked("nonnegative_integer", "n", "x"),
    "constraints.positive": checked("positive", "x", "w"),
    "constraints.positive_definite": checked("positive_definite", "s", "-s"),
    "constraints.real": checked("real", "x", "w"),
    "constraints.real_vector": checked("real_vector", "x", "w"),
    "constraints.simplex": checked("simplex", "x", "x.softmax(-1)"),
    "constraints.unit_interval": checked("unit_interval", "x", "u"),
    # utilities
    "utils.broadcast_all": [f"{_D}.utils.broadcast_all(x, 2, v[:3])"],
    "utils.clamp_probs": [f"{_D}.utils.clamp_probs(t.tensor([0.0, 0.5, 1.0]))"],
    "utils.lazy_property": [
        f"type('C', (), {{'a': {_D}.utils.lazy_property(lambda self: 7)}}).__dict__['a'].wrapped(0)"
    ],
    "utils.logits_to_probs": [
        f"{_D}.utils.logits_to_probs(x)",
        f"{_D}.utils.logits_to_probs(x, is_binary=True)",
    ],
    "utils.probs_to_logits": [
        f"{_D}.utils.probs_to_logits(u)",
        f"{_D}.utils.probs_to_logits(u, is_binary=True)",
    ],
}
