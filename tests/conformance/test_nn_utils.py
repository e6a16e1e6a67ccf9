"""What `nn.utils` does to a layer, against torch: names, values, results and gradients."""

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.utils.prune

import flambeau
import flambeau.nn.utils.prune

# What is done to a layer `m` of a framework `t`, with `u` for nn.utils and `prune` for its part.
CHANGES = (
    *(f"u.weight_norm(m, dim={dim})" for dim in (0, 1, None)),
    "u.weight_norm(m, name='bias')",
    "u.spectral_norm(m)",
    "u.spectral_norm(m, n_power_iterations=3, dim=1)",
    "u.remove_spectral_norm(u.spectral_norm(m))",
    "u.remove_weight_norm(u.weight_norm(m))",
    *(f"u.parametrizations.weight_norm(m, dim={dim})" for dim in (0, 1, None)),
    "u.parametrizations.spectral_norm(m)",
    "u.parametrizations.spectral_norm(m, n_power_iterations=3, dim=1)",
    "u.parametrizations.spectral_norm(m, 'bias')",
    *(
        f"u.parametrizations.orthogonal(m, orthogonal_map={by!r}, use_trivialization={base})"
        for by, base in itertools.product(
            (None, "matrix_exp", "cayley", "householder"), (True, False)
        )
    ),
    "u.parametrize.remove_parametrizations(u.parametrizations.orthogonal(m), 'weight')",
    "prune.random_unstructured(m, 'weight', 0.4)",
    "prune.l1_unstructured(m, 'weight', 7)",
    "prune.l1_unstructured(prune.l1_unstructured(m, 'weight', 0.3), 'weight', 0.3)",
    "prune.random_unstructured(prune.l1_unstructured(m, 'bias', 0.3), 'bias', 0.3)",
    "prune.random_structured(m, 'weight', 2, 0)",
    "prune.random_structured(m, 'weight', 0.5, -1)",
    "prune.ln_structured(m, 'weight', 0.5, 2, 0)",
    "prune.ln_structured(prune.ln_structured(m, 'weight', 1, 1, 1), 'weight', 1, 2, 0)",
    "prune.identity(m, 'weight')",
    "prune.custom_from_mask(m, 'weight', t.eye(*m.weight.shape))",
    "prune.remove(prune.l1_unstructured(m, 'weight', 7), 'weight')",
    "prune.global_unstructured([(m, 'weight'), (m, 'bias')], prune.L1Unstructured, amount=9) or m",
)


def changed(t: Any, change: str, sizes: tuple[int, int]) -> Any:
    t.manual_seed(1)
    module = t.nn.Linear(*sizes)
    names = {"t": t, "m": module, "u": t.nn.utils, "prune": t.nn.utils.prune}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return eval(change, names)


def used(t: Any, module: Any, sizes: tuple[int, int]) -> tuple[Any, Any]:
    """Two steps, so that what a step leaves behind counts."""
    x = t.randn(3, sizes[0], requires_grad=True)
    for _ in range(2):
        y = module(x)
        y.square().sum().backward()
    return x, y


def close(ours: Any, theirs: Any, what: str) -> None:
    a, b = ours.detach().numpy(), theirs.detach().numpy()
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4 * (abs(b).max() + 1), err_msg=what)


@pytest.mark.parametrize("sizes", [(5, 5), (5, 4), (4, 5)], ids=str)
@pytest.mark.parametrize("change", CHANGES)
def test_changed_layer(change: str, sizes: tuple[int, int]) -> None:
    ours, theirs = changed(flambeau, change, sizes), changed(torch, change, sizes)
    assert repr(ours) == repr(theirs)
    (x, y), (their_x, their_y) = used(flambeau, ours, sizes), used(torch, theirs, sizes)
    close(y, their_y, "result")
    close(x.grad, their_x.grad, "gradient of the input")
    state, their_state = ours.state_dict(), theirs.state_dict()
    assert list(state) == list(their_state)
    for key, value in their_state.items():
        close(state[key], value, key)
    grads = {k: p.grad for k, p in ours.named_parameters()}
    for key, parameter in theirs.named_parameters():
        assert (grads[key] is None) == (parameter.grad is None)
        if parameter.grad is not None:
            close(grads[key], parameter.grad, f"gradient of {key}")


REFUSED = (
    "u.weight_norm(u.weight_norm(m))",
    "u.weight_norm(m, 'x')",
    "u.remove_weight_norm(m)",
    "u.weight_norm(t.nn.LazyLinear(3))",
    "u.spectral_norm(u.spectral_norm(m))",
    "u.spectral_norm(m, 'x')",
    "u.spectral_norm(m, n_power_iterations=0)",
    "u.spectral_norm(t.nn.LazyLinear(3))",
    "u.parametrizations.spectral_norm(m, dim=5)",
    "u.parametrizations.orthogonal(m, 'bias')",
    "u.parametrizations.orthogonal(m, orthogonal_map='x')",
    "u.parametrize.register_parametrization(m, 'x', t.nn.Identity())",
    "u.parametrize.register_parametrization(m, 'weight', t.nn.Flatten(0))",
    "u.parametrize.remove_parametrizations(m, 'weight')",
    "u.parametrize.ParametrizationList([], t.ones(3))",
    "prune.l1_unstructured(m, 'weight', 1.5)",
    "prune.l1_unstructured(m, 'weight', -1)",
    "prune.l1_unstructured(m, 'weight', 'a')",
    "prune.l1_unstructured(m, 'weight', 70)",
    "prune.random_structured(m, 'bias', 1, 0)",
    "prune.random_structured(m, 'weight', 1, 3)",
    "prune.remove(m, 'weight')",
    "prune.custom_from_mask(m, 'weight', t.ones(2, 2))",
    "prune.identity(m, 'x')",
    "prune.global_unstructured(3, prune.L1Unstructured, amount=1)",
    "prune.global_unstructured([(m, 'weight')], prune.LnStructured, amount=1, n=2)",
    "prune.PruningContainer().add_pruning_method(3)",
    "u.skip_init(t.nn.Flatten)",
    "u.skip_init(int)",
    "u.get_total_norm([t.tensor([float('nan')])], error_if_nonfinite=True)",
    "u.vector_to_parameters([1.0], m.parameters())",
    "u.vector_to_parameters(t.ones(3), m.parameters())",
    "t.nn.Linear(-1, 2)",
    "t.nn.Linear(2.5, 2)",
)


@pytest.mark.parametrize("change", REFUSED)
def test_refused(change: str) -> None:
    with pytest.raises(Exception) as theirs:  # noqa: PT011 — which one is the question
        changed(torch, change, (5, 4))
    with pytest.raises(theirs.type):
        changed(flambeau, change, (5, 4))


@pytest.mark.parametrize("order", [2.0, 1, 3, 0, 0.5, -1.0, float("inf"), float("-inf")])
def test_clipping(order: float) -> None:
    results = []
    for t in (flambeau, torch):
        t.manual_seed(0)
        parameters = [t.zeros(s, requires_grad=True) for s in ((3,), (4, 5), (2, 3, 4), ())]
        for p in parameters:
            p.grad = t.randn(p.shape)
        norm = t.nn.utils.clip_grad_norm_(parameters, 0.1, order)
        results.append([norm, *(p.grad for p in parameters)])
    for ours, theirs in zip(*results, strict=True):
        close(ours, theirs, str(order))
