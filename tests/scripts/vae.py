"""A variational autoencoder for pictures of sine gratings, on torch.distributions."""

import argparse
import math

import torch
from torch import nn, optim
from torch.distributions import Bernoulli, Normal, kl_divergence
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


def make_data(count, size=12):
    """Binary gratings of random direction, frequency and phase."""
    grid = torch.linspace(0, 1, size)
    y, x = torch.meshgrid(grid, grid, indexing="ij")
    angle = torch.rand(count, 1, 1) * math.pi
    frequency = 1 + 2 * torch.rand(count, 1, 1)
    phase = torch.rand(count, 1, 1) * 2 * math.pi
    waves = torch.sin(
        2 * math.pi * frequency * (x * torch.cos(angle) + y * torch.sin(angle)) + phase
    )
    return (waves > 0).float()


class VAE(nn.Module):
    def __init__(self, pixels, hidden=128, latent=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels, hidden), nn.Tanh())
        self.mu = nn.Linear(hidden, latent)
        self.logvar = nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(
            nn.Linear(latent, hidden), nn.SiLU(), nn.Linear(hidden, pixels)
        )

    def encode(self, x):
        h = self.encoder(x.flatten(1))
        return Normal(self.mu(h), torch.exp(0.5 * self.logvar(h)))

    def decode(self, z):
        return Bernoulli(logits=self.decoder(z))

    def forward(self, x):
        posterior = self.encode(x)
        z = posterior.rsample()
        return self.decode(z), posterior


def loss_function(likelihood, posterior, x, beta):
    """Negative evidence lower bound, per picture."""
    prior = Normal(torch.zeros_like(posterior.loc), torch.ones_like(posterior.scale))
    reconstruction = -likelihood.log_prob(x.flatten(1)).sum(-1)
    kld = kl_divergence(posterior, prior).sum(-1)
    return (reconstruction + beta * kld).mean(), reconstruction.mean(), kld.mean()


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    total, closed_form = 0.0, 0.0
    for (x,) in loader:
        x = x.to(device)
        likelihood, posterior = model(x)
        loss, reconstruction, kld = loss_function(likelihood, posterior, x, beta=1.0)
        total += loss.item() * len(x)
        # The same by hand, as the papers write it.
        mu, var = posterior.mean, posterior.variance
        by_hand = -0.5 * torch.sum(1 + var.log() - mu.pow(2) - var)
        cross = F.binary_cross_entropy(likelihood.probs, x.flatten(1), reduction="sum")
        closed_form += (cross + by_hand).item()
    return total / len(loader.dataset), closed_form / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser(description="VAE example")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--beta-warmup", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    train_data, test_data = make_data(1024), make_data(256)
    train_loader = DataLoader(TensorDataset(train_data), args.batch_size, shuffle=True)
    test_loader = DataLoader(TensorDataset(test_data), args.batch_size)

    model = VAE(train_data[0].numel()).to(device)
    optimizer = optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(1, args.epochs + 1):
        model.train()
        beta = min(1.0, epoch / args.beta_warmup)
        train_loss = 0
        for (x,) in train_loader:
            x = x.to(device)
            optimizer.zero_grad(set_to_none=True)
            likelihood, posterior = model(x)
            loss, reconstruction, kld = loss_function(likelihood, posterior, x, beta)
            loss.backward()
            train_loss += loss.item()
            optimizer.step()
        test_loss, closed_form = evaluate(model, test_loader, device)
        print(
            f"====> Epoch: {epoch} train loss: {train_loss / len(train_loader):.5f} "
            f"(kld loss: {kld.item():.5f}) test loss: {test_loss:.5f} / loss: {closed_form:.5f}"
        )

    model.eval()
    with torch.no_grad():
        prior = Normal(torch.zeros(4, 8, device=device), 1.0)
        sample = model.decode(prior.sample()).probs.view(4, 12, 12)
    print("mean of four samples: %.5f" % sample.mean().item())


if __name__ == "__main__":
    main()
