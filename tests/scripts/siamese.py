# -*- coding: utf-8 -*-
# A siamese network with contrastive loss, in the manner of 2017: Variables and .data.
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.autograd import Variable
from torch.utils.data import DataLoader, Dataset


class Config:
    people = 12
    photos = 8
    image_size = 16
    train_batch_size = 32
    train_number_epochs = 6
    seed = 7


class Faces(object):
    """Every "person" is a pattern of waves; every "photo" of it is moved, dimmed and noisy."""

    def __init__(self, config):
        rng = np.random.RandomState(config.seed)
        y, x = np.mgrid[: config.image_size, : config.image_size] / float(config.image_size)
        self.imgs = []
        for person in range(config.people):
            a, b, c, d = rng.uniform(2, 9, 4)
            for _ in range(config.photos):
                dx, dy = rng.uniform(-0.06, 0.06, 2)
                face = np.sin(a * (x + dx) + b * (y + dy)) + np.cos(c * (x + dx) - d * (y + dy))
                face = rng.uniform(0.7, 1.0) * face + rng.normal(0, 0.3, face.shape)
                self.imgs.append((face.astype(np.float32), person))


class SiameseNetworkDataset(Dataset):
    def __init__(self, faces, length, transform=None):
        self.faces = faces
        self.length = length
        self.transform = transform

    def __getitem__(self, index):
        img0_tuple = random.choice(self.faces.imgs)
        # we need to make sure approx 50% of images are in the same class
        should_get_same_class = random.randint(0, 1)
        while True:
            img1_tuple = random.choice(self.faces.imgs)
            if (img0_tuple[1] == img1_tuple[1]) == bool(should_get_same_class):
                break
        img0 = torch.from_numpy(img0_tuple[0]).unsqueeze(0)
        img1 = torch.from_numpy(img1_tuple[0]).unsqueeze(0)
        if self.transform is not None:
            img0 = self.transform(img0)
            img1 = self.transform(img1)
        different = int(img1_tuple[1] != img0_tuple[1])
        return img0, img1, torch.from_numpy(np.array([different], dtype=np.float32))

    def __len__(self):
        return self.length


class SiameseNetwork(nn.Module):
    def __init__(self):
        super(SiameseNetwork, self).__init__()
        self.cnn1 = nn.Sequential(
            nn.ReflectionPad2d(1),
            nn.Conv2d(1, 4, kernel_size=3),
            nn.ReLU(inplace=True),
            nn.BatchNorm2d(4),
            nn.Dropout2d(p=0.1),
            nn.ReflectionPad2d(1),
            nn.Conv2d(4, 8, kernel_size=3, stride=2),
            nn.ReLU(inplace=True),
            nn.BatchNorm2d(8),
        )
        self.fc1 = nn.Sequential(
            nn.Linear(8 * 8 * 8, 64),
            nn.ReLU(inplace=True),
            nn.Linear(64, 8),
        )

    def forward_once(self, x):
        output = self.cnn1(x)
        output = output.view(output.size()[0], -1)
        return self.fc1(output)

    def forward(self, input1, input2):
        return self.forward_once(input1), self.forward_once(input2)


class ContrastiveLoss(torch.nn.Module):
    def __init__(self, margin=2.0):
        super(ContrastiveLoss, self).__init__()
        self.margin = margin

    def forward(self, output1, output2, label):
        euclidean_distance = F.pairwise_distance(output1, output2, keepdim=True)
        return torch.mean(
            (1 - label) * torch.pow(euclidean_distance, 2)
            + label * torch.pow(torch.clamp(self.margin - euclidean_distance, min=0.0), 2)
        )


def main():
    random.seed(Config.seed)
    torch.manual_seed(Config.seed)
    faces = Faces(Config)
    dataset = SiameseNetworkDataset(faces, 512, transform=lambda img: img.div(2))
    train_dataloader = DataLoader(
        dataset, shuffle=True, num_workers=0, batch_size=Config.train_batch_size
    )
    net = SiameseNetwork()
    if torch.cuda.is_available():
        net = net.cuda()
    criterion = ContrastiveLoss()
    optimizer = optim.Adam(net.parameters(), lr=0.0005)

    for epoch in range(Config.train_number_epochs):
        epoch_loss = 0
        for data in train_dataloader:
            img0, img1, label = data
            img0, img1, label = Variable(img0), Variable(img1), Variable(label)
            if torch.cuda.is_available():
                img0, img1, label = img0.cuda(), img1.cuda(), label.cuda()
            output1, output2 = net(img0, img1)
            optimizer.zero_grad()
            loss_contrastive = criterion(output1, output2, label)
            loss_contrastive.backward()
            optimizer.step()
            epoch_loss += loss_contrastive.data.item()
        print("Epoch number {} Current loss {:.6f}".format(epoch, epoch_loss / len(dataset) * 32))

    net.eval()
    test_dataloader = DataLoader(dataset, batch_size=256)
    img0, img1, label = next(iter(test_dataloader))
    with torch.no_grad():
        output1, output2 = net(Variable(img0), Variable(img1))
    distance = F.pairwise_distance(output1, output2).data
    same = distance[label.view(-1) == 0].mean()
    other = distance[label.view(-1) == 1].mean()
    print("mean distance: same person {:.4f}, different people {:.4f}".format(same, other))
    print("Test loss {:.6f}".format(criterion(output1, output2, label).data.item()))


if __name__ == "__main__":
    main()
