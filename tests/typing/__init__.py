"""The public API as a type checker sees it."""
