"""Pruning: what is set to zero, how often, and how it becomes lasting."""

import math

import pytest

import flambeau as torch
from flambeau import nn
from flambeau.nn.utils import prune


@pytest.fixture
def layer() -> nn.Linear:
    torch.manual_seed(0)
    return nn.Linear(5, 4)


def zeros(layer: nn.Linear) -> int:
    return int((layer.weight == 0).sum())


def test_a_pruned_parameter_is_an_original_and_a_mask(layer: nn.Linear) -> None:
    prune.l1_unstructured(layer, "weight", amount=0.3)
    assert list(layer.state_dict()) == ["bias", "weight_orig", "weight_mask"]
    assert torch.equal(layer.weight, layer.weight_orig * layer.weight_mask)
    assert prune.is_pruned(nn.Sequential(layer))
    with torch.no_grad():
        layer.weight_orig.fill_(7.0)
    layer(torch.ones(1, 5)).sum().backward()
    assert zeros(layer) == 6
    assert torch.equal(layer.weight_orig.grad == 0, layer.weight_mask == 0)


def test_removal_keeps_the_zeros(layer: nn.Linear) -> None:
    prune.random_unstructured(layer, "weight", amount=3)
    prune.remove(layer, "weight")
    assert zeros(layer) == 3
    assert sorted(layer.state_dict()) == ["bias", "weight"]
    assert isinstance(layer.weight, nn.Parameter)
    assert not prune.is_pruned(layer)
    with pytest.raises(ValueError, match="has to be pruned before"):
        prune.remove(layer, "weight")


def test_smallest_elements(layer: nn.Linear) -> None:
    values = layer.weight.detach().abs().flatten().sort().values
    prune.l1_unstructured(layer, "weight", amount=7)
    left = layer.weight.detach().abs()
    assert torch.equal(left[left > 0].sort().values, values[7:])


def test_scores_instead_of_magnitudes(layer: nn.Linear) -> None:
    scores = torch.arange(20.0).view(4, 5)
    prune.l1_unstructured(layer, "weight", amount=5, importance_scores=scores)
    assert torch.equal(layer.weight_mask, (scores >= 5).float())


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("n", [1, 2, math.inf])
def test_smallest_slices(layer: nn.Linear, dim: int, n: float) -> None:
    other = 1 if dim == 0 else 0
    norms = torch.linalg.vector_norm(layer.weight.detach(), n, dim=other)
    prune.ln_structured(layer, "weight", amount=2, n=n, dim=dim)
    assert torch.equal((layer.weight_mask != 0).all(other), norms > norms.sort().values[1])


def test_random_slices(layer: nn.Linear) -> None:
    prune.random_structured(layer, "weight", amount=0.5, dim=0)
    assert sorted(layer.weight_mask.sum(1).tolist()) == [0, 0, 5, 5]


def test_further_pruning_counts_what_is_left(layer: nn.Linear) -> None:
    prune.l1_unstructured(layer, "weight", amount=0.5)
    prune.l1_unstructured(layer, "weight", amount=0.5)
    assert zeros(layer) == 15
    hook = next(iter(layer._forward_pre_hooks.values()))
    assert isinstance(hook, prune.PruningContainer)
    assert len(hook) == 2
    assert len(layer._forward_pre_hooks) == 1
    prune.ln_structured(layer, "weight", amount=1, n=2, dim=0)
    assert zeros(layer) >= 15


def test_masks_of_ones_own(layer: nn.Linear) -> None:
    mask = torch.ones(4, 5)
    mask[0] = 0
    prune.custom_from_mask(layer, "weight", mask)
    prune.custom_from_mask(layer, "weight", mask.flip(0))
    assert layer.weight_mask.sum(1).tolist() == [0, 5, 5, 0]


def test_over_several_parameters(layer: nn.Linear) -> None:
    other = nn.Linear(4, 2)
    targets = [(layer, "weight"), (other, "weight")]
    everything = torch.cat([layer.weight.detach().flatten(), other.weight.detach().flatten()])
    bound = everything.abs().sort().values[13]
    prune.global_unstructured(targets, pruning_method=prune.L1Unstructured, amount=0.5)
    for module, name in targets:
        original = getattr(module, name + "_orig").detach()
        assert torch.equal(getattr(module, name + "_mask") != 0, original.abs() > bound)


def test_nothing_pruned(layer: nn.Linear) -> None:
    before = layer.weight.detach().clone()
    prune.identity(layer, "weight")
    assert torch.equal(layer.weight, before)
    assert prune.is_pruned(layer)


def test_one_tensor() -> None:
    pruned = prune.L1Unstructured(amount=2).prune(torch.tensor([3.0, -1.0, 2.0, -4.0]))
    assert pruned.tolist() == [3, 0, 0, -4]


def test_refused(layer: nn.Linear) -> None:
    for amount in (1.5, -1, 30):
        with pytest.raises(ValueError, match="amount"):
            prune.l1_unstructured(layer, "weight", amount)
    with pytest.raises(TypeError, match="Must be int or float"):
        prune.l1_unstructured(layer, "weight", "half")  # type: ignore[arg-type]
    assert isinstance(layer.weight, nn.Parameter)
    with pytest.raises(ValueError, match="multidimensional"):
        prune.random_structured(layer, "bias", 1, 0)
    with pytest.raises(IndexError, match="Invalid index 3"):
        prune.random_structured(layer, "weight", 1, 3)
    with pytest.raises(AttributeError):
        prune.identity(layer, "scale")
    with pytest.raises(TypeError, match='Only "unstructured"'):
        prune.global_unstructured([(layer, "weight")], prune.LnStructured, amount=1, n=2)
