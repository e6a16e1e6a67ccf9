"""Datasets made of small steps."""

from __future__ import annotations

import copy
import pickle

import pytest

import flambeau as fb
from flambeau.utils.data import DataChunk, DataLoader, IterDataPipe, functional_datapipe
from flambeau.utils.data.datapipes.iter import FileLister, FileOpener, IterableWrapper, Sampler
from flambeau.utils.data.datapipes.map import SequenceWrapper


def is_odd(x):
    return x % 2


def test_each_iteration_starts_anew():
    pipe = IterableWrapper(range(4)).map(lambda x: x * 2).filter(lambda x: x > 2)
    assert list(pipe) == list(pipe) == [4, 6]
    assert len(IterableWrapper(range(4)).map(is_odd)) == 4


def test_columns():
    assert list(IterableWrapper([(1, 2)]).map(lambda a: -a, input_col=1)) == [(1, -2)]
    pairs = IterableWrapper([(1, 2, 5)])
    assert list(pairs.map(lambda a, b: a + b, input_col=[0, 2])) == [(6, 2)]
    assert list(pairs.map(lambda a, b: a + b, [0, 2], -1)) == [(1, 2, 5, 6)]
    assert list(IterableWrapper([{"a": 1}]).map(str, "a", "b")) == [{"a": 1, "b": "1"}]
    assert list(pairs.filter(lambda a, b: a > b, input_col=[0, 1])) == []
    with pytest.raises(ValueError, match="`output_col` must be None"):
        pairs.map(str, output_col=0)


def test_batches():
    pipe = IterableWrapper(range(5)).batch(2)
    assert list(pipe) == [[0, 1], [2, 3], [4]]
    assert all(isinstance(batch, DataChunk) for batch in pipe)
    assert len(pipe) == 3
    assert list(IterableWrapper(range(5)).batch(2, drop_last=True)) == [[0, 1], [2, 3]]
    assert list(pipe.unbatch()) == [0, 1, 2, 3, 4]
    assert [batch.tolist() for batch in pipe.collate()] == [[0, 1], [2, 3], [4]]
    with pytest.raises(AssertionError, match="larger than 0"):
        IterableWrapper(range(5)).batch(0)
    with pytest.raises(IndexError, match="exceeds the depth"):
        list(IterableWrapper([1]).unbatch())


def test_groups():
    pipe = IterableWrapper(range(7))
    assert list(pipe.groupby(is_odd)) == [[0, 2, 4, 6], [1, 3, 5]]
    assert list(pipe.groupby(is_odd, group_size=2)) == [[0, 2], [1, 3], [4, 6], [5]]
    held = pipe.groupby(is_odd, keep_key=True, buffer_size=3, group_size=3, drop_remaining=True)
    assert list(held) == []
    with pytest.raises(RuntimeError, match="Failed to group items"):
        list(pipe.groupby(str, buffer_size=2, group_size=2))


def test_several_pipes():
    one, other = IterableWrapper(range(3)), IterableWrapper("abcd")
    assert list(one.concat(other)) == [0, 1, 2, "a", "b", "c", "d"]
    assert list(one.zip(other)) == [(0, "a"), (1, "b"), (2, "c")]
    assert list(one.mux(other)) == [0, "a", 1, "b", 2, "c"]
    assert (len(one.concat(other)), len(one.zip(other)), len(one.mux(other))) == (7, 3, 6)


def test_one_pipe_for_several():
    first, second = IterableWrapper([[1], [2]]).fork(2, copy="deep")
    assert [a[0] + b[0] for a, b in zip(first, second, strict=True)] == [2, 4]
    assert list(first) == [[1], [2]]
    even, odd = IterableWrapper(range(5)).demux(2, is_odd)
    assert (list(even), list(odd)) == ([0, 2, 4], [1, 3])
    with pytest.raises(BufferError, match="raise buffer_size"):
        list(IterableWrapper(range(9)).fork(2, buffer_size=3)[0])
    with pytest.raises(ValueError, match=r"between 0 and 1\. 2 is returned"):
        list(IterableWrapper(range(3)).demux(2, lambda x: x)[0])


def test_shuffling_follows_the_seed():
    pipe = IterableWrapper(range(20)).shuffle(buffer_size=4)
    fb.manual_seed(3)
    first = list(pipe)
    fb.manual_seed(3)
    assert list(pipe) == first != list(range(20))
    assert sorted(first) == list(range(20))
    assert list(pipe.set_shuffle(False)) == list(range(20))
    shuffled = SequenceWrapper(range(20)).shuffle().set_seed(1)
    assert sorted(shuffled) == list(range(20))


def test_files(tmp_path):
    (tmp_path / "below").mkdir()
    for name in ("a.txt", "b.csv", "below/c.txt"):
        (tmp_path / name).write_text(name)
    root = str(tmp_path)
    names = FileLister(root, masks="*.txt", recursive=True)
    assert [name[len(root) + 1 :] for name in names] == ["a.txt", "below/c.txt"]
    opened = FileOpener(FileLister(root), mode="rb").read_from_stream(chunk=3)
    assert [piece for _, piece in opened] == [b"a.t", b"xt", b"b.c", b"sv"]
    with pytest.raises(ValueError, match="Invalid mode w"):
        FileOpener(names, mode="w")
    with pytest.raises(TypeError, match="doesn't have valid length"):
        len(names)
    with pytest.raises(FileNotFoundError):
        list(FileLister(root + "/nowhere"))


def test_in_a_loader():
    pipe = IterableWrapper(range(6)).map(is_odd)
    assert [batch.tolist() for batch in DataLoader(pipe, batch_size=3)] == [[0, 1, 0], [1, 0, 1]]
    shared = IterableWrapper(range(6)).sharding_filter()
    batches = [batch.tolist() for batch in DataLoader(shared, batch_size=3, num_workers=2)]
    assert sorted(x for batch in batches for x in batch) == list(range(6))


def test_pipes_by_key():
    pipe = SequenceWrapper([3, 1, 2])
    assert list(pipe.map(str)) == ["3", "1", "2"]
    assert pipe.concat(pipe)[4] == 1
    assert pipe.zip(pipe)[1] == (1, 1)
    assert list(pipe.batch(2)) == [[3, 1], [2]]
    with pytest.raises(IndexError, match="out of range"):
        pipe.concat(pipe)[6]


def test_own_steps():
    @functional_datapipe("doubled_for_test")
    class Doubler(IterDataPipe):
        def __init__(self, source):
            self.source = source

        def __iter__(self):
            for x in self.source:
                yield 2 * x

    try:
        assert list(IterableWrapper(range(3)).doubled_for_test()) == [0, 2, 4]
        with pytest.raises(Exception, match="it is taken"):
            functional_datapipe("batch")(Doubler)
    finally:
        del IterDataPipe.functions["doubled_for_test"]
    with pytest.raises(TypeError, match="can only decorate"):
        functional_datapipe("other")(int)


def test_pipes_are_objects():
    pipe = IterableWrapper([1, 2]).map(is_odd)
    assert list(pickle.loads(pickle.dumps(pipe))) == [1, 0]
    assert list(copy.deepcopy(pipe)) == [1, 0]
    assert repr(pipe) == "MapperIterDataPipe"
    assert list(Sampler(pipe)) == [0, 1]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = pipe.nothing
