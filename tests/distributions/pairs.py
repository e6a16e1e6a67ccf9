"""Pairs of distributions that have a divergence, as programs would write them."""

from __future__ import annotations

# For each family one distribution and another of the same batch of two.
FAMILIES: dict[str, tuple[str, str]] = {
    "Bernoulli": (
        "d.Bernoulli(t.tensor([0.2, 0.7]))",
        "d.Bernoulli(logits=t.tensor([0.5, -1.0]))",
    ),
    "Beta": (
        "d.Beta(t.tensor([1.5, 2.0]), t.tensor([3.0, 0.75]))",
        "d.Beta(t.tensor([0.5, 4.0]), t.tensor([2.0, 1.0]))",
    ),
    "Binomial": (
        "d.Binomial(t.tensor([5.0, 3.0]), t.tensor([0.25, 0.5]))",
        "d.Binomial(t.tensor([5.0, 2.0]), t.tensor([0.5, 0.75]))",
    ),
    "Categorical": (
        "d.Categorical(t.tensor([[0.2, 0.3, 0.5], [0.0, 0.5, 0.5]]))",
        "d.Categorical(t.tensor([[0.4, 0.4, 0.2], [0.5, 0.5, 0.0]]))",
    ),
    "Cauchy": (
        "d.Cauchy(t.tensor([0.0, 1.0]), t.tensor([1.0, 2.0]))",
        "d.Cauchy(t.tensor([0.5, -1.0]), t.tensor([0.5, 3.0]))",
    ),
    "ContinuousBernoulli": (
        "d.ContinuousBernoulli(t.tensor([0.2, 0.5]))",
        "d.ContinuousBernoulli(t.tensor([0.7, 0.9]))",
    ),
    "Dirichlet": (
        "d.Dirichlet(t.tensor([[0.5, 2.0, 1.5], [4.0, 4.0, 0.25]]))",
        "d.Dirichlet(t.tensor([[1.5, 1.0, 0.5], [1.0, 3.0, 2.0]]))",
    ),
    "Exponential": ("d.Exponential(t.tensor([0.5, 2.0]))", "d.Exponential(t.tensor([1.5, 1.0]))"),
    "Gamma": (
        "d.Gamma(t.tensor([1.5, 4.0]), t.tensor([1.0, 2.0]))",
        "d.Gamma(t.tensor([0.5, 3.0]), t.tensor([2.0, 0.5]))",
    ),
    "Geometric": ("d.Geometric(t.tensor([0.2, 0.7]))", "d.Geometric(t.tensor([0.5, 0.4]))"),
    "Gumbel": (
        "d.Gumbel(t.tensor([0.0, 1.0]), t.tensor([1.0, 0.5]))",
        "d.Gumbel(t.tensor([0.5, -1.0]), t.tensor([2.0, 1.5]))",
    ),
    "HalfNormal": ("d.HalfNormal(t.tensor([1.0, 2.0]))", "d.HalfNormal(t.tensor([0.5, 3.0]))"),
    "Independent": (
        "d.Independent(d.Normal(t.zeros(2, 3), t.tensor([1.0, 2.0, 3.0])), 1)",
        "d.Independent(d.Normal(t.ones(2, 3), t.tensor([2.0, 2.0, 1.0])), 1)",
    ),
    "Laplace": (
        "d.Laplace(t.tensor([0.0, 1.0]), t.tensor([1.0, 0.5]))",
        "d.Laplace(t.tensor([0.5, -1.0]), t.tensor([2.0, 1.5]))",
    ),
    "LogNormal": (
        "d.LogNormal(t.tensor([0.0, 1.0]), t.tensor([1.0, 0.5]))",
        "d.LogNormal(t.tensor([0.5, -1.0]), t.tensor([2.0, 1.5]))",
    ),
    "LowRankMultivariateNormal": (
        (
            "d.LowRankMultivariateNormal(t.tensor([[0.0, 1.0], [1.0, -1.0]]),"
            " t.tensor([[1.0], [0.5]]), t.tensor([1.0, 0.5]))"
        ),
        (
            "d.LowRankMultivariateNormal(t.tensor([[0.5, 0.0], [1.0, 2.0]]),"
            " t.tensor([[2.0], [-0.5]]), t.tensor([0.5, 2.0]))"
        ),
    ),
    "MultivariateNormal": (
        (
            "d.MultivariateNormal(t.tensor([[0.0, 1.0], [1.0, -1.0]]),"
            " t.tensor([[2.0, 0.5], [0.5, 1.0]]))"
        ),
        (
            "d.MultivariateNormal(t.tensor([[0.5, 0.0], [1.0, 2.0]]),"
            " scale_tril=t.tensor([[[2.0, 0.0], [0.5, 1.0]], [[1.0, 0.0], [-0.5, 3.0]]]))"
        ),
    ),
    "Normal": (
        "d.Normal(t.tensor([0.0, 1.0]), t.tensor([1.0, 0.5]))",
        "d.Normal(t.tensor([0.5, -1.0]), t.tensor([2.0, 1.5]))",
    ),
    "OneHotCategorical": (
        "d.OneHotCategorical(t.tensor([[0.2, 0.3, 0.5], [0.1, 0.4, 0.5]]))",
        "d.OneHotCategorical(t.tensor([[0.4, 0.4, 0.2], [0.5, 0.3, 0.2]]))",
    ),
    "Pareto": (
        "d.Pareto(t.tensor([1.0, 0.25]), t.tensor([3.0, 2.5]))",
        "d.Pareto(t.tensor([0.5, 0.5]), t.tensor([2.0, 1.5]))",
    ),
    "Poisson": ("d.Poisson(t.tensor([0.5, 4.0]))", "d.Poisson(t.tensor([1.5, 2.0]))"),
    "Uniform": (
        "d.Uniform(t.tensor([0.25, 0.75]), t.tensor([0.75, 1.5]))",
        "d.Uniform(t.tensor([0.0, -1.0]), t.tensor([1.0, 1.0]))",
    ),
    "Wishart": (
        "d.Wishart(t.tensor([3.0, 6.0]), t.tensor([[2.0, 0.5], [0.5, 1.0]]))",
        "d.Wishart(t.tensor([4.0, 5.0]), t.tensor([[1.0, 0.25], [0.25, 3.0]]))",
    ),
}

