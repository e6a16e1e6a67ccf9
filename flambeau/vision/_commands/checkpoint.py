"""Checkpoints as people save them: a state dict, its wrappers, and the metadata beside it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision._commands.mistake import Mistake

__all__ = ["Checkpoint", "names_of", "read_checkpoint"]

# Where training programs put the state dict, the network's name and the names of its classes.
_STATES = ("state_dict", "model_state_dict", "model_state", "model", "net", "network", "weights")
_MODELS = ("arch", "architecture", "model_name", "model")
_CLASSES = ("classes", "class_names", "categories", "class_to_idx", "idx_to_class")
# What wrappers of networks write before every name.
_PREFIXES = ("module.", "_orig_mod.", "model.", "net.", "network.")


@dataclass
class Checkpoint:
    """A state dict, and what the file says about it."""

    state: Mapping[str, Tensor]
    model: str | None = None
    classes: list[str] | None = None
    transforms: dict[str, Any] | None = None  # arguments of the preparation of images


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a file that `save` or safetensors wrote; no code of it is run."""
    content = _content(path)
    state = _state(content)
    if state is None:
        raise Mistake(
            f"{path} holds no state dict, only {_described(content)}: "
            "save model.state_dict(), alone or under the key 'state_dict'"
        )
    around = {} if state is content else content
    name = next((around[key] for key in _MODELS if isinstance(around.get(key), str)), None)
    listed = next((around[key] for key in _CLASSES if around.get(key)), None)
    transforms = around.get("transforms")
    return Checkpoint(
        _without_prefix(state),
        model=name,
        classes=None if listed is None else names_of(listed, f"the classes in {path}"),
        transforms=dict(transforms) if isinstance(transforms, Mapping) else None,
    )


def names_of(listed: Any, where: str) -> list[str]:
    """Names in the order of their numbers, from a list or from a dictionary in either direction."""
    if isinstance(listed, Mapping):
        pairs = [(k, v) if _is_number(v) else (v, k) for k, v in listed.items()]
        if all(_is_number(number) for _, number in pairs):
            numbered = {int(number): str(name) for name, number in pairs}
            if sorted(numbered) == list(range(len(pairs))):
                return [numbered[number] for number in range(len(pairs))]
        raise Mistake(f"{where}: a dictionary must give each class a number, from 0 on")
    if isinstance(listed, Iterable) and not isinstance(listed, str):
        return [str(name) for name in listed]
    raise Mistake(f"{where}: expected a list or a dictionary, got {type(listed).__name__}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, str) and value.isdecimal())


def _content(path: Path) -> Any:
    if not path.is_file():
        what = "a folder" if path.is_dir() else "no file that can be read twice"
        raise Mistake(f"{path} is {what}" if path.exists() else f"there is no file {path}")
    try:
        if path.suffix == ".safetensors":
            return _safetensors(path)
        return fb.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, ValueError, EOFError) as error:
        raise Mistake(f"{path} cannot be read as weights: {error}") from error
    except Exception as error:  # of the reader of pickles, which has classes of its own
        if "Unsupported global" not in str(error):
            raise Mistake(f"{path} cannot be read as weights: {error}") from error
        raise Mistake(
            f"{path} holds more than tensors, perhaps a whole network, which could run code: save "
            f"model.state_dict() instead ({error})"
        ) from error


def _safetensors(path: Path) -> dict[str, Any]:
    """Tensors, with the notes of the file around them; lists are written as JSON there."""
    from flambeau.serialization.safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        notes = file.metadata() or {}
    return {**{name: _decoded(text) for name, text in notes.items()}, "state_dict": state}


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _state(content: Any) -> Mapping[str, Tensor] | None:
    if _is_state(content):
        return content  # type: ignore[no-any-return]
    if not isinstance(content, Mapping):
        return None
    named = [content[key] for key in _STATES if key in content]
    found = [each for each in named if _is_state(each)]
    others = [each for each in content.values() if _is_state(each)]
    if found:
        return found[0]  # type: ignore[no-any-return]
    return others[0] if len(others) == 1 else None


def _is_state(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(isinstance(k, str) and isinstance(v, Tensor) for k, v in value.items())
    )


def _without_prefix(state: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    names = dict(zip(state, state, strict=True))  # from those of the file to shorter ones
    while prefix := next(
        (each for each in _PREFIXES if all(name.startswith(each) for name in names.values())), None
    ):
        names = {old: name.removeprefix(prefix) for old, name in names.items()}
    if all(old == new for old, new in names.items()):
        return state  # kept as it is, with its version metadata
    return {new: state[old] for old, new in names.items()}


def _described(content: Any) -> str:
    if isinstance(content, Mapping):
        keys = [repr(key) for key in list(content)[:8]]
        return f"a dictionary with the keys {', '.join(keys) or '(none)'}"
    return f"a {type(content).__name__}"
