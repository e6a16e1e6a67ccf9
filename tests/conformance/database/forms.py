"""An operator's forms: function, method, in place, `out=`; and the calls that it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import flambeau
from tests.conformance.database import resolve
from tests.conformance.database.case import Case
from tests.conformance.database.compare import difference
from tests.conformance.database.run import attempt, both
from tests.ops.check import is_tensor, outputs


def check_function(case: Case) -> str | None:
    def call(module: Any) -> Any:
        args, kwargs = case.arguments(module)
        return case.unique(case.function(module)(*args, **kwargs))

    return difference(*both(call), values=case.is_determined, scaled=case.is_scaled)


def check_method(case: Case) -> str | None:
    return _check_form(case, case.info.method_variant)


def check_in_place(case: Case) -> str | None:
    if isinstance(case.sample.input, torch.Tensor) and _overlaps(case.sample.input):
        return None  # the order of the writes would decide
    return _check_form(case, case.info.inplace_variant)


def _overlaps(tensor: torch.Tensor) -> bool:
    """Whether some elements of a tensor may share their memory."""
    if tensor.layout is not torch.strided or tensor.numel() < 2:
        return False
    reach = 0
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size > 1:
            if stride <= reach:
                return True
            reach += stride * (size - 1)
    return False


def _check_form(case: Case, theirs: Callable[..., Any] | None) -> str | None:
    if theirs is None or not isinstance(case.sample.input, torch.Tensor):
        return None
    ours = resolve.form(case.info, theirs)

    def call(module: Any) -> Any:
        args, kwargs = case.arguments(module)
        first = args[0].detach().clone() if args[0].requires_grad else args[0]
        result = (theirs if module is torch else ours)(first, *args[1:], **kwargs)  # type: ignore[misc]
        return [*outputs(case.unique(result)), first]

    return difference(*both(call), values=case.is_determined, scaled=case.is_scaled)


def check_out(case: Case) -> str | None:
    """Results go where they are told, and their neighbours stay as they were."""
    if not case.info.supports_out:
        return None
    plain = attempt(lambda: _plain(case))
    if isinstance(plain, Exception) or not all(is_tensor(each) for each in outputs(plain)):
        return None

    def call(module: Any) -> Any:
        args, kwargs = case.arguments(module)
        places = [_place(module, each) for each in outputs(plain)]
        views = [each[..., 0] for each in places]
        given = (
            views[0]
            if is_tensor(plain)
            else type(plain)(views)
            if isinstance(plain, list)
            else tuple(views)
        )
        with module.no_grad():
            result = case.function(module)(*args, **kwargs, out=given)
        return [*outputs(case.unique(result)), *_untouched(places)]

    return difference(*both(call), values=case.is_determined, scaled=case.is_scaled)


def _untouched(places: list[Any]) -> list[Any]:
    """What lies between the elements of the results."""
    return [each[..., 1] for each in places]


def _plain(case: Case) -> Any:
    args, kwargs = case.arguments(torch)
    with torch.no_grad():
        return case.info.op(*args, **kwargs)


def _place(module: Any, like: torch.Tensor) -> Any:
    """Memory for a result in which every other element is foreign."""
    dtype = getattr(module, str(like.dtype).rpartition(".")[2])
    return module.zeros((*like.shape, 2), dtype=dtype)


def check_error(case: Case) -> str | None:
    """A call that torch refuses, by the class of its error."""
    theirs = attempt(lambda: _plain(case))
    if not isinstance(theirs, Exception):
        return None

    def call() -> Any:
        args, kwargs = case.arguments(flambeau)
        return case.function(flambeau)(*args, **kwargs)

    return difference(attempt(call), theirs)


FORMS = {
    "function": check_function,
    "method": check_method,
    "in place": check_in_place,
    "out": check_out,
}
