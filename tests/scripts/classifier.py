"""Train a small convolutional network to tell circles, squares, crosses and triangles apart."""

import argparse
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, Dataset, random_split
from torch.utils.tensorboard import SummaryWriter


class ShapesDataset(Dataset):
    """Noisy pictures of one shape each, drawn from the seed."""

    classes = ["circle", "square", "cross", "triangle"]

    def __init__(self, count, size=20, seed=0, transform=None):
        rng = np.random.RandomState(seed)
        self.transform = transform
        self.labels = rng.randint(0, len(self.classes), count)
        self.images = np.stack([self.draw(label, size, rng) for label in self.labels])

    @staticmethod
    def draw(label, size, rng):
        y, x = np.mgrid[:size, :size].astype(np.float32)
        cy, cx = rng.uniform(size * 0.35, size * 0.65, 2)
        radius = rng.uniform(size * 0.2, size * 0.3)
        dy, dx = y - cy, x - cx
        if label == 0:
            mask = dx**2 + dy**2 < radius**2
        elif label == 1:
            mask = np.maximum(abs(dx), abs(dy)) < radius * 0.85
        elif label == 2:
            mask = (np.minimum(abs(dx), abs(dy)) < 1.5) & (np.maximum(abs(dx), abs(dy)) < radius)
        else:
            mask = (dy < radius * 0.7) & (dy > 2 * abs(dx) - radius)
        return mask + rng.normal(0, 0.2, (size, size)).astype(np.float32)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, idx):
        image = torch.from_numpy(self.images[idx].astype(np.float32)).unsqueeze(0)
        if self.transform:
            image = self.transform(image)
        return image, int(self.labels[idx])


class Net(nn.Module):
    def __init__(self, num_classes):
        super(Net, self).__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1, bias=False),
            nn.BatchNorm2d(16),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1, bias=False),
            nn.BatchNorm2d(32),
            nn.ReLU(inplace=True),
            nn.AdaptiveAvgPool2d((4, 4)),
        )
        self.dropout = nn.Dropout(0.25)
        self.fc1 = nn.Linear(32 * 4 * 4, 64)
        self.fc2 = nn.Linear(64, num_classes)

    def forward(self, x):
        x = self.features(x)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        x = self.dropout(x)
        return F.log_softmax(self.fc2(x), dim=1)


def train(args, model, device, train_loader, optimizer, epoch, writer):
    model.train()
    for batch_idx, (data, target) in enumerate(train_loader):
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        output = model(data)
        loss = F.nll_loss(output, target)
        loss.backward()
        optimizer.step()
        if batch_idx % args.log_interval == 0:
            step = (epoch - 1) * len(train_loader) + batch_idx
            writer.add_scalar("train/loss", loss.item(), step)
            print(
                "Train Epoch: {} [{}/{} ({:.0f}%)]\tLoss: {:.6f}".format(
                    epoch,
                    batch_idx * len(data),
                    len(train_loader.dataset),
                    100.0 * batch_idx / len(train_loader),
                    loss.item(),
                )
            )


def test(model, device, test_loader):
    model.eval()
    test_loss = 0
    correct = 0
    with torch.no_grad():
        for data, target in test_loader:
            data, target = data.to(device), target.to(device)
            output = model(data)
            test_loss += F.nll_loss(output, target, reduction="sum").item()
            pred = output.argmax(dim=1, keepdim=True)
            correct += pred.eq(target.view_as(pred)).sum().item()
    test_loss /= len(test_loader.dataset)
    print(
        "\nTest set: Average loss: {:.6f}, Accuracy: {}/{}\n".format(
            test_loss, correct, len(test_loader.dataset)
        )
    )
    return test_loss, correct / len(test_loader.dataset)


def main():
    parser = argparse.ArgumentParser(description="PyTorch shapes example")
    parser.add_argument("--batch-size", type=int, default=64, metavar="N")
    parser.add_argument("--test-batch-size", type=int, default=256, metavar="N")
    parser.add_argument("--epochs", type=int, default=4, metavar="N")
    parser.add_argument("--lr", type=float, default=0.02, metavar="LR")
    parser.add_argument("--gamma", type=float, default=0.7, metavar="M")
    parser.add_argument("--no-cuda", action="store_true", default=False)
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--log-interval", type=int, default=5, metavar="N")
    parser.add_argument("--save-model", action="store_true", default=False)
    args = parser.parse_args()

    use_cuda = not args.no_cuda and torch.cuda.is_available()
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if use_cuda else "cpu")

    dataset = ShapesDataset(1600, seed=args.seed, transform=lambda x: (x - 0.15) / 0.5)
    train_set, test_set = random_split(dataset, [1280, 320])
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=args.test_batch_size)

    model = Net(len(dataset.classes)).to(device)
    print(model)
    print("parameters:", sum(p.numel() for p in model.parameters() if p.requires_grad))
    optimizer = optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-4)
    scheduler = StepLR(optimizer, step_size=1, gamma=args.gamma)

    with tempfile.TemporaryDirectory() as log_dir:
        writer = SummaryWriter(log_dir=os.path.join(log_dir, "shapes"))
        best = 0.0
        for epoch in range(1, args.epochs + 1):
            train(args, model, device, train_loader, optimizer, epoch, writer)
            test_loss, accuracy = test(model, device, test_loader)
            writer.add_scalars("test", {"loss": test_loss, "accuracy": accuracy}, epoch)
            scheduler.step()
            if accuracy >= best:
                best = accuracy
                torch.save(model.state_dict(), os.path.join(log_dir, "best.pt"))
        writer.add_graph(model, next(iter(test_loader))[0].to(device))
        writer.close()
        model.load_state_dict(torch.load(os.path.join(log_dir, "best.pt"), weights_only=True))
        print("best checkpoint:")
        test(model, device, test_loader)
        if args.save_model:
            torch.save(model.state_dict(), "shapes_cnn.pt")


if __name__ == "__main__":
    main()
