"""Old spellings of sparse tensors."""

from __future__ import annotations

import flambeau as fb

PLACES = fb.tensor([[0, 1], [1, 0]])


def test_constructors():
    made = fb.sparse.FloatTensor(PLACES, fb.tensor([1.0, 2.0]), fb.Size([2, 3]))
    assert made.is_sparse
    assert made.to_dense().tolist() == [[0, 1, 0], [2, 0, 0]]
    assert fb.sparse.DoubleTensor(PLACES, fb.tensor([1.0, 2.0])).dtype == fb.float64
    assert fb.sparse.LongTensor(2, 3).to_dense().tolist() == [[0, 0, 0], [0, 0, 0]]
    assert fb.sparse.FloatTensor().shape == (0,)


def test_instances():
    made = fb.sparse.FloatTensor(PLACES, fb.tensor([1.0, 2.0]))
    assert isinstance(made, fb.sparse.FloatTensor)
    assert not isinstance(made, fb.sparse.DoubleTensor)
    assert not isinstance(made, fb.FloatTensor)
    assert not isinstance(fb.ones(2), fb.sparse.FloatTensor)
    assert fb.sparse.FloatTensor.layout == fb.sparse_coo
    assert repr(fb.sparse.FloatTensor) == "<class 'torch.sparse.FloatTensor'>"
