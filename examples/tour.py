"""A tour of Flambeau in a few seconds: arrays, curve fitting, images, two networks, speed.

Run it with `python examples/tour.py`.
"""

import sys
import time

import flambeau as torch
import flambeau.nn.functional as F
from flambeau import nn

COLOUR = sys.stdout.isatty()
SHADES = " .:-=+*#%@"


def title(text: str) -> None:
    print(f"\n\033[1m{text}\033[0m\n" if COLOUR else f"\n{text}\n")


def arrays() -> None:
    """Creation, broadcasting and indexing, with the names that PyTorch has."""
    title("Arrays: create, broadcast, index")
    table = torch.arange(1, 5).unsqueeze(1) * torch.arange(1, 8)
    print(table)
    print("every second column of the even rows: ", table[1::2, ::2].tolist())
    print("the multiples of five:                ", table[table % 5 == 0].tolist())


def least_squares() -> None:
    """A cubic through noisy points, by `linalg.lstsq`."""
    title("Linear algebra: a cubic through 2000 noisy points")
    torch.manual_seed(0)
    x = torch.linspace(-2, 2, 2000, dtype=torch.float64)
    truth = torch.tensor([0.5, -1.0, 0.25, 0.75], dtype=torch.float64)
    powers = x.unsqueeze(1) ** torch.arange(4)
    noisy = powers @ truth + 0.1 * torch.randn(2000, dtype=torch.float64)
    fitted = torch.linalg.lstsq(powers, noisy.unsqueeze(1)).solution.squeeze(1)
    print("true coefficients:  ", [round(c, 3) for c in truth.tolist()])
    print("fitted coefficients:", [round(c, 3) for c in fitted.tolist()])


def flame(height: int, width: int) -> torch.Tensor:
    """A picture of a flame: brightness between 0 and 1."""
    y = torch.linspace(1, 0, height).unsqueeze(1)
    x = torch.linspace(-1, 1, width)
    sway = 0.12 * torch.sin(7 * y) * y
    body = 0.55 * torch.sqrt(y + 0.02) * (1 - y) ** 0.8 + 0.02
    glow = torch.exp(-(((x - sway) / body) ** 2)) * (1 - 0.35 * y)
    sparks = 0.4 * torch.rand(height, width) ** 40 * (y > 0.2)
    return (glow + sparks).clamp(0, 1)


def draw(*pictures: torch.Tensor) -> None:
    """Pictures side by side: in colour on a terminal, as characters elsewhere."""
    row = torch.cat(pictures, 1)
    if not COLOUR:
        for line in (row[::2] * (len(SHADES) - 1)).round().to(torch.int64).tolist():
            print("".join(SHADES[shade] for shade in line))
        return
    red = (row * 3).clamp(0, 1)
    green = (row * 3 - 1).clamp(0, 1)
    blue = (row * 3 - 2).clamp(0, 1)
    pixels = (torch.stack([red, green, blue], 2) * 255).to(torch.uint8).tolist()
    # Two rows of pixels make one row of text: the upper half block has a fore- and a background.
    for upper, lower in zip(pixels[::2], pixels[1::2], strict=True):
        cells = (
            f"\033[38;2;{a[0]};{a[1]};{a[2]}m\033[48;2;{b[0]};{b[1]};{b[2]}m▀"
            for a, b in zip(upper, lower, strict=True)
        )
        print("".join(cells) + "\033[0m")


def compression() -> None:
    """A picture as the sum of a few outer products."""
    title("Singular values: the same flame from 2, from 8 and from all numbers")
    torch.manual_seed(1)
    picture = flame(40, 38)
    u, s, vh = torch.linalg.svd(picture, full_matrices=False)
    ranks = {k: ((u[:, :k] * s[:k]) @ vh[:k]).clamp(0, 1) for k in (2, 8)}
    draw(ranks[2], ranks[8], picture)
    for k, approximation in ranks.items():
        error = torch.linalg.norm(approximation - picture) / torch.linalg.norm(picture)
        kept = k * (sum(picture.shape) + 1) / picture.numel()
        print(f"rank {k}: {kept:5.1%} of the numbers, {error.item():.1%} off")


