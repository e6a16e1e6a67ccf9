"""State dicts: their order, their metadata, what loading them complains of."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from tests.conformance.modules.registry import attempt, layer, network, program, warned


@program
def saved(t: Any) -> Any:
    net = network(t)
    state = net.state_dict()
    kept = net.state_dict(keep_vars=True)
    own: dict[str, Any] = {}
    return [
        state,
        state._metadata,
        type(state).__name__,
        list(net.state_dict(prefix="net.")),
        net.state_dict(prefix="net.")._metadata,
        net.state_dict(destination=own, prefix="a.") is own,
        list(own),
        [(type(v).__name__, v.requires_grad) for v in state.values()],
        [(type(v).__name__, v.requires_grad) for v in kept.values()],
        state["offset"].data_ptr() == net.offset.data_ptr(),
    ]


@program
def positional_arguments(t: Any) -> Any:
    net = network(t)
    own: OrderedDict[str, Any] = OrderedDict()
    said = warned(lambda: net.state_dict(own, "x.", True))
    return said, list(own), own["x.offset"].requires_grad


@program
def loaded(t: Any) -> Any:
    net, other = network(t), network(t)
    with t.no_grad():
        for p in other.parameters():
            p.mul_(3)
    before = net.offset
    result = net.load_state_dict(other.state_dict())
    return [
        str(result),
        result.missing_keys,
        result.unexpected_keys,
        net.offset is before,
        net.offset,
        net.first.weight,
        tuple(net.load_state_dict(dict(other.state_dict()))),
    ]


@program
def refused(t: Any) -> Any:
    net = network(t)

    def load(**changes: Any) -> Any:
        state = net.state_dict()
        for key, value in changes.items():
            path = key.replace("__", ".")
            if value is None:
                del state[path]
            else:
                state[path] = value
        return attempt(lambda: str(net.load_state_dict(state)))

    return [
        load(offset=None),
        load(first__weight=None, first__scale=None),
        load(third=t.ones(1)),
        load(third__weight=t.ones(1), first__bias=t.ones(1), second__9__weight=t.ones(1)),
        load(offset=t.ones(3)),
        load(offset=t.ones(1, 2), other=t.ones(1), second__0__weight=None),
        load(offset=3),
        load(offset="text"),
        load(offset=t.ones(2)),  # another element type
        attempt(lambda: net.load_state_dict([("offset", 1)])),
        attempt(lambda: net.load_state_dict(None)),
        attempt(lambda: net.load_state_dict({})),
    ]


@program
def not_strict(t: Any) -> Any:
    net = network(t)
    state = net.state_dict()
    del state["offset"]
    state["new"] = t.ones(1)
    state["first.new"] = t.ones(1)
    result = net.load_state_dict(state, strict=False)
    state["first.scale"] = t.ones(5)
    return str(result), result, attempt(lambda: net.load_state_dict(state, strict=False))


@program
def assigned(t: Any) -> Any:
    net = network(t)
    net.first.weight.requires_grad_(False)
    state = OrderedDict((k, v.float() * 2) for k, v in net.state_dict().items())
    state["second.0.weight"] = t.nn.Parameter(state["second.0.weight"], requires_grad=False)
    net.load_state_dict(state, assign=True)
    return [
        [(n, str(p.dtype), p.requires_grad, type(p).__name__) for n, p in net.named_parameters()],
        [(n, str(b.dtype)) for n, b in net.named_buffers()],
        net.offset.data_ptr() == state["offset"].data_ptr(),
        net.second[0].weight is state["second.0.weight"],
        net.first.scale is state["first.scale"],
        attempt(lambda: net.load_state_dict({"offset": t.ones(3)}, strict=False, assign=True)),
    ]


@program
def numbers_with_a_dimension(t: Any) -> Any:
    net = t.nn.Module()
    net.w = t.nn.Parameter(t.tensor(1.0))
    net.load_state_dict({"w": t.tensor([5.0])})
    return net.w


@program
def extra_state(t: Any) -> Any:
    class Extra(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.count = 3

        def get_extra_state(self) -> Any:
            return {"count": self.count}

        def set_extra_state(self, state: Any) -> None:
            self.count = state["count"]

    net = t.nn.Sequential(Extra(), layer(t))
    state = net.state_dict()
    state["0._extra_state"] = {"count": 9}
    log = [list(state), str(net.load_state_dict(state)), net[0].count]
    del state["0._extra_state"]
    log.append(attempt(lambda: net.load_state_dict(state)))
    state = net.state_dict()
    state["1._extra_state"] = 3
    log.append(attempt(lambda: net.load_state_dict(state)))
    log.append(attempt(lambda: net[1].get_extra_state()).split(":")[0])
    return log


@program
def versions(t: Any) -> Any:
    log: list[Any] = []

    class Versioned(t.nn.Module):
        _version = 3

        def __init__(self) -> None:
            super().__init__()
            self.new = t.nn.Parameter(t.zeros(1))

        def _load_from_state_dict(
            self, state_dict: Any, prefix: str, local_metadata: Any, *args: Any
        ) -> None:
            log.append((prefix, local_metadata.get("version"), len(args), args[0]))
            if local_metadata.get("version", 0) < 3:
                state_dict[prefix + "new"] = state_dict.pop(prefix + "old")
            super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)

    net = t.nn.Sequential(Versioned())
    state = net.state_dict()
    log.append(state._metadata)
    net.load_state_dict(state)
    old: Any = OrderedDict({"0.old": t.ones(1)})
    net.load_state_dict(old)
    old._metadata = {"0": {"version": 1}}
    net.load_state_dict(old)
    return [*log, net[0].new, list(old)]


@program
def saving_hooks(t: Any) -> Any:
    net = network(t)
    log: list[Any] = []

    def after(module: Any, state: Any, prefix: str, metadata: Any) -> None:
        log.append(("after", prefix, len(state), metadata))
        state[prefix + "hooked"] = 1

    net.first.register_state_dict_post_hook(after)
    net.register_state_dict_pre_hook(lambda m, prefix, keep: log.append(("before", prefix, keep)))
    handle = net.register_state_dict_post_hook(lambda *args: {"not": "allowed"})
    log.append(attempt(lambda: net.state_dict()))
    handle.remove()
    log.append(list(net.state_dict(prefix="p.", keep_vars=True)))
    net._register_state_dict_hook(lambda m, state, prefix, metadata: {"only": len(state)})
    log.append(net.state_dict())
    log.append(attempt(lambda: net._register_state_dict_hook(after)))
    return log


@program
def loading_hooks(t: Any) -> Any:
    net = network(t)
    log: list[Any] = []

    def before(module: Any, state: Any, prefix: str, *args: Any) -> None:
        log.append((type(module).__name__, prefix, sorted(state), len(args)))

    def rename(state: Any, prefix: str, *args: Any) -> None:
        state[prefix + "weight"] = state.pop(prefix + "renamed")

    def forgive(module: Any, keys: Any) -> None:
        log.append((type(module).__name__, list(keys.missing_keys), list(keys.unexpected_keys)))
        keys.missing_keys.clear()

    net.register_load_state_dict_pre_hook(before)
    net.first.register_load_state_dict_pre_hook(before)
    net.second[0]._register_load_state_dict_pre_hook(rename)
    state = net.state_dict()
    state["second.0.renamed"] = state.pop("second.0.weight") * 2
    log.append(attempt(lambda: str(net.load_state_dict(state))))
    log.append(net.second[0].weight)
    del state["offset"]
    net.second.register_load_state_dict_post_hook(forgive)
    log.append(attempt(lambda: str(net.load_state_dict(state))))
    net.register_load_state_dict_post_hook(lambda module, keys: keys)
    log.append(attempt(lambda: net.load_state_dict(state)))
    return log


@program
def overridden_pieces(t: Any) -> Any:
    class Own(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = t.nn.Parameter(t.ones(1))
            self.inner = layer(t)

        def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
            super()._save_to_state_dict(destination, prefix, keep_vars)
            destination[prefix + "packed"] = (1, 2)

        def state_dict(self, *args: Any, **kwargs: Any) -> Any:
            state = super().state_dict(*args, **kwargs)
            state["late"] = 1
            return state

    return list(t.nn.Sequential(Own(), Own()).state_dict())
