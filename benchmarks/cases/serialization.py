"""Checkpoints of few large and many small tensors, in a temporary folder."""

import atexit
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.case import Namespace, add_case

LARGE = [(1024, 1024)] * 100  # 400 MB
SMALL = [(16, 16)] * 1000


def saved(shapes: list[tuple[int, ...]]) -> Callable[[Any], Namespace]:
    """A state dict, and where it is saved already."""

    def prepare(t: Any) -> Namespace:
        folder = tempfile.TemporaryDirectory()
        atexit.register(folder.cleanup)
        state = {f"layers.{i}.weight": t.ones(shape) for i, shape in enumerate(shapes)}
        path = Path(folder.name) / "state.pt"
        t.save(state, path)
        return {"t": t, "state": state, "path": path, "file": io.BytesIO(path.read_bytes())}

    return prepare


CHECK = "[len(t.load(path)), t.load(path)['layers.7.weight'].double().sum().item()]"

for name, shapes in {"400 MB": LARGE, "1000 small tensors": SMALL}.items():
    prepare = saved(shapes)
    add_case("checkpoints", f"save  [{name}]", prepare, "t.save(state, path)", check=CHECK)
    add_case("checkpoints", f"load  [{name}]", prepare, "t.load(path)", check=CHECK)
    add_case("checkpoints", f"load, mapped  [{name}]", prepare, "t.load(path, mmap=True)")
    loading = "file.seek(0); t.load(file)"
    add_case("checkpoints", f"load from memory  [{name}]", prepare, loading)
