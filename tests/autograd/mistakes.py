"""Mistakes that users make, each as a script. A comment `#: name` marks the line it stands on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mistake:
    """A script that fails, and what the error must say."""

    name: str
    error: type[Exception]
    says: tuple[str, ...]  # parts of the message; {name} is the file and line of a mark
    script: str
    raised: str = "raised"  # the mark of the line where the traceback leaves the script

    def marks(self) -> dict[str, int]:
        """The line numbers of the marks in the script."""
        lines = enumerate(self.script.splitlines(), 1)
        return {line.split("#: ")[1].strip(): number for number, line in lines if "#: " in line}


MISTAKES = [
    Mistake(
        "second backward",
        RuntimeError,
        ("second time", "saved by pow at {recorded}", "freed", "{first}"),
        """
import flambeau as torch

x = torch.ones(3, requires_grad=True)
y = x**2  #: recorded
loss = y.sum()
loss.backward()  #: first
loss.backward()  #: raised
""",
    ),
    Mistake(
        "hidden state carried into the next batch",
        RuntimeError,
        ("second time", "saved by mul at {recorded}", "freed", "{first}"),
        """
import flambeau as torch

weight = torch.tensor(0.5, requires_grad=True)
state = torch.ones(())
for batch in (1.0, 2.0):
    state = state * weight  #: recorded
    loss = state * batch
    loss.backward()  #: first
""",
        raised="first",
    ),
    Mistake(
        "saved tensor changed in place",
        RuntimeError,
        ("inplace operation", "saved by pow at {saved}", "changed by add_ at {changed}"),
        """
import flambeau as torch

x = torch.ones(3, requires_grad=True)
y = x * 2
z = y**2  #: saved
y.add_(1)  #: changed
z.sum().backward()  #: raised
""",
    ),
    Mistake(
        "saved result changed through a view",
        RuntimeError,
        ("inplace operation", "saved by exp at {saved}", "changed by zero_ at {changed}"),
        """
import flambeau as torch

x = torch.ones(3, requires_grad=True)
y = x.exp()  #: saved
first = y[0]
first.zero_()  #: changed
y.sum().backward()  #: raised
""",
    ),
    Mistake(
        "parameter updated between forward and backward",
        RuntimeError,
        ("inplace operation", "saved by mul at {saved}", "changed by sub_ at {changed}"),
        """
import flambeau as torch

weight = torch.ones(3, requires_grad=True)
loss = (weight * weight).sum()  #: saved
with torch.no_grad():
    weight -= 0.1  #: changed
loss.backward()  #: raised
""",
    ),
    Mistake(
        "loss cut off by detach",
        RuntimeError,
        ("does not require grad", "cut off by detach at {cut}"),
        """
import flambeau as torch

x = torch.ones(3, requires_grad=True)
features = (x * 2).detach()  #: cut
loss = (features + 1).sum()
loss.backward()  #: raised
""",
    ),
    Mistake(
        "loss cut off by no_grad",
        RuntimeError,
        ("does not require grad", "cut off by no_grad at {cut}"),
        """
import flambeau as torch

x = torch.ones(3, requires_grad=True)
with torch.no_grad():  #: cut
    features = x * 2
loss = features.sum()
loss.backward()  #: raised
""",
    ),
    Mistake(
        "loss cut off by item",
        RuntimeError,
        ("does not require grad", "by item at {cut}"),
        """
import flambeau as torch

x = torch.ones(3, requires_grad=True)
total = (x * 2).sum().item()  #: cut
loss = torch.tensor(total) + 1
loss.backward()  #: raised
""",
    ),
    Mistake(
        "gradient of the wrong shape from a custom function",
        RuntimeError,
        ("ScaleBackward", "invalid gradient at index 0", "2", "3", "{applied}"),
        """
import flambeau as torch


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad[:2] * 2


x = torch.ones(3, requires_grad=True)
y = Scale.apply(x)  #: applied
y.sum().backward()  #: raised
""",
    ),
    Mistake(
        "wrong number of gradients from a custom function",
        RuntimeError,
        ("ScaleBackward", "incorrect number of gradients", "expected 2", "got 1", "{applied}"),
        """
