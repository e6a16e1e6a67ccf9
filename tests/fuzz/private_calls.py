"""Calls the operators that others are made of with arguments that nobody has checked before.

    python -m tests.fuzz.private_calls COUNT [NAME...]

There are no samples of them: calls are drawn from the signature, and those that an operator takes
are bent further, so that more and more of them pass its checks. Each is printed before it is made,
over the one before: what stands last is to blame.
"""

import faulthandler
import functools
import random
import sys
import warnings
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

import flambeau
from flambeau import _C
from tests.fuzz.calls import SECONDS, attempt, limit_memory
from tests.fuzz.mutations import Mutator
from tests.ops import dtypes
from tests.ops.make import DType, Input
from tests.ops.registry import Sample


def tensor(*shape: int, dtype: str = "float32", below: int = 1000) -> Input:
    """A tensor of the numbers from 0 on, over and over if they end before."""
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape) % below
    return Input(dtypes.rounded(values, dtype), dtype)


def ints(*values: int) -> Input:
    return Input(np.array(values), "int64")


GEOMETRY = ([1], [0], [1], False, [0], 1)
LISTED = [tensor(2, 3)]
# Calls of operators that hardly anything drawn would satisfy.
TAKEN: dict[str, tuple[Any, ...]] = {
    "_adafactor_step": (
        *([tensor(2, 3)], [tensor(2, 3)], [tensor(2, 1)], [tensor(1, 3)], [tensor(1)]),
        *(0.1, -0.8, None, 1e-3, 1.0, 0.0, False),
    ),
    "_amp_foreach_non_finite_check_and_unscale_": ([tensor(2, 3)], tensor(1), tensor(1)),
    "_amp_update_scale_": (tensor(1), tensor(1, dtype="int32"), tensor(1), 2.0, 0.5, 2),
    "_box_iou_rotated": (tensor(3, 5), tensor(2, 5)),
    "_convolution_input": (tensor(2, 3, 4), tensor(3, 2, 3), [2, 2, 6], *GEOMETRY),
    "_convolution_weight": (tensor(2, 3, 4), tensor(2, 2, 6), [3, 2, 3], *GEOMETRY),
    "_deform_conv2d": (
        *(tensor(1, 2, 4, 4), tensor(1, 8, 3, 3), tensor(1, 4, 3, 3), tensor(2, 2, 2, 2)),
        *(tensor(2), [1, 1], [0, 0], [1, 1]),
    ),
    "_fractional_max_pool2d": (tensor(1, 2, 6, 6), 2, 3, tensor(1, 2, 2, below=1)),
    "_fractional_max_pool3d": (tensor(1, 2, 6, 6, 6), 2, 3, tensor(1, 2, 3, below=1)),
    "_fused_adadelta_": (*(LISTED for _ in range(4)), [tensor(1)]),
    "_fused_adagrad_": (*(LISTED for _ in range(3)), [tensor(1)]),
    "_fused_adam_": (*(LISTED for _ in range(4)), [], [tensor(1)]),
    "_fused_adamax_": (*(LISTED for _ in range(4)), [tensor(1)]),
    "_fused_adamw_": (*(LISTED for _ in range(5)), [tensor(1)]),
    "_fused_asgd_": (*(LISTED for _ in range(3)), *([tensor(1)] for _ in range(3))),
    "_fused_nadam_": (*(LISTED for _ in range(4)), *([tensor(1)] for _ in range(2))),
    "_fused_radam_": (*(LISTED for _ in range(4)), [tensor(1)]),
    "_fused_rmsprop_": (*(LISTED for _ in range(5)), [tensor(1)]),
    "_fused_rprop_": (*(LISTED for _ in range(4)), [tensor(1)]),
    "_fused_sgd_": tuple(LISTED for _ in range(3)),
    "_map_bytes": (tensor(2, 3, 4, dtype="uint8"), tensor(3, 256)),
    "_max_unpool2d": (tensor(1, 2, 2, 2), tensor(1, 2, 2, 2, dtype="int64", below=16), [4, 4]),
    "_nms": (tensor(4, 4), tensor(4), 0.5),
    "_pack_padded_sequence": (tensor(3, 2, 2), ints(3, 2), False),
    "_pad_packed_sequence": (tensor(5, 2), ints(2, 2, 1), True, 0.0, 3),
    "_pad_sequence": ([tensor(3, 2), tensor(2, 2)], True, 0.0, "right"),
    "_ps_roi_pool": (tensor(1, 8, 5, 5), tensor(2, 5, below=1), 1.0, 2, 2),
    "_resize_bytes": (tensor(2, 6, 5, 3, dtype="uint8"), 3, 4, "linear", 16),
    "_roi_align": (tensor(1, 2, 5, 5), tensor(2, 5, below=1), 1.0, 2, 2, 2, True, False),
    "_roi_pool_argmax": (tensor(1, 2, 5, 5), tensor(2, 5, below=1), 1.0, 2, 2),
    "_sparse_adagrad_": (tensor(3, 2), tensor(3, 2), tensor(3, 2), 0.1, 1e-8),
    "_sparse_adam_": (*(tensor(3, 2) for _ in range(4)), 0.9, 0.99, 0.1, 1e-8),
    "_sparse_coo_tensor": (tensor(2, 3, dtype="int64", below=2), tensor(3), [3, 3]),
    "_sparse_mm": (tensor(3, 3), tensor(3, 2)),
}
# Where operators take a sparse tensor, and of how many sparse dimensions.
SPARSE = {"_indices": (0, 1), "_nnz": (0, 1), "_sparse_adagrad_": (2, 1), "_sparse_adam_": (3, 1)}
SPARSE |= {"_sparse_mm": (0, 2), "_values": (0, 1)}
KEPT = 40  # calls that were taken, of one operator
SIZES = (1, 2, 2, 3, 3, 4, 6)


