"""Stores: values under names that the processes of a job share; here in the memory of one."""

from __future__ import annotations

import contextlib
import datetime
import threading
from collections.abc import Iterator
from typing import Any

__all__: list[str] = []

_DEFAULT_TIMEOUT = datetime.timedelta(minutes=5)


class DistError(RuntimeError):
    """An error of a group of processes."""


class DistStoreError(DistError):
    """An error of a store."""


class DistBackendError(DistError):
    """An error of a library for communication."""


class DistNetworkError(DistError):
    """An error of the network."""


class Store:
    """Values under names."""

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}
        self._changed = threading.Condition()  # may be taken again by who holds it
        self.timeout: datetime.timedelta = _DEFAULT_TIMEOUT

    @contextlib.contextmanager
    def _held(self) -> Iterator[dict[str, bytes]]:
        """The values as they are now, while nobody else changes them."""
        with self._changed:
            yield self._values

    def _put(self, key: str, value: bytes | None) -> None:
        """Change a value that is held; None takes it away."""
        if value is None:
            del self._values[key]
        else:
            self._values[key] = value
        self._changed.notify_all()

    def set(self, key: str, value: Any) -> None:
        """Keep a value."""
        with self._held():
            self._put(key, value.encode() if isinstance(value, str) else bytes(value))

    def get(self, key: str) -> bytes:
        """A value; waits until somebody sets it."""
        self.wait([key])
        with self._held() as values:
            return values[key]

    def add(self, key: str, amount: int) -> int:
        """Count a value up, and return it."""
        with self._held() as values:
            total = int(values.get(key, b"0")) + amount
            self._put(key, str(total).encode())
        return total

    def compare_set(self, key: str, expected_value: str, desired_value: str) -> bytes:
        """Keep a value if the one before is as expected, and return what is kept."""
        with self._held() as values:
            if values.get(key, b"").decode() == expected_value:
                self._put(key, desired_value.encode())
            return values.get(key, expected_value.encode())

    def wait(self, keys: list[str], timeout: datetime.timedelta | None = None) -> None:
        """Wait until there are values of these names."""
        limit = (timeout or self.timeout).total_seconds()
        if not self._waited(keys, limit):
            raise DistStoreError(f"Store: no process has set {keys} within {limit:g} seconds")

    def _waited(self, keys: list[str], seconds: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self.check(keys), seconds)

    def check(self, keys: list[str]) -> bool:
        """Whether there are values of these names."""
        with self._held() as values:
            return all(key in values for key in keys)

    def delete_key(self, key: str) -> bool:
        """Forget a value; returns whether there was one."""
        with self._held() as values:
            if key not in values:
                return False
            self._put(key, None)
        return True

    def num_keys(self) -> int:
        """How many values there are."""
        with self._held() as values:
            return len(values)

    def set_timeout(self, timeout: datetime.timedelta) -> None:
        """Choose how long ``get`` and ``wait`` wait."""
        self.timeout = timeout


class HashStore(Store):
    """A store of the threads of a process."""


class TCPStore(Store):
    """A store that one process of a job serves to the others: to itself."""

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: datetime.timedelta = _DEFAULT_TIMEOUT,
        wait_for_workers: bool = True,
        multi_tenant: bool = False,
        master_listen_fd: int | None = None,
        use_libuv: bool = True,
    ) -> None:
        super().__init__()
        _check_count(world_size or 1, "TCPStore")
        if not is_master:
            raise NotImplementedError(
                "TCPStore: several processes are not supported yet, and the only one is the master"
            )
        self.host = host_name
        self.port = port
        self.timeout = timeout


class PrefixStore(Store):
    """Another store, with a word before each name."""

    def __init__(self, prefix: str, store: Store) -> None:
        super().__init__()
        self.underlying_store = store
        self.prefix = prefix

    def set(self, key: str, value: Any) -> None:
        self.underlying_store.set(self._name(key), value)

    def get(self, key: str) -> bytes:
        return self.underlying_store.get(self._name(key))

    def add(self, key: str, amount: int) -> int:
        return self.underlying_store.add(self._name(key), amount)

    def compare_set(self, key: str, expected_value: str, desired_value: str) -> bytes:
        return self.underlying_store.compare_set(self._name(key), expected_value, desired_value)

    def wait(self, keys: list[str], timeout: datetime.timedelta | None = None) -> None:
        self.underlying_store.wait([self._name(key) for key in keys], timeout)

    def check(self, keys: list[str]) -> bool:
        return self.underlying_store.check([self._name(key) for key in keys])

    def delete_key(self, key: str) -> bool:
        return self.underlying_store.delete_key(self._name(key))

    def num_keys(self) -> int:
        return self.underlying_store.num_keys()

    def _name(self, key: str) -> str:
        return f"{self.prefix}/{key}"


def _check_count(world_size: int, name: str) -> None:
    if world_size > 1:
        raise NotImplementedError(f"{name}: {world_size} processes are not supported yet")
