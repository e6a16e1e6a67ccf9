"""`utils.data` against torch: the batches of a seed, what is left of the generators, refusals."""

import array
import collections
import dataclasses
import inspect
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
import torch.utils.data

import flambeau
import flambeau.utils.data
from tests.data_loading.cases import Kit

OURS = Kit(flambeau, flambeau.utils.data)
THEIRS = Kit(torch, torch.utils.data)
OUR_CASES, THEIR_CASES = dict(OURS.cases()), dict(THEIRS.cases())
Point = collections.namedtuple("Point", "x y")


def passes(kit: Kit, make: Callable[..., Any], **arguments: Any) -> list[Any]:
    """Two passes over a loader, and the states of the generators afterwards."""
    kit.seed(1)
    loader = make(**arguments)
    batches = [[kit.plain(batch) for batch in loader] for _ in range(2)]
    generator = loader.generator
    left = kit.torch.get_rng_state().tolist(), generator and generator.get_state().tolist()
    return [batches, left]


@pytest.mark.parametrize("name", OUR_CASES)
def test_batches(name: str) -> None:
    ours, theirs = passes(OURS, OUR_CASES[name]), passes(THEIRS, THEIR_CASES[name])
    assert ours[0] == theirs[0], "batches"
    assert ours[1] == theirs[1], "generators"


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize(
    "name",
    [
        "tensors, shuffled",
        "drawing, in order",
        "drawing, generator",
        "drawing, eager",
        "drawing, lazy",
        "drawing, twice round",
        "named stack, shuffled, unbatched",
        "stream, batches",
    ],
)
def test_batches_of_workers(name: str, persistent: bool) -> None:
    """Also what is drawn in the workers, and how far ahead the samplers have drawn."""
    arguments = {"num_workers": 2, "persistent_workers": persistent, "prefetch_factor": 3}
    ours = passes(OURS, OUR_CASES[name], **arguments)
    theirs = passes(THEIRS, THEIR_CASES[name], **arguments)
    assert ours == theirs


@pytest.mark.parametrize("name", OUR_CASES)
def test_attributes(name: str) -> None:
    ours, theirs = OUR_CASES[name](), THEIR_CASES[name]()
    for attribute in ("batch_size", "drop_last", "num_workers", "timeout", "pin_memory"):
        assert getattr(ours, attribute) == getattr(theirs, attribute)
    for attribute in ("sampler", "batch_sampler", "collate_fn"):
        named = [getattr(x, attribute) for x in (ours, theirs)]
        kinds = [getattr(x, "__name__", type(x).__name__) for x in named]
        assert kinds[0] == kinds[1]
    if "stream" not in name and "chain" not in name:
        assert len(ours) == len(theirs)


SPLITS = (
    "random_split(range(10), [3, 7])",
    "random_split(range(11), [0.3, 0.3, 0.4])",
    "random_split(range(7), [0.5, 0.5])",
    "random_split(range(10), [1.0], generator=t.Generator().manual_seed(1))",
    "random_split(range(30), [10, 20, 0], generator=t.Generator().manual_seed(2))",
)


@pytest.mark.parametrize("split", SPLITS)
def test_random_split(split: str) -> None:
    results = []
    for t in (flambeau, torch):
        t.manual_seed(5)
        parts = eval(split, {"t": t, "random_split": t.utils.data.random_split})
        results.append(([list(part.indices) for part in parts], t.get_rng_state().tolist()))
    assert results[0] == results[1]


class Box(collections.UserList[Any]):
    """A mutable sequence of its own type."""


class Row(tuple[Any, ...]):
    """A tuple of its own type."""


class Fixed(collections.abc.Mapping[Any, Any]):
    """A mapping that can be made from a dict and not changed."""

    def __init__(self, items: Any) -> None:
        self.items_ = dict(items)

    def __getitem__(self, key: Any) -> Any:
        return self.items_[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items_)

    def __len__(self) -> int:
        return len(self.items_)


class Stubborn(Fixed):
    """A mapping that cannot be made from one argument."""

    def __init__(self, items: Any, more: Any) -> None:
        super().__init__(items)


@dataclasses.dataclass
class Record:
    """What the default function does not know how to put together."""

    x: int


