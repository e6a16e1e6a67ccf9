"""The older name of ``torch.distributed.run``."""

from __future__ import annotations

from flambeau.distributed.run import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
