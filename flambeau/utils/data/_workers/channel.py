"""Messages over a socket between a loader and one of its workers.

A message is its length and then its bytes. The loader never waits for a worker to read: what the
socket does not take is kept and sent later, or both sides could wait for each other.
"""

from __future__ import annotations

import os
import socket
import struct
import weakref

__all__ = ["Channel", "open_channel"]

_LENGTH = struct.Struct("<q")
_AT_ONCE = 1 << 18


class Channel:
    """One end of the connection."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._received = bytearray()
        self._unsent = bytearray()

    def __reduce__(self) -> tuple[type[Channel], tuple[socket.socket]]:
        return Channel, (self._socket,)

    def fileno(self) -> int:
        """The descriptor, for polling."""
        return self._socket.fileno()

    def hold(self, *, blocking: bool) -> None:
        """Take the end for this process: children that it forks close their copy of it.

        An end that a child kept open would hide the death of this process.
        """
        self._socket.setblocking(blocking)
        _held.add(self)

    def send(self, message: bytes) -> None:
        """Send a message, or what the socket takes of it now if the end does not block."""
        framed = _LENGTH.pack(len(message)) + message
        if self._socket.getblocking():
            self._socket.sendall(framed)
            return
        self._unsent += framed
        self.flush()

    def flush(self) -> bool:
        """Send what is queued, and return whether anything still is."""
        while self._unsent:
            try:
                sent = self._socket.send(self._unsent)
            except BlockingIOError:
                return True
            except OSError:  # the other end is closed, which reading will tell
                self._unsent.clear()
                return False
            del self._unsent[:sent]
        return False

    def receive(self) -> list[bytes]:
        """The messages that have arrived, after one look; EOFError if the other end is closed."""
        try:
            data = self._socket.recv(_AT_ONCE)
        except BlockingIOError:
            return []
        except ConnectionError:
            data = b""
        if not data:
            raise EOFError
        self._received += data
        messages = []
        start, end = 0, len(self._received)
        while end - start >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._received, start)
            stop = start + _LENGTH.size + length
            if stop > end:
                break
            messages.append(bytes(self._received[start + _LENGTH.size : stop]))
            start = stop
        del self._received[:start]
        return messages

    def close(self) -> None:
        """Close this end, which ends the worker at the other."""
        _held.discard(self)
        self._socket.close()


_held: weakref.WeakSet[Channel] = weakref.WeakSet()


def _close_inherited() -> None:
    for channel in list(_held):
        channel.close()


os.register_at_fork(after_in_child=_close_inherited)


def open_channel() -> tuple[Channel, Channel]:
    """Both ends of a new connection."""
    ours, theirs = socket.socketpair()
    return Channel(ours), Channel(theirs)
