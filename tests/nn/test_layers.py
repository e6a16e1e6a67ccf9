"""Every layer by itself: it can be copied, stored and differentiated."""

import copy
import importlib
import pickle
import pkgutil
import warnings
from typing import Any

import numpy as np
import pytest

import flambeau
from flambeau.autograd import gradcheck
from tests.nn import layers
from tests.nn.layers import run
from tests.nn.layers.registry import LAYERS, Layer

for _module in pkgutil.iter_modules(layers.__path__):
    importlib.import_module(f"tests.nn.layers.{_module.name}")

DIFFERENTIABLE = [c for c in LAYERS if c.double and c.gradients]


def outputs(config: Layer, module: Any, arrays: list[np.ndarray]) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run.run_module(
            flambeau, config, module, [run.tensor(flambeau, a, grad=False) for a in arrays]
        )


@pytest.mark.parametrize("config", LAYERS, ids=str)
def test_copies_compute_the_same(config: Layer) -> None:
    module = run.module_of(flambeau, config).eval()
    arrays = run.arrays_of(config)
    first = copy.deepcopy(module)
    expected = outputs(config, module, arrays)
    restored = run.module_of(flambeau, config).eval()
    restored.load_state_dict(first.state_dict())
    for other in (first, pickle.loads(pickle.dumps(first)), restored):
        actual = outputs(config, other, arrays)
        assert actual.keys() == expected.keys()
        for name, value in expected.items():
            np.testing.assert_array_equal(actual[name], value, err_msg=name)


@pytest.mark.parametrize("config", DIFFERENTIABLE, ids=str)
def test_gradients_are_those_of_finite_differences(config: Layer) -> None:
    module = run.module_of(flambeau, config).double().eval()
    inputs = [run.tensor(flambeau, a) for a in run.arrays_of(config, dtype="float64")]
    names = [n for n, p in module.named_parameters() if p.requires_grad]
    parameters = [module.get_parameter(n).detach().requires_grad_() for n in names]
    leaves = [x for x in inputs if x.requires_grad]

    def call(*given: Any) -> Any:
        rest = iter(given[: len(leaves)])
        at = [next(rest) if x.requires_grad else x for x in inputs]
        flambeau.manual_seed(11)
        state = dict(zip(names, given[len(leaves) :], strict=True))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if config.call:
                named = dict(zip(run.NAMES, at, strict=False))
                scope = {**run.framework_names(flambeau), **named}
                scope["m"] = lambda *a, **k: flambeau.func.functional_call(module, state, a, k)
                result = eval(config.call, scope)
            else:
                result = flambeau.func.functional_call(module, state, tuple(at))
        return tuple(o for o in run.flat(result) if o.requires_grad)

    if leaves or parameters:
        assert gradcheck(call, (*leaves, *parameters), fast_mode=True)
