"""What users write: a type checker must accept all of it, and infer these types."""

from typing import Any

import flambeau as torch
from flambeau import Tensor, nn
from flambeau.utils.checkpoint import checkpoint
from flambeau.utils.data import ConcatDataset, DataLoader, Dataset, Subset, random_split


def mean_of_rows(x: Tensor) -> list[float]:
    rows: list[float] = x.mean(dim=1).tolist()
    return rows


def main() -> None:
    a = torch.zeros(2, 3, dtype=torch.float64)
    b: Tensor = torch.randn((2, 3)) + 1
    c: Tensor = (a * 2 - b / 3) @ b.t()
    d: Tensor = torch.cat([a, b], dim=0)[1:, ..., None]
    e: Tensor = torch.where(a > 0, a, b)
    n: int = a.dim() + a.numel() + a.size(0)
    rows, columns = a.shape
    values, indices = torch.max(b, dim=1)
    x: Tensor = torch.linalg.solve(torch.eye(3), torch.ones(3))
    generator = torch.Generator().manual_seed(rows * columns)
    f: Tensor = torch.rand(3, generator=generator).clamp_(min=0.1)
    contiguous: bool = c.is_contiguous()
    a += 1
    a[0, :] = 5
    print(mean_of_rows(d), e, n, values, indices, x, f, contiguous, a.dtype, a.device)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(3, 4)
        self.scale = nn.Parameter(torch.ones(4))
        self.rest = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        x = self.hidden(x) * self.scale
        for layer in self.rest:
            x = layer(x)
        return x


def networks() -> None:
    net: Net = Net().eval().to("cpu", torch.float64).requires_grad_(False)
    width: int = net.hidden.out_features
    grads: list[Tensor | None] = [p.grad for p in net.parameters()]
    names: list[str] = [name for name, _ in net.named_parameters()]
    first: nn.Module = nn.Sequential(net, nn.ReLU())[0]
    part: nn.Sequential = nn.Sequential(net, nn.ReLU())[:1]
    net.load_state_dict(net.state_dict(), strict=False)
    with net.hidden.register_forward_hook(lambda module, args, out: out * 2):
        print(net(torch.ones(1, 3)), width, grads, names, first, part, net.scale.item())


def optimisers(net: Net) -> None:
    optimizer: torch.optim.Optimizer = torch.optim.AdamW(
        [{"params": net.hidden.parameters(), "lr": 1e-3}, {"params": [net.scale]}],
        betas=(0.9, 0.95),
    )
    named = torch.optim.SGD(net.named_parameters(), lr=torch.tensor(0.1), momentum=0.9)
    for each in (optimizer, named, torch.optim.RMSprop(net.parameters(), centered=True)):
        each.zero_grad(set_to_none=False)
        loss: Tensor = each.step(lambda: net(torch.ones(1, 3)).sum())
        each.param_groups[0]["lr"] *= 0.5
        print(loss)
    missing: list[str] = named.load_named_state_dict(named.named_state_dict(), strict=False).missing
    with named.register_step_post_hook(lambda optimizer, args, kwargs: None):
        named.step()
    print(missing)


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        result: Tensor = ctx.saved_tensors[0]
        return grad * result


@torch.no_grad()
def total(x: Tensor) -> float:
    return x.sum().item()


@torch.no_grad
def count(x: Tensor) -> int:
    return x.numel()


def gradients() -> None:
    x = torch.ones(2, requires_grad=True)
    y: Tensor = checkpoint(Exp.apply, x, use_reentrant=False)
    handle = y.register_hook(lambda grad: grad * 2)
    y.sum().backward()
    handle.remove()
    with torch.no_grad(), torch.set_grad_enabled(True), torch.inference_mode(False):
        number: float = total(x) + count(x)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        jacobian: Tensor = torch.autograd.functional.jacobian(Exp.apply, x)
    is_right: bool = torch.autograd.gradcheck(Exp.apply, (x.double(),))
    if x.grad is not None:
        print(x.grad + 1, number, jacobian, is_right)


class Squares(Dataset[tuple[Tensor, int]]):
    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return torch.tensor(index * index), index


def loading() -> None:
    train, test = random_split(Squares(), [0.8, 0.2])
    sample: tuple[Tensor, int] = train[0]
    loader = DataLoader(train, batch_size=4, shuffle=True, collate_fn=lambda batch: len(batch))
    numbers: DataLoader[int] = DataLoader([1, 2, 3])
    both = ConcatDataset([test, Squares()])
    subset = Subset(both, [0, 1])
    for batch in DataLoader(subset):
        print(batch, sample, len(loader), numbers.dataset)
    state: dict[str, Any] = loader.state_dict()
    loader.load_state_dict(state)


def loops() -> None:
    words = torch.progress(["a", "b"], "reading", total=2)
    for word in words:
        words.set(length=len(word.upper()))
    with torch.progress(total=3) as bar:
        bar.update(2)
