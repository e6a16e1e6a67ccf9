"""Functions of the leaves of nested containers."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

import flambeau as fb
from flambeau.utils import _pytree as pytree

Pair = namedtuple("Pair", "first second")
TREES = [
    3,
    None,
    [],
    [1, (2, 3), {"a": 4, "b": [5]}],
    OrderedDict(b=1, a=2),
    defaultdict(list, {"x": [1, 2]}),
    deque([1, 2], maxlen=3),
    Pair(1, [2, 3]),
]


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_round_trip(tree):
    leaves, spec = pytree.tree_flatten(tree)
    back = pytree.tree_unflatten(leaves, spec)
    assert back == tree
    assert type(back) is type(tree)
    assert len(leaves) == spec.num_leaves
    assert pytree.tree_structure(back) == spec
    for path, leaf in pytree.tree_leaves_with_path(tree):
        assert pytree.key_get(tree, path) is leaf


def test_results_of_operators_are_containers():
    values = fb.ones(2, 2).max(0)
    doubled = pytree.tree_map(lambda x: x * 2, values)
    assert type(doubled) is type(values)
    assert doubled.values.tolist() == [2, 2]


def test_shape():
    spec = pytree.tree_structure({"a": [1, (2, 3)], "b": None})
    assert (spec.type, spec.context) == (dict, ["a", "b"])
    assert (spec.num_leaves, spec.num_nodes, spec.num_children) == (4, 7, 2)
    assert not spec.is_leaf()
    assert spec.children()[1] == spec.child(1) == pytree.LeafSpec()
    assert spec.unflatten([1, 2, 3, 4]) == {"a": [1, (2, 3)], "b": 4}
    with pytest.raises(ValueError, match="1 leaves were given for a tree that holds 4"):
        pytree.tree_unflatten([1], spec)


def test_map_over_several_trees():
    assert pytree.tree_map(lambda a, b: a + b, {"x": 1, "y": 2}, {"y": 20, "x": 10}) == {
        "x": 11,
        "y": 22,
    }
    with pytest.raises(ValueError, match="Node arity mismatch; expected 2, but got 3"):
        pytree.tree_map(lambda a, b: a, [1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="Node type mismatch"):
        pytree.tree_map(lambda a, b: a, [1, 2], (1, 2))


def test_some_types_alone():
    tree = [1, "a", 2.5, (3,)]
    assert pytree.tree_map_only(int, lambda x: -x, tree) == [-1, "a", 2.5, (-3,)]
    assert pytree.tree_map_only((int, float), str, tree) == ["1", "a", "2.5", ("3",)]
    assert pytree.tree_map_only(lambda x: x == "a", str.upper, tree) == [1, "A", 2.5, (3,)]
    seen = []
    assert pytree.tree_map_only_(int, seen.append, tree) is tree
    assert seen == [1, 3]
    assert pytree.tree_all_only(int, lambda x: x > 0, tree)
    assert not pytree.tree_any_only(float, lambda x: x > 3, tree)
    assert pytree.tree_any(lambda x: x == "a", tree)
    assert not pytree.tree_all(lambda x: x == "a", tree)


def test_leaves_by_decision():
    tree = {"a": [1, 2], "b": (3, [4])}
    assert pytree.tree_leaves(tree, is_leaf=lambda x: isinstance(x, list)) == [[1, 2], 3, [4]]
    assert list(pytree.tree_iter(tree)) == [1, 2, 3, 4]


def test_paths():
    tree = {"a": [1, Pair(2, 3)]}
    paths = [pytree.keystr(path) for path, _ in pytree.tree_flatten_with_path(tree)[0]]
    assert paths == ["['a'][0]", "['a'][1].first", "['a'][1].second"]
    named = pytree.tree_map_with_path(lambda path, x, y: f"{len(path)}:{x}:{y}", tree, tree)
    assert named == {"a": ["2:1:1", Pair("3:2:2", "3:3:3")]}
