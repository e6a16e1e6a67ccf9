"""Which kernels a processor runs, by all features it must have, with the same results."""

import json
import os
import subprocess
import sys

import pytest

import flambeau as torch
from flambeau import _C

# Bits of cpuid and xgetbv, by the names of the features that x86-64-v2, v3 and v4 are made of.
V2 = {
    "sse3": (0, 0),
    "ssse3": (0, 9),
    "cx16": (0, 13),
    "sse4.1": (0, 19),
    "sse4.2": (0, 20),
    "popcnt": (0, 23),
    "lahf": (2, 0),
}
V3 = {
    "fma": (0, 12),
    "movbe": (0, 22),
    "avx": (0, 28),
    "f16c": (0, 29),
    "bmi1": (1, 3),
    "avx2": (1, 5),
    "bmi2": (1, 8),
    "lzcnt": (2, 5),
    "saved xmm": (3, 1),
    "saved ymm": (3, 2),
}
V4 = {
    "avx512f": (1, 16),
    "avx512dq": (1, 17),
    "avx512cd": (1, 28),
    "avx512bw": (1, 30),
    "avx512vl": (1, 31),
    "saved masks": (3, 5),
    "saved upper zmm": (3, 6),
    "saved higher zmm": (3, 7),
}


def cpuid(features: dict[str, tuple[int, int]]) -> list[int]:
    words = [0, 0, 0, 0]
    for word, bit in features.values():
        words[word] |= 1 << bit
    return words


def level(features: dict[str, tuple[int, int]]) -> str:
    return _C._isa_of(*cpuid(features))


@pytest.mark.parametrize("missing", [None, *V2])
def test_the_baseline_needs_all_of_its_features(missing):
    features, _, extended, _ = cpuid({name: bit for name, bit in V2.items() if name != missing})
    assert _C._has_baseline(features, extended) == (missing is None)


def test_a_level_needs_all_of_its_features():
    assert level({}) == "baseline"
    assert level(V3) == "avx2"
    assert level(V3 | V4) == "avx512"


@pytest.mark.parametrize("missing", V3)
def test_a_processor_without_one_feature_of_avx2(missing):
    assert level({name: bit for name, bit in (V3 | V4).items() if name != missing}) == "baseline"


@pytest.mark.parametrize("missing", V4)
def test_a_processor_without_one_feature_of_avx512(missing):
    assert level({name: bit for name, bit in (V3 | V4).items() if name != missing}) == "avx2"


# A bit of everything that has kernels of its own level.
PROGRAM = """
import json
import flambeau as torch
from flambeau import nn
torch.manual_seed(0)
layers = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.GELU(), nn.Flatten(), nn.Linear(288, 5)
net = nn.Sequential(*layers)
x = torch.randn(4, 3, 8, 8)
loss = net(x).log_softmax(1).square().mean()
loss.backward()
values = [loss, x.sort(-1).values.cumsum(0).norm(), x.bfloat16().exp().sum().float(),
          torch.lgamma(x.abs() + 0.1).sum(), x.erf().sin().sum(), (x @ x.mT).double().sum()]
values += [p.grad.norm() for p in net.parameters()]
print(json.dumps([torch._C._isa(), *(v.item() for v in values)]))
"""


def test_every_level_computes_the_same():
    levels = _C._build()["levels"]
    found = {}
    for name in levels[: levels.index(_C._isa()) + 1]:
        environment = os.environ | {"FLAMBEAU_ISA": name}
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        ran, *values = json.loads(run.stdout)
        found[ran] = torch.tensor(values, dtype=torch.float64)
    assert list(found) == list(levels[: len(found)])
    for name, values in found.items():
        torch.testing.assert_close(values, found["baseline"], rtol=2e-5, atol=1e-6, msg=name)
