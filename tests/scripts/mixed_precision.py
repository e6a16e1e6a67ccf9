"""Mixed precision: autocast, a gradient scaler, accumulated gradients, checkpoints that resume."""

import argparse
import os
import tempfile
from contextlib import nullcontext

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class MLPBlock(nn.Module):
    def __init__(self, dim, mult=2):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.fc_in = nn.Linear(dim, dim * mult)
        self.act = nn.GELU()
        self.fc_out = nn.Linear(dim * mult, dim)

    def forward(self, x):
        return x + self.fc_out(self.act(self.fc_in(self.norm(x))))


class Regressor(nn.Module):
    def __init__(self, in_dim, dim=64, depth=2):
        super().__init__()
        self.embed = nn.Linear(in_dim, dim)
        self.blocks = nn.ModuleList(MLPBlock(dim) for _ in range(depth))
        self.head = nn.Linear(dim, 1)

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x).squeeze(-1)


def make_data(n, generator):
    x = torch.rand(n, 6, generator=generator) * 2 - 1
    y = (
        torch.sin(3 * x[:, 0])
        + x[:, 1] * x[:, 2]
        - torch.exp(-(x[:, 3] ** 2))
        + 0.5 * x[:, 4].abs()
    )
    return TensorDataset(x, y)


class Trainer:
    def __init__(self, args, device):
        self.args, self.device = args, device
        self.model = Regressor(6).to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=args.lr)
        self.scheduler = torch.optim.lr_scheduler.OneCycleLR(
            self.optimizer, max_lr=args.lr, total_steps=args.epochs * args.steps_per_epoch
        )
        dtypes = {"bf16": torch.bfloat16, "fp16": torch.float16}
        self.dtype = dtypes.get(args.precision)
        # Scaling is what float16 needs; elsewhere the scaler passes everything through.
        self.scaler = torch.amp.GradScaler(device.type, enabled=args.precision == "fp16")
        self.criterion = nn.SmoothL1Loss()

    def autocast(self):
        if self.dtype is None:
            return nullcontext()
        return torch.autocast(device_type=self.device.type, dtype=self.dtype)

    def train_epoch(self, loader):
        self.model.train()
        total = 0.0
        self.optimizer.zero_grad(set_to_none=True)
        for i, (x, y) in enumerate(loader):
            x, y = x.to(self.device, non_blocking=True), y.to(self.device, non_blocking=True)
            with self.autocast():
                pred = self.model(x)
                loss = self.criterion(pred.float(), y) / self.args.accumulate
            self.scaler.scale(loss).backward()
            total += loss.item() * self.args.accumulate
            if (i + 1) % self.args.accumulate == 0:
                self.scaler.unscale_(self.optimizer)
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.scaler.step(self.optimizer)
                self.scaler.update()
                self.optimizer.zero_grad(set_to_none=True)
                self.scheduler.step()
        return total / len(loader)

    @torch.inference_mode()
    def evaluate(self, loader):
        self.model.eval()
        total = 0.0
        for x, y in loader:
            with self.autocast():
                pred = self.model(x.to(self.device))
            total += self.criterion(pred.float(), y.to(self.device)).item()
        return total / len(loader)

    def state_dict(self):
        parts = ("model", "optimizer", "scheduler", "scaler")
        return {part: getattr(self, part).state_dict() for part in parts}

    def load_state_dict(self, state):
        for part, values in state.items():
            getattr(self, part).load_state_dict(values)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--precision", choices=["fp32", "bf16", "fp16"], default="bf16")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--accumulate", type=int, default=2)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    generator = torch.Generator().manual_seed(args.seed)
    train_set, val_set = make_data(2048, generator), make_data(512, generator)
    train_loader = DataLoader(
        train_set,
        args.batch_size,
        shuffle=True,
        generator=generator,
        pin_memory=device.type != "cpu",
    )
    val_loader = DataLoader(val_set, 256)
    args.steps_per_epoch = len(train_loader) // args.accumulate

    trainer = Trainer(args, device)
    for epoch in range(args.epochs):
        if epoch == args.epochs // 2:  # stop, and go on in a new trainer
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "last.ckpt")
                torch.save(trainer.state_dict(), path)
                trainer = Trainer(args, device)
                trainer.load_state_dict(torch.load(path, map_location=device, weights_only=True))
            print("resumed")
        train_loss = trainer.train_epoch(train_loader)
        val_loss = trainer.evaluate(val_loader)
        print(
            f"epoch {epoch} {args.precision} train loss {train_loss:.5f} val loss {val_loss:.5f} "
            f"lr {trainer.scheduler.get_last_lr()[0]:.2e}"
        )


if __name__ == "__main__":
    main()
