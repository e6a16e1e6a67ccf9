"""Distributions on small tensors, as loops of reinforcement learning use them; checks included."""

from typing import Any

from benchmarks.case import Namespace, add_case


def small(t: Any) -> Namespace:
    """The variables of all statements below: a batch of eight states."""
    t.manual_seed(0)
    d = t.distributions
    mu, logits = t.randn(8, 4), t.randn(8, 6)
    sigma = t.rand(8, 4) + 0.5
    return {
        "t": t,
        "d": d,
        "mu": mu,
        "sigma": sigma,
        "logits": logits,
        "normal": d.Normal(mu, sigma),
        "other": d.Normal(mu * 2, sigma * 3),
        "categorical": d.Categorical(logits=logits),
        "bernoulli": d.Bernoulli(logits=logits),
        "gamma": d.Gamma(sigma, sigma),
        "x": t.randn(8, 4),
        "action": t.zeros(8, dtype=t.int64),
        "coins": t.zeros(8, 6),
        "weight": logits.clone().requires_grad_(),
        "mean": mu.clone().requires_grad_(),
    }


# What a step of a policy is made of.
for statement in (
    "d.Normal(mu, sigma)",
    "normal.sample()",
    "normal.rsample()",
    "normal.log_prob(x)",
    "normal.entropy()",
    "d.kl_divergence(normal, other)",
    "d.Categorical(logits=logits)",
    "categorical.sample()",
    "categorical.log_prob(action)",
    "categorical.entropy()",
    "d.Bernoulli(logits=logits)",
    "bernoulli.sample()",
    "bernoulli.log_prob(coins)",
    "d.Independent(normal, 1).log_prob(x)",
    "gamma.rsample()",
):
    add_case("distributions", statement, small, statement)

# Whole steps.
for name, statement in (
    ("a normal policy", "p = d.Normal(mu, sigma); a = p.sample(); p.log_prob(a).sum(-1)"),
    (
        "a categorical policy",
        "p = d.Categorical(logits=logits); a = p.sample(); p.log_prob(a); p.entropy()",
    ),
    (
        "a categorical policy, backwards",
        (
            "p = d.Categorical(logits=weight); a = p.sample();"
            " (p.log_prob(a).mean() + p.entropy().mean()).backward()"
        ),
    ),
    ("a normal policy, backwards", "d.Normal(mean, sigma).log_prob(x).sum().backward()"),
):
    add_case("distributions", name, small, statement)
