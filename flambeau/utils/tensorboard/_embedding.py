"""Files of the projector: vectors, labels, images, and the list of all of them."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from flambeau.utils.tensorboard._convert_np import make_np
from flambeau.utils.tensorboard._utils import encode_png, make_grid

__all__ = [
    "folder_of",
    "get_embedding_info",
    "make_mat",
    "make_sprite",
    "make_tsv",
    "write_embedding",
    "write_pbtxt",
]

_Array = np.ndarray[Any, Any]


def folder_of(tag: str) -> str:
    """A tag as the name of a folder."""
    return re.sub("[^A-Za-z0-9]", lambda sign: f"%{ord(sign[0]):02x}", tag)


def make_tsv(
    metadata: Sequence[Any], save_path: str, metadata_header: Sequence[str] | None = None
) -> None:
    """Write the labels of the vectors, one line each; with a header, several a line."""
    if metadata_header:
        if any(len(row) != len(metadata_header) for row in metadata):
            raise AssertionError(
                f"metadata_header has {len(metadata_header)} columns, and so must each row "
                "of metadata"
            )
        rows = [metadata_header, *metadata]
    else:
        rows = [(label,) for label in metadata]
    _write_table(rows, os.path.join(save_path, "metadata.tsv"))


def make_mat(matlist: Sequence[Sequence[float]], save_path: str) -> None:
    """Write the vectors, one line each."""
    _write_table(matlist, os.path.join(save_path, "tensors.tsv"))


def _write_table(rows: Sequence[Sequence[Any]], path: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.writelines("\t".join(map(str, row)) + "\n" for row in rows)


def make_sprite(label_img: Any, save_path: str) -> None:
    """Write the images ``(N, C, H, W)`` as one square sprite."""
    pictures = make_np(label_img)
    columns = math.ceil(math.sqrt(len(pictures)))
    table: _Array = make_grid(pictures, ncols=columns).transpose(1, 2, 0)
    if table.dtype != np.uint8:
        table = (table * 255).clip(0, 255).astype(np.uint8)
    side = max(table.shape[:2])
    square = np.zeros((side, side, table.shape[2]), np.uint8)
    square[: table.shape[0], : table.shape[1]] = table
    with open(os.path.join(save_path, "sprite.png"), "wb") as file:
        file.write(encode_png(square))


def get_embedding_info(
    metadata: object, label_img: Any, subdir: str, global_step: int | None, tag: str
) -> str:
    """The entry of the projector's list for one set of vectors."""
    lines = [f'tensor_name: "{tag}:{_step_name(global_step)}"']
    if metadata is not None:
        lines.append(f'metadata_path: "{subdir}/metadata.tsv"')
    if label_img is not None:
        height, width = label_img.shape[2:]
        sides = f"single_image_dim: {width}", f"single_image_dim: {height}"
        inner = "".join(f"    {line}\n" for line in (f'image_path: "{subdir}/sprite.png"', *sides))
        lines.append(f"sprite {{\n{inner}  }}")
    lines.append(f'tensor_path: "{subdir}/tensors.tsv"')
    return "embeddings {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def _step_name(global_step: int | None) -> str:
    return f"{global_step or 0:05d}"


def write_pbtxt(save_path: str, contents: str) -> None:
    """Write the projector's list, which it finds under this name."""
    with open(os.path.join(save_path, "projector_config.pbtxt"), "w", encoding="utf-8") as file:
        file.write(contents)


def write_embedding(
    log_dir: str,
    mat: Any,
    metadata: Sequence[Any] | None,
    label_img: Any,
    global_step: int | None,
    tag: str,
    metadata_header: Sequence[str] | None,
) -> str:
    """Write all files of one set of vectors and return its entry of the list."""
    vectors = make_np(mat)
    if vectors.ndim != 2:
        raise AssertionError(f"mat must be a matrix, one vector a row; got shape {vectors.shape}")
    for name, given in (("labels", metadata), ("images", label_img)):
        if given is not None and len(given) != len(vectors):
            raise AssertionError(f"#{name} ({len(given)}) must equal #data points ({len(vectors)})")
    subdir = f"{_step_name(global_step)}/{folder_of(tag)}"
    save_path = os.path.join(log_dir, *subdir.split("/"))
    os.makedirs(save_path, exist_ok=True)
    if metadata is not None:
        make_tsv(metadata, save_path, metadata_header)
    if label_img is not None:
        make_sprite(label_img, save_path)
    make_mat(vectors.tolist(), save_path)
    return get_embedding_info(metadata, label_img, subdir, global_step, tag)
