"""``torch.library`` and ``torch.ops``: operators of programs, and the package's own by name."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import pytest

import flambeau as torch
from flambeau import Tensor, library
from flambeau._library import registry


@pytest.fixture(autouse=True)
def operators_go_away():
    before = set(registry._operators)
    yield
    for name in set(registry._operators) - before:
        registry.remove(name)


def scaled_op():
    @library.custom_op("demo::scaled", mutates_args=(), device_types="cpu")
    def scaled(x: Tensor, by: float, times: int = 2) -> Tensor:
        return x * by * times

    return scaled


def with_derivative(op):
    def setup_context(ctx, inputs, output):
        _, by, times = inputs
        ctx.factor = by * times

    def backward(ctx, grad):
        return grad * ctx.factor, None, None

    op.register_autograd(backward, setup_context=setup_context)
    return op


def test_custom_op():
    scaled = scaled_op()
    x = torch.ones(2)
    assert torch.equal(scaled(x, 3.0), torch.full((2,), 6.0))
    assert torch.equal(torch.ops.demo.scaled(x, 3.0, times=1), torch.full((2,), 3.0))
    assert torch.equal(torch.ops.demo.scaled.default(x, by=3.0), torch.full((2,), 6.0))
    assert repr(scaled) == "<CustomOpDef(demo::scaled)>"
    assert scaled._schema == "(Tensor x, float by, SymInt times=2) -> Tensor"


def test_overloads_and_their_names():
    scaled_op()
    packet = torch.ops.demo.scaled
    assert str(packet) == "demo.scaled"
    assert repr(packet) == "<OpOverloadPacket(op='demo.scaled')>"
    assert packet.overloads() == ["default"]
    overload = packet.default
    assert overload.name() == "demo::scaled"
    assert str(overload) == "demo.scaled.default"
    assert str(overload._schema) == "demo::scaled(Tensor x, float by, SymInt times=2) -> Tensor"
    assert overload == torch.ops.demo.scaled.default
    assert overload.overloadpacket == packet
    assert pickle.loads(pickle.dumps(overload)) == overload


def test_calls_that_do_not_fit():
    scaled = scaled_op()
    with pytest.raises(RuntimeError, match="expected Tensor for argument 'x', got int"):
        scaled(3, 1.0)
    with pytest.raises(RuntimeError, match="expected float for argument 'by', got str"):
        scaled(torch.ones(1), "a")
    with pytest.raises(RuntimeError, match="argument 'by' is missing; declaration: demo::scaled"):
        scaled(torch.ones(1))
    with pytest.raises(RuntimeError, match="unexpected argument 'speed'"):
        scaled(torch.ones(1), 1.0, speed=3)
    with pytest.raises(RuntimeError, match="expected at most 3 positional arguments, got 4"):
        scaled(torch.ones(1), 1.0, 2, 3)


def test_derivative():
    scaled = with_derivative(scaled_op())
    x = torch.ones(2, requires_grad=True)
    y = scaled(x, 3.0)
    assert "demo_scaled" in type(y.grad_fn).__name__
    y.sum().backward()
    assert torch.equal(x.grad, torch.full((2,), 6.0))
    wide = torch.rand(3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: scaled(x, 1.5), (wide,))


def test_without_a_derivative():
    y = scaled_op()(torch.ones(2, requires_grad=True), 1.0)
    assert y.requires_grad
    with pytest.raises(RuntimeError, match="no derivative is registered"):
        y.sum().backward()


def test_lists_of_tensors():
    @library.custom_op("demo::total", mutates_args=())
    def total(xs: Sequence[Tensor], *, scale: float = 1.0) -> Tensor:
        return sum(xs) * scale

    def setup_context(ctx, inputs, keyword_only_inputs, output):
        ctx.count = len(inputs[0])
        ctx.scale = keyword_only_inputs["scale"]

    total.register_autograd(
        lambda ctx, grad: [grad * ctx.scale] * ctx.count, setup_context=setup_context
    )
    xs = [torch.ones(2, requires_grad=True) for _ in range(3)]
    total(xs, scale=2.0).sum().backward()
    assert all(torch.equal(x.grad, torch.full((2,), 2.0)) for x in xs)


def test_several_results():
    @library.custom_op("demo::halves", mutates_args=())
    def halves(x: Tensor) -> tuple[Tensor, Tensor]:
        return x[:1].clone(), x[1:].clone()

    first, second = halves(torch.tensor([1.0, 2.0]))
    assert (first.item(), second.item()) == (1, 2)
    assert halves._schema == "(Tensor x) -> (Tensor, Tensor)"


def test_arguments_that_are_changed():
    @library.custom_op("demo::increase", mutates_args={"x"})
    def increase(x: Tensor) -> None:
        x.add_(1)

    x = torch.zeros(1)
    assert increase(x) is None
    assert x.item() == 1
    assert increase._schema == "(Tensor(a0!) x) -> ()"


def test_results_must_be_new():
    @library.custom_op("demo::same", mutates_args=())
    def same(x: Tensor) -> Tensor:
        return x.view(-1)

    with pytest.raises(RuntimeError, match="the result shares memory with an argument"):
        same(torch.ones(2))


def test_functions_that_make_no_operator():
    with pytest.raises(ValueError, match="parameter x has no type annotation"):
        library.custom_op("demo::bare", lambda x: x, mutates_args=())

    def text(x: Tensor) -> Tensor:
        return x

    with pytest.raises(ValueError, match="expected a name 'namespace::name', got 'text'"):
        library.custom_op("text", text, mutates_args=())
    with pytest.raises(ValueError, match=r"mutates_args names \['y'\]"):
        library.infer_schema(text, mutates_args={"y"})

    def odd(x: complex) -> Tensor:
        return x

    with pytest.raises(ValueError, match="which no operator takes"):
        library.infer_schema(odd, mutates_args=())


def test_schemas():
    def every(
        x: Tensor,
        y: Tensor | None,
        sizes: Sequence[int],
        scale: int | float,
        dtype: torch.dtype | None = None,
        name: str = "a",
        *,
        flag: bool = False,
    ) -> Sequence[Tensor]:
        return [x]

    expected = (
        "(Tensor x, Tensor? y, SymInt[] sizes, Scalar scale, ScalarType? dtype=None, "
        'str name="a", *, bool flag=False) -> Tensor[]'
    )
    assert library.infer_schema(every, mutates_args=()) == expected


def test_library_objects():
    own = library.Library("demo", "FRAGMENT")
    assert own.define("moved(Tensor x, int by=3) -> Tensor") == "demo::moved"
    own.impl("moved", lambda x, by=3: x + by, "CPU")
    assert torch.ops.demo.moved(torch.zeros(1)).item() == 3
    with pytest.raises(RuntimeError, match="the overload 'default' has been defined already"):
        own.define("moved(Tensor x) -> Tensor")
    own.define("moved.twice(Tensor x) -> Tensor")
    own.impl("moved.twice", lambda x: x + 2, "CompositeImplicitAutograd")
    assert torch.ops.demo.moved.twice(torch.zeros(1)).item() == 2
    x = torch.zeros(1, requires_grad=True)
    torch.ops.demo.moved.twice(x).backward()  # recorded through its parts
    assert x.grad.item() == 1
    own._destroy()
    with pytest.raises(AttributeError, match=r"torch\.ops\.demo has no operator 'moved'"):
        _ = torch.ops.demo.moved
    with pytest.raises(ValueError, match="expected kind to be DEF, IMPL or FRAGMENT"):
        library.Library("demo", "NEW")
    with pytest.raises(ValueError, match="'aten' is a namespace of the package's own"):
        library.Library("aten", "DEF")


def test_functions_of_the_module():
    library.define("demo::next", "(Tensor x) -> Tensor")

    @library.impl("demo::next", "cpu")
    def next_cpu(x):
        return x + 1

    @library.register_fake("demo::next")
    def next_fake(x):
        return torch.empty_like(x)

    library.register_autograd("demo::next", lambda ctx, grad: grad)
    x = torch.zeros(1, requires_grad=True)
    torch.ops.demo.next(x).backward()
    assert x.grad.item() == 1
    assert set(library.opcheck("demo::next", (torch.ones(2),)).values()) == {"SUCCESS"}
    with pytest.raises(RuntimeError, match="there is no operator 'demo::nothing'"):
        library.register_fake("demo::nothing", next_fake)
    with pytest.raises(NotImplementedError, match="Triton kernels are not supported"):
        library.triton_op("demo::t", next_cpu, mutates_args=())


def test_a_kernel_for_another_device_only():
    library.define("demo::far", "(Tensor x) -> Tensor")
    library.impl("demo::far", "CUDA", lambda x: x)
    with pytest.raises(NotImplementedError, match="there is no kernel for device 'cpu'"):
        torch.ops.demo.far(torch.ones(1))


def test_opcheck_finds_mistakes():
    scaled = with_derivative(scaled_op())
    with pytest.raises(Exception, match="has no fake kernel"):
        library.opcheck(scaled, (torch.ones(2), 1.0))
    scaled.register_fake(lambda x, by, times=2: torch.empty(3))
    outcome = library.opcheck(scaled, (torch.ones(2), 1.0), raise_exception=False)
    assert "gives other shapes" in str(outcome["test_faketensor"])
    scaled.register_autograd(lambda ctx, grad: (grad, None, None))
    with pytest.raises(Exception, match="opcheck: demo::scaled: "):
        library.opcheck(
            scaled,
            (torch.ones(2, requires_grad=True), 3.0),
            test_utils="test_autograd_registration",
        )

    @library.custom_op("demo::sly", mutates_args=())
    def sly(x: Tensor) -> Tensor:
        return x.add_(1).clone()

    with pytest.raises(Exception, match="demo::sly changes 'x'"):
        library.opcheck(sly, (torch.ones(2),), test_utils="test_schema")


def test_opcheck_uses_tolerances():
    scaled = with_derivative(scaled_op())
    scaled.register_autograd(
        lambda ctx, grad: (grad * ctx.by * 1.01, None, None),
        setup_context=lambda ctx, inputs, output: setattr(ctx, "by", inputs[1] * inputs[2]),
    )
    call = (scaled, (torch.ones(2, requires_grad=True), 3.0))
    with pytest.raises(Exception, match="opcheck: demo::scaled: "):
        library.opcheck(*call, test_utils="test_autograd_registration")
    library.opcheck(*call, test_utils="test_autograd_registration", rtol=0.1)
    library.opcheck(*call, test_utils="test_autograd_registration", atol=1.0)
    with pytest.raises(ValueError, match="expected test_utils to be a subset of"):
        library.opcheck(*call, test_utils="test_autgrad")


def test_opcheck_calls_twice():
    calls = []

    @library.custom_op("demo::counting", mutates_args=())
    def counting(x: Tensor) -> Tensor:
        calls.append(x)
        return x + len(calls)

    call = (counting, (torch.ones(2),))
    with pytest.raises(Exception, match="gives other results in a second call"):
        library.opcheck(*call, test_utils="test_aot_dispatch_dynamic")
    library.opcheck(*call, test_utils="test_aot_dispatch_static", atol=1.5)


def test_rules_for_batches():
    seen = []

    @library.custom_op("demo::mixed", mutates_args=())
    def mixed(x: Tensor, others: Sequence[Tensor], *, by: float = 1.0) -> Tensor:
        return x.clone()

    @mixed.register_vmap
    def rule(info, in_dims, x, others, *, by):
        seen.append((info.batch_size, in_dims))
        return x * by + 100 + sum(others), in_dims[0]

    x = torch.rand(2, 3, requires_grad=True)
    one = torch.ones(3)
    result = torch.vmap(lambda x: mixed(x, [one, x], by=2.0))(x)
    assert torch.equal(result, x * 2 + 100 + (one + x))
    assert seen == [(2, (0, [None, 0]))]
    result.sum().backward()
    assert torch.equal(x.grad, torch.full((2, 3), 3.0))
    assert torch.equal(mixed(one, [one]), one)
    pair = torch.vmap(torch.vmap(lambda x: mixed(x, [x])))(torch.ones(2, 4, 3))
    assert torch.equal(pair, torch.full((2, 4, 3), 102.0))


def test_types_in_autocast():
    kinds = []

    @library.custom_op("demo::noting", mutates_args=())
    def noting(x: Tensor) -> Tensor:
        kinds.append((x.dtype, torch.is_autocast_enabled("cpu")))
        return x.clone()

    library.register_autocast("demo::noting", "cpu", torch.bfloat16)
    inputs = [torch.ones(2), torch.ones(2).double(), torch.ones(2).int()]
    with torch.autocast("cpu"):
        results = [noting(x).dtype for x in inputs]
    assert results == [torch.bfloat16, torch.float64, torch.int32]
    assert not any(is_enabled for _, is_enabled in kinds)
    assert noting(inputs[0]).dtype == torch.float32
    with pytest.raises(RuntimeError, match="device"):
        noting.register_autocast("bad", torch.bfloat16)


def test_registrations_that_are_refused():
    scaled = scaled_op()
    for call in (
        lambda: scaled.register_torch_dispatch(Tensor, print),
        lambda: library.register_torch_dispatch("demo::scaled", Tensor, print),
    ):
        with pytest.raises(NotImplementedError, match="define __torch_function__ in the class"):
            call()
    own = library.Library("demo_refused", "DEF")
    own.define("f(Tensor x) -> Tensor", "CONSERVATIVE")
    with pytest.raises(RuntimeError, match="Invalid alias_analysis type bad"):
        own.define("g(Tensor x) -> Tensor", "bad")
    with pytest.raises(TypeError, match="unexpected keyword argument 'tag'"):
        own.define("g(Tensor x) -> Tensor", tag=())
    with pytest.raises(NotImplementedError, match="leave out with_keyset"):
        own.impl("f", lambda keys, x: x, with_keyset=True)
    library.define("demo_refused::h", "(Tensor x) -> Tensor", lib=own)
    own._destroy()
    with pytest.raises(AttributeError, match="has no operator 'h'"):
        _ = torch.ops.demo_refused.h


def test_own_operators_by_name():
    aten = torch.ops.aten
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    assert torch.equal(aten.add.Tensor(x, x, alpha=2), x + 2 * x)
    assert torch.equal(aten.relu.default(x), x.relu())
    assert torch.equal(aten.sum.dim_IntList(x, [0]), x.sum(0))
    assert torch.equal(aten.mm(x, x), x @ x)
    assert torch.equal(aten.view.default(x, [4]), x.view(4))
    assert torch.equal(aten._softmax(x, 1, False), x.softmax(1))
    assert torch.equal(aten.slice.Tensor(x, 1, 0, 1), x[:, :1])
    assert torch.equal(aten.linalg_det(x), torch.linalg.det(x))
    assert torch.equal(aten.add_.Tensor(x.clone(), 1), x + 1)
    assert aten.add.Tensor.name() == "aten::add.Tensor"
    assert aten.add.Tensor is aten.add.Tensor
    assert aten.add.Tensor._schema.startswith("aten::add(input: Tensor | Number")
    with pytest.raises(AttributeError, match=r"torch\.ops\.aten has no operator 'sing'"):
        _ = aten.sing
    with pytest.raises(AttributeError, match=r"aten\.add has no overload 'Elephant'"):
        _ = aten.add.Elephant


def test_libraries_of_others():
    assert not hasattr(torch.ops.fbgemm, "jagged")
    with pytest.raises(OSError, match="compiled against PyTorch"):
        torch.ops.load_library("lib.so")
    with pytest.raises(OSError, match="compiled against PyTorch"):
        torch.classes.load_library("lib.so")
    with pytest.raises(RuntimeError, match=r"there is no class 'demo\.Thing'"):
        _ = torch.classes.demo.Thing


def test_keys_that_no_kernel_is_found_by():
    own = library.Library("keys", "DEF")
    own.define("twice(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="could not parse dispatch key: Cpu"):
        own.impl("twice", torch.sin, "Cpu")
    with pytest.raises(NotImplementedError, match="Autograd; use register_autograd"):
        own.impl("twice", torch.sin, "Autograd")
    with pytest.raises(RuntimeError, match="could not parse"):
        library.impl("keys::twice", "cpuu", torch.sin)
    with pytest.raises(RuntimeError, match="could not parse"):
        library.register_kernel("keys::twice", "cpuu", torch.sin)
    own.impl("twice", lambda x: x * 2, "XPU")
    library.impl("keys::twice", "meta", lambda x: x.new_empty(7))
    assert torch.ops.keys.twice(torch.empty(2, device="meta")).shape == (7,)
