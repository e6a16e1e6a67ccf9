"""What optimisers of other packages call of PyTorch's."""

from __future__ import annotations

import flambeau as fb
from flambeau.optim import optimizer


def test_lists_are_split_by_type():
    lists = [[fb.ones(2), fb.ones(1).double()], [fb.ones(3), None], []]
    groups = optimizer.Optimizer._group_tensors_by_device_and_dtype(lists, with_indices=True)
    (params, grads, rest), indices = groups[fb.device("cpu"), fb.float64]
    assert (params[0] is lists[0][1], grads, rest, indices) == (True, [None], [], [1])


def test_a_step_records_only_if_it_is_to_be_differentiated():
    class Own(optimizer.Optimizer):
        def __init__(self, params, differentiable):
            super().__init__(params, {"differentiable": differentiable})

        @optimizer._use_grad_for_differentiable
        def step(self):
            return fb.is_grad_enabled()

    weight = fb.ones(2, requires_grad=True)
    assert Own([weight], True).step()
    assert not Own([weight], False).step()


def test_questions_are_answered():
    assert optimizer._default_to_fused_or_foreach([fb.ones(2)], False) == (False, False)
    assert "cpu" in optimizer._get_fused_kernels_supported_devices()
    assert "cpu" not in optimizer._get_capturable_supported_devices()
    assert "cuda" in optimizer._get_foreach_kernels_supported_devices()
    assert optimizer._get_scalar_dtype() is fb.float32
    assert optimizer._get_value(fb.tensor(2.0)) == 2.0
    assert optimizer._stack_if_compiling([1]) == [1]


def test_complex_tensors_become_pairs():
    params, grads = [fb.ones(2), fb.ones(2) * 1j], [fb.zeros(2), fb.ones(2) * 2j]
    optimizer._view_as_real(params, grads)
    assert [each.shape for each in params] == [(2,), (2, 2)]
    assert grads[1].tolist() == [[0, 2], [0, 2]]
