"""Options that were once taken and forgotten: acted on, refused, or said to have no effect."""

from __future__ import annotations

import io

import pytest

import flambeau as torch
from flambeau import nn, profiler
from flambeau._limits.accepted import AcceptedWarning
from flambeau.ao import quantization
from flambeau.distributed.algorithms._checkpoint import checkpoint_wrapper
from flambeau.distributed.elastic.multiprocessing import errors
from flambeau.optim.adam import adam
from flambeau.utils import checkpoint
from flambeau.utils._pytree import register_pytree_node
from flambeau.utils.data import datapipes


@pytest.fixture(autouse=True)
def nothing_was_said(monkeypatch):
    monkeypatch.setattr("flambeau._limits.accepted._said", set())


def test_error_handlers_are_told():
    class Handler:
        def __init__(self):
            self.errors = []

        def record_exception(self, error):
            self.errors.append(error)

    handler = Handler()

    def failing():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        errors.record(failing, handler)()
    assert [str(error) for error in handler.errors] == ["no"]


def test_replicas_that_are_detached():
    net = nn.Sequential(nn.Linear(2, 1))
    (shared,) = nn.parallel.replicate(net, ["cpu"])
    (apart,) = nn.parallel.replicate(net, ["cpu"], detach=True)
    assert shared[0].weight is net[0].weight
    assert not apart[0].weight.requires_grad
    assert not apart(torch.ones(1, 2)).requires_grad


def test_a_stance_that_keeps_backends_out():
    calls = []
    compiled = torch.compile(torch.sin, backend=lambda graph, inputs: calls.append(graph) or graph)
    with torch.compiler.set_stance("force_eager"):
        compiled(torch.ones(2))
    assert not calls
    compiled(torch.ones(2))
    assert len(calls) == 1


@pytest.mark.filterwarnings("ignore:torch.range is deprecated")
def test_layouts_of_old_ranges_and_windows():
    with pytest.raises(NotImplementedError, match="cannot make a tensor of layout"):
        torch.hann_window(4, layout=torch.sparse_coo)
    with pytest.raises(NotImplementedError, match="cannot make a tensor of layout"):
        torch.range(0, 3, layout=torch.sparse_coo)


REFUSED = {
    "auto_wrap_policy": lambda: checkpoint_wrapper.apply_activation_checkpointing(
        nn.Linear(1, 1), auto_wrap_policy=print
    ),
    "force_backend": lambda: torch.compiler.set_stance("default", force_backend="eager"),
    "fuse_custom_config_dict": lambda: quantization.fuse_modules(
        nn.Linear(1, 1), [], fuse_custom_config_dict={"a": 1}
    ),
    "opset_version": lambda: torch.export.save(
        torch.export.export(nn.ReLU(), (torch.ones(1),)), io.BytesIO(), opset_version={"aten": 1}
    ),
    "expected_opset_version": lambda: torch.export.load(
        io.BytesIO(), expected_opset_version={"aten": 1}
    ),
    "group": lambda: datapipes.iter.IterableWrapper([1]).sharding_filter(sharding_group_filter=1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    with pytest.raises(NotImplementedError, match=name):
        REFUSED[name]()


SAID = {
    "gradcheck(masked)": lambda: torch.autograd.gradcheck(
        torch.sin, torch.ones(1, dtype=torch.float64, requires_grad=True), masked=True
    ),
    "profile(experimental_config)": lambda: profiler.profile(experimental_config=object()),
    "profile(execution_trace_observer)": lambda: profiler.profile(
        execution_trace_observer=object()
    ),
    "profile(custom_trace_id_callback)": lambda: profiler.profile(custom_trace_id_callback=str),
    "create_selective_checkpoint_contexts": lambda: checkpoint.create_selective_checkpoint_contexts(
        lambda *args: checkpoint.CheckpointPolicy.MUST_SAVE
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_what_is_said(name):
    with pytest.warns(AcceptedWarning) as caught:
        SAID[name]()
    assert f"{name} is accepted without effect" in str(caught[0].message)


def test_switches_take_truth_values_only():
    with pytest.raises(RuntimeError, match="expected a bool, got int"):
        torch.set_warn_always(3)


def test_devices_that_there_are_not_are_refused():
    with pytest.raises(AssertionError, match="is_available"), torch.random.fork_rng(devices=[0]):
        pass
    with pytest.raises(RuntimeError), torch.random.fork_rng(device_type="nope"):
        pass
    with torch.random.fork_rng(devices=[]):
        torch.rand(1)
    relu, x = nn.ReLU(), torch.ones(2)
    with pytest.raises(AssertionError, match="as many devices"):
        nn.parallel.parallel_apply([relu], [x], devices=[0, 1])
    with pytest.raises(AssertionError, match="no device cuda:0 here"):
        nn.parallel.parallel_apply([relu], [x], devices=[0])
    with pytest.raises(ValueError, match="not the CPU"):
        torch.futures.Future(devices=["cpu"])
    with pytest.raises(AssertionError, match="no device cuda:0 here"):
        torch.futures.Future(devices=[0])


def test_functional_adam_captures_nothing():
    lists = [[torch.ones(2)] for _ in range(4)]
    options = {"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8, "weight_decay": 0.0}
    with pytest.raises(AssertionError, match="accelerator"):
        adam(
            *lists,
            [],
            [torch.tensor(1.0)],
            capturable=True,
            amsgrad=False,
            maximize=False,
            **options,
        )


def test_substitutes_take_the_same_arguments():
    def original(a: int) -> int:
        return a

    def other(a: int, b: int) -> int:
        return a + b

    with pytest.raises(TypeError, match="skip_signature_check"):
        torch.compiler.substitute_in_graph(original)(other)
    assert torch.compiler.substitute_in_graph(original, skip_signature_check=True)(other) is other
    with pytest.raises(TypeError, match="function"):
        torch.compiler.substitute_in_graph(3)


def test_freezing_knows_what_it_preserves():
    script = torch.jit.script(nn.Linear(2, 2).eval())
    assert torch.jit.freeze(script, preserved_attrs=["weight"]).weight.shape == (2, 2)
    with pytest.raises(RuntimeError, match="no 'nothing' to preserve"):
        torch.jit.freeze(script, preserved_attrs=["nothing"])


def test_contexts_are_written_and_read():
    with pytest.raises(ValueError, match="both"):
        register_pytree_node(
            type("Box", (), {}), lambda _: ([], None), lambda *_: None, to_dumpable_context=str
        )


@pytest.mark.parametrize("training", [True, False])
def test_pairs_to_train_are_made_where_they_are_asked_for(training: bool):
    conv, bn, relu = nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1), nn.ReLU()
    for layer in (conv, bn, relu):
        layer.train(training)
    assert type(quantization.fuse_conv_bn(True, conv, bn)).__name__ == "ConvBn2d"
    assert type(quantization.fuse_conv_bn_relu(True, conv, bn, relu)).__name__ == "ConvBnReLU2d"
    if training:
        with pytest.raises(AssertionError):
            quantization.fuse_conv_bn(False, conv, bn)
    else:
        assert type(quantization.fuse_conv_bn(False, conv, bn)) is nn.Conv2d
