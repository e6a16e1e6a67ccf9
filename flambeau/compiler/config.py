"""Options of ``torch.compile`` that programs set."""

from __future__ import annotations

from flambeau.utils._config_module import install_config_module

install_config_module(
    __name__,
    {
        "cache_key_tag": "",
        "dynamic_sources": "",
        "force_disable_caches": False,
        "job_id": None,
    },
)
