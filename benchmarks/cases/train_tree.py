"""Training step of a recursive TreeLSTM: the graph follows each sentence's own tree."""

import random
from typing import Any

from benchmarks.roofline import product
from benchmarks.training import Program, add_step

WORDS, STATE, CLASSES = 200, 64, 5
LEAVES = (4, 12, 7, 15, 9, 5, 11, 8)  # words of each sentence

Tree = Any  # a word's number, or a pair of trees


def random_tree(words: list[int], draw: random.Random) -> Tree:
    if len(words) == 1:
        return words[0]
    cut = draw.randrange(1, len(words))
    return random_tree(words[:cut], draw), random_tree(words[cut:], draw)


def tree_lstm(t: Any) -> Program:
    """A binary TreeLSTM: a gate for each child's memory, summed over all trees of the batch."""
    nn = t.nn

    class TreeLSTM(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(WORDS, STATE)
            self.leaf = nn.Linear(STATE, 3 * STATE)
            self.join = nn.Linear(2 * STATE, 5 * STATE)
            self.out = nn.Linear(STATE, CLASSES)

        def read(self, tree: Tree) -> tuple[Any, Any]:
            if not isinstance(tree, tuple):
                i, o, u = self.leaf(self.embedding(tree)).chunk(3, 1)
                c = t.sigmoid(i) * t.tanh(u)
                return t.sigmoid(o) * t.tanh(c), c
            (left, left_c), (right, right_c) = self.read(tree[0]), self.read(tree[1])
            gates = self.join(t.cat((left, right), 1))
            i, first, second, o, u = gates.chunk(5, 1)
            c = t.sigmoid(i) * t.tanh(u) + t.sigmoid(first) * left_c + t.sigmoid(second) * right_c
            return t.sigmoid(o) * t.tanh(c), c

        def forward(self, tree: Tree) -> Any:
            return self.out(self.read(tree)[0])

    def with_tensors(tree: Tree) -> Tree:
        if isinstance(tree, tuple):
            return with_tensors(tree[0]), with_tensors(tree[1])
        return t.tensor([tree])

    module = TreeLSTM()
    draw = random.Random(0)
    trees = [
        with_tensors(random_tree([draw.randrange(WORDS) for _ in range(leaves)], draw))
        for leaves in LEAVES
    ]
    y = t.randint(0, CLASSES, (len(trees),))

    def loss() -> Any:
        return nn.functional.cross_entropy(t.cat([module(tree) for tree in trees]), y)

    return Program(module, loss)


add_step(
    f"TreeLSTM({STATE}), {min(LEAVES)} to {max(LEAVES)} words, Adam",
    5.0,
    tree_lstm,
    "Adam",
    WORDS * STATE + 3 * STATE * (STATE + 1) + 5 * STATE * (2 * STATE + 1) + CLASSES * (STATE + 1),
    product(sum(LEAVES), STATE, 3 * STATE)
    + product(sum(LEAVES) - len(LEAVES), 2 * STATE, 5 * STATE)
    + product(len(LEAVES), STATE, CLASSES),
)
