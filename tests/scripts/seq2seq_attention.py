"""Sequence to sequence with attention: it learns to sort short lists of digits."""

import argparse
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

PAD, SOS, EOS = 0, 1, 2
FIRST = 3  # the token of digit 0
VOCABULARY = FIRST + 10


class SortingDataset(Dataset):
    def __init__(self, n, max_length, seed):
        rng = random.Random(seed)
        self.pairs = []
        for _ in range(n):
            digits = [rng.randrange(10) for _ in range(rng.randint(2, max_length))]
            source = [FIRST + d for d in digits] + [EOS]
            target = [FIRST + d for d in sorted(digits)] + [EOS]
            self.pairs.append((torch.tensor(source), torch.tensor(target)))

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        return self.pairs[i]


def collate(batch):
    batch.sort(key=lambda pair: len(pair[0]), reverse=True)
    sources, targets = zip(*batch)
    lengths = torch.LongTensor([len(s) for s in sources])
    return (
        pad_sequence(sources, padding_value=PAD),
        lengths,
        pad_sequence(targets, padding_value=PAD),
    )


class EncoderRNN(nn.Module):
    def __init__(self, input_size, hidden_size, n_layers=1, dropout=0.1):
        super(EncoderRNN, self).__init__()
        self.hidden_size = hidden_size
        self.embedding = nn.Embedding(input_size, hidden_size, padding_idx=PAD)
        self.dropout = nn.Dropout(dropout)
        self.gru = nn.GRU(hidden_size, hidden_size, n_layers, bidirectional=True)

    def forward(self, input_seqs, input_lengths, hidden=None):
        embedded = self.dropout(self.embedding(input_seqs))
        packed = pack_padded_sequence(embedded, input_lengths)
        outputs, hidden = self.gru(packed, hidden)
        outputs, output_lengths = pad_packed_sequence(outputs)
        # Sum bidirectional outputs
        outputs = outputs[:, :, : self.hidden_size] + outputs[:, :, self.hidden_size :]
        return outputs, hidden


class BahdanauAttention(nn.Module):
    def __init__(self, hidden_size):
        super(BahdanauAttention, self).__init__()
        self.Wa = nn.Linear(hidden_size, hidden_size)
        self.Ua = nn.Linear(hidden_size, hidden_size)
        self.Va = nn.Linear(hidden_size, 1)

    def forward(self, query, keys, mask):
        # query: B x H, keys: T x B x H, mask: B x T
        keys = keys.transpose(0, 1)
        scores = self.Va(torch.tanh(self.Wa(query).unsqueeze(1) + self.Ua(keys))).squeeze(2)
        scores = scores.masked_fill(mask == 0, -1e10)
        weights = F.softmax(scores, dim=-1).unsqueeze(1)
        return torch.bmm(weights, keys), weights


class AttnDecoderRNN(nn.Module):
    def __init__(self, hidden_size, output_size, dropout_p=0.1):
        super(AttnDecoderRNN, self).__init__()
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.attention = BahdanauAttention(hidden_size)
        self.gru = nn.GRU(2 * hidden_size, hidden_size, batch_first=True)
        self.out = nn.Linear(hidden_size, output_size)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, token, hidden, encoder_outputs, mask):
        embedded = self.dropout(self.embedding(token)).unsqueeze(1)
        context, attn_weights = self.attention(hidden[-1], encoder_outputs, mask)
        output, hidden = self.gru(torch.cat((embedded, context), dim=2), hidden)
        return self.out(output.squeeze(1)), hidden, attn_weights


def decode(encoder, decoder, sources, lengths, targets, teacher_forcing_ratio):
    encoder_outputs, encoder_hidden = encoder(sources, lengths)
    hidden = encoder_hidden[:1] + encoder_hidden[1:2]
    mask = (sources != PAD).t()
    token = torch.full((sources.size(1),), SOS, dtype=torch.long, device=sources.device)
    logits = []
    forced = random.random() < teacher_forcing_ratio
    for t in range(targets.size(0)):
        output, hidden, _ = decoder(token, hidden, encoder_outputs, mask)
        logits.append(output)
        topv, topi = output.data.topk(1)
        token = targets[t] if forced else topi.squeeze(-1).detach()
    return torch.stack(logits)


def evaluate(encoder, decoder, loader, criterion, device):
    encoder.eval()
    decoder.eval()
    total, right, count = 0.0, 0, 0
    with torch.no_grad():
        for sources, lengths, targets in loader:
            sources, targets = sources.to(device), targets.to(device)
            logits = decode(encoder, decoder, sources, lengths, targets, 1.0)
            total += criterion(logits.view(-1, VOCABULARY), targets.view(-1)).item()
            wrong = (logits.argmax(-1) != targets) & (targets != PAD)
            right += (~wrong.any(0)).sum().item()
            count += targets.size(1)
    return total / len(loader), right / count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--clip", type=float, default=1.0)
    parser.add_argument("--teacher-forcing", type=float, default=0.8)
    parser.add_argument("--seed", type=int, default=3)
    args = parser.parse_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    train_loader = DataLoader(
        SortingDataset(1200, 7, 1), batch_size=48, shuffle=True, collate_fn=collate
    )
    test_loader = DataLoader(SortingDataset(192, 7, 2), batch_size=64, collate_fn=collate)
    encoder = EncoderRNN(VOCABULARY, args.hidden).to(device)
    decoder = AttnDecoderRNN(args.hidden, VOCABULARY).to(device)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD)
    encoder_optimizer = optim.Adam(encoder.parameters(), lr=0.003)
    decoder_optimizer = optim.Adam(decoder.parameters(), lr=0.003)

    for epoch in range(1, args.epochs + 1):
        encoder.train()
        decoder.train()
        running = 0.0
        for sources, lengths, targets in train_loader:
            sources, targets = sources.to(device), targets.to(device)
            encoder_optimizer.zero_grad()
            decoder_optimizer.zero_grad()
            logits = decode(encoder, decoder, sources, lengths, targets, args.teacher_forcing)
            loss = criterion(logits.view(-1, VOCABULARY), targets.view(-1))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(encoder.parameters(), args.clip)
            torch.nn.utils.clip_grad_norm_(decoder.parameters(), args.clip)
            encoder_optimizer.step()
            decoder_optimizer.step()
            running += loss.item()
        test_loss, exact = evaluate(encoder, decoder, test_loader, criterion, device)
        print(
            "epoch %d train loss %.5f test loss %.5f, %.1f%% of the lists sorted"
            % (epoch, running / len(train_loader), test_loss, 100 * exact)
        )


if __name__ == "__main__":
    main()
