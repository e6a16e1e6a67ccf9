"""Module: members, modes, conversions, copies, how it is shown."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from typing import Any, get_type_hints

import pytest

import flambeau as torch
from flambeau import nn
from tests.nn.nets import Affine, Net

PARAMETERS = [
    "scale",
    "first.weight",
    "first.bias",
    "rest.0.weight",
    "rest.0.bias",
    "rest.1.weight",
    "rest.1.bias",
]


def names(pairs: Any) -> list[str]:
    return [name for name, _ in pairs]


def test_members_are_found_under_their_paths() -> None:
    net = Net()
    assert names(net.named_parameters()) == PARAMETERS
    assert names(net.named_parameters(recurse=False)) == ["scale"]
    assert names(net.named_parameters(prefix="net"))[:2] == ["net.scale", "net.first.weight"]
    assert names(net.named_buffers()) == ["first.calls", "rest.0.calls", "rest.1.calls"]
    assert names(net.named_children()) == ["first", "rest"]
    assert names(net.named_modules()) == ["", "first", "rest", "rest.0", "rest.1"]
    assert [p.numel() for p in net.parameters()] == [1, 12, 4, 16, 4, 8, 2]


def test_shared_members_are_found_once() -> None:
    shared = Affine(3, 3)
    net = nn.Sequential(shared, shared)
    assert names(net.named_parameters()) == ["0.weight", "0.bias"]
    assert len(list(net.named_parameters(remove_duplicate=False))) == 4
    assert len(list(net.modules())) == 2
    assert list(net.state_dict())[3:] == ["1.weight", "1.bias", "1.calls"]
    net(torch.ones(1, 3)).sum().backward()
    # Through both uses: 3 of the second, and 3 times the weight of what the first gives.
    assert shared.bias.grad.tolist() == [4.0, 4.0, 4.0]


def test_a_tied_weight_stays_tied() -> None:
    net = nn.ModuleDict({"embed": Affine(4, 3), "out": Affine(4, 3)})
    net["out"].weight = net["embed"].weight
    copied = copy.deepcopy(net)
    assert copied["out"].weight is copied["embed"].weight
    net.double()
    assert net["out"].weight is net["embed"].weight
    assert net["out"].weight.dtype == torch.float64


def test_registration_by_hand() -> None:
    net = nn.Module()
    net.register_parameter("w", nn.Parameter(torch.ones(2)))
    net.register_parameter("none", None)
    net.register_buffer("b", torch.ones(3), persistent=False)
    net.add_module("child", nn.Module())
    net.register_module("other", None)
    assert names(net.named_parameters()) == ["w"]
    assert list(net.state_dict()) == ["w"]
    assert net.none is None
    assert net.other is None
    assert names(net.named_children()) == ["child"]


@pytest.mark.parametrize(
    ("register", "message"),
    [
        (lambda m: m.register_parameter("a.b", None), 'parameter name can\'t contain "."'),
        (lambda m: m.register_buffer("", None), 'buffer name can\'t be empty string ""'),
        (lambda m: m.add_module("a.b", None), 'module name can\'t contain ".", got: a.b'),
        (lambda m: m.register_parameter("forward", None), "attribute 'forward' already exists"),
        (lambda m: m.add_module("weight", None), "attribute 'weight' already exists"),
    ],
)
def test_bad_names(register: Any, message: str) -> None:
    with pytest.raises(KeyError) as caught:
        register(Affine(1, 1))
    assert caught.value.args == (message,)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("weight", torch.ones(1), "cannot assign 'torch.FloatTensor' as parameter 'weight'"),
        ("calls", 3, "cannot assign 'int' as buffer 'calls'"),
    ],
)
def test_a_member_is_not_overwritten_by_accident(name: str, value: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        setattr(Affine(1, 1), name, value)


def test_a_name_may_change_its_kind() -> None:
    net = Affine(1, 1)
    net.calls = nn.Parameter(torch.ones(1))
    assert "calls" in net._parameters
    assert not net._buffers
    net.plain = 3
    net.plain = nn.Module()
    assert "plain" not in net.__dict__
    del net.weight, net.plain
    assert names(net.named_parameters()) == ["bias", "calls"]
    with pytest.raises(AttributeError, match="'Affine' object has no attribute 'weight'"):
        _ = net.weight


def test_init_comes_first() -> None:
    class Early(nn.Module):
        def __init__(self, value: Any) -> None:
            self.value = value
            super().__init__()

    with pytest.raises(AttributeError, match=r"cannot assign module before Module.__init__\(\)"):
        Early(nn.Module())
    with pytest.raises(AttributeError, match=r"cannot assign parameters before Module.__init__"):
        Early(nn.Parameter())
    assert Early(3).value == 3  # what is no member may come before


def test_paths() -> None:
    net = Net()
    assert net.get_submodule("rest.1") is net.rest[1]
    assert net.get_parameter("rest.1.weight") is net.rest[1].weight
    assert net.get_buffer("first.calls") is net.first.calls
    net.set_submodule("rest.1", nn.Identity())
    assert isinstance(net.rest[1], nn.Identity)
    with pytest.raises(AttributeError, match="Net has no attribute `second`"):
        net.get_submodule("second.0")
    with pytest.raises(AttributeError, match=r"`weight` is not an nn\.Module"):
        net.get_submodule("first.weight")


def test_modes() -> None:
    net = Net()
    assert net.eval() is net
    assert not any(module.training for module in net.modules())
    net.rest.train()
    assert [module.training for module in net.modules()] == [False, False, True, True, True]
    with pytest.raises(ValueError, match="expected to be boolean"):
        net.train("yes")


def test_apply_goes_from_the_inside_out() -> None:
    net, order = Net(), []
    assert net.apply(lambda module: order.append(type(module).__name__)) is net
    assert order == ["Affine", "Affine", "Affine", "Sequential", "Net"]


def test_gradients_are_forgotten_or_zeroed() -> None:
    net = Net()
    net(torch.ones(2, 3)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert all(p.grad.abs().sum() == 0 for p in net.parameters())
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    net.requires_grad_(False)
    assert not net(torch.ones(2, 3)).requires_grad


def test_conversions_keep_the_objects() -> None:
    net = Net()
    net(torch.ones(2, 3)).sum().backward()
    before = list(net.parameters())
    assert net.double() is net
    for parameter, same in zip(before, net.parameters(), strict=True):
        assert parameter is same
        assert parameter.dtype == torch.float64
        assert parameter.grad.dtype == torch.float64
    assert net.first.calls.dtype == torch.int64  # only floating point is converted
    assert net(torch.ones(2, 3, dtype=torch.float64)).dtype == torch.float64
    assert net.to(torch.float16).scale.dtype == torch.float16
    assert net.to(torch.ones(1)).scale.dtype == torch.float32
    assert net.to("cpu", torch.bfloat16).scale.dtype == torch.bfloat16
    with pytest.raises(TypeError, match="only accepts floating point or complex dtypes"):
        net.to(torch.int32)


def test_memory_format_concerns_images() -> None:
    net = nn.Module()
    net.image = nn.Parameter(torch.ones(2, 3, 4, 5))
    net.vector = nn.Parameter(torch.ones(3))
    net.to(memory_format=torch.channels_last)
    assert net.image.is_contiguous(memory_format=torch.channels_last)
    assert net.vector.stride() == (1,)


@pytest.mark.parametrize("made", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_copies_stand_alone(made: Any) -> None:
    net = Net().eval()
    other = made(net)
    assert type(other) is Net
    assert not other.training
    assert list(other.state_dict()) == list(net.state_dict())
    with torch.no_grad():
        other.scale.zero_()
    assert net.scale.item() == 2
    assert other(torch.ones(1, 3)).tolist() == [[0.0, 0.0]]


def test_a_shallow_copy_shares() -> None:
    net = Net()
    other = copy.copy(net)
    assert other.first is net.first
    assert other._parameters is net._parameters


def test_repr() -> None:
    class Described(nn.Module):
        def extra_repr(self) -> str:
            return "size=3"

    net = Net()
    net.described = Described()
    net.none = None
    assert repr(Described()) == "Described(size=3)"
    assert repr(net) == (
        "Net(\n"
        "  (first): Affine()\n"
        "  (rest): Sequential(\n"
        "    (0): Affine()\n"
        "    (1): Affine()\n"
        "  )\n"
        "  (described): Described(size=3)\n"
        ")"
    )


def test_names_of_members_are_listed() -> None:
    listed = dir(Net())
    assert {"first", "rest", "scale", "forward"} <= set(listed)
    assert "0" not in dir(Net().rest)


def test_classes_with_other_bases() -> None:
    class Counted:
        def __init__(self, count: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.count = count

    class First(Counted, nn.Module):
        pass

    class Second(nn.Module, Counted):
        call_super_init = True

    class Table(nn.Module, dict):
        pass

    assert First(3).count == 3
    assert Second(4).count == 4
    table = Table()
    table["a"] = 1
    table.layer = Affine(1, 1)
    assert (table["a"], next(iter(table.state_dict()))) == (1, "layer.weight")


def test_slots_and_weak_references() -> None:
    class Slotted(nn.Module):
        __slots__ = ("fast",)

        def __init__(self) -> None:
            super().__init__()
            self.fast = 1
            self.cycle = [self]

    net = Slotted()
    reference = weakref.ref(net)
    assert "fast" not in net.__dict__
    del net
    gc.collect()
    assert reference() is None


def test_attributes_of_a_wrapper() -> None:
    class Wrapper(nn.Module):
        def __init__(self, inner: Any) -> None:
            super().__init__()
            self.inner = inner

        def __getattr__(self, name: str) -> Any:
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.inner, name)

    net = Wrapper(Affine(2, 3))
    assert net.weight is net.inner.weight
    with pytest.raises(AttributeError, match="'Affine' object has no attribute 'nothing'"):
        _ = net.nothing


def test_attributes_set_around_the_module() -> None:
    net = Affine(1, 1)
    object.__setattr__(net, "hidden", Affine(1, 1))  # a module that is no child
    assert names(net.named_children()) == []
    assert isinstance(net.hidden, Affine)
    net.__dict__["plain"] = 3
    assert net.plain == 3


def test_getattr_put_on_a_class_later() -> None:
    class Later(nn.Module):
        pass

    net = Later()
    Later.__getattr__ = lambda self, name: name
    assert net.anything == "anything"
    del Later.__getattr__
    with pytest.raises(AttributeError):
        _ = net.anything


def test_registration_hooks() -> None:
    seen: list[str] = []
    module = nn.modules.module
    handles = [
        module.register_module_parameter_registration_hook(lambda m, name, p: seen.append(name)),
        module.register_module_module_registration_hook(lambda m, name, c: seen.append(name)),
        module.register_module_buffer_registration_hook(lambda m, name, b: b + 5),
    ]
    net = Net()
    for handle in handles:
        handle.remove()
    Net()
    assert seen[:4] == ["weight", "bias", "first", "weight"]
    assert len(seen) == 11
    assert net.first.calls.item() == 5


def test_data_parallel_on_one_device() -> None:
    net = nn.DataParallel(Net())
    assert torch.equal(net(torch.ones(2, 3)), net.module(torch.ones(2, 3)))
    assert next(iter(net.state_dict())) == "module.scale"


def test_packages_are_there_without_importing_them() -> None:
    assert nn.utils.__name__ == "flambeau.nn.utils"  # and not the one of nn.modules
    assert nn.init.__name__ == "flambeau.nn.init"
    assert nn.attention.__name__ == "flambeau.nn.attention"
    assert nn.modules.utils.__name__ == "flambeau.nn.modules.utils"
    assert not hasattr(nn, "container")
    assert nn.common_types._size_2_t == int | tuple[int, int]


def test_arguments_for_making_tensors() -> None:
    assert nn.factory_kwargs(None) == {}
    given = {"device": "cpu", "factory_kwargs": {"dtype": torch.float64}}
    assert nn.factory_kwargs(given) == {"device": "cpu", "dtype": torch.float64}
    with pytest.raises(TypeError, match="device specified twice"):
        nn.factory_kwargs({"device": "cpu", "factory_kwargs": {"device": "cpu"}})
    with pytest.raises(TypeError, match=r"unexpected kwargs \{'size'\}"):
        nn.factory_kwargs({"size": 3})


def test_annotations_can_be_evaluated() -> None:
    hints = get_type_hints(nn.Sequential)
    assert hints["training"] is bool
    assert hints["_modules"] == dict[str, nn.Module]


def test_a_convolution_of_single_pixels_has_the_strides_it_was_asked_for() -> None:
    weight = nn.Conv2d(3, 2, 1).to(memory_format=torch.channels_last).weight
    assert weight.stride() == (3, 1, 3, 3)
