"""Files of scripts and exported programs with bytes and values that do not belong there."""

import io
import pickle
import random

import pytest

import flambeau as torch
from flambeau import nn
from flambeau.serialization import load, save

_ERRORS = (RuntimeError, ValueError, NotImplementedError, pickle.PickleError)


def network():
    return nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.ReLU()).eval()


def written_script():
    file = io.BytesIO()
    torch.jit.save(torch.jit.trace(network(), torch.ones(2, 4)), file)
    return file.getvalue()


def written_program():
    file = io.BytesIO()
    torch.export.save(torch.export.export(network(), (torch.ones(2, 4),)), file)
    return file.getvalue()


_KINDS = [(written_script, torch.jit.load), (written_program, torch.export.load)]


@pytest.mark.parametrize(("write", "read"), _KINDS)
def test_changed_bytes(write, read):
    whole = write()
    for seed in range(60):
        chance = random.Random(seed)
        data = bytearray(whole)
        if seed % 3 == 0:
            del data[chance.randrange(len(data)) :]
        else:
            for _ in range(chance.choice([1, 8, 64])):
                data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            read(io.BytesIO(data))
        except _ERRORS:
            continue


@pytest.mark.parametrize(("write", "read"), _KINDS)
def test_values_of_other_types(write, read):
    content = load(io.BytesIO(write()))
    for name in content.keys() - {"format", "version", "module", "state", "trainable", "results"}:
        for value in (None, 5, "text", [5], {"a": 5}):
            if not content[name] and not value:
                continue
            file = io.BytesIO()
            save({**content, name: value}, file)
            file.seek(0)
            try:
                read(file)
            except _ERRORS:
                continue
