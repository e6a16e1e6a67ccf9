"""Distributions over a grid of parameters and shapes, as programs would write them.

An expression uses ``t``, the framework, and ``d``, its distributions. What a framework makes of it
is compared with SciPy here and with PyTorch in ``tests/conformance``.
"""

from __future__ import annotations

from typing import Any

# The first of each is a batch of at least two, for tests that need one of each kind.
CASES: dict[str, list[str]] = {
    "Bernoulli": [
        "d.Bernoulli(t.tensor([0.2, 0.5, 0.9]))",
        "d.Bernoulli(logits=t.tensor([[0.3], [-2.0]]))",
        "d.Bernoulli(0.3)",
        "d.Bernoulli(t.tensor([0.0, 1.0]))",
    ],
    "Beta": [
        "d.Beta(t.tensor([0.5, 2.0, 7.0]), t.tensor([0.7, 3.0, 1.5]))",
        "d.Beta(2.0, 3.0)",
        "d.Beta(t.tensor([[0.5], [0.25]]), t.tensor([0.75, 4.0]))",
    ],
    "Binomial": [
        "d.Binomial(t.tensor([5.0, 40.0]), t.tensor([0.25, 0.7]))",
        "d.Binomial(7, t.tensor([0.1, 0.5, 0.95]))",
        "d.Binomial(3, logits=t.tensor([[0.5], [-1.0]]))",
    ],
    "Categorical": [
        "d.Categorical(t.tensor([[0.2, 0.3, 0.5], [3.0, 0.5, 0.5]]))",
        "d.Categorical(logits=t.tensor([0.3, -2.0, 1.0, 0.0]))",
        "d.Categorical(logits=t.tensor([[[0.3, -2.0]], [[1.0, 0.0]]]))",
    ],
    "Cauchy": ["d.Cauchy(t.tensor([0.0, -2.0]), t.tensor([1.0, 0.25]))", "d.Cauchy(1.0, 2.0)"],
    "Chi2": ["d.Chi2(t.tensor([0.5, 3.0, 20.0]))", "d.Chi2(4.0)"],
    "ContinuousBernoulli": [
        "d.ContinuousBernoulli(t.tensor([0.2, 0.5, 0.9, 0.5005]))",
        "d.ContinuousBernoulli(logits=t.tensor([[0.3], [-2.0]]))",
    ],
    "Dirichlet": [
        "d.Dirichlet(t.tensor([[0.5, 2.0, 1.5], [4.0, 4.0, 0.25]]))",
        "d.Dirichlet(t.tensor([0.5, 0.25]))",
    ],
    "Exponential": ["d.Exponential(t.tensor([0.5, 4.0]))", "d.Exponential(2.0)"],
    "FisherSnedecor": [
        "d.FisherSnedecor(t.tensor([1.5, 5.0, 12.0]), t.tensor([3.0, 6.0, 9.0]))",
        "d.FisherSnedecor(3.0, 1.5)",
    ],
    "Gamma": [
        "d.Gamma(t.tensor([0.5, 2.0, 30.0]), t.tensor([1.0, 0.5, 4.0]))",
        "d.Gamma(0.25, 2.0)",
    ],
    "GeneralizedPareto": [
        (
            "d.GeneralizedPareto(t.tensor([0.0, 1.0, -1.0]), t.tensor([1.0, 2.0, 0.5]),"
            " t.tensor([0.25, 0.0, -0.5]))"
        ),
        "d.GeneralizedPareto(0.0, 1.0, t.tensor([0.75, 1.5]))",
    ],
    "Geometric": [
        "d.Geometric(t.tensor([0.2, 0.7]))",
        "d.Geometric(logits=t.tensor([0.3, -2.0]))",
        "d.Geometric(t.tensor(1.0))",
    ],
    "Gumbel": ["d.Gumbel(t.tensor([0.0, -2.0]), t.tensor([1.0, 0.5]))", "d.Gumbel(1.0, 2.0)"],
    "HalfCauchy": ["d.HalfCauchy(t.tensor([1.0, 0.5]))", "d.HalfCauchy(2.0)"],
    "HalfNormal": ["d.HalfNormal(t.tensor([1.0, 0.5]))", "d.HalfNormal(2.0)"],
    "Independent": [
        "d.Independent(d.Normal(t.zeros(2, 3), t.tensor([1.0, 2.0, 3.0])), 1)",
        "d.Independent(d.Bernoulli(t.tensor([[0.2, 0.3], [0.4, 0.5]])), 2)",
        "d.Independent(d.Categorical(t.tensor([0.2, 0.8])), 0)",
    ],
    "InverseGamma": [
        "d.InverseGamma(t.tensor([0.5, 1.5, 4.0]), t.tensor([1.0, 0.5, 2.0]))",
        "d.InverseGamma(3.0, 2.0)",
    ],
    "Kumaraswamy": [
        "d.Kumaraswamy(t.tensor([0.5, 2.0, 3.0]), t.tensor([0.75, 1.5, 4.0]))",
        "d.Kumaraswamy(2.0, 3.0)",
    ],
    "LKJCholesky": [
        "d.LKJCholesky(3, t.tensor([0.5, 2.0]))",
        "d.LKJCholesky(2)",
        "d.LKJCholesky(5, 1.5)",
    ],
    "Laplace": ["d.Laplace(t.tensor([0.0, -2.0]), t.tensor([1.0, 0.5]))", "d.Laplace(1.0, 2.0)"],
    "LogNormal": [
        "d.LogNormal(t.tensor([0.0, -1.0]), t.tensor([1.0, 0.25]))",
        "d.LogNormal(1.0, 0.5)",
    ],
    "LogisticNormal": [
        "d.LogisticNormal(t.tensor([[0.0, 1.0], [-1.0, 0.5]]), t.tensor([1.0, 0.5]))",
        "d.LogisticNormal(t.tensor([0.0, 1.0, 2.0]), 0.5)",
    ],
    "LowRankMultivariateNormal": [
        (
            "d.LowRankMultivariateNormal(t.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, -1.0]]),"
            " t.tensor([[1.0], [0.5], [-2.0]]), t.tensor([1.0, 0.5, 2.0]))"
        ),
        "d.LowRankMultivariateNormal(t.zeros(2), t.tensor([[1.0, 0.5], [0.25, 2.0]]), t.ones(2))",
    ],
    "MixtureSameFamily": [
        (
            "d.MixtureSameFamily(d.Categorical(t.tensor([[0.2, 0.8], [0.5, 0.5]])),"
            " d.Normal(t.tensor([[0.0, 3.0], [-1.0, 1.0]]), t.tensor([1.0, 0.5])))"
        ),
        (
            "d.MixtureSameFamily(d.Categorical(t.tensor([0.25, 0.25, 0.5])), d.Independent("
            "d.Normal(t.tensor([[0.0, 1.0], [2.0, 3.0], [-2.0, 0.5]]), 0.5), 1))"
        ),
        "d.MixtureSameFamily(d.Categorical(logits=t.zeros(2)), d.Poisson(t.tensor([1.0, 8.0])))",
    ],
    "Multinomial": [
        "d.Multinomial(6, t.tensor([[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]]))",
        "d.Multinomial(10, logits=t.tensor([0.5, -1.0, 0.0]))",
    ],
    "MultivariateNormal": [
        (
            "d.MultivariateNormal(t.tensor([[0.0, 1.0], [2.0, -1.0]]),"
            " t.tensor([[2.0, 0.5], [0.5, 1.0]]))"
        ),
        "d.MultivariateNormal(t.zeros(2), precision_matrix=t.tensor([[2.0, 0.5], [0.5, 1.0]]))",
        (
            "d.MultivariateNormal(t.zeros(2), scale_tril=t.tensor([[[2.0, 0.0], [0.5, 1.0]],"
            " [[1.0, 0.0], [-0.5, 3.0]]]))"
        ),
    ],
    "NegativeBinomial": [
        "d.NegativeBinomial(t.tensor([2.0, 10.0]), t.tensor([0.25, 0.6]))",
        "d.NegativeBinomial(3.5, logits=t.tensor([0.5, -1.0]))",
    ],
    "Normal": [
        "d.Normal(t.tensor([0.0, 1.0, -2.0]), t.tensor([1.0, 0.25, 3.0]))",
        "d.Normal(0.5, 2.0)",
        "d.Normal(t.tensor([[0.0], [1.0]]), t.tensor([1.0, 2.0, 0.5]))",
        "d.Normal(t.zeros(2, dtype=t.float64), 1.5)",
    ],
    "OneHotCategorical": [
        "d.OneHotCategorical(t.tensor([[0.2, 0.3, 0.5], [3.0, 0.5, 0.5]]))",
        "d.OneHotCategorical(logits=t.tensor([0.3, -2.0]))",
    ],
    "OneHotCategoricalStraightThrough": [
        "d.OneHotCategoricalStraightThrough(t.tensor([[0.2, 0.3, 0.5], [3.0, 0.5, 0.5]]))"
    ],
    "Pareto": [
        "d.Pareto(t.tensor([1.0, 0.5]), t.tensor([3.0, 5.0]))",
        "d.Pareto(1.0, t.tensor([0.5, 1.5]))",
    ],
    "Poisson": ["d.Poisson(t.tensor([0.5, 4.0, 30.0]))", "d.Poisson(0.0)"],
    "RelaxedBernoulli": [
        "d.RelaxedBernoulli(t.tensor(0.5), t.tensor([0.2, 0.7]))",
        "d.RelaxedBernoulli(t.tensor([2.0]), logits=t.tensor([0.5, -1.0]))",
    ],
    "RelaxedOneHotCategorical": [
        "d.RelaxedOneHotCategorical(t.tensor(0.5), t.tensor([[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]]))",
        "d.RelaxedOneHotCategorical(t.tensor(2.0), logits=t.tensor([0.5, -1.0]))",
    ],
    "StudentT": [
        "d.StudentT(t.tensor([0.5, 1.5, 3.0, 30.0]), 1.0, t.tensor([1.0, 2.0, 0.5, 1.0]))",
        "d.StudentT(4.0)",
    ],
    "TransformedDistribution": [
        (
            "d.TransformedDistribution(d.Normal(t.tensor([0.0, 1.0]), 1.0),"
            " [d.AffineTransform(1.0, -2.0), d.SigmoidTransform()])"
        ),
        "d.TransformedDistribution(d.Normal(0.0, 1.0), d.AffineTransform(0.0, t.ones(3)))",
        "d.TransformedDistribution(d.Uniform(t.zeros(2), 1.0), [])",
    ],
    "Uniform": [
        "d.Uniform(t.tensor([0.0, -1.0]), t.tensor([1.0, 4.0]))",
        "d.Uniform(1.0, 3.0)",
    ],
    "VonMises": [
        "d.VonMises(t.tensor([0.0, 2.0, -1.0]), t.tensor([0.5, 4.0, 50.0]))",
        "d.VonMises(t.tensor(1.0), t.tensor(1e-6))",
    ],
    "Weibull": [
        "d.Weibull(t.tensor([1.0, 0.5]), t.tensor([1.5, 3.0]))",
        "d.Weibull(2.0, 0.75)",
    ],
    "Wishart": [
        "d.Wishart(t.tensor([3.0, 6.0]), t.tensor([[2.0, 0.5], [0.5, 1.0]]))",
        "d.Wishart(4.5, scale_tril=t.tensor([[2.0, 0.0], [0.5, 1.0]]))",
        "d.Wishart(t.tensor(5.0), precision_matrix=t.tensor([[2.0, 0.5], [0.5, 1.0]]))",
    ],
}
ALL = [(name, source) for name, sources in CASES.items() for source in sources]
IDS = [source for _, source in ALL]

