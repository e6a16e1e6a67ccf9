"""Nested containers, those of other packages among them."""

from collections import OrderedDict, defaultdict, namedtuple

import pytest

from flambeau.utils import _pytree as pytree

Point = namedtuple("Point", "x y")


class Box:
    def __init__(self, *values):
        self.values = values


class Bag(dict):
    pass


@pytest.fixture
def boxes():
    pytree.register_pytree_node(
        Box,
        lambda box: (list(box.values), "context"),
        lambda values, context: Box(*values, context),
        serialized_type_name="Box",
    )
    yield
    del pytree.SUPPORTED_NODES[Box]


def test_registered_containers(boxes):
    leaves, spec = pytree.tree_flatten({"a": Box(1, [2, 3]), "b": 4})
    assert leaves == [1, 2, 3, 4]
    built = pytree.tree_unflatten([x * 10 for x in leaves], spec)
    assert built["a"].values == (10, [20, 30], "context")
    with pytest.raises(ValueError, match="already registered"):
        pytree.register_pytree_node(Box, None, None)


def test_a_class_that_nobody_registered_is_a_leaf():
    bag = Bag(a=1)
    assert pytree.tree_leaves([bag]) == [bag]


@pytest.mark.parametrize(
    "tree",
    [[1, 2], (1, 2), {"a": 1, "b": 2}, OrderedDict(a=1), defaultdict(int, a=1), Point(1, 2)],
)
def test_definitions_of_the_usual_containers(tree):
    definition = pytree.SUPPORTED_NODES[pytree._get_node_type(tree)]
    values, context = definition.flatten_fn(tree)
    built = definition.unflatten_fn(values, context)
    assert built == tree
    assert type(built) is type(tree)


def test_leaves_of_a_type():
    tree = {"a": 1, "b": (2.5, "x")}
    assert pytree.tree_map_only(float, lambda x: x * 2, tree) == {"a": 1, "b": (5.0, "x")}
    assert pytree.tree_any(lambda x: x == "x", tree)
    assert not pytree.tree_all(lambda x: x == "x", tree)
    assert pytree.tree_structure(3) == pytree.LeafSpec()
    assert pytree.tree_leaves(tree, is_leaf=lambda x: isinstance(x, tuple)) == [1, (2.5, "x")]


def test_dictionaries_by_hand():
    values, keys = pytree._dict_flatten({"a": 1, "b": 2})
    assert pytree._dict_unflatten(values, keys) == {"a": 1, "b": 2}
    pairs, keys = pytree._dict_flatten_with_keys({"a": 1})
    assert pairs == [(pytree.MappingKey("a"), 1)]
    assert keys == ["a"]
