"""Who records: leaves, requires_grad, detach, .data, grad modes and inference tensors."""

from __future__ import annotations

import copy
import pickle

import pytest

import flambeau as torch


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def test_creation_with_requires_grad() -> None:
    made = [
        torch.ones(2, requires_grad=True),
        torch.zeros(2, requires_grad=True),
        torch.rand(2, requires_grad=True),
        torch.randn(2, requires_grad=True),
        torch.full((2,), 1.0, requires_grad=True),
        torch.empty(2, requires_grad=True),
        torch.eye(2, requires_grad=True),
        torch.arange(2.0, requires_grad=True),
        torch.linspace(0, 1, 2, requires_grad=True),
        torch.tensor([1.0, 2.0], requires_grad=True),
        torch.ones_like(torch.ones(2), requires_grad=True),
        torch.ones(2).new_ones(2, requires_grad=True),
    ]
    for each in made:
        assert each.requires_grad
        assert each.is_leaf
        assert each.grad_fn is None
        assert each.grad is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.arange(3).requires_grad_(),
        lambda: torch.ones(3, dtype=torch.int64, requires_grad=True),
        lambda: torch.tensor([True], requires_grad=True),
        lambda: setattr(torch.arange(3), "requires_grad", True),
    ],
)
def test_whole_numbers_have_no_gradient(make) -> None:
    with pytest.raises(RuntimeError, match="floating point"):
        make()


def test_whole_numbers_may_say_that_they_need_none() -> None:
    assert not torch.arange(3).requires_grad_(False).requires_grad


def test_the_flag_can_be_set_on_leaves_alone() -> None:
    x = leaf(1.0)
    y = x * 2
    x.requires_grad = False
    assert not x.requires_grad
    x.requires_grad = True
    assert y.requires_grad_() is y  # it does require grad already
    with pytest.raises(RuntimeError, match="leaf"):
        y.requires_grad = False
    with pytest.raises(RuntimeError, match="leaf"):
        y.requires_grad_(False)
    with pytest.raises(TypeError, match="bool"):
        x.requires_grad_("yes")


def test_grad_can_be_set() -> None:
    x = leaf(1.0, 2.0)
    x.grad = torch.ones(2)
    (x * 2).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    x.grad = None
    assert x.grad is None
    del x.grad
    assert x.grad is None


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (torch.ones(3), RuntimeError),
        (torch.ones(2, dtype=torch.float64), RuntimeError),
        (3, TypeError),
    ],
)
def test_grad_must_fit(value: object, error: type) -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(error):
        x.grad = value
    assert x.grad is None


def test_a_tensor_is_not_its_own_gradient() -> None:
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match="own grad"):
        x.grad = x


def test_what_describes_the_graph_cannot_be_set() -> None:
    x = leaf(1.0)
    for name in ("grad_fn", "is_leaf", "output_nr"):
        with pytest.raises(AttributeError):
            setattr(x, name, None)


def test_detach_shares_memory_and_nothing_else() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2
    z = y.detach()
    assert z.data_ptr() == y.data_ptr()
    assert not z.requires_grad
    assert z.is_leaf
    (y + z).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_detach_shares_the_version() -> None:
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.detach().zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_data_hides_writes() -> None:
    x = leaf(1.0, 2.0)
    y = x.exp()
    before = y._version
    y.data.zero_()
    assert y._version == before
    y.sum().backward()  # wrong by the user's own wish: exp saved its result
    assert x.grad.tolist() == [0.0, 0.0]


def test_data_can_be_replaced() -> None:
    x = leaf(1.0, 2.0)
    x.data = torch.tensor([5.0, 6.0, 7.0])
    assert x.tolist() == [5.0, 6.0, 7.0]
    assert x.requires_grad
    x.sum().backward()
    assert x.grad.shape == (3,)
    with pytest.raises(TypeError, match=r"[Tt]ensor"):
        x.data = 3


def test_detach_in_place_makes_a_leaf() -> None:
    x = leaf(1.0)
    y = x * 2
    assert y.detach_() is y
    assert y.is_leaf
    assert not y.requires_grad
    assert y.grad_fn is None


def test_a_view_cannot_be_detached_in_place() -> None:
    x = leaf(1.0, 2.0)
    for view in (x.view(2), x[0], (x * 2)[0]):
        with pytest.raises(RuntimeError, match="view"):
            view.detach_()


def test_numpy_needs_detach() -> None:
    x = leaf(1.0)
    for tensor in (x, x * 2):
        with pytest.raises(RuntimeError, match=r"detach\(\)"):
            tensor.numpy()
        assert tensor.detach().numpy().shape == (1,)
        assert tensor.numpy(force=True).shape == (1,)


def test_copies_of_leaves_are_leaves() -> None:
    x = leaf(1.0, 2.0)
    x.grad = torch.ones(2)
    for other in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert other.requires_grad
        assert other.is_leaf
        assert other.data_ptr() != x.data_ptr()
    assert copy.deepcopy(x).grad.tolist() == [1.0, 1.0]


def test_what_was_computed_cannot_be_copied_deeply() -> None:
    with pytest.raises(RuntimeError, match="leaves"):
        copy.deepcopy(leaf(1.0) * 2)


