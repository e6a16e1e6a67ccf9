"""Training step of a small GPT on characters."""

from typing import Any

from benchmarks.roofline import attention, product
from benchmarks.training import Program, add_step

LAYERS, WIDTH, HEADS, LENGTH, BATCH, VOCABULARY = 6, 384, 6, 256, 8, 96


def network(t: Any) -> Any:
    """Normalisation before attention and perceptron, the head sharing the embedding's weight."""
    nn = t.nn

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1 = nn.LayerNorm(WIDTH)
            self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
            self.out = nn.Linear(WIDTH, WIDTH)
            self.norm2 = nn.LayerNorm(WIDTH)
            self.mlp = nn.Sequential(
                nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
            )

        def attend(self, x: Any) -> Any:
            batch, length, _ = x.shape
            q, k, v = (
                part.view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)
                for part in self.qkv(x).split(WIDTH, 2)
            )
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.out(y.transpose(1, 2).reshape(batch, length, WIDTH))

        def forward(self, x: Any) -> Any:
            x = x + self.attend(self.norm1(x))
            return x + self.mlp(self.norm2(x))

    class GPT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.token = nn.Embedding(VOCABULARY, WIDTH)
            self.position = nn.Embedding(LENGTH, WIDTH)
            self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
            self.norm = nn.LayerNorm(WIDTH)
            self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
            nn.init.normal_(self.token.weight, std=0.02)
            self.head.weight = self.token.weight

        def forward(self, x: Any) -> Any:
            x = self.token(x) + self.position(t.arange(x.shape[1]))
            return self.head(self.norm(self.blocks(x)))

    return GPT()


def gpt(t: Any) -> Program:
    module = network(t)
    text = t.randint(0, VOCABULARY, (BATCH, LENGTH + 1))
    x, y = text[:, :-1], text[:, 1:]

    def loss() -> Any:
        return t.nn.functional.cross_entropy(module(x).view(-1, VOCABULARY), y.reshape(-1))

    return Program(module, loss)


ROWS = BATCH * LENGTH
BLOCK = (
    product(ROWS, WIDTH, 3 * WIDTH)
    + attention(BATCH, HEADS, LENGTH, WIDTH // HEADS)
    + product(ROWS, WIDTH, WIDTH)
    + product(ROWS, WIDTH, 4 * WIDTH)
    + product(ROWS, 4 * WIDTH, WIDTH)
)
BLOCK_COUNT = 12 * WIDTH**2 + 13 * WIDTH  # weights; biases and the two normalisations
add_step(
    f"GPT {LAYERS} x {WIDTH}, {LENGTH} steps, batch {BATCH}, AdamW",
    1.15,
    gpt,
    "AdamW",
    LAYERS * BLOCK_COUNT + (VOCABULARY + LENGTH + 2) * WIDTH,
    BLOCK * LAYERS + product(ROWS, WIDTH, VOCABULARY),
)
