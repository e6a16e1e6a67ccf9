"""A text as a sequence of characters, for the language models in this folder."""

from pathlib import Path

import flambeau as torch
from flambeau import Tensor

MOBY_DICK = Path(__file__).parent / "data" / "moby-dick.txt"


class Characters:
    """The characters of a text as numbers, split into a training and a test part."""

    def __init__(self, path: Path = MOBY_DICK, held_out: float = 0.1) -> None:
        text = path.read_text(encoding="ascii")
        self.alphabet = sorted(set(text))
        self._number = {character: number for number, character in enumerate(self.alphabet)}
        numbers = self.encode(text)
        cut = int(len(text) * (1 - held_out))
        self.training, self.test = numbers[:cut], numbers[cut:]

    def __len__(self) -> int:
        """How many different characters there are."""
        return len(self.alphabet)

    def encode(self, text: str) -> Tensor:
        return torch.tensor([self._number[character] for character in text])

    def decode(self, numbers: Tensor) -> str:
        return "".join(self.alphabet[number] for number in numbers.tolist())

    def batch(self, part: Tensor, size: int, length: int) -> tuple[Tensor, Tensor]:
        """Random stretches of a part, and the same moved on by one: what comes next."""
        starts = torch.randint(len(part) - length, (size, 1))
        places = starts + torch.arange(length)
        return part[places], part[places + 1]
