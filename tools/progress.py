"""Run a command with its output in a log file, and one line of progress on the terminal.

usage: progress.py TITLE LOG COMMAND...
The steps `[12/80]` that ninja prints drive the progress; if the command fails, the end of the log
is shown.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

STEP = re.compile(r"\[(\d+)/(\d+)\]")
TAIL_LINES = 40


class Progress:
    """One line that is rewritten on a terminal, or a line every tenth of the way elsewhere."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._live = sys.stdout.isatty()
        self._start = time.monotonic()
        self._shown = 0

    def step(self, done: int, total: int) -> None:
        tenth = 10 * done // max(total, 1)
        if self._live:
            bar = "█" * tenth + "░" * (10 - tenth)
            print(f"\r\033[K==> {self._title} {bar} {done}/{total}", end="", flush=True)
        elif tenth > self._shown:
            print(f"==> {self._title} {done}/{total}", flush=True)
        self._shown = max(tenth, self._shown)

    def end(self, ok: bool) -> None:
        seconds = time.monotonic() - self._start
        clear = "\r\033[K" if self._live else ""
        print(f"{clear}==> {self._title}: {'done' if ok else 'FAILED'} in {seconds:.0f} s")


def main() -> int:
    title, log_name, *command = sys.argv[1:]
    log_path = Path(log_name)
    log_path.parent.mkdir(parents=True, exist_ok=True)
    progress = Progress(title)
    print(f"==> {title} …", flush=True)
    with log_path.open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
        assert process.stdout is not None
        for line in process.stdout:
            log.write(line)
            if match := STEP.search(line):
                progress.step(int(match[1]), int(match[2]))
        code = process.wait()
    progress.end(code == 0)
    if code:
        print(*log_path.read_text(encoding="utf-8").splitlines()[-TAIL_LINES:], sep="\n")
        print(f"the whole log is in {log_path}")
    return code


if __name__ == "__main__":
    sys.exit(main())
