"""Mistakes that a type checker must find, on exactly the lines marked `# error`."""

import flambeau as torch

x = torch.zeros(2, 3)
torch.logaddexp(x)  # error
torch.logaddexp(x, "text")  # error
torch.zeros(2, dtype="float32")  # error
x.mean(dimension=1)  # error
name: str = x.sum()  # error
torch.no_such_operator(x)  # error
