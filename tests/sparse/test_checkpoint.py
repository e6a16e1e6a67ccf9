"""Sparse tensors in checkpoints."""

import io

import pytest

import flambeau as torch


@pytest.mark.parametrize("coalesced", [False, True])
def test_round_trip(coalesced) -> None:
    tensor = torch.sparse_coo_tensor([[2, 0, 2]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], (3, 2))
    tensor = tensor.coalesce() if coalesced else tensor
    file = io.BytesIO()
    torch.save({"grad": tensor, "values": tensor._values()}, file)
    file.seek(0)
    loaded = torch.load(file)
    assert repr(loaded["grad"]) == repr(tensor)
    assert loaded["grad"].is_coalesced() == coalesced
    assert loaded["grad"]._values().data_ptr() == loaded["values"].data_ptr()


def test_state_of_an_optimiser() -> None:
    weight = torch.zeros(3, 2, requires_grad=True)
    weight.grad = torch.ones(3, 2).to_sparse(1)
    optimizer = torch.optim.SGD([weight], lr=0.1, momentum=0.9)
    optimizer.step()
    file = io.BytesIO()
    torch.save(optimizer.state_dict(), file)
    file.seek(0)
    again = torch.optim.SGD([weight], lr=0.1, momentum=0.9)
    again.load_state_dict(torch.load(file))
    assert again.state[weight]["momentum_buffer"].is_sparse