TRANSFORMS: dict[str, str] = {
    "d.ExpTransform()": "(3,)",
    "d.PowerTransform(t.tensor([2.0, -0.5, 3.0]))": "(3,)",
    "d.SigmoidTransform()": "(3,)",
    "d.SoftplusTransform()": "(3,)",
    "d.TanhTransform()": "(3,)",
    "d.AffineTransform(1.0, t.tensor([2.0, -0.5, 3.0]))": "(3,)",
    "d.AffineTransform(t.tensor([1.0, 0.0, 2.0]), -2.0, event_dim=1)": "(2, 3)",
    "d.CumulativeDistributionTransform(d.Normal(0.5, 2.0))": "(3,)",
    "d.ComposeTransform([d.AffineTransform(0.5, 2.0), d.ExpTransform()])": "(3,)",
    "d.ComposeTransform([d.AffineTransform(0.5, 2.0), d.StickBreakingTransform()])": "(2, 3)",
    "d.IndependentTransform(d.TanhTransform(), 1)": "(2, 3)",
    "d.ReshapeTransform((2, 3), (6,))": "(4, 2, 3)",
    "d.StickBreakingTransform()": "(2, 3)",
    "d.CorrCholeskyTransform()": "(2, 6)",
    "d.CatTransform([d.ExpTransform(), d.TanhTransform()], dim=-1, lengths=[2, 1])": "(4, 3)",
    "d.StackTransform([d.ExpTransform(), d.TanhTransform()], dim=1)": "(3, 2)",
    "d.ExpTransform().inv": "positive",
    "d.SoftmaxTransform()": "(2, 3)",
    "d.AbsTransform()": "(3,)",
    "d.LowerCholeskyTransform()": "(2, 3, 3)",
    "d.PositiveDefiniteTransform()": "(2, 3, 3)",
    "d.identity_transform": "(3,)",
}


def build(t: Any, source: str) -> Any:
    """What a framework makes of an expression."""
    return eval(source, {"t": t, "d": t.distributions})