# Samples of a batch of three, given the framework and a number; each kind of item once.
SAMPLES: dict[str, Callable[[Any, int], Any]] = {
    "tensor": lambda t, i: t.arange(6).reshape(2, 3) + i,
    "scalar tensor": lambda t, i: t.tensor(float(i)),
    "empty tensor": lambda t, i: t.zeros(0, 3),
    "transposed tensor": lambda t, i: t.arange(6).reshape(2, 3).t() + i,
    "image channels last": lambda t, i: (t.zeros(4, 2, 3) + i).permute(2, 0, 1),
    "half": lambda t, i: t.full((2,), i, dtype=t.float16),
    "complex": lambda t, i: t.full((2,), i + 1j),
    "int": lambda t, i: i,
    "bool": lambda t, i: i > 1,
    "float": lambda t, i: i / 3,
    "int, then float": lambda t, i: i if i == 0 else i / 3,
    "str": lambda t, i: str(i),
    "bytes": lambda t, i: bytes([i]),
    "array": lambda t, i: np.arange(3, dtype="int32") + i,
    "strided array": lambda t, i: np.arange(6.0)[::2] + i,
    "0-d array": lambda t, i: np.array(i / 3, dtype="float32"),
    "numpy float64": lambda t, i: np.float64(i),
    "numpy float32": lambda t, i: np.float32(i),
    "numpy int16": lambda t, i: np.int16(i),
    "numpy uint8": lambda t, i: np.uint8(i),
    "numpy bool": lambda t, i: np.bool_(i),
    "tuple": lambda t, i: (i, str(i)),
    "tuple subclass": lambda t, i: Row([i, str(i)]),
    "list": lambda t, i: [i, i / 2],
    "nested": lambda t, i: [{"a": (i, [i, t.zeros(2)])}, i],
    "dict": lambda t, i: {"b": i, "a": t.zeros(2)},
    "dict, extra keys": lambda t, i: {"b": i, **({"a": 1} if i else {})},
    "OrderedDict": lambda t, i: collections.OrderedDict(z=i, y=1.5),
    "defaultdict": lambda t, i: collections.defaultdict(list, z=i),
    "mapping": lambda t, i: Fixed({"a": i}),
    "mapping proxy": lambda t, i: types.MappingProxyType({"a": i}),
    "mapping not made from a dict": lambda t, i: Stubborn({"a": i}, None),
    "namedtuple": lambda t, i: Point(i, np.zeros(2)),
    "range": lambda t, i: range(i, i + 3),
    "list subclass": lambda t, i: Box([i, i]),
    "deque": lambda t, i: collections.deque([i, i]),
    "array.array": lambda t, i: array.array("i", [i, i]),
    "empty list": lambda t, i: [],
    "None": lambda t, i: None,
    "set": lambda t, i: {i},
    "object": lambda t, i: Record(i),
    "array of str": lambda t, i: np.array(["a", "b"]),
    "array of objects": lambda t, i: np.array([None, i], dtype=object),
    "numpy str": lambda t, i: np.str_(i),
    "ragged lists": lambda t, i: list(range(i + 1)),
    "ragged tensors": lambda t, i: t.zeros(i + 1),
    "mixed dtypes": lambda t, i: t.zeros(2, dtype=t.float32 if i else t.int64),
    "str in a list": lambda t, i: ["a", str(i)],
    "mixed kinds": lambda t, i: i if i else "a",
}


def outcome(kit: Kit, function: Callable[..., Any], *arguments: Any) -> Any:
    """A result as plain values, or the class of the error."""
    try:
        result = function(*arguments)
    except Exception as error:
        return type(error)
    return described(kit, result)


def described(kit: Kit, value: Any) -> Any:
    if isinstance(value, kit.torch.Tensor):
        return str(value.dtype), value.tolist(), tuple(value.shape), value.stride()
    if isinstance(value, collections.abc.Mapping):
        items = [(key, described(kit, value[key])) for key in value]
        return type(value), items, getattr(value, "default_factory", None)
    if isinstance(value, collections.abc.Sequence) and not isinstance(value, (str, bytes)):
        return type(value), [described(kit, item) for item in value]
    if type(value).__module__.startswith(("torch", "flambeau")):
        return type(value).__name__
    return type(value), str(value)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("function", ["default_collate", "default_convert"])
def test_collate(name: str, function: str) -> None:
    results = []
    for kit in (OURS, THEIRS):
        samples = [SAMPLES[name](kit.torch, i) for i in range(3)]
        results.append(outcome(kit, getattr(kit.data, function), samples))
        results.append(outcome(kit, getattr(kit.data, function), tuple(samples)))
    assert results[:2] == results[2:]


@pytest.mark.parametrize("name", ["tensor", "array", "nested", "object", "int"])
def test_collate_with_other_functions(name: str) -> None:
    results = []
    for kit in (OURS, THEIRS):
        collate = kit.data._utils.collate

        def count(batch: Any, *, collate_fn_map: Any = None) -> int:
            return len(batch)

        functions = {int: count, (Record, np.ndarray): count, **collate.default_collate_fn_map}
        samples = [SAMPLES[name](kit.torch, i) for i in range(3)]
        for given in (functions, {int: count}, {}, None):

            def collated(samples: Any, given: Any = given, collate: Any = collate) -> Any:
                return collate.collate(samples, collate_fn_map=given)

            results.append(outcome(kit, collated, samples))
    assert results[:4] == results[4:]


