"""Data loading by several processes: datasets of both kinds, seeds of workers, own batches."""

import argparse
import random

import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import (
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    WeightedRandomSampler,
    get_worker_info,
)


def seed_worker(worker_id):
    worker_seed = torch.initial_seed() % 2**32
    np.random.seed(worker_seed)
    random.seed(worker_seed)


class Events(Dataset):
    """Sequences of different lengths; the label says whether they drift upwards."""

    def __init__(self, length, drift, augment=False):
        self.length, self.drift, self.augment = length, drift, augment

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        rng = np.random.RandomState(1000 * int(self.drift > 0) + index)
        steps = rng.randint(8, 24)
        values = np.cumsum(rng.normal(self.drift, 1.0, (steps, 2)), axis=0)
        if self.augment:
            values = values + np.random.normal(0, 0.1, values.shape)
        return {
            "values": torch.as_tensor(values, dtype=torch.float32),
            "label": float(self.drift > 0),
            "name": "event-%d" % index,
        }


def collate_events(samples):
    values = [sample["values"] for sample in samples]
    return {
        "values": pad_sequence(values, batch_first=True),
        "lengths": torch.tensor([len(v) for v in values]),
        "label": torch.tensor([sample["label"] for sample in samples]),
        "name": [sample["name"] for sample in samples],
    }


class Stream(IterableDataset):
    """Numbers of a stream, dealt out among the workers."""

    def __init__(self, end):
        super().__init__()
        self.end = end

    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        for i in range(first, self.end, step):
            yield torch.tensor([i, i * i], dtype=torch.float32)


class SequenceClassifier(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.lstm = nn.LSTM(2, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, values, lengths):
        output, _ = self.lstm(values)
        last = output[torch.arange(len(lengths)), lengths - 1]
        return self.head(last).squeeze(-1)


def train(model, loader, optimizer, criterion, device):
    model.train()
    losses = []
    for batch in loader:
        values, lengths = batch["values"].to(device), batch["lengths"]
        optimizer.zero_grad()
        loss = criterion(model(values, lengths), batch["label"].to(device))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


@torch.no_grad()
def evaluate(model, loader, criterion, device):
    model.eval()
    total, names = 0.0, []
    for batch in loader:
        output = model(batch["values"].to(device), batch["lengths"])
        total += criterion(output, batch["label"].to(device)).item()
        names += batch["name"]
    return total / len(loader), names


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    generator = torch.Generator()
    generator.manual_seed(args.seed)

    rising, falling = Events(192, 0.25, augment=True), Events(64, -0.25, augment=True)
    dataset = ConcatDataset([rising, falling])
    weights = [1 / len(part) for part in dataset.datasets for _ in range(len(part))]
    sampler = WeightedRandomSampler(weights, num_samples=256, generator=generator)
    train_loader = DataLoader(
        dataset,
        batch_size=args.batch_size,
        sampler=sampler,
        num_workers=args.workers,
        collate_fn=collate_events,
        worker_init_fn=seed_worker,
        generator=generator,
        persistent_workers=args.workers > 0,
        prefetch_factor=2 if args.workers > 0 else None,
    )
    test_loader = DataLoader(
        ConcatDataset([Events(32, 0.25), Events(32, -0.25)]),
        batch_size=args.batch_size,
        num_workers=args.workers,
        collate_fn=collate_events,
    )

    model = SequenceClassifier().to(device)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(args.epochs):
        train_loss = train(model, train_loader, optimizer, criterion, device)
        test_loss, names = evaluate(model, test_loader, criterion, device)
        print(f"epoch {epoch}: train loss {train_loss:.6f}, test loss {test_loss:.6f}")
    print(len(names), "events, from", names[0], "to", names[-1])

    stream = DataLoader(Stream(40), batch_size=8, num_workers=args.workers)
    batches = [batch for batch in stream]
    print("stream:", [batch[:, 0].int().tolist() for batch in batches])
    print("sum of squares:", torch.cat(batches)[:, 1].sum().item())


if __name__ == "__main__":
    main()
