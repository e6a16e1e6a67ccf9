"""Parameters and buffers as tensors."""

from __future__ import annotations

import copy
import pickle
from typing import Any

from tests.conformance.modules.registry import attempt, program


@program
def construction(t: Any) -> Any:
    data = t.arange(3.0)
    one = t.nn.Parameter(data)
    two = t.nn.Parameter(one, requires_grad=False)
    data[0] = 7
    return [
        (one, one.requires_grad, one.is_leaf, type(one).__name__, one._is_view()),
        (two, two.requires_grad, two is one),
        t.nn.Parameter(),
        t.nn.Parameter(t.ones(2, requires_grad=True) * 2).is_leaf,
        attempt(lambda: t.nn.Parameter(t.arange(3))).split(":")[0],
        t.nn.Parameter(t.arange(3), requires_grad=False),
        t.nn.Parameter(data=t.ones(1), requires_grad=True),
        attempt(lambda: t.nn.Parameter([1.0])).split(":")[0],
    ]


@program
def kinds_of_results(t: Any) -> Any:
    p = t.nn.Parameter(t.ones(2))
    values = (p + 1, p.detach(), p.data, p.clone(), p.view(1, 2), p[0], p.double(), p.to(t.float32))
    return [(type(v).__name__, v.requires_grad, v.is_leaf) for v in values]


@program
def counted_as_parameters(t: Any) -> Any:
    class Own(t.nn.Parameter):
        pass

    class Marked(t.Tensor):
        pass

    marked = t.ones(1).as_subclass(Marked)
    marked._is_param = True
    plain = t.ones(1)
    plain._is_param = True
    own = Own(t.ones(1))
    return [
        [isinstance(v, t.nn.Parameter) for v in (own, marked, plain, t.ones(1), 3)],
        [isinstance(v, Own) for v in (own, marked, t.nn.Parameter(t.ones(1)))],
        type(own).__name__,
        isinstance(t.nn.Buffer(t.ones(1)), t.nn.Buffer),
        isinstance(t.ones(1), t.nn.Buffer),
        issubclass(t.nn.Parameter, t.Tensor),
    ]


@program
def copies(t: Any) -> Any:
    p = t.nn.Parameter(t.arange(4.0).reshape(2, 2).t())
    p.note = "text"
    p.sum().backward()
    frozen = t.nn.Parameter(t.ones(2), requires_grad=False)

    def described(made: Any, each: Any) -> Any:
        return (
            made,
            type(made).__name__,
            made.requires_grad,
            made.is_leaf,
            made.stride(),
            made.grad is None,
            made.data_ptr() == each.data_ptr(),
            getattr(made, "note", None),
        )

    log = [
        described(copied(each), each)
        for each in (p, frozen)
        for copied in (copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), copy.copy)
    ]
    pair = copy.deepcopy([p, p])
    return [*log, pair[0] is pair[1]]


@program
def pickled_together(t: Any) -> Any:
    p = t.nn.Parameter(t.ones(2))
    one, two = pickle.loads(pickle.dumps((p, p)))
    return one is two, type(one).__name__


@program
def buffers(t: Any) -> Any:
    one = t.nn.Buffer(t.ones(2))
    two = t.nn.Buffer(t.ones(2, requires_grad=True), persistent=False)
    return [
        (one, one.persistent, one.requires_grad),
        (two, two.persistent, two.requires_grad, two.is_leaf),
        t.nn.Buffer(),
    ]


@program
def before_the_size_is_known(t: Any) -> Any:
    p = t.nn.UninitializedParameter(dtype=t.float64)
    b = t.nn.UninitializedBuffer()
    log = [
        isinstance(p, t.nn.Parameter),
        isinstance(b, t.nn.Buffer),
        t.nn.parameter.is_lazy(p),
        t.nn.parameter.is_lazy(t.ones(1)),
        attempt(lambda: p.shape),
        attempt(lambda: p.share_memory_()),
        type(copy.deepcopy(p)).__name__,
        type(pickle.loads(pickle.dumps(p))).__name__,
        p.requires_grad,
        b.requires_grad,
    ]
    p.materialize((2, 3))
    b.materialize((4,), dtype=t.int64)
    return [
        *log,
        (type(p).__name__, tuple(p.shape), p.dtype, p.requires_grad),
        (type(b).__name__, tuple(b.shape), b.dtype),
    ]
