"""torch.fx against torch: the same graphs, the same code to the letter, the same results."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
import torch
import torch.fx
import torch.fx.passes.shape_prop

import flambeau
import flambeau.fx.passes.shape_prop

HEADER = """
import math, operator, typing
nn, F = torch.nn, torch.nn.functional
"""

# A program `program`, and an expression that calls what was made of it, `traced`.
PROGRAMS = {
    "operators": """
        def program(x, y: int = 3) -> torch.Tensor:
            return -x, ~(x > 0), abs(x), 2 - x, 2 ** x, x ** 2, x // 2, x % y, 1 / x, x @ x, +x
        traced(torch.arange(1.0, 5.0))
    """,
    "methods": """
        def program(x):
            x = x.transpose(0, 1).contiguous()
            n, c = x.size(0), x.shape[1]
            x = x.reshape(n, -1)[..., None, 1:2]
            x += 1
            y = x.max(dim=0)[0], x.sum(dim=-1, keepdim=True), x.to(torch.float64).mT
            return y, x.mean((0, 1))
        traced(torch.arange(6.0).view(2, 3))
    """,
    "containers": """
        def program(x, options: typing.Dict[str, int], *, other=None):
            a, b = torch.split(x, 2, dim=1)
            return {'a': a, 'b': (b, [x, options['k']])}, slice(0, 2, None), torch.float32
        traced(torch.ones(2, 4), {'k': 3})
    """,
    "functions": """
        def program(x):
            h = F.dropout(F.relu(x), 0.5, training=False)
            h = F.softmax(F.gelu(F.layer_norm(h, (4,))), dim=-1)
            h = torch.cat([h, F.silu(x)], dim=1) + torch.einsum('ij,ij->i', x, x)[:, None]
            return F.mse_loss(h, h), F.pad(h, (1, 1)), torch.flatten(h, 1), torch.norm(h)
        traced(torch.arange(8.0).view(2, 4))
    """,
    "images": """
        def program(x, w):
            h = F.max_pool2d(F.conv2d(x, w, padding=1), 2)
            h = F.interpolate(h, scale_factor=2) + F.adaptive_avg_pool2d(h, 1)
            return F.avg_pool2d(F.pixel_shuffle(h, 2), 2), F.normalize(F.leaky_relu(h, 0.1))
        traced(torch.ones(1, 1, 6, 6), torch.ones(4, 1, 3, 3))
    """,
    "losses": """
        def program(x, y):
            return (F.cross_entropy(x, y), F.nll_loss(F.log_softmax(x, 1), y, reduction='sum'),
                    F.binary_cross_entropy_with_logits(x, x.sigmoid()), F.smooth_l1_loss(x, x * 2),
                    F.kl_div(x, x.exp(), log_target=False, reduction='batchmean'))
        traced(torch.ones(2, 3), torch.tensor([0, 1]))
    """,
    "constants": """
        def program(x):
            t = torch.ones(3)
            return x + t, t + x, torch.zeros(2), x * math.pi, x + float('inf')
        traced(torch.arange(3.0))
    """,
    "stars": """
        def program(x, *args, **kwargs):
            return x + args[0] + kwargs['y'] + math.sqrt(x)
        traced(4.0, 2, y=3)
    """,
    "linear algebra": """
        def program(x):
            y = torch.linalg.norm(x), torch.linalg.inv(x)
            return y, torch.fft.fft(x).abs(), torch.special.expit(x)
        traced(torch.eye(2) * 2)
    """,
    "residual network": """
        class Block(nn.Module):
            def __init__(self, c):
                super().__init__()
                self.conv, self.norm = nn.Conv2d(c, c, 3, padding=1), nn.BatchNorm2d(c)
                self.relu = nn.ReLU(inplace=True)
            def forward(self, x):
                y = self.relu(self.norm(self.conv(x)))
                y += x
                return self.relu(y)
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([Block(3), Block(3)])
                self.pool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(3, 2)
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                for layer in self.layers:
                    x = layer(x)
                return self.fc(torch.flatten(self.pool(x), 1))
        torch.manual_seed(0)
        program = Net().eval()
        traced(torch.ones(2, 3, 5, 5))
    """,
    "attention": """
        class Attention(nn.Module):
            def __init__(self):
                super().__init__()
                self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 8)
                self.scale = nn.Parameter(torch.ones(1))
                self.register_buffer('mask', torch.ones(3, 3).tril() == 0)
            def forward(self, x):
                b, t, c = x.shape
                q, k, v = self.qkv(x).view(b, t, 3, 2, c // 2).permute(2, 0, 3, 1, 4).unbind(0)
                weights = q @ k.transpose(-2, -1) * self.scale
                weights = weights.masked_fill(self.mask, float('-inf'))
                y = (weights.softmax(dim=-1) @ v).transpose(1, 2).reshape(b, t, c)
                return self.out(y) + F.scaled_dot_product_attention(q, k, v).mean()
        torch.manual_seed(0)
        program = Attention()
        traced(torch.ones(2, 3, 8))
    """,
    "recurrent network": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed, self.lstm = nn.Embedding(10, 4), nn.LSTM(4, 5, batch_first=True)
                self.head = nn.Sequential(nn.Linear(5, 5), nn.Tanh(), nn.Linear(5, 10))
            def forward(self, tokens):
                h, (last, _) = self.lstm(self.embed(tokens))
                return self.head(h), last[-1]
        torch.manual_seed(0)
        program = Net()
        traced(torch.tensor([[1, 2, 3]]))
    """,
    "known arguments": """
        def program(x, flag, scale):
            return x * scale['a'] if flag else x
        concrete_args = {'flag': True, 'scale': {'a': fx.PH}}
        traced(torch.ones(2), True, {'a': 3})
    """,
}


