"""Examples of checkpoints and of what is fetched (operands: see ``tests/census/__init__.py``)."""

from __future__ import annotations

import atexit
import tempfile
from pathlib import Path

_FOLDER = f"__import__('importlib').import_module('{__name__}').new_folder()"
_FILE = "__import__('io').BytesIO()"
_PICKLE = "__import__('pickle')"
_LAYER = "nn.Linear(3, 2)"
_SGD = "t.optim.SGD([nn.Parameter(x.clone())], lr=0.1, momentum=0.9)"


def new_folder() -> Path:
    """An empty folder, which is removed when the process ends."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return Path(folder.name)


def saved(expression: str) -> str:
    """What an expression of `f`, the path of a saved tensor, gives."""
    return f"(lambda f: (t.save([x, n], f), {expression})[1])({_FOLDER} / 'saved.pt')"


def written(call: str) -> str:
    """What is loaded from `f` after a call that writes to it."""
    return f"(lambda f: ({call}, f.seek(0), t.load(f))[-1])({_FILE})"


def stepped(expression: str) -> str:
    """What an expression of `o`, an optimiser that has made a step, gives."""
    step = "setattr(o.param_groups[0]['params'][0], 'grad', y.clone()), o.step()"
    return f"(lambda o: ({step}, {expression})[-1])({_SGD})"


def hubbed(call: str) -> str:
    """What a call gives for which `d` is a folder with a `hubconf.py`."""
    source = "'def double(value, pretrained=False, model_math=None): return value * 2'"
    return f"(lambda d: ((d / 'hubconf.py').write_text({source}), {call})[1])({_FOLDER})"


CHECKPOINTS: dict[str, list[str]] = {
    "nn.Module.load_state_dict": [
        (
            "(lambda m: (m.load_state_dict(state_dict={'weight': x, 'bias': v[:2]}, strict=True,"
            f" assign=True), m.weight.detach())[1])({_LAYER})"
        ),
        f"tuple({_LAYER}.load_state_dict({{'weight': x, 'more': y}}, strict=False))",
    ],
    "nn.Module.state_dict": [
        f"list({_LAYER}.state_dict(destination={{}}, prefix='a.', keep_vars=True))",
        f"list({_LAYER}.state_dict().values())",
    ],
    "load": [
        saved("t.load(f)"),
        saved("t.load(f=f, map_location='cpu', weights_only=True)"),
        saved("t.load(f, map_location=t.device('cpu'), mmap=True)"),
        saved("t.load(f, map_location=lambda storage, location: storage, weights_only=False)"),
        saved(f"t.load(f, pickle_module={_PICKLE})"),
    ],
    "save": [
        written("t.save(obj=[x, n, (m, c)], f=f)"),
        written(f"t.save([x], f, pickle_module={_PICKLE}, pickle_protocol=2)"),
        written("t.save([x[:, 1:], x], f, _use_new_zipfile_serialization=False)"),
    ],
    "optim.Optimizer.state_dict": [
        stepped("o.state_dict()['state'][0]['momentum_buffer']"),
        f"{_SGD}.state_dict()['param_groups'][0]['params']",
    ],
    "optim.Optimizer.load_state_dict": [
        stepped(
            f"(lambda p: (p.load_state_dict(o.state_dict()), p.state_dict()['state'][0]))({_SGD})"
            "[1]['momentum_buffer']"
        ),
    ],
    "hub.load_state_dict_from_url": [
        saved(
            "t.hub.load_state_dict_from_url(url=f.as_uri(), model_dir=str(f.parent / 'kept'),"
            " map_location='cpu', progress=False, check_hash=True, file_name='kept.pt',"
            " weights_only=True)"
        ),
    ],
    "hub.load": [
        hubbed(
            "t.hub.load(repo_or_dir=str(d), model='double', source='local', force_reload=True,"
            " verbose=False, trust_repo=True, pretrained=True, model_math='x', value=x)"
        ),
        hubbed("t.hub.load(str(d), 'double', 3, source='local')"),
    ],
    "hub.download_url_to_file": [
        saved(
            "(t.hub.download_url_to_file(f.as_uri(), str(f.parent / 'copy'), progress=False),"
            " t.load(f.parent / 'copy'))[1]"
        ),
    ],
    "hub": ["t.hub.__name__.rpartition('.')[2]"],
    "hub.get_dir": ["isinstance(t.hub.get_dir(), str)"],
    "Tensor.storage": ["len(x.storage())", "x.storage().data_ptr() == x.data_ptr()"],
    "Tensor.untyped_storage": [
        "x.untyped_storage().nbytes()",
        "x.untyped_storage().data_ptr() == x[1:].untyped_storage().data_ptr()",
    ],
    "utils.model_zoo": ["__import__(t.__name__ + '.utils.model_zoo').__name__ == t.__name__"],
    "utils.model_zoo.load_url": [
        saved(
            "__import__('importlib').import_module(t.__name__ + '.utils.model_zoo').load_url("
            "f.as_uri(), model_dir=str(f.parent / 'kept'), map_location='cpu', progress=False)"
        ),
    ],
    "serialization": ["t.serialization.__name__.rpartition('.')[2]"],
    "serialization.add_safe_globals": [
        (
            "(t.serialization.add_safe_globals(safe_globals=[dict]), dict in"
            " t.serialization.get_safe_globals(), t.serialization.clear_safe_globals())[1]"
        ),
    ],
    "serialization.safe_globals": [
        (
            "(lambda s: (s.__enter__(), dict in t.serialization.get_safe_globals(),"
            " s.__exit__(None, None, None))[1])(t.serialization.safe_globals([dict]))"
        ),
    ],
}
