"""Super-resolution by sub-pixel convolution (ESPCN): pictures of 8x8 pixels become 24x24."""

import argparse
from math import log10

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.init as init
import torch.optim as optim
from torch.utils.data import DataLoader, Dataset


class TexturesDataset(Dataset):
    """Sums of a few waves; the input is the picture itself, made smaller."""

    def __init__(self, count, size, upscale_factor, generator):
        y, x = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
        kx, ky = (torch.rand(2, count, 4, 1, 1, generator=generator) - 0.5) * 1.6
        phase = torch.rand(count, 4, 1, 1, generator=generator) * 6.2832
        waves = torch.sin(kx * x + ky * y + phase).mean(1, keepdim=True)
        self.targets = waves * 0.5 + 0.5
        self.inputs = F.avg_pool2d(self.targets, upscale_factor)

    def __getitem__(self, index):
        return self.inputs[index], self.targets[index]

    def __len__(self):
        return len(self.targets)


class Net(nn.Module):
    def __init__(self, upscale_factor):
        super(Net, self).__init__()
        self.relu = nn.ReLU()
        self.conv1 = nn.Conv2d(1, 32, (5, 5), (1, 1), (2, 2))
        self.conv2 = nn.Conv2d(32, 32, (3, 3), (1, 1), (1, 1))
        self.conv3 = nn.Conv2d(32, 16, (3, 3), (1, 1), (1, 1))
        self.conv4 = nn.Conv2d(16, upscale_factor**2, (3, 3), (1, 1), (1, 1))
        self.pixel_shuffle = nn.PixelShuffle(upscale_factor)
        self._initialize_weights()

    def forward(self, x):
        x = self.relu(self.conv1(x))
        x = self.relu(self.conv2(x))
        x = self.relu(self.conv3(x))
        return self.pixel_shuffle(self.conv4(x))

    def _initialize_weights(self):
        init.orthogonal_(self.conv1.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv2.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv3.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv4.weight)


def train(model, loader, criterion, optimizer, device, epoch):
    epoch_loss = 0
    model.train()
    for iteration, batch in enumerate(loader, 1):
        input, target = batch[0].to(device), batch[1].to(device)
        optimizer.zero_grad()
        loss = criterion(model(input), target)
        epoch_loss += loss.item()
        loss.backward()
        optimizer.step()
        if iteration % 4 == 0:
            print(f"===> Epoch[{epoch}]({iteration}/{len(loader)}): Loss: {loss.item():.6f}")
    print(f"===> Epoch {epoch} Complete: Avg. Loss: {epoch_loss / len(loader):.6f}")


def test(model, loader, criterion, device):
    avg_psnr, avg_bicubic, avg_loss = 0, 0, 0
    model.eval()
    with torch.no_grad():
        for input, target in loader:
            input, target = input.to(device), target.to(device)
            mse = criterion(model(input), target)
            bicubic = F.interpolate(input, size=target.shape[-2:], mode="bicubic")
            avg_loss += mse.item()
            avg_psnr += 10 * log10(1 / mse.item())
            avg_bicubic += 10 * log10(1 / F.mse_loss(bicubic.clamp(0, 1), target).item())
    n = len(loader)
    print(
        "===> Test Loss: {:.6f} Avg. PSNR: {:.3f} dB (bicubic: {:.3f} dB)".format(
            avg_loss / n, avg_psnr / n, avg_bicubic / n
        )
    )
    return avg_loss / n


def main():
    parser = argparse.ArgumentParser(description="PyTorch Super Res Example")
    parser.add_argument("--upscale_factor", type=int, default=3)
    parser.add_argument("--batchSize", type=int, default=16, help="training batch size")
    parser.add_argument("--testBatchSize", type=int, default=32, help="testing batch size")
    parser.add_argument("--nEpochs", type=int, default=5, help="number of epochs to train for")
    parser.add_argument("--lr", type=float, default=0.001, help="Learning Rate")
    parser.add_argument("--seed", type=int, default=123, help="random seed to use")
    opt = parser.parse_args()
    print(opt)

    torch.manual_seed(opt.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    print("===> Loading datasets")
    generator = torch.Generator().manual_seed(opt.seed)
    size = 8 * opt.upscale_factor
    train_set = TexturesDataset(256, size, opt.upscale_factor, generator)
    test_set = TexturesDataset(64, size, opt.upscale_factor, generator)
    train_loader = DataLoader(train_set, batch_size=opt.batchSize, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=opt.testBatchSize, shuffle=False)

    print("===> Building model")
    model = Net(upscale_factor=opt.upscale_factor).to(device)
    criterion = nn.MSELoss()
    optimizer = optim.Adam(model.parameters(), lr=opt.lr)
    scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, "min", factor=0.5, patience=1)
    for epoch in range(1, opt.nEpochs + 1):
        train(model, train_loader, criterion, optimizer, device, epoch)
        loss = test(model, test_loader, criterion, device)
        scheduler.step(loss)
    print("learning rate at the end:", optimizer.param_groups[0]["lr"])


if __name__ == "__main__":
    main()
