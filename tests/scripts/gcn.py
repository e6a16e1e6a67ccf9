"""A graph convolutional network that finds communities, with a sparse adjacency matrix."""

from __future__ import division, print_function

import argparse
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter


class GraphConvolution(Module):
    """Simple GCN layer"""

    def __init__(self, in_features, out_features, bias=True):
        super(GraphConvolution, self).__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(torch.FloatTensor(in_features, out_features))
        if bias:
            self.bias = Parameter(torch.FloatTensor(out_features))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        stdv = 1.0 / math.sqrt(self.weight.size(1))
        self.weight.data.uniform_(-stdv, stdv)
        if self.bias is not None:
            self.bias.data.uniform_(-stdv, stdv)

    def forward(self, input, adj):
        support = torch.mm(input, self.weight)
        output = torch.spmm(adj, support)
        if self.bias is not None:
            return output + self.bias
        else:
            return output

    def __repr__(self):
        return "{} ({} -> {})".format(self.__class__.__name__, self.in_features, self.out_features)


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass, dropout):
        super(GCN, self).__init__()
        self.gc1 = GraphConvolution(nfeat, nhid)
        self.gc2 = GraphConvolution(nhid, nclass)
        self.dropout = dropout

    def forward(self, x, adj):
        x = F.relu(self.gc1(x, adj))
        x = F.dropout(x, self.dropout, training=self.training)
        x = self.gc2(x, adj)
        return F.log_softmax(x, dim=1)


def load_data(nodes=300, classes=4, features=40, seed=0):
    """A stochastic block model, with noisy features of the blocks."""
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, classes, nodes)
    same = labels[:, None] == labels[None, :]
    edges = rng.uniform(size=(nodes, nodes)) < np.where(same, 0.06, 0.01)
    adj = np.triu(edges, 1)
    adj = (adj + adj.T).astype(np.float32) + np.eye(nodes, dtype=np.float32)
    adj /= adj.sum(1, keepdims=True)
    centers = rng.normal(0, 1, (classes, features))
    x = centers[labels] * 0.25 + rng.normal(0, 1, (nodes, features))
    rows, columns = np.nonzero(adj)
    indices = torch.from_numpy(np.vstack((rows, columns)).astype(np.int64))
    values = torch.from_numpy(adj[rows, columns])
    sparse = torch.sparse_coo_tensor(indices, values, torch.Size(adj.shape))
    order = torch.from_numpy(rng.permutation(nodes))
    return (
        sparse.coalesce(),
        torch.FloatTensor(x),
        torch.LongTensor(labels),
        order[:60],
        order[60:140],
        order[140:],
    )


def accuracy(output, labels):
    preds = output.max(1)[1].type_as(labels)
    correct = preds.eq(labels).double()
    return correct.sum() / len(labels)


parser = argparse.ArgumentParser()
parser.add_argument("--no-cuda", action="store_true", default=False)
parser.add_argument("--fastmode", action="store_true", default=False)
parser.add_argument("--seed", type=int, default=42)
parser.add_argument("--epochs", type=int, default=60)
parser.add_argument("--lr", type=float, default=0.01)
parser.add_argument("--weight_decay", type=float, default=5e-4)
parser.add_argument("--hidden", type=int, default=16)
parser.add_argument("--dropout", type=float, default=0.5)
args = parser.parse_args()
args.cuda = not args.no_cuda and torch.cuda.is_available()

np.random.seed(args.seed)
torch.manual_seed(args.seed)
if args.cuda:
    torch.cuda.manual_seed(args.seed)

adj, features, labels, idx_train, idx_val, idx_test = load_data(seed=args.seed)
model = GCN(features.shape[1], args.hidden, labels.max().item() + 1, args.dropout)
print(model)
optimizer = optim.Adam(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)
if args.cuda:
    model.cuda()
    features, adj, labels = features.cuda(), adj.cuda(), labels.cuda()


def train(epoch):
    model.train()
    optimizer.zero_grad()
    output = model(features, adj)
    loss_train = F.nll_loss(output[idx_train], labels[idx_train])
    acc_train = accuracy(output[idx_train], labels[idx_train])
    loss_train.backward()
    optimizer.step()

    if not args.fastmode:
        # Evaluate validation set performance separately, deactivates dropout.
        model.eval()
        output = model(features, adj)
    loss_val = F.nll_loss(output[idx_val], labels[idx_val])
    acc_val = accuracy(output[idx_val], labels[idx_val])
    if epoch % 5 == 4:
        print(
            "Epoch: {:04d}".format(epoch + 1),
            "loss_train: {:.6f}".format(loss_train.item()),
            "acc_train: {:.4f}".format(acc_train.item()),
            "loss_val: {:.6f}".format(loss_val.item()),
            "acc_val: {:.4f}".format(acc_val.item()),
        )


def test():
    model.eval()
    output = model(features, adj)
    loss_test = F.nll_loss(output[idx_test], labels[idx_test])
    acc_test = accuracy(output[idx_test], labels[idx_test])
    print(
        "Test set results:",
        "loss= {:.6f}".format(loss_test.item()),
        "accuracy= {:.4f}".format(acc_test.item()),
    )


for epoch in range(args.epochs):
    train(epoch)
print("Optimization Finished!")
test()
