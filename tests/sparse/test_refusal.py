"""What cannot be done with a sparse tensor is refused; nothing reads zeros for its elements."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import flambeau as torch


def matrix() -> torch.Tensor:
    return torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3))


def test_every_operator_refuses_sparse_tensors_or_computes_with_them() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tests.sparse.sweep"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert not run.stdout.strip(), run.stdout[:4000]


def test_the_message_names_the_operator_and_the_remedy() -> None:
    with pytest.raises(NotImplementedError, match=r"'exp'.*to_dense\(\)"):
        torch.exp(matrix())
    with pytest.raises(NotImplementedError, match=r"'nn.functional.linear'.*to_dense\(\)"):
        torch.nn.functional.linear(matrix(), torch.ones(2, 3))


@pytest.mark.parametrize(
    "use",
    [
        lambda t: t.numpy(),
        lambda t: np.asarray(t),
        lambda t: t.tolist(),
        lambda t: t.item(),
        lambda t: t.data_ptr(),
        lambda t: t.untyped_storage(),
        lambda t: t.storage(),
        lambda t: t.is_shared(),
        lambda t: t.nbytes,
        lambda t: memoryview(t),
        lambda t: t.__dlpack__(),
        lambda t: torch.from_dlpack(t),
        lambda t: torch.asarray(t),
        lambda t: torch.tensor([t]),
        lambda t: bool(t),
        lambda t: float(t),
        lambda t: t[:1],
        lambda t: t[...],
        lambda t: t[None],
        lambda t: t[torch.tensor([0])],
        lambda t: t[t],
        lambda t: torch.ones(2, 3)[t],
        lambda t: t.__setitem__(0, 1.0),
        lambda t: torch.ones(2, 3).__setitem__(0, t),
        lambda t: t.fill_(1.0),
        lambda t: t.exp_(),
        lambda t: t.t_(),
        lambda t: t.resize_(3, 3),
        lambda t: t.set_(torch.ones(2, 3)),
        lambda t: torch.ones(2, 3).set_(t),
        lambda t: torch.ones(2, 3).copy_(t),
        lambda t: t.copy_(torch.ones(2, 3)),
        lambda t: torch.add(torch.ones(2, 3), 1, out=t),
        lambda t: torch.mm(torch.ones(2, 2), torch.ones(2, 3), out=t),
        lambda t: torch.ones(2, 3).__setattr__("data", t),
        lambda t: t.__setattr__("data", torch.ones(2, 3)),
        lambda t: t == t,
        lambda t: t + 1,
        lambda t: t + torch.ones(2, 3),
        lambda t: 1 / t,
        lambda t: t / torch.ones(2, 3),
        lambda t: 1.0 in t,
        lambda t: reversed(t),
        lambda t: t.share_memory_(),
        lambda t: torch.vmap(torch.neg)(t),
        lambda t: torch.func.jvp(torch.neg, (t,), (t,)),
        lambda t: torch.nn.functional.embedding(torch.tensor([0]), t),
        lambda t: torch.zeros_like(t, layout=torch.strided),
        lambda t: torch.zeros(2, 3, layout=torch.sparse_coo),
        lambda t: torch.nn.utils.clip_grad_norm_([with_gradient(t)], 1.0),
        lambda t: torch.nn.utils.clip_grad_value_([with_gradient(t)], 1.0),
        lambda t: torch.nn.utils.parameters_to_vector([t]),
    ],
)
def test_refused(use) -> None:
    tensor = matrix()
    with pytest.raises((RuntimeError, TypeError, ValueError, BufferError)):
        use(tensor)
    assert tensor.to_dense().tolist() == [[0, 0, 3], [4, 0, 5]]


@pytest.mark.parametrize("name", ["coalesce", "indices", "values", "_indices", "_values", "_nnz"])
def test_strided_tensors_have_no_sparse_parts(name) -> None:
    with pytest.raises(RuntimeError, match="expected sparse"):
        getattr(torch.ones(2, 2), name)()


def test_indices_that_were_changed_are_checked_again() -> None:
    tensor = torch.sparse_coo_tensor([[0, 2]], [[1.0], [2.0]], (3, 1))
    tensor._indices().fill_(1 << 40)
    for use in (
        lambda: tensor.to_dense(),
        lambda: torch.sparse_coo_tensor([[0]], [[1.0]], (3, 1)) + tensor,
        lambda: torch.zeros(3, 1).add_(tensor),
        lambda: torch.optim.SparseAdam([with_gradient(tensor)]).step(),
    ):
        with pytest.raises(RuntimeError, match="found index"):
            use()


def with_gradient(grad: torch.Tensor) -> torch.Tensor:
    parameter = torch.zeros(grad.shape, requires_grad=True)
    parameter.grad = grad
    return parameter


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t)), torch.Tensor.clone]
)
@pytest.mark.parametrize("coalesced", [False, True])
def test_copies_are_sparse(again, coalesced) -> None:
    tensor = matrix().coalesce() if coalesced else matrix()
    made = again(tensor)
    assert made is not tensor
    assert made.is_sparse
    assert made.is_coalesced() == coalesced
    assert repr(made) == repr(tensor)


def test_parameters_can_be_sparse() -> None:
    parameter = torch.nn.Parameter(matrix())
    assert parameter.is_sparse
    assert parameter.requires_grad
    made = pickle.loads(pickle.dumps(parameter))
    assert isinstance(made, torch.nn.Parameter)
    assert made.is_sparse
    assert made.requires_grad