def test_a_leaf_may_stop_to_require_grad_after_it_was_used() -> None:
    x, other = leaf(2.0), leaf(5.0)
    y = x * other
    x.requires_grad_(False)
    y.backward()
    assert x.grad is None
    assert other.grad.item() == 2.0
    assert not (x * 2).requires_grad


def test_modes_as_context_managers() -> None:
    x = leaf(1.0)
    assert torch.is_grad_enabled()
    with torch.no_grad():
        assert not torch.is_grad_enabled()
        assert not (x * 2).requires_grad
        with torch.enable_grad():
            assert (x * 2).requires_grad
            with torch.set_grad_enabled(False):
                assert not (x * 2).requires_grad
            assert torch.is_grad_enabled()
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_modes_as_decorators() -> None:
    x = leaf(1.0)

    @torch.no_grad()
    def plain() -> bool:
        return (x * 2).requires_grad

    @torch.no_grad
    def bare() -> bool:
        return (x * 2).requires_grad

    @torch.no_grad()
    @torch.enable_grad()
    def recording() -> bool:
        return (x * 2).requires_grad

    @torch.set_grad_enabled(False)
    def switched() -> bool:
        return (x * 2).requires_grad

    @torch.inference_mode()
    def inference() -> bool:
        return (x * 2).is_inference()

    assert not plain()
    assert not bare()
    assert recording()
    assert not switched()
    assert inference()
    assert torch.is_grad_enabled()
    assert plain.__name__ == "plain"


def test_set_grad_enabled_acts_at_once() -> None:
    try:
        torch.set_grad_enabled(False)
        assert not torch.is_grad_enabled()
    finally:
        torch.set_grad_enabled(True)


def test_modes_survive_exceptions() -> None:
    with pytest.raises(ZeroDivisionError), torch.no_grad():
        _ = 1 // 0
    assert torch.is_grad_enabled()


def test_a_mode_of_a_generator_lasts_while_it_runs() -> None:
    @torch.no_grad()
    def steps():
        yield torch.is_grad_enabled()
        yield torch.is_grad_enabled()

    for enabled in steps():
        assert not enabled
        assert torch.is_grad_enabled()


def test_one_mode_object_can_be_entered_again() -> None:
    mode = torch.no_grad()
    for _ in range(2):
        with mode:
            assert not torch.is_grad_enabled()
        assert torch.is_grad_enabled()


def test_leaves_can_be_made_under_no_grad() -> None:
    with torch.no_grad():
        x = torch.ones(2, requires_grad=True)
    assert x.requires_grad
    assert (x * 2).requires_grad


def test_factories_ignore_the_mode_of_their_caller() -> None:
    with torch.enable_grad():
        assert not torch.ones(2).requires_grad


class TestInference:
    """Tensors made in inference mode never take part in a graph."""

    @staticmethod
    def made() -> torch.Tensor:
        with torch.inference_mode():
            return torch.ones(3)

    def test_the_mode(self) -> None:
        x = leaf(1.0, 2.0, 3.0)
        with torch.inference_mode():
            assert torch.is_inference_mode_enabled()
            assert not torch.is_grad_enabled()
            y = x * 2
            with torch.inference_mode(False):
                assert (x * 2).requires_grad
        assert y.is_inference()
        assert not y.requires_grad
        assert not x.is_inference()
        assert not torch.is_inference_mode_enabled()

    def test_it_cannot_require_grad_later(self) -> None:
        with pytest.raises(RuntimeError, match="inference tensor"):
            self.made().requires_grad_()

    def test_it_cannot_be_saved(self) -> None:
        with pytest.raises(RuntimeError, match="saved for backward"):
            self.made() * leaf(1.0, 2.0, 3.0)

    def test_it_can_be_used_where_nothing_is_saved(self) -> None:
        x = leaf(1.0, 2.0, 3.0)
        (self.made() + x).sum().backward()
        assert x.grad.tolist() == [1.0] * 3

    def test_it_cannot_be_written_to_later(self) -> None:
        for write in (lambda z: z.add_(1), lambda z: z.view(3).mul_(2), lambda z: z.zero_()):
            with pytest.raises(RuntimeError, match="inference tensor"):
                write(self.made())
        with torch.inference_mode():
            assert self.made().add_(1).tolist() == [2.0] * 3

    def test_it_has_no_version(self) -> None:
        with pytest.raises(RuntimeError, match="version counter"):
            _ = self.made()._version

    def test_its_clone_is_an_ordinary_tensor(self) -> None:
        x = self.made().clone().requires_grad_()
        (x * 2).sum().backward()
        assert x.grad.tolist() == [2.0] * 3

    def test_views_of_ordinary_tensors_stay_ordinary(self) -> None:
        x = torch.ones(3)
        with torch.inference_mode():
            view = x.view(3)
        assert not view.is_inference()
        view.add_(1)
        assert x.tolist() == [2.0] * 3


def test_the_gradient_by_its_other_name() -> None:
    p = torch.nn.Parameter(torch.ones(2))
    assert p._grad is None
    p._grad = torch.full((2,), 3.0)
    assert p.grad is p._grad
    assert p.grad.tolist() == [3.0, 3.0]
    p._grad = None
    assert p.grad is None
    with pytest.raises(RuntimeError, match="different size"):
        p._grad = torch.ones(3)
    assert (p * 1)._grad is None  # without the warning that grad gives