def run(t: Any, text: str) -> tuple[Any, Any]:
    *setup, call = textwrap.dedent(text).strip().splitlines()
    space = {"torch": t, "fx": t.fx}
    exec(HEADER + "\n".join(setup), space)
    space["traced"] = t.fx.symbolic_trace(space["program"], space.get("concrete_args"))
    return space["traced"], eval(call, space)


def plain(value: Any) -> Any:
    """Results as values of Python, whichever framework they are of."""
    if hasattr(value, "detach"):
        return pytest.approx(value.detach().double().flatten().tolist(), rel=1e-5, abs=1e-6)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return str(value)


def flat(value: Any) -> Any:
    """The same without the tolerance, for the other side of a comparison."""
    if hasattr(value, "detach"):
        return value.detach().double().flatten().tolist()
    if isinstance(value, dict):
        return {key: flat(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [flat(item) for item in value]
    return str(value)


@pytest.mark.parametrize("name", PROGRAMS)
def test_graph_code_and_results(name: str) -> None:
    theirs, their_result = run(torch, PROGRAMS[name])
    ours, our_result = run(flambeau, PROGRAMS[name])
    assert ours.code == theirs.code
    assert str(ours.graph) == str(theirs.graph)
    assert flat(our_result) == plain(their_result)


CHANGES = {
    "replace_pattern": """
        cat, stack = torch.cat, torch.stack
        gm = fx.symbolic_trace(lambda x, a, b: x + cat([a, b]).sum() + cat([b, a]).sum())
        fx.replace_pattern(gm, lambda a, b: cat([a, b]).sum(), lambda a, b: stack([a, b]))
    """,
    "eliminate_dead_code": """
        gm = fx.symbolic_trace(lambda x: (x.relu(), x + 1)[1])
        gm.graph.eliminate_dead_code()
        gm.recompile()
    """,
    "insert and erase": """
        gm = fx.symbolic_trace(lambda x: torch.relu(x.neg()) + 1)
        for node in gm.graph.nodes:
            if node.target is torch.relu:
                with gm.graph.inserting_after(node):
                    new = gm.graph.call_function(torch.sigmoid, node.args)
                node.replace_all_uses_with(new)
                gm.graph.erase_node(node)
        gm.recompile()
    """,
    "Transformer": """
        class Exchange(fx.Transformer):
            def call_function(self, target, args, kwargs):
                target = torch.tanh if target is torch.relu else target
                return super().call_function(target, args, kwargs)
        gm = Exchange(fx.symbolic_trace(lambda x, y=2: torch.relu(x) + y)).transform()
    """,
    "from nodes": """
        g = fx.Graph()
        x, y = g.placeholder('input'), g.placeholder('y', default_value=2)
        s = g.call_function(torch.sum, (x,), {'dim': 0})
        m = g.call_module('layers.0.fc', (s,))
        g.output((m, g.call_method('add', (m, y))))
        gm = fx.GraphModule({'layers.0.fc': torch.nn.Linear(2, 2)}, g, 'Made')
    """,
    "print_readable": """
        gm = fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()))
        fx.passes.shape_prop.ShapeProp(gm).propagate(torch.ones(4, 2))
        code = gm.print_readable(print_output=False)
    """,
}


@pytest.mark.parametrize("name", CHANGES)
def test_changed_graphs(name: str) -> None:
    made = []
    for t in (torch, flambeau):
        space: dict[str, Any] = {"torch": t, "fx": t.fx}
        exec(textwrap.dedent(CHANGES[name]), space)
        made.append((space["gm"].code, str(space["gm"].graph), space.get("code")))
    assert made[1] == made[0]


REFUSED = {
    "branch": "lambda x: x if x.sum() > 0 else -x",
    "loop": "lambda x: [y + 1 for y in x]",
    "length": "lambda x: len(x)",
    "argument": "lambda x: x.add(object())",
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    classes = []
    for t in (torch, flambeau):
        with pytest.raises(Exception) as error:  # noqa: PT011
            t.fx.symbolic_trace(eval(REFUSED[name], {"torch": t}))
        classes.append(error.type.__name__)
    assert classes[1] == classes[0]
