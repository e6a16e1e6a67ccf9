"""How modules are shown."""

from __future__ import annotations

from typing import Any

from tests.conformance.modules.registry import layer, network, program


@program
def networks(t: Any) -> Any:
    return [repr(each) for each in (t.nn.Module(), layer(t), network(t), t.nn.Sequential())]


@program
def extra_lines(t: Any) -> Any:
    class Talkative(t.nn.Module):
        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

        def extra_repr(self) -> str:
            return self.text

        def _get_name(self) -> str:
            return "Chatter"

    one, two, three = Talkative("one"), Talkative("one\ntwo"), Talkative("one")
    two.child = Talkative("a\n\nb")
    three.child = None
    return [repr(each) for each in (one, two, three)], str(t.nn.ModuleList([one, two, one, one]))


@program
def lists(t: Any) -> Any:
    make = t.nn.ModuleList
    block = t.nn.Sequential(layer(t), layer(t))
    return [
        repr(make()),
        repr(make([layer(t)])),
        repr(make([layer(t), layer(t)])),
        repr(make([layer(t), layer(t), layer(t, 1, 1), layer(t)])),
        repr(make([block, block, make([block])])),
        repr(t.nn.ModuleDict({"a": layer(t), "b": block})),
    ]


@program
def parameters(t: Any) -> Any:
    values = t.nn.ParameterList([t.zeros(2, 3), t.nn.Parameter(t.zeros(())), 3, "text", None])
    return [
        repr(values),
        repr(t.nn.ParameterList()),
        repr(t.nn.ParameterDict({"b": t.zeros(2, dtype=t.float64), "a": 2, "c": t.zeros(1, 1)})),
        repr(t.nn.ParameterDict()),
        repr(t.nn.Sequential(values)),
        repr(t.nn.Parameter(t.arange(3.0))),
        repr(t.nn.Parameter(t.arange(3.0), requires_grad=False)),
        repr(t.nn.Parameter(t.ones(2, 2, dtype=t.float64))),
        repr(t.nn.parameter.UninitializedParameter()),
        repr(t.nn.parameter.UninitializedBuffer()),
        repr(t.nn.Buffer(t.zeros(2))),
        str(list(layer(t, 2, 1).named_parameters())),
    ]
