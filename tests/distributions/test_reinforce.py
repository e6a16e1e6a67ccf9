"""The parts of policy training: samples, scores, entropy and divergence, with gradients."""

import math

import numpy as np

import flambeau as t
from flambeau import distributions as d


def test_score_of_a_categorical_policy() -> None:
    logits = t.tensor([[0.5, -1.0, 2.0], [0.0, 0.0, 0.0]], requires_grad=True)
    policy = d.Categorical(logits=logits)
    action = t.tensor([2, 1])
    policy.log_prob(action).sum().backward()
    shares = np.exp(logits.detach().numpy())
    shares /= shares.sum(-1, keepdims=True)
    assert logits.grad is not None
    np.testing.assert_allclose(logits.grad.numpy(), np.eye(3)[[2, 1]] - shares, 1e-6, 1e-6)
    np.testing.assert_allclose(
        policy.entropy().detach().numpy(), -(shares * np.log(shares)).sum(-1), 1e-6
    )


def test_actions_come_in_proportion() -> None:
    t.manual_seed(0)
    policy = d.Categorical(t.tensor([0.2, 0.5, 0.3]))
    counts = t.bincount(policy.sample((20000,)))
    np.testing.assert_allclose(counts.numpy() / 20000, [0.2, 0.5, 0.3], atol=0.01)


def test_score_of_a_gaussian_policy() -> None:
    loc = t.tensor([0.0, 1.0], requires_grad=True)
    scale = t.tensor([1.0, 0.5], requires_grad=True)
    policy = d.Normal(loc, scale)
    action = t.tensor([0.5, -1.0])
    log_prob = policy.log_prob(action)
    expected = [
        -0.5 * 0.25 - 0.5 * math.log(2 * math.pi),
        -0.5 * 16 - math.log(0.5) - 0.5 * math.log(2 * math.pi),
    ]
    np.testing.assert_allclose(log_prob.detach().numpy(), expected, 1e-6)
    log_prob.sum().backward()
    assert loc.grad is not None
    assert scale.grad is not None
    np.testing.assert_allclose(loc.grad.numpy(), [0.5, -8.0], 1e-6)
    np.testing.assert_allclose(scale.grad.numpy(), [-0.75, 30.0], 1e-6)


def test_divergence_from_the_old_policy() -> None:
    old = d.Independent(d.Normal(t.zeros(4, 2), t.ones(4, 2)), 1)
    new = d.Independent(d.Normal(t.full((4, 2), 0.5), t.full((4, 2), 2.0)), 1)
    each = math.log(2) + (1 + 0.25) / 8 - 0.5
    np.testing.assert_allclose(d.kl_divergence(old, new).numpy(), [2 * each] * 4, 1e-6)
    np.testing.assert_allclose(d.kl_divergence(old, old).numpy(), [0.0] * 4, atol=1e-7)
