"""A device without a kernel says so, by the name of the operator that the user called."""

import re
from collections.abc import Iterator

import pytest

import flambeau as fb
from flambeau import _C
from tests.shadow.moving import SHADOW, check_no_access, to_shadow
from tests.shadow.test_operators import SAMPLED, SAMPLES, TABLE, arguments, dtype_of, run


@pytest.fixture
def no_kernels() -> Iterator[None]:
    """The device has no kernel at all."""
    yield
    _C._set_shadow_kernels(True)


@pytest.mark.usefixtures("no_kernels")
@pytest.mark.parametrize("name", [each for each in SAMPLED if each != "numpy"])
def test_an_operator_without_its_kernel_is_refused_by_name(name: str) -> None:
    operator = TABLE[name]
    for sample in SAMPLES[name].of_dtype(dtype_of(operator)):
        args, kwargs = to_shadow(arguments(sample))
        _C._set_shadow_kernels(False)
        try:
            run(operator, args, kwargs)  # what only looks at tensors needs no kernel
        except NotImplementedError as error:
            # What is composed in Python is refused by the operator that it comes to.
            public = r"\w+" if "python" in operator.kinds else name.rpartition(".")[2]
            assert re.match(f"{public}: no kernel on shadow", str(error)), str(error)  # noqa: PT017
        finally:
            _C._set_shadow_kernels(True)
            check_no_access(f"{name}{sample}")


def test_tensors_of_two_devices_are_refused() -> None:
    here, there = fb.ones(3), fb.ones(3, device=SHADOW)
    for call in (lambda: here + there, lambda: fb.mm(here[None], there[:, None])):
        with pytest.raises(RuntimeError, match=r"same device.*(cpu.*shadow|shadow.*cpu)"):
            call()


def test_a_number_of_the_host_meets_a_tensor_of_the_device() -> None:
    there = fb.ones(3, device=SHADOW) * fb.tensor(2.0)
    assert there.device == SHADOW
    assert there.tolist() == [2.0, 2.0, 2.0]


def test_numpy_asks_for_a_copy() -> None:
    with pytest.raises(TypeError, match=r"Use Tensor.cpu\(\)"):
        fb.ones(3, device=SHADOW).numpy()
