"""Distributions at the edges of their parameters, and the points that are tried there.

An expression uses ``t``, the framework, ``d``, its distributions, and ``inf``.
"""

from __future__ import annotations

import math

EDGES: dict[str, list[str]] = {
    "Bernoulli": [
        "d.Bernoulli(logits=t.tensor([inf, -inf, 100.0, -100.0, 0.0]))",
        "d.Bernoulli(t.tensor([0.0, 1.0, 1e-30, 1.0 - 6e-8]))",
        "d.Bernoulli(t.tensor([0.0, 1.0, 1e-300], dtype=t.float64))",
        "d.Bernoulli(t.tensor([]))",
    ],
    "Beta": [
        "d.Beta(t.tensor([1e-3, 1.0, 1e4, 1.0]), t.tensor([1e-3, 1.0, 1e4, 1e-3]))",
        "d.Beta(t.tensor([1.0, 300.0], dtype=t.float64), 1.0)",
    ],
    "Binomial": [
        "d.Binomial(t.tensor([0.0, 1.0, 10.0, 10.0]), t.tensor([0.5, 0.5, 0.0, 1.0]))",
        "d.Binomial(10, logits=t.tensor([inf, -inf, 60.0]))",
        "d.Binomial(0, t.tensor(0.5))",
    ],
    "Categorical": [
        "d.Categorical(t.tensor([0.0, 1.0, 0.0]))",
        "d.Categorical(logits=t.tensor([-inf, 0.0, 1e4]))",
        "d.Categorical(t.tensor([[1.0]]))",
        "d.Categorical(t.tensor([1e-30, 1e30]))",
    ],
    "Cauchy": ["d.Cauchy(t.tensor([0.0, 1e30]), t.tensor([1e-30, 1e30]))"],
    "Chi2": ["d.Chi2(t.tensor([1e-3, 1e4, 2.0]))"],
    "ContinuousBernoulli": [
        "d.ContinuousBernoulli(logits=t.tensor([inf, -inf, 100.0, -100.0, 0.0]))",
        "d.ContinuousBernoulli(logits=t.tensor([inf, -inf, 700.0, 1e-9], dtype=t.float64))",
        "d.ContinuousBernoulli(t.tensor([0.0, 1.0, 0.499, 0.501]))",
        "d.ContinuousBernoulli(t.tensor([0.0, 1.0, 0.4989, 0.5011], dtype=t.float64))",
        "d.ContinuousBernoulli(t.tensor(0.3), lims=(0.2, 0.8))",
    ],
    "Dirichlet": [
        "d.Dirichlet(t.tensor([1.0, 1.0]))",
        "d.Dirichlet(t.tensor([1e-2, 1e3, 1.0]))",
        "d.Dirichlet(t.tensor([2.0]))",
    ],
    "Exponential": ["d.Exponential(t.tensor([1e-30, 1e30, 1.0]))"],
    "FisherSnedecor": ["d.FisherSnedecor(t.tensor([2.0, 100.0, 1.0]), t.tensor([2.0, 4.0, 5.0]))"],
    "Gamma": [
        "d.Gamma(t.tensor([1.0, 1e-3, 1e5]), t.tensor([1.0, 1e-3, 1e5]))",
        "d.Gamma(t.tensor([1.0, 50.0], dtype=t.float64), 1.0)",
    ],
    "GeneralizedPareto": [
        "d.GeneralizedPareto(0.0, 1.0, t.tensor([0.0, 0.5, 1.0, -1.0, -2.0]))",
    ],
    "Geometric": [
        "d.Geometric(t.tensor([1.0, 1e-7]))",
        "d.Geometric(logits=t.tensor([30.0, -30.0]))",
    ],
    "Gumbel": ["d.Gumbel(t.tensor([0.0, 1e4]), t.tensor([1e-10, 1e10]))"],
    "HalfCauchy": ["d.HalfCauchy(t.tensor([1e-20, 1e20]))"],
    "HalfNormal": ["d.HalfNormal(t.tensor([1e-20, 1e18]))"],
    "InverseGamma": ["d.InverseGamma(t.tensor([1.0, 2.0, 1e3]), t.tensor([1.0, 1e-3, 1e3]))"],
    "Kumaraswamy": ["d.Kumaraswamy(t.tensor([1.0, 10.0]), t.tensor([1.0, 10.0]))"],
    "Laplace": ["d.Laplace(t.tensor([0.0, 1e4]), t.tensor([1e-10, 1e10]))"],
    "LKJCholesky": ["d.LKJCholesky(3, t.tensor([1.0, 100.0]))"],
    "LogNormal": ["d.LogNormal(t.tensor([0.0, 50.0]), t.tensor([1e-5, 5.0]))"],
    "LogisticNormal": ["d.LogisticNormal(t.tensor([20.0, -20.0]), t.tensor([1e-3, 1.0]))"],
    "LowRankMultivariateNormal": [
        "d.LowRankMultivariateNormal(t.zeros(1), t.zeros(1, 1), t.ones(1))",
        "d.LowRankMultivariateNormal(t.zeros(3), t.zeros(3, 1), t.tensor([1e-6, 1.0, 1e6]))",
    ],
    "MixtureSameFamily": [
        "d.MixtureSameFamily(d.Categorical(t.tensor([0.0, 1.0])), d.Normal(t.zeros(2), 1.0))",
        "d.MixtureSameFamily(d.Categorical(t.ones(1)), d.Normal(t.zeros(1), 1e-6))",
    ],
    "Multinomial": [
        "d.Multinomial(0, t.tensor([0.5, 0.5]))",
        "d.Multinomial(5, t.tensor([0.0, 1.0]))",
        "d.Multinomial(5, logits=t.tensor([-inf, 0.0, 0.0]))",
    ],
    "MultivariateNormal": [
        "d.MultivariateNormal(t.zeros(1), t.eye(1))",
        "d.MultivariateNormal(t.zeros(2), scale_tril=t.tensor([[1e-6, 0.0], [1.0, 1e6]]))",
    ],
    "NegativeBinomial": [
        "d.NegativeBinomial(t.tensor([0.0, 1.0]), t.tensor([0.5, 0.0]))",
        "d.NegativeBinomial(t.tensor([1e-3, 1e3]), logits=t.tensor([-20.0, 3.0]))",
    ],
    "Normal": [
        "d.Normal(t.tensor([0.0, 1e30]), t.tensor([1e-30, 1e30]))",
        "d.Normal(t.tensor([]), t.tensor([]))",
        "d.Normal(t.tensor(0.0, dtype=t.float64), 1e-200)",
    ],
    "OneHotCategorical": [
        "d.OneHotCategorical(t.tensor([0.0, 1.0]))",
        "d.OneHotCategorical(logits=t.tensor([-inf, 0.0]))",
    ],
    "OneHotCategoricalStraightThrough": [
        "d.OneHotCategoricalStraightThrough(t.tensor([0.0, 1.0]))"
    ],
    "Pareto": ["d.Pareto(t.tensor([1.0, 1e10]), t.tensor([1.0, 2.0]))"],
    "Poisson": ["d.Poisson(t.tensor([0.0, 1e-8, 1e5]))"],
    "RelaxedBernoulli": [
        "d.RelaxedBernoulli(t.tensor(1e-2), t.tensor([0.0, 1.0, 0.5]))",
        "d.RelaxedBernoulli(t.tensor(1e2), logits=t.tensor([50.0, -50.0]))",
    ],
    "RelaxedOneHotCategorical": [
        "d.RelaxedOneHotCategorical(t.tensor(1.0), t.tensor([0.0, 1.0]))",
        "d.RelaxedOneHotCategorical(t.tensor(1e2), logits=t.tensor([5.0, -5.0]))",
    ],
    "StudentT": ["d.StudentT(t.tensor([1.0, 2.0, 0.1, 1e6]))", "d.StudentT(2.5, 1e6, 1e-6)"],
    "TransformedDistribution": [
        "d.TransformedDistribution(d.Normal(t.zeros(2), 1.0), [])",
        "d.TransformedDistribution(d.Uniform(0.0, 1.0), d.SigmoidTransform().inv)",
    ],
    "Uniform": [
        "d.Uniform(t.tensor([-1e30, 0.0]), t.tensor([1e30, 1e-30]))",
        "d.Uniform(t.tensor([0.0], dtype=t.float64), 1.0)",
    ],
    "VonMises": ["d.VonMises(t.tensor([0.0, 3.0]), t.tensor([1e-3, 1e3]))"],
    "Weibull": ["d.Weibull(t.tensor([1e-3, 1e3]), t.tensor([1.0, 0.5]))"],
    "Wishart": ["d.Wishart(t.tensor(2.0), t.eye(2))", "d.Wishart(t.tensor(1.5), t.eye(1))"],
}

# Where a density and a distribution function are asked for besides samples; without checks, as some
# lie outside.
POINTS = [0.0, 1.0, 0.5, -1.0, 1e-30, 1e30, math.inf, -math.inf, math.nan]
SHARES = [0.0, 1.0, 0.5, 1e-7]
