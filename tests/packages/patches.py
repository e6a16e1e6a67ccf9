"""A small vision transformer whose shapes are written with einops."""

import torch
from einops import einsum, pack, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix, Rearrange, Reduce
from torch import nn


class Attention(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(width, 3 * width, bias=False)
        self.project = EinMix(
            "b t h d -> b t e", weight_shape="h d e", h=heads, d=width // heads, e=width
        )

    def forward(self, x):
        pattern = "b t (part h d) -> part b h t d"
        q, k, v = rearrange(self.to_qkv(x), pattern, part=3, h=self.heads)
        scores = einsum(q, k, "b h i d, b h j d -> b h i j") * q.shape[-1] ** -0.5
        mixed = einsum(scores.softmax(dim=-1), v, "b h i j, b h j d -> b h i d")
        return self.project(rearrange(mixed, "b h t d -> b t h d"))


class Patches(nn.Module):
    def __init__(self, width: int = 24, patch: int = 4, classes: int = 5):
        super().__init__()
        self.cut = nn.Sequential(
            Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=patch, q=patch),
            nn.Linear(patch * patch * 3, width),
        )
        self.token = nn.Parameter(torch.randn(width) * 0.02)
        self.block = Attention(width, 4)
        self.pool = Reduce("b t d -> b d", "mean")
        self.head = nn.Linear(2 * width, classes)

    def forward(self, images):
        x = self.cut(images)
        token = repeat(self.token, "d -> b d", b=len(x))
        x, shapes = pack([token, x], "b * d")
        x = x + self.block(x)
        token, x = unpack(x, shapes, "b * d")
        return self.head(torch.cat([token, self.pool(x)], dim=1))


def main():
    torch.manual_seed(0)
    model = Patches()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    images, labels = torch.randn(32, 3, 16, 16), torch.randint(5, (32,))
    for step in range(20):
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"step {step} loss {loss.item():.5f}")
    print(reduce(images, "b c (h 8) (w 8) -> h w", "max"))


if __name__ == "__main__":
    main()
