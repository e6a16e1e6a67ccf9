"""Training steps of recurrent networks: long sequences of characters, and cells over any length."""

from typing import Any

from benchmarks.roofline import product
from benchmarks.training import Program, add_step

VOCABULARY = 96
LENGTH, BATCH, HIDDEN = 100, 32, 256

LENGTHS = (3, 25, 9, 14, 6, 19, 31, 11)
FEATURES, STATE, CLASSES = 32, 64, 5


def char_lstm(t: Any) -> Program:
    """Predicts the next character of a text: embedding, two layers of LSTM, one linear layer."""
    nn = t.nn

    class CharLSTM(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(VOCABULARY, HIDDEN)
            self.lstm = nn.LSTM(HIDDEN, HIDDEN, 2, batch_first=True)
            self.out = nn.Linear(HIDDEN, VOCABULARY)

        def forward(self, x: Any) -> Any:
            return self.out(self.lstm(self.embedding(x))[0])

    module = CharLSTM()
    text = t.randint(0, VOCABULARY, (BATCH, LENGTH + 1))
    x, y = text[:, :-1], text[:, 1:]

    def loss() -> Any:
        return nn.functional.cross_entropy(module(x).reshape(-1, VOCABULARY), y.reshape(-1))

    return Program(module, loss)


def cell_loop(t: Any) -> Program:
    """Classifies sequences of different lengths one after the other, without padding."""
    nn = t.nn

    class Reader(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell = nn.LSTMCell(FEATURES, STATE)
            self.out = nn.Linear(STATE, CLASSES)

        def forward(self, sequence: Any) -> Any:
            state = None
            for x in sequence:
                state = self.cell(x, state)
            return self.out(state[0])

    module = Reader()
    sequences = [t.randn(length, 1, FEATURES) for length in LENGTHS]
    y = t.randint(0, CLASSES, (len(LENGTHS),))

    def loss() -> Any:
        read = t.cat([module(sequence) for sequence in sequences])
        return nn.functional.cross_entropy(read, y)

    return Program(module, loss)


LAYER = product(LENGTH * BATCH, HIDDEN, 4 * HIDDEN) * 2
add_step(
    f"char-LSTM 2 x {HIDDEN}, {LENGTH} steps, batch {BATCH}, Adam",
    1.3,
    char_lstm,
    "Adam",
    VOCABULARY * HIDDEN + 2 * 4 * HIDDEN * (2 * HIDDEN + 2) + (HIDDEN + 1) * VOCABULARY,
    LAYER * 2 + product(LENGTH * BATCH, HIDDEN, VOCABULARY),
)
add_step(
    f"LSTMCell({FEATURES}, {STATE}), {min(LENGTHS)} to {max(LENGTHS)} steps, Adam",
    4.0,
    cell_loop,
    "Adam",
    4 * STATE * (FEATURES + STATE + 2) + (STATE + 1) * CLASSES,
    product(sum(LENGTHS), FEATURES, 4 * STATE, is_first=True)
    + product(sum(LENGTHS), STATE, 4 * STATE)
    + product(len(LENGTHS), STATE, CLASSES),
)