# Expressions that are refused, or not, by both: `d` is utils.data, `t` the framework.
CALLS = (
    "d.DataLoader([1], num_workers=-1)",
    "d.DataLoader([1], timeout=-1)",
    "d.DataLoader([1], prefetch_factor=2)",
    "d.DataLoader([1], num_workers=1, prefetch_factor=-1)",
    "d.DataLoader([1], persistent_workers=True)",
    "d.DataLoader([1], batch_size=0)",
    "d.DataLoader([1], batch_size=-1)",
    "d.DataLoader([1], batch_size=True)",
    "d.DataLoader([1], batch_size=1.5)",
    "d.DataLoader([1], batch_size='1')",
    "d.DataLoader([1], drop_last=1)",
    "d.DataLoader([1], batch_size=None, drop_last=True)",
    "d.DataLoader([1], sampler=[0], shuffle=True)",
    "d.DataLoader([1], batch_sampler=[[0]], batch_size=2)",
    "d.DataLoader([1], batch_sampler=[[0]], shuffle=True)",
    "d.DataLoader([1], batch_sampler=[[0]], sampler=[0])",
    "d.DataLoader([1], batch_sampler=[[0]], drop_last=True)",
    "d.DataLoader([], shuffle=True)",
    "list(d.DataLoader([]))",
    "d.DataLoader([1], multiprocessing_context='fork')",
    "d.DataLoader([1], num_workers=1, multiprocessing_context='no such')",
    "d.DataLoader([1], num_workers=1, multiprocessing_context=3)",
    "d.DataLoader(d.ChainDataset([]), shuffle=True)",
    "d.DataLoader(d.ChainDataset([]), shuffle=False).batch_size",
    "d.DataLoader(d.ChainDataset([]), sampler=[0])",
    "d.DataLoader(d.ChainDataset([]), batch_sampler=[[0]])",
    "len(d.DataLoader(d.ChainDataset([]), batch_size=2))",
    "len(d.DataLoader([1, 2], sampler=iter([0])))",
    "list(d.DataLoader([1, 2], sampler=iter([1, 0])))",
    "list(d.DataLoader([1, 2], sampler=[2]))",
    "list(d.DataLoader({'a': 1, 'b': 2}, sampler=['b', 'a']))",
    "list(d.DataLoader(d.TensorDataset(t.zeros(2)), sampler=[2]))",
    "list(d.DataLoader(d.TensorDataset(t.zeros(2)), sampler=['a']))",
    "setattr(d.DataLoader([1]), 'batch_size', 2)",
    "setattr(d.DataLoader([1]), 'dataset', 2)",
    "setattr(d.DataLoader([1]), 'sampler', 2)",
    "setattr(d.DataLoader([1]), 'num_workers', 0)",
    "setattr(d.DataLoader([1]), 'multiprocessing_context', 'fork')",
    "d.TensorDataset(t.zeros(2), t.zeros(3))",
    "d.TensorDataset()",
    "d.TensorDataset(t.zeros(3), t.arange(3))[1]",
    "d.TensorDataset(t.zeros(3), t.arange(3))[1:]",
    "d.TensorDataset(t.zeros(3), t.arange(3))[[0, 2]]",
    "d.TensorDataset(t.zeros(3))[3]",
    "d.ConcatDataset([])",
    "d.ConcatDataset([d.ChainDataset([])])",
    "d.ConcatDataset([[1, 2], [3]])[-1]",
    "d.ConcatDataset([[1, 2], [3]])[-4]",
    "d.ConcatDataset([[1, 2], [3]])[3]",
    "d.ConcatDataset([[1, 2], [3]]).cumulative_sizes",
    "len(d.TensorDataset(t.zeros(3)) + d.TensorDataset(t.zeros(2)))",
    "type(d.ChainDataset([]) + d.ChainDataset([])).__name__",
    "list(d.ChainDataset([[1]]))",
    "len(d.ChainDataset([[1]]))",
    "d.StackDataset()",
    "d.StackDataset([1], a=[1])",
    "d.StackDataset([1], [1, 2])",
    "d.StackDataset(a=[1], b=[1, 2])",
    "d.StackDataset([1, 2], [3, 4]).__getitems__([1, 0])",
    "d.StackDataset(a=[1, 2], b=[3, 4]).__getitems__([1, 0])",
    "d.Subset([4, 5, 6], [2, 0])[1]",
    "d.Subset(t.arange(3), [2, 0])[[1, 0]]",
    "d.Subset([4, 5, 6], [2, 0]).__getitems__([0, 1])",
    "d.Subset([4, 5, 6], [2, 0])[2]",
    "type('S', (d.Subset,), {'__getitem__': lambda self, i: 0})([1], [0])",
    "d.Dataset()[0]",
    "iter(d.Sampler())",
    "d.random_split([1, 2], [1, 2])",
    "d.random_split([1, 2], [1.5, -0.5])",
    "d.RandomSampler([1], replacement=1)",
    "d.RandomSampler([1], num_samples=0)",
    "d.RandomSampler([1], num_samples=1.5)",
    "d.RandomSampler([])",
    "d.WeightedRandomSampler([1.0], 0)",
    "d.WeightedRandomSampler([1.0], True)",
    "d.WeightedRandomSampler([1.0], 1, 1)",
    "d.WeightedRandomSampler([[1.0]], 1)",
    "list(d.WeightedRandomSampler([1.0, 0.0], 2, False))",
    "list(d.WeightedRandomSampler([-1.0], 2))",
    "list(d.WeightedRandomSampler(t.ones(1), 3))",
    "d.BatchSampler([1], 0, False)",
    "d.BatchSampler([1], True, False)",
    "d.BatchSampler([1], 2, 0)",
    "list(d.BatchSampler(range(5), 2, True))",
    "list(d.BatchSampler(range(5), 2, False))",
    "len(d.BatchSampler(range(5), 2, True))",
    "list(d.SequentialSampler([1, 2]))",
    "list(d.SubsetRandomSampler([7]))",
    "d.DistributedSampler([1], 2, 2)",
    "d.DistributedSampler([1], 2, -1)",
    "[d.DistributedSampler(range(7), 3, r).num_samples for r in range(3)]",
    "[list(d.DistributedSampler(range(7), 3, r, drop_last=True)) for r in range(3)]",
    "d.DistributedSampler(range(7), 3, 1).total_size",
    "d.get_worker_info()",
)


