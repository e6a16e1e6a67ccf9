"""How long a process waits for the others."""

from flambeau.distributed._group import default_pg_timeout as default_pg_timeout

__all__ = ["default_pg_timeout"]
