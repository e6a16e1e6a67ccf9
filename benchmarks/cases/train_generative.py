"""Training steps of generative networks: a DCGAN with an optimiser for either side, and a VAE."""

import itertools
from typing import Any

from benchmarks.case import Namespace, add_case
from benchmarks.roofline import Work, convolution, parameters, product
from benchmarks.training import COMPARED_STEPS, Program, add_step

# A DCGAN of colour images of 64 x 64. Channels of the generator at 4 x 4, 8 x 8 and so on; the
# discriminator has them the other way round.
CODE, CHANNELS, COLOURS, IMAGES = 100, (512, 256, 128, 64), 3, 32

# The usual autoencoder of digits.
PIXELS, HIDDEN, LATENT, DIGITS = 784, 400, 20, 128


def generator(t: Any) -> Any:
    nn = t.nn
    layers = [
        nn.ConvTranspose2d(CODE, CHANNELS[0], 4, bias=False),
        nn.BatchNorm2d(CHANNELS[0]),
        nn.ReLU(),
    ]
    for inputs, outputs in itertools.pairwise(CHANNELS):
        layers += [
            nn.ConvTranspose2d(inputs, outputs, 4, 2, 1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
        ]
    return nn.Sequential(
        *layers, nn.ConvTranspose2d(CHANNELS[-1], COLOURS, 4, 2, 1, bias=False), nn.Tanh()
    )


def discriminator(t: Any) -> Any:
    nn = t.nn
    layers = [nn.Conv2d(COLOURS, CHANNELS[-1], 4, 2, 1, bias=False), nn.LeakyReLU(0.2)]
    for inputs, outputs in itertools.pairwise(reversed(CHANNELS)):
        layers += [
            nn.Conv2d(inputs, outputs, 4, 2, 1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.LeakyReLU(0.2),
        ]
    return nn.Sequential(*layers, nn.Conv2d(CHANNELS[0], 1, 4, bias=False), nn.Flatten(0))


def dcgan(t: Any) -> Namespace:
    """A step of the discriminator on real and generated images, then one of the generator."""
    t.manual_seed(0)
    makes, judges = generator(t), discriminator(t)
    adam = {"lr": 2e-4, "betas": (0.5, 0.999)}
    of_maker = t.optim.Adam(makes.parameters(), **adam)
    of_judge = t.optim.Adam(judges.parameters(), **adam)
    loss_of = t.nn.functional.binary_cross_entropy_with_logits
    real, yes, no = t.randn(IMAGES, COLOURS, 64, 64), t.ones(IMAGES), t.zeros(IMAGES)
    code = t.randn(IMAGES, CODE, 1, 1)

    def step() -> Any:
        of_judge.zero_grad()
        on_real = loss_of(judges(real), yes)
        on_real.backward()
        made = makes(code)
        on_made = loss_of(judges(made.detach()), no)
        on_made.backward()
        of_judge.step()
        of_maker.zero_grad()
        fooled = loss_of(judges(made), yes)
        fooled.backward()
        of_maker.step()
        return on_real + on_made + fooled

    return {"step": step, "losses": [step().item() for _ in range(COMPARED_STEPS)]}


def dcgan_work() -> Work:
    """The generator once, the discriminator on real, generated and again generated images."""
    sides = (4, 8, 16, 32, 64)
    work = convolution(IMAGES, (CODE, CHANNELS[0]), (4, 1), 4, is_first=True)
    work += convolution(IMAGES, (CHANNELS[0], 1), (4, 1), 4) * 3
    count = 16 * CHANNELS[0] * (CODE + 1)
    pairs = list(itertools.pairwise((*CHANNELS, COLOURS)))
    for (inputs, outputs), (small, large) in zip(pairs, itertools.pairwise(sides), strict=True):
        work += convolution(IMAGES, (outputs, inputs), (large, small), 4) * 4
        count += 2 * 16 * inputs * outputs
    return work + parameters(count, 2)


def vae(t: Any) -> Program:
    """Both halves have one hidden layer; the loss is cross entropy and the divergence."""
    nn = t.nn

    class VAE(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.hidden = nn.Linear(PIXELS, HIDDEN)
            self.mean, self.log_variance = nn.Linear(HIDDEN, LATENT), nn.Linear(HIDDEN, LATENT)
            self.decoded, self.out = nn.Linear(LATENT, HIDDEN), nn.Linear(HIDDEN, PIXELS)

        def forward(self, x: Any) -> tuple[Any, Any, Any]:
            hidden = t.relu(self.hidden(x))
            mean, log_variance = self.mean(hidden), self.log_variance(hidden)
            z = mean + t.exp(0.5 * log_variance) * t.randn_like(mean)
            return t.sigmoid(self.out(t.relu(self.decoded(z)))), mean, log_variance

    module, x = VAE(), t.rand(DIGITS, PIXELS)

    def loss() -> Any:
        y, mean, log_variance = module(x)
        divergence = -0.5 * t.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
        return nn.functional.binary_cross_entropy(y, x, reduction="sum") + divergence

    return Program(module, loss)


add_case(
    "train",
    f"DCGAN 64 x 64, batch {IMAGES}, two Adams",
    dcgan,
    "step()",
    check="losses",
    work=dcgan_work(),
)
add_step(
    f"VAE {PIXELS}-{HIDDEN}-{LATENT}, batch {DIGITS}, Adam",
    1.1,
    vae,
    "Adam",
    (PIXELS + 1 + LATENT + 1) * HIDDEN + (HIDDEN + 1) * (2 * LATENT + PIXELS),
    product(DIGITS, PIXELS, HIDDEN, is_first=True)
    + product(DIGITS, HIDDEN, LATENT) * 2
    + product(DIGITS, LATENT, HIDDEN)
    + product(DIGITS, HIDDEN, PIXELS),
)