def evaluated(kit: Kit, call: str) -> Any:
    def value() -> Any:
        return eval(call, {"t": kit.torch, "d": kit.data})

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return outcome(kit, value)


@pytest.mark.parametrize("call", CALLS)
def test_calls(call: str) -> None:
    assert evaluated(OURS, call) == evaluated(THEIRS, call)


WARNED = (
    "d.random_split([1, 2], [0.1, 0.9, 0.0])",
    "list(d.DataLoader([1], pin_memory=True))",
    "list(d.DataLoader([1], pin_memory=True, pin_memory_device='cuda'))",
    "d.DataLoader([1], num_workers=1000)",
    "d.ConcatDataset([[1]]).cummulative_sizes",
)


@pytest.mark.parametrize("call", WARNED)
def test_warnings(call: str) -> None:
    caught = []
    for kit in (OURS, THEIRS):
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            eval(call, {"t": kit.torch, "d": kit.data})
        caught.append([(each.category, str(each.message)[:40]) for each in shown])
    assert caught[0] == caught[1]


PATHS = (
    "dataset.Dataset",
    "dataset.random_split",
    "sampler.RandomSampler",
    "sampler.BatchSampler",
    "distributed.DistributedSampler",
    "dataloader.DataLoader",
    "dataloader.default_collate",
    "dataloader._BaseDataLoaderIter",
    "dataloader._SingleProcessDataLoaderIter",
    "dataloader._MultiProcessingDataLoaderIter",
    "dataloader._DatasetKind",
    "dataloader._InfiniteConstantSampler",
    "dataloader.RandomSampler",
    "_utils.collate.default_collate",
    "_utils.collate.default_collate_fn_map",
    "_utils.collate.collate",
    "_utils.collate.default_collate_err_msg_format",
    "_utils.fetch._MapDatasetFetcher",
    "_utils.fetch._IterableDatasetFetcher",
    "_utils.pin_memory.pin_memory",
    "_utils.worker.WorkerInfo",
)


@pytest.mark.parametrize("path", PATHS)
def test_paths(path: str) -> None:
    for package in (flambeau.utils.data, torch.utils.data):
        found: Any = package
        for name in path.split("."):
            found = getattr(found, name)


@pytest.mark.parametrize("name", sorted(set(flambeau.utils.data.__all__) - {"SharedList"}))
def test_signatures(name: str) -> None:
    described = []
    for package in (flambeau.utils.data, torch.utils.data):
        parameters = inspect.signature(getattr(package, name)).parameters.values()
        described.append([(p.name, p.kind, type(p.default).__name__) for p in parameters])
    extra = [parameter for parameter in described[0] if parameter[0] != "worker_type"]
    assert extra == described[1]
