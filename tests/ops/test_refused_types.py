"""A type that an entry of the table does not list is refused, and the message names it."""

import re
import warnings

import pytest

import flambeau
from opgen.__main__ import load_table
from opgen.emit import type_checks
from opgen.model import TABLE, Op
from tests.ops import dtypes
from tests.ops.make import to_module
from tests.ops.registry import all_samples
from tests.ops.table import operators

SAMPLES = all_samples()


def checked() -> dict[str, set[str]]:
    """Types that no overload lists, by operator: those whose entries are all checked."""
    if not TABLE.ops:
        load_table()
    by_name: dict[str, list[Op]] = {}
    for op in TABLE.ops:
        if not op.alias_of:
            by_name.setdefault(op.public_name, []).append(op)
    return {
        name: set(dtypes.ALL) - {t for op in ops for t in op.dtypes}
        for name, ops in by_name.items()
        if name in SAMPLES and name in operators() and all(map(is_checked, ops))
    }


def is_checked(op: Op) -> bool:
    return not op.is_factory and op.is_recorded and bool(type_checks.check(op))


CHECKED = checked()


def test_many_operators_are_checked() -> None:
    assert len(CHECKED) > 60


@pytest.mark.parametrize("name", sorted(CHECKED))
def test_type_is_refused(name: str) -> None:
    operator, owner = operators()[name], SAMPLES[name]
    listed = [each for each in operator.dtypes if owner.dtypes is None or each in owner.dtypes]
    sample = next(each for each in owner.of_dtype(listed[-1]) if "dtype" not in each.kwargs)
    (first, *others), kwargs = (to_module(flambeau, each) for each in (sample.args, sample.kwargs))
    for dtype in sorted(CHECKED[name]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of imaginary parts that are lost
            given = first.to(getattr(flambeau, dtype))
        expected = re.escape(f"not implemented for dtype {dtype}; it takes ")
        with pytest.raises(NotImplementedError, match=expected):
            operator.call(flambeau, (given, *others), kwargs)
