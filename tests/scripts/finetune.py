"""Transfer learning: pre-train on many pictures of one task, fine-tune on few of another one."""

import argparse
import copy
import os
import tempfile
from collections import OrderedDict

import numpy as np
import torch
import torch.nn as nn
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, TensorDataset


def conv3x3(in_planes, out_planes, stride=1):
    return nn.Conv2d(in_planes, out_planes, kernel_size=3, stride=stride, padding=1, bias=False)


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, inplanes, planes, stride=1):
        super().__init__()
        self.conv1 = conv3x3(inplanes, planes, stride)
        self.bn1 = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = None
        if stride != 1 or inplanes != planes:
            self.downsample = nn.Sequential(
                nn.Conv2d(inplanes, planes, kernel_size=1, stride=stride, bias=False),
                nn.BatchNorm2d(planes),
            )

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += identity
        return self.relu(out)


class TinyResNet(nn.Module):
    def __init__(self, num_classes, width=8):
        super().__init__()
        self.stem = nn.Sequential(
            OrderedDict(
                [("conv", conv3x3(1, width)), ("bn", nn.BatchNorm2d(width)), ("relu", nn.ReLU())]
            )
        )
        self.layer1 = BasicBlock(width, width)
        self.layer2 = BasicBlock(width, 2 * width, stride=2)
        self.layer3 = BasicBlock(2 * width, 4 * width, stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(4 * width, num_classes)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(m, nn.BatchNorm2d):
                nn.init.constant_(m.weight, 1)
                nn.init.constant_(m.bias, 0)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(self.stem(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


def gratings(count, classes, rng, size=16):
    """The class is the direction of the stripes."""
    labels = rng.integers(classes, size=count)
    angle = labels[:, None, None] * (np.pi / classes)
    y, x = np.mgrid[:size, :size]
    waves = 1.2 * (np.cos(angle) * y + np.sin(angle) * x)
    images = np.sin(waves + rng.uniform(0, 2 * np.pi, (count, 1, 1)))
    images += rng.normal(0, 0.5, images.shape)
    return TensorDataset(
        torch.from_numpy(images.astype(np.float32)).unsqueeze(1), torch.from_numpy(labels)
    )


def train_model(model, dataloaders, criterion, optimizer, scheduler, device, num_epochs):
    best_model_wts = copy.deepcopy(model.state_dict())
    best_acc = 0.0
    for epoch in range(num_epochs):
        print("Epoch {}/{}".format(epoch, num_epochs - 1))
        print("-" * 10)
        for phase in ["train", "val"]:
            model.train() if phase == "train" else model.eval()
            running_loss, running_corrects = 0.0, 0
            for inputs, labels in dataloaders[phase]:
                inputs, labels = inputs.to(device), labels.to(device)
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == "train"):
                    outputs = model(inputs)
                    _, preds = torch.max(outputs, 1)
                    loss = criterion(outputs, labels)
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
                running_loss += loss.item() * inputs.size(0)
                running_corrects += torch.sum(preds == labels.data)
            if phase == "train":
                scheduler.step()
            size = len(dataloaders[phase].dataset)
            epoch_loss, epoch_acc = running_loss / size, running_corrects.double() / size
            print("{} Loss: {:.5f} Acc: {:.4f}".format(phase, epoch_loss, epoch_acc))
            if phase == "val" and epoch_acc > best_acc:
                best_acc = epoch_acc
                best_model_wts = copy.deepcopy(model.state_dict())
    print("Best val Acc: {:4f}".format(best_acc))
    model.load_state_dict(best_model_wts)
    return model


def loaders(train_set, val_set, batch_size):
    return {
        "train": DataLoader(train_set, batch_size=batch_size, shuffle=True),
        "val": DataLoader(val_set, batch_size=128),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    rng = np.random.default_rng(args.seed)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)

    print("Pre-training")
    model = TinyResNet(num_classes=8).to(device)
    data = loaders(gratings(512, 8, rng), gratings(128, 8, rng), 32)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    scheduler = lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
    model = train_model(model, data, criterion, optimizer, scheduler, device, args.epochs)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pretrained.pth")
        torch.save({"state_dict": model.state_dict(), "arch": "tinyresnet"}, path)
        checkpoint = torch.load(path, map_location="cpu")

    print("Fine-tuning")
    model = TinyResNet(num_classes=3)
    state = {k: v for k, v in checkpoint["state_dict"].items() if not k.startswith("fc.")}
    print(model.load_state_dict(state, strict=False))
    for name, param in model.named_parameters():
        param.requires_grad = name.startswith(("layer3", "fc"))
    model = model.to(device)
    trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print("trainable parameters:", trainable)
    optimizer = torch.optim.SGD(
        [
            {"params": model.layer3.parameters(), "lr": 0.002},
            {"params": model.fc.parameters()},
        ],
        lr=0.02,
        momentum=0.9,
        nesterov=True,
    )
    scheduler = lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.1)
    data = loaders(gratings(96, 3, rng), gratings(128, 3, rng), 16)
    train_model(model, data, criterion, optimizer, scheduler, device, args.epochs)
    before, after = checkpoint["state_dict"], model.state_dict()
    frozen = torch.equal(before["stem.conv.weight"], after["stem.conv.weight"].cpu())
    print("first layer unchanged:", frozen)


if __name__ == "__main__":
    main()
