"""``python -m torch.utils.collect_env``: facts about the machine for a bug report."""

from __future__ import annotations

__all__ = ["get_pretty_env_info", "main"]


def get_pretty_env_info() -> str:
    """The facts that ``flambeau info`` prints."""
    from flambeau.cli import info

    return info.text()


def main() -> None:
    """Print them."""
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
