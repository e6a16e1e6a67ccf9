"""A language model of characters on nn.TransformerEncoder, trained on a whaling novel."""

import argparse
import math
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F

TEXT = Path(__file__).resolve().parents[2] / "examples" / "data" / "moby-dick.txt"


class Dictionary(object):
    def __init__(self, text):
        self.idx2char = sorted(set(text))
        self.char2idx = {c: i for i, c in enumerate(self.idx2char)}

    def __len__(self):
        return len(self.idx2char)

    def encode(self, text):
        return torch.tensor([self.char2idx[c] for c in text]).type(torch.int64)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout=0.1, max_len=512):
        super(PositionalEncoding, self).__init__()
        self.dropout = nn.Dropout(p=dropout)
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0).transpose(0, 1))

    def forward(self, x):
        return self.dropout(x + self.pe[: x.size(0), :])


class TransformerModel(nn.Module):
    def __init__(self, ntoken, ninp, nhead, nhid, nlayers, dropout=0.1):
        super(TransformerModel, self).__init__()
        self.ninp = ninp
        self.src_mask = None
        self.pos_encoder = PositionalEncoding(ninp, dropout)
        layer = nn.TransformerEncoderLayer(ninp, nhead, nhid, dropout, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, nlayers, enable_nested_tensor=False)
        self.input_emb = nn.Embedding(ntoken, ninp)
        self.decoder = nn.Linear(ninp, ntoken)
        self.init_weights()

    def init_weights(self):
        initrange = 0.1
        nn.init.uniform_(self.input_emb.weight, -initrange, initrange)
        nn.init.zeros_(self.decoder.bias)
        nn.init.uniform_(self.decoder.weight, -initrange, initrange)

    def forward(self, src):
        if self.src_mask is None or self.src_mask.size(0) != len(src):
            mask = nn.Transformer.generate_square_subsequent_mask(len(src))
            self.src_mask = mask.to(src.device)
        src = self.input_emb(src) * math.sqrt(self.ninp)
        src = self.pos_encoder(src)
        output = self.encoder(src, mask=self.src_mask)
        return F.log_softmax(self.decoder(output), dim=-1)


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    data = data.narrow(0, 0, nbatch * bsz)
    return data.view(bsz, -1).t().contiguous()


def get_batch(source, i, bptt):
    seq_len = min(bptt, len(source) - 1 - i)
    data = source[i : i + seq_len]
    target = source[i + 1 : i + 1 + seq_len].view(-1)
    return data, target


def evaluate(model, source, ntokens, bptt):
    model.eval()
    total_loss = 0.0
    with torch.no_grad():
        for i in range(0, source.size(0) - 1, bptt):
            data, targets = get_batch(source, i, bptt)
            output = model(data).view(-1, ntokens)
            total_loss += len(data) * F.nll_loss(output, targets).item()
    return total_loss / (len(source) - 1)


def train(model, source, optimizer, scheduler, ntokens, args, epoch):
    model.train()
    total_loss = 0.0
    batches = range(0, source.size(0) - 1, args.bptt)
    for batch, i in enumerate(batches, 1):
        data, targets = get_batch(source, i, args.bptt)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data).view(-1, ntokens), targets)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        optimizer.step()
        scheduler.step()
        total_loss += loss.item()
        if batch % args.log_interval == 0:
            cur_loss = total_loss / args.log_interval
            print(
                "| epoch {:3d} | {:5d}/{:5d} batches | lr {:.6f} | grad norm {:5.2f} | "
                "loss {:.5f} | ppl {:8.2f}".format(
                    epoch, batch, len(batches), scheduler.get_last_lr()[0], norm, cur_loss,
                    math.exp(cur_loss),
                )
            )  # fmt: skip
            total_loss = 0


def main():
    parser = argparse.ArgumentParser(description="PyTorch language model")
    parser.add_argument("--emsize", type=int, default=64)
    parser.add_argument("--nhead", type=int, default=4)
    parser.add_argument("--nhid", type=int, default=128)
    parser.add_argument("--nlayers", type=int, default=2)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--clip", type=float, default=0.5)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch_size", type=int, default=16)
    parser.add_argument("--bptt", type=int, default=48)
    parser.add_argument("--chars", type=int, default=40000)
    parser.add_argument("--seed", type=int, default=1111)
    parser.add_argument("--log-interval", type=int, default=10)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    text = TEXT.read_text(encoding="utf-8")[: args.chars]
    corpus = Dictionary(text)
    ids = corpus.encode(text)
    split = int(0.9 * len(ids))
    train_data = batchify(ids[:split], args.batch_size).to(device)
    val_data = batchify(ids[split:], 8).to(device)

    ntokens = len(corpus)
    model = TransformerModel(ntokens, args.emsize, args.nhead, args.nhid, args.nlayers).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / 20, (20 / (step + 1)) ** 0.5)
    )
    for epoch in range(1, args.epochs + 1):
        train(model, train_data, optimizer, scheduler, ntokens, args, epoch)
        val_loss = evaluate(model, val_data, ntokens, args.bptt)
        print(
            "| end of epoch {:3d} | valid loss {:.5f} | valid ppl {:8.2f}".format(
                epoch, val_loss, math.exp(val_loss)
            )
        )

    model.eval()
    token = corpus.encode("The ").unsqueeze(1).to(device)
    with torch.no_grad():
        for _ in range(40):
            word_weights = model(token)[-1].squeeze()
            token = torch.cat([token, word_weights.argmax().view(1, 1)], 0)
    print(repr("".join(corpus.idx2char[i] for i in token.flatten().tolist())))


if __name__ == "__main__":
    main()
