"""Tables of networks by torchinfo."""

import torch
from torch import nn
from torchinfo import summary


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.rnn = nn.LSTM(16, 32, num_layers=2, batch_first=True)
        self.head = nn.Linear(32, 4)

    def forward(self, tokens):
        states, _ = self.rnn(self.embedding(tokens))
        return self.head(states[:, -1])


def main():
    torch.manual_seed(0)
    images = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * 8 * 8, 10),
    )
    columns = ["input_size", "output_size", "num_params", "kernel_size", "mult_adds", "trainable"]
    print(summary(images, input_size=(4, 3, 16, 16), col_names=columns, verbose=0))
    for parameter in images[0].parameters():
        parameter.requires_grad_(False)
    print(summary(images, input_data=torch.zeros(1, 3, 16, 16), verbose=0))
    print(summary(Recurrent(), input_data=torch.zeros(2, 7, dtype=torch.long), depth=2, verbose=0))


if __name__ == "__main__":
    main()
