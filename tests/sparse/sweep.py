"""Every operator of the table with a sparse tensor among its arguments.

An operator may refuse it, or give what the dense tensor gives; anything else is a fault. Run as a
program of its own, `python -m tests.sparse.sweep`, because the worst fault is a crash.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import flambeau
from tests.ops.make import Input, to_module
from tests.ops.registry import Sample, Samples, all_samples
from tests.ops.table import Operator, operators

# What these tell is about memory, or about the form that the numbers are in.
OF_FORM = {
    "element_size",
    "empty_like",
    "is_contiguous",
    "size",
    "storage_offset",
    "stride",
}


def main() -> None:
    warnings.simplefilter("ignore")
    faults = [
        f"{name}: {fault}"
        for name, owner in sorted(all_samples().items())
        for fault in faults_of(operators()[name], owner)
    ]
    print("\n".join(faults))


def faults_of(operator: Operator, owner: Samples) -> Iterator[str]:
    """What is wrong with the operator's answers to sparse tensors."""
    if operator.random or operator.name in OF_FORM or not owner.values:
        return
    dtypes = owner.dtypes or operator.dtypes
    dtype = "float32" if "float32" in dtypes else dtypes[0]
    for sample in owner.of_dtype(dtype):
        # What is not kept is 0 whatever it is multiplied with.
        if not all(np.isfinite(each.values).all() for each in sample.inputs()):
            continue
        for place in range(len(sample.inputs())):
            for form in ("function", "in place"):
                if form == "in place" and "inplace" not in operator.function_forms:
                    continue
                fault = compared(operator, sample, place, form)
                if fault:
                    yield f"{form}, input {place} of {sample.args} {sample.kwargs}: {fault}"


def compared(operator: Operator, sample: Sample, place: int, form: str) -> str:
    """How the answer differs from that to the dense tensor; empty if it does not."""
    try:
        answer = called(operator, sample, place, form)
    except Exception as error:
        return "" if str(error) else "an error without a word"
    try:
        expected = called(operator, sample, None, form)
    except Exception as error:
        return f"no error, where the dense tensor gives {error!r}"
    return "" if same(answer, expected) else f"{answer} instead of {expected}"


def called(operator: Operator, sample: Sample, sparse: int | None, form: str) -> Any:
    """The call with fresh tensors, input number `sparse` in coordinate form."""
    count = -1

    def tensor(value: Input) -> Any:
        nonlocal count
        count += 1
        made = value.to_module(flambeau)
        return made.to_sparse() if count == sparse else made

    here = sample.map_inputs(tensor)
    args, kwargs = to_module(flambeau, here.args), to_module(flambeau, here.kwargs)
    flambeau.manual_seed(0)
    if form == "in place":
        return operator.call_in_place(flambeau, args, kwargs)
    return operator.call(flambeau, args, kwargs)


def same(answer: Any, expected: Any) -> bool:
    if isinstance(answer, flambeau.Tensor):
        if answer.shape != expected.shape or answer.dtype != expected.dtype:
            return False
        # Products of matrices are summed in another order.
        return np.allclose(numbers(answer), numbers(expected), 1e-4, 1e-4, equal_nan=True)
    if isinstance(answer, (list, tuple)):
        return len(answer) == len(expected) and all(map(same, answer, expected))
    return bool(answer == expected)


def numbers(tensor: flambeau.Tensor) -> np.ndarray:
    dense = tensor.detach().to_dense()
    return (dense.float() if dense.dtype == flambeau.bfloat16 else dense).numpy()


if __name__ == "__main__":
    main()