def training() -> None:
    """A net of two layers by hand: gradients from `backward`, steps from plain arithmetic."""
    title("Gradients: a small net learns a ring, seen after 0, 200 and 2000 steps")
    torch.manual_seed(0)
    points = torch.rand(500, 2) * 2 - 1
    wanted = ((points.norm(dim=1) - 0.6).abs() < 0.2).to(torch.float32).unsqueeze(1)
    weights = [torch.randn(2, 32) * 2, torch.randn(32), torch.randn(32, 1) * 0.1, torch.zeros(1)]
    for w in weights:
        w.requires_grad_()

    def net(x: torch.Tensor) -> torch.Tensor:
        return ((x @ weights[0] + weights[1]).tanh() @ weights[2] + weights[3]).sigmoid()

    line = torch.linspace(-1, 1, 38)
    grid = torch.stack(torch.meshgrid(line, line, indexing="ij"), 2).reshape(-1, 2)
    pictures, losses = [], {}
    for step in range(2001):
        if step in (0, 200, 2000):
            with torch.no_grad():
                pictures.append(net(grid).reshape(38, 38))
        guess = net(points)
        loss = -(wanted * guess.log() + (1 - wanted) * (1 - guess).log()).mean()
        losses[step] = loss.item()
        loss.backward()
        with torch.no_grad():
            for w in weights:
                w -= 0.7 * w.grad
                w.grad = None
    draw(*pictures)
    print("loss:", ", ".join(f"{losses[step]:.3f} after {step}" for step in (0, 200, 2000)))


def shapes(count: int, size: int = 14) -> tuple[torch.Tensor, torch.Tensor]:
    """Noisy images of rings, crosses and stripes at random positions, and their labels."""
    line = torch.arange(size) - size / 2
    y = line.reshape(1, -1, 1) - torch.randint(-3, 4, (count, 1, 1))
    x = line.reshape(1, 1, -1) - torch.randint(-3, 4, (count, 1, 1))
    distance = (x * x + y * y).sqrt()
    kinds = [
        (distance - 3.5).abs() < 1,
        ((x.abs() < 1) | (y.abs() < 1)) & (distance < 5),
        ((x + y) % 4 < 2) & (x.abs() < 4) & (y.abs() < 4),
    ]
    labels = torch.randint(0, 3, (count,))
    clean = torch.stack(kinds)[labels, torch.arange(count)].float()
    return (0.7 * clean + 0.3 * torch.rand(count, size, size)).unsqueeze(1), labels


def network() -> None:
    """A convolutional net from `nn`; the steps are plain arithmetic."""
    title("Networks: a convolutional net learns rings, crosses and stripes")
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 3),
    )
    print(net)
    start = time.perf_counter()
    for _ in range(300):
        pictures, labels = shapes(64)
        F.cross_entropy(net(pictures), labels).backward()
        with torch.no_grad():
            for parameter in net.parameters():
                parameter -= 0.2 * parameter.grad
        net.zero_grad()
    took = time.perf_counter() - start
    pictures, labels = shapes(1000)
    with torch.no_grad():
        guesses = net.eval()(pictures).argmax(1)
    shown = [int((labels == kind).nonzero()[0]) for kind in range(3)]
    draw(*pictures[shown, 0])
    names = ("ring", "cross", "stripes")
    print("it says:", ", ".join(names[guess] for guess in guesses[shown].tolist()))
    right = (guesses == labels).float().mean().item()
    print(f"{right:.1%} of 1000 new pictures right, after 300 steps in {took:.1f} s")


def mistakes() -> None:
    """What a mistake looks like."""
    title("When something goes wrong: both lines, with no flag set")
    x = torch.ones(3, requires_grad=True)
    hidden = x * 2
    loss = (hidden**2).sum()
    hidden += 1
    try:
        loss.backward()
    except RuntimeError as error:
        print(error)


def speed() -> None:
    """What one call costs."""
    title("Speed")
    a, b = torch.ones(3, 4), torch.ones(3, 4)
    count = 200_000
    start = time.perf_counter()
    for _ in range(count):
        a + b
    call = (time.perf_counter() - start) / count
    x, y = torch.rand(10_000_000), torch.rand(10_000_000)
    x + y  # the first result's memory is kept for the next
    start = time.perf_counter()
    x + y
    large = time.perf_counter() - start
    leaf = torch.ones(3, 4, requires_grad=True)
    start = time.perf_counter()
    for _ in range(count // 100):
        chain = leaf
        for _ in range(100):
            chain = chain * b
        chain.backward(b)
    recorded = (time.perf_counter() - start) / count
    print(f"a + b on 3 x 4 elements:      {call * 1e9:7.0f} ns")
    print(f"a * b, recorded and backward: {recorded * 1e9:7.0f} ns")
    print(f"x + y on 10 million elements: {large * 1e3:7.1f} ms")


def main() -> None:
    start = time.perf_counter()
    print(f"Flambeau {torch.__version__}, a lighter torch: `import flambeau as torch`")
    arrays()
    least_squares()
    compression()
    training()
    network()
    mistakes()
    speed()
    print(f"\nall of this took {time.perf_counter() - start:.1f} s; next: make test, make bench")


if __name__ == "__main__":
    main()