def main(count: int, names: set[str]) -> None:
    limit_memory()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    flambeau.set_num_threads(2)
    never = []
    for name, signatures in private_operators().items():
        if not names or name in names:
            taken = _try_one(name, signatures, count)
            never += [] if taken else [name]
    faulthandler.cancel_dump_traceback_later()
    print(f"never taken: {' '.join(never)}")


def private_operators() -> dict[str, list[list[dict[str, Any]]]]:
    """The arguments of each overload, by name; those that Python cannot call are left out."""
    found: dict[str, list[list[dict[str, Any]]]] = {}
    for entry in _C.op_info():
        if entry["name"].startswith("_") and entry["forms"] != ["inner"]:
            found.setdefault(entry["name"], []).append(entry["args"])
    return found


def function_of(name: str) -> Callable[..., Any]:
    """The operator as Python code reaches it; one of a sparse tensor makes it of a plain one."""
    if not hasattr(_C, name) and not hasattr(flambeau.Tensor, name):
        return functools.partial(_by_name, name)
    function = getattr(_C, name) if hasattr(_C, name) else getattr(flambeau.Tensor, name)
    return functools.partial(_with_sparse, function, SPARSE[name]) if name in SPARSE else function


def _by_name(name: str, *args: Any, **kwargs: Any) -> Any:
    """A call as recorded programs make it."""
    try:
        return _C._invoke(name, *args, **kwargs)
    except AssertionError as error:  # PyTorch's class for devices that are not there
        raise RuntimeError(str(error)) from error


def _with_sparse(
    function: Callable[..., Any], taken: tuple[int, int], *args: Any, **kwargs: Any
) -> Any:
    place, dims = taken
    sparse = args[place].detach().to_sparse(dims)
    if sparse._nnz() > 1:  # no longer where the tensor says that they are
        sparse._indices()[0, -1] = args[place].sum().to(flambeau.int64) % 7
    return function(*args[:place], sparse, *args[place + 1 :], **kwargs)


def _try_one(name: str, signatures: list[list[dict[str, Any]]], count: int) -> int:
    function, taken = function_of(name), 0
    pool = [Sample(TAKEN[name], _named(signatures[0]))] if name in TAKEN else []
    for i in range(count):
        seed = zlib.crc32(f"{name}/{i}".encode())
        choice = random.Random(seed)
        if pool and choice.random() < 0.7:
            sample = Mutator(seed).sample(choice.choice(pool), signatures)
        else:
            sample = Drawing(seed).call(choice.choice(signatures))
        print(f"{name}{sample!r}", flush=True)
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        if attempt(function, sample, differentiate=choice.random() < 0.3):
            taken += 1
            if all(each.values.size <= 4096 for each in sample.inputs()):
                _keep(pool, sample, choice)
    return taken


