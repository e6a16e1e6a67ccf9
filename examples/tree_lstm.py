"""A recursive TreeLSTM: the graph of every sample has the shape of its tree.

The trees are logical expressions such as ``(not (T and (F or T)))``; the network
evaluates them from the leaves to the root and predicts whether they are true. The recursion is
ordinary Python.

Expected: after 1200 trees of 8 (about 20 s on two cores) at least 97 % of new trees are classified
correctly, including deeper ones than those it was trained on.
"""

from __future__ import annotations

import argparse
import random

import flambeau as torch
import flambeau.nn.functional as F
from flambeau import Tensor, nn

# A leaf is a bool; others are an operator and the trees it joins.
Tree = bool | tuple[str, "Tree"] | tuple[str, "Tree", "Tree"]


def random_tree(depth: int, draw: random.Random) -> Tree:
    if depth == 0 or draw.random() < 0.2:
        return draw.random() < 0.5
    operator = draw.choice(("and", "or", "xor", "not"))
    if operator == "not":
        return operator, random_tree(depth - 1, draw)
    return operator, random_tree(depth - 1, draw), random_tree(depth - 1, draw)


def value(tree: Tree) -> bool:
    if isinstance(tree, bool):
        return tree
    operator, *parts = tree
    values = [value(part) for part in parts]
    if operator == "not":
        return not values[0]
    return {"and": all(values), "or": any(values), "xor": values[0] != values[1]}[operator]


class TreeLSTM(nn.Module):
    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.leaf = nn.Embedding(2, width)
        self.one = nn.ModuleDict({"not": nn.Linear(width, 4 * width)})
        two = {name: nn.Linear(2 * width, 5 * width) for name in ("and", "or", "xor")}
        self.two = nn.ModuleDict(two)
        self.out = nn.Linear(width, 2)

    def read(self, tree: Tree) -> tuple[Tensor, Tensor]:
        """Output and cell of a tree, from those of its parts."""
        if isinstance(tree, bool):
            h = self.leaf(torch.tensor([int(tree)]))
            return h.tanh(), torch.zeros_like(h)
        operator, *parts = tree
        h, c = zip(*(self.read(part) for part in parts), strict=True)
        gates = (self.one if len(parts) == 1 else self.two)[operator](torch.cat(h, 1))
        update, into, out, *forget = gates.chunk(3 + len(parts), dim=1)
        cell = into.sigmoid() * update.tanh()
        for gate, part in zip(forget, c, strict=True):
            cell = cell + gate.sigmoid() * part
        return out.sigmoid() * cell.tanh(), cell

    def forward(self, trees: list[Tree]) -> Tensor:
        return self.out(torch.cat([self.read(tree)[0] for tree in trees]))


@torch.no_grad()
def accuracy(model: TreeLSTM, depth: int, count: int = 300) -> float:
    draw = random.Random(1)
    trees = [random_tree(depth, draw) for _ in range(count)]
    truth = torch.tensor([int(value(tree)) for tree in trees])
    return (model(trees).argmax(1) == truth).float().mean().item()


def train(steps: int = 1200, seed: int = 0, depth: int = 4) -> TreeLSTM:
    torch.manual_seed(seed)
    draw = random.Random(seed)
    model = TreeLSTM()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    bar = torch.progress(range(steps), "TreeLSTM")
    for _ in bar:
        trees = [random_tree(depth, draw) for _ in range(8)]
        truth = torch.tensor([int(value(tree)) for tree in trees])
        loss = F.cross_entropy(model(trees), truth)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bar.set(loss=loss)
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--seed", type=int, default=0)
    model = train(**vars(parser.parse_args()))
    for depth in (2, 4, 6):
        print(f"trees up to depth {depth}: {accuracy(model, depth):.1%} right")


if __name__ == "__main__":
    main()