import flambeau as torch


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


x = torch.ones(3, requires_grad=True)
y = Scale.apply(x, 2)  #: applied
y.sum().backward()  #: raised
""",
    ),
    Mistake(
        "exception in a custom backward",
        KeyError,
        ("missing", "{applied}"),
        """
import flambeau as torch


class Lookup(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return {}["missing"]  #: raised


x = torch.ones(3, requires_grad=True)
y = Lookup.apply(x)  #: applied
y.sum().backward()
""",
    ),
    Mistake(
        "exception in a hook",
        ZeroDivisionError,
        ("recorded by mul at {recorded}",),
        """
import flambeau as torch


def hook(grad):
    return grad * (1 // 0)  #: raised


x = torch.ones(3, requires_grad=True)
y = x * 2  #: recorded
y.register_hook(hook)
y.sum().backward()
""",
    ),
    Mistake(
        "hook that changes the shape",
        RuntimeError,
        ("changed the size", "recorded by mul at {recorded}"),
        """
import flambeau as torch

x = torch.ones(3, requires_grad=True)
y = x * 2  #: recorded
y.register_hook(lambda grad: grad.sum())
y.sum().backward()  #: raised
""",
    ),
    Mistake(
        "backward of several elements",
        RuntimeError,
        ("scalar outputs", "recorded by mul at {recorded}"),
        """
import flambeau as torch

x = torch.ones(3, requires_grad=True)
loss = x * 2  #: recorded
loss.backward()  #: raised
""",
    ),
    Mistake(
        "gradient of another shape than its tensor",
        RuntimeError,
        ("shape", "2", "3", "recorded by mul at {recorded}"),
        """
import flambeau as torch

x = torch.ones(3, requires_grad=True)
y = x * 2  #: recorded
y.backward(torch.ones(2))  #: raised
""",
    ),
    Mistake(
        "gradient of an input that was not used",
        RuntimeError,
        ("input 1", "not have been used", "allow_unused=True"),
        """
import flambeau as torch

x = torch.ones(3, requires_grad=True)
unused = torch.ones(3, requires_grad=True)
loss = (x * 2).sum()
torch.autograd.grad(loss, (x, unused))  #: raised
""",
    ),
    Mistake(
        "leaf changed in place",
        RuntimeError,
        ("leaf Variable that requires grad", "in-place"),
        """
import flambeau as torch

weight = torch.ones(3, requires_grad=True)
(weight * 2).sum().backward()
weight -= 0.1 * weight.grad  #: raised
""",
    ),
    Mistake(
        "view of a leaf changed in place",
        RuntimeError,
        ("view of a leaf Variable that requires grad", "in-place"),
        """
import flambeau as torch

weight = torch.ones(3, 3, requires_grad=True)
row = weight[0]
row.zero_()  #: raised
""",
    ),
    Mistake(
        "one of several views changed in place",
        RuntimeError,
        ("Output 1 of Unbind", "multiple views", "recorded by unbind at {recorded}"),
        """
import flambeau as torch

x = torch.ones(3, 3, requires_grad=True)
rows = (x * 2).unbind()  #: recorded
rows[1].zero_()  #: raised
""",
    ),
    Mistake(
        "gradient of whole numbers",
        RuntimeError,
        ("floating point",),
        """
import flambeau as torch

labels = torch.arange(3)
labels.requires_grad_()  #: raised
""",
    ),
    Mistake(
        "NaN in backward under detect_anomaly",
        RuntimeError,
        ("SqrtBackward0", "nan", "recorded by sqrt at {recorded}"),
        """
import flambeau as torch

x = torch.zeros(3, requires_grad=True)
with torch.autograd.detect_anomaly(check_nan=True):
    y = (x * 0).sqrt()  #: recorded
    loss = (y * 0).sum()
    loss.backward()  #: raised
""",
    ),
]
