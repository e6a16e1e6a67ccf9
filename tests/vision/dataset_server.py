"""A server of files on this machine that misbehaves as servers do."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DATA = bytes(range(256)) * 4096


class Server:
    """Where it is, what it holds and what it was asked for."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.files: dict[str, bytes] = {}
        self.asked: list[tuple[str, str | None]] = []

    def ranges(self) -> list[str | None]:
        """The parts that were asked for, in order."""
        return [part for _, part in self.asked]


@contextlib.contextmanager
def serving() -> Iterator[Server]:
    """Run a server; a file it does not hold is ``DATA``.

    What is misbehaved is said by the path: "cut" breaks off in the middle of the first answer,
    "whole" always sends everything, "other" sends another part than the one asked for, "long" and
    "short" lie about the length, "moved" sends elsewhere, "loop" does so for ever, "gone" has no
    file, "page" sends a page in its place, "broken" fails, "slow" stops in the middle for a second.
    """

    class Handler(_Handler):
        pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        Handler.state = Server(f"http://127.0.0.1:{running.server_port}")
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield Handler.state
        finally:
            running.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    state: Server

    def do_GET(self) -> None:
        name = self.path.lstrip("/")
        wanted = self.headers.get("Range")
        self.state.asked.append((name, wanted))
        data = self.state.files.get(name, DATA)
        if "moved" in name or "loop" in name:
            self._redirect(name)
        elif "gone" in name:
            self.send_error(404)
        elif "broken" in name:
            self.send_error(500)
        elif "page" in name:
            self._send(b"<html>Please log in</html>", 0, name)
        else:
            self._file(data, wanted, name)

    def _redirect(self, name: str) -> None:
        self.send_response(302)
        self.send_header("Location", "/loop" if "loop" in name else "/data.bin")
        self.end_headers()

    def _file(self, data: bytes, wanted: str | None, name: str) -> None:
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        if start >= len(data):
            self.send_error(416)
            return
        if "whole" in name:
            start = 0
        self._send(data, start, name, is_first=not wanted)

    def _send(self, data: bytes, start: int, name: str, is_first: bool = True) -> None:
        self.send_response(206 if start else 200)
        lie = 5 if "long" in name else -5 if "short" in name else 0
        self.send_header("Content-Length", str(len(data) - start + lie))
        if start:
            first = 7 if "other" in name else start
            self.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
        self.end_headers()
        ends = len(data) // 2 if "cut" in name and is_first else None
        with contextlib.suppress(ConnectionError):
            if "slow" in name and is_first:
                self.wfile.write(data[start : len(data) // 2])
                time.sleep(1)
                start = len(data) // 2
            self.wfile.write(data[start:ends])

    def log_message(self, *args: Any) -> None:
        pass
