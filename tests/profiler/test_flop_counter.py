"""Counts of operations, which follow from the shapes."""

from collections.abc import Callable

import pytest

import flambeau as fb
import flambeau.nn.functional as F
from flambeau import nn
from flambeau.profiler import profile
from flambeau.utils.flop_counter import FlopCounterMode


def flops(run: Callable[[], fb.Tensor], backward: bool = False) -> int:
    with FlopCounterMode(display=False) as counter:
        result = run()
        if backward:
            result.sum().backward()
    return counter.get_total_flops()


def wanted(*sizes: int) -> fb.Tensor:
    return fb.ones(*sizes, requires_grad=True)


def test_products_of_matrices() -> None:
    a, b = fb.ones(3, 4), fb.ones(4, 5)
    assert flops(lambda: a @ b) == 2 * 3 * 4 * 5
    assert flops(lambda: fb.addmm(fb.ones(5), a, b)) == 2 * 3 * 4 * 5
    assert flops(lambda: fb.ones(2, 3, 4) @ fb.ones(2, 4, 5)) == 2 * 2 * 3 * 4 * 5
    assert flops(lambda: fb.ones(2, 3, 4) @ b) == 2 * 2 * 3 * 4 * 5
    assert flops(lambda: fb.einsum("bij,bkj->bik", fb.ones(2, 3, 4), fb.ones(2, 3, 4))) == 144
    assert flops(lambda: a + a) == 0


def test_a_backward_counts_for_each_factor() -> None:
    once = 2 * 3 * 4 * 5
    assert flops(lambda: wanted(3, 4) @ fb.ones(4, 5), backward=True) == 2 * once
    assert flops(lambda: wanted(3, 4) @ wanted(4, 5), backward=True) == 3 * once


@pytest.mark.parametrize("bias", [True, False])
def test_linear_layers(bias: bool) -> None:
    layer = nn.Linear(8, 16, bias=bias)
    once = 2 * 10 * 8 * 16
    assert flops(lambda: layer(fb.ones(2, 5, 8))) == once
    assert flops(lambda: layer(fb.ones(2, 5, 8)), backward=True) == 2 * once
    assert flops(lambda: layer(wanted(2, 5, 8)), backward=True) == 3 * once


def test_convolutions() -> None:
    layer = nn.Conv2d(4, 8, 3, stride=2, padding=1, groups=2)
    once = 2 * (2 * 8 * 5 * 5) * (2 * 3 * 3)
    assert flops(lambda: layer(fb.ones(2, 4, 9, 9))) == once
    assert flops(lambda: layer(wanted(2, 4, 9, 9)), backward=True) == 3 * once
    assert flops(lambda: nn.Conv1d(3, 5, 2)(fb.ones(1, 3, 7))) == 2 * (5 * 6) * (3 * 2)
    upwards = nn.ConvTranspose2d(4, 8, 3, stride=2)
    assert flops(lambda: upwards(fb.ones(2, 4, 5, 5))) == 2 * (2 * 4 * 5 * 5) * (8 * 3 * 3)


def test_attention_and_recurrence() -> None:
    q, k = wanted(2, 2, 3, 8), fb.ones(2, 2, 5, 8)
    once = 2 * (2 * 2 * 3 * 5) * (8 + 8)
    assert flops(lambda: F.scaled_dot_product_attention(q, k, k)) == once
    layer = nn.LSTM(4, 8)
    assert flops(lambda: layer(fb.ones(3, 2, 4))[0]) == 2 * 3 * 2 * (4 * 8 * 4 + 4 * 8 * 8)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.rest = nn.Sequential(nn.ReLU(), nn.Linear(8, 2))

    def forward(self, x: fb.Tensor) -> fb.Tensor:
        return self.rest(self.first(x))


def test_counts_by_module_with_their_backward() -> None:
    net, x = Net(), fb.ones(3, 4)
    with FlopCounterMode(display=False) as counter:
        net(x).sum().backward()
    first, last = 2 * 3 * 4 * 8, 2 * 3 * 8 * 2
    counts = {
        module: {str(operator): flops for operator, flops in of_module.items()}
        for module, of_module in counter.get_flop_counts().items()
    }
    assert counter.get_flop_counts()["Net.first"][fb.ops.aten.mm] == first
    assert counts == {
        "Global": {"aten.addmm": first + last, "aten.mm": first + 2 * last},
        "Net": {"aten.addmm": first + last, "aten.mm": first + 2 * last},
        "Net.first": {"aten.addmm": first, "aten.mm": first},
        "Net.rest": {"aten.addmm": last, "aten.mm": 2 * last},
        "Net.rest.1": {"aten.addmm": last, "aten.mm": 2 * last},
    }


def test_the_table_is_printed_down_to_a_depth(capsys: pytest.CaptureFixture[str]) -> None:
    with FlopCounterMode(depth=1) as counter:
        Net()(fb.ones(3, 4))
    printed = capsys.readouterr().out
    assert "Net" in printed
    assert "first" not in printed
    assert "first" in counter.get_table(depth=2)
    assert "    1 " in counter.get_table(depth=3)
    assert FlopCounterMode(display=False).get_total_flops() == 0


def test_counts_can_be_read_while_counting_and_profiling() -> None:
    a = fb.ones(2, 3)
    with profile() as prof, FlopCounterMode(display=False) as counter:
        a @ a.T
        assert counter.get_total_flops() == 24
        with FlopCounterMode(display=False) as inner:
            a @ a.T
        a @ a.T
    assert counter.get_total_flops() == 72
    assert inner.get_total_flops() == 24
    assert [event.name for event in prof.events()].count("aten::mm") == 3


def test_the_second_run_of_a_checkpoint_counts() -> None:
    from flambeau.utils.checkpoint import checkpoint

    layers = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
    once = 2 * 3 * 4 * 4
    # It stops before the last product, whose result nobody needs again.
    assert flops(lambda: checkpoint(layers, wanted(3, 4), use_reentrant=False), True) == 7 * once


def test_misuse() -> None:
    with pytest.warns(UserWarning, match="mods argument is not needed"):
        FlopCounterMode(mods=nn.Linear(2, 2))
    with pytest.raises(NotImplementedError, match="custom_mapping"):
        FlopCounterMode(custom_mapping={"aten.mm": len})
    with FlopCounterMode(display=False) as counter, pytest.raises(RuntimeError, match="already"):
        counter.__enter__()