def _named(arguments: list[dict[str, Any]]) -> dict[str, Any]:
    """Values of the arguments that have to be given by their names."""
    needed = [each for each in arguments if each["keyword_only"] and each["default"] is None]
    return {each["name"]: 0.1 if each["type"] == "float" else True for each in needed}


def _keep(pool: list[Sample], sample: Sample, choice: random.Random) -> None:
    if len(pool) < KEPT:
        pool.append(sample)
    else:
        pool[choice.randrange(KEPT)] = sample


class Drawing:
    """Arguments that may fit each other: of one shape, of parts of it, of one element type."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        one = self._random.choice
        self._shape = [one(SIZES) for _ in range(one((1, 2, 2, 3, 3, 4, 4, 5)))]
        self._dtype = one(("float32", "float32", "float32", "float64", *dtypes.ALL))

    def call(self, signature: list[dict[str, Any]]) -> Sample:
        args, kwargs = [], {}
        for argument in signature:
            if argument["default"] is not None and self._random.random() < 0.5:
                break
            if argument["keyword_only"]:
                kwargs[argument["name"]] = self._of_type(argument["type"])
            else:
                args.append(self._of_type(argument["type"]))
        return Sample(tuple(args), kwargs)

    def _of_type(self, kind: str) -> Any:
        one = self._random.choice
        if kind.endswith("| None") and self._random.random() < 0.3:
            return None
        makers: dict[str, Callable[[], Any]] = {
            "list[Tensor]": lambda: [self._tensor() for _ in range(one((1, 1, 2, 3)))],
            "list[Tensor | None]": lambda: [
                one((self._tensor(), None)) for _ in range(one((1, 1, 2, 3)))
            ],
            "Tensor": self._tensor,
            "bool": lambda: one((True, False)),
            "int": self._int,
            "float": lambda: one((0.0, 0.5, 1.0, 2.0)),
            "Number": lambda: one((0, 1, 0.5, 2.0)),
            "Floats": lambda: [one((0.5, 1.0)) for _ in range(one((1, 2, 3)))],
            "Factors": lambda: [one((0.5, 1.0, 2.0)) for _ in range(one((1, 2, 3)))],
            "str": lambda: one(("none", "mean", "sum", "tanh", "relu", "zeros", "")),
            "DType": lambda: DType(one(dtypes.ALL)),
            "Dims": lambda: one((self._int(), [self._int()])),
            "Size": lambda: one((self._shape, self._ints())),
            "Ints": self._ints,
        }
        for name, make in makers.items():
            if kind.startswith(name):
                return make()
        return None

    def _int(self) -> int:
        return self._random.choice((0, 1, 1, 2, 3, *self._shape, -1))

    def _ints(self) -> list[int]:
        one = self._random.choice
        if one((True, False)):
            return list(self._shape[one((0, 1, 2)) :])
        return [one((0, 1, 1, 2, 3)) for _ in range(one((1, 2, 3, len(self._shape))))]

    def _tensor(self) -> Input:
        one = self._random.choice
        shape = list(self._shape)
        action = one((0, 0, 0, 0, 1, 2, 3, 4, 5))
        if action == 1:
            del shape[one(range(len(shape)))]
        elif action == 2:
            shape = [one(self._shape)]
        elif action == 3:
            shape = [one((1, *SIZES, *self._shape)) for _ in range(one((0, 1, 2, 3, 4)))]
        elif action == 4:
            shape[one(range(len(shape)))] = one(SIZES)
        elif action == 5:
            shape = shape[: one(range(len(shape) + 1))]
        dtype = one((self._dtype,) * 6 + ("int64", "int64", "bool", "float32"))
        return tensor(*shape, dtype=dtype, below=one((1, 2, 4, 1000)))


if __name__ == "__main__":
    main(int(sys.argv[1]), set(sys.argv[2:]))