_UNIT = ("Beta", "ContinuousBernoulli")
_POSITIVE = ("Exponential", "Gamma")
CROSS: tuple[tuple[str, str], ...] = (
    ("Bernoulli", "Poisson"),
    ("Beta", "ContinuousBernoulli"),
    *((p, q) for p in _UNIT for q in ("Pareto", "Exponential", "Normal", "Uniform")),
    ("Beta", "Gamma"),
    *((p, q) for p in _POSITIVE for q in ("Uniform", "Pareto", *_UNIT, "Gumbel", "Normal")),
    ("Exponential", "Gamma"),
    ("Gamma", "Exponential"),
    *(
        (p, q)
        for p in ("Gumbel", "Laplace", "Normal")
        for q in ("Uniform", "Pareto", *_POSITIVE, *_UNIT)
    ),
    ("Gumbel", "Normal"),
    ("Laplace", "Normal"),
    ("Normal", "Gumbel"),
    ("Normal", "Laplace"),
    *(("Pareto", q) for q in ("Uniform", *_UNIT, *_POSITIVE, "Normal")),
    ("Poisson", "Binomial"),
    ("Poisson", "Bernoulli"),
    *(("Uniform", q) for q in (*_UNIT, *_POSITIVE, "Gumbel", "Normal", "Pareto")),
    ("MultivariateNormal", "LowRankMultivariateNormal"),
    ("LowRankMultivariateNormal", "MultivariateNormal"),
)
PAIRS: list[tuple[str, str]] = [
    *FAMILIES.values(),
    *((FAMILIES[p][0], FAMILIES[q][1]) for p, q in CROSS),
]
